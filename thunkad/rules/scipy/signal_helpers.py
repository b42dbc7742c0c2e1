"""Cotangents and tangents of ``scipy.signal``: convolutions and recursive filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from thunkad.rules.scipy.linalg_helpers import real_if
from thunkad.runtime.arrays import is_zero, unbroadcast
from thunkad.runtime.shaped import shape_only
from thunkad.tangents import ZERO

# Convolutions: every mode is a part of the full one, which the cotangent is put back into


def _axes_of(a: Any, axes: Any) -> tuple[int, ...]:
    count = np.ndim(a)
    if axes is None:
        return tuple(range(count))
    return tuple(k % count for k in np.atleast_1d(axes))


def in_full(y_bar: Any, n: Any, m: Any, mode: Any, axes: Any) -> Any:
    """``y_bar`` in zeros of the shape of the full convolution of arrays of the shapes ``n`` and ``m``."""
    if mode == "full":
        return y_bar
    shape, place = list(np.shape(y_bar)), [slice(None)] * np.ndim(y_bar)
    for k in axes:
        start = (m[k] - 1) // 2 if mode == "same" else min(n[k], m[k]) - 1
        place[k] = slice(start, start + shape[k])
        shape[k] = n[k] + m[k] - 1
    full = np.zeros(shape, y_bar.dtype)
    full[tuple(place)] = y_bar
    return full


@shape_only("own")
def convolved_bar(y_bar: Any, other: Any, own: Any, first: bool, mode: Any, method: Any = "auto") -> Any:
    """The cotangent of an operand of ``signal.convolve``, given the other one; ``first`` says which it is."""
    if not np.size(y_bar):
        return np.zeros(np.shape(own))
    n, m = (np.shape(own), np.shape(other)) if first else (np.shape(other), np.shape(own))
    full = in_full(y_bar, n, m, mode, range(len(n)))
    return real_if(signal.correlate(full, other, "valid", method), own)


@shape_only("own")
def fftconvolved_bar(y_bar: Any, other: Any, own: Any, first: bool, mode: Any, axes: Any, convolve: Any) -> Any:
    """The same for ``signal.fftconvolve`` and ``signal.oaconvolve``, along ``axes``."""
    if not np.size(y_bar):
        return np.zeros(np.shape(own))
    along = _axes_of(own, axes)
    n, m = (np.shape(own), np.shape(other)) if first else (np.shape(other), np.shape(own))
    full = in_full(y_bar, n, m, mode, along)
    if not along:
        return real_if(unbroadcast(full * np.conjugate(other), own), own)
    own_bar = convolve(full, np.conjugate(np.flip(other, along)), "valid", along)
    return real_if(unbroadcast(own_bar, own), own)


def _turned(a: Any) -> Any:
    return np.conjugate(np.flip(np.asarray(a)))


@shape_only("own")
def correlated_left_bar(y_bar: Any, other: Any, own: Any, mode: Any, method: Any = "auto") -> Any:
    """The cotangent of ``in1`` for ``signal.correlate(in1, other)``."""
    return convolved_bar(y_bar, _turned(other), own, True, mode, method)


@shape_only("own")
def correlated_right_bar(y_bar: Any, other: Any, own: Any, mode: Any, method: Any = "auto") -> Any:
    """The cotangent of ``in2`` for ``signal.correlate(other, in2)``."""
    if not np.size(y_bar):
        return np.zeros(np.shape(own))
    full = in_full(y_bar, np.shape(other), np.shape(own), mode, range(np.ndim(own)))
    return real_if(_turned(signal.correlate(full, other, "valid", method)), own)


# Recursive filters: A y = B x as power series of the delay


@shape_only("x")
def lfilter_bar(y_bar: Any, b: Any, a: Any, x: Any, axis: Any) -> Any:
    """The cotangent of ``x`` for ``signal.lfilter``: the same filter, backwards in time."""
    back = signal.lfilter(np.conjugate(b), np.conjugate(a), np.flip(y_bar, axis), axis)
    return real_if(np.flip(back, axis), x)


def all_pole_bar(y_bar: Any, a: Any, axis: Any) -> Any:
    """``y_bar`` through the recursive part, backwards in time: the cotangent of ``B x`` in ``A y = B x``."""
    return np.flip(signal.lfilter(np.ones(1, np.float32), np.conjugate(a), np.flip(y_bar, axis), axis), axis)


@shape_only("taps")
def taps_bar(rhs_bar: Any, x: Any, taps: Any, axis: Any) -> Any:
    """The cotangent of the coefficients ``taps`` by which ``x`` is delayed and added up into ``B x``."""
    length = np.shape(rhs_bar)[axis]
    rhs_bar, x = np.moveaxis(rhs_bar, axis, 0), np.conjugate(np.moveaxis(np.asarray(x), axis, 0))
    each = [np.sum(rhs_bar[k:] * x[: length - k]) if k < length else np.zeros((), rhs_bar.dtype) for k in range(np.size(taps))]
    return np.reshape(real_if(np.array(each), taps), np.shape(taps))


def lfilter_dot(y: Any, b: Any, a: Any, x: Any, axis: Any, b_dot: Any, a_dot: Any, x_dot: Any) -> Any:
    """The tangent of ``y = signal.lfilter(b, a, x)``."""
    total = ZERO if is_zero(x_dot) else signal.lfilter(b, a, x_dot, axis)
    if not is_zero(b_dot):
        total = total + signal.lfilter(b_dot, a, x, axis)
    if not is_zero(a_dot):
        total = total - signal.lfilter(a_dot, a, y, axis)
    return total


# Convolutions of matrices with a boundary


def bordered(a: Any, other: Any, boundary: Any) -> Any:
    """``a`` with what ``signal.convolve2d`` sees around it."""
    widths = [(m - 1, m - 1) for m in np.shape(other)]
    return np.pad(a, widths, mode="wrap" if boundary == "wrap" else "symmetric")


@shape_only("a")
def unbordered(padded_bar: Any, a: Any, other: Any, boundary: Any) -> Any:
    """The cotangent of ``a`` for ``bordered``, linear in that of the result."""
    for axis in (0, 1):
        n, m = np.shape(a)[axis], np.shape(other)[axis]
        rows = np.moveaxis(padded_bar, axis, 0)
        out = rows[m - 1 : m - 1 + n].copy()
        source = np.pad(np.arange(n), m - 1, mode="wrap" if boundary == "wrap" else "symmetric")
        for k in (*range(m - 1), *range(m - 1 + n, n + 2 * (m - 1))):
            out[source[k]] += rows[k]
        padded_bar = np.moveaxis(out, 0, axis)
    return padded_bar


def convolved2d_left_bar(y_bar: Any, other: Any, own: Any, mode: Any, boundary: Any) -> Any:
    """The cotangent of ``in1`` for ``signal.convolve2d(in1, other)``."""
    if mode == "valid" or boundary == "fill":
        return convolved_bar(y_bar, other, own, True, mode)
    full = in_full(y_bar, np.shape(own), np.shape(other), mode, (0, 1))
    return unbordered(convolved_bar(full, other, bordered(own, other, boundary), True, "valid"), own, other, boundary)


def convolved2d_right_bar(y_bar: Any, other: Any, own: Any, mode: Any, boundary: Any) -> Any:
    """The cotangent of ``in2`` for ``signal.convolve2d(other, in2)``."""
    if mode == "valid" or boundary == "fill":
        return convolved_bar(y_bar, other, own, False, mode)
    full = in_full(y_bar, np.shape(other), np.shape(own), mode, (0, 1))
    return convolved_bar(full, bordered(other, own, boundary), own, False, "valid")


# ``correlate2d`` is the convolution of what is turned by half, turned back: its part "same" lies accordingly


def _turned_seed(y_bar: Any, n: Any, m: Any, mode: Any) -> Any:
    """``y_bar`` turned; where SciPy swaps the arrays, it takes the conjugate of the first one."""
    swapped = mode == "valid" and any(k > j for j, k in zip(n, m))
    return np.flip(np.conjugate(y_bar) if swapped else y_bar)


def correlated2d_left_bar(y_bar: Any, other: Any, own: Any, mode: Any, boundary: Any) -> Any:
    """The cotangent of ``in1`` for ``signal.correlate2d(in1, other)``."""
    seed = _turned_seed(y_bar, np.shape(own), np.shape(other), mode)
    return np.flip(convolved2d_left_bar(seed, np.conjugate(other), own, mode, boundary))


def correlated2d_right_bar(y_bar: Any, other: Any, own: Any, mode: Any, boundary: Any) -> Any:
    """The cotangent of ``in2`` for ``signal.correlate2d(other, in2)``."""
    seed = _turned_seed(y_bar, np.shape(other), np.shape(own), mode)
    return np.conjugate(convolved2d_right_bar(seed, np.flip(other), own, mode, boundary))
