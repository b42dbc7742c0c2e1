"""Derivatives of Cholesky, QR, eigenvalue and singular value decompositions.

Cotangents come as tuples in the order of the results, with structural zeros for results that nobody used.  Eigenvectors
and singular vectors of equal values are not functions of the matrix: differences of values below rounding count
as zero and contribute nothing, which is exact for whatever does not depend on the choice of basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.complex import real_part
from thunkad.runtime.linalg import hermitian_part, real_if
from thunkad.runtime.products import conjugate_transpose


def _diagonal(a: Any) -> Any:
    return np.diagonal(a, axis1=-2, axis2=-1)


def _as_diagonal(d: Any) -> Any:
    return d[..., None] * np.eye(d.shape[-1], dtype=d.dtype)


def inverse_gaps(w: Any, scale: Any) -> Any:
    """``1 / (w[j] - w[i])`` at ``[i, j]``; zero where the two are equal up to rounding at ``scale``."""
    gaps = w[..., None, :] - w[..., :, None]
    tolerance = np.finfo(w.dtype).eps * w.shape[-1] * np.max(scale, axis=-1, initial=0)
    close = np.abs(gaps) <= np.asarray(tolerance)[..., None, None]
    return np.where(close, 0, 1 / np.where(close, 1, gaps))


def require_invariant(defect: Any, what: str, *scales: Any) -> None:
    """Refuse a cotangent that depends on a choice that the decomposition leaves open: ``defect`` is not zero.

    What counts as zero follows from the size and precision of ``scales``.
    """
    size = np.max(np.abs(defect), initial=0)
    scale = max(np.max(np.abs(x), initial=0) for x in scales)
    if size > np.sqrt(np.finfo(np.asarray(defect).dtype).eps) * scale:
        raise NotImplementedDerivativeError(f"the result depends on {what}, so it has no derivative")


# ---------------------------------------------------------------- Cholesky


def _half_lower(a: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    return np.tril(a) - _as_diagonal(_diagonal(a)) / 2


def cholesky_bar(y_bar: Any, y: Any, upper: bool = False) -> Any:
    """The (symmetric) cotangent of ``a`` in ``y = np.linalg.cholesky(a)``."""
    if upper:
        return cholesky_bar(conjugate_transpose(y_bar), conjugate_transpose(y))
    adjoint = conjugate_transpose(y)
    inner = np.linalg.solve(adjoint, _half_lower(adjoint @ np.tril(y_bar)))
    return hermitian_part(conjugate_transpose(np.linalg.solve(adjoint, conjugate_transpose(inner))))


def cholesky_dot(y: Any, a_dot: Any, upper: bool = False) -> Any:
    """The tangent of ``y = np.linalg.cholesky(a)``, for the symmetric part of ``a_dot``."""
    if upper:
        return conjugate_transpose(cholesky_dot(conjugate_transpose(y), a_dot))
    inner = np.linalg.solve(y, hermitian_part(a_dot))
    return y @ _half_lower(conjugate_transpose(np.linalg.solve(y, conjugate_transpose(inner))))


# ---------------------------------------------------------------- QR


def _upper_from(x: Any) -> Any:
    """``dR R⁻¹`` from ``Qᴴ dA R⁻¹``: what makes the rest skew-Hermitian, with a real diagonal."""
    return np.triu(x, 1) + conjugate_transpose(np.tril(x, -1)) + _as_diagonal(np.real(_diagonal(x)))


def _upper_from_adjoint(n: Any) -> Any:
    upper = np.triu(n, 1)
    return upper + conjugate_transpose(upper) + _as_diagonal(np.real(_diagonal(n)))


def qr_bar(y_bar: Any, y: Any, a: Any, mode: str = "reduced") -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.qr(a, mode)``; the leading square block must be regular."""
    if mode == "raw":
        raise NotImplementedDerivativeError("np.linalg.qr(mode='raw') has no derivative; use 'reduced'")
    a = np.asarray(a)
    size = min(a.shape[-2:])
    if mode == "r":
        q, r = np.linalg.qr(a)
        q_bar, r_bar = np.zeros_like(q), y_bar
    else:
        q, r = y
        q_bar = np.zeros_like(q) if is_zero(y_bar[0]) else y_bar[0]
        r_bar = np.zeros_like(r) if is_zero(y_bar[1]) else y_bar[1]
    if q.shape[-1] > size:
        q, q_bar = _without_complement(q, q_bar, size)
        r, r_bar = r[..., :size, :], r_bar[..., :size, :]
    right = r_bar[..., size:]
    q_bar = q_bar + a[..., size:] @ conjugate_transpose(right)
    square, square_bar = r[..., :size], r_bar[..., :size]
    change = _upper_from_adjoint(np.triu(square_bar) @ conjugate_transpose(square) - conjugate_transpose(q) @ q_bar)
    left_bar = conjugate_transpose(np.linalg.solve(square, conjugate_transpose(q_bar + q @ change)))
    return np.concatenate([left_bar, q @ right], axis=-1)


