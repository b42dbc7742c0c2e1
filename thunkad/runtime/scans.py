"""Cotangents and tangents of scans, differences, interpolation and one-dimensional filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero, rounds, shape_only, unbroadcast, zeros
from thunkad.runtime.ducks import as_array
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import ZERO


def reverse_cumsum(t: Any, axis: Any) -> Any:
    """Sums of each entry and all after it."""
    return np.flip(np.cumsum(np.flip(t, axis), axis=axis), axis)


@shape_only("a")
def cumsum_bar(y_bar: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The cotangent of ``a`` for ``np.cumsum``."""
    if dtype is not None and rounds(a, dtype):
        return zeros(a)
    if axis is None:
        return np.reshape(reverse_cumsum(y_bar, 0), np.shape(a))
    return reverse_cumsum(y_bar, axis)


def cumsum_dot(a_dot: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The tangent of ``np.cumsum``."""
    y_dot = np.cumsum(a_dot, axis=axis)
    return y_dot if dtype is None or not rounds(a, dtype) else y_dot * 0


def _first_zero(a: Any, axis: Any) -> Any:
    zero = np.equal(a, 0)
    return zero & (np.cumsum(zero, axis=axis) == 1) if np.any(zero) else None


def cumprod_bar(y_bar: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The cotangent of ``a`` for ``y = np.cumprod(a)``, right with zeros among the factors."""
    if dtype is not None and rounds(a, dtype):
        return zeros(a)
    if axis is None:
        return np.reshape(cumprod_bar(y_bar, y, np.ravel(a), 0), np.shape(a))
    first = _first_zero(a, axis)
    if first is None:
        return reverse_cumsum(y_bar * conjugate(y), axis) / conjugate(a)
    # up to the first zero y is not zero; the zero itself has the products without it; nothing after it matters
    filled = np.where(first, 1, a)
    before = reverse_cumsum(y_bar * conjugate(y), axis) / conjugate(np.where(np.equal(a, 0), 1, a))
    at = reverse_cumsum(y_bar * conjugate(np.cumprod(filled, axis=axis)), axis)
    return np.where(first, at, np.where(np.cumsum(first, axis=axis) == 0, before, 0))


def cumprod_dot(a_dot: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The tangent of ``y = np.cumprod(a)``."""
    if dtype is not None and rounds(a, dtype):
        return np.zeros(np.shape(y))
    if axis is None:
        return cumprod_dot(np.ravel(a_dot), y, np.ravel(a), 0)
    first = _first_zero(a, axis)
    if first is None:
        return y * np.cumsum(a_dot / a, axis=axis)
    before = y * np.cumsum(a_dot / np.where(np.equal(a, 0), 1, a), axis=axis)
    at = np.cumprod(np.where(first, 1, a), axis=axis) * np.cumsum(np.where(first, a_dot, 0), axis=axis)
    return np.where(np.cumsum(first, axis=axis) == 0, before, at)


def without_initial(t: Any, axis: Any, include_initial: Any) -> Any:
    """A cumulative result without the leading entry that ``include_initial`` put there."""
    if not include_initial:
        return t
    axis = 0 if axis is None else axis
    return np.delete(t, 0, axis=axis)


def with_initial(t: Any, axis: Any, include_initial: Any) -> Any:
    """A tangent with the zero of the initial value before it, if there is one."""
    if not include_initial:
        return t
    axis = 0 if axis is None else axis
    shape = list(np.shape(t))
    shape[axis] = 1
    return np.concatenate([np.zeros_like(t, shape=shape), t], axis=axis)


def ignoring_nan(a: Any, neutral: Any) -> Any:
    """``a`` with ``neutral`` in place of NaN."""
    return np.where(np.equal(a, a), a, neutral)


# differences


@shape_only("a")
def diff_bars(y_bar: Any, a: Any, n: Any, axis: Any, prepend: Any, append: Any) -> tuple[Any, Any, Any]:
    """The cotangents of ``a``, ``prepend`` and ``append`` for ``np.diff``."""
    margin = [(0, 0)] * np.ndim(y_bar)
    margin[axis] = (n, n)
    whole = (-1) ** n * np.diff(np.pad(y_bar, margin), n, axis) if n else y_bar
    start = _added_length(prepend, axis)
    stop = start + np.shape(a)[axis]
    parts = np.split(whole, [start, stop], axis=axis)
    return parts[1], _added_bar(parts[0], prepend, axis), _added_bar(parts[2], append, axis)


def _added_length(x: Any, axis: Any) -> int:
    if x is np._NoValue:  # type: ignore[attr-defined]
        return 0
    return np.shape(x)[axis] if np.ndim(x) else 1


def _added_bar(part: Any, x: Any, axis: Any) -> Any:
    if x is np._NoValue:  # type: ignore[attr-defined]
        return ZERO
    return part if np.ndim(x) else np.sum(part)


def diff_dot(dots: tuple[Any, Any, Any], values: tuple[Any, Any, Any], n: Any, axis: Any) -> Any:
    """The tangent of ``np.diff`` from the tangents of ``a``, ``prepend`` and ``append``."""
    filled = [
        d if x is np._NoValue else np.zeros(np.shape(x)) if is_zero(d) else d  # type: ignore[attr-defined]
        for d, x in zip(dots, values)
    ]
    given = [np._NoValue if x is np._NoValue else d for d, x in zip(filled, values)]  # type: ignore[attr-defined]
    return np.diff(given[0], n, axis, given[1], given[2])


@shape_only("ary")
def ediff1d_bars(y_bar: Any, ary: Any, to_end: Any, to_begin: Any) -> tuple[Any, Any, Any]:
    """The cotangents of ``ary``, ``to_end`` and ``to_begin`` for ``np.ediff1d``."""
    start = 0 if to_begin is None else np.size(to_begin)
    stop = np.size(y_bar) - (0 if to_end is None else np.size(to_end))
    inner = y_bar[start:stop]
    ary_bar = np.reshape(-np.diff(np.pad(inner, 1)), np.shape(ary)) if np.size(ary) else np.zeros(np.shape(ary))
    return (
        ary_bar,
        ZERO if to_end is None else np.reshape(y_bar[stop:], np.shape(to_end)),
        ZERO if to_begin is None else np.reshape(y_bar[:start], np.shape(to_begin)),
    )


def ediff1d_dot(dots: tuple[Any, Any, Any], values: tuple[Any, Any, Any]) -> Any:
    """The tangent of ``np.ediff1d`` from those of its three arguments."""
    filled = (np.zeros(np.shape(x)) if is_zero(d) else d for d, x in zip(dots, values))
    ary, end, begin = (None if x is None else d for d, x in zip(filled, values))
    return np.ediff1d(ary, end, begin)


def trapezoid_weights(x: Any, dx: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    """What each ordinate counts in ``np.trapezoid``, shaped to broadcast against the ordinates."""
    length = shape[axis]
    if length < 2:
        return np.zeros([length if k == axis % len(shape) else 1 for k in range(len(shape))])
    steps = _steps(x, dx, axis, shape)
    if np.shape(steps)[axis] != length - 1:
        steps = np.repeat(steps, length - 1, axis=axis)
    edge = np.zeros_like(np.take(steps, [0], axis=axis))
    return (np.concatenate([edge, steps], axis=axis) + np.concatenate([steps, edge], axis=axis)) / 2


def _steps(x: Any, dx: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    """The step widths, with as many axes as the ordinates and length one or n - 1 along ``axis``."""
    if x is None:
        return np.reshape(dx, (1,) * (len(shape) - np.ndim(dx)) + np.shape(dx))
    x = as_array(x)
    if x.ndim > 1:
        return np.diff(x, axis=axis)
    along = [1] * len(shape)
    along[axis] = -1
    return np.reshape(np.diff(x), along)


def trapezoid_bar(area_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The cotangent of the ordinates ``y`` for ``np.trapezoid``."""
    return np.expand_dims(area_bar, axis) * as_precise_as(trapezoid_weights(x, dx, axis, np.shape(y)), area_bar)


def _midpoints(area_bar: Any, y: Any, axis: Any) -> Any:
    first, last = (np.take(y, range(k, np.shape(y)[axis] - 1 + k), axis=axis) for k in (0, 1))
    return np.expand_dims(area_bar, axis) * conjugate((first + last) / 2)


def trapezoid_x_bar(area_bar: Any, y: Any, x: Any, axis: Any) -> Any:
    """The cotangent of the abscissae ``x`` for ``np.trapezoid``."""
    if x is None:
        return ZERO
    widths_bar = _midpoints(area_bar, y, axis)
    if np.ndim(x) == 1:
        others = tuple(k for k in range(np.ndim(y)) if k != axis % np.ndim(y))
        return -np.diff(np.pad(np.sum(widths_bar, axis=others), 1))
    margin = [(0, 0)] * np.ndim(y)
    margin[axis] = (1, 1)
    return unbroadcast(-np.diff(np.pad(widths_bar, margin), axis=axis), x)


def trapezoid_dx_bar(area_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The cotangent of the step ``dx`` for ``np.trapezoid``."""
    return unbroadcast(_midpoints(area_bar, y, axis), dx) if x is None else ZERO


def trapezoid_dot(dots: tuple[Any, Any, Any], y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """The tangent of ``np.trapezoid`` from those of ``y``, ``x`` and ``dx``."""
    y_dot, x_dot, dx_dot = dots
    total = ZERO
    if not is_zero(y_dot):
        total = total + np.trapezoid(y_dot, x, dx, axis)
    if x is not None and not is_zero(x_dot):
        total = total + np.trapezoid(y, x_dot, axis=axis)
    if x is None and not is_zero(dx_dot):
        total = total + np.trapezoid(y, None, dx_dot, axis)
    return total


# one-dimensional filters


def _full_seed(y_bar: Any, a: Any, v: Any, mode: Any, flipped: bool) -> Any:
    """The cotangent of the full convolution, of which ``mode`` keeps a part."""
    large, small = max(np.size(a), np.size(v)), min(np.size(a), np.size(v))
    start = {"full": 0, "same": (small - 1) // 2, "valid": small - 1}[mode]
    total = large + small - 1
    if flipped:
        start = total - start - np.size(y_bar)
    return np.pad(np.ravel(y_bar), (start, total - start - np.size(y_bar)))


def convolve_left_bar(y_bar: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    """The cotangent of ``a`` for ``np.convolve(a, v, mode)``."""
    full = np.correlate(_full_seed(y_bar, a, v, mode, False), np.ravel(v), "valid")
    return np.reshape(full, np.shape(a))


def convolve_right_bar(y_bar: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    """The cotangent of ``v`` for ``np.convolve(a, v, mode)``."""
    full = np.correlate(_full_seed(y_bar, a, v, mode, False), np.ravel(a), "valid")
    return np.reshape(full, np.shape(v))


def _correlate_seed(y_bar: Any, a: Any, v: Any, mode: Any) -> Any:
    return _full_seed(y_bar, a, v, mode, np.size(v) > np.size(a))


def correlate_left_bar(y_bar: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    """The cotangent of ``a`` for ``np.correlate(a, v, mode)``."""
    return np.convolve(_correlate_seed(y_bar, a, v, mode), v, "valid")


def correlate_right_bar(y_bar: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    """The cotangent of ``v`` for ``np.correlate(a, v, mode)``."""
    return conjugate(np.flip(np.correlate(_correlate_seed(y_bar, a, v, mode), a, "valid")))


def bilinear_dot(f: Any, a: Any, v: Any, a_dot: Any, v_dot: Any, *options: Any) -> Any:
    """The tangent of a bilinear ``f(a, v, *options)``."""
    total = ZERO
    if not is_zero(a_dot):
        total = total + f(a_dot, v, *options)
    if not is_zero(v_dot):
        total = total + f(a, v_dot, *options)
    return total
