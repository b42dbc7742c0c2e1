"""``copy.copy`` and ``copy.deepcopy``: the cotangent of a copy is that of what was copied."""

from __future__ import annotations

import copy

from thunkad.rules.library import frule, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.copying import copied, copied_dot, deep_copied, deep_copied_dot

linear(copied_dot, deep_copied_dot)


@rrule(copy.copy)
def _(x):
    y = copied(x)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(copy.copy)
def _(x, *, x_dot):
    y = copied(x)
    return y, copied_dot(x_dot, x, y)


@rrule(copy.deepcopy)
def _(x):
    y = deep_copied(x)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(copy.deepcopy)
def _(x, *, x_dot):
    y = deep_copied(x)
    return y, deep_copied_dot(x_dot, y)


@frule(copied)
def _(x, *, x_dot):
    y = copied(x)
    return y, copied_dot(x_dot, x, y)


@frule(deep_copied)
def _(x, *, x_dot):
    y = deep_copied(x)
    return y, deep_copied_dot(x_dot, y)
