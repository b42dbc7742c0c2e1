"""Matrices of derivatives by columns: the directions, and what is done with the columns.

An argument is an array or a number, or a list, tuple, dict or dataclass of these; its elements are numbered through.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, NonScalarOutputError
from thunkad.runtime.cotangents import entry
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent


def is_dataclass(x: Any) -> bool:
    return dataclasses.is_dataclass(x) and not isinstance(x, type)


def is_number(x: Any) -> bool:
    """Whether ``x`` is a number or an array of numbers, by which derivatives are taken."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in "iufc"
    return isinstance(x, (float, int, complex)) and not isinstance(x, bool)


def mapped(x: Any, made: Callable[[Any], Any], as_tangent: bool = False) -> Any:
    """``x`` with ``made(v)`` for each of the numbers and arrays ``v`` in it, and without a tangent elsewhere.

    ``as_tangent``: a dataclass gives a :class:`Tangent`, else an object of its own class.
    """
    if is_number(x):
        return made(x)
    if isinstance(x, dict):
        return {k: mapped(v, made, as_tangent) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return like(x, [mapped(v, made, as_tangent) for v in x])
    if is_dataclass(x):
        fields = {f.name: mapped(getattr(x, f.name), made, as_tangent) for f in dataclasses.fields(x)}
        return Tangent(type(x), fields) if as_tangent else as_object(type(x), fields)
    return NO_TANGENT


def like(x: Any, parts: list[Any]) -> Any:
    """A list or tuple of the type of ``x``."""
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def as_object(cls: type, fields: dict[str, Any]) -> Any:
    made: Any = object.__new__(cls)
    for name, v in fields.items():
        object.__setattr__(made, name, v)
    return made


def parts_of(x: Any) -> list[Any]:
    """The numbers and arrays in ``x``."""
    found: list[Any] = []
    mapped(x, found.append)
    return found


def inside(bar: Any, x: Any) -> list[Any]:
    """The parts of a cotangent of ``x`` that belong to the numbers and arrays in it, in the same order."""
    if is_number(x):
        return [bar]
    if isinstance(x, dict):
        return [part for k, v in x.items() for part in inside(entry(bar, k), v)]
    if isinstance(x, (list, tuple)):
        return [part for k, v in enumerate(x) for part in inside(entry(bar, k), v)]
    if is_dataclass(x):
        names = [f.name for f in dataclasses.fields(x)]
        return [part for k in names for part in inside(_field(bar, k), getattr(x, k))]
    return []


def _field(bar: Any, name: str) -> Any:
    return getattr(bar, name) if is_dataclass(bar) else entry(bar, name)


def units(x: Any) -> tuple[complex, ...]:
    """The directions that are taken at each element."""
    if is_number(x):
        return (1, 1j) if np.iscomplexobj(x) else (1,)
    if any(map(np.iscomplexobj, parts_of(x))):
        raise ArgumentError(
            "a Jacobian by forward mode, or a Hessian, by complex numbers in a container is not one matrix",
            hint="take real and imaginary parts as arguments; a Jacobian may go by mode='reverse'",
        )
    return (1,)


def size_of(x: Any) -> int:
    return sum(map(int, map(np.size, parts_of(x))))


def directions(args: tuple[Any, ...], number: int, unit: complex | None = None) -> Iterator[tuple[Any, ...]]:
    """Tangents for all arguments, one set for each element of argument ``number``: ``unit`` there, zero elsewhere."""
    x = args[number]
    check_columns(x)
    if unit is None and any(map(np.iscomplexobj, parts_of(x))):
        raise ArgumentError(
            "a Hessian by complex numbers, and a derivative of a Jacobian by them, is not one matrix",
            hint="take the real and the imaginary part as two arguments",
        )
    number = number % len(args)
    for k in range(max(1, size_of(x))):  # a zero, where there are none
        dot = basis(x, k, 1 if unit is None else unit)
        yield (*(None,) * number, dot, *(None,) * (len(args) - number - 1))


def basis(x: Any, k: int, unit: complex) -> Any:
    """The tangent of ``x`` that is ``unit`` at element ``k``."""
    at = k

    def made(v: Any) -> Any:
        nonlocal at
        dot = np.zeros(np.shape(v), np.result_type(np.asarray(v).dtype, np.float16, type(unit) if unit == 1j else bool))
        if 0 <= at < dot.size:
            dot.reshape(-1)[at] = unit
        at -= dot.size
        return dot if isinstance(v, np.ndarray) else dot[()]

    return mapped(x, made, as_tangent=True)


def check_columns(x: Any) -> None:
    """Refuse what has no elements to take derivatives by."""
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic, list, tuple, dict)) and not is_dataclass(x):
        raise ArgumentError(
            "a Jacobian by forward mode and a Hessian need an argument that is a number or an array, or a list, tuple, "
            f"dict or dataclass of these, not {type(x).__name__!r}",
            hint="put the parameters into a dict or a dataclass; a Jacobian may go by mode='reverse'",
        )


