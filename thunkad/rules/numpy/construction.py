"""Functions that make arrays: from numbers and nested lists, from a fill value, from the ends of a range."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.joining import fill_bar, fill_dot, nested_bar, nested_dot
from thunkad.runtime.ranges import (
    arange_bars,
    arange_dot,
    base_bar,
    exponent_bar,
    linspace_dot,
    logspace_dot,
    relative,
    start_bar,
    stop_bar,
    vander_bar,
    vander_dot,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(
    np.zeros,
    np.ones,
    np.empty,
    np.eye,
    np.identity,
    np.tri,
    np.zeros_like,
    np.ones_like,
    np.empty_like,
    np.shape,
    np.ndim,
    np.size,
    np.iscomplexobj,
    np.isrealobj,
    np.isscalar,
    np.result_type,
    np.promote_types,
    np.can_cast,
    np.common_type,
    np.min_scalar_type,
    np.issubdtype,
    np.dtype,
    np.finfo,
    np.iinfo,
    np.broadcast_shapes,
    np.shares_memory,
    np.may_share_memory,
)


@rrule(np.array)
def _(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    y = np.array(object, dtype=dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, object, dtype)), NoTangent()

    return y, pullback


@frule(np.array)
def _(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, object_dot):
    y = np.array(object, dtype=dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    return y, nested_dot(object_dot, object, y)


@rrule(np.asarray)
def _(a, dtype=None, order=None, *, copy=None):
    y = np.asarray(a, dtype=dtype, order=order, copy=copy)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.asarray)
def _(a, dtype=None, order=None, *, copy=None, a_dot):
    y = np.asarray(a, dtype=dtype, order=order, copy=copy)
    return y, nested_dot(a_dot, a, y)


@rrule(np.asanyarray)
def _(a, dtype=None, order=None, *, copy=None):
    y = np.asanyarray(a, dtype=dtype, order=order, copy=copy)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.asanyarray)
def _(a, dtype=None, order=None, *, copy=None, a_dot):
    y = np.asanyarray(a, dtype=dtype, order=order, copy=copy)
    return y, nested_dot(a_dot, a, y)


@rrule(np.ascontiguousarray)
def _(a, dtype=None):
    y = np.ascontiguousarray(a, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent()

    return y, pullback


@frule(np.ascontiguousarray)
def _(a, dtype=None, *, a_dot):
    y = np.ascontiguousarray(a, dtype=dtype)
    return y, nested_dot(a_dot, a, y)


@rrule(np.asfortranarray)
def _(a, dtype=None):
    y = np.asfortranarray(a, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent()

    return y, pullback


@frule(np.asfortranarray)
def _(a, dtype=None, *, a_dot):
    y = np.asfortranarray(a, dtype=dtype)
    return y, nested_dot(a_dot, a, y)


@rrule(np.asarray_chkfinite)
def _(a, dtype=None, order=None):
    y = np.asarray_chkfinite(a, dtype=dtype, order=order)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.asarray_chkfinite)
def _(a, dtype=None, order=None, *, a_dot):
    y = np.asarray_chkfinite(a, dtype=dtype, order=order)
    return y, nested_dot(a_dot, a, y)


@rrule(np.require)
def _(a, dtype=None, requirements=None):
    y = np.require(a, dtype=dtype, requirements=requirements)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.require)
def _(a, dtype=None, requirements=None, *, a_dot):
    y = np.require(a, dtype=dtype, requirements=requirements)
    return y, nested_dot(a_dot, a, y)


@rrule(np.copy)
def _(a, order="K", subok=False):
    y = np.copy(a, order=order, subok=subok)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, a)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.copy)
def _(a, order="K", subok=False, *, a_dot):
    y = np.copy(a, order=order, subok=subok)
    return y, nested_dot(a_dot, a, y)


@rrule(np.full)
def _(shape, fill_value, dtype=None, order="C"):
    y = np.full(shape, fill_value, dtype=dtype, order=order)

    def pullback(y_bar):
        return NoTangent(), thunk(lambda: fill_bar(y_bar, fill_value, y)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.full)
def _(shape, fill_value, dtype=None, order="C", *, fill_value_dot):
    y = np.full(shape, fill_value, dtype=dtype, order=order)
    return y, fill_dot(fill_value_dot, fill_value, y)


@rrule(np.full_like)
def _(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    y = np.full_like(a, fill_value, dtype=dtype, order=order, subok=subok, shape=shape)

    def pullback(y_bar):
        return (
            NoTangent(),
            thunk(lambda: fill_bar(y_bar, fill_value, y)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.full_like)
def _(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, fill_value_dot):
    y = np.full_like(a, fill_value, dtype=dtype, order=order, subok=subok, shape=shape)
    return y, fill_dot(fill_value_dot, fill_value, y)


@rrule(np.linspace)
def _(start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    y = np.linspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)

    def pullback(y_bar):
        return (
            thunk(lambda: start_bar(y_bar, start, num, endpoint, axis)),
            thunk(lambda: stop_bar(y_bar, stop, num, endpoint, axis)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.linspace)
def _(start, stop, num=50, endpoint=True, *, dtype=None, axis=0, start_dot, stop_dot):
    y = np.linspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)
    return y, linspace_dot(start_dot, stop_dot, y, num, endpoint, axis)


@rrule(np.logspace)
def _(start, stop, num=50, endpoint=True, base=10.0, *, dtype=None, axis=0):
    y = np.logspace(start, stop, num=num, endpoint=endpoint, base=base, dtype=dtype, axis=axis)

    def pullback(y_bar):
        return (
            thunk(lambda: start_bar(exponent_bar(y_bar, y, base, axis), start, num, endpoint, axis)),
            thunk(lambda: stop_bar(exponent_bar(y_bar, y, base, axis), stop, num, endpoint, axis)),
            NoTangent(),
            NoTangent(),
            thunk(lambda: base_bar(y_bar, y, base, start, stop, num, endpoint, axis)),
        )

    return y, pullback


@frule(np.logspace)
def _(start, stop, num=50, endpoint=True, base=10.0, *, dtype=None, axis=0, start_dot, stop_dot, base_dot):
    y = np.logspace(start, stop, num=num, endpoint=endpoint, base=base, dtype=dtype, axis=axis)
    return y, logspace_dot((start_dot, stop_dot, base_dot), y, start, stop, num, endpoint, base, axis)


@rrule(np.geomspace)
def _(start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    y = np.geomspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)

    def pullback(y_bar):
        return (
            thunk(lambda: start_bar(y_bar * np.conjugate(y), start, num, endpoint, axis) / np.conjugate(start)),
            thunk(lambda: stop_bar(y_bar * np.conjugate(y), stop, num, endpoint, axis) / np.conjugate(stop)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.geomspace)
def _(start, stop, num=50, endpoint=True, *, dtype=None, axis=0, start_dot, stop_dot):
    y = np.geomspace(start, stop, num=num, endpoint=endpoint, dtype=dtype, axis=axis)
    return y, y * linspace_dot(relative(start_dot, start), relative(stop_dot, stop), y, num, endpoint, axis)


@rrule(np.arange)
def _(start, stop=None, step=1, dtype=None):
    y = np.arange(start, stop, step, dtype=dtype)

    def pullback(y_bar):
        bars = arange_bars(y_bar, start, stop, step, dtype)
        return thunk(lambda: bars[0]), NoTangent(), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(np.arange)
def _(start, stop=None, step=1, dtype=None, *, start_dot, step_dot):
    y = np.arange(start, stop, step, dtype=dtype)
    return y, arange_dot(start_dot, step_dot, y, stop)


@rrule(np.vander)
def _(x, N=None, increasing=False):
    y = np.vander(x, N=N, increasing=increasing)

    def pullback(y_bar):
        return thunk(lambda: vander_bar(y_bar, x, increasing)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.vander)
def _(x, N=None, increasing=False, *, x_dot):
    y = np.vander(x, N=N, increasing=increasing)
    return y, vander_dot(x_dot, y, x, increasing)
