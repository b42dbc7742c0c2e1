"""Derivatives of random draws by their parameters, the draw itself kept.

A draw ``y`` with a location and a scale is ``y = loc + scale * e`` with ``e`` free of both; where the scale is zero, so
that ``y`` no longer shows ``e``, the derivative by the scale is given as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import stretch, unbroadcast
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import ZERO, AbstractZero


def safe_ratio(a: Any, b: Any) -> Any:
    """``a / b``, zero where ``b`` is zero."""
    flat = np.equal(b, 0)
    return np.where(flat, 0.0, a / np.where(flat, 1.0, b))


def drawn(draw: Any, self: Any, mean: Any, cov: Any, size: Any, check_valid: Any, tol: Any, method: Any) -> Any:
    """A multivariate normal draw; only generators of the new kind take ``method``."""
    options = {} if method is None else {"method": method}
    return draw(self, mean, cov, size, check_valid, tol, **options)


def draw_location_bar(y_bar: Any, loc: Any) -> Any:
    """The cotangent of the location of a draw."""
    return unbroadcast(y_bar, loc)


def draw_scale_bar(y_bar: Any, y: Any, loc: Any, scale: Any) -> Any:
    """The cotangent of the scale of a draw ``y = loc + scale * e``."""
    return unbroadcast(y_bar * safe_ratio(y - loc, scale), scale)


def draw_dot(y: Any, loc: Any, scale: Any, loc_dot: Any, scale_dot: Any) -> Any:
    """The tangent of a draw ``y = loc + scale * e``."""
    total: Any = ZERO
    if not isinstance(loc_dot, AbstractZero):
        total = total + as_precise_as(loc_dot, y)
    if not isinstance(scale_dot, AbstractZero):
        total = total + scale_dot * safe_ratio(y - loc, scale)
    return total if isinstance(total, AbstractZero) else stretch(total, y)


def draw_low_bar(y_bar: Any, y: Any, low: Any, high: Any) -> Any:
    """The cotangent of the lower end of a uniform draw."""
    return unbroadcast(y_bar * safe_ratio(high - y, high - low), low)


def draw_high_bar(y_bar: Any, y: Any, low: Any, high: Any) -> Any:
    """The cotangent of the upper end of a uniform draw."""
    return unbroadcast(y_bar * safe_ratio(y - low, high - low), high)


def uniform_dot(y: Any, low: Any, high: Any, low_dot: Any, high_dot: Any) -> Any:
    """The tangent of a uniform draw."""
    total: Any = ZERO
    if not isinstance(low_dot, AbstractZero):
        total = total + low_dot * safe_ratio(high - y, high - low)
    if not isinstance(high_dot, AbstractZero):
        total = total + high_dot * safe_ratio(y - low, high - low)
    return total if isinstance(total, AbstractZero) else stretch(total, y)


def log_draw_scale_bar(y_bar: Any, y: Any, mean: Any, sigma: Any) -> Any:
    """The cotangent of ``sigma`` of a log-normal draw ``y = exp(mean + sigma * e)``."""
    return unbroadcast(y_bar * y * safe_ratio(np.log(y) - mean, sigma), sigma)


def log_draw_dot(y: Any, mean: Any, sigma: Any, mean_dot: Any, sigma_dot: Any) -> Any:
    """The tangent of a log-normal draw."""
    step = draw_dot(np.log(y), mean, sigma, mean_dot, sigma_dot)
    return step if isinstance(step, AbstractZero) else y * step


def power_draw_partial(y: Any, a: Any) -> Any:
    """The derivative by ``a`` of ``y = u ** (1 / a)``: draws of ``power`` and ``weibull``."""
    return -safe_ratio(y * np.log(np.where(np.equal(y, 0), 1.0, y)), a)


def pareto_draw_partial(y: Any, a: Any) -> Any:
    """The derivative by ``a`` of ``y = exp(e / a) - 1``: draws of ``pareto``."""
    return -safe_ratio((1 + y) * np.log1p(y), a)


def triangular_partials(y: Any, left: Any, mode: Any, right: Any) -> tuple[Any, Any, Any]:
    """The derivatives of a triangular draw by its three corners, its quantile kept."""
    width, below = right - left, np.less_equal(y, mode)
    rise, fall = mode - left, right - mode
    # below the mode y = left + sqrt(u * width * rise), above it y = right - sqrt((1 - u) * width * fall)
    up, down = y - left, right - y
    by_width = np.where(below, safe_ratio(up, 2 * width), safe_ratio(-down, 2 * width))
    by_rise = np.where(below, safe_ratio(up, 2 * rise), 0.0)
    by_fall = np.where(below, 0.0, safe_ratio(-down, 2 * fall))
    return (
        np.where(below, 1.0, 0.0) - by_width - by_rise,
        by_rise - by_fall,
        np.where(below, 0.0, 1.0) + by_width + by_fall,
    )


def triangular_bars(y_bar: Any, y: Any, left: Any, mode: Any, right: Any) -> tuple[Any, Any, Any]:
    """The cotangents of the three corners of a triangular draw."""
    by_left, by_mode, by_right = triangular_partials(y, left, mode, right)
    return unbroadcast(y_bar * by_left, left), unbroadcast(y_bar * by_mode, mode), unbroadcast(y_bar * by_right, right)


def triangular_dot(y: Any, left: Any, mode: Any, right: Any, dots: tuple[Any, Any, Any]) -> Any:
    """The tangent of a triangular draw."""
    total: Any = ZERO
    for partial, dot in zip(triangular_partials(y, left, mode, right), dots):
        if not isinstance(dot, AbstractZero):
            total = total + partial * dot
    return total if isinstance(total, AbstractZero) else stretch(total, y)


def drawn_order(generator: Any, count: Any) -> Any:
    """A random order of the numbers below ``count``."""
    return generator.permutation(count)


def drawn_positions(generator: Any, count: Any, size: Any, replace: Any, p: Any, *shuffle: Any) -> Any:
    """Random numbers below ``count``, with or without repetition, ``p`` their probabilities."""
    if shuffle:
        return generator.choice(count, size, replace, p, 0, *shuffle)
    return generator.choice(count, size, replace, p)
