"""Cotangents and tangents of reductions: mean, var, max, prod and their relatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, expand, is_zero, rounds, shape_only, zeros
from thunkad.runtime.complex import real_part
from thunkad.runtime.ducks import as_array
from thunkad.runtime.precision import float_type
from thunkad.tangents import ZERO


def not_nan(a: Any, where: Any = True) -> Any:
    """The ``where`` that leaves NaN entries out, too."""
    valid = np.equal(a, a)
    return valid if where is True else valid & where


@shape_only("a")
def count_reduced(a: Any, axis: Any = None, where: Any = True) -> Any:
    """How many entries a reduction combines: a number, or with ``where`` an array (reduced axes kept); at least 1."""
    shape = np.shape(a)
    if where is not True:
        return np.maximum(np.sum(np.broadcast_to(where, shape), axis=axis, keepdims=True, dtype=float_type(a)), 1)
    if axis is None:
        return math.prod(shape) or 1
    return math.prod(shape[k] for k in (axis if isinstance(axis, tuple) else (axis,))) or 1


@shape_only("a")
def mean_bar(y_bar: Any, a: Any, axis: Any = None, keepdims: Any = False, where: Any = True, dtype: Any = None) -> Any:
    """The cotangent of ``a`` for ``np.mean`` (zero for an empty mean)."""
    if where is True:
        return expand(y_bar / count_reduced(a, axis), a, axis, keepdims, True, dtype)
    return expand(y_bar, a, axis, keepdims, where, dtype) / count_reduced(a, axis, where)


def sum_dot(a_dot: Any, a: Any, axis: Any = None, keepdims: Any = False, where: Any = True, dtype: Any = None) -> Any:
    """The tangent of ``np.sum``; zero for a sum that rounds to integers."""
    if is_zero(a_dot):
        return ZERO
    chosen = {} if where is True else {"where": where}
    y_dot = np.sum(a_dot, axis=axis, keepdims=keepdims, **chosen)
    return y_dot if dtype is None or not rounds(a, dtype) else y_dot * 0


def mean_dot(a_dot: Any, a: Any, axis: Any = None, keepdims: Any = False, where: Any = True, dtype: Any = None) -> Any:
    """The tangent of ``np.mean``."""
    if where is True:
        return sum_dot(a_dot, a, axis, keepdims, where, dtype) / count_reduced(a, axis)
    return sum_dot(a_dot / count_reduced(a, axis, where), a, axis, keepdims, where, dtype)


def var_slope(a: Any, axis: Any, ddof: Any, where: Any) -> Any:
    """The derivative of the variance with respect to each entry (the complex gradient); zero without freedom."""
    if np.size(a) == 0:
        return np.zeros(np.shape(a), float_type(a))
    chosen = {} if where is True else {"where": where}
    centred = a - np.mean(a, axis=axis, keepdims=True, **chosen)
    if where is not True:
        centred = np.where(where, centred, 0)
    freedom = count_reduced(a, axis, where) - ddof
    if np.ndim(freedom):
        return centred * np.where(freedom > 0, 2 / np.where(freedom > 0, freedom, 1), 0)
    return centred * (2 / freedom if freedom > 0 else 0.0)


def var_bar(
    y_bar: Any, a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False, where: Any = True, dtype: Any = None
) -> Any:
    """The cotangent of ``a`` for ``np.var``."""
    if dtype is not None and rounds(a, dtype):
        return zeros(a)
    return expand(real_part(y_bar), a, axis, keepdims) * var_slope(a, axis, ddof, where)


def var_dot(
    a_dot: Any, a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False, where: Any = True, dtype: Any = None
) -> Any:
    """The tangent of ``np.var``."""
    if dtype is not None and rounds(a, dtype):
        return ZERO
    change = np.conjugate(var_slope(a, axis, ddof, where)) * a_dot
    return np.sum(np.real(change), axis=axis, keepdims=keepdims)


def std_slope(y: Any) -> Any:
    """The derivative of the square root of a variance whose root is ``y``; zero where there is no variance."""
    return 1 / np.where(y == 0, np.inf, 2 * y)[()]


def std_bar(
    y_bar: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    dtype: Any = None,
) -> Any:
    """The cotangent of ``a`` for ``y = np.std(a)``."""
    return var_bar(y_bar * std_slope(y), a, axis, ddof, keepdims, where, dtype)


def std_dot(
    a_dot: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    dtype: Any = None,
) -> Any:
    """The tangent of ``y = np.std(a)``."""
    return std_slope(y) * var_dot(a_dot, a, axis, ddof, keepdims, where, dtype)


def extreme_share(y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """Which entries of ``a`` are the extreme value ``y``: one divided by the number of ties, else zero.

    A NaN result belongs to the NaN entries.  An ``initial`` value that ties takes its part.
    """
    extreme = expand(y, a, axis, keepdims)
    hit = np.equal(a, extreme)
    if np.any(y != y):
        hit = hit | (np.not_equal(a, a) & np.not_equal(extreme, extreme))
    if where is not True:
        hit = hit & where
    share = hit.astype(float_type(a))
    ties = np.sum(share, axis=axis, keepdims=True)
    if initial is not np._NoValue:  # type: ignore[attr-defined]
        ties = ties + np.equal(expand(y, ties, axis, keepdims) if axis is not None and not keepdims else y, initial)
    return share / np.maximum(ties, 1)


def extreme_bar(
    y_bar: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,  # type: ignore[attr-defined]
    where: Any = True,
) -> Any:
    """The cotangent of ``a`` for ``y = np.max(a)`` or ``np.min(a)``: shared equally between ties."""
    return expand(y_bar, a, axis, keepdims) * extreme_share(y, a, axis, keepdims, initial, where)


def extreme_dot(
    a_dot: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,  # type: ignore[attr-defined]
    where: Any = True,
) -> Any:
    """The tangent of ``y = np.max(a)`` or ``np.min(a)``: the mean of the tangents of ties."""
    return np.sum(a_dot * extreme_share(y, a, axis, keepdims, initial, where), axis=axis, keepdims=keepdims)


def product_of_others(y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """For each entry of ``a`` the product of all the others, from ``y = np.prod(a)``, right with zeros among them."""
    factors = a if where is True else np.where(where, a, 1)
    zero = np.equal(factors, 0)
    if not np.any(zero):
        rest = expand(y, factors, axis, keepdims) / factors
    else:
        count = np.sum(zero, axis=axis, keepdims=True)
        nonzero = np.where(zero, 1, factors)
        product = np.prod(nonzero, axis=axis, keepdims=True, initial=initial)
        rest = np.where(count == 0, product / nonzero, np.where(zero & (count == 1), product, 0))
    return rest if where is True else np.where(where, rest, 0)


def prod_bar(
    y_bar: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
    dtype: Any = None,
) -> Any:
    """The cotangent of ``a`` for ``y = np.prod(a)``."""
    if dtype is not None and rounds(a, dtype):
        return zeros(a)
    return expand(y_bar, a, axis, keepdims) * conjugate(product_of_others(y, a, axis, keepdims, initial, where))


def prod_dot(
    a_dot: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    keepdims: Any = False,
    initial: Any = 1,
    where: Any = True,
    dtype: Any = None,
) -> Any:
    """The tangent of ``y = np.prod(a)``."""
    if dtype is not None and rounds(a, dtype):
        return ZERO
    return np.sum(a_dot * product_of_others(y, a, axis, keepdims, initial, where), axis=axis, keepdims=keepdims)


def range_bar(y_bar: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The cotangent of ``a`` for ``np.ptp``, the maximum less the minimum."""
    return expand(y_bar, a, axis, keepdims) * _range_share(a, axis)