def _without_complement(q: Any, q_bar: Any, size: int) -> tuple[Any, Any]:
    """The cotangent of the first ``size`` orthonormal columns, when the others only complete the basis."""
    inside, outside = q[..., :size], q[..., size:]
    crossed = conjugate_transpose(q_bar[..., size:]) @ q
    defect = crossed[..., size:] - conjugate_transpose(crossed[..., size:])
    require_invariant(defect, "the basis chosen for the orthogonal complement", q_bar)
    return inside, q_bar[..., :size] - outside @ crossed[..., :size]


def qr_dot(y: Any, a: Any, a_dot: Any, mode: str = "reduced") -> Any:
    """The tangent of ``y = np.linalg.qr(a, mode)``."""
    if mode == "raw":
        raise NotImplementedDerivativeError("np.linalg.qr(mode='raw') has no derivative; use 'reduced'")
    a = np.asarray(a)
    size = min(a.shape[-2:])
    full_q, full_r = np.linalg.qr(a) if mode == "r" else y
    q, r = full_q[..., :size], full_r[..., :size, :]
    square = r[..., :size]
    moved = conjugate_transpose(
        np.linalg.solve(conjugate_transpose(square), conjugate_transpose(a_dot[..., :size]))
    )  # a_dot R⁻¹
    change = _upper_from(conjugate_transpose(q) @ moved)
    q_dot = moved - q @ change
    right = conjugate_transpose(q_dot) @ a[..., size:] + conjugate_transpose(q) @ a_dot[..., size:]
    r_dot = np.concatenate([change @ square, right], axis=-1)
    if mode == "r":
        return r_dot
    if full_q.shape[-1] > size:
        q_dot = np.concatenate([q_dot, -q @ (conjugate_transpose(q_dot) @ full_q[..., size:])], axis=-1)
        r_dot = np.concatenate([r_dot, np.zeros_like(full_r[..., size:, :])], axis=-2)
    return q_dot, r_dot


# ---------------------------------------------------------------- Hermitian eigenvalues


def eigh_bar(y_bar: Any, y: Any) -> Any:
    """The (symmetric) cotangent of ``a`` in ``y = np.linalg.eigh(a)``."""
    w, v = y
    w_bar, v_bar = y_bar
    adjoint = conjugate_transpose(v)
    if is_zero(v_bar):
        return hermitian_part((v * w_bar[..., None, :]) @ adjoint)
    inner = adjoint @ v_bar
    if np.iscomplexobj(inner):
        require_invariant(np.imag(_diagonal(inner)), "the phase of the eigenvectors", v_bar)
    inner = inverse_gaps(w, np.abs(w)) * inner
    if not is_zero(w_bar):
        inner = inner + _as_diagonal(w_bar)
    return hermitian_part(v @ inner @ adjoint)


