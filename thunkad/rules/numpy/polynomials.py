"""Polynomials by their coefficients, the highest power first: ``np.polyval`` and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.refused import refuse
from thunkad.runtime.arrays import conjugate, unbroadcast
from thunkad.runtime.polynomials import (
    are_conjugate_pairs,
    default_rcond,
    fit_scale,
    horner_slope,
    leading,
    polyval_dot,
    power_sums,
    powers_down,
    roots_bar,
    roots_dot,
)
from thunkad.tangents import thunk

non_differentiable(are_conjugate_pairs, default_rcond, leading)
refuse("an object holds the coefficients; keep them in an array and use np.polyval, np.polymul, …", np.poly1d)


@rrule(np.polyval)
def _(p, x):
    y = np.polyval(p, x)

    def pullback(y_bar):
        return thunk(lambda: power_sums(y_bar, p, x)), thunk(
            lambda: unbroadcast(y_bar * conjugate(horner_slope(p, x)), x)
        )

    return y, pullback


@frule(np.polyval)
def _(p, x, *, p_dot, x_dot):
    return np.polyval(p, x), polyval_dot(p, x, p_dot, x_dot)


@rrule(np.roots)
def _(p):
    y = np.roots(p)

    def pullback(y_bar):
        return (thunk(lambda: roots_bar(y_bar, y, p, powers_down, horner_slope(p, y))),)

    return y, pullback


@frule(np.roots)
def _(p, *, p_dot):
    y = np.roots(p)
    return y, roots_dot(p_dot, y, powers_down, horner_slope(p, y))


def lengthened(p, n):
    """``p`` with zeros in front, ``n`` coefficients in all."""
    p = np.atleast_1d(p)
    return p if len(p) >= n else np.concatenate((np.zeros(n - len(p), p.dtype), p))


@alternative(np.polyadd)
def polyadd(a1, a2):
    n = max(np.size(a1), np.size(a2))
    return lengthened(a1, n) + lengthened(a2, n)


@alternative(np.polysub)
def polysub(a1, a2):
    n = max(np.size(a1), np.size(a2))
    return lengthened(a1, n) - lengthened(a2, n)


@alternative(np.polymul)
def polymul(a1, a2):
    a1 = np.atleast_1d(a1)
    a2 = np.atleast_1d(a2)
    return np.convolve(a1[leading(a1) :], a2[leading(a2) :])


@alternative(np.polydiv)
def polydiv(u, v):
    u = np.atleast_1d(u) + 0.0
    v = np.atleast_1d(v) + 0.0
    steps = len(u) - len(v) + 1
    if steps <= 0:
        return np.zeros(1, u.dtype), u[leading(u) :]
    rest = u
    parts: list[Any] = []
    for k in range(steps):
        d = rest[k] / v[0]
        parts = [*parts, d]
        rest = rest - np.concatenate((np.zeros(k, v.dtype), d * v, np.zeros(len(u) - len(v) - k, v.dtype)))
    first = 0
    while np.allclose(rest[first], 0, rtol=1e-14) and first < len(u) - 1:
        first = first + 1
    return np.stack(parts), rest[first:]


@alternative(np.polyder)
def polyder(p, m=1):
    p = np.asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@alternative(np.polyint)
def polyint(p, m=1, k=None):
    p = np.asarray(p)
    constants = np.zeros(m) if k is None else np.atleast_1d(k)
    if len(constants) == 1 and m > 1:
        constants = constants * np.ones(m)
    for step in range(m):
        p = np.concatenate((p / np.arange(len(p), 0, -1), constants[step : step + 1]))
    return p


@alternative(np.poly)
def poly(seq_of_zeros):
    roots = np.atleast_1d(seq_of_zeros)
    if roots.ndim == 2:
        roots = np.linalg.eigvals(roots)
    total = np.ones(1, roots.dtype)
    for k in range(len(roots)):
        total = np.convolve(total, np.stack([np.ones_like(roots[k]), -roots[k]]))
    return np.real(total) if are_conjugate_pairs(roots) else total


@alternative(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    rcond = default_rcond(x, rcond)
    lhs = np.vander(np.asarray(x) + 0.0, int(deg) + 1)
    rhs = np.asarray(y) + 0.0
    if w is not None:
        w = np.asarray(w) + 0.0
        lhs = lhs * w[:, None]
        rhs = rhs * (w[:, None] if rhs.ndim == 2 else w)
    scale = fit_scale(lhs)
    solution, residuals, rank, singular = np.linalg.lstsq(lhs / scale, rhs, rcond)
    coefficients = (solution.T / scale).T
    if full:
        return coefficients, residuals, rank, singular, rcond
    if cov:
        base = np.linalg.inv(np.dot((lhs / scale).T, lhs / scale)) / np.outer(scale, scale)
        if cov == "unscaled":
            return coefficients, base
        factor = np.sum(np.square(rhs - np.dot(lhs, coefficients)), axis=0) / (len(x) - int(deg) - 1)
        return coefficients, (base * factor if rhs.ndim == 1 else base[:, :, None] * factor)
    return coefficients
