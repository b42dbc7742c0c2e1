"""Derivatives of functions of Python's numbers (:mod:`math`, :mod:`cmath`) that need more than one expression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from thunkad.runtime.complex import angle_bar, angle_dot, real_part
from thunkad.tangents import ZERO, AbstractZero


def quotient(a: Any, b: Any) -> Any:
    """``a / b``, infinite or NaN where Python's division raises."""
    try:
        return a / b
    except ZeroDivisionError:
        return np.divide(a, b)


def ratio_or_zero(a: Any, b: Any) -> Any:
    """``a / b``, zero where ``b`` is zero."""
    return a / b if b != 0 else 0.0


def sign(x: Any) -> Any:
    """Minus one, zero or one; NaN for NaN."""
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 * x


# Sequences of numbers


def like_sequence(bars: list[Any], sequence: Any) -> Any:
    """Cotangents of the entries of a sequence as the cotangent of the sequence: an array for an array, else a list."""
    return np.array(bars) if isinstance(sequence, np.ndarray) else bars


def hypot_bars(y_bar: Any, y: Any, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the coordinates in ``y = math.hypot(*coordinates)``; zero at the origin."""
    return tuple(y_bar * ratio_or_zero(x, y) for x in coordinates)


def hypot_dot(y: Any, coordinates: tuple[Any, ...], coordinates_dot: Any) -> Any:
    """The tangent of ``y = math.hypot(*coordinates)``."""
    return dot_of_sequence([ratio_or_zero(x, y) for x in coordinates], coordinates_dot)


def dist_bar(y_bar: Any, y: Any, p: Any, q: Any) -> Any:
    """The cotangent of ``p`` in ``y = math.dist(p, q)``; zero where ``p`` is ``q``."""
    return like_sequence([y_bar * ratio_or_zero(a - b, y) for a, b in zip(p, q)], p)


def dist_dot(y: Any, p: Any, q: Any, p_dot: Any, q_dot: Any) -> Any:
    """The tangent of ``y = math.dist(p, q)``."""
    slopes = [ratio_or_zero(a - b, y) for a, b in zip(p, q)]
    return dot_of_sequence(slopes, p_dot) + dot_of_sequence([-s for s in slopes], q_dot)


def repeated_bar(y_bar: Any, sequence: Sequence[Any]) -> Any:
    """The cotangent of a sequence that was summed."""
    return like_sequence([y_bar] * len(sequence), sequence)


def scaled_bar(y_bar: Any, factors: Sequence[Any], sequence: Any) -> Any:
    """The cotangent of a sequence that was summed with these factors."""
    return like_sequence([y_bar * factor for factor in factors], sequence)


def products_of_others(factors: Sequence[Any]) -> list[Any]:
    """For each factor the product of all others."""
    others: list[Any] = [1] * len(factors)
    before: Any = 1
    after: Any = 1
    for k in range(len(factors)):
        others[k] = others[k] * before
        before = before * factors[k]
        others[-1 - k] = others[-1 - k] * after
        after = after * factors[-1 - k]
    return others


def dot_of_sequence(slopes: Sequence[Any], tangents: Any) -> Any:
    """The sum of slopes times tangents, of which some may be structural zeros."""
    total: Any = ZERO
    if isinstance(tangents, AbstractZero):
        return total
    for slope, tangent in zip(slopes, tangents):
        if not isinstance(tangent, AbstractZero):
            total = total + slope * tangent
    return total


# Results of two parts


def ldexp_bar(y_bar: Any, i: int) -> Any:
    """``y_bar * 2 ** i``, infinite where :func:`math.ldexp` raises."""
    try:
        return math.ldexp(real_part(y_bar), i)
    except OverflowError:
        return math.copysign(math.inf, y_bar)


def frexp_scalar_bar(y_bar: Any, exponent: int) -> Any:
    """The cotangent of what :func:`math.frexp` splits."""
    mantissa_bar = y_bar if isinstance(y_bar, AbstractZero) else y_bar[0]
    return mantissa_bar if isinstance(mantissa_bar, AbstractZero) else ldexp_bar(mantissa_bar, -exponent)


def polar_bar(y_bar: Any, z: Any) -> Any:
    """The cotangent of what :func:`cmath.polar` takes; zero at the origin."""
    if isinstance(y_bar, AbstractZero):
        return y_bar
    r_bar, phi_bar = y_bar
    total: Any = ZERO
    if not isinstance(r_bar, AbstractZero):
        total = total + real_part(r_bar) * ratio_or_zero(z, abs(z))
    if not isinstance(phi_bar, AbstractZero):
        total = total + angle_bar(phi_bar, z)
    return total


def polar_dot(z: Any, z_dot: Any) -> tuple[Any, Any]:
    """The tangent of :func:`cmath.polar`."""
    unit = complex(ratio_or_zero(z, abs(z)))
    return (unit.conjugate() * z_dot).real, angle_dot(z, z_dot)


# The gamma function


def digamma(x: Any) -> Any:
    """The logarithmic derivative of the gamma function, ψ(x)."""
    if x < 0.5:  # reflection; the pole of the tangent is at every integer, so only the fraction matters
        return digamma(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    shift = 0.0
    while x < 10:  # ψ(x) = ψ(x + 1) - 1 / x, up to where the asymptotic series is exact
        shift = shift - 1 / x
        x = x + 1
    v = 1 / (x * x)
    tail = 1 / 240 - v * (1 / 132 - v * (691 / 32760 - v / 12))
    return shift + math.log(x) - 0.5 / x - v * (1 / 12 - v * (1 / 120 - v * (1 / 252 - v * tail)))


def trigamma(x: Any) -> Any:
    """The derivative of :func:`digamma`, ψ′(x)."""
    if x < 0.5:
        return (math.pi / math.sin(math.pi * (x - math.floor(x)))) ** 2 - trigamma(1 - x)
    shift = 0.0
    while x < 10:
        shift = shift + 1 / (x * x)
        x = x + 1
    v = 1 / (x * x)
    tail = 1 / 30 - v * (5 / 66 - v * (691 / 2730 - v * 7 / 6))
    return shift + 1 / x + 0.5 * v + v / x * (1 / 6 - v * (1 / 30 - v * (1 / 42 - v * tail)))
