"""``+`` and ``*`` of lists and tuples."""

from __future__ import annotations

import operator

from thunkad.rules.library import frule, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.elements import concatenated_dot, part_bar, repeated_bar, repeated_dot
from thunkad.tangents import NoTangent, thunk

linear(part_bar, repeated_bar)


@rrule(operator.add)
def _(a: list | tuple, b: list | tuple):
    y = a + b  # type: ignore[operator]  # as in the user's code: of one type, or Python says so

    def pullback(y_bar):
        return thunk(lambda: part_bar(y_bar, a, 0)), thunk(lambda: part_bar(y_bar, b, len(a)))

    return y, pullback


@frule(operator.add)
def _(a: list | tuple, b: list | tuple, *, a_dot, b_dot):
    return a + b, concatenated_dot(a, a_dot, b, b_dot)  # type: ignore[operator]


@rrule(operator.mul)
def _(a: list | tuple, b: int):
    y = a * b

    def pullback(y_bar):
        return thunk(lambda: repeated_bar(y_bar, a, b)), NoTangent()

    return y, pullback


@frule(operator.mul)
def _(a: list | tuple, b: int, *, a_dot, b_dot):
    return a * b, repeated_dot(a, a_dot, b)


@rrule(operator.mul)
def _(a: int, b: list | tuple):
    y = a * b

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: repeated_bar(y_bar, b, a))

    return y, pullback


@frule(operator.mul)
def _(a: int, b: list | tuple, *, a_dot, b_dot):
    return a * b, repeated_dot(b, b_dot, a)
