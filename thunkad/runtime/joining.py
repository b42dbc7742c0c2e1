"""Cotangents and tangents of functions that join arrays, and of arrays built from nested lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.arrays import is_zero, rounds, shape_only, unbroadcast, zeros
from thunkad.runtime.cotangents import entry
from thunkad.runtime.ducks import as_array
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import NO_TANGENT, ZERO

OF_OBJECTS = "an array of objects or records made of differentiated values"


def join_bar(
    y_bar: Any, arrays: Any, axis: Any, promoted: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None
) -> Any:
    """The cotangents of the parts of a joined array: a list, or one array if the parts came as one.

    ``promoted`` says to which shape a part is brought before it is joined.
    """
    shapes = [np.shape(a) for a in arrays]
    if axis is None:
        sizes, axis = [int(np.prod(s, dtype=int)) for s in shapes], 0
    else:
        sizes = [(promoted(s) if promoted else s)[axis] for s in shapes]
    parts = np.split(y_bar, np.cumsum(sizes[:-1], dtype=int), axis=axis)
    bars = [part if part.shape == s else np.reshape(part, s) for part, s in zip(parts, shapes)]
    return np.stack(bars) if isinstance(arrays, np.ndarray) else bars


def stack_bar(y_bar: Any, arrays: Any, axis: Any = 0) -> Any:
    """The cotangents of the parts for ``np.stack``."""
    moved = np.moveaxis(y_bar, axis, 0)
    return moved if isinstance(arrays, np.ndarray) else list(moved)


def hstack_bar(y_bar: Any, tup: Any) -> Any:
    """The cotangents of the parts for ``np.hstack``."""
    return join_bar(y_bar, tup, 0 if np.ndim(tup[0]) <= 1 else 1, lambda s: s or (1,))


def vstack_bar(y_bar: Any, tup: Any) -> Any:
    """The cotangents of the parts for ``np.vstack``."""
    return join_bar(y_bar, tup, 0, lambda s: (1,) * (2 - len(s)) + s)


def dstack_bar(y_bar: Any, tup: Any) -> Any:
    """The cotangents of the parts for ``np.dstack``."""
    return join_bar(y_bar, tup, 2, lambda s: ((1,) * (2 - len(s)) + s + (1,))[:3] if len(s) < 3 else s)


def column_stack_bar(y_bar: Any, tup: Any) -> Any:
    """The cotangents of the parts for ``np.column_stack``."""
    return join_bar(y_bar, tup, 1, lambda s: s if len(s) > 1 else (*(s or (1,)), 1))


def join_dot(f: Callable[..., Any], dots: Any, arrays: Any, *options: Any) -> Any:
    """The tangent of ``f(arrays, *options)``, a function that joins arrays; tangents may be structural zeros."""
    if is_zero(dots) or isinstance(dots, np.ndarray):
        return dots if is_zero(dots) else f(dots, *options)
    return f([still(a) if is_zero(d) else d for d, a in zip(dots, arrays)], *options)


def still(x: Any) -> Any:
    """Zeros for the tangent of ``x``, of a type with which those of other operands promote as ``x`` does."""
    return np.zeros(np.shape(x), np.result_type(as_array(x).dtype, np.float16))


@shape_only("arr", "values")
def append_bars(y_bar: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    """The cotangents of ``arr`` and ``values`` for ``np.append``."""
    return join_bar(y_bar, (arr, values), axis)


def append_dot(arr_dot: Any, values_dot: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    """The tangent of ``np.append``."""
    first, second = [still(x) if is_zero(d) else d for d, x in ((arr_dot, arr), (values_dot, values))]
    return np.append(first, second, axis)


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def block_bars(y_bar: Any, arrays: Any) -> Any:
    """The cotangents of the blocks for ``np.block``, nested as they are."""
    return _block_bars(y_bar, arrays, _depth(arrays), np.ndim(y_bar))


def _block_bars(part: Any, arrays: Any, depth: int, ndim: int) -> Any:
    if not isinstance(arrays, list):
        return np.reshape(part, np.shape(arrays))
    sizes = [_block_size(a, depth - 1, -depth, ndim) for a in arrays]
    pieces = np.split(part, np.cumsum(sizes[:-1], dtype=int), axis=-depth)
    return [_block_bars(piece, a, depth - 1, ndim) for piece, a in zip(pieces, arrays)]


def _block_size(arrays: Any, depth: int, axis: int, ndim: int) -> int:
    """How long a (nested) block is along ``axis``."""
    if not isinstance(arrays, list):
        shape = np.shape(arrays)
        return shape[axis] if len(shape) >= -axis else 1
    if -depth == axis:
        return sum(_block_size(a, depth - 1, axis, ndim) for a in arrays)
    return _block_size(arrays[0], depth - 1, axis, ndim)


def block_dot(arrays_dot: Any, arrays: Any) -> Any:
    """The tangent of ``np.block``."""
    return ZERO if is_zero(arrays_dot) else np.block(_dense(arrays_dot, arrays))


def _dense(dot: Any, value: Any) -> Any:
    """A nested tangent with explicit zeros."""
    if isinstance(value, (list, tuple)):
        dots = [dot] * len(value) if is_zero(dot) else dot
        return [_dense(d, v) for d, v in zip(dots, value)]
    return still(value) if is_zero(dot) else dot


# arrays from numbers, arrays or nested lists of them


def nested_bar(y_bar: Any, object: Any, dtype: Any = None) -> Any:
    """The cotangent of what an array was made of, in the structure of that: nested lists, an array, a number."""
    if isinstance(y_bar, np.ndarray) and y_bar.dtype.names:
        raise UnsupportedSyntaxError(OF_OBJECTS, hint="use a list")
    if isinstance(object, (list, tuple)):
        if len(object) == 0:
            return []
        extra = np.ndim(y_bar) - _nested_ndim(object)
        y_bar = np.reshape(y_bar, np.shape(y_bar)[extra:]) if extra > 0 else y_bar  # the axes that ndmin put in front
        return [nested_bar(part, o, dtype) for part, o in zip(y_bar, object)]
    if dtype is not None and rounds(object, dtype):
        return zeros(object)
    return y_bar if np.shape(y_bar) == np.shape(object) else np.reshape(y_bar, np.shape(object))[()]


def _nested_ndim(object: Any) -> int:
    return 1 + _nested_ndim(object[0]) if isinstance(object, (list, tuple)) and object else np.ndim(object)


def _still(dot: Any) -> bool:
    return is_zero(dot) or (isinstance(dot, (list, tuple)) and all(map(_still, dot)))


def nested_dot(object_dot: Any, object: Any, y: Any) -> Any:
    """The tangent of ``y``, an array made of ``object``: of its shape and (if that is inexact) type."""
    if _still(object_dot):
        return zeros(y)
    if np.asarray(y).dtype.kind in "OV":
        raise UnsupportedSyntaxError(OF_OBJECTS, hint="use a list")
    if np.asarray(y).dtype.kind not in "fc":
        if np.asarray(object).dtype.kind in "fc":
            return zeros(y)
        return np.reshape(np.array(_dense(object_dot, object), dtype=float), np.shape(y))
    return np.reshape(np.array(_dense(object_dot, object), dtype=np.asarray(y).dtype), np.shape(y))


@shape_only("y")
def fill_bar(y_bar: Any, fill_value: Any, y: Any) -> Any:
    """The cotangent of the value that fills ``y``; zero where storing it rounds to integers."""
    if rounds(fill_value, y.dtype):
        return zeros(fill_value)
    return unbroadcast(y_bar, fill_value)


@shape_only("y")
def fill_dot(fill_value_dot: Any, fill_value: Any, y: Any) -> Any:
    """The tangent of an array ``y`` filled with a value."""
    if is_zero(fill_value_dot) or rounds(fill_value, y.dtype):
        return zeros(y)
    return np.broadcast_to(as_precise_as(fill_value_dot, y), np.shape(y))


def brackets_bar(y_bar: Any, brackets: Any, key: Any) -> Any:
    """The cotangent of the entries in ``np.r_[key]`` or ``np.c_[key]``, which only places them."""
    parts = key if isinstance(key, tuple) else (key,)
    numbers, total = [], 0
    for part in parts:
        if isinstance(part, str):
            numbers.append(part)
        else:
            size = np.size(part)
            numbers.append(np.reshape(np.arange(total, total + size), np.shape(part)))
            total += size
    source = brackets[tuple(numbers)]
    flat = np.zeros(total, np.result_type(y_bar))
    flat[np.ravel(source)] = np.ravel(y_bar)
    bars = []
    for part, places in zip(parts, numbers):
        bars.append(NO_TANGENT if isinstance(part, str) else flat[places])
    return tuple(bars) if isinstance(key, tuple) else bars[0]


def brackets_dot(key_dot: Any, brackets: Any, key: Any) -> Any:
    """The tangent of ``np.r_[key]`` or ``np.c_[key]``."""
    parts = key if isinstance(key, tuple) else (key,)
    dots = [entry(key_dot, k) for k in range(len(parts))] if isinstance(key, tuple) else [key_dot]
    placed = [part if isinstance(part, str) else _dense(dot, part) for part, dot in zip(parts, dots)]
    return brackets[tuple(placed)]
