"""Functions that pass one of their arguments on: the larger, the clipped, the selected."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.arrays import stretch, unbroadcast
from thunkad.runtime.piecewise import (
    choose_bars,
    choose_dot,
    chosen,
    clip_bar,
    clip_dot,
    clip_high_bar,
    clip_low_bar,
    finite_part,
    select_bars,
    select_default_bar,
    select_dot,
    where_dot,
)
from thunkad.tangents import NoTangent, thunk


@rrule(np.maximum)
def _(x1, x2):
    y = np.maximum(x1, x2)

    def pullback(y_bar):
        return (
            thunk(lambda: unbroadcast(chosen(y_bar, y, x1, x2), x1)),
            thunk(lambda: unbroadcast(chosen(y_bar, y, x2, x1), x2)),
        )

    return y, pullback


@frule(np.maximum)
def _(x1, x2, *, x1_dot, x2_dot):
    y = np.maximum(x1, x2)
    return y, chosen(x1_dot, y, x1, x2) + chosen(x2_dot, y, x2, x1)


@rrule(np.minimum)
def _(x1, x2):
    y = np.minimum(x1, x2)

    def pullback(y_bar):
        return (
            thunk(lambda: unbroadcast(chosen(y_bar, y, x1, x2), x1)),
            thunk(lambda: unbroadcast(chosen(y_bar, y, x2, x1), x2)),
        )

    return y, pullback


@frule(np.minimum)
def _(x1, x2, *, x1_dot, x2_dot):
    y = np.minimum(x1, x2)
    return y, chosen(x1_dot, y, x1, x2) + chosen(x2_dot, y, x2, x1)


@rrule(np.fmax)
def _(x1, x2):
    y = np.fmax(x1, x2)

    def pullback(y_bar):
        return (
            thunk(lambda: unbroadcast(chosen(y_bar, y, x1, x2), x1)),
            thunk(lambda: unbroadcast(chosen(y_bar, y, x2, x1), x2)),
        )

    return y, pullback


@frule(np.fmax)
def _(x1, x2, *, x1_dot, x2_dot):
    y = np.fmax(x1, x2)
    return y, chosen(x1_dot, y, x1, x2) + chosen(x2_dot, y, x2, x1)


@rrule(np.fmin)
def _(x1, x2):
    y = np.fmin(x1, x2)

    def pullback(y_bar):
        return (
            thunk(lambda: unbroadcast(chosen(y_bar, y, x1, x2), x1)),
            thunk(lambda: unbroadcast(chosen(y_bar, y, x2, x1), x2)),
        )

    return y, pullback


@frule(np.fmin)
def _(x1, x2, *, x1_dot, x2_dot):
    y = np.fmin(x1, x2)
    return y, chosen(x1_dot, y, x1, x2) + chosen(x2_dot, y, x2, x1)


@rrule(np.clip)
def _(a, a_min=None, a_max=None):
    y = np.clip(a, a_min, a_max)

    def pullback(y_bar):
        return (
            thunk(lambda: clip_bar(y_bar, a, a_min, a_max)),
            thunk(lambda: clip_low_bar(y_bar, a, a_min, a_max)),
            thunk(lambda: clip_high_bar(y_bar, a, a_min, a_max)),
        )

    return y, pullback


@frule(np.clip)
def _(a, a_min=None, a_max=None, *, a_dot, a_min_dot, a_max_dot):
    return np.clip(a, a_min, a_max), clip_dot(a, a_min, a_max, a_dot, a_min_dot, a_max_dot)


@rrule(np.where)
def _(condition, x, y):
    result = np.where(condition, x, y)

    def pullback(result_bar):
        return (
            NoTangent(),
            thunk(lambda: unbroadcast(np.where(condition, result_bar, 0), x)),
            thunk(lambda: unbroadcast(np.where(condition, 0, result_bar), y)),
        )

    return result, pullback


@frule(np.where)
def _(condition, x, y, *, x_dot, y_dot):
    result = np.where(condition, x, y)
    return result, stretch(where_dot(condition, x_dot, y_dot), result)


@rrule(np.select)
def _(condlist, choicelist, default=0):
    y = np.select(condlist, choicelist, default)

    def pullback(y_bar):
        return (
            NoTangent(),
            thunk(lambda: select_bars(y_bar, condlist, choicelist)),
            thunk(lambda: select_default_bar(y_bar, condlist, default)),
        )

    return y, pullback


@frule(np.select)
def _(condlist, choicelist, default=0, *, choicelist_dot, default_dot):
    y = np.select(condlist, choicelist, default)
    return y, stretch(select_dot(condlist, choicelist_dot, default_dot), y)


@rrule(np.choose)
def _(a, choices, *, mode="raise"):
    y = np.choose(a, choices, mode=mode)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: choose_bars(y_bar, a, choices, mode))

    return y, pullback


@frule(np.choose)
def _(a, choices, *, mode="raise", choices_dot):
    y = np.choose(a, choices, mode=mode)
    return y, stretch(choose_dot(a, choices, choices_dot, mode), y)


@rrule(np.nan_to_num)
def _(x, *, nan=0.0, posinf=None, neginf=None):  # no `copy`: with copy=False it writes into x
    y = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)

    def pullback(y_bar):
        return (thunk(lambda: finite_part(y_bar, x)),)

    return y, pullback


@frule(np.nan_to_num)
def _(x, *, nan=0.0, posinf=None, neginf=None, x_dot):
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), finite_part(x_dot, x)
