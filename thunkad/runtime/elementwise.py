"""Partial derivatives of elementwise functions that need more than one expression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thunkad.runtime.arrays import shape_only, unbroadcast
from thunkad.runtime.complex import real_part
from thunkad.runtime.ducks import as_array
from thunkad.tangents import AbstractZero


def nonzero(x: Any) -> Any:
    """``x`` as a divisor: one where it is zero, so that zero divided by it is zero."""
    if isinstance(x, (float, int)):
        return x if x != 0 else 1.0
    return np.where(x == 0, 1.0, x)


# Powers


def power_partial(x: Any, p: Any) -> Any:
    """The derivative of ``x ** p`` in ``x``: ``p * x ** (p - 1)``, and zero where ``p`` is zero."""
    if isinstance(p, (float, int)) or np.ndim(p) == 0:
        if p == 0:
            return 0.0
        if p == 1:
            return 1.0
        if p == 2:
            return 2 * x
        if isinstance(x, float) and x != 0:
            try:
                return p * x ** (p - 1)
            except OverflowError:  # Python's numbers raise where NumPy's are infinite
                pass
        return p * np.power(_inexact(x), p - 1)
    return p * np.power(_inexact(x), np.where(p == 0, 1, p) - 1)


def power_exponent_partial(y: Any, x: Any, p: Any) -> Any:
    """The derivative of ``y = x ** p`` in ``p``: ``y * log(x)``.

    Where ``x`` is zero: zero for positive ``p``, else NaN.  Where ``x`` is negative and ``y`` real (``p`` is integral):
    the derivative of the real part of the principal power, ``y * log(-x)``.
    """
    if isinstance(x, float) and isinstance(y, float) and x > 0:
        return y * math.log(x)
    logarithm = power_logarithm(x, y)
    slope = y * (logarithm.item() if type(x) in (float, int, complex) else logarithm)
    undefined = (np.equal(x, 0)) & (np.real(p) <= 0)
    return np.where(undefined, np.nan, slope) if np.any(undefined) else slope


def power_logarithm(x: Any, y: Any) -> Any:
    """The logarithm of the base ``x`` of a power ``y``, of ``|x|`` where the power is real; zero for zero."""
    if not np.iscomplexobj(y):
        return np.log(nonzero(np.abs(_inexact(x))))
    return np.log(nonzero(x if np.iscomplexobj(x) else x + 0j))


def power_curvature(x: Any, p: Any) -> Any:
    """The derivative of :func:`power_partial` in ``x``: ``p * (p - 1) * x ** (p - 2)``, zero where a factor is."""
    if isinstance(p, (float, int)) or np.ndim(p) == 0:
        return p * power_partial(x, p - 1) if p != 0 else 0.0
    return np.where(p == 0, 0, p * power_partial(x, np.where(p == 0, 1, p) - 1))


def power_cross_partial(x: Any, p: Any) -> Any:
    """The derivative of :func:`power_partial` in ``p``: ``x ** (p - 1) * (1 + p * log(x))``."""
    lower = np.power(_inexact(x), p - 1)
    return lower + p * power_exponent_partial(lower, x, p - 1)


def _inexact(x: Any) -> Any:
    """Integers as floats; anything else itself."""
    if isinstance(x, int):
        return float(x)
    return x * 1.0 if getattr(x, "dtype", None) is not None and x.dtype.kind in "iub" else x


# Results of two parts


@shape_only("x")
def frexp_bar(y_bar: Any, exponent: Any, x: Any) -> Any:
    """The cotangent of what ``np.frexp`` splits."""
    mantissa_bar = y_bar if isinstance(y_bar, AbstractZero) else y_bar[0]
    return mantissa_bar if isinstance(mantissa_bar, AbstractZero) else np.ldexp(real_part(mantissa_bar), -exponent)


def part(y_bar: Any, k: int) -> Any:
    """The cotangent of part ``k`` of a result of several parts."""
    return y_bar if isinstance(y_bar, AbstractZero) else y_bar[k]


@shape_only("x")
def unbroadcast_part(t_bar: Any, x: Any) -> Any:
    """:func:`unbroadcast` of a part of a cotangent, which may be a structural zero."""
    return t_bar if isinstance(t_bar, AbstractZero) else unbroadcast(t_bar, x)


# Logarithms of sums


def log_share(x: Any, y: Any) -> Any:
    """``exp(x) / exp(y)`` for ``y = log(exp(x) + …)``; zero where ``x`` is minus infinity."""
    return np.exp(x - np.where(np.isneginf(y), 0, y))


def log2_share(x: Any, y: Any) -> Any:
    """``2 ** x / 2 ** y`` for ``y = log2(2 ** x + …)``; zero where ``x`` is minus infinity."""
    return np.exp2(x - np.where(np.isneginf(y), 0, y))


# Special functions


def over_squared_radius(t: Any, x: Any, y: Any) -> Any:
    """``t / (x² + y²)`` without underflow; zero at the origin if ``t`` is zero there."""
    r = nonzero(np.hypot(x, y))
    return t / r / r


def sinc_partial(y: Any, x: Any) -> Any:
    """The derivative of ``y = sin(πx) / (πx)``, from its series where the closed form cancels."""
    u = np.multiply(np.pi, x)
    small = np.abs(u) < 0.1
    v = u * u
    series = np.pi * u * (-1 / 3 + v * (1 / 30 + v * (-1 / 840 + v / 45360)))
    return np.where(small, series, (np.cos(u) - y) / np.where(small, 1.0, x))


def bessel_ratio(x: Any) -> Any:
    """``I₁(x) / I₀(x)``, the logarithmic derivative of :func:`numpy.i0`.

    The recurrence of the modified Bessel functions, ``I₍ₙ₋₁₎ = (2n / x) Iₙ + I₍ₙ₊₁₎``, run downwards for the ratio of
    neighbours, ``rₙ₋₁ = x / (2n + x rₙ)``.  It is stable, and the start is forgotten after some ``√x`` steps.
    """
    x = as_array(x) * 1.0
    bounded = np.clip(x, -750, 750)  # beyond, I₀ itself is infinite
    largest = float(np.max(np.abs(bounded), initial=0.0))
    ratio = np.zeros_like(x)
    for k in range(20 + int(7 * largest**0.5 if largest == largest else 0), 0, -1):
        ratio = bounded / (2 * k + bounded * ratio)
    return ratio[()]


def bessel_ratio_partial(r: Any, x: Any) -> Any:
    """The derivative of :func:`bessel_ratio`, ``r`` being its value: ``1 - r / x - r²``."""
    return 1 - r * r - np.where(x == 0, 0.5, r / nonzero(x))
