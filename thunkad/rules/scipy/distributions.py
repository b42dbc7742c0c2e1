"""Densities, distribution functions and quantiles of ``scipy.stats`` beside those of the normal distribution.

The formulas are those of SciPy's manual for ``loc=0`` and ``scale=1``.  What a distribution has no formula for here stays
refused (:mod:`thunkad.rules.scipy.stats`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.stats import rv_continuous, rv_discrete

from thunkad.rules.library import alternative
from thunkad.rules.scipy.stats import doubled, positive, standardized

LOG_TWO, LOG_TWO_PI = math.log(2), math.log(2 * math.pi)
REAL, POSITIVE, UNIT = (-math.inf, math.inf, 0.0), (0.0, math.inf, 1.0), (0.0, 1.0, 0.5)


def where_supported(f, support, z, below, above, *shape):
    """``f(z, *shape)`` on the support (its ends, and a point in it), and constants below and above it; NaN of NaN."""
    low, high, inner = support
    outside = (z < low) | (z > high)
    return np.where(outside, np.where(z < low, below, above), f(np.where(outside, inner, z), *shape))


def where_probable(f, q):
    """A quantile ``f(q)``, NaN where ``q`` is no probability."""
    return f(np.where((q >= 0) & (q <= 1), q, np.nan))


# Distributions without a shape


def without_shape(distribution: Any, support: Any, log_density: Any, cdf: Any, sf: Any, quantile: Any) -> None:
    @alternative(rv_continuous.logpdf, types=(type(distribution),))
    def logpdf(self, x, loc=0, scale=1):
        z = standardized(x, loc, scale)
        return where_supported(log_density, support, z, -math.inf, -math.inf) - np.log(scale)

    @alternative(rv_continuous.pdf, types=(type(distribution),))
    def pdf(self, x, loc=0, scale=1):
        z = standardized(x, loc, scale)
        return np.exp(where_supported(log_density, support, z, -math.inf, -math.inf)) / scale

    @alternative(rv_continuous.cdf, types=(type(distribution),))
    def below(self, x, loc=0, scale=1):
        return where_supported(cdf, support, standardized(x, loc, scale), 0.0, 1.0)

    @alternative(rv_continuous.sf, types=(type(distribution),))
    def above(self, x, loc=0, scale=1):
        return where_supported(sf, support, standardized(x, loc, scale), 1.0, 0.0)

    @alternative(rv_continuous.ppf, types=(type(distribution),))
    def ppf(self, q, loc=0, scale=1):
        return loc + positive(scale) * where_probable(quantile, doubled(q))


def laplace_cdf(z):
    half = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, 1 - half, half)


def logistic_log_density(z):
    y = -np.abs(z)
    return y - 2 * np.log1p(np.exp(y))


without_shape(
    stats.expon, POSITIVE, lambda z: -z, lambda z: -np.expm1(-z), lambda z: np.exp(-z), lambda q: -np.log1p(-q)
)
without_shape(stats.uniform, UNIT, lambda z: 0.0 * z, lambda z: z, lambda z: 1 - z, lambda q: q)
without_shape(
    stats.laplace, REAL, lambda z: -np.abs(z) - LOG_TWO, laplace_cdf, lambda z: laplace_cdf(-z),
    lambda q: np.where(q > 0.5, -np.log(2 * np.where(q > 0.5, 1 - q, 0.5)), np.log(2 * np.where(q > 0.5, 0.5, q))),
)  # fmt: skip
without_shape(
    stats.logistic, REAL, logistic_log_density, special.expit, lambda z: special.expit(-z), special.logit
)  # fmt: skip
without_shape(
    stats.cauchy, REAL, lambda z: -np.log(math.pi * (1 + z * z)), lambda z: 0.5 + np.arctan(z) / math.pi,
    lambda z: 0.5 - np.arctan(z) / math.pi, lambda q: np.tan(math.pi * (q - 0.5)),
)  # fmt: skip
without_shape(
    stats.halfnorm, POSITIVE, lambda z: (math.log(2 / math.pi) - z * z) / 2, lambda z: special.erf(z / math.sqrt(2)),
    lambda z: special.erfc(z / math.sqrt(2)), lambda q: special.ndtri((1 + q) / 2),
)  # fmt: skip
without_shape(
    stats.gumbel_r, REAL, lambda z: -z - np.exp(-z), lambda z: np.exp(-np.exp(-z)), lambda z: -np.expm1(-np.exp(-z)),
    lambda q: -np.log(-np.log(q)),
)  # fmt: skip
without_shape(
    stats.rayleigh, POSITIVE, lambda z: np.log(z) - z * z / 2, lambda z: -np.expm1(-z * z / 2),
    lambda z: np.exp(-z * z / 2), lambda q: np.sqrt(-2 * np.log1p(-q)),
)  # fmt: skip


# Distributions with shapes: each names its own


def gamma_log_density(z, a):
    return special.xlogy(a - 1, z) - z - special.gammaln(a)


def chi2_log_density(z, df):
    return gamma_log_density(z / 2, df / 2) - LOG_TWO


def t_log_density(z, df):
    shares = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(df * math.pi)
    return shares - (df + 1) / 2 * np.log1p(z * z / df)


def lognorm_log_density(z, s):
    return -((np.log(z) / s) ** 2) / 2 - np.log(s * z) - LOG_TWO_PI / 2


def beta_log_density(z, a, b):
    return special.xlog1py(b - 1, -z) + special.xlogy(a - 1, z) - special.betaln(a, b)


def logarithm(f, support, x, loc, scale, *shape):
    parameters = [positive(s) for s in shape]
    return where_supported(f, support, standardized(x, loc, scale), -math.inf, -math.inf, *parameters) - np.log(scale)


@alternative(rv_continuous.logpdf, types=(type(stats.gamma),))
def gamma_logpdf(self, x, a, loc=0, scale=1):
    return logarithm(gamma_log_density, POSITIVE, x, loc, scale, a)


@alternative(rv_continuous.pdf, types=(type(stats.gamma),))
def gamma_pdf(self, x, a, loc=0, scale=1):
    return np.exp(logarithm(gamma_log_density, POSITIVE, x, loc, scale, a))


@alternative(rv_continuous.cdf, types=(type(stats.gamma),))
def gamma_cdf(self, x, a, loc=0, scale=1):
    z = standardized(x, loc, scale)
    return np.where(z <= 0, 0.0, special.gammainc(a, np.where(z <= 0, 1.0, z)))


@alternative(rv_continuous.logpdf, types=(type(stats.invgamma),))
def invgamma_logpdf(self, x, a, loc=0, scale=1):
    return logarithm(lambda z, a: -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z, POSITIVE, x, loc, scale, a)


@alternative(rv_continuous.logpdf, types=(type(stats.chi2),))
def chi2_logpdf(self, x, df, loc=0, scale=1):
    return logarithm(chi2_log_density, POSITIVE, x, loc, scale, df)


@alternative(rv_continuous.pdf, types=(type(stats.chi2),))
def chi2_pdf(self, x, df, loc=0, scale=1):
    return np.exp(logarithm(chi2_log_density, POSITIVE, x, loc, scale, df))


@alternative(rv_continuous.logpdf, types=(type(stats.t),))
def t_logpdf(self, x, df, loc=0, scale=1):
    return logarithm(t_log_density, REAL, x, loc, scale, df)


@alternative(rv_continuous.pdf, types=(type(stats.t),))
def t_pdf(self, x, df, loc=0, scale=1):
    return np.exp(logarithm(t_log_density, REAL, x, loc, scale, df))


@alternative(rv_continuous.logpdf, types=(type(stats.lognorm),))
def lognorm_logpdf(self, x, s, loc=0, scale=1):
    return logarithm(lognorm_log_density, POSITIVE, x, loc, scale, s)


@alternative(rv_continuous.pdf, types=(type(stats.lognorm),))
def lognorm_pdf(self, x, s, loc=0, scale=1):
    return np.exp(logarithm(lognorm_log_density, POSITIVE, x, loc, scale, s))


@alternative(rv_continuous.cdf, types=(type(stats.lognorm),))
def lognorm_cdf(self, x, s, loc=0, scale=1):
    support = 1e-300, math.inf, 1.0
    z = standardized(x, loc, scale)
    return where_supported(lambda z, s: special.ndtr(np.log(z) / s), support, z, 0.0, 1.0, positive(s))


@alternative(rv_continuous.logpdf, types=(type(stats.weibull_min),))
def weibull_min_logpdf(self, x, c, loc=0, scale=1):
    return logarithm(lambda z, c: np.log(c) + special.xlogy(c - 1, z) - z**c, POSITIVE, x, loc, scale, c)


@alternative(rv_continuous.logpdf, types=(type(stats.pareto),))
def pareto_logpdf(self, x, b, loc=0, scale=1):
    return logarithm(lambda z, b: np.log(b) - (b + 1) * np.log(z), (1.0, math.inf, 2.0), x, loc, scale, b)


@alternative(rv_continuous.logpdf, types=(type(stats.beta),))
def beta_logpdf(self, x, a, b, loc=0, scale=1):
    return logarithm(beta_log_density, UNIT, x, loc, scale, a, b)


@alternative(rv_continuous.pdf, types=(type(stats.beta),))
def beta_pdf(self, x, a, b, loc=0, scale=1):
    return np.exp(logarithm(beta_log_density, UNIT, x, loc, scale, a, b))


# Counts


def where_counted(f, k, high):
    """``f(k)`` for whole numbers from zero to ``high``, and the logarithm of zero for all others."""
    counted = (k >= 0) & (k <= high) & (k == np.floor(k))
    return np.where(counted, f(np.where(counted, k, 0)), -math.inf)


@alternative(rv_discrete.logpmf, types=(type(stats.poisson),))
def poisson_logpmf(self, k, mu, loc=0):
    return where_counted(lambda m: special.xlogy(m, mu) - special.gammaln(m + 1) - mu, np.asarray(k) - loc, math.inf)


@alternative(rv_discrete.pmf, types=(type(stats.poisson),))
def poisson_pmf(self, k, mu, loc=0):
    return np.exp(stats.poisson.logpmf(k, mu, loc))


def binomial(m, n, p):
    ways = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    return ways + special.xlogy(m, p) + special.xlog1py(n - m, -p)


@alternative(rv_discrete.logpmf, types=(type(stats.binom),))
def binom_logpmf(self, k, n, p, loc=0):
    return where_counted(lambda m: binomial(m, n, p), np.asarray(k) - loc, n)


@alternative(rv_discrete.pmf, types=(type(stats.binom),))
def binom_pmf(self, k, n, p, loc=0):
    return np.exp(stats.binom.logpmf(k, n, p, loc))


@alternative(rv_discrete.logpmf, types=(type(stats.bernoulli),))
def bernoulli_logpmf(self, k, p, loc=0):
    return where_counted(lambda m: special.xlogy(m, p) + special.xlog1py(1 - m, -p), np.asarray(k) - loc, 1)


@alternative(rv_discrete.pmf, types=(type(stats.bernoulli),))
def bernoulli_pmf(self, k, p, loc=0):
    return np.exp(stats.bernoulli.logpmf(k, p, loc))


# Frozen distributions


class FrozenContinuous(type(stats.norm())):  # type: ignore[misc]
    """A distribution with its arguments, which may be differentiated; ``dist`` is the distribution itself, no copy."""

    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds


class FrozenDiscrete(type(stats.poisson(1.0))):  # type: ignore[misc]
    def __init__(self, dist, args, kwds):
        self.dist, self.args, self.kwds = dist, args, kwds


@alternative(rv_continuous.freeze)
def freeze(self, *args, **kwds):
    return FrozenContinuous(self, args, kwds) if isinstance(self, rv_continuous) else FrozenDiscrete(self, args, kwds)


@alternative(rv_continuous.__call__)
def call(self, *args, **kwds):
    return FrozenContinuous(self, args, kwds) if isinstance(self, rv_continuous) else FrozenDiscrete(self, args, kwds)


# Several variables


@alternative(type(stats.multivariate_normal).logpdf)
def multivariate_normal_logpdf(self, x, mean=None, cov=1, allow_singular=False):
    x = doubled(x)
    if np.ndim(cov) == 2:
        size = len(cov)
    elif mean is not None:
        size = np.size(mean)
    else:
        size = np.size(cov)
    matrix = cov * np.eye(size) if np.ndim(cov) < 2 else cov
    deviation = np.reshape(x if mean is None else x - mean, (-1, size))
    distance = np.sum(deviation * np.linalg.solve(matrix, deviation.T).T, -1)
    density = -0.5 * (size * LOG_TWO_PI + np.linalg.slogdet(matrix)[1] + distance)
    return np.reshape(density, np.shape(x)[: np.ndim(x) - (size > 1 or np.ndim(x) > 1)])


@alternative(type(stats.multivariate_normal).pdf)
def multivariate_normal_pdf(self, x, mean=None, cov=1, allow_singular=False):
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov))


class FrozenNormal(type(stats.multivariate_normal(0.0))):  # type: ignore[misc]
    """The normal distribution of several variables with its arguments, which may be differentiated."""

    def __init__(self, mean, matrix):
        self.mean, self.matrix = mean, matrix

    def logpdf(self, x):
        return stats.multivariate_normal.logpdf(x, self.mean, self.matrix)

    def pdf(self, x):
        return stats.multivariate_normal.pdf(x, self.mean, self.matrix)


@alternative(type(stats.multivariate_normal).__call__)
def frozen_normal(self, mean=None, cov=1, allow_singular=False, seed=None):
    return FrozenNormal(mean, cov)
