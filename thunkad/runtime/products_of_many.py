"""Second derivatives of ``np.prod`` and ``np.cumprod``, right with zeros among the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, expand, is_zero, rounds
from thunkad.runtime.reductions import prod_bar, prod_dot
from thunkad.runtime.scans import cumprod_bar, cumprod_dot
from thunkad.tangents import ZERO


def _exclusive(t: Any, first: float) -> Any:
    """Shift a scan along the last axis by one, so that each entry has what comes before it."""
    return np.concatenate([np.full_like(t[..., :1], first), t[..., :-1]], axis=-1)


def others_dot(a_dot: Any, a: Any, axis: Any, initial: Any, where: Any) -> Any:
    """The tangent, for each entry of ``a``, of the product of all the others."""
    if where is not True:
        a, a_dot = np.where(where, a, 1), np.where(where, a_dot, 0)
    ndim = np.ndim(a)
    axes = list(range(ndim)) if axis is None else [k % ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
    order = [*(k for k in range(ndim) if k not in axes), *axes]
    moved = np.transpose(a, order)
    rows = np.reshape(moved, (*moved.shape[: ndim - len(axes)], -1))
    rows_dot = np.reshape(np.transpose(a_dot, order), rows.shape)

    def scan(x: Any, x_dot: Any) -> tuple[Any, Any]:
        y = np.cumprod(x, axis=-1)
        return _exclusive(y, 1), _exclusive(cumprod_dot(x_dot, y, x, -1), 0)

    if rows.size == 0:
        return np.zeros(np.shape(a))
    # the others are what lies to the left and what lies to the right: no division, so zeros do no harm
    left, left_dot = scan(rows, rows_dot)
    right, right_dot = (np.flip(t, -1) for t in scan(np.flip(rows, -1), np.flip(rows_dot, -1)))
    result = np.reshape(initial * (left_dot * right + left * right_dot), moved.shape)
    result = np.transpose(result, np.argsort(order))
    return result if where is True else np.where(where, result, 0)


def prod_bar_dot(
    dots: tuple[Any, Any], y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any, dtype: Any
) -> Any:
    """The tangent of ``prod_bar`` from those of ``y_bar`` and ``a`` (that of ``y`` follows from ``a``)."""
    y_bar_dot, a_dot = dots
    total = y_bar_dot if is_zero(y_bar_dot) else prod_bar(y_bar_dot, y, a, axis, keepdims, initial, where, dtype)
    if is_zero(a_dot) or (dtype is not None and rounds(a, dtype)):
        return total
    return total + expand(y_bar, a, axis, keepdims) * conjugate(others_dot(a_dot, a, axis, initial, where))


def prod_dot_dot(
    dots: tuple[Any, Any], step: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any, dtype: Any
) -> Any:
    """The tangent of ``prod_dot`` from those of its direction ``step`` and of ``a``."""
    step_dot, a_dot = dots
    total = step_dot if is_zero(step_dot) else prod_dot(step_dot, y, a, axis, keepdims, initial, where, dtype)
    if is_zero(a_dot) or (dtype is not None and rounds(a, dtype)):
        return total
    return total + np.sum(step * others_dot(a_dot, a, axis, initial, where), axis=axis, keepdims=keepdims)


def cumprod_bar_dot(dots: tuple[Any, Any], y_bar: Any, y: Any, a: Any, axis: Any, dtype: Any = None) -> Any:
    """The tangent of ``cumprod_bar`` from those of ``y_bar`` and ``a`` (that of ``y`` follows from ``a``)."""
    y_bar_dot, a_dot = dots
    total = y_bar_dot if is_zero(y_bar_dot) else cumprod_bar(y_bar_dot, y, a, axis, dtype)
    if is_zero(a_dot) or (dtype is not None and rounds(a, dtype)):
        return total
    if axis is None:
        along = cumprod_bar_dot((ZERO, np.ravel(a_dot)), y_bar, y, np.ravel(a), 0)
        return total + np.reshape(along, np.shape(a))
    a, a_dot, g = (np.moveaxis(t, axis, -1) for t in (conjugate(a), conjugate(a_dot), y_bar))
    y = np.cumprod(a, axis=-1)
    before, before_dot = _exclusive(y, 1), _exclusive(cumprod_dot(a_dot, y, a, -1), 0)
    # after[i] is the sum over k >= i of g[k] times the factors from i + 1 to k
    after, after_dot = np.zeros(np.shape(g), np.result_type(g, a)), np.zeros(np.shape(g), np.result_type(g, a, a_dot))
    for i in reversed(range(np.shape(a)[-1])):
        after[..., i] = g[..., i]
        if i + 1 < np.shape(a)[-1]:
            after[..., i] += a[..., i + 1] * after[..., i + 1]
            after_dot[..., i] = a_dot[..., i + 1] * after[..., i + 1] + a[..., i + 1] * after_dot[..., i + 1]
    return total + np.moveaxis(before_dot * after + before * after_dot, -1, axis)


def cumprod_dot_dot(dots: tuple[Any, Any], step: Any, y: Any, a: Any, axis: Any, dtype: Any = None) -> Any:
    """The tangent of ``cumprod_dot`` from those of its direction ``step`` and of ``a``."""
    step_dot, a_dot = dots
    total = step_dot if is_zero(step_dot) else cumprod_dot(step_dot, y, a, axis, dtype)
    if is_zero(a_dot) or (dtype is not None and rounds(a, dtype)):
        return total
    if axis is None:
        return total + cumprod_dot_dot((ZERO, np.ravel(a_dot)), np.ravel(step), y, np.ravel(a), 0)
    a, step, a_dot = (np.moveaxis(t, axis, -1) for t in (a, step, a_dot))
    dtype = np.result_type(a, step, a_dot, np.float32)
    one, none = np.ones(np.shape(a)[:-1], dtype), np.zeros(np.shape(a)[:-1], dtype)
    product, along_step, along_a, along_both = one, none, none, none
    out = np.zeros(np.shape(a), dtype)
    for i in range(np.shape(a)[-1]):
        x, x_step, x_a = a[..., i], step[..., i], a_dot[..., i]
        along_both = along_both * x + along_step * x_a + along_a * x_step
        along_step, along_a = along_step * x + product * x_step, along_a * x + product * x_a
        product = product * x
        out[..., i] = along_both
    return total + np.moveaxis(out, -1, axis)
