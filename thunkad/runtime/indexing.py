"""Cotangents of indexing: what was read from an array is added back where it was read."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.arrays import is_zero, shape_only, zeros
from thunkad.runtime.ducks import as_array
from thunkad.tangents import NO_TANGENT, ZERO, NoTangent


def may_repeat(index: Any) -> bool:
    """Whether ``index`` may select an element twice: only integer arrays (or lists) can."""
    if type(index) in (int, slice):
        return False
    return any(
        isinstance(part, (np.ndarray, list, tuple)) and np.size(part) > 1 and np.asarray(part).dtype.kind in "iu"
        for part in (index if type(index) is tuple else (index,))
    )


@shape_only("x")
def index_bar(y_bar: Any, x: Any, index: Any) -> Any:
    """The cotangent of ``x`` for ``x[index]``: zeros with ``y_bar`` added where ``index`` reads."""
    if isinstance(x, (np.generic, int, float, complex)):
        return ZERO if isinstance(x, (bool, np.bool_)) else np.sum(y_bar)
    return index_add(zeros(x), index, y_bar)


def index_add(x_bar: Any, index: Any, v: Any) -> Any:
    """Add ``v`` to ``x_bar[index]`` in place, as often as the index says, and return ``x_bar``, owned by the caller."""
    if is_zero(x_bar) or is_zero(v):
        return x_bar
    if not isinstance(x_bar, np.ndarray):
        return _container_add(x_bar, index, v)
    if x_bar.dtype.kind == "f" and np.iscomplexobj(v):
        v = np.real(v)
    if may_repeat(index):
        np.add.at(x_bar, index, v)
    else:
        x_bar[index] += v
    return x_bar


def _container_add(x_bar: Any, index: Any, v: Any) -> Any:
    """The same for the cotangent of a list, a tuple (a new one is returned) or a dict."""
    if isinstance(x_bar, dict):
        x_bar[index] = x_bar.get(index, ZERO) + v
        return x_bar
    entries = x_bar if isinstance(x_bar, list) else list(x_bar)
    if isinstance(index, slice):
        for k, part in zip(range(*index.indices(len(entries))), v):
            entries[k] = entries[k] + part
    else:
        entries[index] = entries[index] + v
    return entries if isinstance(x_bar, list) else tuple(entries)


def assigned_last(index: Any, shape: Any) -> Any:
    """Which entries of ``v`` an assignment ``x[index] = v`` leaves in ``x`` (of that shape): the last of equal indices.

    True if the index can't repeat, else a boolean array of the shape of ``x[index]``.
    """
    if not may_repeat(index):
        return True
    writer = np.empty(shape, dtype=np.intp)
    numbers = np.arange(np.size(writer[index])).reshape(np.shape(writer[index]))
    writer[index] = numbers
    return np.equal(writer[index], numbers)


@shape_only("x")
def selection_bar(y_bar: Any, x: Any, source: Any) -> Any:
    """The cotangent of ``x`` for a result whose entries are copies of entries of ``x``.

    ``source`` has the shape of the result and holds the position of each entry in ``x.ravel()``, negative for entries
    that come from elsewhere.
    """
    x_bar = np.zeros(np.size(x), np.result_type(y_bar, np.float32) if np.ndim(y_bar) else as_array(y_bar).dtype)
    source, y_bar = np.ravel(source), np.ravel(y_bar)
    own = source >= 0
    np.add.at(x_bar, source[own], y_bar[own])
    return np.reshape(x_bar, np.shape(x))


@shape_only("x")
def numbered(x: Any) -> Any:
    """The positions of the entries of ``x``, in its shape: applied to them a selecting function shows what it takes."""
    return np.arange(np.size(x)).reshape(np.shape(x))


def _resolved(indices: Any, size: int, mode: str) -> Any:
    if mode == "wrap":
        return np.mod(indices, size)
    return np.clip(indices, 0, size - 1) if mode == "clip" else np.asarray(indices)


@shape_only("a")
def take_bar(y_bar: Any, a: Any, indices: Any, axis: Any = None, mode: Any = "raise") -> Any:
    """The cotangent of ``a`` for ``np.take``."""
    if axis is None:
        flat = index_bar(y_bar, np.broadcast_to(_sample(a), np.size(a)), _resolved(indices, np.size(a), mode))
        return np.reshape(flat, np.shape(a))
    if np.ndim(a) == 0:
        return np.sum(y_bar)  # a number counts as an array of one
    axis = axis % np.ndim(a)
    picked = _resolved(indices, np.shape(a)[axis], mode)
    return index_bar(y_bar, as_array(a), (*[slice(None)] * axis, picked))


@shape_only("a")
def _sample(a: Any) -> Any:
    """A single zero of the type of ``a``."""
    return np.zeros((), as_array(a).dtype)


@shape_only("arr")
def take_along_axis_bar(y_bar: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    """The cotangent of ``arr`` for ``np.take_along_axis``."""
    if axis is None:
        return np.reshape(
            take_along_axis_bar(y_bar, np.broadcast_to(_sample(arr), np.size(arr)), indices, 0), np.shape(arr)
        )
    axis = axis % np.ndim(arr)
    mesh = np.ogrid[tuple(slice(size) for size in np.shape(indices))]
    where: list[Any] = list(mesh) if np.ndim(indices) > 1 else [mesh[0]]
    for k, size in enumerate(np.shape(arr)):
        if k != axis and np.shape(indices)[k] == 1 != size:
            where[k] = np.reshape(np.arange(size), [size if j == k else 1 for j in range(np.ndim(arr))])
    where[axis] = indices
    x_bar = zeros(as_array(arr))
    np.add.at(x_bar, tuple(where), np.real(y_bar) if x_bar.dtype.kind == "f" else y_bar)
    return x_bar


@shape_only("a")
def compress_bar(y_bar: Any, condition: Any, a: Any, axis: Any = None) -> Any:
    """The cotangent of ``a`` for ``np.compress``."""
    return take_bar(y_bar, a, np.flatnonzero(condition), axis)


@shape_only("a")
def diagonal_bar(y_bar: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    """The cotangent of ``a`` for ``np.diagonal``."""
    a_bar = zeros(as_array(a))
    view = np.diagonal(np.moveaxis(a_bar, (axis1, axis2), (0, 1)), offset)
    view.flags.writeable = True
    view += np.real(y_bar) if a_bar.dtype.kind == "f" else y_bar
    return a_bar


@shape_only("arr", "values")
def insert_source(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Where each entry of ``np.insert(arr, obj, values, axis)`` comes from: positions in ``arr``, then ``values``."""
    return np.insert(numbered(arr), obj, np.size(arr) + numbered(values), axis)


