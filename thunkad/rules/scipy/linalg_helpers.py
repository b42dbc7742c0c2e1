"""Cotangents and tangents of ``scipy.linalg``: solving with structure, factors, functions of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import is_zero, unbroadcast
from thunkad.runtime.joining import still
from thunkad.runtime.precision import unit_matrix
from thunkad.runtime.products import conjugate_transpose
from thunkad.tangents import ZERO


def real_if(x_bar: Any, x: Any) -> Any:
    """``x_bar`` for an operand ``x``: its real part if ``x`` is real."""
    return x_bar if np.iscomplexobj(x) else np.real(x_bar)


def outer(rhs_bar: Any, y: Any) -> Any:
    """``-rhs_bar yᴴ`` of vectors or matrices: the cotangent of the matrix of a linear system."""
    if np.ndim(y) == 1:
        return -np.multiply.outer(rhs_bar, np.conjugate(y))
    return -(rhs_bar @ conjugate_transpose(y))


def product(a: Any, y: Any) -> Any:
    """``a @ y``, zero if one of them is."""
    return a if is_zero(a) else a @ y


# Linear systems


def scipy_solve_rhs_bar(y_bar: Any, a: Any, transposed: Any = False) -> Any:
    """The cotangent of the right-hand side of ``linalg.solve``."""
    return np.linalg.solve(np.conjugate(a) if transposed else conjugate_transpose(a), y_bar)


def scipy_solve_matrix_bar(rhs_bar: Any, y: Any, a: Any, transposed: Any = False) -> Any:
    """The cotangent of the matrix of ``linalg.solve``, given that of the right-hand side."""
    a_bar = outer(rhs_bar, y)
    return real_if(unbroadcast(np.swapaxes(a_bar, -1, -2) if transposed else a_bar, a), a)


def scipy_solve_dot(y: Any, a: Any, a_dot: Any, b_dot: Any, transposed: Any = False) -> Any:
    """The tangent of ``linalg.solve``."""
    a_dot = np.swapaxes(a_dot, -1, -2) if transposed and not is_zero(a_dot) else a_dot
    return np.linalg.solve(np.swapaxes(a, -1, -2) if transposed else a, b_dot - product(a_dot, y))


_CODE = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def operated(a: Any, trans: Any) -> Any:
    """``a``, its transpose or its conjugate transpose, as ``trans`` says."""
    code = _CODE[trans]
    return a if code == 0 else np.swapaxes(a, -1, -2) if code == 1 else conjugate_transpose(a)


def _triangle(a: Any, lower: Any, unit_diagonal: Any) -> Any:
    return np.tril(a, -1 if unit_diagonal else 0) if lower else np.triu(a, 1 if unit_diagonal else 0)


def triangular_rhs_bar(y_bar: Any, a: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    """The cotangent of the right-hand side of ``linalg.solve_triangular``."""
    code = _CODE[trans]
    if code == 1:  # the adjoint of the transpose is the conjugate
        return linalg.solve_triangular(np.conjugate(a), y_bar, lower=lower, unit_diagonal=unit_diagonal)
    return linalg.solve_triangular(a, y_bar, trans=2 - code, lower=lower, unit_diagonal=unit_diagonal)


def triangular_matrix_bar(rhs_bar: Any, y: Any, a: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    """The cotangent of the matrix of ``linalg.solve_triangular``: of the triangle that is read."""
    a_bar = outer(rhs_bar, y)
    code = _CODE[trans]
    a_bar = a_bar if code == 0 else np.swapaxes(a_bar, -1, -2) if code == 1 else conjugate_transpose(a_bar)
    return real_if(_triangle(a_bar, lower, unit_diagonal), a)


def triangular_dot(y: Any, a: Any, a_dot: Any, b_dot: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    """The tangent of ``linalg.solve_triangular``."""
    moved = a_dot if is_zero(a_dot) else operated(_triangle(a_dot, lower, unit_diagonal), trans)
    return linalg.solve_triangular(a, b_dot - product(moved, y), trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def _adjoint_banded(l_and_u: Any, ab: Any) -> tuple[tuple[int, int], Any]:
    """The conjugate transpose of a banded matrix, banded."""
    low, up = l_and_u
    ab = np.asarray(ab)
    out = np.zeros_like(ab)
    size = ab.shape[1]
    for k in range(-low, up + 1):  # entries (i, i + k) become (i + k, i)
        row = ab[up - k, max(k, 0) : size + min(k, 0)]
        out[low + k, max(-k, 0) : size + min(-k, 0)] = np.conjugate(row)
    return (up, low), out


def banded_rhs_bar(y_bar: Any, l_and_u: Any, ab: Any) -> Any:
    """The cotangent of the right-hand side of ``linalg.solve_banded``."""
    return linalg.solve_banded(*_adjoint_banded(l_and_u, ab), y_bar)


def banded_matrix_bar(rhs_bar: Any, y: Any, l_and_u: Any, ab: Any) -> Any:
    """The cotangent of the diagonals of ``linalg.solve_banded``."""
    low, up = l_and_u
    rows, columns = np.reshape(rhs_bar, (len(y), -1)), np.conjugate(np.reshape(y, (len(y), -1)))
    ab_bar = np.zeros(np.shape(ab), np.result_type(rows, columns))
    size = len(y)
    for k in range(-low, up + 1):
        i, j = slice(max(-k, 0), size + min(-k, 0)), slice(max(k, 0), size + min(k, 0))
        ab_bar[up - k, j] = -np.sum(rows[i] * columns[j], axis=1)
    return real_if(ab_bar, ab)


def banded_dot(y: Any, l_and_u: Any, ab: Any, ab_dot: Any, b_dot: Any) -> Any:
    """The tangent of ``linalg.solve_banded``."""
    right = b_dot
    if not is_zero(ab_dot):
        low, up = l_and_u
        size = len(y)
        moved = np.zeros(np.shape(y), np.result_type(ab_dot, y))
        for k in range(-low, up + 1):
            i, j = slice(max(-k, 0), size + min(-k, 0)), slice(max(k, 0), size + min(k, 0))
            moved[i] += (ab_dot[up - k, j] * y[j].T).T
        right = right - moved
    return linalg.solve_banded(l_and_u, ab, right)


# Factors


def cho_triangle(c: Any, lower: Any) -> Any:
    """The triangle that ``linalg.cho_factor`` fills; the other one holds what was there."""
    return np.tril(c) if lower else np.triu(c)


def cho_solve_bars(y_bar: Any, y: Any, c_and_lower: Any) -> tuple[Any, Any]:
    """The cotangents of the factor and of the right-hand side of ``linalg.cho_solve``."""
    c, lower = c_and_lower
    b_bar = linalg.cho_solve((c, lower), y_bar)
    a_bar = outer(b_bar, y)
    both = a_bar + conjugate_transpose(a_bar)
    factor = cho_triangle(c, lower)
    return cho_triangle(both @ factor if lower else factor @ both, lower), b_bar


def cho_solve_dot(y: Any, c_and_lower: Any, c_dot: Any, b_dot: Any) -> Any:
    """The tangent of ``linalg.cho_solve``."""
    c, lower = c_and_lower
    right = b_dot
    if not is_zero(c_dot):
        factor, change = cho_triangle(c, lower), cho_triangle(c_dot, lower)
        moved = change @ conjugate_transpose(factor) if lower else conjugate_transpose(factor) @ change
        right = right - (moved + conjugate_transpose(moved)) @ y
    return linalg.cho_solve((c, lower), right)


def _lu_parts(lu: Any) -> tuple[Any, Any]:
    if lu.shape[-1] != lu.shape[-2]:
        raise NotImplementedDerivativeError("the LU factors of a matrix that is not square are not differentiated")
    return np.tril(lu, -1) + unit_matrix(lu.shape[-1], lu), np.triu(lu)


def _permuted(a: Any, piv: Any, back: bool = False) -> Any:
    """The rows of ``a`` exchanged as ``piv`` says, or exchanged back."""
    order = order_of_rows(piv)
    return a[np.argsort(order)] if back else a[order]


def order_of_rows(piv: Any) -> Any:
    """The row that stands at each place after the exchanges ``piv``."""
    order = np.arange(len(piv))
    for k, other in enumerate(piv):
        order[[k, other]] = order[[other, k]]
    return order


def lu_factor_bar(y_bar: Any, y: Any) -> Any:
    """The cotangent of ``a`` for ``y = linalg.lu_factor(a)``."""
    lu_bar = y_bar[0] if isinstance(y_bar, tuple) else y_bar
    if is_zero(lu_bar):
        return ZERO
    lu, piv = y
    lower, upper = _lu_parts(lu)
    inner = np.tril(conjugate_transpose(lower) @ np.tril(lu_bar, -1), -1)
    inner = inner + np.triu(np.triu(lu_bar) @ conjugate_transpose(upper))
    left = linalg.solve_triangular(lower, inner, trans=2, lower=True, unit_diagonal=True)
    both = conjugate_transpose(linalg.solve_triangular(upper, conjugate_transpose(left)))
    return _permuted(both, piv, back=True)


def lu_factor_dot(y: Any, a_dot: Any) -> Any:
    """The tangent of ``y = linalg.lu_factor(a)``."""
    lu, piv = y
    lower, upper = _lu_parts(lu)
    left = linalg.solve_triangular(lower, _permuted(a_dot, piv), lower=True, unit_diagonal=True)
    inner = conjugate_transpose(linalg.solve_triangular(upper, conjugate_transpose(left), trans=2))
    return lower @ np.tril(inner, -1) + np.triu(inner) @ upper, ZERO


def lu_solve_bars(y_bar: Any, y: Any, lu_and_piv: Any, trans: Any) -> tuple[Any, Any]:
    """The cotangents of the packed factors and of the right-hand side of ``linalg.lu_solve``."""
    lu, piv = lu_and_piv
    code = _CODE[trans]
    if code == 1:
        b_bar = np.conjugate(linalg.lu_solve((lu, piv), np.conjugate(y_bar)))
    else:
        b_bar = linalg.lu_solve((lu, piv), y_bar, trans=2 - code)
    a_bar = outer(b_bar, y)
    a_bar = a_bar if code == 0 else a_bar.T if code == 1 else conjugate_transpose(a_bar)
    a_bar = _permuted(a_bar, piv)
    lower, upper = _lu_parts(lu)
    lu_bar = np.tril(a_bar @ conjugate_transpose(upper), -1) + np.triu(conjugate_transpose(lower) @ a_bar)
    return real_if(lu_bar, lu), b_bar


def lu_solve_dot(y: Any, lu_and_piv: Any, lu_dot: Any, b_dot: Any, trans: Any) -> Any:
    """The tangent of ``linalg.lu_solve``."""
    lu, piv = lu_and_piv
    right = b_dot
    if not is_zero(lu_dot):
        lower, upper = _lu_parts(lu)
        a_dot = _permuted(np.tril(lu_dot, -1) @ upper + lower @ np.triu(lu_dot), piv, back=True)
        right = right - operated(a_dot, trans) @ y
    return linalg.lu_solve((lu, piv), right, trans=trans)


# Functions of matrices


def block_derivative(function: Callable[..., Any], a: Any, direction: Any) -> Any:
    """The derivative of a function of matrices in a direction: a corner of the function of ``[[a, direction], [0, a]]``."""
    if np.ndim(a) < 2:  # a number, which SciPy takes for a matrix
        one = np.reshape(a, (1, 1)), np.reshape(direction, (1, 1))
        return np.reshape(block_derivative(function, *one), np.shape(function(a)))
    n = np.shape(a)[-1]
    top = np.concatenate((a, direction), axis=-1)
    bottom = np.concatenate((np.zeros_like(a), a), axis=-1)
    return function(np.concatenate((top, bottom), axis=-2))[..., :n, n:]


def block_adjoint(function: Callable[..., Any], y_bar: Any, a: Any) -> Any:
    """The cotangent of ``a`` for ``y = function(a)``, a function of matrices."""
    if np.ndim(a) < 2:
        return np.reshape(block_adjoint(function, np.reshape(y_bar, (1, 1)), np.reshape(a, (1, 1))), np.shape(a))
    return real_if(block_derivative(function, conjugate_transpose(a), y_bar), a)


def root_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The cotangent of ``a`` for ``y = linalg.sqrtm(a)``: a Sylvester equation."""
    adjoint = conjugate_transpose(y)
    return real_if(linalg.solve_sylvester(adjoint, adjoint, y_bar), a)


