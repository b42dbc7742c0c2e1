"""Indexing and the functions that select entries."""

from __future__ import annotations

import operator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.indexing import (
    compress_bar,
    diagonal_bar,
    index_bar,
    insert_bars,
    insert_dot,
    numbered,
    of_index,
    selection_bar,
    take_along_axis_bar,
    take_bar,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    np.searchsorted,
    np.digitize,
    np.indices,
    np.ix_,
    np.unravel_index,
    np.ravel_multi_index,
    np.diag_indices,
    np.diag_indices_from,
    np.tril_indices,
    np.tril_indices_from,
    np.triu_indices,
    np.triu_indices_from,
    np.mask_indices,
    np.isin,
)


@rrule(operator.getitem)
def _(x, index):
    y = operator.getitem(x, index)

    def pullback(y_bar):
        return thunk(lambda: index_bar(y_bar, x, index)), of_index(x)

    return y, pullback


@frule(operator.getitem)
def _(x, index, *, x_dot):
    return operator.getitem(x, index), x_dot[index]


@rrule(np.take)
def _(a, indices, axis=None, *, mode="raise"):
    y = np.take(a, indices, axis=axis, mode=mode)

    def pullback(y_bar):
        return thunk(lambda: take_bar(y_bar, a, indices, axis, mode)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.take)
def _(a, indices, axis=None, *, mode="raise", a_dot):
    return np.take(a, indices, axis=axis, mode=mode), np.take(a_dot, indices, axis=axis, mode=mode)


@rrule(np.take_along_axis)
def _(arr, indices, axis=-1):
    y = np.take_along_axis(arr, indices, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: take_along_axis_bar(y_bar, arr, indices, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.take_along_axis)
def _(arr, indices, axis=-1, *, arr_dot):
    return np.take_along_axis(arr, indices, axis=axis), np.take_along_axis(arr_dot, indices, axis=axis)


@rrule(np.compress)
def _(condition, a, axis=None):
    y = np.compress(condition, a, axis=axis)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: compress_bar(y_bar, condition, a, axis)), NoTangent()

    return y, pullback


@frule(np.compress)
def _(condition, a, axis=None, *, a_dot):
    return np.compress(condition, a, axis=axis), np.compress(condition, a_dot, axis=axis)


@rrule(np.extract)
def _(condition, arr):
    y = np.extract(condition, arr)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: compress_bar(y_bar, condition, arr))

    return y, pullback


@frule(np.extract)
def _(condition, arr, *, arr_dot):
    return np.extract(condition, arr), np.extract(condition, arr_dot)


@rrule(np.diagonal)
def _(a, offset=0, axis1=0, axis2=1):
    y = np.diagonal(a, offset=offset, axis1=axis1, axis2=axis2)

    def pullback(y_bar):
        return thunk(lambda: diagonal_bar(y_bar, a, offset, axis1, axis2)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.diagonal)
def _(a, offset=0, axis1=0, axis2=1, *, a_dot):
    y = np.diagonal(a, offset=offset, axis1=axis1, axis2=axis2)
    return y, np.diagonal(a_dot, offset=offset, axis1=axis1, axis2=axis2)


@rrule(np.delete)
def _(arr, obj, axis=None):
    y = np.delete(arr, obj, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: selection_bar(y_bar, arr, np.delete(numbered(arr), obj, axis))), NoTangent(), NoTangent()

    return y, pullback


@frule(np.delete)
def _(arr, obj, axis=None, *, arr_dot):
    return np.delete(arr, obj, axis=axis), np.delete(arr_dot, obj, axis=axis)


@rrule(np.insert)
def _(arr, obj, values, axis=None):
    y = np.insert(arr, obj, values, axis=axis)

    def pullback(y_bar):
        bars = insert_bars(y_bar, arr, obj, values, axis)
        return thunk(lambda: bars[0]), NoTangent(), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(np.insert)
def _(arr, obj, values, axis=None, *, arr_dot, values_dot):
    return np.insert(arr, obj, values, axis=axis), insert_dot(arr_dot, values_dot, arr, obj, values, axis)


@rrule(np.bincount)
def _(x, weights=None, minlength=0):
    y = np.bincount(x, weights=weights, minlength=minlength)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: np.take(y_bar, x)), NoTangent()

    return y, pullback


@frule(np.bincount)
def _(x, weights=None, minlength=0, *, weights_dot):
    y = np.bincount(x, weights=weights, minlength=minlength)
    return y, np.bincount(x, weights=weights_dot, minlength=minlength)


@rrule(sliding_window_view)
def _(x, window_shape, axis=None, *, subok=False, writeable=False):
    y = sliding_window_view(x, window_shape, axis=axis, subok=subok, writeable=writeable)

    def pullback(y_bar):
        return (
            thunk(lambda: selection_bar(y_bar, x, sliding_window_view(numbered(x), window_shape, axis))),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(sliding_window_view)
def _(x, window_shape, axis=None, *, subok=False, writeable=False, x_dot):
    y = sliding_window_view(x, window_shape, axis=axis, subok=subok, writeable=writeable)
    return y, sliding_window_view(x_dot, window_shape, axis=axis)
