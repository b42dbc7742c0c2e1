"""``scipy.linalg``: decompositions, pseudo-inverses and least squares.

A matrix of which one triangle is read gets the cotangent of the whole symmetric matrix.  What the functions overwrite on
request is left as it is: SciPy promises nothing of it.
"""

from __future__ import annotations

from scipy import linalg

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.decomposition_helpers import (
    eigh_of_pair_bars,
    eigh_of_pair_dot,
    eigvals_of_pair_bars,
    eigvals_of_pair_dot,
    lstsq_as_numpy,
    lstsq_seeds,
    lstsq_tangents,
    lu_bar,
    lu_dot,
    only_matrix,
    pivoted_qr_bar,
    pivoted_qr_dot,
    strict_lower,
    upper_triangle,
    with_rank,
    without_rank,
)
from thunkad.runtime.decompositions import (
    eig_bar,
    eig_dot,
    eigvals_bar,
    eigvals_dot,
    svd_bar,
    svd_dot,
    svdvals_bar,
    svdvals_dot,
)
from thunkad.runtime.linalg import lstsq_bars, lstsq_dot, pinv_bar, pinv_dot
from thunkad.tangents import NoTangent, thunk

linear(strict_lower, upper_triangle)
non_differentiable(linalg.issymmetric, linalg.ishermitian, linalg.bandwidth)
refuse(
    "the vectors that it finds are any basis of a space; use the projection on it, such as np.eye(n) - np.linalg.pinv(a) @ a",
    linalg.null_space,
    linalg.orth,
)
refuse(
    "it has no rule so far; use qr, eigh, svd or expm",
    *(linalg.schur, linalg.hessenberg, linalg.ldl, linalg.qz, linalg.cossin, linalg.rq, linalg.rsf2csf, linalg.ordqz),
    *(linalg.funm, linalg.signm, linalg.polar, linalg.expm_cond, linalg.subspace_angles, linalg.matrix_balance),
    *(linalg.eig_banded, linalg.eigvals_banded, linalg.eigh_tridiagonal, linalg.eigvalsh_tridiagonal),
    *(linalg.cholesky_banded, linalg.cho_solve_banded, linalg.orthogonal_procrustes, linalg.expm_frechet),
    *(linalg.solve_continuous_are, linalg.solve_discrete_are),
)


@rrule(linalg.eigh)
def _(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
      subset_by_index=None, subset_by_value=None, driver=None):  # fmt: skip
    y = linalg.eigh(a, b, lower=lower, eigvals_only=eigvals_only, type=type, check_finite=check_finite,
                    subset_by_index=subset_by_index, subset_by_value=subset_by_value, driver=driver)  # fmt: skip

    def pullback(y_bar):
        bars = eigh_of_pair_bars(y_bar, y, a, b, lower, eigvals_only, type)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1])

    return y, pullback


@frule(linalg.eigh)
def _(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
      subset_by_index=None, subset_by_value=None, driver=None, a_dot, b_dot):  # fmt: skip
    y = linalg.eigh(a, b, lower=lower, eigvals_only=eigvals_only, type=type, check_finite=check_finite,
                    subset_by_index=subset_by_index, subset_by_value=subset_by_value, driver=driver)  # fmt: skip
    return y, eigh_of_pair_dot(y, a, b, a_dot, b_dot, lower, eigvals_only, type)


@rrule(linalg.eigvalsh)
def _(a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None):  # fmt: skip
    y = linalg.eigvalsh(a, b, lower=lower, type=type, check_finite=check_finite, subset_by_index=subset_by_index,
                        subset_by_value=subset_by_value, driver=driver)  # fmt: skip

    def pullback(y_bar):
        bars = eigvals_of_pair_bars(y_bar, y, a, b, lower, type)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1])

    return y, pullback


@frule(linalg.eigvalsh)
def _(a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
      subset_by_value=None, driver=None, a_dot, b_dot):  # fmt: skip
    y = linalg.eigvalsh(a, b, lower=lower, type=type, check_finite=check_finite, subset_by_index=subset_by_index,
                        subset_by_value=subset_by_value, driver=driver)  # fmt: skip
    return y, eigvals_of_pair_dot(y, a, b, a_dot, b_dot, lower, type)


