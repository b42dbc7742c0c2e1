"""Derivatives of vector and matrix norms and of the condition number.

A norm is described by its gradient, an array of the shape of ``x``; the cotangent is that array scaled, the tangent its
inner product with the tangent of ``x``.  At zero the gradient is zero, at ties it is shared equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import is_zero, shape_only
from thunkad.runtime.complex import real_part
from thunkad.runtime.ducks import as_array
from thunkad.runtime.products import conjugate_transpose
from thunkad.tangents import NO_TANGENT, ZERO


def direction(x: Any) -> Any:
    """``x / |x|`` for each entry, zero where ``x`` is zero."""
    if np.iscomplexobj(x):
        size = np.abs(x)
        return x / np.where(size == 0, 1, size)
    return np.sign(x)


def _shared(chosen: Any, axis: Any) -> Any:
    """Equal weights for the chosen entries along ``axis``."""
    return chosen / np.maximum(np.sum(chosen, axis=axis, keepdims=True), 1)


def vector_norm_gradient(y: Any, x: Any, ord: Any, axis: Any) -> Any:
    """The gradient of the vector norm ``y`` of ``x`` along ``axis``; ``y`` has kept the reduced axes."""
    if ord is None or ord == 2:
        return x / np.where(y == 0, 1, y)
    if ord == 1:
        return direction(x)
    if ord == 0:
        return np.zeros_like(x)
    if ord == np.inf or ord == -np.inf:
        return direction(x) * _shared((np.abs(x) == y).astype(y.dtype), axis)
    ratio = np.abs(x) / np.where(y == 0, 1, y)
    still = (ratio == 0) | (
        y == 0
    )  # negative powers of zero: the entry gets nothing; where one made y zero, no entry does
    return direction(x) * np.where(still, 0, np.where(still, 1, ratio) ** (ord - 1))


def matrix_norm_gradient(y: Any, x: Any, ord: Any, axes: tuple[int, int]) -> Any:
    """The gradient of the matrix norm ``y`` of ``x``; ``y`` has kept the reduced axes."""
    if ord is None or ord == "fro" or ord == "f":
        return x / np.where(y == 0, 1, y)
    rows, columns = axes
    if ord in (1, -1, np.inf, -np.inf):
        along, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = np.sum(np.abs(x), axis=along, keepdims=True)
        return direction(x) * _shared((sums == y).astype(y.dtype), across)
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    largest = s[..., :1]
    close = np.finfo(s.dtype).eps * max(x.shape[rows], x.shape[columns]) * largest
    if ord == "nuc":
        weights = (s > close).astype(s.dtype)
    elif ord == 2:
        weights = _shared((s >= largest - close) & (largest > 0), -1).astype(s.dtype)
    else:
        weights = _shared((s <= s[..., -1:] + close) & (s > close), -1).astype(s.dtype)
    return np.moveaxis((u * weights[..., None, :]) @ vh, (-2, -1), axes)


@shape_only("x")
def _axes(x: Any, ord: Any, axis: Any) -> tuple[int, ...]:
    """The axes that ``np.linalg.norm`` reduces, as positive numbers."""
    ndim = np.ndim(x)
    if axis is None:
        return tuple(range(ndim))
    return tuple(k % ndim for k in (axis if isinstance(axis, (tuple, list)) else (axis,)))


def _kept(y: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return y if keepdims or not axes else np.expand_dims(y, axes)


def norm_gradient(y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The gradient of ``y = np.linalg.norm(x, ord, axis, keepdims)``."""
    axes = _axes(x, ord, axis)
    y = _kept(y, axes, keepdims)
    x = as_array(x)
    if (ord is None and axis is None) or len(axes) == 1:
        return vector_norm_gradient(y, x, ord, axes)
    return matrix_norm_gradient(y, x, ord, axes)  # type: ignore[arg-type]


