"""NumPy's elementwise functions of real or complex numbers, by their partial derivatives."""

from __future__ import annotations

import math

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule, scalar_rule
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.complex import real_part
from thunkad.runtime.elementwise import (
    bessel_ratio,
    frexp_bar,
    log2_share,
    log_share,
    nonzero,
    over_squared_radius,
    part,
    power_exponent_partial,
    power_partial,
    sinc_partial,
    unbroadcast_part,
)
from thunkad.tangents import NoTangent, ZeroTangent, thunk

# Arithmetic

scalar_rule(np.add, lambda y, x1, x2: 1, lambda y, x1, x2: 1)
scalar_rule(np.subtract, lambda y, x1, x2: 1, lambda y, x1, x2: -1)
scalar_rule(np.multiply, lambda y, x1, x2: x2, lambda y, x1, x2: x1)
scalar_rule(np.divide, lambda y, x1, x2: 1 / x2, lambda y, x1, x2: -(y / x2))
scalar_rule(np.negative, lambda y, x: -1)
scalar_rule(np.positive, lambda y, x: 1)
scalar_rule(np.reciprocal, lambda y, x: -(y * y))
scalar_rule(np.square, lambda y, x: 2 * x)
scalar_rule(np.sqrt, lambda y, x: 1 / (2 * y))
scalar_rule(np.cbrt, lambda y, x: 1 / (3 * y * y))
scalar_rule(np.power, lambda y, x1, x2: power_partial(x1, x2), lambda y, x1, x2: power_exponent_partial(y, x1, x2))
scalar_rule(
    np.float_power, lambda y, x1, x2: power_partial(x1, x2), lambda y, x1, x2: power_exponent_partial(y, x1, x2)
)
scalar_rule(np.remainder, lambda y, x1, x2: 1, lambda y, x1, x2: -np.floor_divide(x1, x2))
scalar_rule(np.fmod, lambda y, x1, x2: 1, lambda y, x1, x2: -np.rint((x1 - y) / x2))
scalar_rule(np.hypot, lambda y, x1, x2: x1 / nonzero(y), lambda y, x1, x2: x2 / nonzero(y))
scalar_rule(np.fabs, lambda y, x: np.sign(x))
scalar_rule(np.copysign, lambda y, x1, x2: np.sign(x1) * np.sign(y), lambda y, x1, x2: ZeroTangent())
scalar_rule(np.nextafter, lambda y, x1, x2: 1, lambda y, x1, x2: ZeroTangent())
scalar_rule(np.heaviside, lambda y, x1, x2: ZeroTangent(), lambda y, x1, x2: x1 == 0)

# Exponentials and logarithms

scalar_rule(np.exp, lambda y, x: y)
scalar_rule(np.exp2, lambda y, x: y * math.log(2))
scalar_rule(np.expm1, lambda y, x: np.exp(x))
scalar_rule(np.log, lambda y, x: 1 / x)
scalar_rule(np.log2, lambda y, x: 1 / (x * math.log(2)))
scalar_rule(np.log10, lambda y, x: 1 / (x * math.log(10)))
scalar_rule(np.log1p, lambda y, x: 1 / (1 + x))
scalar_rule(np.logaddexp, lambda y, x1, x2: log_share(x1, y), lambda y, x1, x2: log_share(x2, y))
scalar_rule(np.logaddexp2, lambda y, x1, x2: log2_share(x1, y), lambda y, x1, x2: log2_share(x2, y))

# Trigonometric and hyperbolic functions

