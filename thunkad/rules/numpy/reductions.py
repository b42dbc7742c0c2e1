"""Reductions: sum, mean, var, std, prod, max, min, ptp and their NaN-ignoring forms.

``out`` is not supported, so the parameters that NumPy has after it are keyword-only here: given by position they would
bind to the wrong one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.arrays import expand
from thunkad.runtime.covariance import corrcoef_bars, corrcoef_dot, cov_bars, cov_dot
from thunkad.runtime.reductions import (
    average_bar,
    average_dot,
    average_weights_bar,
    extreme_bar,
    extreme_dot,
    mean_bar,
    mean_dot,
    not_nan,
    prod_bar,
    prod_dot,
    range_bar,
    range_dot,
    std_bar,
    std_dot,
    sum_dot,
    var_bar,
    var_dot,
)
from thunkad.tangents import NoTangent, thunk

NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]

non_differentiable(np.all, np.any, np.count_nonzero, np.argmax, np.argmin, np.nanargmax, np.nanargmin)


@rrule(np.sum)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    y = np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: expand(y_bar, a, axis, keepdims, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.sum)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True, a_dot):
    y = np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, sum_dot(a_dot, a, axis, keepdims, where, dtype)


@rrule(np.nansum)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    y = np.nansum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: expand(y_bar, a, axis, keepdims, not_nan(a, where), dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.nansum)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True, a_dot):
    y = np.nansum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, sum_dot(a_dot, a, axis, keepdims, not_nan(a, where), dtype)


@rrule(np.mean)
def _(a, axis=None, dtype=None, *, keepdims=False, where=True):
    y = np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return thunk(lambda: mean_bar(y_bar, a, axis, keepdims, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.mean)
def _(a, axis=None, dtype=None, *, keepdims=False, where=True, a_dot):
    y = np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return y, mean_dot(a_dot, a, axis, keepdims, where, dtype)


@rrule(np.nanmean)
def _(a, axis=None, dtype=None, *, keepdims=False, where=True):
    y = np.nanmean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return thunk(lambda: mean_bar(y_bar, a, axis, keepdims, not_nan(a, where), dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.nanmean)
def _(a, axis=None, dtype=None, *, keepdims=False, where=True, a_dot):
    y = np.nanmean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return y, mean_dot(a_dot, a, axis, keepdims, not_nan(a, where), dtype)


@rrule(np.var)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    y = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return thunk(lambda: var_bar(y_bar, a, axis, ddof, keepdims, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.var)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, a_dot):
    y = np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return y, var_dot(a_dot, a, axis, ddof, keepdims, where, dtype)


@rrule(np.std)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    y = np.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return thunk(lambda: std_bar(y_bar, y, a, axis, ddof, keepdims, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.std)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, a_dot):
    y = np.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return y, std_dot(a_dot, y, a, axis, ddof, keepdims, where, dtype)


@rrule(np.nanvar)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    y = np.nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return (
            thunk(lambda: var_bar(y_bar, a, axis, ddof, keepdims, not_nan(a, where), dtype)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.nanvar)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, a_dot):
    y = np.nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return y, var_dot(a_dot, a, axis, ddof, keepdims, not_nan(a, where), dtype)


@rrule(np.nanstd)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True):
    y = np.nanstd(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)

    def pullback(y_bar):
        return (
            thunk(lambda: std_bar(y_bar, y, a, axis, ddof, keepdims, not_nan(a, where), dtype)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.nanstd)
def _(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, a_dot):
    y = np.nanstd(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return y, std_dot(a_dot, y, a, axis, ddof, keepdims, not_nan(a, where), dtype)


@rrule(np.prod)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True):
    y = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: prod_bar(y_bar, y, a, axis, keepdims, initial, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.prod)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True, a_dot):
    y = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, prod_dot(a_dot, y, a, axis, keepdims, initial, where, dtype)


@rrule(np.nanprod)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True):
    y = np.nanprod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return (
            thunk(lambda: prod_bar(y_bar, y, a, axis, keepdims, initial, not_nan(a, where), dtype)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.nanprod)
def _(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True, a_dot):
    y = np.nanprod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, prod_dot(a_dot, y, a, axis, keepdims, initial, not_nan(a, where), dtype)


@rrule(np.max)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.max(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, a, axis, keepdims, initial, where)), NoTangent()

    return y, pullback


@frule(np.max)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True, a_dot):
    y = np.max(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(a_dot, y, a, axis, keepdims, initial, where)


@rrule(np.min)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.min(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, a, axis, keepdims, initial, where)), NoTangent()

    return y, pullback


@frule(np.min)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True, a_dot):
    y = np.min(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(a_dot, y, a, axis, keepdims, initial, where)


@rrule(np.nanmax)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.nanmax(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, a, axis, keepdims, initial, not_nan(a, where))), NoTangent()

    return y, pullback


@frule(np.nanmax)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True, a_dot):
    y = np.nanmax(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(a_dot, y, a, axis, keepdims, initial, not_nan(a, where))


@rrule(np.nanmin)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.nanmin(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, a, axis, keepdims, initial, not_nan(a, where))), NoTangent()

    return y, pullback


@frule(np.nanmin)
def _(a, axis=None, *, keepdims=False, initial=NOT_GIVEN, where=True, a_dot):
    y = np.nanmin(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(a_dot, y, a, axis, keepdims, initial, not_nan(a, where))


@rrule(np.ptp)
def _(a, axis=None, *, keepdims=False):
    y = np.ptp(a, axis=axis, keepdims=keepdims)

    def pullback(y_bar):
        return thunk(lambda: range_bar(y_bar, a, axis, keepdims)), NoTangent()

    return y, pullback


@frule(np.ptp)
def _(a, axis=None, *, keepdims=False, a_dot):
    return np.ptp(a, axis=axis, keepdims=keepdims), range_dot(a_dot, a, axis, keepdims)


@rrule(np.add.reduce)
def _(array, axis=0, dtype=None, *, keepdims=False, initial=0, where=True):
    y = np.add.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: expand(y_bar, array, axis, keepdims, where, dtype)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.add.reduce)
def _(array, axis=0, dtype=None, *, keepdims=False, initial=0, where=True, array_dot):
    y = np.add.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, sum_dot(array_dot, array, axis, keepdims, where, dtype)


@rrule(np.average)
def _(a, axis=None, weights=None, *, keepdims=False):
    y = np.average(a, axis=axis, weights=weights, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: average_bar(y_bar, a, axis, weights, keepdims)),
            NoTangent(),
            thunk(lambda: average_weights_bar(y_bar, y, a, axis, weights, keepdims)),
        )

    return y, pullback


@frule(np.average)
def _(a, axis=None, weights=None, *, keepdims=False, a_dot, weights_dot):
    y = np.average(a, axis=axis, weights=weights, keepdims=keepdims)
    return y, average_dot(a_dot, weights_dot, y, a, axis, weights, keepdims)


@rrule(np.cov)
def _(m, y=None, rowvar=True, bias=False, ddof=None):
    c = np.cov(m, y=y, rowvar=rowvar, bias=bias, ddof=ddof)

    def pullback(c_bar):
        bars = cov_bars(c_bar, m, y, rowvar, bias, ddof)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent(), NoTangent(), NoTangent()

    return c, pullback


@frule(np.cov)
def _(m, y=None, rowvar=True, bias=False, ddof=None, *, m_dot, y_dot):
    c = np.cov(m, y=y, rowvar=rowvar, bias=bias, ddof=ddof)
    return c, cov_dot(m_dot, y_dot, m, y, rowvar, bias, ddof)


@rrule(np.corrcoef)
def _(x, y=None, rowvar=True):
    r = np.corrcoef(x, y=y, rowvar=rowvar)

    def pullback(r_bar):
        bars = corrcoef_bars(r_bar, x, y, rowvar)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent()

    return r, pullback


@frule(np.corrcoef)
def _(x, y=None, rowvar=True, *, x_dot, y_dot):
    return np.corrcoef(x, y=y, rowvar=rowvar), corrcoef_dot(x_dot, y_dot, x, y, rowvar)


@rrule(np.multiply.reduce)
def _(array, axis=0, dtype=None, *, keepdims=False, initial=1, where=True):
    y = np.multiply.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return (
            thunk(lambda: prod_bar(y_bar, y, array, axis, keepdims, initial, where, dtype)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.multiply.reduce)
def _(array, axis=0, dtype=None, *, keepdims=False, initial=1, where=True, array_dot):
    y = np.multiply.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    return y, prod_dot(array_dot, y, array, axis, keepdims, initial, where, dtype)


@rrule(np.maximum.reduce)
def _(array, axis=0, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.maximum.reduce(array, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, array, axis, keepdims, initial, where)), NoTangent()

    return y, pullback


@frule(np.maximum.reduce)
def _(array, axis=0, *, keepdims=False, initial=NOT_GIVEN, where=True, array_dot):
    y = np.maximum.reduce(array, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(array_dot, y, array, axis, keepdims, initial, where)


@rrule(np.minimum.reduce)
def _(array, axis=0, *, keepdims=False, initial=NOT_GIVEN, where=True):
    y = np.minimum.reduce(array, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def pullback(y_bar):
        return thunk(lambda: extreme_bar(y_bar, y, array, axis, keepdims, initial, where)), NoTangent()

    return y, pullback


@frule(np.minimum.reduce)
def _(array, axis=0, *, keepdims=False, initial=NOT_GIVEN, where=True, array_dot):
    y = np.minimum.reduce(array, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return y, extreme_dot(array_dot, y, array, axis, keepdims, initial, where)