def norm_bar(y_bar: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The cotangent of ``x`` in ``y = np.linalg.norm(x, ord, axis, keepdims)``."""
    y_bar = real_part(y_bar)
    if ord is None and axis is None and not keepdims:
        return as_array(x) * (y_bar / y if y else y_bar * 0)
    return _kept(y_bar, _axes(x, ord, axis), keepdims) * norm_gradient(y, x, ord, axis, keepdims)


def norm_dot(
    y: Any, x: Any, x_dot: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, ord_dot: Any = ZERO
) -> Any:
    """The tangent of ``y = np.linalg.norm(x, ord, axis, keepdims)``."""
    by_ord = ord_dot if is_zero(ord_dot) else ord_dot * _by_ord(y, x, ord, axis, keepdims)
    if is_zero(x_dot):
        return by_ord
    return _along(norm_gradient(y, x, ord, axis, keepdims), x_dot, _axes(x, ord, axis), keepdims) + by_ord


def _by_ord(y: Any, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The derivative of a vector norm by its (finite, non-zero) order; zero where the order is not a variable."""
    axes = _axes(x, ord, axis)
    if len(axes) != 1 or not isinstance(ord, (float, int, np.number)) or ord == 0 or not np.isfinite(ord):
        return np.zeros_like(y)
    size = np.abs(x)
    y_kept = _kept(y, axes, keepdims)
    ratio = size / np.where(y_kept == 0, 1, y_kept)
    logs = np.log(np.where(ratio == 0, 1, ratio))  # entries that are zero add nothing
    terms = np.where(ratio == 0, 0, np.where(ratio == 0, 1, ratio) ** ord * logs)
    return y * np.sum(terms, axis=axes, keepdims=keepdims) / ord


def norm_ord_bar(y_bar: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The cotangent of the order in ``y = np.linalg.norm(x, ord, axis, keepdims)``."""
    if not isinstance(ord, (float, np.floating)):
        return NO_TANGENT
    return np.sum(y_bar * _by_ord(y, x, ord, axis, keepdims))


def _along(gradient: Any, x_dot: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.sum(np.real(np.conjugate(gradient) * x_dot), axis=axes, keepdims=keepdims)


def vector_norm_bar(y_bar: Any, y: Any, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The cotangent of ``x`` in ``y = np.linalg.vector_norm(x, …)``, which takes all ``axis`` as one vector."""
    axes = _axes(x, ord, axis)
    return _kept(real_part(y_bar), axes, keepdims) * vector_norm_gradient(
        _kept(y, axes, keepdims), as_array(x), ord, axes
    )


def vector_norm_dot(y: Any, x: Any, x_dot: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The tangent of ``y = np.linalg.vector_norm(x, …)``."""
    axes = _axes(x, ord, axis)
    return _along(vector_norm_gradient(_kept(y, axes, keepdims), as_array(x), ord, axes), x_dot, axes, keepdims)


def _as_norms(y: Any) -> Any:
    return np.expand_dims(y, (-2, -1))


def cond_gradient(y: Any, x: Any, p: Any = None) -> Any:
    """The gradient of the condition number ``y = np.linalg.cond(x, p)``."""
    if p is None or p == 2 or p == -2:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        weights = np.zeros_like(s)
        weights[..., 0] = 1 / s[..., -1]
        weights[..., -1] -= s[..., 0] / s[..., -1] ** 2
        if p == -2:
            weights = -weights * _as_norms(y)[..., 0] ** 2
        return (u * weights[..., None, :]) @ vh
    inverse = np.linalg.inv(x)
    inner, outer = np.linalg.norm(x, p, axis=(-2, -1)), np.linalg.norm(inverse, p, axis=(-2, -1))
    adjoint = conjugate_transpose(inverse)
    through_inverse = adjoint @ norm_gradient(outer, inverse, p, (-2, -1)) @ adjoint
    return _as_norms(outer) * norm_gradient(inner, x, p, (-2, -1)) - _as_norms(inner) * through_inverse


def cond_bar(y_bar: Any, y: Any, x: Any, p: Any = None) -> Any:
    """The cotangent of ``x`` in ``y = np.linalg.cond(x, p)``."""
    return _as_norms(real_part(y_bar)) * cond_gradient(y, x, p)


def cond_dot(y: Any, x: Any, x_dot: Any, p: Any = None) -> Any:
    """The tangent of ``y = np.linalg.cond(x, p)``."""
    return _along(cond_gradient(y, x, p), x_dot, (-2, -1), False)