scalar_rule(np.sin, lambda y, x: np.cos(x))
scalar_rule(np.cos, lambda y, x: -np.sin(x))
scalar_rule(np.tan, lambda y, x: 1 + y * y)
scalar_rule(np.arcsin, lambda y, x: 1 / np.sqrt(1 - x * x))
scalar_rule(np.arccos, lambda y, x: -(1 / np.sqrt(1 - x * x)))
scalar_rule(np.arctan, lambda y, x: 1 / (1 + x * x))
scalar_rule(
    np.arctan2,
    lambda y, x1, x2: over_squared_radius(x2, x1, x2),
    lambda y, x1, x2: -over_squared_radius(x1, x1, x2),
)
scalar_rule(np.sinh, lambda y, x: np.cosh(x))
scalar_rule(np.cosh, lambda y, x: np.sinh(x))
scalar_rule(np.tanh, lambda y, x: 1 - y * y)
scalar_rule(np.arcsinh, lambda y, x: 1 / np.sqrt(x * x + 1))
scalar_rule(np.arccosh, lambda y, x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)))
scalar_rule(np.arctanh, lambda y, x: 1 / (1 - x * x))
scalar_rule(np.deg2rad, lambda y, x: math.pi / 180)
scalar_rule(np.radians, lambda y, x: math.pi / 180)
scalar_rule(np.rad2deg, lambda y, x: 180 / math.pi)
scalar_rule(np.degrees, lambda y, x: 180 / math.pi)

# Special functions

scalar_rule(np.sinc, lambda y, x: sinc_partial(y, x))
scalar_rule(np.i0, lambda y, x: y * bessel_ratio(x))

# Results of two parts, and mixed arguments


@rrule(np.ldexp)
def _(x1, x2):
    y = np.ldexp(x1, x2)

    def pullback(y_bar):
        return thunk(lambda: unbroadcast(np.ldexp(real_part(y_bar), x2), x1)), NoTangent()

    return y, pullback


@frule(np.ldexp)
def _(x1, x2, *, x1_dot):
    return np.ldexp(x1, x2), np.ldexp(x1_dot, x2)


@rrule(np.frexp)
def _(x):
    y = np.frexp(x)
    exponent = y[1]

    def pullback(y_bar):
        return (thunk(lambda: frexp_bar(y_bar, exponent, x)),)

    return y, pullback


@frule(np.frexp)
def _(x, *, x_dot):
    y = np.frexp(x)
    return y, (np.ldexp(x_dot, -y[1]), NoTangent())


@rrule(np.modf)
def _(x):
    y = np.modf(x)

    def pullback(y_bar):
        return (thunk(lambda: part(y_bar, 0)),)

    return y, pullback


@frule(np.modf)
def _(x, *, x_dot):
    return np.modf(x), (x_dot, ZeroTangent())


@rrule(np.divmod)
def _(x1, x2):
    y = np.divmod(x1, x2)
    quotient = y[0]

    def pullback(y_bar):
        remainder_bar = part(y_bar, 1)
        return (
            thunk(lambda: unbroadcast_part(remainder_bar, x1)),
            thunk(lambda: unbroadcast_part(-(remainder_bar * quotient), x2)),
        )

    return y, pullback


@frule(np.divmod)
def _(x1, x2, *, x1_dot, x2_dot):
    y = np.divmod(x1, x2)
    return y, (ZeroTangent(), x1_dot - y[0] * x2_dot)


@rrule(np.unwrap)
def _(p, discont=None, axis=-1, *, period=6.283185307179586):
    y = np.unwrap(p, discont=discont, axis=axis, period=period)

    def pullback(y_bar):
        return y_bar, NoTangent(), NoTangent()

    return y, pullback


@frule(np.unwrap)
def _(p, discont=None, axis=-1, *, period=6.283185307179586, p_dot):
    return np.unwrap(p, discont=discont, axis=axis, period=period), p_dot


# What has no derivative, or a zero one wherever it has one

non_differentiable(np.floor, np.ceil, np.trunc, np.rint, np.fix, np.round, np.around, np.floor_divide, np.spacing)
non_differentiable(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
non_differentiable(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
non_differentiable(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift)
non_differentiable(np.gcd, np.lcm)
non_differentiable(np.isfinite, np.isinf, np.isnan, np.isnat, np.signbit, np.isneginf, np.isposinf)
non_differentiable(np.iscomplex, np.isreal, np.iscomplexobj, np.isrealobj)
non_differentiable(np.isclose, np.allclose, np.array_equal, np.array_equiv)
non_differentiable(*(getattr(np, name) for name in ("bitwise_count",) if hasattr(np, name)))  # NumPy 2 only