@rrule(linalg.eig)
def _(a, b=None, left=False, right=True, *, overwrite_a=False, check_finite=True):
    y = linalg.eig(only_matrix(a, b, left, right), check_finite=check_finite)

    def pullback(y_bar):
        return thunk(lambda: eig_bar(y_bar, y, a)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(linalg.eig)
def _(a, b=None, left=False, right=True, *, overwrite_a=False, check_finite=True, a_dot):
    y = linalg.eig(only_matrix(a, b, left, right), check_finite=check_finite)
    return y, eig_dot(y, a_dot)


@rrule(linalg.eigvals)
def _(a, *, overwrite_a=False, check_finite=True):
    y = linalg.eigvals(a, check_finite=check_finite)

    def pullback(y_bar):
        return (thunk(lambda: eigvals_bar(y_bar, y, a)),)

    return y, pullback


@frule(linalg.eigvals)
def _(a, *, overwrite_a=False, check_finite=True, a_dot):
    y = linalg.eigvals(a, check_finite=check_finite)
    return y, eigvals_dot(y, a, a_dot)


@rrule(linalg.svd)
def _(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    y = linalg.svd(a, full_matrices, compute_uv, False, check_finite, lapack_driver)

    def pullback(y_bar):
        return (
            thunk(lambda: svd_bar(y_bar, y, a, compute_uv)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(linalg.svd)
def _(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd", *, a_dot):
    y = linalg.svd(a, full_matrices, compute_uv, False, check_finite, lapack_driver)
    return y, svd_dot(y, a, a_dot, compute_uv)


@rrule(linalg.svdvals)
def _(a, overwrite_a=False, check_finite=True):
    y = linalg.svdvals(a, False, check_finite)

    def pullback(y_bar):
        return thunk(lambda: svdvals_bar(y_bar, a)), NoTangent(), NoTangent()

    return y, pullback


@frule(linalg.svdvals)
def _(a, overwrite_a=False, check_finite=True, *, a_dot):
    return linalg.svdvals(a, False, check_finite), svdvals_dot(a, a_dot)


@rrule(linalg.qr)
def _(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    y = linalg.qr(a, False, lwork, mode, pivoting, check_finite)

    def pullback(y_bar):
        return (
            thunk(lambda: pivoted_qr_bar(y_bar, y, a, mode, pivoting)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(linalg.qr)
def _(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True, *, a_dot):
    y = linalg.qr(a, False, lwork, mode, pivoting, check_finite)
    return y, pivoted_qr_dot(y, a, a_dot, mode, pivoting)


@rrule(linalg.lu)
def _(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    y = linalg.lu(a, permute_l, False, check_finite, p_indices)

    def pullback(y_bar):
        return thunk(lambda: lu_bar(y_bar, a, permute_l)), NoTangent(), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(linalg.lu)
def _(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False, *, a_dot):
    y = linalg.lu(a, permute_l, False, check_finite, p_indices)
    return y, lu_dot(a, a_dot, permute_l)


@rrule(linalg.pinv)
def _(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    y = linalg.pinv(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)
    inverse = without_rank(y, return_rank)

    def pullback(y_bar):
        return (thunk(lambda: pinv_bar(without_rank(y_bar, return_rank), inverse, a, False)),)

    return y, pullback


@frule(linalg.pinv)
def _(a, *, atol=None, rtol=None, return_rank=False, check_finite=True, a_dot):
    y = linalg.pinv(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)
    return y, with_rank(pinv_dot(without_rank(y, return_rank), a, a_dot, False), return_rank)


@rrule(linalg.pinvh)
def _(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    y = linalg.pinvh(a, atol, rtol, lower, return_rank, check_finite)
    inverse = without_rank(y, return_rank)

    def pullback(y_bar):
        return (
            thunk(lambda: pinv_bar(without_rank(y_bar, return_rank), inverse, a, True)),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(linalg.pinvh)
def _(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True, *, a_dot):
    y = linalg.pinvh(a, atol, rtol, lower, return_rank, check_finite)
    return y, with_rank(pinv_dot(without_rank(y, return_rank), a, a_dot, True), return_rank)


@rrule(linalg.lstsq)
def _(a, b, cond=None, *, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    y = linalg.lstsq(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    own = lstsq_as_numpy(a, b, cond)

    def pullback(y_bar):
        bars = lstsq_bars(lstsq_seeds(y_bar, own), own, a, b, cond)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(linalg.lstsq)
def _(a, b, cond=None, *, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None, a_dot, b_dot):
    y = linalg.lstsq(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)
    return y, lstsq_tangents(lstsq_dot(lstsq_as_numpy(a, b, cond), a, b, a_dot, b_dot, cond), y)
