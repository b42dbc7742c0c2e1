"""Calls with keywords that the rules do without: written out in calls that have none of them.

Keywords that only say how the result lies in memory are followed, too, so that a result is what NumPy makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.rules.entry import ALTERNATIVE, RRULE
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.numpy.ufunc_methods import NOT_GIVEN, OF_UFUNCS, UFUNCS, kinds_of
from thunkad.runtime.joining import nested_bar, nested_dot
from thunkad.runtime.keyword_calls import (
    axes_of,
    converted,
    degrees_of_freedom,
    first_positions,
    laid_out,
    last_axes,
    unique_rest,
    weight_form,
    weighted_position,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(axes_of, degrees_of_freedom, first_positions, last_axes, unique_rest)
non_differentiable(weight_form, weighted_position)
linear(laid_out)


@rrule(converted)
def _(x, dtype, casting="same_kind"):
    y = converted(x, dtype, casting)

    def pullback(y_bar):
        return thunk(lambda: nested_bar(y_bar, x, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(converted)
def _(x, dtype, casting="same_kind", *, x_dot):
    y = converted(x, dtype, casting)
    return y, nested_dot(x_dot, x, y)


@rrule(laid_out)
def _(y, order):
    z = laid_out(y, order)

    def pullback(z_bar):
        return z_bar, NoTangent()

    return z, pullback


# Universal functions: the type that they compute in, the order of the result


def of_one(function: Any) -> None:
    @alternative(function, keywords=OF_UFUNCS)
    def call(x, *, dtype=None, order="K", subok=True, casting="same_kind"):
        return laid_out(function(converted(x, dtype, casting)), order)


def of_two(function: Any) -> None:
    @alternative(function, keywords=OF_UFUNCS)
    def call(x1, x2, *, dtype=None, order="K", subok=True, casting="same_kind"):
        return laid_out(function(converted(x1, dtype, casting), converted(x2, dtype, casting)), order)


@alternative(np.ldexp, keywords=OF_UFUNCS)
def ldexp(x1, x2, *, dtype=None, order="K", subok=True, casting="same_kind"):
    return laid_out(np.ldexp(converted(x1, dtype, casting), x2), order)


def of_matrices(function: Any) -> None:
    """A product of arrays along some axes, which ``axes=`` puts elsewhere."""

    @alternative(function, keywords=(*OF_UFUNCS, "axes", "axis", "keepdims"))
    def call(
        x1, x2, *, axes=None, axis=None, keepdims=False, dtype=None, order="K", subok=True, casting="same_kind"
    ):
        x1 = converted(x1, dtype, casting)
        x2 = converted(x2, dtype, casting)
        where = axes_of(function, axes, axis, np.ndim(x1), np.ndim(x2), keepdims)
        y = function(np.moveaxis(x1, where[0], last_axes(where[0])), np.moveaxis(x2, where[1], last_axes(where[1])))
        if keepdims:
            y = np.expand_dims(y, where[2])
        elif len(where[2]):
            y = np.moveaxis(y, last_axes(where[2]), where[2])
        return laid_out(y, order)


def define_ufuncs() -> None:
    """Go through the universal functions that have a rule; called once all their own are there."""
    for function in sorted(UFUNCS, key=lambda u: u.__name__):
        if not kinds_of(function) & {RRULE, ALTERNATIVE} or function is np.ldexp:
            continue
        if function.signature is not None:
            of_matrices(function)
        else:
            (of_one if function.nin == 1 else of_two)(function)


define_ufuncs()


# Statistics


def of_spread(variance: Any, root: Any, nan: bool) -> None:
    """The variance and the standard deviation about a given mean."""

    def about(a, axis, dtype, ddof, keepdims, where, mean):
        a = a if dtype is None else np.asarray(a).astype(dtype)
        off = a - mean
        if nan:
            where = np.logical_and(where, ~np.isnan(a))
        if where is not True:
            off = np.where(where, off, 0)
        squares = np.real(off * np.conjugate(off)) if np.iscomplexobj(off) else off * off
        return np.sum(squares, axis=axis, keepdims=keepdims) / degrees_of_freedom(a, axis, ddof, keepdims, where)

    @alternative(variance, keywords=("mean",))
    def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=0.0, correction=None):
        return about(a, axis, dtype, ddof if correction is None else correction, keepdims, where, mean)

    @alternative(root, keywords=("mean",))
    def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=0.0, correction=None):
        return root_of(about(a, axis, dtype, ddof if correction is None else correction, keepdims, where, mean))


def root_of(squares):
    """The square root, with slope zero at zero."""
    flat = np.equal(squares, 0)
    return np.where(flat, 0.0, np.sqrt(np.where(flat, 1.0, squares)))[()]


of_spread(np.var, np.std, False)
of_spread(np.nanvar, np.nanstd, True)


@alternative(np.average, keywords=("returned",))
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    mean = np.average(a, axis=axis, weights=weights, keepdims=keepdims)
    if not returned:
        return mean
    if weights is None:
        return mean, np.zeros_like(mean) + np.size(a) / np.size(mean)
    order, shape = weight_form(a, axis, weights)
    total = np.sum(np.reshape(np.transpose(weights, order), shape), axis=axis, keepdims=keepdims)
    return mean, total + np.zeros_like(mean)


def as_rows(m, rowvar, dtype, first):
    """The variables of ``np.cov`` as rows."""
    rows = np.atleast_2d(np.asarray(m).astype(dtype))
    turned = not rowvar and (np.ndim(m) != 1 if first else rows.shape[0] != 1)
    return rows.T if turned else rows


@alternative(np.cov, keywords=("fweights", "aweights", "dtype"))
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    dtype = (np.result_type(m, float) if y is None else np.result_type(m, y, float)) if dtype is None else dtype
    x = as_rows(m, rowvar, dtype, True)
    if y is not None:
        x = np.concatenate((x, as_rows(y, rowvar, dtype, False)), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None if fweights is None else np.asarray(fweights, float)
    if aweights is not None:
        w = np.asarray(aweights, float) if w is None else w * aweights
    x = x - np.average(x, axis=1, weights=w, keepdims=True)
    if w is None:
        scaled = x
        freedom = x.shape[1] - ddof
    else:
        scaled = x * w
        freedom = np.sum(w) - ddof * (1.0 if aweights is None else np.sum(w * aweights) / np.sum(w))
    return np.squeeze(np.dot(x, np.conjugate(scaled.T)) * (1.0 / freedom))


@alternative(np.corrcoef, keywords=("dtype",))
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    scale = np.sqrt(np.real(np.diag(c)))
    return c / scale[:, None] / scale[None, :]


def of_quantiles(function: Any) -> None:
    """Quantiles of weighted entries, each of which is one of the entries; what is overwritten need not be."""

    @alternative(function, keywords=("weights", "overwrite_input"))
    def call(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
        if weights is None:
            return function(a, q, axis=axis, method=method, keepdims=keepdims)
        return np.take(a, weighted_position(function, a, q, axis, method, keepdims, weights))


def of_median(function: Any) -> None:
    @alternative(function, keywords=("overwrite_input",))
    def call(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        return function(a, axis=axis, keepdims=keepdims)


for _function in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile):
    of_quantiles(_function)
of_median(np.median)
of_median(np.nanmedian)


# What says how arrays are made (there is one device), or in which order values are given


@alternative(np.arange, keywords=("device",))
def arange(start, stop=None, step=1, dtype=None, *, device=None):
    return np.arange(start, stop, step, dtype)


for _make in (np.asarray, np.asanyarray):

    @alternative(_make, keywords=("device",))
    def asarray(a, dtype=None, order=None, *, device=None, copy=None):
        return np.asarray(a, dtype, order, copy=copy)


@alternative(np.astype, keywords=("device",))
def astype(x, dtype, /, *, copy=True, device=None):
    return np.astype(x, dtype, copy=copy)


@alternative(np.full, keywords=("device",))
def full(shape, fill_value, dtype=None, order="C", *, device=None):
    return np.full(shape, fill_value, dtype, order)


@alternative(np.full_like, keywords=("device",))
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return np.full_like(a, fill_value, dtype, order, subok, shape)


@alternative(np.fft.fftfreq, keywords=("device",))
def fftfreq(n, d=1.0, device=None):
    return np.fft.fftfreq(n, d)


@alternative(np.fft.rfftfreq, keywords=("device",))
def rfftfreq(n, d=1.0, device=None):
    return np.fft.rfftfreq(n, d)


@alternative(np.linspace, keywords=("retstep", "device"))
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    samples = np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)
    if not retstep:
        return samples
    steps = num - 1 if endpoint else num
    return samples, ((stop - start) * 1.0) / (steps if steps > 0 else np.nan)


@alternative(np.array, keywords=("ndmax",))
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, ndmax=0, like=None):
    return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)


@alternative(np.broadcast_arrays, keywords=("subok",))
def broadcast_arrays(*args, subok=False):
    return np.broadcast_arrays(*args)


@alternative(np.sort, keywords=("order",))
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    return np.sort(a, axis=axis, kind=kind, stable=stable)


@alternative(np.partition, keywords=("order",))
def partition(a, kth, axis=-1, kind="introselect", order=None):
    return np.partition(a, kth, axis=axis, kind=kind)


@alternative(np.unique, keywords=("sorted",))
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    if sorted or axis is not None:
        return np.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    values = np.ravel(ar)[first_positions(ar, sorted, equal_nan)]
    rest = unique_rest(ar, (return_index, return_inverse, return_counts), equal_nan, sorted)
    return (values, *rest) if rest else values


@alternative(np.nan_to_num, keywords=("copy",))
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    refuse_in_place(copy)
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def refuse_in_place(copy):
    if not copy:
        raise UnsupportedSyntaxError("np.nan_to_num with copy=False is not differentiated", hint="write x[...] = np.nan_to_num(x)")


non_differentiable(refuse_in_place)


@alternative(np.clip, keywords=OF_UFUNCS)
def clip(a, a_min=None, a_max=None, *, dtype=None, order="K", subok=True, casting="same_kind"):
    low = None if a_min is None else converted(a_min, dtype, casting)
    high = None if a_max is None else converted(a_max, dtype, casting)
    return laid_out(np.clip(converted(a, dtype, casting), low, high), order)


@alternative(np.ndarray.reshape, keywords=("copy",))
def reshape(a, *shape, order="C", copy=None):
    return np.reshape(a, shape if len(shape) > 1 else shape[0], order, copy=copy)


for _extreme in (np.maximum, np.minimum):

    @alternative(_extreme.reduce, keywords=("dtype",))
    def reduce(array, axis=0, dtype=None, *, function=_extreme, keepdims=False, initial=NOT_GIVEN, where=True):
        array = converted(array, dtype, "unsafe")
        return function.reduce(array, axis, keepdims=keepdims, initial=initial, where=where)
