"""Uniform cotangents: one number that stands for an array all of whose elements are that number.

What the array's shape is, the compiler knows: it is that of the primal value.  Only the helpers here take such numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import expand, stretch, sum_of, unbroadcast
from thunkad.runtime.ducks import is_duck
from thunkad.runtime.products import as_conjugate, matmul_left_bar, matmul_right_bar
from thunkad.runtime.shaped import Shaped, shape_only
from thunkad.runtime.shapes import matmul_shape


@shape_only("x")
def count(x: Any) -> int:
    """The number of elements of ``x``; one if it has none, as a divisor."""
    return size_of(x) or 1


def size_of(x: Any) -> int:
    """``np.size(x)``, without its price for an array."""
    return x.size if type(x) in (np.ndarray, Shaped) or is_duck(type(x)) else int(np.size(x))


@shape_only("y", "x")
def share(y_bar: Any, y: Any, x: Any) -> Any:
    """The uniform cotangent ``y_bar`` of ``y`` summed over the axes along which ``x`` was broadcast to ``y``."""
    size, whole = size_of(x), size_of(y)
    return y_bar if size == whole else y_bar * (whole / (size or 1))


@shape_only("y", "x")
def fitted(product: Any, y: Any, x: Any) -> Any:
    """The cotangent of ``x`` from a uniform cotangent of ``y`` times a partial that may have fewer elements than ``y``.

    ``product`` is fresh, and so is the result.
    """
    if type(product) is type(x) is np.ndarray and product.shape == x.shape == y.shape:
        return product
    found = unbroadcast(stretch(product, y), x)
    return found.copy() if isinstance(found, np.ndarray) and not found.flags.writeable else found


@shape_only("a")
def matmul_left_share(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = a @ b`` for a uniform ``y_bar``: every row is the same."""
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        return matmul_left_bar(expand(y_bar, matmul_shape(a, b)), a, b)
    return np.broadcast_to(y_bar * sum_of(as_conjugate(b), axis=1), np.shape(a))


@shape_only("b")
def matmul_right_share(y_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` in ``y = a @ b`` for a uniform ``y_bar``: every column is the same."""
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        return matmul_right_bar(expand(y_bar, matmul_shape(a, b)), a, b)
    return np.broadcast_to((y_bar * sum_of(as_conjugate(a), axis=0))[:, None], np.shape(b))
