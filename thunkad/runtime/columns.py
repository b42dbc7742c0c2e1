"""Matrices of derivatives by columns: the directions, and what is done with the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import ArgumentError
from thunkad.tangents import AbstractZero


def directions(args: tuple[Any, ...], number: int) -> list[tuple[Any, ...]]:
    """Tangents for all arguments, one set for each element of argument ``number``."""
    x = args[number]
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)):
        raise ArgumentError(
            "a Jacobian by forward mode and a Hessian need an argument that is a number or an array",
            hint="put the parameters into one array, or use mode='reverse'",
        )
    number = number % len(args)
    shape = np.shape(x)
    basis = np.eye(np.size(x), dtype=np.result_type(np.asarray(x).dtype, np.float16))
    before, after = (None,) * number, (None,) * (len(args) - number - 1)
    return [(*before, np.reshape(row, shape) if shape else row[0], *after) for row in basis]


def side_by_side(columns: list[Any], shape: tuple[int, ...]) -> Any:
    """Columns as one array whose last axes are ``shape``, entry by entry for a result of several parts."""
    like = columns[0]
    if isinstance(like, (list, tuple)):
        parts = [side_by_side([c[k] for c in columns], shape) for k in range(len(like))]
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    if isinstance(like, dict):
        return {k: side_by_side([c[k] for c in columns], shape) for k in like}
    if not shape:
        return like
    if 0 in shape:
        return np.zeros(np.shape(like) + shape)
    return np.reshape(np.stack([np.asarray(c) for c in columns], axis=-1), np.shape(like) + shape)


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
