"""``scipy.linalg``: solving, factors and functions of matrices.

A matrix that is said to be symmetric, or of which one triangle is read, gets the cotangent of the whole symmetric
matrix.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from thunkad.kinds.casts import any_number
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.scipy import decompositions, overwriting, structured  # noqa: F401 - read in with this module
from thunkad.rules.scipy.linalg_helpers import (
    banded_dot,
    banded_matrix_bar,
    banded_rhs_bar,
    block_adjoint,
    block_derivative,
    block_diag_bars,
    block_diag_dot,
    cho_solve_bars,
    cho_solve_dot,
    cho_triangle,
    discrete_lyapunov_bars,
    discrete_lyapunov_dot,
    lu_factor_bar,
    lu_factor_dot,
    lu_solve_bars,
    lu_solve_dot,
    lyapunov_bars,
    lyapunov_dot,
    order_of_rows,
    root_bar,
    scipy_solve_dot,
    scipy_solve_matrix_bar,
    scipy_solve_rhs_bar,
    sylvester_bars,
    sylvester_dot,
    triangular_dot,
    triangular_matrix_bar,
    triangular_rhs_bar,
)
from thunkad.runtime.decompositions import cholesky_bar, cholesky_dot
from thunkad.runtime.linalg import det_bar, det_dot, inverse_bar
from thunkad.tangents import NoTangent, ZeroTangent, thunk

non_differentiable(order_of_rows)
RESULT_KINDS.update(
    dict.fromkeys(
        (
            linalg.solve,
            linalg.solve_triangular,
            linalg.solve_banded,
            linalg.cholesky,
            linalg.cho_solve,
            linalg.lu_solve,
            linalg.inv,
            linalg.det,
            linalg.expm,
            linalg.solve_sylvester,
            linalg.norm,
        ),
        any_number,
    )
)


@rrule(linalg.solve)
def _(a, b, *, lower=False, check_finite=True, assume_a=None, transposed=False):
    y = linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)

    def pullback(y_bar):
        rhs_bar = scipy_solve_rhs_bar(y_bar, a, transposed)
        return thunk(lambda: scipy_solve_matrix_bar(rhs_bar, y, a, transposed)), thunk(lambda: rhs_bar)

    return y, pullback


@frule(linalg.solve)
def _(a, b, *, lower=False, check_finite=True, assume_a=None, transposed=False, a_dot, b_dot):
    y = linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)
    return y, scipy_solve_dot(y, a, a_dot, b_dot, transposed)


@rrule(linalg.solve_triangular)
def _(a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True):
    y = linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=check_finite)

    def pullback(y_bar):
        rhs_bar = triangular_rhs_bar(y_bar, a, trans, lower, unit_diagonal)
        return (
            thunk(lambda: triangular_matrix_bar(rhs_bar, y, a, trans, lower, unit_diagonal)),
            thunk(lambda: rhs_bar),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(linalg.solve_triangular)
def _(a, b, trans=0, lower=False, unit_diagonal=False, *, check_finite=True, a_dot, b_dot):
    y = linalg.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=check_finite)
    return y, triangular_dot(y, a, a_dot, b_dot, trans, lower, unit_diagonal)


@rrule(linalg.solve_banded)
def _(l_and_u, ab, b, *, check_finite=True):
    y = linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)

    def pullback(y_bar):
        rhs_bar = banded_rhs_bar(y_bar, l_and_u, ab)
        return NoTangent(), thunk(lambda: banded_matrix_bar(rhs_bar, y, l_and_u, ab)), thunk(lambda: rhs_bar)

    return y, pullback


@frule(linalg.solve_banded)
def _(l_and_u, ab, b, *, check_finite=True, ab_dot, b_dot):
    y = linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)
    return y, banded_dot(y, l_and_u, ab, ab_dot, b_dot)


@rrule(linalg.cholesky)
def _(a, lower=False, *, check_finite=True):
    y = linalg.cholesky(a, lower=lower, check_finite=check_finite)

    def pullback(y_bar):
        return thunk(lambda: cholesky_bar(y_bar, y, not lower)), NoTangent()

    return y, pullback


@frule(linalg.cholesky)
def _(a, lower=False, *, check_finite=True, a_dot):
    y = linalg.cholesky(a, lower=lower, check_finite=check_finite)
    return y, cholesky_dot(y, a_dot, not lower)


@rrule(linalg.cho_factor)
def _(a, lower=False, *, check_finite=True):
    y = linalg.cho_factor(a, lower=lower, check_finite=check_finite)
    factor = cho_triangle(y[0], lower)

    def pullback(y_bar):
        return thunk(lambda: cholesky_bar(cho_triangle(y_bar[0], lower), factor, not lower)), NoTangent()

    return y, pullback


@frule(linalg.cho_factor)
def _(a, lower=False, *, check_finite=True, a_dot):
    y = linalg.cho_factor(a, lower=lower, check_finite=check_finite)
    return y, (cholesky_dot(cho_triangle(y[0], lower), a_dot, not lower), ZeroTangent())


@rrule(linalg.cho_solve)
def _(c_and_lower, b, *, check_finite=True):
    y = linalg.cho_solve(c_and_lower, b, check_finite=check_finite)

    def pullback(y_bar):
        bars = cho_solve_bars(y_bar, y, c_and_lower)
        return thunk(lambda: (bars[0], NoTangent())), thunk(lambda: bars[1])

    return y, pullback


@frule(linalg.cho_solve)
def _(c_and_lower, b, *, check_finite=True, c_and_lower_dot, b_dot):
    y = linalg.cho_solve(c_and_lower, b, check_finite=check_finite)
    return y, cho_solve_dot(y, c_and_lower, c_and_lower_dot[0], b_dot)


@rrule(linalg.lu_factor)
def _(a, *, check_finite=True):
    y = linalg.lu_factor(a, check_finite=check_finite)

    def pullback(y_bar):
        return (thunk(lambda: lu_factor_bar(y_bar, y)),)

    return y, pullback


@frule(linalg.lu_factor)
def _(a, *, check_finite=True, a_dot):
    y = linalg.lu_factor(a, check_finite=check_finite)
    return y, lu_factor_dot(y, a_dot)


@rrule(linalg.lu_solve)
def _(lu_and_piv, b, trans=0, *, check_finite=True):
    y = linalg.lu_solve(lu_and_piv, b, trans=trans, check_finite=check_finite)

    def pullback(y_bar):
        bars = lu_solve_bars(y_bar, y, lu_and_piv, trans)
        return thunk(lambda: (bars[0], NoTangent())), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(linalg.lu_solve)
def _(lu_and_piv, b, trans=0, *, check_finite=True, lu_and_piv_dot, b_dot):
    y = linalg.lu_solve(lu_and_piv, b, trans=trans, check_finite=check_finite)
    return y, lu_solve_dot(y, lu_and_piv, lu_and_piv_dot[0], b_dot, trans)


@rrule(linalg.inv)
def _(a, *, check_finite=True):
    y = linalg.inv(a, check_finite=check_finite)

    def pullback(y_bar):
        return (thunk(lambda: inverse_bar(y_bar, y)),)

    return y, pullback


@frule(linalg.inv)
def _(a, *, check_finite=True, a_dot):
    y = linalg.inv(a, check_finite=check_finite)
    return y, -(y @ a_dot @ y)


@rrule(linalg.det)
def _(a, *, check_finite=True):
    y = linalg.det(a, check_finite=check_finite)

    def pullback(y_bar):
        return (thunk(lambda: det_bar(y_bar, y, a)),)

    return y, pullback


@frule(linalg.det)
def _(a, *, check_finite=True, a_dot):
    y = linalg.det(a, check_finite=check_finite)
    return y, det_dot(y, a, a_dot)


@alternative(linalg.norm)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)


@rrule(linalg.expm)
def _(A):
    y = linalg.expm(A)

    def pullback(y_bar):
        return (thunk(lambda: block_adjoint(linalg.expm, y_bar, A)),)

    return y, pullback


@frule(linalg.expm)
def _(A, *, A_dot):
    return linalg.expm(A), block_derivative(linalg.expm, A, A_dot)


@rrule(linalg.logm)
def _(A):
    y = linalg.logm(A)

    def pullback(y_bar):
        return (thunk(lambda: block_adjoint(linalg.logm, y_bar, A)),)

    return y, pullback


@frule(linalg.logm)
def _(A, *, A_dot):
    return linalg.logm(A), block_derivative(linalg.logm, A, A_dot)


@rrule(linalg.sqrtm)
def _(A):
    y = linalg.sqrtm(A)

    def pullback(y_bar):
        return (thunk(lambda: root_bar(y_bar, y, A)),)

    return y, pullback


@frule(linalg.sqrtm)
def _(A, *, A_dot):
    y = linalg.sqrtm(A)
    return y, linalg.solve_sylvester(y, y, A_dot)


@rrule(linalg.solve_sylvester)
def _(a, b, q):
    y = linalg.solve_sylvester(a, b, q)

    def pullback(y_bar):
        bars = sylvester_bars(y_bar, y, a, b)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), thunk(lambda: bars[2])

    return y, pullback


@frule(linalg.solve_sylvester)
def _(a, b, q, *, a_dot, b_dot, q_dot):
    y = linalg.solve_sylvester(a, b, q)
    return y, sylvester_dot(y, a, b, a_dot, b_dot, q_dot)


@rrule(linalg.solve_continuous_lyapunov)
def _(a, q):
    y = linalg.solve_continuous_lyapunov(a, q)

    def pullback(y_bar):
        bars = lyapunov_bars(y_bar, y, a)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1])

    return y, pullback


@frule(linalg.solve_continuous_lyapunov)
def _(a, q, *, a_dot, q_dot):
    y = linalg.solve_continuous_lyapunov(a, q)
    return y, lyapunov_dot(y, a, a_dot, q_dot)


@rrule(linalg.solve_discrete_lyapunov)
def _(a, q, method=None):
    y = linalg.solve_discrete_lyapunov(a, q, method=method)

    def pullback(y_bar):
        bars = discrete_lyapunov_bars(y_bar, y, a)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(linalg.solve_discrete_lyapunov)
def _(a, q, method=None, *, a_dot, q_dot):
    y = linalg.solve_discrete_lyapunov(a, q, method=method)
    return y, discrete_lyapunov_dot(y, a, a_dot, q_dot)


linear(block_diag_bars)


@rrule(linalg.block_diag)
def _(*arrs):
    y = linalg.block_diag(*arrs)

    def pullback(y_bar):
        return (thunk(lambda: block_diag_bars(y_bar, arrs)),)

    return y, pullback


@frule(linalg.block_diag)
def _(*arrs, arrs_dot):
    return linalg.block_diag(*arrs), block_diag_dot(arrs_dot, arrs)
