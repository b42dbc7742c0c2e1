"""The functions of :mod:`cmath`."""

from __future__ import annotations

import cmath
import math

from thunkad.rules.library import frule, non_differentiable, rrule, scalar_rule
from thunkad.runtime.arrays import conjugate
from thunkad.runtime.complex import angle_bar, angle_dot
from thunkad.runtime.scalars import polar_bar, polar_dot, quotient
from thunkad.tangents import thunk

scalar_rule(cmath.sqrt, lambda y, z: quotient(0.5, y))
scalar_rule(cmath.exp, lambda y, z: y)
scalar_rule(cmath.log10, lambda y, z: 1 / (z * math.log(10)))
scalar_rule(cmath.sin, lambda y, z: cmath.cos(z))
scalar_rule(cmath.cos, lambda y, z: -cmath.sin(z))
scalar_rule(cmath.tan, lambda y, z: 1 + y * y)
scalar_rule(cmath.asin, lambda y, z: quotient(1, cmath.sqrt(1 - z * z)))
scalar_rule(cmath.acos, lambda y, z: -quotient(1, cmath.sqrt(1 - z * z)))
scalar_rule(cmath.atan, lambda y, z: 1 / (1 + z * z))
scalar_rule(cmath.sinh, lambda y, z: cmath.cosh(z))
scalar_rule(cmath.cosh, lambda y, z: cmath.sinh(z))
scalar_rule(cmath.tanh, lambda y, z: 1 - y * y)
scalar_rule(cmath.asinh, lambda y, z: quotient(1, cmath.sqrt(1 + z * z)))
scalar_rule(cmath.acosh, lambda y, z: quotient(1, cmath.sqrt(z - 1) * cmath.sqrt(z + 1)))
scalar_rule(cmath.atanh, lambda y, z: 1 / (1 - z * z))
scalar_rule(cmath.rect, lambda z, r, phi: cmath.rect(1.0, phi), lambda z, r, phi: 1j * z)
non_differentiable(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)


@rrule(cmath.log)
def _(z, base=math.e):
    y = cmath.log(z, base)

    def pullback(y_bar):
        return (
            thunk(lambda: y_bar / conjugate(z * cmath.log(base))),
            thunk(lambda: -(y_bar * conjugate(y / (base * cmath.log(base))))),
        )

    return y, pullback


@frule(cmath.log)
def _(z, base=math.e, *, z_dot, base_dot):
    y = cmath.log(z, base)
    return y, (z_dot * (1 / z) - base_dot * (y / base)) / cmath.log(base)


@rrule(cmath.phase)
def _(z):
    y = cmath.phase(z)

    def pullback(y_bar):
        return (thunk(lambda: angle_bar(y_bar, z)),)

    return y, pullback


@frule(cmath.phase)
def _(z, *, z_dot):
    return cmath.phase(z), angle_dot(z, z_dot)


@rrule(cmath.polar)
def _(z):
    y = cmath.polar(z)

    def pullback(y_bar):
        return (thunk(lambda: polar_bar(y_bar, z)),)

    return y, pullback


@frule(cmath.polar)
def _(z, *, z_dot):
    return cmath.polar(z), polar_dot(z, z_dot)