@shape_only("arr", "values")
def insert_bars(y_bar: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> tuple[Any, Any]:
    """The cotangents of ``arr`` and ``values`` for ``np.insert``."""
    size = np.size(arr)
    both = selection_bar(y_bar, np.broadcast_to(0.0, size + np.size(values)), insert_source(arr, obj, values, axis))
    return np.reshape(both[:size], np.shape(arr)), np.reshape(both[size:], np.shape(values))


def insert_dot(arr_dot: Any, values_dot: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The tangent of ``np.insert``."""
    first, second = (np.zeros(np.shape(x)) if is_zero(d) else d for d, x in ((arr_dot, arr), (values_dot, values)))
    dtype = as_array(arr).dtype  # that of the result
    both = np.concatenate([np.ravel(first), np.ravel(second)])
    both = both.astype(dtype) if dtype.kind == "f" else both
    return both[insert_source(arr, obj, values, axis)]


def of_index(x: Any) -> NoTangent:
    """The cotangent of an index: none, unless ``x`` may make its result of the index, as ``np.r_`` does."""
    if not isinstance(x, (np.ndarray, np.generic, list, tuple, dict, str, range)):
        raise UnsupportedSyntaxError(
            f"differentiating an index of an object of class {type(x).__name__} is not supported",
            hint="np.concatenate, np.stack and np.column_stack do what np.r_ and np.c_ do"
            if type(x).__module__.startswith("numpy")
            else "use a list, a tuple, a dict or an array",
        )
    return NO_TANGENT
