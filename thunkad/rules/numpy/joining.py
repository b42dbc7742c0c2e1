"""Functions that join arrays."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.joining import (
    append_bars,
    append_dot,
    block_bars,
    block_dot,
    column_stack_bar,
    dstack_bar,
    hstack_bar,
    join_bar,
    join_dot,
    stack_bar,
    vstack_bar,
)
from thunkad.tangents import NoTangent, thunk


@rrule(np.concatenate)
def _(arrays, axis=0, *, dtype=None, casting="same_kind"):
    y = np.concatenate(arrays, axis=axis, dtype=dtype, casting=casting)

    def pullback(y_bar):
        return thunk(lambda: join_bar(y_bar, arrays, axis)), NoTangent()

    return y, pullback


@frule(np.concatenate)
def _(arrays, axis=0, *, dtype=None, casting="same_kind", arrays_dot):
    return np.concatenate(arrays, axis=axis, dtype=dtype, casting=casting), join_dot(
        np.concatenate, arrays_dot, arrays, axis
    )


@rrule(np.stack)
def _(arrays, axis=0, *, dtype=None, casting="same_kind"):
    y = np.stack(arrays, axis=axis, dtype=dtype, casting=casting)

    def pullback(y_bar):
        return thunk(lambda: stack_bar(y_bar, arrays, axis)), NoTangent()

    return y, pullback


@frule(np.stack)
def _(arrays, axis=0, *, dtype=None, casting="same_kind", arrays_dot):
    return np.stack(arrays, axis=axis, dtype=dtype, casting=casting), join_dot(np.stack, arrays_dot, arrays, axis)


@rrule(np.hstack)
def _(tup, *, dtype=None, casting="same_kind"):
    y = np.hstack(tup, dtype=dtype, casting=casting)

    def pullback(y_bar):
        return (thunk(lambda: hstack_bar(y_bar, tup)),)

    return y, pullback


@frule(np.hstack)
def _(tup, *, dtype=None, casting="same_kind", tup_dot):
    return np.hstack(tup, dtype=dtype, casting=casting), join_dot(np.hstack, tup_dot, tup)


@rrule(np.vstack)
def _(tup, *, dtype=None, casting="same_kind"):
    y = np.vstack(tup, dtype=dtype, casting=casting)

    def pullback(y_bar):
        return (thunk(lambda: vstack_bar(y_bar, tup)),)

    return y, pullback


@frule(np.vstack)
def _(tup, *, dtype=None, casting="same_kind", tup_dot):
    return np.vstack(tup, dtype=dtype, casting=casting), join_dot(np.vstack, tup_dot, tup)


@rrule(np.dstack)
def _(tup):
    y = np.dstack(tup)

    def pullback(y_bar):
        return (thunk(lambda: dstack_bar(y_bar, tup)),)

    return y, pullback


@frule(np.dstack)
def _(tup, *, tup_dot):
    return np.dstack(tup), join_dot(np.dstack, tup_dot, tup)


@rrule(np.column_stack)
def _(tup):
    y = np.column_stack(tup)

    def pullback(y_bar):
        return (thunk(lambda: column_stack_bar(y_bar, tup)),)

    return y, pullback


@frule(np.column_stack)
def _(tup, *, tup_dot):
    return np.column_stack(tup), join_dot(np.column_stack, tup_dot, tup)


@rrule(np.block)
def _(arrays):
    y = np.block(arrays)

    def pullback(y_bar):
        return (thunk(lambda: block_bars(y_bar, arrays)),)

    return y, pullback


@frule(np.block)
def _(arrays, *, arrays_dot):
    return np.block(arrays), block_dot(arrays_dot, arrays)


@rrule(np.append)
def _(arr, values, axis=None):
    y = np.append(arr, values, axis=axis)

    def pullback(y_bar):
        bars = append_bars(y_bar, arr, values, axis)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(np.append)
def _(arr, values, axis=None, *, arr_dot, values_dot):
    return np.append(arr, values, axis=axis), append_dot(arr_dot, values_dot, arr, values, axis)
