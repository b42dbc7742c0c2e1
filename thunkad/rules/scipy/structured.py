"""``scipy.linalg``: matrices made of vectors, systems with them, functions of matrices that are made of others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.scipy.decomposition_helpers import solveh_dot, solveh_matrix_bar, solveh_rhs_bar
from thunkad.rules.scipy.linalg_helpers import matrix_power_bar, matrix_power_dot
from thunkad.runtime.arrays import is_zero
from thunkad.tangents import NoTangent, NotImplementedTangent, thunk


def differences(rows: Any, columns: Any) -> Any:
    """``i - j`` for each place of a matrix."""
    return np.arange(rows)[:, None] - np.arange(columns)


non_differentiable(
    differences,
    *(linalg.hilbert, linalg.invhilbert, linalg.pascal, linalg.invpascal, linalg.hadamard, linalg.helmert, linalg.dft),
)


@alternative(linalg.toeplitz)
def toeplitz(c, r=None):
    c = np.asarray(c)
    r = np.conjugate(c) if r is None else np.asarray(r)
    both = np.concatenate((c[..., ::-1], r[..., 1:]), axis=-1)
    return both[..., c.shape[-1] - 1 - differences(c.shape[-1], r.shape[-1])]


@alternative(linalg.hankel)
def hankel(c, r=None):
    c = np.asarray(c)
    r = np.zeros_like(c) if r is None else np.asarray(r)
    both = np.concatenate((c, r[..., 1:]), axis=-1)
    return both[..., c.shape[-1] - 1 - differences(c.shape[-1], r.shape[-1])[::-1]]


@alternative(linalg.circulant)
def circulant(c):
    c = np.asarray(c)
    n = c.shape[-1]
    return c[..., differences(n, n) % n]


@alternative(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    a = linalg.toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else linalg.toeplitz(c_or_cr)
    return np.linalg.solve(a.astype(np.result_type(a, np.float64)), b)


@alternative(linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    a = linalg.toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else linalg.toeplitz(c_or_cr)
    return a.astype(np.result_type(a, np.float64)) @ x


@alternative(linalg.khatri_rao)
def khatri_rao(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    pairs = a[..., :, None, :] * b[..., None, :, :]
    return np.reshape(pairs, (*pairs.shape[:-3], pairs.shape[-3] * pairs.shape[-2], pairs.shape[-1]))


@rrule(linalg.solveh_banded)
def _(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    y = linalg.solveh_banded(ab, b, False, False, lower, check_finite)

    def pullback(y_bar):
        rhs_bar = solveh_rhs_bar(y_bar, ab, lower)
        return (
            thunk(lambda: solveh_matrix_bar(rhs_bar, y, ab, lower)),
            thunk(lambda: rhs_bar),
            NoTangent(),
            NoTangent(),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(linalg.solveh_banded)
def _(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True, *, ab_dot, b_dot):
    y = linalg.solveh_banded(ab, b, False, False, lower, check_finite)
    return y, solveh_dot(y, ab, ab_dot, b_dot, lower)


# Functions of matrices


@alternative(linalg.cosm)
def cosm(A):
    return (linalg.expm(np.multiply(1j, A)) + linalg.expm(np.multiply(-1j, A))) / 2 if np.iscomplexobj(A) else np.real(linalg.expm(np.multiply(1j, A)))


@alternative(linalg.sinm)
def sinm(A):
    return (linalg.expm(np.multiply(1j, A)) - linalg.expm(np.multiply(-1j, A))) / 2j if np.iscomplexobj(A) else np.imag(linalg.expm(np.multiply(1j, A)))


@alternative(linalg.tanm)
def tanm(A):
    return np.linalg.solve(linalg.cosm(A), linalg.sinm(A))


@alternative(linalg.coshm)
def coshm(A):
    return (linalg.expm(A) + linalg.expm(np.negative(A))) / 2


@alternative(linalg.sinhm)
def sinhm(A):
    return (linalg.expm(A) - linalg.expm(np.negative(A))) / 2


@alternative(linalg.tanhm)
def tanhm(A):
    return np.linalg.solve(linalg.coshm(A), linalg.sinhm(A))


BY_EXPONENT = "write expm(t * logm(A)) for a power with a differentiated exponent"


@rrule(linalg.fractional_matrix_power)
def _(A, t):
    y = linalg.fractional_matrix_power(A, t)

    def pullback(y_bar):
        return (
            thunk(lambda: matrix_power_bar(y_bar, A, t)),
            NotImplementedTangent(BY_EXPONENT),
        )

    return y, pullback


@frule(linalg.fractional_matrix_power)
def _(A, t, *, A_dot, t_dot):
    y = linalg.fractional_matrix_power(A, t)
    part = A_dot if is_zero(A_dot) else matrix_power_dot(A, t, A_dot)
    return y, part + t_dot * NotImplementedTangent(BY_EXPONENT)
