"""Cotangents of functions that rearrange, repeat or cut arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.runtime.arrays import is_zero, rounds, shape_only, unbroadcast, zeros
from thunkad.runtime.indexing import as_array, diagonal_bar, selection_bar, take_bar
from thunkad.tangents import ZERO


@shape_only("a")
def reshape_like(y_bar: Any, a: Any, order: Any = "C") -> Any:
    """A cotangent in the shape of ``a``, entries in the given order, which :func:`memory_order` may have found."""
    if isinstance(order, tuple):
        return np.transpose(np.reshape(y_bar, [np.shape(a)[k] for k in order]), np.argsort(order))
    return np.reshape(y_bar, np.shape(a), order)


def memory_order(a: Any, order: Any) -> Any:
    """``order``, with what depends on memory decided: for ``"K"`` the axes of ``a``, that of the widest steps first."""
    if order == "A":
        return "F" if np.isfortran(a) else "C"
    if order == "K":
        return tuple(sorted(range(np.ndim(a)), key=lambda k: -abs(np.asarray(a).strides[k])))
    return order


def in_memory_like(a_dot: Any, a: Any, order: Any) -> Any:
    """A tangent laid out as ``a`` is, where an ``order`` asks for it."""
    if order not in ("A", "K") or is_zero(a_dot):
        return a_dot
    if order == "A":
        return np.asarray(a_dot, order=memory_order(a, order))
    found = np.empty_like(a, np.asarray(a_dot).dtype)
    found[...] = a_dot
    return found


def transpose_bar(y_bar: Any, axes: Any = None) -> Any:
    """The cotangent of ``a`` for ``np.transpose(a, axes)``."""
    return np.transpose(y_bar) if axes is None else np.transpose(y_bar, np.argsort([k % len(axes) for k in axes]))


def rollaxis_bar(y_bar: Any, axis: Any, start: Any = 0) -> Any:
    """The cotangent of ``a`` for ``np.rollaxis``."""
    ndim = np.ndim(y_bar)
    axis = axis % ndim
    start = start + ndim if start < 0 else start
    return np.moveaxis(y_bar, start - 1 if axis < start else start, axis)


@shape_only("a")
def astype_bar(y_bar: Any, a: Any, dtype: Any) -> Any:
    """The cotangent of ``a`` for a conversion to ``dtype``; zero where that rounds to integers."""
    return zeros(a) if dtype is not None and rounds(a, dtype) else y_bar


def astype_dot(a_dot: Any, a: Any, dtype: Any) -> Any:
    """The tangent of a conversion to ``dtype``: of that type, zero where that rounds to integers."""
    if is_zero(a_dot):
        return ZERO
    if rounds(a, dtype):
        return a_dot * 0
    return a_dot.astype(dtype) if np.dtype(dtype).kind in "fc" and hasattr(a_dot, "astype") else a_dot


@shape_only("m")
def triangle_bar(y_bar: Any, m: Any, k: Any, triangle: Callable[..., Any]) -> Any:
    """The cotangent of ``m`` for ``np.tril`` or ``np.triu``, which makes a matrix of a vector by repeating it."""
    return unbroadcast(triangle(y_bar, k), m)


@shape_only("A")
def tile_bar(y_bar: Any, A: Any, reps: Any) -> Any:
    """The cotangent of ``A`` for ``np.tile``."""
    reps = tuple(np.atleast_1d(reps).tolist())
    ndim = max(len(reps), np.ndim(A))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - np.ndim(A)) + np.shape(A)
    copies = np.reshape(y_bar, [n for pair in zip(reps, shape) for n in pair])
    return np.reshape(np.sum(copies, axis=tuple(range(0, 2 * ndim, 2))), np.shape(A))


@shape_only("a")
def repeat_bar(y_bar: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    """The cotangent of ``a`` for ``np.repeat``."""
    size = np.size(a) if axis is None else np.shape(a)[axis]
    if np.ndim(repeats) == 0 and axis is None:
        return np.reshape(np.sum(np.reshape(y_bar, (size, repeats)), axis=1), np.shape(a))
    if np.ndim(repeats) == 0:
        axis = axis % np.ndim(a)
        shape = np.shape(a)
        copies = np.reshape(y_bar, (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
        return np.sum(copies, axis=axis + 1)
    return take_bar(y_bar, a, np.repeat(np.arange(size), repeats), axis)


@shape_only("a")
def resize_bar(y_bar: Any, a: Any, new_shape: Any) -> Any:
    """The cotangent of ``a`` for ``np.resize``."""
    if np.size(a) == 0:
        return np.zeros(np.shape(a))
    return selection_bar(y_bar, a, np.resize(np.arange(np.size(a)), new_shape))


def each_reshaped(y_bar: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the arguments of ``np.atleast_1d`` and its like (which return one array for one argument)."""
    parts = (y_bar,) if len(arrays) == 1 else y_bar
    return tuple(part if is_zero(part) else np.reshape(part, np.shape(a)) for part, a in zip(parts, arrays))


def each_unbroadcast(y_bar: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the arguments of ``np.broadcast_arrays``."""
    return tuple(part if is_zero(part) else unbroadcast(part, a) for part, a in zip(y_bar, arrays))


def meshgrid_bars(y_bar: Any, xi: tuple[Any, ...], indexing: Any = "xy") -> tuple[Any, ...]:
    """The cotangents of the coordinates for ``np.meshgrid``."""
    bars = []
    for k, (part, x) in enumerate(zip(y_bar, xi)):
        axis = 1 - k if indexing == "xy" and len(xi) > 1 and k < 2 else k
        if not is_zero(part):
            part = np.sum(part, axis=tuple(j for j in range(np.ndim(part)) if j != axis))
            part = np.reshape(part, np.shape(x))
        bars.append(part)
    return tuple(bars)


@shape_only("ary")
def split_bar(y_bar: Any, ary: Any, split: Callable[..., Any], *options: Any) -> Any:
    """The cotangent of ``ary`` for ``split(ary, *options)``, a function that cuts it into views."""
    ary_bar = zeros(as_array(ary))
    for view, part in zip(split(ary_bar, *options), y_bar):
        if not is_zero(part):
            view += np.real(part) if ary_bar.dtype.kind == "f" else part
    return ary_bar


def unstack_bar(y_bar: Any, x: Any, axis: Any = 0) -> Any:
    """The cotangent of ``x`` for ``np.unstack``."""
    x_bar = zeros(as_array(x))
    views = np.moveaxis(x_bar, axis, 0)
    for k, part in enumerate(y_bar):
        if not is_zero(part):
            views[k] += np.real(part) if x_bar.dtype.kind == "f" else part
    return x_bar


def sequence_dot(f: Callable[..., Any], dots: Any, values: Any, *options: Any, **keywords: Any) -> Any:
    """The tangent of ``f(*values, *options)``, linear in its arrays, some of whose tangents may be structural zeros."""
    if is_zero(dots):
        return ZERO
    filled = [np.zeros(np.shape(x)) if is_zero(d) else d for d, x in zip(dots, values)]
    return f(*filled, *options, **keywords)


@shape_only("v")
def diag_bar(y_bar: Any, v: Any, k: Any = 0) -> Any:
    """The cotangent of ``v`` for ``np.diag``."""
    return np.diagonal(y_bar, k) if np.ndim(v) == 1 else diagonal_bar(y_bar, v, k)
