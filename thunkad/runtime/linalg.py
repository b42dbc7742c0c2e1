"""Derivatives of solving, inverting and determinants, of real or complex matrices with leading batch axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import is_zero, shape_only, unbroadcast
from thunkad.runtime.complex import real_part
from thunkad.runtime.products import conjugate_transpose


def real_if(x_bar: Any, x: Any) -> Any:
    """``x_bar`` for an operand ``x``: its real part if ``x`` is real."""
    return x_bar.real if np.iscomplexobj(x_bar) and not np.iscomplexobj(x) else x_bar


def hermitian_part(a: Any) -> Any:
    """``(a + aᴴ) / 2``."""
    return (a + conjugate_transpose(a)) / 2


def inverse_bar(y_bar: Any, y: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.inv(a)``."""
    y = conjugate_transpose(y)
    return -(y @ y_bar @ y)


# ---------------------------------------------------------------- solve


@shape_only("b")
def solve_adjoint(y_bar: Any, a: Any, b: Any) -> Any:
    """``a⁻ᴴ y_bar``: the cotangent of ``b`` in ``y = np.linalg.solve(a, b)``, before broadcasting is undone."""
    a = conjugate_transpose(a)
    if np.ndim(b) == 1:
        return np.linalg.solve(a, y_bar[..., None])[..., 0]
    return np.linalg.solve(a, y_bar)


