"""Functions that repeat or pad an array, and those on its diagonal."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.padding import margin_bar, margin_dot, pad_bar, pad_dot, padded
from thunkad.runtime.shaping import diag_bar, repeat_bar, reshape_like, resize_bar, tile_bar, triangle_bar
from thunkad.tangents import NoTangent, thunk


@rrule(np.repeat)
def _(a, repeats, axis=None):
    y = np.repeat(a, repeats=repeats, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: repeat_bar(y_bar, a, repeats, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.repeat)
def _(a, repeats, axis=None, *, a_dot):
    return np.repeat(a, repeats=repeats, axis=axis), np.repeat(a_dot, repeats=repeats, axis=axis)


@rrule(np.tile)
def _(A, reps):
    y = np.tile(A, reps=reps)

    def pullback(y_bar):
        return thunk(lambda: tile_bar(y_bar, A, reps)), NoTangent()

    return y, pullback


@frule(np.tile)
def _(A, reps, *, A_dot):
    return np.tile(A, reps=reps), np.tile(A_dot, reps=reps)


@rrule(np.resize)
def _(a, new_shape):
    y = np.resize(a, new_shape=new_shape)

    def pullback(y_bar):
        return thunk(lambda: resize_bar(y_bar, a, new_shape)), NoTangent()

    return y, pullback


@frule(np.resize)
def _(a, new_shape, *, a_dot):
    return np.resize(a, new_shape=new_shape), np.resize(a_dot, new_shape=new_shape)


@rrule(np.tril)
def _(m, k=0):
    y = np.tril(m, k=k)

    def pullback(y_bar):
        return thunk(lambda: triangle_bar(y_bar, m, k, np.tril)), NoTangent()

    return y, pullback


@frule(np.tril)
def _(m, k=0, *, m_dot):
    return np.tril(m, k=k), np.tril(m_dot, k=k)


@rrule(np.triu)
def _(m, k=0):
    y = np.triu(m, k=k)

    def pullback(y_bar):
        return thunk(lambda: triangle_bar(y_bar, m, k, np.triu)), NoTangent()

    return y, pullback


@frule(np.triu)
def _(m, k=0, *, m_dot):
    return np.triu(m, k=k), np.triu(m_dot, k=k)


@rrule(np.diag)
def _(v, k=0):
    y = np.diag(v, k=k)

    def pullback(y_bar):
        return thunk(lambda: diag_bar(y_bar, v, k)), NoTangent()

    return y, pullback


@frule(np.diag)
def _(v, k=0, *, v_dot):
    return np.diag(v, k=k), np.diag(v_dot, k=k)


@rrule(np.diagflat)
def _(v, k=0):
    y = np.diagflat(v, k=k)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(np.diagonal(y_bar, k), v)), NoTangent()

    return y, pullback


@frule(np.diagflat)
def _(v, k=0, *, v_dot):
    return np.diagflat(v, k=k), np.diagflat(v_dot, k=k)


@rrule(np.pad)
def _(array, pad_width, mode="constant", constant_values=None, end_values=None, *, reflect_type=None, stat_length=None):
    y = padded(
        array,
        pad_width,
        mode,
        constant_values=constant_values,
        end_values=end_values,
        reflect_type=reflect_type,
        stat_length=stat_length,
    )

    def pullback(y_bar):
        return (
            thunk(lambda: pad_bar(y_bar, array, pad_width, mode, reflect_type, stat_length)),
            NoTangent(),
            NoTangent(),
            thunk(lambda: margin_bar(y_bar, constant_values, array, pad_width, mode)),
            thunk(lambda: margin_bar(y_bar, end_values, array, pad_width, mode)),
        )

    return y, pullback


@frule(np.pad)
def _(
    array,
    pad_width,
    mode="constant",
    constant_values=None,
    end_values=None,
    *,
    reflect_type=None,
    stat_length=None,
    array_dot,
    constant_values_dot,
    end_values_dot,
):
    y = padded(
        array,
        pad_width,
        mode,
        constant_values=constant_values,
        end_values=end_values,
        reflect_type=reflect_type,
        stat_length=stat_length,
    )
    y_dot = pad_dot(array_dot, array, pad_width, mode, reflect_type, stat_length)
    y_dot = y_dot + margin_dot(constant_values_dot, constant_values, array, pad_width, mode)
    return y, y_dot + margin_dot(end_values_dot, end_values, array, pad_width, mode)
