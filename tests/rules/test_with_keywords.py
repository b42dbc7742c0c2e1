"""Keywords of NumPy functions with values other than their defaults: derivatives in both modes against differences."""

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads

RNG = np.random.default_rng(5)
V, W = RNG.standard_normal(5), RNG.random(5) + 0.5
M = RNG.standard_normal((3, 4))
CUBE = RNG.standard_normal((2, 3, 4))
POSITIVE = RNG.random((3, 4)) + 0.5
Z = M + 1j * RNG.standard_normal((3, 4))
MASK = np.array([True, False, True, True])
WEIGHTS = np.array([0.3, 1.2, 0.0, 0.7])


def at(ufunc, indices, *rest):
    """``ufunc.at`` on a copy."""

    def f(x, *values):
        y = x * 1.0
        ufunc.at(y, indices, *values)
        return y

    return f, rest


def multiplied(x, b):
    y = x * x
    np.multiply.at(y, [0, 2, 0, 1, 0], b)
    return y


def tripled(x):
    y = x * 1.0
    np.multiply.at(y, [0, 0, 1], 3.0)
    np.maximum.at(y, 2, -9.0)
    return y * x


def divided(x, b):
    y = x + 0.0
    np.divide.at(y, ([0, 1, 0], slice(1, 3)), b)
    return y


def rooted(x):
    y = x * 1.0
    np.sqrt.at(y, ([0, 1, 0], [2, 2, 2]))
    return y


def larger(x, b):
    y = x * 1.0
    np.maximum.at(y, [0, 0, 3], b)
    return y


def stepped(a, b):
    samples, step = np.linspace(a, b, 4, False, True)
    return samples * step


def into(x):
    y = np.zeros((3, 4))
    np.exp(x, out=y, dtype=np.float64)
    return y * x


