"""Sorting, and what is defined by order: partition, unique, median and quantiles."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.sorting import (
    median_rank,
    partition_bar,
    partition_dot,
    percentile_rank,
    quantile_bar,
    quantile_dot,
    quantile_level_bar,
    quantile_level_dot,
    quantile_level_slope,
    quantile_rank,
    sort_bar,
    sort_dot,
    unique_bar,
    unique_dot,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(np.argsort, np.argpartition, np.lexsort)


@rrule(np.sort)
def _(a, axis=-1, kind=None, *, stable=None):
    y = np.sort(a, axis=axis, kind=kind, stable=stable)

    def pullback(y_bar):
        return thunk(lambda: sort_bar(y_bar, a, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.sort)
def _(a, axis=-1, kind=None, *, stable=None, a_dot):
    return np.sort(a, axis=axis, kind=kind, stable=stable), sort_dot(a_dot, a, axis)


@rrule(np.partition)
def _(a, kth, axis=-1, kind="introselect"):
    y = np.partition(a, kth, axis=axis, kind=kind)

    def pullback(y_bar):
        return thunk(lambda: partition_bar(y_bar, y, a, axis)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.partition)
def _(a, kth, axis=-1, kind="introselect", *, a_dot):
    y = np.partition(a, kth, axis=axis, kind=kind)
    return y, partition_dot(a_dot, y, a, axis)


@rrule(np.unique)
def _(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    y = np.unique(
        ar,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
    )

    def pullback(y_bar):
        return thunk(lambda: unique_bar(y_bar, ar, axis, equal_nan)), NoTangent(), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.unique)
def _(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, ar_dot):
    y = np.unique(
        ar,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
    )
    return y, unique_dot(ar_dot, y, ar, axis, equal_nan)


@rrule(np.median)
def _(a, axis=None, *, keepdims=False):
    y = np.median(a, axis=axis, keepdims=keepdims)

    def pullback(y_bar):
        return thunk(lambda: quantile_bar(y_bar, a, axis, median_rank)), NoTangent()

    return y, pullback


@frule(np.median)
def _(a, axis=None, *, keepdims=False, a_dot):
    y = np.median(a, axis=axis, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, median_rank)


@rrule(np.quantile)
def _(a, q, axis=None, *, method="linear", keepdims=False):
    y = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: quantile_bar(y_bar, a, axis, quantile_rank, q, method)),
            thunk(lambda: quantile_level_bar(y_bar, quantile_level_slope(y, a, q, axis, quantile_rank, method), q)),
            NoTangent(),
        )

    return y, pullback


@frule(np.quantile)
def _(a, q, axis=None, *, method="linear", keepdims=False, a_dot, q_dot):
    y = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, quantile_rank, q, method) + quantile_level_dot(
        q_dot, y, lambda: quantile_level_slope(y, a, q, axis, quantile_rank, method)
    )


@rrule(np.percentile)
def _(a, q, axis=None, *, method="linear", keepdims=False):
    y = np.percentile(a, q, axis=axis, method=method, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: quantile_bar(y_bar, a, axis, percentile_rank, q, method)),
            thunk(
                lambda: quantile_level_bar(
                    y_bar, quantile_level_slope(y, a, q, axis, percentile_rank, method, 100.0), q
                )
            ),
            NoTangent(),
        )

    return y, pullback


@frule(np.percentile)
def _(a, q, axis=None, *, method="linear", keepdims=False, a_dot, q_dot):
    y = np.percentile(a, q, axis=axis, method=method, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, percentile_rank, q, method) + quantile_level_dot(
        q_dot, y, lambda: quantile_level_slope(y, a, q, axis, percentile_rank, method, 100.0)
    )


@rrule(np.nanmedian)
def _(a, axis=None, *, keepdims=False):
    y = np.nanmedian(a, axis=axis, keepdims=keepdims)

    def pullback(y_bar):
        return thunk(lambda: quantile_bar(y_bar, a, axis, median_rank, skip_nan=True)), NoTangent()

    return y, pullback


@frule(np.nanmedian)
def _(a, axis=None, *, keepdims=False, a_dot):
    y = np.nanmedian(a, axis=axis, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, median_rank, skip_nan=True)


@rrule(np.nanquantile)
def _(a, q, axis=None, *, method="linear", keepdims=False):
    y = np.nanquantile(a, q, axis=axis, method=method, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: quantile_bar(y_bar, a, axis, quantile_rank, q, method, True)),
            thunk(
                lambda: quantile_level_bar(
                    y_bar, quantile_level_slope(y, a, q, axis, quantile_rank, method, 1.0, True), q
                )
            ),
            NoTangent(),
        )

    return y, pullback


@frule(np.nanquantile)
def _(a, q, axis=None, *, method="linear", keepdims=False, a_dot, q_dot):
    y = np.nanquantile(a, q, axis=axis, method=method, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, quantile_rank, q, method, True) + quantile_level_dot(
        q_dot, y, lambda: quantile_level_slope(y, a, q, axis, quantile_rank, method, 1.0, True)
    )


@rrule(np.nanpercentile)
def _(a, q, axis=None, *, method="linear", keepdims=False):
    y = np.nanpercentile(a, q, axis=axis, method=method, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: quantile_bar(y_bar, a, axis, percentile_rank, q, method, True)),
            thunk(
                lambda: quantile_level_bar(
                    y_bar, quantile_level_slope(y, a, q, axis, percentile_rank, method, 100.0, True), q
                )
            ),
            NoTangent(),
        )

    return y, pullback


@frule(np.nanpercentile)
def _(a, q, axis=None, *, method="linear", keepdims=False, a_dot, q_dot):
    y = np.nanpercentile(a, q, axis=axis, method=method, keepdims=keepdims)
    return y, quantile_dot(a_dot, y, a, axis, percentile_rank, q, method, True) + quantile_level_dot(
        q_dot, y, lambda: quantile_level_slope(y, a, q, axis, percentile_rank, method, 100.0, True)
    )
