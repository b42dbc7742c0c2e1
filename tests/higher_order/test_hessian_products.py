"""What a product with the Hessian costs: one pass, memory like the gradient's, compiled once for a function."""

from __future__ import annotations

import functools
import tracemalloc

import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled.load import generated


def peak(run) -> int:
    """The most memory that is held at a time while ``run`` runs, in bytes; it has run before."""
    run()
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def network(w, x):
    return np.sum(np.tanh(np.tanh(x @ w["first"]) @ w["second"]) ** 2)


def test_the_hessian_is_never_built() -> None:
    x = np.linspace(-1.0, 1.0, 20_000)  # the matrix would take 3.2 GB
    assert peak(lambda: ad.hvp(rosenbrock, (x,), (x,))) < 25 * x.nbytes
    rng = np.random.default_rng(0)
    w = {"first": rng.normal(size=(30, 200)), "second": rng.normal(size=(200, 20))}
    data = rng.normal(size=(10, 30))
    size = sum(v.nbytes for v in w.values())
    assert peak(lambda: ad.hvp(network, (w, data), (w, None))) < 12 * size


def test_the_value_and_the_gradient_are_not_computed_for_themselves() -> None:
    def f(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    seen = set(generated)
    ad.hvp(f, (np.array([0.3, 0.7]),), (np.ones(2),))
    (*_, last) = (record.text for name, record in list(generated.items()) if name not in seen)
    assert "np.sum" not in last
    assert last.count("zeros(x)") == 1  # the buffer of the product; none of the gradient
    assert last.count("[:-1] +=") == last.count("[1:] +=") == 1


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, x):
        return np.sum(self.scale * x**3)

    def __call__(self, x):
        return self.loss(x) * 2.0


def cubic(scale, x):
    return np.sum(scale * x**3)


S, X, V = np.array([1.0, 2.0, -1.0]), np.array([0.5, -0.3, 2.0]), np.array([1.0, 0.5, -2.0])


@pytest.mark.parametrize(
    ("make", "factor"),
    [
        (lambda: Model(S).loss, 1.0),
        (lambda: Model(S), 2.0),
        (lambda: functools.partial(cubic, S), 1.0),
        (lambda: functools.partial(functools.partial(cubic), S), 1.0),
    ],
    ids=["method", "object", "partial", "partial of a partial"],
)
def test_what_fixes_arguments_is_compiled_once(make, factor) -> None:
    want = factor * 6 * S * X * V
    np.testing.assert_allclose(ad.hvp(make(), (X,), (V,)), want)
    before = set(generated)
    np.testing.assert_allclose(ad.hvp(make(), (X,), (V,)), want)
    np.testing.assert_allclose(ad.vhp(make(), (X,), (V,)), want)
    assert not set(generated) - before


def test_arguments_that_do_not_move() -> None:
    np.testing.assert_allclose(ad.hvp(cubic, (S, X), (None, V))[0], 6 * S * X * V)
    first, second = ad.hvp(cubic, (S, X), (V, V))
    np.testing.assert_allclose(first, 3 * X**2 * V)
    np.testing.assert_allclose(second, 6 * S * X * V + 3 * X**2 * V)
    assert ad.hvp(cubic, (S, X), (None, None)) == ()


def test_other_types_are_other_code() -> None:
    def f(x):
        return x**3 if isinstance(x, float) else np.sum(x**3)

    assert ad.hvp(f, (2.0,), (1.0,)) == 12.0
    np.testing.assert_allclose(ad.hvp(f, (X,), (V,)), 6 * X * V)
    assert ad.hvp(f, (2.0,), (np.float32(1.0),)) == 12.0
    np.testing.assert_allclose(ad.hvp(f, (X.astype(np.float32),), (V,)), 6 * X * V, rtol=1e-6)
    with pytest.raises(ad.CotangentError, match="complex"):
        ad.hvp(f, (X,), (V * 1j,))


def test_containers() -> None:
    def f(p):
        return np.sum(p["a"] ** 2 * p["b"][0]) + p["b"][1] ** 3

    p = {"a": X, "b": [2.0, 3.0]}
    found = ad.hvp(f, (p,), ({"a": V, "b": [1.0, 1.0]},))
    np.testing.assert_allclose(found["a"], 2 * V * 2.0 + 2 * X)
    np.testing.assert_allclose(found["b"], [2 * X @ V, 18.0])
    found = ad.hvp(f, (p,), ({"a": V},))
    np.testing.assert_allclose(found["b"], [2 * X @ V, 0.0])


def test_what_moves_must_be_able_to() -> None:
    with pytest.raises(ad.CotangentError, match="argument 0 has no tangent"):
        ad.hvp(lambda s, x: x**2, ("a", 1.0), (1.0, 1.0))


def test_a_function_that_is_redefined() -> None:
    def f(x):
        return x**3

    assert ad.hvp(f, (2.0,), (1.0,)) == 12.0
    f.__code__ = (lambda x: x**4).__code__
    assert ad.hvp(f, (2.0,), (1.0,)) == 48.0