def joined(parts: list[Any], x: Any) -> Any:
    """Blocks of columns, in which the numbers of the columns are the last axis, as derivatives by ``x``."""

    def made(blocks: list[Any]) -> Any:
        whole = np.ascontiguousarray(blocks[0]) if len(blocks) == 1 else np.concatenate(blocks, axis=-1)
        return _cut(x, lambda v, at: np.reshape(whole[..., at], (*whole.shape[:-1], *np.shape(v))))

    return _by_entry(parts, made)


def side_by_side(columns: list[Any], x: Any, as_tangent: bool = False) -> Any:
    """Columns as derivatives by ``x``: one array whose last axes are those of ``x``, or ``x`` with such arrays in it.

    Entry by entry for a result of several parts; ``as_tangent`` as for :func:`mapped`.
    """
    return _by_entry(columns, lambda entries: _cut(x, partial(_stacked, entries), as_tangent), as_tangent)


def _cut(x: Any, made: Callable[[Any, slice], Any], as_tangent: bool = False) -> Any:
    """``x`` with what ``made`` makes of each array in it and of the numbers of its elements."""
    end = 0

    def part(v: Any) -> Any:
        nonlocal end
        end += np.size(v)
        return made(v, slice(end - np.size(v), end))

    return mapped(x, part, as_tangent)


def _by_entry(values: list[Any], made: Callable[[list[Any]], Any], as_tangent: bool = False) -> Any:
    """What ``made`` makes of the entries at each place of values of one structure, in that structure."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        return like(first, [_by_entry([v[k] for v in values], made, as_tangent) for k in range(len(first))])
    if isinstance(first, dict):
        return {k: _by_entry([v[k] for v in values], made, as_tangent) for k in first}
    if isinstance(first, Tangent) or is_dataclass(first):
        cls = first.cls if isinstance(first, Tangent) else type(first)
        names = [f.name for f in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else list(first)
        fields = {k: _by_entry([_field(v, k) for v in values], made, as_tangent) for k in names}
        return Tangent(cls, fields) if as_tangent or not dataclasses.is_dataclass(cls) else as_object(cls, fields)
    return NO_TANGENT if isinstance(first, AbstractZero) else made(values)


def _stacked(columns: list[Any], v: Any, at: slice) -> Any:
    shape = np.shape(v)
    if not shape:
        return columns[at.start]
    if 0 in shape:
        return np.zeros(np.shape(columns[0]) + shape)
    return np.reshape(np.stack([np.asarray(c) for c in columns[at]], axis=-1), np.shape(columns[0]) + shape)


def by_complex(one: Any, turned: Any) -> Any:
    """The derivatives by complex numbers from those in the directions 1 and i, entry by entry.

    Of a real result ``∂y/∂a + i ∂y/∂b`` for ``z = a + i b``, as in a gradient; of a complex one ``dy/dz``, if it has
    that.
    """
    if isinstance(one, (list, tuple)):
        return like(one, [by_complex(a, b) for a, b in zip(one, turned)])
    if isinstance(one, dict):
        return {k: by_complex(v, turned[k]) for k, v in one.items()}
    if is_dataclass(one):
        names = [f.name for f in dataclasses.fields(one)]
        return as_object(type(one), {k: by_complex(getattr(one, k), getattr(turned, k)) for k in names})
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


def column(matrix_bar: Any, value: Any, k: int, x: Any) -> Any:
    """Column ``k`` of the cotangent of derivatives of ``value`` by ``x``."""
    if isinstance(matrix_bar, AbstractZero) or isinstance(value, AbstractZero):
        return ZERO
    if isinstance(value, (list, tuple)):
        return tuple(column(entry(matrix_bar, j), v, k, x) for j, v in enumerate(value))
    if isinstance(value, dict):
        return {key: column(entry(matrix_bar, key), v, k, x) for key, v in value.items()}
    if isinstance(value, Tangent) or is_dataclass(value):
        names = value if isinstance(value, Tangent) else [f.name for f in dataclasses.fields(value)]
        return Tangent(type(value), {n: column(_field(matrix_bar, n), getattr(value, n), k, x) for n in names})
    return _column(matrix_bar, x, k)


def _column(matrix_bar: Any, x: Any, k: int) -> Any:
    """The same where ``value`` is one array: from the part of ``x`` in which element ``k`` is."""
    for v, bar in zip(parts_of(x), inside(matrix_bar, x)):
        if k < max(1, np.size(v)) and not isinstance(bar, AbstractZero):
            lead = np.shape(bar)[: np.ndim(bar) - np.ndim(v)]
            return np.reshape(bar, (*lead, -1))[..., k] if np.size(v) else np.zeros(lead)
        k -= np.size(v)
        if k < 0:
            break
    return ZERO
