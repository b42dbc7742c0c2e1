"""Functions that reshape, transpose, turn, broadcast or convert one array."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.shaping import (
    astype_bar,
    astype_dot,
    in_memory_like,
    memory_order,
    reshape_like,
    rollaxis_bar,
    transpose_bar,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(memory_order)


@rrule(np.reshape)
def _(a, shape, order="C", *, copy=None):
    y = np.reshape(a, shape=shape, order=order, copy=copy)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a, memory_order(a, order))), NoTangent(), NoTangent()

    return y, pullback


@frule(np.reshape)
def _(a, shape, order="C", *, copy=None, a_dot):
    return np.reshape(a, shape=shape, order=order, copy=copy), np.reshape(in_memory_like(a_dot, a, order), shape, order)


@rrule(np.ravel)
def _(a, order="C"):
    y = np.ravel(a, order=order)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a, memory_order(a, order))), NoTangent()

    return y, pullback


@frule(np.ravel)
def _(a, order="C", *, a_dot):
    return np.ravel(a, order=order), np.ravel(in_memory_like(a_dot, a, order), order=order)


@rrule(np.squeeze)
def _(a, axis=None):
    y = np.squeeze(a, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a)), NoTangent()

    return y, pullback


@frule(np.squeeze)
def _(a, axis=None, *, a_dot):
    return np.squeeze(a, axis=axis), np.squeeze(a_dot, axis=axis)


@rrule(np.expand_dims)
def _(a, axis):
    y = np.expand_dims(a, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a)), NoTangent()

    return y, pullback


@frule(np.expand_dims)
def _(a, axis, *, a_dot):
    return np.expand_dims(a, axis=axis), np.expand_dims(a_dot, axis=axis)


@rrule(np.transpose)
def _(a, axes=None):
    y = np.transpose(a, axes=axes)

    def pullback(y_bar):
        return thunk(lambda: transpose_bar(y_bar, axes)), NoTangent()

    return y, pullback


@frule(np.transpose)
def _(a, axes=None, *, a_dot):
    return np.transpose(a, axes=axes), np.transpose(a_dot, axes=axes)


@rrule(np.matrix_transpose)
def _(x):
    y = np.matrix_transpose(x)

    def pullback(y_bar):
        return (thunk(lambda: np.matrix_transpose(y_bar)),)

    return y, pullback


@frule(np.matrix_transpose)
def _(x, *, x_dot):
    return np.matrix_transpose(x), np.matrix_transpose(x_dot)


@rrule(np.swapaxes)
def _(a, axis1, axis2):
    y = np.swapaxes(a, axis1=axis1, axis2=axis2)

    def pullback(y_bar):
        return thunk(lambda: np.swapaxes(y_bar, axis1, axis2)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.swapaxes)
def _(a, axis1, axis2, *, a_dot):
    return np.swapaxes(a, axis1=axis1, axis2=axis2), np.swapaxes(a_dot, axis1=axis1, axis2=axis2)


@rrule(np.moveaxis)
def _(a, source, destination):
    y = np.moveaxis(a, source=source, destination=destination)

    def pullback(y_bar):
        return thunk(lambda: np.moveaxis(y_bar, destination, source)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.moveaxis)
def _(a, source, destination, *, a_dot):
    y = np.moveaxis(a, source=source, destination=destination)
    return y, np.moveaxis(a_dot, source=source, destination=destination)


@rrule(np.rollaxis)
def _(a, axis, start=0):
    y = np.rollaxis(a, axis=axis, start=start)

    def pullback(y_bar):
        return thunk(lambda: rollaxis_bar(y_bar, axis, start)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.rollaxis)
def _(a, axis, start=0, *, a_dot):
    return np.rollaxis(a, axis=axis, start=start), np.rollaxis(a_dot, axis=axis, start=start)


@rrule(np.roll)
def _(a, shift, axis=None):
    y = np.roll(a, shift=shift, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: np.roll(y_bar, np.negative(shift), axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.roll)
def _(a, shift, axis=None, *, a_dot):
    return np.roll(a, shift=shift, axis=axis), np.roll(a_dot, shift=shift, axis=axis)


@rrule(np.rot90)
def _(m, k=1, axes=(0, 1)):
    y = np.rot90(m, k=k, axes=axes)

    def pullback(y_bar):
        return thunk(lambda: np.rot90(y_bar, -k, axes)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.rot90)
def _(m, k=1, axes=(0, 1), *, m_dot):
    return np.rot90(m, k=k, axes=axes), np.rot90(m_dot, k=k, axes=axes)


@rrule(np.flip)
def _(m, axis=None):
    y = np.flip(m, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: np.flip(y_bar, axis)), NoTangent()

    return y, pullback


@frule(np.flip)
def _(m, axis=None, *, m_dot):
    return np.flip(m, axis=axis), np.flip(m_dot, axis=axis)


@rrule(np.fliplr)
def _(m):
    y = np.fliplr(m)

    def pullback(y_bar):
        return (thunk(lambda: np.fliplr(y_bar)),)

    return y, pullback


@frule(np.fliplr)
def _(m, *, m_dot):
    return np.fliplr(m), np.fliplr(m_dot)


@rrule(np.flipud)
def _(m):
    y = np.flipud(m)

    def pullback(y_bar):
        return (thunk(lambda: np.flipud(y_bar)),)

    return y, pullback


@frule(np.flipud)
def _(m, *, m_dot):
    return np.flipud(m), np.flipud(m_dot)


@rrule(np.broadcast_to)
def _(array, shape, subok=False):
    y = np.broadcast_to(array, shape=shape, subok=subok)

    def pullback(y_bar):
        return thunk(lambda: unbroadcast(y_bar, array)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.broadcast_to)
def _(array, shape, subok=False, *, array_dot):
    y = np.broadcast_to(array, shape=shape, subok=subok)
    return y, np.broadcast_to(array_dot, shape=shape, subok=subok)


@rrule(np.astype)
def _(x, dtype, *, copy=True):
    y = np.astype(x, dtype, copy=copy)

    def pullback(y_bar):
        return thunk(lambda: astype_bar(y_bar, x, dtype)), NoTangent()

    return y, pullback


@frule(np.astype)
def _(x, dtype, *, copy=True, x_dot):
    return np.astype(x, dtype, copy=copy), astype_dot(x_dot, x, dtype)