CASES = {
    "exp dtype": (lambda x: np.exp(x, dtype=np.longdouble), M),
    "exp order": (lambda x: np.exp(x, order="F").ravel("K"), M),
    "exp subok casting": (lambda x: np.exp(x, subok=False, casting="safe"), M),
    "exp dtype of a number": (lambda x: np.exp(x, dtype=float), 0.3),
    "sqrt complex": (lambda x: np.real(np.sqrt(x, dtype=complex) * (1 + 2j)), -POSITIVE),
    "multiply dtype": (lambda x, y: np.multiply(x, y, dtype=np.float64, order="C"), M, V[:4]),
    "add dtype complex": (lambda x, y: np.abs(np.add(x, y, dtype=complex)), M, V[:4]),
    "divmod": (lambda x: np.divmod(x, 0.7, dtype=float)[1], POSITIVE),
    "ldexp": (lambda x: np.ldexp(x, np.array([1, 2, 0, -1]), dtype=float), M),
    "clip dtype": (lambda x: np.clip(x, -0.5, 0.5, dtype=np.float64), M),
    "out and dtype": (into, M),
    "outer dtype": (lambda x, y: np.multiply.outer(x, y, dtype=float), V, W[:2]),
    "subtract.reduce dtype": (lambda x: np.subtract.reduce(x, 1, np.float64), M),
    "divide.accumulate dtype": (lambda x: np.divide.accumulate(x, axis=1, dtype=float), POSITIVE),
    "hypot.reduceat dtype": (lambda x: np.hypot.reduceat(x, [0, 2], axis=1, dtype=float), M),
    "maximum.reduce dtype": (lambda x: np.maximum.reduce(x, dtype=float), M),
    "matmul axes": (lambda x, y: np.matmul(x, y, axes=[(0, 1), (2, 1), (0, 2)]), CUBE[0], CUBE),
    "matmul axes of vectors": (lambda x, y: np.matmul(x, y, axes=[(0,), (1, 0), (0,)]), V[:4], M),
    "matmul dtype": (lambda x, y: np.matmul(x, y, dtype=np.float64, order="F"), M, M.T + 0.0),
    "vecdot axis keepdims": (lambda x, y: np.vecdot(x, y, axis=0, keepdims=True), M, M * 1.5),
    "vecdot axes": (lambda x, y: np.vecdot(x, y, axes=[0, 1, ()]), M, M.T * 1.5),
    "matvec axes": (lambda x, y: np.matvec(x, y, axes=[(1, 0), (0,), (0,)]), M, V[:3]),
    "vecmat axes": (lambda x, y: np.vecmat(x, y, axes=[0, (0, 1), 0]), V[:3], M),
    "einsum dtype": (lambda x, y: np.einsum("ij,j->i", x, y, dtype=np.float64, order="C", casting="safe"), M, V[:4]),
    "einsum dtype complex": (lambda x, y: np.imag(np.einsum("ij,j->i", x, y, dtype=complex) * 1j), M, V[:4]),
    "var mean": (lambda x: np.var(x, axis=1, mean=np.mean(x, axis=1, keepdims=True), keepdims=True), M),
    "var of a given mean": (lambda x, m: np.var(x, mean=m, ddof=1), M, 0.7),
    "var mean complex": (lambda x: np.var(x, 0, mean=0.2 + 0.1j, correction=1), Z),
    "std mean where": (lambda x, m: np.std(x, axis=1, mean=m, where=MASK), M, V[:3, None]),
    "method var mean": (lambda x: x.var(mean=x.mean(0, keepdims=True), axis=0), M),
    "nanvar mean": (lambda x, m: np.nanvar(x, mean=m, axis=0), np.where(M > 1, np.nan, M), 0.2),
    "nanstd mean": (lambda x, m: np.nanstd(x, mean=m), M, 0.2),
    "average returned": (lambda x, w: np.average(x, 1, w, returned=True), M, W[:4]),
    "average returned, by position": (lambda x, w: np.average(x, (0, 1), w, True), CUBE, W[:3] * np.ones((2, 1))),
    "average returned without weights": (lambda x: np.average(x, axis=0, returned=True, keepdims=True), M),
    "cov aweights": (lambda x, w: np.cov(x, aweights=w), M, W[:4]),
    "cov aweights fweights": (lambda x, y, w: np.cov(x, y, fweights=[1, 2, 1, 3], aweights=w, ddof=1), M, M[:2] * M[1], W[:4]),
    "cov fweights bias": (lambda x: np.cov(x, bias=True, fweights=np.array([1, 2, 3])), M.T + 0.0),
    "cov by position": (lambda x, w: np.cov(x, None, False, False, None, None, w), M, W[:3]),
    "cov dtype": (lambda x: np.cov(x, dtype=np.float64), M),
    "cov dtype of one variable": (lambda x: np.cov(x, dtype=np.float64), V),
    "corrcoef dtype": (lambda x: np.corrcoef(x, dtype=np.float64)[0, 1:], M),
    "quantile weights": (lambda x: np.quantile(x, [0.2, 0.7], 1, method="inverted_cdf", weights=WEIGHTS), M),
    "quantile weights keepdims": (
        lambda x: np.quantile(x, 0.4, (0, 1), method="inverted_cdf", weights=POSITIVE, keepdims=True), M),
    "percentile weights": (lambda x: np.percentile(x, 40.0, method="inverted_cdf", weights=W), V),
    "nanquantile weights": (
        lambda x: np.nanquantile(x, 0.4, 0, method="inverted_cdf", weights=POSITIVE), np.where(M > 1, np.nan, M)),
    "median overwrite": (lambda x: np.median(x * x, axis=0, overwrite_input=True), M),
    "quantile overwrite": (lambda x: np.quantile(x * x, 0.3, overwrite_input=True), M),
    "linspace retstep": (stepped, 0.3, 1.7),
    "linspace retstep of arrays": (stepped, V, W),
    "asarray device": (lambda x: np.asarray(x, device="cpu") * x, M),
    "full device": (lambda x: np.full((2, 3), x, device="cpu"), 0.7),
    "broadcast_arrays subok": (lambda x, y: np.broadcast_arrays(x, y, subok=True), M, V[:4]),
    "sort order": (lambda x: np.sort(x, order=None), M),
    "unique unsorted": (lambda x: np.unique(x, sorted=False), V),
    "unique unsorted with counts": (lambda x: np.unique(x, return_index=True, sorted=False)[0], V),
    "nan_to_num copy": (lambda x: np.nan_to_num(x, copy=True), M),
    "reshape copy": (lambda x: x.reshape(4, 3, copy=True) * 2.0, M),
    "reshape copy of a shape": (lambda x: x.reshape((4, 3), copy=True, order="F") * 2.0, M),
    "poly2cheb": (lambda c: np.polynomial.chebyshev.poly2cheb(pol=c), V[:4]),
    "pad constant": (lambda x, c: np.pad(x, 1, constant_values=c), M, 0.3),
    "pad constant pairs": (lambda x, c: np.pad(x, ((1, 2), (0, 1)), constant_values=c), M, np.array([[0.1, 0.2], [0.3, 0.4]])),
    "pad constant sides": (lambda x, a, b: np.pad(x, (2, 1), "constant", constant_values=(a, b)), M, 0.3, 0.7),
    "pad constant only": (lambda c: np.pad(M, 2, constant_values=c), 0.3),
    "pad ramp": (lambda x, c: np.pad(x, ((1, 3), (2, 2)), "linear_ramp", end_values=c), M, np.array([[0.1], [0.7]])),
    "pad ramp sides": (lambda x, a: np.pad(x, 2, "linear_ramp", end_values=((a, 0.2), (0.3, a))), M, 0.7),
    "multiply.at": (multiplied, V[:3], W),
    "multiply at": (tripled, V),
    "divide.at": (divided, M[:, :3] + 0.0, W[:2]),
    "sqrt.at": (rooted, POSITIVE),
    "maximum.at": (larger, V, np.array([9.0, -3.0, -4.0])),
    "ravel K": (lambda x: np.ravel(x.T, "K") * V[0], M),
    "ravel A": (lambda x: np.ravel(np.asfortranarray(x), "A") * np.arange(12.0), M),
    "flatten K": (lambda x: x.T.flatten("K") * np.arange(12.0), M),
    "reshape A": (lambda x: np.reshape(np.asfortranarray(x), (4, 3), "A") * np.arange(3.0), M),
    "copy F": (lambda x: np.copy(x, order="F").ravel("K") * np.arange(12.0), M),
    "multivariate_normal": (
        lambda m: np.random.default_rng(3).multivariate_normal(mean=m, cov=np.eye(3), size=2, method="cholesky"), V[:3]),
    "vonmises": (lambda m: np.random.default_rng(3).vonmises(mu=m, kappa=3.0, size=2), 0.3),
}  # fmt: skip