def eigh_dot(y: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of ``y = np.linalg.eigh(a)``, for the symmetric part of ``a_dot``."""
    w, v = y
    inner = conjugate_transpose(v) @ hermitian_part(a_dot) @ v
    return np.real(_diagonal(inner)), v @ (inverse_gaps(w, np.abs(w)) * inner)


def eigvalsh_bar(y_bar: Any, a: Any, UPLO: Any = "L") -> Any:
    """The (symmetric) cotangent of ``a`` in ``y = np.linalg.eigvalsh(a)``."""
    v = np.linalg.eigh(a, UPLO)[1]
    return hermitian_part((v * y_bar[..., None, :]) @ conjugate_transpose(v))


def eigvalsh_dot(a: Any, a_dot: Any, UPLO: Any = "L") -> Any:
    """The tangent of ``y = np.linalg.eigvalsh(a)``."""
    v = np.linalg.eigh(a, UPLO)[1]
    return np.real(_diagonal(conjugate_transpose(v) @ hermitian_part(a_dot) @ v))


# ---------------------------------------------------------------- general eigenvalues


def _largest_entry(v: Any) -> Any:
    """A mask of the entry of each column that LAPACK makes real: the largest."""
    index = np.argmax(np.abs(v), axis=-2)[..., None, :]
    return np.arange(v.shape[-2])[:, None] == index


def eig_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.eig(a)``: columns of length one, their largest entry real."""
    w, v = y
    w_bar, v_bar = y_bar
    adjoint = conjugate_transpose(v)
    inner: Any = 0.0
    if not is_zero(w_bar):
        inner = _as_diagonal(np.asarray(w_bar))
    if not is_zero(v_bar):
        overlap = np.sum(np.conjugate(v_bar) * v, axis=-2, keepdims=True)
        free_bar = v_bar - np.real(overlap) * v
        if np.iscomplexobj(overlap):
            pivot = np.sum(np.where(_largest_entry(v), v, 0), axis=-2, keepdims=True)
            free_bar = free_bar + np.where(_largest_entry(v), 1j * np.imag(overlap) / pivot, 0)
        inner = inner + np.conjugate(inverse_gaps(w, np.abs(w))) * (adjoint @ free_bar)
    return real_if(np.linalg.solve(adjoint, inner @ adjoint), a)


def eig_dot(y: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of ``y = np.linalg.eig(a)``."""
    w, v = y
    inner = np.linalg.solve(v, a_dot @ v)
    free = v @ (inverse_gaps(w, np.abs(w)) * inner)
    scale = -np.real(np.sum(np.conjugate(v) * free, axis=-2, keepdims=True))
    if np.iscomplexobj(free):
        largest = _largest_entry(v)
        pivot = np.real(np.sum(np.where(largest, v, 0), axis=-2, keepdims=True))
        scale = scale - 1j * np.imag(np.sum(np.where(largest, free, 0), axis=-2, keepdims=True)) / pivot
    return _diagonal(inner), free + v * scale


def eigenvectors_for(w: Any, a: Any) -> Any:
    """Eigenvectors of ``a`` in the order of the eigenvalues ``w``.

    LAPACK may order eigenvalues otherwise when it computes no vectors.
    """
    found, v = np.linalg.eig(a)
    return np.take_along_axis(v, matching(w, found)[..., None, :], axis=-1)


def matching(w: Any, found: Any) -> Any:
    """For each eigenvalue in ``w`` the place of the nearest in ``found`` that is not taken yet."""
    order = np.zeros(np.shape(w), int)
    for at in np.ndindex(*np.shape(w)[:-1]):
        free = list(range(np.shape(w)[-1]))
        for j, value in enumerate(w[at]):
            nearest = min(free, key=lambda i: abs(found[at][i] - value))
            free.remove(nearest)
            order[(*at, j)] = nearest
    return order


def eigvals_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.eigvals(a)``."""
    adjoint = conjugate_transpose(eigenvectors_for(y, a))
    return real_if(np.linalg.solve(adjoint, y_bar[..., :, None] * adjoint), a)


def eigvals_dot(y: Any, a: Any, a_dot: Any) -> Any:
    """The tangent of ``y = np.linalg.eigvals(a)``."""
    v = eigenvectors_for(y, a)
    return _diagonal(np.linalg.solve(v, a_dot @ v))


# ---------------------------------------------------------------- singular values


def _inverse_square_gaps(s: Any) -> Any:
    """``1 / (s[j]² - s[i]²)`` at ``[i, j]``, zero where the two are equal."""
    sums = s[..., None, :] + s[..., :, None]
    return inverse_gaps(s, s) / np.where(sums == 0, 1, sums)


def _pseudo_reciprocal(s: Any) -> Any:
    zero = s <= np.finfo(s.dtype).eps * s.shape[-1] * np.max(s, axis=-1, initial=0, keepdims=True)
    return np.where(zero, 0, 1 / np.where(zero, 1, s))


def _phases(inner: Any) -> Any:
    """How far a cotangent asks each singular vector to turn in the complex plane."""
    return np.imag(_diagonal(inner))


def svd_bar(y_bar: Any, y: Any, a: Any, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.svd(a, …)``, whatever it returned."""
    if not compute_uv:
        return svdvals_bar(y_bar, a, hermitian)
    u_bar, s_bar, vh_bar = y_bar[0], real_part(y_bar[1]), y_bar[2]
    u, s, vh = y
    size = s.shape[-1]
    u, u_bar = _thin(u, u_bar, size)
    v, v_bar = _thin(conjugate_transpose(vh), vh_bar if is_zero(vh_bar) else conjugate_transpose(vh_bar), size)
    u_adj, v_adj = conjugate_transpose(u), conjugate_transpose(v)
    if is_zero(u_bar) and is_zero(v_bar):
        a_bar = (u * s_bar[..., None, :]) @ v_adj
        return hermitian_part(a_bar) if hermitian else a_bar
    gaps = _inverse_square_gaps(s)
    reciprocal = _pseudo_reciprocal(s)
    inner: Any = 0.0 if is_zero(s_bar) else _as_diagonal(s_bar)
    outside: Any = 0.0
    phase: Any = 0.0
    turned: Any = 0.0
    if not is_zero(u_bar):
        overlap = u_adj @ u_bar
        rotation = gaps * overlap
        inner = inner + (rotation + conjugate_transpose(rotation)) * s[..., None, :]
        outside = outside + ((u_bar - u @ overlap) * reciprocal[..., None, :]) @ v_adj
        phase, turned = phase + _phases(overlap), turned + _phases(overlap)
    if not is_zero(v_bar):
        overlap = v_adj @ v_bar
        rotation = gaps * overlap
        inner = inner + s[..., :, None] * (rotation + conjugate_transpose(rotation))
        outside = outside + u @ conjugate_transpose((v_bar - v @ overlap) * reciprocal[..., None, :])
        phase, turned = phase + _phases(overlap), turned - _phases(overlap)
    if np.iscomplexobj(a):
        require_invariant(phase, "the phase of the singular vectors", *[x for x in (u_bar, v_bar) if not is_zero(x)])
        inner = inner + _as_diagonal(0.5j * turned * reciprocal)
    a_bar = u @ inner @ v_adj + outside
    return hermitian_part(a_bar) if hermitian else a_bar


def _thin(u: Any, u_bar: Any, size: int) -> tuple[Any, Any]:
    if u.shape[-1] == size:
        return u, u_bar
    if is_zero(u_bar):
        return u[..., :size], u_bar
    return _without_complement(u, u_bar, size)


def svd_dot(y: Any, a: Any, a_dot: Any, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The tangent of ``y = np.linalg.svd(a, …)``, whatever it returned."""
    if hermitian:
        a_dot = hermitian_part(a_dot)
    if not compute_uv:
        return svdvals_dot(a, a_dot, hermitian)
    full_u, s, full_vh = y
    size = s.shape[-1]
    u, v = full_u[..., :size], conjugate_transpose(full_vh[..., :size, :])
    inner = conjugate_transpose(u) @ a_dot @ v
    inner_adj = conjugate_transpose(inner)
    gaps = _inverse_square_gaps(s)
    reciprocal = _pseudo_reciprocal(s)
    u_turn = gaps * (inner * s[..., None, :] + s[..., :, None] * inner_adj)
    v_turn = gaps * (s[..., :, None] * inner + inner_adj * s[..., None, :])
    if np.iscomplexobj(a):
        phase = _as_diagonal(0.5j * np.imag(_diagonal(inner)) * reciprocal)
        u_turn, v_turn = u_turn + phase, v_turn - phase
    scale = reciprocal[..., None, :]
    u_dot = u @ u_turn + (a_dot @ v - u @ inner) * scale
    v_dot = v @ v_turn + (conjugate_transpose(a_dot) @ u - v @ inner_adj) * scale
    u_dot = _with_complement(full_u, u, u_dot)
    v_dot = _with_complement(conjugate_transpose(full_vh), v, v_dot)
    return u_dot, np.real(_diagonal(inner)), conjugate_transpose(v_dot)


def _with_complement(full: Any, thin: Any, thin_dot: Any) -> Any:
    size = thin.shape[-1]
    if full.shape[-1] == size:
        return thin_dot
    return np.concatenate([thin_dot, -thin @ (conjugate_transpose(thin_dot) @ full[..., size:])], axis=-1)


def svdvals_bar(y_bar: Any, a: Any, hermitian: bool = False) -> Any:
    """The cotangent of ``a`` in ``y = np.linalg.svdvals(a)``."""
    u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    a_bar = (u * real_part(y_bar)[..., None, :]) @ vh
    return hermitian_part(a_bar) if hermitian else a_bar


def svdvals_dot(a: Any, a_dot: Any, hermitian: bool = False) -> Any:
    """The tangent of ``y = np.linalg.svdvals(a)``."""
    u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    return np.real(_diagonal(conjugate_transpose(u) @ a_dot @ conjugate_transpose(vh)))
