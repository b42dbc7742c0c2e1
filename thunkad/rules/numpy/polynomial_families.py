"""``np.polynomial``: the functions on coefficients of the six families of polynomials, which differ in their basis only.

What is not named here (evaluation, weights) is Python code that is looked into.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from thunkad.errors import UnsupportedSyntaxError
from thunkad.rules.keywords import ALIASES
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.refused import refuse
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.polynomials import (
    basis_slopes,
    columns,
    default_rcond,
    derivative_matrix,
    factor_bar,
    fit_scale,
    from_roots_bar,
    from_roots_matrix,
    highest,
    integral_constants_bar,
    integral_constants_dot,
    integral_matrix,
    linear_map_bar,
    padded_to,
    placed,
    roots_bar,
    roots_dot,
    trimmed_length,
    unit_vector,
    units,
)
from thunkad.tangents import NoTangent, NotImplementedTangent, thunk

FAMILIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}

non_differentiable(trimmed_length, placed, highest, default_rcond, unit_vector)
refuse(
    "an object holds the coefficients; keep them in an array and use the functions of the module, such as polyval",
    *(getattr(np.polynomial, name) for name in "Polynomial Chebyshev Legendre Hermite HermiteE Laguerre".split()),
    polynomial.ABCPolyBase,  # type: ignore[attr-defined]  # public, but not in the stubs
)


def linear(function: Any) -> None:
    """The rules of ``function(c)``, linear in one-dimensional coefficients."""

    @rrule(function)
    def _(c):
        y = function(c)

        def pullback(y_bar):
            return (thunk(lambda: linear_map_bar(y_bar, columns([function(e) for e in units(len(c))]))),)

        return y, pullback

    @frule(function)
    def _(c, *, c_dot):
        y = function(c)
        return y, padded_to(function(c_dot), y)


def calculus(der: Any, integ: Any) -> None:
    """The rules of differentiation and integration."""
    by_scale = "multiply by scl**m instead of passing a differentiated scl"
    by_bound = "the lower bound of an integral of coefficients is not differentiated"

    @rrule(der)
    def _(c, m=1, scl=1, axis=0):
        y = der(c, m, scl, axis)

        def pullback(y_bar):
            return (
                thunk(lambda: linear_map_bar(y_bar, derivative_matrix(der, c, m, scl, axis), axis)),
                NoTangent(),
                NotImplementedTangent(by_scale),
                NoTangent(),
            )

        return y, pullback

    @frule(der)
    def _(c, m=1, scl=1, axis=0, *, c_dot, scl_dot):
        part = c_dot if is_zero(c_dot) else der(c_dot, m, scl, axis)
        return der(c, m, scl, axis), part + scl_dot * NotImplementedTangent(by_scale)

    @rrule(integ)
    def _(c, m=1, k=[], lbnd=0, scl=1, axis=0):  # noqa: B006 (NumPy's own default)
        y = integ(c, m, k, lbnd, scl, axis)

        def pullback(y_bar):
            return (
                thunk(lambda: linear_map_bar(y_bar, integral_matrix(integ, c, m, lbnd, scl, axis), axis)),
                NoTangent(),
                thunk(lambda: integral_constants_bar(y_bar, integ, k, m, lbnd, scl, axis)),
                NotImplementedTangent(by_bound),
                NotImplementedTangent(by_scale),
                NoTangent(),
            )

        return y, pullback

    @frule(integ)
    def _(c, m=1, k=[], lbnd=0, scl=1, axis=0, *, c_dot, k_dot, lbnd_dot, scl_dot):  # noqa: B006
        y = integ(c, m, k, lbnd, scl, axis)
        part = c_dot * 0.0 if isinstance(c_dot, np.ndarray) is False else integ(c_dot, m, [], lbnd, scl, axis)
        part = part + lbnd_dot * NotImplementedTangent(by_bound) + scl_dot * NotImplementedTangent(by_scale)
        return y, part + integral_constants_dot(y, integ, k_dot, m, lbnd, scl, axis)


def arithmetic(add: Any, sub: Any, mul: Any, div: Any, power: Any) -> None:
    """The rules of sums, products, quotients and powers."""

    def filled(c, n):
        c = np.atleast_1d(c) + 0.0
        return c if len(c) >= n else np.concatenate((c, np.zeros(n - len(c), c.dtype)))

    @alternative(add)
    def summed(c1, c2):
        n = max(np.size(c1), np.size(c2))
        total = filled(c1, n) + filled(c2, n)
        return total[: trimmed_length(total)]

    @alternative(sub)
    def subtracted(c1, c2):
        n = max(np.size(c1), np.size(c2))
        total = filled(c1, n) - filled(c2, n)
        return total[: trimmed_length(total)]

    @rrule(mul)
    def _(c1, c2):
        y = mul(c1, c2)

        def pullback(y_bar):
            return thunk(lambda: factor_bar(y_bar, mul, c1, c2)), thunk(lambda: factor_bar(y_bar, mul, c2, c1))

        return y, pullback

    @frule(mul)
    def _(c1, c2, *, c1_dot, c2_dot):
        y = mul(c1, c2)
        left = c1_dot if not isinstance(c1_dot, np.ndarray) else padded_to(mul(c1_dot, c2), y)
        return y, left + (c2_dot if not isinstance(c2_dot, np.ndarray) else padded_to(mul(c1, c2_dot), y))

    @alternative(div)
    def divided(c1, c2):
        c1 = np.atleast_1d(c1) + 0.0
        c2 = np.atleast_1d(c2) + 0.0
        precise = np.result_type(c1, c2)
        rest = c1[: trimmed_length(c1)]
        c2 = c2[: trimmed_length(c2)]
        steps = len(rest) - len(c2) + 1
        if steps <= 0:
            return np.zeros(1, rest.dtype), rest
        if len(c2) == 1:
            return rest / c2[0], np.zeros(1, rest.dtype)
        quotient: list[Any] = []
        for k in range(steps - 1, -1, -1):
            shifted = mul(unit_vector(k, c2), c2)
            q = rest[-1] / shifted[-1]
            rest = rest[:-1] - q * shifted[:-1]
            quotient = [q, *quotient]
        return np.stack(quotient).astype(precise), rest[: trimmed_length(rest)]

    @alternative(power)
    def raised(c, pow, maxpower=16):
        if pow == 0:
            return np.ones(1)
        total = np.atleast_1d(c) + 0.0
        for _ in range(pow - 1):
            total = mul(total, c)
        return total


def bases(vander: Any, vander2d: Any, vander3d: Any, val: Any, der: Any) -> None:
    """The rules of the matrices of basis polynomials."""

    @rrule(vander)
    def _(x, deg):
        y = vander(x, deg)

        def pullback(y_bar):
            return thunk(lambda: np.sum(y_bar * np.conjugate(basis_slopes(x, deg, val, der)), axis=-1)), NoTangent()

        return y, pullback

    @frule(vander)
    def _(x, deg, *, x_dot):
        return vander(x, deg), np.asarray(x_dot)[..., None] * basis_slopes(x, deg, val, der)

    @alternative(vander2d)
    def products2d(x, y, deg):
        both = vander(x, deg[0])[..., :, None] * vander(y, deg[1])[..., None, :]
        return np.reshape(both, (*both.shape[:-2], -1))

    @alternative(vander3d)
    def products3d(x, y, z, deg):
        first = vander(x, deg[0])[..., :, None, None]
        second = vander(y, deg[1])[..., None, :, None]
        all3 = first * second * vander(z, deg[2])[..., None, None, :]
        return np.reshape(all3, (*all3.shape[:-3], -1))


def surfaces(val: Any, val2d: Any, val3d: Any, grid2d: Any, grid3d: Any) -> None:
    """The values of polynomials of two and three variables."""

    @alternative(val2d)
    def values2d(x, y, c):
        return val(y, val(x, c), tensor=False)

    @alternative(val3d)
    def values3d(x, y, z, c):
        return val(z, val(y, val(x, c), tensor=False), tensor=False)

    @alternative(grid2d)
    def gridded2d(x, y, c):
        return val(y, val(x, c))

    @alternative(grid3d)
    def gridded3d(x, y, z, c):
        return val(z, val(y, val(x, c)))


def roots_and_fits(roots: Any, fromroots: Any, fit: Any, vander: Any, val: Any, der: Any) -> None:
    """The rules of roots and of least-squares fits."""

    @rrule(roots)
    def _(c):
        y = roots(c)

        def pullback(y_bar):
            return (thunk(lambda: roots_bar(y_bar, y, c, vander, val(y, der(c)))),)

        return y, pullback

    @frule(roots)
    def _(c, *, c_dot):
        y = roots(c)
        return y, roots_dot(c_dot, y, vander, val(y, der(c)))

    @rrule(fromroots)
    def _(roots):
        y = fromroots(roots)

        def pullback(y_bar):
            return (thunk(lambda: from_roots_bar(y_bar, roots, fromroots)),)

        return y, pullback

    @frule(fromroots)
    def _(roots, *, roots_dot):
        y = fromroots(roots)
        return y, padded_to(from_roots_matrix(roots, fromroots) @ roots_dot, y)

    @alternative(fit)
    def fitted(x, y, deg, rcond=None, full=False, w=None):
        refuse_full(full)
        x = np.asarray(x) + 0.0
        lhs = vander(x, highest(deg))
        places = None if np.ndim(deg) == 0 else placed(deg, lhs)
        lhs = lhs if places is None else lhs @ places
        rhs = np.asarray(y) + 0.0
        if w is not None:
            w = np.asarray(w) + 0.0
            lhs = lhs * w[:, None]
            rhs = (rhs.T * w).T
        scale = fit_scale(lhs)
        solution = np.linalg.lstsq(lhs / scale, rhs, default_rcond(x, rcond))[0]
        coefficients = (solution.T / scale).T
        return coefficients if places is None else places @ coefficients


def refuse_full(full: Any) -> None:
    if full:
        raise UnsupportedSyntaxError(
            "a fit with full=True is not differentiated", hint="np.polyfit gives the residuals, too"
        )


non_differentiable(refuse_full)


def family(prefix: str, module: Any) -> None:
    """All rules of one family."""

    def named(name: str) -> Any:
        return getattr(module, prefix + name)

    calculus(named("der"), named("int"))
    arithmetic(*map(named, ("add", "sub", "mul", "div", "pow")))
    bases(*map(named, ("vander", "vander2d", "vander3d", "val", "der")))
    surfaces(*map(named, ("val", "val2d", "val3d", "grid2d", "grid3d")))
    roots_and_fits(*map(named, ("roots", "fromroots", "fit", "vander", "val", "der")))
    linear(named("mulx"))
    if prefix != "poly":
        linear(getattr(module, f"poly2{prefix}"))
        ALIASES[getattr(module, f"poly2{prefix}")] = {"pol": "c"}
        linear(getattr(module, f"{prefix}2poly"))
        non_differentiable(named("gauss"))


for _prefix, _module in FAMILIES.items():
    family(_prefix, _module)
non_differentiable(chebyshev.chebpts1, chebyshev.chebpts2)


@alternative(chebyshev.chebinterpolate)
def chebinterpolate(func, deg, args=()):
    points = chebyshev.chebpts1(deg + 1)
    values = func(points, *args)
    basis = chebyshev.chebvander(points, deg)
    return np.dot(basis.T, values) / np.concatenate((np.full(1, deg + 1.0), np.full(deg, 0.5 * (deg + 1))))
