"""``scipy.special``: universal functions by their partial derivatives, and the softmax family.

Orders and degrees that SciPy takes as real numbers have no closed derivative; asking for one is an error.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from thunkad.kinds.casts import any_number
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import frule, non_differentiable, rrule, scalar_rule
from thunkad.rules.scipy import special_more  # noqa: F401 - read in with this module
from thunkad.rules.scipy.special_helpers import (
    boxcox_growth,
    density_of_t,
    digamma_sum,
    expint_below,
    half_at_zero,
    log_density_of_beta,
    log_softmax_bar,
    log_softmax_dot,
    logsumexp_bar,
    logsumexp_dot,
    logsumexp_weights_bar,
    ratio,
    real_sign,
    rgamma_partial,
    share,
    softmax_bar,
    trigamma,
)
from thunkad.runtime.arrays import conjugate
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import NoTangent, NotImplementedTangent, thunk

ROOT_PI = math.sqrt(math.pi)
ROOT_TWO_PI = math.sqrt(2 * math.pi)


def order(name: str) -> NotImplementedTangent:
    """The derivative by an order or degree."""
    return NotImplementedTangent(f"scipy.special.{name} has no derivative by its order or shape parameter")


# Sigmoids, the error function, the normal distribution

scalar_rule(special.expit, lambda y, x: y * (1 - y))
scalar_rule(special.log_expit, lambda y, x: special.expit(-x))
scalar_rule(special.logit, lambda y, x: 1 / (x * (1 - x)))
scalar_rule(special.erf, lambda y, z: 2 / ROOT_PI * np.exp(-z * z))
scalar_rule(special.erfc, lambda y, x: -(2 / ROOT_PI * np.exp(-x * x)))
scalar_rule(special.erfcx, lambda y, x: 2 * x * y - 2 / ROOT_PI)
scalar_rule(special.erfi, lambda y, z: 2 / ROOT_PI * np.exp(z * z))
scalar_rule(special.erfinv, lambda x, y: ROOT_PI / 2 * np.exp(x * x))
scalar_rule(special.erfcinv, lambda x, y: -(ROOT_PI / 2 * np.exp(x * x)))
scalar_rule(special.dawsn, lambda y, x: 1 - 2 * x * y)
scalar_rule(special.wofz, lambda y, z: 2j / ROOT_PI - 2 * z * y)
scalar_rule(special.ndtr, lambda y, x: np.exp(-x * x / 2) / ROOT_TWO_PI)
scalar_rule(special.ndtri, lambda x, y: ROOT_TWO_PI * np.exp(x * x / 2))
scalar_rule(special.log_ndtr, lambda y, x: np.exp(-x * x / 2 - y) / ROOT_TWO_PI)
scalar_rule(special.ndtri_exp, lambda x, y: ROOT_TWO_PI * np.exp(y + x * x / 2))

# Gamma and beta functions

scalar_rule(special.gamma, lambda y, z: y * special.psi(z))
scalar_rule(special.gammaln, lambda y, x: special.psi(x))
scalar_rule(special.loggamma, lambda y, z: special.psi(z))
scalar_rule(special.rgamma, lambda y, z: rgamma_partial(y, z))
scalar_rule(special.psi, lambda y, z: trigamma(z))
scalar_rule(trigamma, lambda y, z: special.polygamma(2, z))
scalar_rule(special.polygamma, lambda y, n, x: order("polygamma"), lambda y, n, x: special.polygamma(n + 1, x))
scalar_rule(special.zeta, lambda y, x, q: order("zeta"), lambda y, x, q: -x * special.zeta(x + 1, q))
scalar_rule(
    special.beta,
    lambda y, a, b: y * (special.psi(a) - special.psi(a + b)),
    lambda y, a, b: y * (special.psi(b) - special.psi(a + b)),
)
scalar_rule(
    special.betaln,
    lambda y, a, b: special.psi(a) - special.psi(a + b),
    lambda y, a, b: special.psi(b) - special.psi(a + b),
)
scalar_rule(
    special.binom,
    lambda y, n, k: y * (special.psi(n + 1) - special.psi(n - k + 1)),
    lambda y, n, k: y * (special.psi(n - k + 1) - special.psi(k + 1)),
)
scalar_rule(
    special.poch,
    lambda y, z, m: y * (special.psi(z + m) - special.psi(z)),
    lambda y, z, m: y * special.psi(z + m),
)
scalar_rule(
    special.gammainc,
    lambda y, a, x: order("gammainc"),
    lambda y, a, x: np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a)),
)
scalar_rule(
    special.gammaincc,
    lambda y, a, x: order("gammaincc"),
    lambda y, a, x: -np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a)),
)
scalar_rule(
    special.gammaincinv,
    lambda x, a, y: order("gammaincinv"),
    lambda x, a, y: np.exp(special.gammaln(a) + x - special.xlogy(a - 1, x)),
)
scalar_rule(
    special.gammainccinv,
    lambda x, a, y: order("gammainccinv"),
    lambda x, a, y: -np.exp(special.gammaln(a) + x - special.xlogy(a - 1, x)),
)
scalar_rule(
    special.betainc,
    lambda y, a, b, x: order("betainc"),
    lambda y, a, b, x: order("betainc"),
    lambda y, a, b, x: as_precise_as(np.exp(log_density_of_beta(a, b, x)), y),
)
scalar_rule(
    special.betaincc,
    lambda y, a, b, x: order("betaincc"),
    lambda y, a, b, x: order("betaincc"),
    lambda y, a, b, x: -as_precise_as(np.exp(log_density_of_beta(a, b, x)), y),
)
scalar_rule(
    special.betaincinv,
    lambda x, a, b, y: order("betaincinv"),
    lambda x, a, b, y: order("betaincinv"),
    lambda x, a, b, y: as_precise_as(np.exp(-log_density_of_beta(a, b, x)), x),
)

# Logarithms and entropies: zero times a logarithm is zero

scalar_rule(special.xlogy, lambda z, x, y: np.log(y), lambda z, x, y: ratio(x, y))
scalar_rule(special.xlog1py, lambda z, x, y: np.log1p(y), lambda z, x, y: ratio(x, 1 + y))
scalar_rule(special.entr, lambda y, x: -(np.log(x) + 1))
scalar_rule(special.rel_entr, lambda z, x, y: np.log(x / y) + 1, lambda z, x, y: -(x / y))
scalar_rule(special.kl_div, lambda z, x, y: np.log(x / y), lambda z, x, y: 1 - x / y)
scalar_rule(special.log1p, lambda y, x: 1 / (1 + x))
scalar_rule(special.expm1, lambda y, x: np.exp(x))
scalar_rule(special.exp2, lambda y, x: y * math.log(2))
scalar_rule(special.exp10, lambda y, x: y * math.log(10))
scalar_rule(special.cosm1, lambda y, x: -np.sin(x))
scalar_rule(special.cbrt, lambda y, x: 1 / (3 * y * y))
scalar_rule(special.sindg, lambda y, x: math.pi / 180 * special.cosdg(x))
scalar_rule(special.cosdg, lambda y, x: -(math.pi / 180 * special.sindg(x)))
scalar_rule(special.tandg, lambda y, x: math.pi / 180 * (1 + y * y))
scalar_rule(special.exprel, lambda y, x: np.where(x == 0, 0.5, share(np.exp(x) - y, x)))
scalar_rule(
    special.boxcox,
    lambda y, x, lmbda: np.power(x, lmbda - 1),
    lambda y, x, lmbda: as_precise_as(boxcox_growth(y, x, lmbda), y),
)
scalar_rule(
    special.huber, lambda y, delta, r: np.maximum(np.abs(r) - delta, 0), lambda y, delta, r: np.clip(r, -delta, delta)
)
scalar_rule(
    special.pseudo_huber,
    lambda y, delta, r: 2 * share(y, delta) - share(r * r, delta) / np.sqrt(1 + share(r * r, delta * delta)),
    lambda y, delta, r: r / np.sqrt(1 + share(r * r, delta * delta)),
)

# Bessel functions

scalar_rule(special.j0, lambda y, x: -special.j1(x))
scalar_rule(special.j1, lambda y, x: special.j0(x) - half_at_zero(y, x))
scalar_rule(special.y0, lambda y, x: -special.y1(x))
scalar_rule(special.y1, lambda y, x: special.y0(x) - y / x)
scalar_rule(special.jv, lambda y, v, z: order("jv"), lambda y, v, z: (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2)
scalar_rule(
    special.yn,
    lambda y, n, x: order("yn"),
    lambda y, n, x: as_precise_as((special.yv(n - 1, x) - special.yv(n + 1, x)) / 2, y),
)
scalar_rule(special.yv, lambda y, v, z: order("yv"), lambda y, v, z: (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2)
scalar_rule(special.i0, lambda y, x: special.i1(x))
scalar_rule(special.i1, lambda y, x: (special.i0(x) + special.iv(2, x)) / 2)
scalar_rule(special.i0e, lambda y, x: special.i1e(x) - np.sign(x) * y)
scalar_rule(special.i1e, lambda y, x: (special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y)
scalar_rule(special.iv, lambda y, v, z: order("iv"), lambda y, v, z: (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2)
scalar_rule(special.k0, lambda y, x: -special.k1(x))
scalar_rule(special.k1, lambda y, x: -(special.k0(x) + special.kv(2, x)) / 2)
scalar_rule(special.k0e, lambda y, x: y - special.k1e(x))
scalar_rule(special.k1e, lambda y, x: y - (special.k0e(x) + special.kve(2, x)) / 2)
scalar_rule(
    special.kn,
    lambda y, n, x: order("kn"),
    lambda y, n, x: as_precise_as(-(special.kv(n - 1, x) + special.kv(n + 1, x)) / 2, y),
)
scalar_rule(special.kv, lambda y, v, z: order("kv"), lambda y, v, z: -(special.kv(v - 1, z) + special.kv(v + 1, z)) / 2)
scalar_rule(
    special.hankel1,
    lambda y, v, z: order("hankel1"),
    lambda y, v, z: (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2,
)
scalar_rule(
    special.hankel2,
    lambda y, v, z: order("hankel2"),
    lambda y, v, z: (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2,
)


scalar_rule(
    special.ive,
    lambda y, v, z: order("ive"),
    lambda y, v, z: (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - real_sign(z) * y,
)
scalar_rule(
    special.kve,
    lambda y, v, z: order("kve"),
    lambda y, v, z: y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2,
)

# Integrals, elliptic and hypergeometric functions, polynomials

scalar_rule(special.expi, lambda y, x: np.exp(x) / x)
scalar_rule(special.exp1, lambda y, z: -np.exp(-z) / z)
scalar_rule(special.expn, lambda y, n, x: order("expn"), lambda y, n, x: -expint_below(n, x))
scalar_rule(special.spence, lambda y, z: share(np.log(z), 1 - z) - (z == 1))
scalar_rule(special.ellipk, lambda y, m: np.where(m == 0, math.pi / 8, share(special.ellipe(m) / (1 - m) - y, 2 * m)))
scalar_rule(special.ellipe, lambda y, m: np.where(m == 0, -math.pi / 8, share(y - special.ellipk(m), 2 * m)))
scalar_rule(special.hyp0f1, lambda y, v, z: order("hyp0f1"), lambda y, v, z: special.hyp0f1(v + 1, z) / v)
scalar_rule(
    special.hyp1f1,
    lambda y, a, b, x: order("hyp1f1"),
    lambda y, a, b, x: order("hyp1f1"),
    lambda y, a, b, x: a / b * special.hyp1f1(a + 1, b + 1, x),
)
scalar_rule(
    special.hyp2f1,
    lambda y, a, b, c, z: order("hyp2f1"),
    lambda y, a, b, c, z: order("hyp2f1"),
    lambda y, a, b, c, z: order("hyp2f1"),
    lambda y, a, b, c, z: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
)
scalar_rule(
    special.eval_chebyt, lambda y, n, x: order("eval_chebyt"), lambda y, n, x: n * special.eval_chebyu(n - 1, x)
)
scalar_rule(
    special.eval_hermite, lambda y, n, x: order("eval_hermite"), lambda y, n, x: 2 * n * special.eval_hermite(np.maximum(n - 1, 0), x)
)
scalar_rule(
    special.pdtr,
    lambda y, k, m: order("pdtr"),
    lambda y, k, m: -as_precise_as(np.exp(special.xlogy(k, m) - m - special.gammaln(k + 1)), y),
)
scalar_rule(
    special.chdtr,
    lambda y, v, x: order("chdtr"),
    lambda y, v, x: as_precise_as(np.exp(special.xlogy(v / 2 - 1, x / 2) - x / 2 - special.gammaln(v / 2)) / 2, y),
)
scalar_rule(
    special.stdtr,
    lambda y, df, t: order("stdtr"),
    lambda y, df, t: as_precise_as(density_of_t(df, t), y),
)

non_differentiable(special.gammasgn)
RESULT_KINDS.update(
    dict.fromkeys(
        (special.softmax, special.log_softmax, special.multigammaln, special.polygamma, special.zeta), any_number
    )
)


@rrule(special.logsumexp)
def _(a, axis=None, b=None, keepdims=False, return_sign=False):
    y = special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)

    def pullback(y_bar):
        return (
            thunk(lambda: logsumexp_bar(y_bar, y, a, axis, b, keepdims)),
            NoTangent(),
            thunk(lambda: logsumexp_weights_bar(y_bar, y, a, axis, b, keepdims)),
            NoTangent(),
            NoTangent(),
        )

    return y, pullback


@frule(special.logsumexp)
def _(a, axis=None, b=None, keepdims=False, return_sign=False, *, a_dot, b_dot):
    y = special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)
    return y, logsumexp_dot(a_dot, b_dot, y, a, axis, b, keepdims)


@rrule(special.softmax)
def _(x, axis=None):
    y = special.softmax(x, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: softmax_bar(y_bar, conjugate(y), axis)), NoTangent()

    return y, pullback


@frule(special.softmax)
def _(x, axis=None, *, x_dot):
    y = special.softmax(x, axis=axis)
    return y, softmax_bar(x_dot, y, axis)


@rrule(special.log_softmax)
def _(x, axis=None):
    y = special.log_softmax(x, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: log_softmax_bar(y_bar, conjugate(y), axis)), NoTangent()

    return y, pullback


@frule(special.log_softmax)
def _(x, axis=None, *, x_dot):
    y = special.log_softmax(x, axis=axis)
    return y, log_softmax_dot(x_dot, y, axis)


@rrule(special.multigammaln)
def _(a, d):
    y = special.multigammaln(a, d)

    def pullback(y_bar):
        return thunk(lambda: y_bar * digamma_sum(a, d)), NoTangent()

    return y, pullback


@frule(special.multigammaln)
def _(a, d, *, a_dot):
    return special.multigammaln(a, d), digamma_sum(a, d) * a_dot