#: Differentiated twice: a case of each sort that has helpers of its own.  What others are made of is tested elsewhere.
TWICE = {
    "exp dtype", "sqrt complex", "clip dtype", "matmul axes", "vecdot axis keepdims", "einsum dtype complex", "var mean",
    "std mean where", "average returned", "cov aweights", "quantile weights", "linspace retstep of arrays", "unique unsorted",
    "pad constant pairs", "pad ramp", "multiply at", "maximum.at", "ravel K", "reshape A",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives(name):
    assert set(CASES) >= TWICE
    f, *args = CASES[name]
    plain = f(*args)
    value = ad.vjp(f, *args)[0]
    for mine, theirs in zip(*(v if isinstance(v, tuple) else (v,) for v in (value, plain)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype
    check_grads(f, *args, order=2 if name in TWICE else 1)


def test_types_are_those_of_the_call():
    x = np.linspace(0.1, 1.0, 4, dtype=np.float32)
    assert ad.grad(lambda x: np.sum(np.exp(x, dtype=np.float64)))(x).dtype == np.float32
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(np.floor(x) + np.add(x, 1, dtype=int, casting="unsafe")))(x), 0.0)
    with pytest.raises(TypeError, match="Cannot cast"):
        ad.grad(lambda x: np.sum(np.exp(x, dtype=np.float32, casting="safe")))(np.ones(2))


def test_a_rule_of_the_users_is_followed():
    try:
        @ad.rrule(np.exp)
        def _(x):
            y = np.exp(x)
            return y, lambda y_bar: (7.0 * y_bar,)

        np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.exp(x, dtype=np.float64)))(V), 7.0)
    finally:
        ad.rules.remove(np.exp)


EMPTY = np.zeros((0, 3))
SHAPES_OF_THEIR_OWN = {
    "accumulate nothing": (lambda x: np.multiply.accumulate(x), EMPTY),
    "reduce nothing": (lambda x: np.hypot.reduce(x), EMPTY),
    "histogram of nothing": (lambda x: np.histogram(x, 3, weights=x * x)[0], EMPTY),
    "histogram of integers": (lambda x: np.histogram(x, 3, weights=x * x)[0], np.array([1, 2, 3, 5])),
    "triangle of a vector": (lambda x: np.triu(x) + np.tril(x, -1), V),
    "take of a number": (lambda x: np.take(x, [0, 0], axis=-1), np.array(0.7)),
    "pad of a number": (lambda x: np.pad(x, 1, mode="reflect"), np.array(0.7)),
    "values of a pad of a number": (lambda x: np.pad(x, 1), np.array(0.7)),
}


@pytest.mark.parametrize("name", SHAPES_OF_THEIR_OWN)
def test_empty_arrays_numbers_and_vectors(name):
    f, x = SHAPES_OF_THEIR_OWN[name]
    y, pullback = ad.vjp(f, x)
    y_bar = np.ones(np.shape(y))
    (x_bar,) = pullback(y_bar)
    assert np.shape(x_bar) == np.shape(x) and np.asarray(x_bar).dtype.kind == "f"
    x_dot = np.full(np.shape(x), 0.3)
    np.testing.assert_allclose(np.sum(x_bar * x_dot), np.sum(y_bar * ad.jvp(f, (x,), (x_dot,))[1]))
    if x.size and x.dtype.kind == "f":
        np.testing.assert_allclose(np.sum(x_bar * x_dot), np.sum(f(x + x_dot) - f(x)) if x.ndim == 0 else np.sum(f(x_dot)))
