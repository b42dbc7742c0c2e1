"""Cotangents and tangents of ``linspace`` and its relatives: each entry lies some way from the start to the stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero, unbroadcast
from thunkad.runtime.precision import as_precise_as, float_type
from thunkad.tangents import ZERO


def _way(y: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    """How far along each entry is, from 0 to 1, shaped to broadcast against the result."""
    along = [1] * np.ndim(y)
    along[axis] = -1
    return np.reshape(np.linspace(0.0, 1.0, num, endpoint=endpoint, dtype=float_type(y)), along)


def start_bar(y_bar: Any, start: Any, num: Any, endpoint: Any = True, axis: Any = 0) -> Any:
    """The cotangent of ``start`` for ``np.linspace``."""
    return unbroadcast(np.sum(y_bar * (1 - _way(y_bar, num, endpoint, axis)), axis=axis), start)


def stop_bar(y_bar: Any, stop: Any, num: Any, endpoint: Any = True, axis: Any = 0) -> Any:
    """The cotangent of ``stop`` for ``np.linspace``."""
    return unbroadcast(np.sum(y_bar * _way(y_bar, num, endpoint, axis), axis=axis), stop)


def linspace_dot(start_dot: Any, stop_dot: Any, y: Any, num: Any, endpoint: Any = True, axis: Any = 0) -> Any:
    """The tangent of ``y = np.linspace(start, stop)``."""
    way = _way(y, num, endpoint, axis)
    shape = np.shape(np.take(y, 0, axis)) if np.size(y) else ()
    y_dot: Any = np.zeros(np.shape(y), float_type(y))
    if np.size(y) and not is_zero(start_dot):
        y_dot = y_dot + (1 - way) * np.expand_dims(np.broadcast_to(as_precise_as(start_dot, y), shape), axis)
    if np.size(y) and not is_zero(stop_dot):
        y_dot = y_dot + way * np.expand_dims(np.broadcast_to(as_precise_as(stop_dot, y), shape), axis)
    return y_dot


def exponent_bar(y_bar: Any, y: Any, base: Any = 10.0, axis: Any = 0) -> Any:
    """The cotangent of the exponents ``e`` of ``y = base**e``, the base with an axis put in."""
    return y_bar * conjugate(y * np.log(_base(base, axis)))


def _base(base: Any, axis: Any) -> Any:
    return np.expand_dims(base, axis) if np.ndim(base) else base


def base_bar(y_bar: Any, y: Any, base: Any, start: Any, stop: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    """The cotangent of ``base`` for ``y = np.logspace(start, stop)``."""
    start = np.broadcast_to(start, np.shape(np.sum(y, axis=axis)))
    exponents = np.linspace(start, stop, num, endpoint=endpoint, axis=axis)
    return unbroadcast(np.sum(y_bar * conjugate(exponents * y / _base(base, axis)), axis=axis), base)


def logspace_dot(
    dots: tuple[Any, Any, Any], y: Any, start: Any, stop: Any, num: Any, endpoint: Any, base: Any, axis: Any
) -> Any:
    """The tangent of ``y = np.logspace(start, stop)`` from those of ``start``, ``stop`` and ``base``."""
    start_dot, stop_dot, base_dot = dots
    y_dot = y * np.log(_base(base, axis)) * linspace_dot(start_dot, stop_dot, y, num, endpoint, axis)
    if not is_zero(base_dot):
        start = np.broadcast_to(start, np.shape(np.sum(y, axis=axis)))
        exponents = np.linspace(start, stop, num, endpoint=endpoint, axis=axis)
        y_dot = y_dot + exponents * y / _base(base, axis) * _base(base_dot, axis)
    return y_dot


def relative(x_dot: Any, x: Any) -> Any:
    """The tangent of the logarithm of ``x``."""
    return ZERO if is_zero(x_dot) else x_dot / x


def arange_bars(y_bar: Any, start: Any, stop: Any, step: Any, dtype: Any = None) -> tuple[Any, Any]:
    """The cotangents of ``start`` and ``step`` for ``np.arange``; a lone argument is the stop and moves no entry."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        return ZERO, ZERO  # rounded to integers
    first = ZERO if stop is None else np.sum(y_bar)
    return first, ZERO if step is None else np.sum(y_bar * np.arange(np.size(y_bar)))


def arange_dot(start_dot: Any, step_dot: Any, y: Any, stop: Any) -> Any:
    """The tangent of ``y = np.arange(start, stop, step)``."""
    if np.asarray(y).dtype.kind not in "fc":
        return np.zeros(np.shape(y))
    y_dot: Any = np.zeros(np.shape(y), float_type(y))
    if stop is not None and not is_zero(start_dot):
        y_dot = y_dot + start_dot
    if not is_zero(step_dot):
        y_dot = y_dot + step_dot * np.arange(np.size(y), dtype=float_type(y))
    return y_dot


def _power_slopes(count: int, x: Any, increasing: Any) -> Any:
    """The derivative of each column of ``np.vander``."""
    x = np.asarray(x)[:, None]
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return powers * x ** np.maximum(powers - 1, 0).astype(x.dtype if x.dtype.kind in "fc" else float)


def vander_bar(y_bar: Any, x: Any, increasing: Any = False) -> Any:
    """The cotangent of ``x`` for ``np.vander``."""
    return np.sum(y_bar * conjugate(_power_slopes(np.shape(y_bar)[1], x, increasing)), axis=1)


def vander_dot(x_dot: Any, y: Any, x: Any, increasing: Any = False) -> Any:
    """The tangent of ``y = np.vander(x)``."""
    return _power_slopes(np.shape(y)[1], x, increasing) * np.expand_dims(x_dot, 1)
