"""The functions of :mod:`math`: one Python number in, one out, and derivatives by :mod:`math` as well."""

from __future__ import annotations

import math

from thunkad.rules.library import frule, non_differentiable, rrule, scalar_rule
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.elementwise import over_squared_radius, part, power_exponent_partial, power_partial
from thunkad.runtime.scalars import (
    digamma,
    dist_bar,
    dist_dot,
    dot_of_sequence,
    frexp_scalar_bar,
    hypot_bars,
    hypot_dot,
    ldexp_bar,
    products_of_others,
    quotient,
    ratio_or_zero,
    repeated_bar,
    scaled_bar,
    sign,
    trigamma,
)
from thunkad.tangents import NoTangent, ZeroTangent, thunk

# Powers, exponentials and logarithms

scalar_rule(math.sqrt, lambda y, x: quotient(0.5, y))
scalar_rule(math.pow, lambda r, x, y: power_partial(x, y), lambda r, x, y: power_exponent_partial(r, x, y))
scalar_rule(math.exp, lambda y, x: y)
scalar_rule(math.expm1, lambda y, x: math.exp(x))
scalar_rule(math.log2, lambda y, x: 1 / (x * math.log(2)))
scalar_rule(math.log10, lambda y, x: 1 / (x * math.log(10)))
scalar_rule(math.log1p, lambda y, x: 1 / (1 + x))


@rrule(math.log)
def _(x, base=math.e):
    y = math.log(x, base)

    def pullback(y_bar):
        return thunk(lambda: y_bar / (x * math.log(base))), thunk(lambda: -(y_bar * y / (base * math.log(base))))

    return y, pullback


@frule(math.log)
def _(x, base=math.e, *, x_dot, base_dot):
    y = math.log(x, base)
    return y, (x_dot * (1 / x) - base_dot * (y / base)) / math.log(base)


# Trigonometric and hyperbolic functions

scalar_rule(math.sin, lambda y, x: math.cos(x))
scalar_rule(math.cos, lambda y, x: -math.sin(x))
scalar_rule(math.tan, lambda y, x: 1 + y * y)
scalar_rule(math.asin, lambda y, x: quotient(1, math.sqrt(1 - x * x)))
scalar_rule(math.acos, lambda y, x: -quotient(1, math.sqrt(1 - x * x)))
scalar_rule(math.atan, lambda y, x: 1 / (1 + x * x))
scalar_rule(
    math.atan2,
    lambda r, y, x: over_squared_radius(x, y, x),
    lambda r, y, x: -over_squared_radius(y, y, x),
)
scalar_rule(math.sinh, lambda y, x: math.cosh(x))
scalar_rule(math.cosh, lambda y, x: math.sinh(x))
scalar_rule(math.tanh, lambda y, x: 1 - y * y)
scalar_rule(math.asinh, lambda y, x: 1 / math.hypot(x, 1.0))
scalar_rule(math.acosh, lambda y, x: quotient(1, math.sqrt((x - 1) * (x + 1))))
scalar_rule(math.atanh, lambda y, x: 1 / (1 - x * x))
scalar_rule(math.degrees, lambda y, x: 180 / math.pi)
scalar_rule(math.radians, lambda y, x: math.pi / 180)

# Special functions

scalar_rule(math.erf, lambda y, x: 2 / math.sqrt(math.pi) * math.exp(-x * x))
scalar_rule(math.erfc, lambda y, x: -2 / math.sqrt(math.pi) * math.exp(-x * x))
scalar_rule(math.gamma, lambda y, x: y * digamma(x))
scalar_rule(math.lgamma, lambda y, x: digamma(x))

# Signs and remainders

scalar_rule(math.fabs, lambda y, x: sign(x))
scalar_rule(math.copysign, lambda r, x, y: sign(x) * math.copysign(1.0, y), lambda r, x, y: ZeroTangent())
scalar_rule(math.fmod, lambda r, x, y: 1, lambda r, x, y: (r - x) / y)
scalar_rule(math.remainder, lambda r, x, y: 1, lambda r, x, y: (r - x) / y)
scalar_rule(math.nextafter, lambda r, x, y: 1, lambda r, x, y: ZeroTangent())

# Functions that newer versions of Python have

if hasattr(math, "exp2"):  # 3.11
    scalar_rule(math.exp2, lambda y, x: y * math.log(2))
if hasattr(math, "cbrt"):  # 3.11
    scalar_rule(math.cbrt, lambda y, x: quotient(1, 3 * y * y))