def sylvester_bars(y_bar: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The cotangents of ``a``, ``b`` and ``q`` for ``linalg.solve_sylvester``."""
    q_bar = linalg.solve_sylvester(conjugate_transpose(a), conjugate_transpose(b), y_bar)
    adjoint = conjugate_transpose(y)
    return real_if(-(q_bar @ adjoint), a), real_if(-(adjoint @ q_bar), b), q_bar


def sylvester_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any, q_dot: Any) -> Any:
    """The tangent of ``linalg.solve_sylvester``."""
    right = q_dot - product(a_dot, y)
    return linalg.solve_sylvester(a, b, right if is_zero(b_dot) else right - y @ b_dot)


def lyapunov_bars(y_bar: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``q`` for ``linalg.solve_continuous_lyapunov``."""
    q_bar = linalg.solve_continuous_lyapunov(conjugate_transpose(a), y_bar)
    return real_if(-(q_bar @ conjugate_transpose(y)) - conjugate_transpose(q_bar) @ y, a), q_bar


def lyapunov_dot(y: Any, a: Any, a_dot: Any, q_dot: Any) -> Any:
    """The tangent of ``linalg.solve_continuous_lyapunov``."""
    moved = ZERO if is_zero(a_dot) else a_dot @ y + y @ conjugate_transpose(a_dot)
    return linalg.solve_continuous_lyapunov(a, q_dot - moved)


def discrete_lyapunov_bars(y_bar: Any, y: Any, a: Any) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``q`` for ``linalg.solve_discrete_lyapunov``."""
    q_bar = linalg.solve_discrete_lyapunov(conjugate_transpose(a), y_bar)
    return real_if(q_bar @ a @ conjugate_transpose(y) + conjugate_transpose(q_bar) @ a @ y, a), q_bar


def discrete_lyapunov_dot(y: Any, a: Any, a_dot: Any, q_dot: Any) -> Any:
    """The tangent of ``linalg.solve_discrete_lyapunov``."""
    moved = ZERO if is_zero(a_dot) else a_dot @ y @ conjugate_transpose(a) + a @ y @ conjugate_transpose(a_dot)
    return linalg.solve_discrete_lyapunov(a, q_dot + moved)


def block_diag_bars(y_bar: Any, arrs: Any) -> tuple[Any, ...]:
    """The cotangents of the blocks of ``linalg.block_diag``."""
    bars, i, j = [], 0, 0
    for a in arrs:
        rows, columns = np.atleast_2d(a).shape[-2:]
        part = unbroadcast(y_bar[..., i : i + rows, j : j + columns], np.atleast_2d(a))
        bars.append(np.reshape(part, np.shape(a)))
        i, j = i + rows, j + columns
    return tuple(bars)


def block_diag_dot(arrs_dot: Any, arrs: Any) -> Any:
    """The tangent of ``linalg.block_diag``."""
    return linalg.block_diag(*(still(a) if is_zero(d) else d for d, a in zip(arrs_dot, arrs)))


def matrix_power_bar(y_bar: Any, a: Any, t: Any) -> Any:
    """The cotangent of ``a`` for ``linalg.fractional_matrix_power(a, t)``."""
    return block_adjoint(lambda m: linalg.fractional_matrix_power(m, np.conjugate(t)), y_bar, a)


def matrix_power_dot(a: Any, t: Any, a_dot: Any) -> Any:
    """The tangent of ``linalg.fractional_matrix_power(a, t)``."""
    return block_derivative(lambda m: linalg.fractional_matrix_power(m, t), a, a_dot)
