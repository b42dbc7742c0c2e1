"""``np.linalg``: solving, determinants, norms and decompositions (its products are in :mod:`.linalg_products`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import bilinear
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.decompositions import (
    cholesky_bar,
    cholesky_dot,
    eig_bar,
    eig_dot,
    eigh_bar,
    eigh_dot,
    eigvals_bar,
    eigvals_dot,
    eigvalsh_bar,
    eigvalsh_dot,
    matching,
    qr_bar,
    qr_dot,
    require_invariant,
    svd_bar,
    svd_dot,
    svdvals_bar,
    svdvals_dot,
)
from thunkad.runtime.linalg import (
    cofactors,
    cofactors_dot,
    det_bar,
    det_dot,
    inverse_bar,
    lstsq_bars,
    lstsq_dot,
    pinv_bar,
    pinv_dot,
    slogdet_bar,
    slogdet_dot,
    solve_adjoint,
    solve_dot,
    solve_left_bar,
    tensorinv_bar,
    tensorinv_dot,
    tensorsolve_dot,
    tensorsolve_left_bar,
    tensorsolve_right_bar,
)
from thunkad.runtime.norms import cond_bar, cond_dot, norm_bar, norm_dot, norm_ord_bar, vector_norm_bar, vector_norm_dot
from thunkad.tangents import NoTangent, thunk

NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]

non_differentiable(np.linalg.matrix_rank, matching, require_invariant)
bilinear(1, solve_left_bar)


@rrule(np.linalg.inv)
def _(a):
    y = np.linalg.inv(a)

    def pullback(y_bar):
        return (thunk(lambda: inverse_bar(y_bar, y)),)

    return y, pullback


@frule(np.linalg.inv)
def _(a, *, a_dot):
    y = np.linalg.inv(a)
    return y, -(y @ a_dot @ y)


@rrule(np.linalg.solve)
def _(a, b):
    y = np.linalg.solve(a, b)

    def pullback(y_bar):
        rhs_bar = solve_adjoint(y_bar, a, b)
        return thunk(lambda: solve_left_bar(rhs_bar, y, a, b)), thunk(lambda: unbroadcast(rhs_bar, b))

    return y, pullback


@frule(np.linalg.solve)
def _(a, b, *, a_dot, b_dot):
    y = np.linalg.solve(a, b)
    return y, solve_dot(y, a, b, a_dot, b_dot)


@rrule(np.linalg.det)
def _(a):
    y = np.linalg.det(a)

    def pullback(y_bar):
        return (thunk(lambda: det_bar(y_bar, y, a)),)

    return y, pullback


@frule(np.linalg.det)
def _(a, *, a_dot):
    y = np.linalg.det(a)
    return y, det_dot(y, a, a_dot)


@frule(cofactors)
def _(a, det, *, a_dot):
    return cofactors(a, det), cofactors_dot(a, det, a_dot)


@rrule(np.linalg.slogdet)
def _(a):
    y = np.linalg.slogdet(a)

    def pullback(y_bar):
        return (thunk(lambda: slogdet_bar(y_bar, y, a)),)

    return y, pullback


@frule(np.linalg.slogdet)
def _(a, *, a_dot):
    y = np.linalg.slogdet(a)
    return y, slogdet_dot(y, a, a_dot)


@rrule(np.linalg.pinv)
def _(a, rcond=None, hermitian=False, *, rtol=NOT_GIVEN):
    y = np.linalg.pinv(a, rcond=rcond, hermitian=hermitian, rtol=rtol)

    def pullback(y_bar):
        return thunk(lambda: pinv_bar(y_bar, y, a, hermitian)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.linalg.pinv)
def _(a, rcond=None, hermitian=False, *, rtol=NOT_GIVEN, a_dot):
    y = np.linalg.pinv(a, rcond=rcond, hermitian=hermitian, rtol=rtol)
    return y, pinv_dot(y, a, a_dot, hermitian)


@rrule(np.linalg.lstsq)
def _(a, b, rcond=None):
    y = np.linalg.lstsq(a, b, rcond=rcond)

    def pullback(y_bar):
        bars = lstsq_bars(y_bar, y, a, b, rcond)
        return thunk(lambda: bars[0]), thunk(lambda: bars[1]), NoTangent()

    return y, pullback


@frule(np.linalg.lstsq)
def _(a, b, rcond=None, *, a_dot, b_dot):
    y = np.linalg.lstsq(a, b, rcond=rcond)
    return y, lstsq_dot(y, a, b, a_dot, b_dot, rcond)


@rrule(np.linalg.tensorinv)
def _(a, ind=2):
    y = np.linalg.tensorinv(a, ind=ind)

    def pullback(y_bar):
        return thunk(lambda: tensorinv_bar(y_bar, y, ind)), NoTangent()

    return y, pullback


@frule(np.linalg.tensorinv)
def _(a, ind=2, *, a_dot):
    y = np.linalg.tensorinv(a, ind=ind)
    return y, tensorinv_dot(y, a_dot, ind)


@rrule(np.linalg.tensorsolve)
def _(a, b, axes=None):
    y = np.linalg.tensorsolve(a, b, axes=axes)

    def pullback(y_bar):
        rhs_bar = tensorsolve_right_bar(y_bar, a, b, axes)
        return thunk(lambda: tensorsolve_left_bar(rhs_bar, y, a, axes)), rhs_bar, NoTangent()

    return y, pullback


@frule(np.linalg.tensorsolve)
def _(a, b, axes=None, *, a_dot, b_dot):
    y = np.linalg.tensorsolve(a, b, axes=axes)
    return y, tensorsolve_dot(y, a, a_dot, b_dot, axes)


# ---------------------------------------------------------------- norms


@rrule(np.linalg.norm)
def _(x, ord=None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord=ord, axis=axis, keepdims=keepdims)

    def pullback(y_bar):
        return (
            thunk(lambda: norm_bar(y_bar, y, x, ord, axis, keepdims)),
            thunk(lambda: norm_ord_bar(y_bar, y, x, ord, axis, keepdims)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(np.linalg.norm)
def _(x, ord=None, axis=None, keepdims=False, *, x_dot, ord_dot):
    y = np.linalg.norm(x, ord=ord, axis=axis, keepdims=keepdims)
    return y, norm_dot(y, x, x_dot, ord, axis, keepdims, ord_dot)


@rrule(np.linalg.vector_norm)
def _(x, *, axis=None, keepdims=False, ord=2):
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

    def pullback(y_bar):
        return (thunk(lambda: vector_norm_bar(y_bar, y, x, axis, keepdims, ord)),)

    return y, pullback


@frule(np.linalg.vector_norm)
def _(x, *, axis=None, keepdims=False, ord=2, x_dot):
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return y, vector_norm_dot(y, x, x_dot, axis, keepdims, ord)


@rrule(np.linalg.matrix_norm)
def _(x, *, keepdims=False, ord="fro"):
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)

    def pullback(y_bar):
        return (thunk(lambda: norm_bar(y_bar, y, x, ord, (-2, -1), keepdims)),)

    return y, pullback


@frule(np.linalg.matrix_norm)
def _(x, *, keepdims=False, ord="fro", x_dot):
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
    return y, norm_dot(y, x, x_dot, ord, (-2, -1), keepdims)


@rrule(np.linalg.cond)
def _(x, p=None):
    y = np.linalg.cond(x, p=p)

    def pullback(y_bar):
        return thunk(lambda: cond_bar(y_bar, y, x, p)), NoTangent()

    return y, pullback


@frule(np.linalg.cond)
def _(x, p=None, *, x_dot):
    y = np.linalg.cond(x, p=p)
    return y, cond_dot(y, x, x_dot, p)


# ---------------------------------------------------------------- decompositions


@rrule(np.linalg.cholesky)
def _(a, *, upper=False):
    y = np.linalg.cholesky(a, upper=upper)

    def pullback(y_bar):
        return (thunk(lambda: cholesky_bar(y_bar, y, upper)),)

    return y, pullback


@frule(np.linalg.cholesky)
def _(a, *, upper=False, a_dot):
    y = np.linalg.cholesky(a, upper=upper)
    return y, cholesky_dot(y, a_dot, upper)


@rrule(np.linalg.qr)
def _(a, mode="reduced"):
    y = np.linalg.qr(a, mode=mode)

    def pullback(y_bar):
        return thunk(lambda: qr_bar(y_bar, y, a, mode)), NoTangent()

    return y, pullback


@frule(np.linalg.qr)
def _(a, mode="reduced", *, a_dot):
    y = np.linalg.qr(a, mode=mode)
    return y, qr_dot(y, a, a_dot, mode)


@rrule(np.linalg.eigh)
def _(a, UPLO="L"):
    y = np.linalg.eigh(a, UPLO=UPLO)

    def pullback(y_bar):
        return thunk(lambda: eigh_bar(y_bar, y)), NoTangent()

    return y, pullback


@frule(np.linalg.eigh)
def _(a, UPLO="L", *, a_dot):
    y = np.linalg.eigh(a, UPLO=UPLO)
    return y, eigh_dot(y, a_dot)


@rrule(np.linalg.eigvalsh)
def _(a, UPLO="L"):
    y = np.linalg.eigvalsh(a, UPLO=UPLO)

    def pullback(y_bar):
        return thunk(lambda: eigvalsh_bar(y_bar, a, UPLO)), NoTangent()

    return y, pullback


@frule(np.linalg.eigvalsh)
def _(a, UPLO="L", *, a_dot):
    return np.linalg.eigvalsh(a, UPLO=UPLO), eigvalsh_dot(a, a_dot, UPLO)


@rrule(np.linalg.eig)
def _(a):
    y = np.linalg.eig(a)

    def pullback(y_bar):
        return (thunk(lambda: eig_bar(y_bar, y, a)),)

    return y, pullback


@frule(np.linalg.eig)
def _(a, *, a_dot):
    y = np.linalg.eig(a)
    return y, eig_dot(y, a_dot)


@rrule(np.linalg.eigvals)
def _(a):
    y = np.linalg.eigvals(a)

    def pullback(y_bar):
        return (thunk(lambda: eigvals_bar(y_bar, y, a)),)

    return y, pullback


@frule(np.linalg.eigvals)
def _(a, *, a_dot):
    y = np.linalg.eigvals(a)
    return y, eigvals_dot(y, a, a_dot)


@rrule(np.linalg.svd)
def _(a, full_matrices=True, compute_uv=True, hermitian=False):
    y = np.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, hermitian=hermitian)

    def pullback(y_bar):
        return thunk(lambda: svd_bar(y_bar, y, a, compute_uv, hermitian)), NoTangent(), NoTangent(), NoTangent()

    return y, pullback


@frule(np.linalg.svd)
def _(a, full_matrices=True, compute_uv=True, hermitian=False, *, a_dot):
    y = np.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, hermitian=hermitian)
    return y, svd_dot(y, a, a_dot, compute_uv, hermitian)


@rrule(np.linalg.svdvals)
def _(x):
    y = np.linalg.svdvals(x)

    def pullback(y_bar):
        return (thunk(lambda: svdvals_bar(y_bar, x)),)

    return y, pullback


@frule(np.linalg.svdvals)
def _(x, *, x_dot):
    return np.linalg.svdvals(x), svdvals_dot(x, x_dot)
