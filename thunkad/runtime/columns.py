"""Matrices of derivatives by columns: the directions, and what is done with the columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, NonScalarOutputError
from thunkad.tangents import NO_TANGENT, AbstractZero


def directions(args: tuple[Any, ...], number: int, unit: complex | None = None) -> list[tuple[Any, ...]]:
    """Tangents for all arguments, one set for each element of argument ``number``: ``unit`` there, zero elsewhere."""
    x = args[number]
    check_columns(x)
    if unit is None and np.iscomplexobj(x):
        raise ArgumentError(
            "a Hessian by complex numbers, and a derivative of a Jacobian by them, is not one matrix",
            hint="take the real and the imaginary part as two arguments",
        )
    number = number % len(args)
    shape = np.shape(x)
    basis = np.eye(np.size(x), dtype=np.result_type(np.asarray(x).dtype, np.float16))
    if unit is not None:
        basis = basis * unit
    before, after = (None,) * number, (None,) * (len(args) - number - 1)
    return [(*before, np.reshape(row, shape) if shape else row[0], *after) for row in basis]


def check_columns(x: Any) -> None:
    """Refuse what has no elements to take derivatives by."""
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)):
        raise ArgumentError(
            "a Jacobian by forward mode and a Hessian need an argument that is a number or an array",
            hint="put the parameters into one array; a Jacobian may go by mode='reverse', a Hessian by lists and dicts",
        )


def joined(parts: list[Any], shape: tuple[int, ...]) -> Any:
    """Blocks of columns as one array whose last axes are ``shape``, entry by entry for a result of several parts."""
    return _by_entry(parts, lambda blocks: _joined(blocks, shape))


def side_by_side(columns: list[Any], shape: tuple[int, ...]) -> Any:
    """Columns as one array whose last axes are ``shape``, entry by entry for a result of several parts."""
    return _by_entry(columns, lambda entries: _side_by_side(entries, shape))


def _by_entry(values: list[Any], made: Callable[[list[Any]], Any]) -> Any:
    """What ``made`` makes of the entries at each place of values of one structure, in that structure."""
    like = values[0]
    if isinstance(like, (list, tuple)):
        parts = [_by_entry([v[k] for v in values], made) for k in range(len(like))]
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    if isinstance(like, dict):
        return {k: _by_entry([v[k] for v in values], made) for k in like}
    return made(values)


def _joined(blocks: list[Any], shape: tuple[int, ...]) -> Any:
    whole = np.ascontiguousarray(blocks[0]) if len(blocks) == 1 else np.concatenate(blocks, axis=-1)
    return np.reshape(whole, (*blocks[0].shape[:-1], *shape))


def _side_by_side(columns: list[Any], shape: tuple[int, ...]) -> Any:
    like = columns[0]
    if not shape:
        return NO_TANGENT if isinstance(like, AbstractZero) else like
    if 0 in shape:
        return np.zeros(np.shape(like) + shape)
    if isinstance(like, AbstractZero):
        return NO_TANGENT  # of a part of the result that has no derivative
    return np.reshape(np.stack([np.asarray(c) for c in columns], axis=-1), np.shape(like) + shape)


def by_complex(one: Any, turned: Any) -> Any:
    """The derivatives by complex numbers from those in the directions 1 and i, entry by entry.

    Of a real result ``∂y/∂a + i ∂y/∂b`` for ``z = a + i b``, as in a gradient; of a complex one ``dy/dz``, if it has
    that.
    """
    if isinstance(one, (list, tuple)):
        parts = [by_complex(a, b) for a, b in zip(one, turned)]
        return type(one)(*parts) if hasattr(one, "_fields") else type(one)(parts)
    if isinstance(one, dict):
        return {k: by_complex(v, turned[k]) for k, v in one.items()}
    if isinstance(one, AbstractZero):
        return one
    if not np.iscomplexobj(one):
        return one + 1j * turned
    check_holomorphic(one, turned)
    return one


def check_holomorphic(one: Any, turned: Any) -> None:
    """Refuse derivatives in the directions 1 and i of which the second is not i times the first."""
    size = np.max(np.abs(one), initial=0.0) + np.max(np.abs(turned), initial=0.0)
    if np.any(np.abs(turned - 1j * one) > 100 * np.finfo(np.asarray(one).dtype).eps ** 0.75 * size):
        raise NonScalarOutputError(
            "a complex function of complex numbers that is not holomorphic has no Jacobian in one complex matrix",
            hint="take real and imaginary parts as arguments and results, or use vjp or jvp",
        )


def column(matrix_bar: Any, k: int, shape: tuple[int, ...]) -> Any:
    """Column ``k`` of the cotangent of such a matrix."""
    if isinstance(matrix_bar, AbstractZero):
        return matrix_bar
    if isinstance(matrix_bar, (list, tuple)):
        return tuple(column(part, k, shape) for part in matrix_bar)
    if not shape:
        return matrix_bar
    lead = np.shape(matrix_bar)[: np.ndim(matrix_bar) - len(shape)]
    return np.reshape(matrix_bar, (*lead, -1))[..., k]
