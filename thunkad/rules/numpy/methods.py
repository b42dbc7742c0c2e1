"""Array methods and attributes: the function whose rule serves each, and rules for those that have no such function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.indexing import compress_bar
from thunkad.runtime.methods import item_bar, item_dot, method_axes, tolist_bar, tolist_dot
from thunkad.runtime.piecewise import clip_bar, clip_dot, clip_high_bar, clip_low_bar
from thunkad.runtime.shaping import (
    astype_bar,
    astype_dot,
    in_memory_like,
    memory_order,
    reshape_like,
    transpose_bar,
)
from thunkad.tangents import NoTangent, thunk

METHODS: dict[str, Callable[..., Any]] = {
    "all": np.all,
    "any": np.any,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "argpartition": np.argpartition,
    "argsort": np.argsort,
    "choose": np.choose,
    "conj": np.conjugate,
    "conjugate": np.conjugate,
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
    "diagonal": np.diagonal,
    "dot": np.dot,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "nonzero": np.nonzero,
    "prod": np.prod,
    "ravel": np.ravel,
    "repeat": np.repeat,
    "round": np.round,
    "searchsorted": np.searchsorted,
    "squeeze": np.squeeze,
    "std": np.std,
    "sum": np.sum,
    "swapaxes": np.swapaxes,
    "take": np.take,
    "trace": np.trace,
    "var": np.var,
}
"""Methods that mean ``function(x, *arguments)``; every other method is its own rule target, as ``np.ndarray.reshape``."""

ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "T": np.transpose,
    "mT": np.matrix_transpose,
    "real": np.real,
    "imag": np.imag,
}
"""Attributes that mean ``function(x)``."""

NON_DIFFERENTIABLE_ATTRIBUTES: frozenset[str] = frozenset(
    ("shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags", "device")
)

non_differentiable(np.ndarray.tobytes)


@rrule(np.ndarray.reshape)
def _(a, *shape, order="C"):
    y = np.ndarray.reshape(a, *shape, order=order)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a, memory_order(a, order))), NoTangent()

    return y, pullback


@frule(np.ndarray.reshape)
def _(a, *shape, order="C", a_dot):
    y = a.reshape(*shape, order=order)
    return y, np.reshape(in_memory_like(a_dot, a, order), np.shape(y), order)


@rrule(np.ndarray.transpose)
def _(a, *axes):
    y = np.ndarray.transpose(a, *axes)

    def pullback(y_bar):
        return thunk(lambda: transpose_bar(y_bar, method_axes(axes))), NoTangent()

    return y, pullback


@frule(np.ndarray.transpose)
def _(a, *axes, a_dot):
    return a.transpose(*axes), np.transpose(a_dot, method_axes(axes))


@rrule(np.ndarray.flatten)
def _(a, order="C"):
    y = np.ndarray.flatten(a, order=order)

    def pullback(y_bar):
        return thunk(lambda: reshape_like(y_bar, a, memory_order(a, order))), NoTangent()

    return y, pullback


@frule(np.ndarray.flatten)
def _(a, order="C", *, a_dot):
    return np.ndarray.flatten(a, order=order), np.ravel(in_memory_like(a_dot, a, order), order)


@rrule(np.ndarray.copy)
def _(a, order="C"):
    y = np.ndarray.copy(a, order=order)

    def pullback(y_bar):
        return y_bar, NoTangent()

    return y, pullback


@frule(np.ndarray.copy)
def _(a, order="C", *, a_dot):
    return np.ndarray.copy(a, order=order), np.copy(a_dot)


@rrule(np.ndarray.astype)
def _(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    y = np.ndarray.astype(a, dtype=dtype, order=order, casting=casting, subok=subok, copy=copy)

    def pullback(y_bar):
        return (
            thunk(lambda: astype_bar(y_bar, a, dtype)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.ndarray.astype)
def _(a, dtype, order="K", casting="unsafe", subok=True, copy=True, *, a_dot):
    y = np.ndarray.astype(a, dtype=dtype, order=order, casting=casting, subok=subok, copy=copy)
    return y, astype_dot(a_dot, a, dtype)


@rrule(np.ndarray.clip)
def _(a, min=None, max=None):
    y = np.ndarray.clip(a, min=min, max=max)

    def pullback(y_bar):
        return (
            thunk(lambda: clip_bar(y_bar, a, min, max)),
            thunk(lambda: clip_low_bar(y_bar, a, min, max)),
            thunk(lambda: clip_high_bar(y_bar, a, min, max)),
        )

    return y, pullback


@frule(np.ndarray.clip)
def _(a, min=None, max=None, *, a_dot, min_dot, max_dot):
    return np.ndarray.clip(a, min=min, max=max), clip_dot(a, min, max, a_dot, min_dot, max_dot)


@rrule(np.ndarray.compress)
def _(a, condition, axis=None):
    y = np.ndarray.compress(a, condition, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: compress_bar(y_bar, condition, a, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.ndarray.compress)
def _(a, condition, axis=None, *, a_dot):
    return np.ndarray.compress(a, condition, axis=axis), np.compress(condition, a_dot, axis=axis)


@rrule(np.ndarray.item)
def _(a, *args):
    y = np.ndarray.item(a, *args)

    def pullback(y_bar):
        return thunk(lambda: item_bar(y_bar, a, args)), NoTangent()

    return y, pullback


@frule(np.ndarray.item)
def _(a, *args, a_dot):
    return a.item(*args), item_dot(a_dot, args)


@rrule(np.ndarray.tolist)
def _(a):
    y = np.ndarray.tolist(a)

    def pullback(y_bar):
        return (thunk(lambda: tolist_bar(y_bar, a)),)

    return y, pullback


@frule(np.ndarray.tolist)
def _(a, *, a_dot):
    return np.ndarray.tolist(a), tolist_dot(a_dot)
