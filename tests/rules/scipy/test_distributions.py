"""Distributions of SciPy: values are SciPy's, gradients those of central differences."""

import numpy as np
import pytest
from scipy import stats

import thunkad as ad

Y, K, Q = np.array([-0.2, 0.3, 1.7, 0.9, 2.4]), np.array([0, 1, 3, 2]), np.array([0.1, 0.6, 0.8])
P = np.array([0.2, 0.4])
NO_SHAPE = "expon uniform laplace logistic cauchy halfnorm gumbel_r rayleigh".split()


def total(x):
    return np.sum(np.where(np.isfinite(x), x, 0.0) * np.arange(1, np.size(x) + 1))


def scale(p):
    return 4.0 * np.exp(p[1])


def of_shapes(p):
    a, b = np.exp(p)
    return (
        total(stats.gamma.logpdf(Y, a, scale=b)) + total(stats.gamma.pdf(Y, a, 0.1)) + total(stats.gamma.cdf(Y, 2.0, 0, b))
        + total(stats.invgamma.logpdf(Y, a, scale=b)) + total(stats.chi2.logpdf(Y, df=a)) + total(stats.chi2.pdf(Y, a))
        + total(stats.t.logpdf(Y, df=a, loc=p[1])) + total(stats.t.pdf(Y, a)) + total(stats.lognorm.logpdf(Y, s=a, scale=b))
        + total(stats.lognorm.pdf(Y, a)) + total(stats.lognorm.cdf(Y, a)) + total(stats.weibull_min.logpdf(Y, c=a + 1, scale=b))
        + total(stats.pareto.logpdf(Y, b=a, loc=-1.5)) + total(stats.beta.logpdf(Y / 3, a, b)) + total(stats.beta.pdf(Y / 3, a, b))
    )  # fmt: skip


def of_counts(p):
    a, b = np.exp(-p)
    return (
        total(stats.poisson.logpmf(K, a)) + total(stats.poisson.pmf(K, mu=b)) + total(stats.binom.logpmf(K, 5, a))
        + total(stats.binom.pmf(K, 5, b)) + total(stats.bernoulli.logpmf(K > 1, a)) + total(stats.bernoulli.pmf(K > 1, b))
    )  # fmt: skip


def of_several(p):
    c = np.array([[2.0, 0.5], [0.5, 1.0]]) * np.exp(p[0])
    many = np.outer(Y, [1.0, 2.0])
    density = stats.multivariate_normal.logpdf(Y[:2], p, c) + total(stats.multivariate_normal.logpdf(many, mean=p, cov=c))
    frozen = stats.multivariate_normal(mean=p, cov=c)
    return density + stats.multivariate_normal.pdf(p, np.zeros(2), np.exp(p[1])) + total(frozen.logpdf(many)) * frozen.pdf(p + 1)


def of_frozen(p):
    found = [stats.norm(p[0], np.exp(p[1])), stats.expon(scale=np.exp(p[0]))]
    return sum(total(d.logpdf(Y)) + total(d.cdf(Y)) for d in found) + stats.poisson(np.exp(p[0])).logpmf(2) + found[0].ppf(0.3)


def check(f):
    value, gradient = ad.value_and_grad(f)(P)
    assert value == pytest.approx(f(P), rel=1e-12)
    h = 1e-6
    wanted = [(f(P + h * d) - f(P - h * d)) / (2 * h) for d in np.eye(2)]
    np.testing.assert_allclose(gradient, wanted, rtol=2e-7, atol=2e-7)
    np.testing.assert_allclose(ad.jvp(f, (P,), (P,))[1], gradient @ P)
    near = [ad.grad(f)(P + h * P), ad.grad(f)(P - h * P)]
    np.testing.assert_allclose(ad.hvp(f, (P,), (P,)), (near[0] - near[1]) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NO_SHAPE)
def test_distributions_without_a_shape(name):
    d = getattr(stats, name)

    def f(p):
        return (
            total(d.logpdf(Y, p[0] - 1, scale(p))) + total(d.pdf(Y, p[0] - 1, scale=scale(p))) + total(d.ppf(Q, p[0], scale(p)))
            + total(d.cdf(Y, loc=p[0], scale=scale(p))) * total(d.sf(Y, p[0], scale(p)))
        )  # fmt: skip

    check(f)


@pytest.mark.parametrize("f", [of_shapes, of_counts, of_several, of_frozen], ids=lambda f: f.__name__)
def test_other_distributions(f):
    check(f)


def test_no_numbers_where_scipy_has_none():
    x = np.array([np.nan, 0.3, np.inf])
    for f in (
        lambda s: stats.expon.logpdf(x, 0, s), lambda s: stats.expon.cdf(x, scale=s - 2), lambda s: stats.expon.ppf(x - 1.3, 0, s),
        lambda s: stats.norm.pdf(x, 0, -s), lambda s: stats.gamma.logpdf(x, s - 2), lambda s: stats.uniform.sf(x, 0, s),
    ):  # fmt: skip
        np.testing.assert_allclose(ad.vjp(f, 1.0)[0], f(1.0))


def test_methods_without_a_rule_are_refused():
    with pytest.raises(ad.NoRuleError, match=r"scipy\.special"):
        ad.grad(lambda a: stats.gamma.entropy(a))(1.5)
