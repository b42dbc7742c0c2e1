"""Rules of the runtime helpers that the elementwise rules call: for derivatives of derivatives."""

from __future__ import annotations

import math

from thunkad.rules.library import frule, rrule, scalar_rule
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.complex import in_field_of, real_part, real_product, real_product_dot
from thunkad.runtime.elementwise import (
    bessel_ratio,
    bessel_ratio_partial,
    log2_share,
    log_share,
    nonzero,
    power_cross_partial,
    power_curvature,
    power_exponent_partial,
    power_logarithm,
    power_partial,
)
from thunkad.runtime.piecewise import chosen
from thunkad.tangents import NoTangent, ZeroTangent, thunk

scalar_rule(nonzero, lambda y, x: x != 0)
scalar_rule(power_partial, lambda y, x, p: power_curvature(x, p), lambda y, x, p: power_cross_partial(x, p))
scalar_rule(
    power_exponent_partial,  # a function of the power, the base and the exponent, taken as three arguments
    lambda slope, y, x, p: power_logarithm(x, y),
    lambda slope, y, x, p: y / nonzero(x),
    lambda slope, y, x, p: ZeroTangent(),
)
scalar_rule(log_share, lambda share, x, y: share, lambda share, x, y: -share)
scalar_rule(log2_share, lambda share, x, y: share * math.log(2), lambda share, x, y: -(share * math.log(2)))
scalar_rule(bessel_ratio, lambda r, x: bessel_ratio_partial(r, x))


@rrule(real_part)
def _(t):
    y = real_part(t)

    def pullback(y_bar):
        return (thunk(lambda: real_part(y_bar)),)

    return y, pullback


@frule(real_part)
def _(t, *, t_dot):
    return real_part(t), real_part(t_dot)


@rrule(in_field_of)
def _(t, x):
    y = in_field_of(t, x)

    def pullback(y_bar):
        return thunk(lambda: in_field_of(y_bar, x)), NoTangent()

    return y, pullback


@frule(in_field_of)
def _(t, x, *, t_dot):
    return in_field_of(t, x), in_field_of(t_dot, x)


@rrule(real_product)
def _(a, b):
    y = real_product(a, b)

    def pullback(y_bar):
        return (
            thunk(lambda: unbroadcast(real_part(y_bar) * b, a)),
            thunk(lambda: unbroadcast(real_part(y_bar) * a, b)),
        )

    return y, pullback


@frule(real_product)
def _(a, b, *, a_dot, b_dot):
    return real_product(a, b), real_product_dot(a, b, a_dot, b_dot)


@rrule(chosen)
def _(t, y, x, other):
    result = chosen(t, y, x, other)

    def pullback(result_bar):
        return (
            thunk(lambda: unbroadcast(chosen(result_bar, y, x, other), t)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return result, pullback


@frule(chosen)
def _(t, y, x, other, *, t_dot):
    return chosen(t, y, x, other), chosen(t_dot, y, x, other)
