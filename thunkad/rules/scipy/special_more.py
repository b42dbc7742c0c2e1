"""``scipy.special``, the second part: transforms, integrals, orthogonal polynomials, distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from thunkad.kinds.lattice import Kind, Num
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import alternative, frule, non_differentiable, rrule, scalar_rule
from thunkad.rules.scipy.special_helpers import (
    boxcox_growth,
    elliptic_e_growth,
    elliptic_f_growth,
    inverse_boxcox_growth,
    log_density_of_beta,
    modified_curvature,
    share,
    spherical_curvature,
)
from thunkad.runtime.arrays import conjugate, is_zero
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import NoTangent, NotImplementedTangent, thunk


def order(name: str) -> NotImplementedTangent:
    """The derivative by an order or degree."""
    return NotImplementedTangent(f"scipy.special.{name} has no derivative by its order or shape parameter")


def complex_number(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Num("any", "complex")


non_differentiable(special.round)

# Elementary functions

scalar_rule(special.cotdg, lambda y, x: -(math.pi / 180 * (1 + y * y)))
scalar_rule(
    special.radian,
    lambda y, d, m, s: as_precise_as(math.pi / 180, y),
    lambda y, d, m, s: as_precise_as(math.pi / 10800, y),
    lambda y, d, m, s: as_precise_as(math.pi / 648000, y),
)
scalar_rule(
    special.powm1, lambda z, x, y: y * np.power(x, y - 1), lambda z, x, y: special.xlogy(1 + z, x)
)
scalar_rule(
    special.inv_boxcox,
    lambda x, y, lmbda: np.power(x, 1 - lmbda),
    lambda x, y, lmbda: as_precise_as(inverse_boxcox_growth(x, y, lmbda), x),
)
scalar_rule(
    special.boxcox1p,
    lambda y, x, lmbda: np.power(1 + x, lmbda - 1),
    lambda y, x, lmbda: as_precise_as(boxcox_growth(y, 1 + x, lmbda), y),
)
scalar_rule(
    special.inv_boxcox1p,
    lambda x, y, lmbda: np.power(1 + x, 1 - lmbda),
    lambda x, y, lmbda: as_precise_as(inverse_boxcox_growth(1 + x, y, lmbda), x),
)
scalar_rule(special.wrightomega, lambda w, z: w / (1 + w))
if hasattr(special, "softplus"):
    scalar_rule(special.softplus, lambda y, x: special.expit(x))
RESULT_KINDS[special.lambertw] = complex_number


@rrule(special.lambertw)
def _(z, k=0, tol=1e-8):
    w = special.lambertw(z, k, tol)

    def pullback(w_bar):
        return thunk(lambda: w_bar / np.conjugate(np.exp(w) * (1 + w))), NoTangent(), NoTangent()

    return w, pullback


@frule(special.lambertw)
def _(z, k=0, tol=1e-8, *, z_dot):
    w = special.lambertw(z, k, tol)
    return w, z_dot / (np.exp(w) * (1 + w))


# Combinations


@alternative(special.comb)
def comb(N, k, *, exact=False, repetition=False):
    N = np.asarray(N, float)
    return special.binom(N + k - 1, k) if repetition else special.binom(N, k) * ((k <= N) & (N >= 0) & (k >= 0))


@alternative(special.perm)
def perm(N, k, exact=False):
    N = np.asarray(N, float)
    return special.poch(N - k + 1, k) * ((k <= N) & (N >= 0) & (k >= 0))


@alternative(special.factorial)
def factorial(n, exact=False, extend="zero"):
    n = np.asarray(n, float)
    return special.gamma(np.where(n < 0, 0.0, n) + 1.0) * (n >= 0)


# Elliptic integrals

scalar_rule(
    special.ellipkm1,
    lambda y, p: np.where(p == 1, -math.pi / 8, share(y - special.ellipe(1 - p) / p, 2 * (1 - p))),
)
scalar_rule(
    special.ellipkinc,
    lambda y, phi, m: 1 / np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda y, phi, m: elliptic_f_growth(y, phi, m),
)
scalar_rule(
    special.ellipeinc,
    lambda y, phi, m: np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda y, phi, m: elliptic_e_growth(y, phi, m),
)

# Functions of several results


def total_bar(y_bar: Any, slopes: Any) -> Any:
    """The cotangent of what goes into several results, those of which may be structural zeros."""
    total: Any = 0.0 * slopes[0]
    for k, slope in enumerate(slopes):
        if not is_zero(y_bar[k]):
            total = total + y_bar[k] * conjugate(slope)
    return total


def fresnel_slopes(z, y):
    """The derivatives of the Fresnel integrals."""
    return np.sin(math.pi / 2 * z * z), np.cos(math.pi / 2 * z * z)


def sici_slopes(x, y):
    """The derivatives of the sine and the cosine integral."""
    return np.where(x == 0, 1.0, share(np.sin(x), x)), np.cos(x) / x


def shichi_slopes(x, y):
    """The derivatives of the hyperbolic sine and cosine integrals."""
    return np.where(x == 0, 1.0, share(np.sinh(x), x)), np.cosh(x) / x


def airy_slopes(z, y):
    """The derivatives of the Airy functions and of their derivatives."""
    return y[1], z * y[0], y[3], z * y[2]


def dots_of(slopes, x_dot):
    """The tangents of several results."""
    return tuple([slope * x_dot for slope in slopes])


def several(function: Any, slopes: Any) -> None:
    """The rules of a function of one argument, ``slopes(x, y)`` being the derivatives of its results ``y``."""

    @rrule(function)
    def _(x):
        y = function(x)

        def pullback(y_bar):
            return (thunk(lambda: total_bar(y_bar, slopes(x, y))),)

        return y, pullback

    @frule(function)
    def _(x, *, x_dot):
        y = function(x)
        return y, dots_of(slopes(x, y), x_dot)


several(special.fresnel, fresnel_slopes)
several(special.sici, sici_slopes)
several(special.shichi, shichi_slopes)
several(special.airy, airy_slopes)

# Bessel functions and their relatives

scalar_rule(
    special.struve, lambda y, v, x: order("struve"), lambda y, v, x: special.struve(v - 1, x) - v / x * y
)
scalar_rule(
    special.modstruve, lambda y, v, x: order("modstruve"), lambda y, v, x: special.modstruve(v - 1, x) - v / x * y
)
scalar_rule(
    special.hankel1e,
    lambda y, v, z: order("hankel1e"),
    lambda y, v, z: (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) / 2 - 1j * y,
)
scalar_rule(
    special.hankel2e,
    lambda y, v, z: order("hankel2e"),
    lambda y, v, z: (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) / 2 + 1j * y,
)


def spherical(function: Any, curvature: Any) -> None:
    """The rules of ``function(n, z, derivative)``; the second derivative follows from the equation that it solves."""

    def slope(y, n, z, derivative):
        return as_precise_as(curvature(function, n, z) if derivative else function(n, z, True), y)

    @rrule(function)
    def _(n, z, derivative=False):
        y = function(n, z, derivative)

        def pullback(y_bar):
            return NoTangent(), thunk(lambda: y_bar * np.conjugate(slope(y, n, z, derivative))), NoTangent()

        return y, pullback

    @frule(function)
    def _(n, z, derivative=False, *, z_dot):
        y = function(n, z, derivative)
        return y, slope(y, n, z, derivative) * z_dot


spherical(special.spherical_jn, spherical_curvature)
spherical(special.spherical_yn, spherical_curvature)
spherical(special.spherical_in, modified_curvature)
spherical(special.spherical_kn, modified_curvature)

# Orthogonal polynomials, by their argument

scalar_rule(
    special.eval_legendre,
    lambda y, n, x: order("eval_legendre"),
    lambda y, n, x: (n + 1) / 2 * special.eval_jacobi(n - 1, 1, 1, x),
)
scalar_rule(
    special.eval_chebyu,
    lambda y, n, x: order("eval_chebyu"),
    lambda y, n, x: 2 * special.eval_gegenbauer(n - 1, 2.0, x),
)
scalar_rule(
    special.eval_hermitenorm,
    lambda y, n, x: order("eval_hermitenorm"),
    lambda y, n, x: n * special.eval_hermitenorm(np.maximum(n - 1, 0), x),
)
scalar_rule(
    special.eval_laguerre,
    lambda y, n, x: order("eval_laguerre"),
    lambda y, n, x: -special.eval_genlaguerre(n - 1, 1.0, x),
)
scalar_rule(
    special.eval_genlaguerre,
    lambda y, n, a, x: order("eval_genlaguerre"),
    lambda y, n, a, x: order("eval_genlaguerre"),
    lambda y, n, a, x: -special.eval_genlaguerre(n - 1, a + 1.0, x),
)
scalar_rule(
    special.eval_gegenbauer,
    lambda y, n, a, x: order("eval_gegenbauer"),
    lambda y, n, a, x: order("eval_gegenbauer"),
    lambda y, n, a, x: 2 * a * special.eval_gegenbauer(n - 1, a + 1.0, x),
)
scalar_rule(
    special.eval_jacobi,
    lambda y, n, a, b, x: order("eval_jacobi"),
    lambda y, n, a, b, x: order("eval_jacobi"),
    lambda y, n, a, b, x: order("eval_jacobi"),
    lambda y, n, a, b, x: (n + a + b + 1) / 2 * special.eval_jacobi(n - 1, a + 1.0, b + 1.0, x),
)
scalar_rule(
    special.hyperu,
    lambda y, a, b, x: order("hyperu"),
    lambda y, a, b, x: order("hyperu"),
    lambda y, a, b, x: -a * special.hyperu(a + 1, b + 1, x),
)

# Distributions

scalar_rule(
    special.pdtrc,
    lambda y, k, m: order("pdtrc"),
    lambda y, k, m: as_precise_as(np.exp(special.xlogy(k, m) - m - special.gammaln(k + 1)), y),
)
scalar_rule(
    special.chdtrc,
    lambda y, v, x: order("chdtrc"),
    lambda y, v, x: as_precise_as(-np.exp(special.xlogy(v / 2 - 1, x / 2) - x / 2 - special.gammaln(v / 2)) / 2, y),
)


def density_of_gamma(a, b, x):
    """The density of the gamma distribution of shape ``b`` and rate ``a``."""
    return np.exp(special.xlogy(b, a) + special.xlogy(b - 1, x) - a * x - special.gammaln(b))


def density_of_f(m, n, x):
    """The density of the F distribution."""
    total = m * x + n
    return np.exp(log_density_of_beta(m / 2, n / 2, m * x / total)) * m * n / (total * total)


scalar_rule(
    special.gdtr,
    lambda y, a, b, x: as_precise_as(x / a * density_of_gamma(a, b, x), y),
    lambda y, a, b, x: order("gdtr"),
    lambda y, a, b, x: as_precise_as(density_of_gamma(a, b, x), y),
)
scalar_rule(
    special.gdtrc,
    lambda y, a, b, x: as_precise_as(-(x / a) * density_of_gamma(a, b, x), y),
    lambda y, a, b, x: order("gdtrc"),
    lambda y, a, b, x: as_precise_as(-density_of_gamma(a, b, x), y),
)
scalar_rule(
    special.fdtr,
    lambda y, m, n, x: order("fdtr"),
    lambda y, m, n, x: order("fdtr"),
    lambda y, m, n, x: as_precise_as(density_of_f(m, n, x), y),
)
scalar_rule(
    special.fdtrc,
    lambda y, m, n, x: order("fdtrc"),
    lambda y, m, n, x: order("fdtrc"),
    lambda y, m, n, x: as_precise_as(-density_of_f(m, n, x), y),
)
scalar_rule(
    special.bdtr,
    lambda y, k, n, p: order("bdtr"),
    lambda y, k, n, p: order("bdtr"),
    lambda y, k, n, p: as_precise_as(-np.exp(log_density_of_beta(n - k, k + 1.0, 1 - p)), y),
)
scalar_rule(
    special.bdtrc,
    lambda y, k, n, p: order("bdtrc"),
    lambda y, k, n, p: order("bdtrc"),
    lambda y, k, n, p: as_precise_as(np.exp(log_density_of_beta(n - k, k + 1.0, 1 - p)), y),
)
scalar_rule(
    special.nbdtr,
    lambda y, k, n, p: order("nbdtr"),
    lambda y, k, n, p: order("nbdtr"),
    lambda y, k, n, p: as_precise_as(np.exp(log_density_of_beta(n, k + 1.0, p)), y),
)
scalar_rule(
    special.owens_t,
    lambda y, h, a: -np.exp(-h * h / 2) * special.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi),
    lambda y, h, a: np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
)



def voigt_slope(x, sigma, gamma):
    """The derivative of the Faddeeva function of which the Voigt profile is made, divided as that is."""
    z = (x + 1j * gamma) / (math.sqrt(2) * sigma)
    return (1j / math.sqrt(math.pi) - z * special.wofz(z)) / (sigma * sigma * math.sqrt(math.pi))


scalar_rule(
    special.voigt_profile,
    lambda y, x, sigma, gamma: as_precise_as(np.real(voigt_slope(x, sigma, gamma)), y),
    lambda y, x, sigma, gamma: as_precise_as(
        -(y + np.real(voigt_slope(x, sigma, gamma) * (x + 1j * gamma))) / sigma, y
    ),
    lambda y, x, sigma, gamma: as_precise_as(-np.imag(voigt_slope(x, sigma, gamma)), y),
)
