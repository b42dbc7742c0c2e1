"""Functions of complex numbers that are not holomorphic.

Where the result is real, so is its cotangent; one that reached it complex is made real first.
"""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.arrays import conjugate
from thunkad.runtime.complex import angle_bar, angle_dot, in_field_of, real_part, real_product, sign_bar, sign_dot
from thunkad.tangents import NoTangent, thunk


@rrule(np.absolute)
def _(x):
    y = np.absolute(x)

    def pullback(y_bar):
        return (thunk(lambda: real_part(y_bar) * np.sign(x)),)

    return y, pullback


@frule(np.absolute)
def _(x, *, x_dot):
    return np.absolute(x), real_product(np.sign(x), x_dot)


@rrule(np.sign)
def _(x):
    y = np.sign(x)

    def pullback(y_bar):
        return (thunk(lambda: sign_bar(y_bar, y, x)),)

    return y, pullback


@frule(np.sign)
def _(x, *, x_dot):
    y = np.sign(x)
    return y, sign_dot(y, x, x_dot)


@rrule(np.real)
def _(val):
    y = np.real(val)

    def pullback(y_bar):
        return (thunk(lambda: real_part(y_bar)),)

    return y, pullback


@frule(np.real)
def _(val, *, val_dot):
    return np.real(val), np.real(val_dot)


@rrule(np.imag)
def _(val):
    y = np.imag(val)

    def pullback(y_bar):
        return (thunk(lambda: 1j * real_part(y_bar)),)

    return y, pullback


@frule(np.imag)
def _(val, *, val_dot):
    return np.imag(val), np.imag(val_dot)


@rrule(np.conjugate)
def _(x):
    y = np.conjugate(x)

    def pullback(y_bar):
        return (thunk(lambda: conjugate(y_bar)),)

    return y, pullback


@frule(np.conjugate)
def _(x, *, x_dot):
    return np.conjugate(x), np.conjugate(x_dot)


@rrule(np.angle)
def _(z, deg=False):
    y = np.angle(z, deg=deg)

    def pullback(y_bar):
        return thunk(lambda: angle_bar(y_bar, z, deg)), NoTangent()

    return y, pullback


@frule(np.angle)
def _(z, deg=False, *, z_dot):
    return np.angle(z, deg=deg), angle_dot(z, z_dot, deg)


@rrule(np.real_if_close)
def _(a, tol=100):
    y = np.real_if_close(a, tol=tol)

    def pullback(y_bar):
        return thunk(lambda: in_field_of(y_bar, y)), NoTangent()

    return y, pullback


@frule(np.real_if_close)
def _(a, tol=100, *, a_dot):
    y = np.real_if_close(a, tol=tol)
    return y, in_field_of(a_dot, y)
