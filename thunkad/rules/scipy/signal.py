"""``scipy.signal``: convolutions, correlations and recursive filters."""

from __future__ import annotations

import inspect

from scipy import signal

from thunkad.kinds.casts import any_number
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear
from thunkad.rules.refused import refuse
from thunkad.rules.scipy import signal_composed  # noqa: F401 - read in with this module
from thunkad.rules.scipy.linalg_helpers import real_if
from thunkad.rules.scipy.signal_helpers import (
    all_pole_bar,
    convolved2d_left_bar,
    convolved2d_right_bar,
    convolved_bar,
    correlated2d_left_bar,
    correlated2d_right_bar,
    correlated_left_bar,
    correlated_right_bar,
    fftconvolved_bar,
    lfilter_bar,
    lfilter_dot,
    taps_bar,
)
from thunkad.rules.table import TABLE
from thunkad.runtime.scans import bilinear_dot
from thunkad.tangents import NoTangent, thunk

bilinear(
    1,
    convolved_bar,
    fftconvolved_bar,
    correlated_left_bar,
    correlated_right_bar,
    convolved2d_left_bar,
    convolved2d_right_bar,
    correlated2d_left_bar,
    correlated2d_right_bar,
    taps_bar,
)
RESULT_KINDS.update(
    dict.fromkeys(
        (
            signal.convolve,
            signal.fftconvolve,
            signal.oaconvolve,
            signal.correlate,
            signal.convolve2d,
            signal.correlate2d,
            signal.detrend,
        ),
        any_number,
    )
)


@rrule(signal.convolve)
def _(in1, in2, mode="full", method="auto"):
    y = signal.convolve(in1, in2, mode=mode, method=method)

    def pullback(y_bar):
        return (
            thunk(lambda: convolved_bar(y_bar, in2, in1, True, mode, method)),
            thunk(lambda: convolved_bar(y_bar, in1, in2, False, mode, method)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.convolve)
def _(in1, in2, mode="full", method="auto", *, in1_dot, in2_dot):
    y = signal.convolve(in1, in2, mode=mode, method=method)
    return y, bilinear_dot(signal.convolve, in1, in2, in1_dot, in2_dot, mode, method)


@rrule(signal.fftconvolve)
def _(in1, in2, mode="full", axes=None):
    y = signal.fftconvolve(in1, in2, mode=mode, axes=axes)

    def pullback(y_bar):
        return (
            thunk(lambda: fftconvolved_bar(y_bar, in2, in1, True, mode, axes, signal.fftconvolve)),
            thunk(lambda: fftconvolved_bar(y_bar, in1, in2, False, mode, axes, signal.fftconvolve)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.fftconvolve)
def _(in1, in2, mode="full", axes=None, *, in1_dot, in2_dot):
    y = signal.fftconvolve(in1, in2, mode=mode, axes=axes)
    return y, bilinear_dot(signal.fftconvolve, in1, in2, in1_dot, in2_dot, mode, axes)


@rrule(signal.oaconvolve)
def _(in1, in2, mode="full", axes=None):
    y = signal.oaconvolve(in1, in2, mode=mode, axes=axes)

    def pullback(y_bar):
        return (
            thunk(lambda: fftconvolved_bar(y_bar, in2, in1, True, mode, axes, signal.oaconvolve)),
            thunk(lambda: fftconvolved_bar(y_bar, in1, in2, False, mode, axes, signal.oaconvolve)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.oaconvolve)
def _(in1, in2, mode="full", axes=None, *, in1_dot, in2_dot):
    y = signal.oaconvolve(in1, in2, mode=mode, axes=axes)
    return y, bilinear_dot(signal.oaconvolve, in1, in2, in1_dot, in2_dot, mode, axes)


@rrule(signal.correlate)
def _(in1, in2, mode="full", method="auto"):
    y = signal.correlate(in1, in2, mode=mode, method=method)

    def pullback(y_bar):
        return (
            thunk(lambda: correlated_left_bar(y_bar, in2, in1, mode, method)),
            thunk(lambda: correlated_right_bar(y_bar, in1, in2, mode, method)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.correlate)
def _(in1, in2, mode="full", method="auto", *, in1_dot, in2_dot):
    y = signal.correlate(in1, in2, mode=mode, method=method)
    return y, bilinear_dot(signal.correlate, in1, in2, in1_dot, in2_dot, mode, method)


@rrule(signal.convolve2d)
def _(in1, in2, mode="full", boundary="fill"):
    y = signal.convolve2d(in1, in2, mode=mode, boundary=boundary)

    def pullback(y_bar):
        return (
            thunk(lambda: convolved2d_left_bar(y_bar, in2, in1, mode, boundary)),
            thunk(lambda: convolved2d_right_bar(y_bar, in1, in2, mode, boundary)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.convolve2d)
def _(in1, in2, mode="full", boundary="fill", *, in1_dot, in2_dot):
    y = signal.convolve2d(in1, in2, mode=mode, boundary=boundary)
    return y, bilinear_dot(signal.convolve2d, in1, in2, in1_dot, in2_dot, mode, boundary)


@rrule(signal.correlate2d)
def _(in1, in2, mode="full", boundary="fill"):
    y = signal.correlate2d(in1, in2, mode=mode, boundary=boundary)

    def pullback(y_bar):
        return (
            thunk(lambda: correlated2d_left_bar(y_bar, in2, in1, mode, boundary)),
            thunk(lambda: correlated2d_right_bar(y_bar, in1, in2, mode, boundary)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.correlate2d)
def _(in1, in2, mode="full", boundary="fill", *, in1_dot, in2_dot):
    y = signal.correlate2d(in1, in2, mode=mode, boundary=boundary)
    return y, bilinear_dot(signal.correlate2d, in1, in2, in1_dot, in2_dot, mode, boundary)


@rrule(signal.lfilter)
def _(b, a, x, axis=-1):
    y = signal.lfilter(b, a, x, axis=axis)

    def pullback(y_bar):
        rhs_bar = all_pole_bar(y_bar, a, axis)
        return (
            thunk(lambda: taps_bar(rhs_bar, x, b, axis)),
            thunk(lambda: -taps_bar(rhs_bar, y, a, axis)),
            thunk(lambda: lfilter_bar(y_bar, b, a, x, axis)),
            NoTangent(),
        )

    return y, pullback


@frule(signal.lfilter)
def _(b, a, x, axis=-1, *, b_dot, a_dot, x_dot):
    y = signal.lfilter(b, a, x, axis=axis)
    return y, lfilter_dot(y, b, a, x, axis, b_dot, a_dot, x_dot)


@rrule(signal.detrend)
def _(data, axis=-1, type="linear", bp=0):
    y = signal.detrend(data, axis=axis, type=type, bp=bp)

    def pullback(y_bar):
        return (
            thunk(lambda: real_if(signal.detrend(y_bar, axis=axis, type=type, bp=bp), data)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(signal.detrend)
def _(data, axis=-1, type="linear", bp=0, *, data_dot):
    return signal.detrend(data, axis=axis, type=type, bp=bp), signal.detrend(data_dot, axis=axis, type=type, bp=bp)


non_differentiable(
    signal.argrelextrema,
    signal.argrelmax,
    signal.argrelmin,
    signal.find_peaks_cwt,
    signal.choose_conv_method,
    signal.correlation_lags,
)

refuse(
    "it has no derivative so far; write it with convolve, lfilter or np.fft (what is made of constants needs none)",
    *(
        f
        for module in (signal, signal.windows)
        for f in vars(module).values()
        if inspect.isfunction(f) and not TABLE.pending(f)
    ),
)
