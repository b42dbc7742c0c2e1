"""Calls that allow SciPy to overwrite its operands: the same calls without it, since pullbacks read the operands."""

from __future__ import annotations

from scipy import linalg

from thunkad.rules.library import alternative


@alternative(linalg.solve, keywords=("overwrite_a", "overwrite_b"))
def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False
):  # fmt: skip
    return linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)


@alternative(linalg.solve_triangular, keywords=("overwrite_b",))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    return linalg.solve_triangular(a, b, trans, lower, unit_diagonal, check_finite=check_finite)


@alternative(linalg.solve_banded, keywords=("overwrite_ab", "overwrite_b"))
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    return linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)


@alternative(linalg.cholesky, keywords=("overwrite_a",))
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return linalg.cholesky(a, lower, check_finite=check_finite)


@alternative(linalg.cho_factor, keywords=("overwrite_a",))
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return linalg.cho_factor(a, lower, check_finite=check_finite)


@alternative(linalg.cho_solve, keywords=("overwrite_b",))
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    return linalg.cho_solve(c_and_lower, b, check_finite=check_finite)


@alternative(linalg.lu_factor, keywords=("overwrite_a",))
def lu_factor(a, overwrite_a=False, check_finite=True):
    return linalg.lu_factor(a, check_finite=check_finite)


@alternative(linalg.lu_solve, keywords=("overwrite_b",))
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    return linalg.lu_solve(lu_and_piv, b, trans, check_finite=check_finite)


@alternative(linalg.det, keywords=("overwrite_a",))
def det(a, overwrite_a=False, check_finite=True):
    return linalg.det(a, check_finite=check_finite)


@alternative(linalg.inv, keywords=("overwrite_a",))
def inv(a, overwrite_a=False, check_finite=True):
    return linalg.inv(a, check_finite=check_finite)
