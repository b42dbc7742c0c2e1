"""Cotangents and tangents of the decompositions of ``scipy.linalg`` that NumPy has not, or has in another form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.decompositions import inverse_gaps, qr_bar, qr_dot
from thunkad.runtime.linalg import hermitian_part, real_if
from thunkad.runtime.products import conjugate_transpose
from thunkad.tangents import ZERO


def _diagonal(a: Any) -> Any:
    return np.diagonal(a, axis1=-2, axis2=-1)


def _as_diagonal(d: Any) -> Any:
    return d[..., None] * np.eye(d.shape[-1], dtype=d.dtype)


# Hermitian eigenvalues, of one matrix or of a pair


def _check_pair(b: Any, type: Any) -> None:
    if b is not None and type != 1:
        raise NotImplementedDerivativeError("scipy.linalg.eigh of two matrices is differentiated with type=1 only")


def _vectors(y: Any, a: Any, b: Any, lower: Any) -> Any:
    """Eigenvectors for the eigenvalues ``y``, which may be some of all."""
    w, v = linalg.eigh(a, b, lower=lower)
    if np.shape(y)[-1] == np.shape(w)[-1]:
        return v
    if np.ndim(w) > 1:
        raise NotImplementedDerivativeError("some of the eigenvalues of a stack of matrices have no derivative rule")
    return v[:, [int(np.argmin(np.abs(w - value))) for value in y]]


def eigvals_of_pair_bars(y_bar: Any, y: Any, a: Any, b: Any, lower: Any, type: Any) -> tuple[Any, Any]:
    """The (symmetric) cotangents of ``a`` and ``b`` for the eigenvalues ``y`` of ``a v = y b v``."""
    _check_pair(b, type)
    if is_zero(y_bar):
        return ZERO, ZERO
    y_bar = np.real(y_bar)
    v = _vectors(y, a, b, lower)
    adjoint = conjugate_transpose(v)
    a_bar = hermitian_part((v * y_bar[..., None, :]) @ adjoint)
    return a_bar, ZERO if b is None else -hermitian_part((v * (y_bar * y)[..., None, :]) @ adjoint)


def eigvals_of_pair_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any, lower: Any, type: Any) -> Any:
    """The tangent of the eigenvalues ``y`` of ``a v = y b v``."""
    _check_pair(b, type)
    v = _vectors(y, a, b, lower)
    total: Any = ZERO
    for change, scale in ((a_dot, 1.0), (b_dot, -y)):
        if not is_zero(change):
            total = total + scale * np.real(_diagonal(conjugate_transpose(v) @ hermitian_part(change) @ v))
    return total


def _whole(v: Any) -> None:
    if np.shape(v)[-1] != np.shape(v)[-2]:
        raise NotImplementedDerivativeError("the eigenvectors of some of the eigenvalues have no derivative rule")


def eigh_of_pair_bars(
    y_bar: Any, y: Any, a: Any, b: Any, lower: Any, eigvals_only: Any, type: Any
) -> tuple[Any, Any]:
    """The (symmetric) cotangents of ``a`` and ``b`` for ``y = linalg.eigh(a, b)``."""
    if eigvals_only:
        return eigvals_of_pair_bars(y_bar, y, a, b, lower, type)
    _check_pair(b, type)
    w, v = y
    w_bar, v_bar = y_bar
    adjoint = conjugate_transpose(v)
    inner: Any = 0.0
    turned: Any = 0.0
    if not is_zero(v_bar):
        _whole(v)
        overlap = adjoint @ v_bar
        inner = inverse_gaps(w, np.abs(w)) * overlap
        turned = _as_diagonal(np.real(_diagonal(overlap))) / 2
    if not is_zero(w_bar):
        inner = inner + _as_diagonal(np.real(w_bar))
    a_bar = hermitian_part(v @ inner @ adjoint)
    return a_bar, ZERO if b is None else -hermitian_part(v @ (inner * w[..., None, :] + turned) @ adjoint)


def eigh_of_pair_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any, lower: Any, eigvals_only: Any, type: Any) -> Any:
    """The tangent of ``y = linalg.eigh(a, b)``."""
    if eigvals_only:
        return eigvals_of_pair_dot(y, a, b, a_dot, b_dot, lower, type)
    _check_pair(b, type)
    w, v = y
    _whole(v)
    adjoint = conjugate_transpose(v)
    moved: Any = 0.0
    turned: Any = 0.0
    if not is_zero(a_dot):
        moved = moved + adjoint @ hermitian_part(a_dot) @ v
    if not is_zero(b_dot):
        change = adjoint @ hermitian_part(b_dot) @ v
        moved = moved - change * w[..., None, :]
        turned = _as_diagonal(_diagonal(change)) / 2
    return np.real(_diagonal(moved)), v @ (inverse_gaps(w, np.abs(w)) * moved - turned)


def only_matrix(a: Any, b: Any, left: Any, right: Any) -> Any:
    """``a``, or an error where ``linalg.eig`` is called for more than one matrix and its right eigenvectors."""
    if b is not None or left or not right:
        raise NotImplementedDerivativeError(
            "scipy.linalg.eig is differentiated for one matrix and its right eigenvectors; use eigvals for the eigenvalues"
        )
    return a


# QR


_MODES = {"full": "complete", "economic": "reduced", "r": "r", "raw": "raw"}


def _ordered(a: Any, y: Any, pivoting: Any) -> Any:
    return np.take(a, y[-1], axis=-1) if pivoting else np.asarray(a)


def pivoted_qr_bar(y_bar: Any, y: Any, a: Any, mode: Any, pivoting: Any) -> Any:
    """The cotangent of ``a`` for ``y = linalg.qr(a)``."""
    own = _ordered(a, y, pivoting)
    if mode == "r":
        if is_zero(y_bar[0]):
            return ZERO
        ordered_bar = qr_bar(y_bar[0][..., : min(own.shape[-2:]), :], None, own, "r")
    else:
        ordered_bar = qr_bar(y_bar[:2], y[:2], own, _MODES[mode])
    if not pivoting:
        return ordered_bar
    return np.take(ordered_bar, np.argsort(y[-1]), axis=-1)


def pivoted_qr_dot(y: Any, a: Any, a_dot: Any, mode: Any, pivoting: Any) -> Any:
    """The tangent of ``y = linalg.qr(a)``."""
    own, own_dot = _ordered(a, y, pivoting), _ordered(a_dot, y, pivoting)
    rest = (ZERO,) if pivoting else ()
    found = qr_dot(None if mode == "r" else y[:2], own, own_dot, _MODES[mode])
    if mode != "r":
        return (*found, *rest)
    missing = np.shape(y[0])[-2] - np.shape(found)[-2]
    return (np.concatenate([found, np.zeros((missing, np.shape(found)[-1]), found.dtype)]), *rest)


# LU


def _lu(a: Any) -> tuple[Any, Any, Any]:
    """The order of the rows, in which ``a`` is ``lower @ upper``, and these."""
    p, lower, upper = linalg.lu(a, p_indices=True)
    return np.argsort(p, axis=-1, kind="stable"), lower, upper


def _taken(a: Any, order: Any) -> Any:
    return np.take_along_axis(a, order[..., None], axis=-2)


def strict_lower(a: Any) -> Any:
    """The triangle below the diagonal."""
    return np.tril(a, -1)


def upper_triangle(a: Any) -> Any:
    """The triangle above the diagonal, with that."""
    return np.triu(a)


def lu_bar(y_bar: Any, a: Any, permute_l: Any) -> Any:
    """The cotangent of ``a`` for ``linalg.lu(a)``."""
    lower_bar, upper_bar = y_bar[-2:]
    if is_zero(lower_bar) and is_zero(upper_bar):
        return ZERO
    order, lower, upper = _lu(a)
    lower_bar = np.zeros_like(lower) if is_zero(lower_bar) else lower_bar
    lower_bar = strict_lower(_taken(lower_bar, order) if permute_l else lower_bar)
    upper_bar = np.zeros_like(upper) if is_zero(upper_bar) else upper_triangle(upper_bar)
    size = min(np.shape(a)[-2:])
    top, square = lower[..., :size, :], upper[..., :, :size]
    below_bar = conjugate_transpose(np.linalg.solve(square, conjugate_transpose(lower_bar[..., size:, :])))
    right_bar = np.linalg.solve(conjugate_transpose(top), upper_bar[..., size:])
    top_bar = lower_bar[..., :size, :] - right_bar @ conjugate_transpose(upper[..., size:])
    square_bar = upper_bar[..., :size] - conjugate_transpose(lower[..., size:, :]) @ below_bar
    inner = strict_lower(conjugate_transpose(top) @ top_bar) + np.triu(square_bar @ conjugate_transpose(square))
    left = np.linalg.solve(conjugate_transpose(top), inner)
    corner = conjugate_transpose(np.linalg.solve(square, conjugate_transpose(left)))
    rows = np.concatenate([corner, right_bar], axis=-1)
    rows = rows if size == np.shape(a)[-2] else np.concatenate([rows, below_bar], axis=-2)
    return real_if(_taken(rows, np.argsort(order, axis=-1, kind="stable")), a)


def lu_dot(a: Any, a_dot: Any, permute_l: Any) -> Any:
    """The tangent of ``linalg.lu(a)``."""
    order, lower, upper = _lu(a)
    moved = _taken(a_dot, order)
    size = min(np.shape(a)[-2:])
    top, square = lower[..., :size, :], upper[..., :, :size]
    inner = np.linalg.solve(top, moved[..., :size, :size])
    inner = conjugate_transpose(np.linalg.solve(conjugate_transpose(square), conjugate_transpose(inner)))
    top_dot, square_dot = top @ strict_lower(inner), np.triu(inner) @ square
    rest = moved[..., size:, :size] - lower[..., size:, :] @ square_dot
    below = conjugate_transpose(np.linalg.solve(conjugate_transpose(square), conjugate_transpose(rest)))
    right = np.linalg.solve(top, moved[..., :size, size:] - top_dot @ upper[..., size:])
    lower_dot = np.concatenate([top_dot, below], axis=-2)
    upper_dot = np.concatenate([square_dot, right], axis=-1)
    if permute_l:
        return _taken(lower_dot, np.argsort(order, axis=-1, kind="stable")), upper_dot
    return ZERO, lower_dot, upper_dot


# Pseudo-inverses and least squares


def without_rank(y: Any, return_rank: Any) -> Any:
    """The matrix of a result that may have the rank beside it."""
    return y[0] if return_rank and not is_zero(y) else y


def with_rank(y_dot: Any, return_rank: Any) -> Any:
    """The tangent of such a result."""
    return (y_dot, ZERO) if return_rank else y_dot


def lstsq_as_numpy(a: Any, b: Any, cond: Any) -> Any:
    """The results as ``np.linalg.lstsq`` gives them."""
    return np.linalg.lstsq(a, b, rcond=cond)


def lstsq_seeds(y_bar: Any, own: Any) -> tuple[Any, Any, Any, Any]:
    """The cotangents of SciPy's results as those of NumPy's: residuals have one more axis there."""
    x_bar, residual_bar, rank_bar, s_bar = y_bar
    if not is_zero(residual_bar):
        residual_bar = np.reshape(residual_bar, np.shape(own[1])) if np.size(residual_bar) else ZERO
    return x_bar, residual_bar, rank_bar, s_bar


def lstsq_tangents(dots: tuple[Any, ...], y: Any) -> tuple[Any, ...]:
    """The tangents of NumPy's results as those of SciPy's."""
    x_dot, residuals_dot, _, s_dot = dots
    residuals_dot = np.reshape(residuals_dot, np.shape(y[1])) if np.size(y[1]) else ZERO
    return x_dot, residuals_dot, ZERO, ZERO if y[3] is None else s_dot


# Banded positive definite matrices, of which one triangle is stored


def _bands(ab: Any, lower: Any) -> list[tuple[int, int, slice, slice, slice]]:
    """Each stored diagonal: its row in ``ab``, its distance from the main one, rows, columns and where it is stored."""
    count, size = np.shape(ab)
    found = []
    for k in range(count):
        row = k if lower else count - 1 - k
        rows, columns = slice(k, size), slice(0, size - k)  # of the lower triangle
        found.append((row, k, rows, columns, columns if lower else rows))
    return found


def solveh_rhs_bar(y_bar: Any, ab: Any, lower: Any) -> Any:
    """The cotangent of the right-hand side of ``linalg.solveh_banded``."""
    return linalg.solveh_banded(ab, y_bar, lower=lower)


def solveh_matrix_bar(rhs_bar: Any, y: Any, ab: Any, lower: Any) -> Any:
    """The cotangent of the stored diagonals of ``linalg.solveh_banded``."""
    left, right = np.reshape(rhs_bar, (len(y), -1)), np.conjugate(np.reshape(y, (len(y), -1)))
    ab_bar = np.zeros(np.shape(ab), np.result_type(left, right))
    for row, k, i, j, place in _bands(ab, lower):
        below = -np.sum(left[i] * right[j], axis=1)
        above = -np.sum(left[j] * right[i], axis=1)
        both = np.real(below) if k == 0 else below + np.conjugate(above)
        ab_bar[row, place] = both if lower or k == 0 else np.conjugate(both)
    return real_if(ab_bar, ab)


def solveh_dot(y: Any, ab: Any, ab_dot: Any, b_dot: Any, lower: Any) -> Any:
    """The tangent of ``linalg.solveh_banded``."""
    right = b_dot
    if not is_zero(ab_dot):
        columns = np.reshape(y, (len(y), -1))
        product = np.zeros(columns.shape, np.result_type(columns, ab_dot))
        for row, k, i, j, place in _bands(ab, lower):
            entries = ab_dot[row, place] if lower else np.conjugate(ab_dot[row, place])
            entries = np.real(entries) if k == 0 else entries
            product[i] += entries[:, None] * columns[j]
            if k:
                product[j] += np.conjugate(entries)[:, None] * columns[i]
        right = right - np.reshape(product, np.shape(y))
    return linalg.solveh_banded(ab, right, lower=lower)
