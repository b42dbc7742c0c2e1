"""Cotangents of functions on the coefficients of polynomials, in any of NumPy's bases.

Most of these functions are linear in the coefficients: their matrix is what they give for the unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.runtime.arrays import conjugate, is_zero
from thunkad.runtime.precision import as_precise_as, float_type, unit_matrix
from thunkad.tangents import ZERO


def real_if_real(x_bar: Any, x: Any) -> Any:
    """``x_bar`` for an operand ``x``: its real part if ``x`` is real."""
    return x_bar if np.iscomplexobj(x) else np.real(x_bar)


def trimmed_length(c: Any) -> int:
    """How many coefficients there are without the zeros of the highest degrees (which come last); at least one."""
    used = np.flatnonzero(c)
    return int(used[-1]) + 1 if len(used) else min(1, len(c))


def columns(images: list[Any]) -> Any:
    """A matrix with these columns, the shorter ones filled up with zeros."""
    length = max((len(c) for c in images), default=0)
    matrix = np.zeros((length, len(images)), np.result_type(*images) if images else float)
    for k, c in enumerate(images):
        matrix[: len(c), k] = c
    return matrix


def units(n: int) -> list[Any]:
    """The unit vectors, none of which can be trimmed to nothing: without their trailing zeros."""
    return [np.eye(k + 1)[k] for k in range(n)]


def unit_vector(k: int, c: Any) -> Any:
    """The coefficients of the basis polynomial of degree ``k``."""
    return unit_matrix(k + 1, c)[k]


def linear_map_bar(y_bar: Any, matrix: Any, axis: Any = 0) -> Any:
    """The cotangent of ``c`` in ``y = matrix @ c`` along an axis."""
    y_bar = np.moveaxis(y_bar, axis, 0)
    matrix = as_precise_as(matrix[: len(y_bar)], y_bar)
    return np.moveaxis(np.tensordot(conjugate(matrix).T, y_bar, 1), 0, axis)


def derivative_matrix(der: Callable[..., Any], c: Any, m: Any, scl: Any, axis: Any) -> Any:
    """The matrix of ``der(c, m, scl, axis)``."""
    return der(unit_matrix(np.shape(c)[axis], c), m, scl)


def integral_matrix(integ: Callable[..., Any], c: Any, m: Any, lbnd: Any, scl: Any, axis: Any) -> Any:
    """The matrix of ``integ(c, m, [], lbnd, scl, axis)`` (without the constants of integration)."""
    return integ(unit_matrix(np.shape(c)[axis], c), m, [], lbnd, scl)


def integral_constants_bar(
    y_bar: Any, integ: Callable[..., Any], k: Any, m: Any, lbnd: Any, scl: Any, axis: Any
) -> Any:
    """The cotangent of the constants of integration ``k``."""
    if not np.size(k):
        return ZERO
    count = np.size(k)
    images = [integ(np.zeros(1), m, list(np.eye(count)[i]), lbnd, scl) for i in range(count)]
    rows = np.moveaxis(y_bar, axis, 0)
    length = max(len(c) for c in images)
    rows = rows.reshape(len(rows), -1).sum(axis=1)[:length]
    bars = as_precise_as(conjugate(columns(images)[: len(rows)]), rows).T @ rows
    return list(bars) if isinstance(k, (list, tuple)) else bars.reshape(np.shape(k))


def integral_constants_dot(
    y: Any, integ: Callable[..., Any], k_dot: Any, m: Any, lbnd: Any, scl: Any, axis: Any
) -> Any:
    """The part of the tangent that comes from the constants of integration."""
    if is_zero(k_dot):
        return k_dot
    given = [0.0 if is_zero(t) else t for t in (k_dot if isinstance(k_dot, (list, tuple)) else np.ravel(k_dot))]
    part = integ(np.zeros(1), m, given, lbnd, scl)
    total = np.zeros(np.moveaxis(y, axis, 0).shape, float_type(y))
    total[: len(part)] = part[: len(total)].reshape(-1, *(1,) * (np.ndim(y) - 1))
    return np.moveaxis(total, 0, axis)


def factor_bar(y_bar: Any, mul: Callable[..., Any], c: Any, other: Any) -> Any:
    """The cotangent of one factor ``c`` of a product of two polynomials."""
    return linear_map_bar(y_bar, columns([mul(e, other) for e in units(len(np.atleast_1d(c)))]))


def padded_to(c: Any, y: Any) -> Any:
    """``c`` cut or filled with zeros to the length of ``y``."""
    length = len(y)
    zeros = np.zeros((max(length - len(c), 0), *np.shape(c)[1:]), float_type(y))
    return c[:length] if len(c) >= length else np.concatenate((c, zeros))


def basis_slopes(x: Any, deg: Any, val: Callable[..., Any], der: Callable[..., Any]) -> Any:
    """The derivatives of the basis polynomials up to ``deg`` at ``x``, in the last axis."""
    return np.moveaxis(val(np.asarray(x), der(unit_matrix(deg + 1, x))), 0, -1)


def roots_bar(y_bar: Any, y: Any, c: Any, vander: Callable[..., Any], slope: Any) -> Any:
    """The cotangent of the coefficients ``c`` whose polynomial has the roots ``y``, and there the slopes ``slope``."""
    return real_if_real(-(conjugate(vander(y, len(c) - 1)).T @ (y_bar / conjugate(slope))), c)


def roots_dot(c_dot: Any, y: Any, vander: Callable[..., Any], slope: Any) -> Any:
    """The tangent of the roots ``y``; real where these are."""
    return real_if_real(-(vander(y, len(c_dot) - 1) @ c_dot) / slope, y)


def from_roots_matrix(roots: Any, fromroots: Callable[..., Any], mul: Callable[..., Any] | None = None) -> Any:
    """The derivatives of the coefficients of ``fromroots(roots)`` by each root, as columns."""
    roots = np.asarray(roots)
    return -columns([np.atleast_1d(fromroots(np.delete(roots, k))) for k in range(len(roots))])


def from_roots_bar(y_bar: Any, roots: Any, fromroots: Callable[..., Any]) -> Any:
    """The cotangent of ``roots`` in ``y = fromroots(roots)``."""
    matrix = from_roots_matrix(roots, fromroots)
    return real_if_real(conjugate(matrix).T @ y_bar[: len(matrix)], roots)


# Polynomials with the highest power first: np.poly and its relatives


def horner_slope(p: Any, x: Any) -> Any:
    """The derivative of ``np.polyval(p, x)`` by ``x``."""
    p = np.asarray(p)
    return np.polyval(as_precise_as(np.polyder(p), p), x)


def power_sums(y_bar: Any, p: Any, x: Any) -> Any:
    """The cotangent of ``p`` in ``y = np.polyval(p, x)``."""
    x, y_bar = conjugate(np.asarray(x)), np.asarray(y_bar)
    bars = [np.sum(y_bar * x**k) for k in range(len(p) - 1, -1, -1)]
    return bars if isinstance(p, (list, tuple)) else np.array(bars)


def polyval_dot(p: Any, x: Any, p_dot: Any, x_dot: Any) -> Any:
    """The tangent of ``np.polyval(p, x)``."""
    total = x_dot if is_zero(x_dot) else horner_slope(p, x) * x_dot
    if is_zero(p_dot):
        return total
    given = [0.0 if is_zero(t) else t for t in p_dot] if isinstance(p_dot, (list, tuple)) else p_dot
    return total + np.polyval(given, x)


def leading(p: Any) -> int:
    """Where the coefficients of ``p`` start that are not zeros of the highest powers; the last one always counts."""
    used = np.flatnonzero(p)
    return int(used[0]) if len(used) else max(len(p) - 1, 0)


def powers_down(y: Any, n: int) -> Any:
    """``np.vander(y, n + 1)`` of roots."""
    return as_precise_as(np.vander(y, n + 1), y)


def are_conjugate_pairs(roots: Any) -> bool:
    """Whether complex ``roots`` are those of a real polynomial, to the bit."""
    roots = np.asarray(roots)
    return bool(np.iscomplexobj(roots) and np.all(np.sort(roots) == np.sort(roots.conj())))


def fit_scale(lhs: Any) -> Any:
    """The norms of the columns of a design matrix, one for a column of zeros: what NumPy's fits divide by."""
    norms = np.sqrt(np.sum(np.square(np.abs(lhs)), axis=0))
    return np.where(norms == 0, 1.0, norms)


def placed(degrees: Any, lhs: Any) -> Any:
    """The matrix that puts the coefficients of these degrees to their places, for the design matrix ``lhs``."""
    degrees = np.sort(np.asarray(degrees))
    return np.equal(np.arange(degrees[-1] + 1)[:, None], degrees).astype(float_type(lhs))


def highest(deg: Any) -> int:
    """The highest of the degrees of a fit."""
    return int(np.max(deg))


def default_rcond(x: Any, rcond: Any) -> float:
    """The cut-off of a polynomial fit."""
    return (
        len(x) * float(np.finfo(np.asarray(x).dtype if np.asarray(x).dtype.kind in "fc" else float).eps)
        if rcond is None
        else rcond
    )