@shape_only("a", "b")
def solve_left_bar(rhs_bar: Any, y: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.solve(a, b)``, given that of the right-hand side."""
    if np.ndim(b) == 1:
        return unbroadcast(-rhs_bar[..., :, None] * np.conjugate(y)[..., None, :], a)
    return unbroadcast(-(rhs_bar @ conjugate_transpose(y)), a)


def solve_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any) -> Any:
    """The tangent of ``y = np.linalg.solve(a, b)``."""
    if np.ndim(b) == 1:
        right = b_dot if is_zero(b_dot) else b_dot[..., None]
        right = right if is_zero(a_dot) else right - a_dot @ y[..., None]
        return np.linalg.solve(a, right)[..., 0]
    right = b_dot if is_zero(a_dot) else b_dot - a_dot @ y
    return np.linalg.solve(a, right)


# ---------------------------------------------------------------- determinants


def cofactors(a: Any, det: Any) -> Any:
    """The derivative of the determinant by each entry: ``det · a⁻ᵀ``, and its limit where ``a`` is singular."""
    if np.all(det) and np.all(np.isfinite(det)):
        return np.swapaxes(np.linalg.inv(a), -1, -2) * np.asarray(det)[..., None, None]
    u, s, vh, phase = _signed_svd(a)
    return phase * np.conjugate((u * _products_without(s)[..., None, :]) @ vh)


def cofactors_dot(a: Any, det: Any, a_dot: Any) -> Any:
    """The tangent of :func:`cofactors`; from second minors where ``a`` is singular."""
    if np.all(det) and np.all(np.isfinite(det)):
        first = np.swapaxes(np.linalg.inv(a), -1, -2)
        change = (
            np.sum(first * a_dot, axis=(-2, -1))[..., None, None] * first - first @ np.swapaxes(a_dot, -1, -2) @ first
        )
        return np.asarray(det)[..., None, None] * change
    u, s, vh, phase = _signed_svd(a)
    inner = conjugate_transpose(u) @ a_dot @ conjugate_transpose(vh)
    size = s.shape[-1]
    kept = ~(np.eye(size, dtype=bool)[:, None, :] | np.eye(size, dtype=bool)[None, :, :])
    minors = np.prod(np.where(kept, s[..., None, None, :], 1), axis=-1) * ~np.eye(size, dtype=bool)
    diagonal = (minors @ np.diagonal(inner, axis1=-2, axis2=-1)[..., None])[..., 0]
    change = diagonal[..., None, :] * np.eye(size) - minors * inner
    # change is the tangent of the adjugate in the basis of singular vectors; cofactors are the adjugate transposed
    return phase * np.swapaxes(conjugate_transpose(vh) @ change @ conjugate_transpose(u), -1, -2)


def _signed_svd(a: Any) -> tuple[Any, Any, Any, Any]:
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _products_without(s: Any) -> Any:
    """For each entry the product of all others, along the last axis, without division."""
    one = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([one, s[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before * after


def det_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.det(a)``."""
    return np.asarray(y_bar)[..., None, None] * np.conjugate(cofactors(np.asarray(a), y))


def det_dot(y: Any, a: Any, a_dot: Any) -> Any:
    """The tangent of ``y = np.linalg.det(a)``."""
    return np.sum(cofactors(a, y) * a_dot, axis=(-2, -1))


def slogdet_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.slogdet(a)``; the sign contributes for complex matrices only."""
    sign_bar, log_bar = y_bar[0], real_part(y_bar[1])
    weight = np.zeros_like(y[1]) if is_zero(log_bar) else log_bar
    if not is_zero(sign_bar) and np.iscomplexobj(a):
        weight = weight + 1j * np.imag(sign_bar * np.conjugate(y[0]))
    return np.asarray(weight)[..., None, None] * conjugate_transpose(np.linalg.inv(a))


def slogdet_dot(y: Any, a: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of the sign and of the logarithm."""
    change = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    return y[0] * 1j * np.imag(change) if np.iscomplexobj(a) else np.zeros_like(y[0])[()], np.real(change)


# ---------------------------------------------------------------- pseudo-inverse and least squares


def pinv_bar(y_bar: Any, y: Any, a: Any, hermitian: bool = False) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.pinv(a)``; ``a`` is taken to keep its rank."""
    y_adj = conjugate_transpose(y)
    bar_adj = conjugate_transpose(y_bar)
    left = bar_adj @ (y @ y_adj)
    right = (y_adj @ y) @ bar_adj
    a_bar = -(y_adj @ y_bar @ y_adj) + (left - a @ (y @ left)) + (right - (right @ y) @ a)
    return hermitian_part(a_bar) if hermitian else a_bar


def pinv_dot(y: Any, a: Any, a_dot: Any, hermitian: bool = False) -> Any:
    """The tangent of ``y = np.linalg.pinv(a)``."""
    if hermitian:
        a_dot = hermitian_part(a_dot)
    y_adj, dot_adj = conjugate_transpose(y), conjugate_transpose(a_dot)
    left = y @ y_adj @ dot_adj
    right = dot_adj @ y_adj @ y
    return -(y @ a_dot @ y) + (left - (left @ a) @ y) + (right - y @ (a @ right))


def _lstsq_inverse(a: Any, rcond: Any) -> Any:
    """The pseudo-inverse that ``np.linalg.lstsq`` applies: NumPy's default cutoffs of the two differ."""
    eps = np.finfo(np.result_type(a, np.float32)).eps
    if rcond is None:
        rcond = eps * max(a.shape)
    return np.linalg.pinv(a, rcond if rcond >= 0 else eps)


def lstsq_bars(y_bar: Any, y: Any, a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``b`` in ``y = np.linalg.lstsq(a, b, rcond)``."""
    x_bar, residual_bar, s_bar = y_bar[0], real_part(y_bar[1]), real_part(y_bar[3])
    a, b = np.asarray(a), np.asarray(b)
    columns = b[:, None] if b.ndim == 1 else b
    x = np.reshape(y[0], (a.shape[1], columns.shape[1]))
    a_bar: Any = 0.0
    b_bar: Any = np.zeros(columns.shape, np.result_type(a, b, np.float32))
    if not is_zero(x_bar):
        inverse = _lstsq_inverse(a, rcond)
        x_bar = np.reshape(x_bar, x.shape)
        b_bar = conjugate_transpose(inverse) @ x_bar
        a_bar = pinv_bar(x_bar @ conjugate_transpose(columns), inverse, a)
    if not is_zero(residual_bar) and np.size(residual_bar):
        weighted = 2 * (columns - a @ x) * residual_bar
        b_bar = b_bar + weighted
        a_bar = a_bar - weighted @ conjugate_transpose(x)
    if not is_zero(s_bar):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        a_bar = a_bar + (u * s_bar) @ vh
    return a_bar + np.zeros_like(a), np.reshape(b_bar, b.shape)


def lstsq_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """The tangents of the four results of ``y = np.linalg.lstsq(a, b, rcond)``."""
    a, b = np.asarray(a), np.asarray(b)
    a_dot = np.zeros_like(a) if is_zero(a_dot) else a_dot
    b_dot = np.zeros_like(b) if is_zero(b_dot) else b_dot
    inverse = _lstsq_inverse(a, rcond)
    x, residuals, rank, _ = y
    x_dot = inverse @ b_dot + pinv_dot(inverse, a, a_dot) @ b
    residuals_dot = np.zeros_like(residuals)
    if residuals.size:
        misfit = b - a @ x
        residuals_dot = np.reshape(
            2 * np.sum(np.real(np.conjugate(misfit) * (b_dot - a_dot @ x)), axis=0), residuals.shape
        )
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    s_dot = np.real(np.diagonal(conjugate_transpose(u) @ a_dot @ conjugate_transpose(vh)))
    return x_dot, residuals_dot, np.zeros_like(rank), s_dot


# ---------------------------------------------------------------- tensors as matrices


def tensorinv_bar(y_bar: Any, y: Any, ind: int) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.tensorinv(a, ind)``."""
    split = np.ndim(y) - ind
    shape = np.shape(y)
    rows = int(np.prod(shape[:split]))
    inverse = conjugate_transpose(np.reshape(y, (rows, -1)))
    return np.reshape(-(inverse @ np.reshape(y_bar, (rows, -1)) @ inverse), shape[split:] + shape[:split])


def tensorinv_dot(y: Any, a_dot: Any, ind: int) -> Any:
    """The tangent of ``y = np.linalg.tensorinv(a, ind)``."""
    split = np.ndim(y) - ind
    rows = int(np.prod(np.shape(y)[:split]))
    inverse = np.reshape(y, (rows, -1))
    return np.reshape(-(inverse @ np.reshape(a_dot, inverse.shape[::-1]) @ inverse), np.shape(y))


@shape_only("a")
def _unknowns_last(a: Any, axes: Any) -> list[int]:
    """The order of the axes of ``a`` in which ``np.linalg.tensorsolve`` sees it as a matrix."""
    order = list(range(np.ndim(a)))
    for k in axes or ():
        order.remove(k % len(order))
        order.append(k % (len(order) + 1))
    return order


def tensorsolve_right_bar(y_bar: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """The cotangent of ``b`` in ``y = np.linalg.tensorsolve(a, b, axes)``."""
    matrix = np.reshape(np.transpose(a, _unknowns_last(a, axes)), (np.size(b), np.size(b)))
    return np.reshape(np.linalg.solve(conjugate_transpose(matrix), np.ravel(y_bar)), np.shape(b))


@shape_only("a")
def tensorsolve_left_bar(b_bar: Any, y: Any, a: Any, axes: Any = None) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.tensorsolve(a, b, axes)``, given that of ``b``."""
    order = _unknowns_last(a, axes)
    return np.transpose(-np.multiply.outer(b_bar, np.conjugate(y)), np.argsort(order))


def tensorsolve_dot(y: Any, a: Any, a_dot: Any, b_dot: Any, axes: Any = None) -> Any:
    """The tangent of ``y = np.linalg.tensorsolve(a, b, axes)``."""
    right = b_dot
    if not is_zero(a_dot):
        moved = np.transpose(a_dot, _unknowns_last(a, axes))
        right = b_dot - np.tensordot(moved, y, axes=np.ndim(y))
    return np.linalg.tensorsolve(a, right, axes=axes)