if hasattr(math, "fma"):  # 3.13
    scalar_rule(math.fma, lambda r, x, y, z: y, lambda r, x, y, z: x, lambda r, x, y, z: 1)
if hasattr(math, "sumprod"):  # 3.12
    sumprod = math.sumprod

    @rrule(sumprod)
    def _(p, q):
        y = sumprod(p, q)

        def pullback(y_bar):
            return thunk(lambda: scaled_bar(y_bar, q, p)), thunk(lambda: scaled_bar(y_bar, p, q))

        return y, pullback

    @frule(sumprod)
    def _(p, q, *, p_dot, q_dot):
        return sumprod(p, q), dot_of_sequence(q, p_dot) + dot_of_sequence(p, q_dot)


# Functions of many numbers


@rrule(math.hypot)
def _(*coordinates):
    y = math.hypot(*coordinates)

    def pullback(y_bar):
        return (thunk(lambda: hypot_bars(y_bar, y, coordinates)),)

    return y, pullback


@frule(math.hypot)
def _(*coordinates, coordinates_dot):
    y = math.hypot(*coordinates)
    return y, hypot_dot(y, coordinates, coordinates_dot)


@rrule(math.dist)
def _(p, q):
    y = math.dist(p, q)

    def pullback(y_bar):
        return thunk(lambda: dist_bar(y_bar, y, p, q)), thunk(lambda: dist_bar(y_bar, y, q, p))

    return y, pullback


@frule(math.dist)
def _(p, q, *, p_dot, q_dot):
    y = math.dist(p, q)
    return y, dist_dot(y, p, q, p_dot, q_dot)


@rrule(math.fsum)
def _(seq):
    y = math.fsum(seq)

    def pullback(y_bar):
        return (thunk(lambda: repeated_bar(y_bar, seq)),)

    return y, pullback


@frule(math.fsum)
def _(seq, *, seq_dot):
    return math.fsum(seq), dot_of_sequence([1.0] * len(seq), seq_dot)


@rrule(math.prod)
def _(iterable, start=1):
    y = math.prod(iterable, start=start)

    def pullback(y_bar):
        return (
            thunk(lambda: scaled_bar(y_bar * start, products_of_others(iterable), iterable)),
            thunk(lambda: y_bar * math.prod(iterable)),
        )

    return y, pullback


@frule(math.prod)
def _(iterable, start=1, *, iterable_dot, start_dot):
    moved = start_dot * math.prod(iterable)
    if not is_zero(iterable_dot):
        moved = moved + start * dot_of_sequence(products_of_others(iterable), iterable_dot)
    return math.prod(iterable, start=start), moved


# Results of two parts


@rrule(math.ldexp)
def _(x, i):
    y = math.ldexp(x, i)

    def pullback(y_bar):
        return thunk(lambda: ldexp_bar(y_bar, i)), NoTangent()

    return y, pullback


@frule(math.ldexp)
def _(x, i, *, x_dot):
    return math.ldexp(x, i), ldexp_bar(x_dot, i)


@rrule(math.frexp)
def _(x):
    y = math.frexp(x)
    exponent = y[1]

    def pullback(y_bar):
        return (thunk(lambda: frexp_scalar_bar(y_bar, exponent)),)

    return y, pullback


@frule(math.frexp)
def _(x, *, x_dot):
    y = math.frexp(x)
    return y, (ldexp_bar(x_dot, -y[1]), NoTangent())


@rrule(math.modf)
def _(x):
    y = math.modf(x)

    def pullback(y_bar):
        return (thunk(lambda: part(y_bar, 0)),)

    return y, pullback


@frule(math.modf)
def _(x, *, x_dot):
    return math.modf(x), (x_dot, ZeroTangent())


# The helpers that these rules call, for derivatives of derivatives

scalar_rule(quotient, lambda y, a, b: quotient(1, b), lambda y, a, b: -quotient(y, b))
scalar_rule(ratio_or_zero, lambda y, a, b: ratio_or_zero(1, b), lambda y, a, b: -ratio_or_zero(y, b))
scalar_rule(digamma, lambda y, x: trigamma(x))
non_differentiable(sign)

# What has no derivative

non_differentiable(math.ceil, math.floor, math.trunc, math.ulp)
non_differentiable(math.isclose, math.isfinite, math.isinf, math.isnan)
non_differentiable(math.comb, math.perm, math.factorial, math.gcd, math.lcm, math.isqrt)
