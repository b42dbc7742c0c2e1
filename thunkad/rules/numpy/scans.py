"""Scans, differences, quadrature, interpolation and one-dimensional filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import frule, rrule
from thunkad.runtime.interpolation import interp_bars, interp_dot
from thunkad.runtime.scans import (
    bilinear_dot,
    convolve_left_bar,
    convolve_right_bar,
    correlate_left_bar,
    correlate_right_bar,
    cumprod_bar,
    cumprod_dot,
    cumsum_bar,
    cumsum_dot,
    diff_bars,
    diff_dot,
    ediff1d_bars,
    ediff1d_dot,
    ignoring_nan,
    trapezoid_bar,
    trapezoid_dot,
    trapezoid_dx_bar,
    trapezoid_x_bar,
    with_initial,
    without_initial,
)
from thunkad.tangents import NoTangent, thunk

NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]


@rrule(np.cumsum)
def _(a, axis=None, dtype=None):
    y = np.cumsum(a, axis=axis, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: cumsum_bar(y_bar, a, axis, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.cumsum)
def _(a, axis=None, dtype=None, *, a_dot):
    return np.cumsum(a, axis=axis, dtype=dtype), cumsum_dot(a_dot, a, axis, dtype)


@rrule(np.add.accumulate)
def _(array, axis=0, dtype=None):
    y = np.add.accumulate(array, axis=axis, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: cumsum_bar(y_bar, array, axis, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.add.accumulate)
def _(array, axis=0, dtype=None, *, array_dot):
    return np.add.accumulate(array, axis=axis, dtype=dtype), cumsum_dot(array_dot, array, axis, dtype)


@rrule(np.nancumsum)
def _(a, axis=None, dtype=None):
    y = np.nancumsum(a, axis=axis, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: cumsum_bar(y_bar, a, axis, dtype) * np.equal(a, a)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.nancumsum)
def _(a, axis=None, dtype=None, *, a_dot):
    return np.nancumsum(a, axis=axis, dtype=dtype), cumsum_dot(a_dot * np.equal(a, a), a, axis, dtype)


@rrule(np.cumulative_sum)
def _(x, *, axis=None, dtype=None, include_initial=False):
    y = np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)

    def pullback(y_bar):
        return (thunk(lambda: cumsum_bar(without_initial(y_bar, axis, include_initial), x, axis, dtype)),)

    return y, pullback


@frule(np.cumulative_sum)
def _(x, *, axis=None, dtype=None, include_initial=False, x_dot):
    y = np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)
    return y, with_initial(cumsum_dot(x_dot, x, axis, dtype), axis, include_initial)


@rrule(np.cumprod)
def _(a, axis=None, dtype=None):
    y = np.cumprod(a, axis=axis, dtype=dtype)

    def pullback(y_bar):
        return thunk(lambda: cumprod_bar(y_bar, y, a, axis, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.cumprod)
def _(a, axis=None, dtype=None, *, a_dot):
    y = np.cumprod(a, axis=axis, dtype=dtype)
    return y, cumprod_dot(a_dot, y, a, axis, dtype)


@rrule(np.nancumprod)
def _(a, axis=None, dtype=None):
    y = np.nancumprod(a, axis=axis, dtype=dtype)

    def pullback(y_bar):
        return (
            thunk(lambda: cumprod_bar(y_bar, y, ignoring_nan(a, 1), axis, dtype) * np.equal(a, a)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.nancumprod)
def _(a, axis=None, dtype=None, *, a_dot):
    y = np.nancumprod(a, axis=axis, dtype=dtype)
    return y, cumprod_dot(a_dot * np.equal(a, a), y, ignoring_nan(a, 1), axis, dtype)


@rrule(np.cumulative_prod)
def _(x, *, axis=None, dtype=None, include_initial=False):
    y = np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)

    def pullback(y_bar):
        inner_bar = without_initial(y_bar, axis, include_initial)
        inner = without_initial(y, axis, include_initial)
        return (thunk(lambda: cumprod_bar(inner_bar, inner, x, axis, dtype)),)

    return y, pullback


@frule(np.cumulative_prod)
def _(x, *, axis=None, dtype=None, include_initial=False, x_dot):
    y = np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)
    inner = without_initial(y, axis, include_initial)
    return y, with_initial(cumprod_dot(x_dot, inner, x, axis, dtype), axis, include_initial)


@rrule(np.diff)
def _(a, n=1, axis=-1, prepend=NOT_GIVEN, append=NOT_GIVEN):
    y = np.diff(a, n=n, axis=axis, prepend=prepend, append=append)

    def pullback(y_bar):
        bars = diff_bars(y_bar, a, n, axis, prepend, append)
        return (
            thunk(lambda: bars[0]),
            NoTangent(),
            NoTangent(),
            thunk(lambda: bars[1]),
            thunk(lambda: bars[2]),
        )

    return y, pullback


@frule(np.diff)
def _(a, n=1, axis=-1, prepend=NOT_GIVEN, append=NOT_GIVEN, *, a_dot, prepend_dot, append_dot):
    y = np.diff(a, n=n, axis=axis, prepend=prepend, append=append)
    return y, diff_dot((a_dot, prepend_dot, append_dot), (a, prepend, append), n, axis)


@rrule(np.ediff1d)
def _(ary, to_end=None, to_begin=None):
    y = np.ediff1d(ary, to_end=to_end, to_begin=to_begin)

    def pullback(y_bar):
        bars = ediff1d_bars(y_bar, ary, to_end, to_begin)
        return (
            thunk(lambda: bars[0]),
            thunk(lambda: bars[1]),
            thunk(lambda: bars[2]),
        )

    return y, pullback


@frule(np.ediff1d)
def _(ary, to_end=None, to_begin=None, *, ary_dot, to_end_dot, to_begin_dot):
    y = np.ediff1d(ary, to_end=to_end, to_begin=to_begin)
    return y, ediff1d_dot((ary_dot, to_end_dot, to_begin_dot), (ary, to_end, to_begin))


@rrule(np.trapezoid)
def _(y, x=None, dx=1.0, axis=-1):
    area = np.trapezoid(y, x=x, dx=dx, axis=axis)

    def pullback(area_bar):
        return (
            thunk(lambda: trapezoid_bar(area_bar, y, x, dx, axis)),
            thunk(lambda: trapezoid_x_bar(area_bar, y, x, axis)),
            thunk(lambda: trapezoid_dx_bar(area_bar, y, x, dx, axis)),
            NoTangent(),
        )

    return area, pullback


@frule(np.trapezoid)
def _(y, x=None, dx=1.0, axis=-1, *, y_dot, x_dot, dx_dot):
    return np.trapezoid(y, x=x, dx=dx, axis=axis), trapezoid_dot((y_dot, x_dot, dx_dot), y, x, dx, axis)


@rrule(np.interp)
def _(x, xp, fp, left=None, right=None, *, period=None):
    y = np.interp(x, xp, fp, left=left, right=right, period=period)

    def pullback(y_bar):
        bars = interp_bars(y_bar, x, xp, fp, left, right, period)
        return (
            thunk(lambda: bars[0]),
            thunk(lambda: bars[1]),
            thunk(lambda: bars[2]),
            thunk(lambda: bars[3]),
            thunk(lambda: bars[4]),
        )

    return y, pullback


@frule(np.interp)
def _(x, xp, fp, left=None, right=None, *, period=None, x_dot, xp_dot, fp_dot, left_dot, right_dot):
    y = np.interp(x, xp, fp, left=left, right=right, period=period)
    return y, interp_dot((x_dot, xp_dot, fp_dot, left_dot, right_dot), x, xp, fp, left, right, period)


@rrule(np.convolve)
def _(a, v, mode="full"):
    y = np.convolve(a, v, mode=mode)

    def pullback(y_bar):
        return (
            thunk(lambda: convolve_left_bar(y_bar, a, v, mode)),
            thunk(lambda: convolve_right_bar(y_bar, a, v, mode)),
            NoTangent(),
        )

    return y, pullback


@frule(np.convolve)
def _(a, v, mode="full", *, a_dot, v_dot):
    return np.convolve(a, v, mode=mode), bilinear_dot(np.convolve, a, v, a_dot, v_dot, mode)


@rrule(np.correlate)
def _(a, v, mode="valid"):
    y = np.correlate(a, v, mode=mode)

    def pullback(y_bar):
        return (
            thunk(lambda: correlate_left_bar(y_bar, a, v, mode)),
            thunk(lambda: correlate_right_bar(y_bar, a, v, mode)),
            NoTangent(),
        )

    return y, pullback


@frule(np.correlate)
def _(a, v, mode="valid", *, a_dot, v_dot):
    return np.correlate(a, v, mode=mode), bilinear_dot(np.correlate, a, v, a_dot, v_dot, mode)