def range_dot(a_dot: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """The tangent of ``np.ptp``."""
    return np.sum(a_dot * _range_share(a, axis), axis=axis, keepdims=keepdims)


def _range_share(a: Any, axis: Any) -> Any:
    none = np._NoValue  # type: ignore[attr-defined]
    top = extreme_share(np.max(a, axis=axis, keepdims=True), a, axis, True, none, True)
    return top - extreme_share(np.min(a, axis=axis, keepdims=True), a, axis, True, none, True)


def aligned_weights(weights: Any, a: Any, axis: Any) -> Any:
    """The weights of ``np.average``, with axes put in so that they broadcast against ``a``."""
    if weights is None:
        return np.ones((1,) * np.ndim(a), float_type(a))
    if np.shape(weights) == np.shape(a) or axis is None:
        return as_array(weights)
    axes = [k % np.ndim(a) for k in (axis if isinstance(axis, tuple) else (axis,))]
    ordered = np.transpose(np.asarray(weights), np.argsort(axes))
    return np.reshape(ordered, [np.shape(a)[k] if k in axes else 1 for k in range(np.ndim(a))])


def _normalised_weights(weights: Any, a: Any, axis: Any) -> Any:
    w = np.broadcast_to(aligned_weights(weights, a, axis), np.shape(a))
    return w / np.sum(w, axis=axis, keepdims=True)


def average_bar(y_bar: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of ``a`` for ``np.average``."""
    return expand(y_bar, a, axis, keepdims) * conjugate(_normalised_weights(weights, a, axis))


def _weight_slope(y: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    w = np.broadcast_to(aligned_weights(weights, a, axis), np.shape(a))
    return (a - expand(y, a, axis, keepdims)) / np.sum(w, axis=axis, keepdims=True)


def average_weights_bar(y_bar: Any, y: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of ``weights`` for ``y = np.average(a, axis, weights)``."""
    if weights is None:
        return ZERO
    full = expand(y_bar, a, axis, keepdims) * conjugate(_weight_slope(y, a, axis, weights, keepdims))
    if np.shape(weights) == np.shape(a) or axis is None:
        return full
    axes = [k % np.ndim(a) for k in (axis if isinstance(axis, tuple) else (axis,))]
    small = np.sum(full, axis=tuple(k for k in range(np.ndim(a)) if k not in axes))
    return np.transpose(small, np.argsort(np.argsort(axes)))


def average_dot(a_dot: Any, weights_dot: Any, y: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The tangent of ``y = np.average(a, axis, weights)``."""
    y_dot = ZERO
    if not is_zero(a_dot):
        y_dot = y_dot + np.sum(a_dot * _normalised_weights(weights, a, axis), axis=axis, keepdims=keepdims)
    if weights is not None and not is_zero(weights_dot):
        slope = _weight_slope(y, a, axis, weights, keepdims)
        y_dot = y_dot + np.sum(aligned_weights(weights_dot, a, axis) * slope, axis=axis, keepdims=keepdims)
    return y_dot
