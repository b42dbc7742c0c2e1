"""Rules by differences for functions that can only be called."""

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_frule, check_grads, check_rrule

X, Y = np.array([0.3, 0.7, 1.2]), np.array([1.0, 2.0, 3.0])


@pytest.fixture
def opaque():
    """A function whose text is gone, and the calls of it."""
    calls = []
    names = {"np": np, "calls": calls}
    exec("def opaque(x, y, scale=1.0):\n    calls.append(1)\n    return np.sin(x) * y * scale", names)
    return names["opaque"], calls


def test_without_it_there_is_no_derivative(opaque):
    fn, _ = opaque
    with pytest.raises(ad.SourceUnavailableError):
        ad.grad(lambda x: np.sum(fn(x, Y)))(X)


def test_differences(opaque):
    fn, _ = opaque
    ad.numerical_rule(fn)
    check_rrule(fn, X, Y)
    check_frule(fn, X, Y)
    check_rrule(fn, X, Y, scale=0.7)
    check_grads(lambda x, y: np.sum(fn(x, y, scale=y[0]) ** 2), X, Y)
    check_grads(lambda x: fn(x, 2.0), 0.3)
    check_grads(lambda z: np.abs(fn(z, 2.0)), 0.3 + 0.2j)
    single = ad.grad(lambda x: np.sum(fn(x, np.float32(2.0))))(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, 2 * np.cos(X), rtol=1e-6)


def test_what_it_costs(opaque):
    fn, calls = opaque
    ad.numerical_rule(fn)
    ad.grad(lambda x, y: np.sum(fn(x, y)))(X, Y)
    assert len(calls) == 1 + 4 * 3  # nothing for y
    calls.clear()
    ad.jvp(lambda x, y: np.sum(fn(x, y)), (X, Y), (X, Y))
    assert len(calls) == 1 + 4


def test_a_complex_step_is_exact(opaque):
    fn, calls = opaque
    ad.numerical_rule(fn, method="complex step")
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(fn(x, Y)))(X), np.cos(X) * Y, rtol=1e-15)
    assert len(calls) == 1 + 3
    _, dot = ad.jvp(lambda x: fn(x, Y), (X,), (np.ones(3),))
    np.testing.assert_allclose(dot, np.cos(X) * Y, rtol=1e-15)


def test_results_of_several_parts_and_any_number_of_arguments():
    names = {"np": np}
    exec("def opaque(*xs):\n    return sum(x * x for x in xs), np.outer(xs[0], xs[-1])", names)
    fn = names["opaque"]
    ad.numerical_rule(fn)

    def f(x, y):
        squares, products = fn(x, y, x)
        return np.sum(squares) + np.sum(products**2)

    check_grads(f, X, Y)


def test_what_it_refuses(opaque):
    fn, _ = opaque
    ad.numerical_rule(fn)
    with pytest.raises(ad.UnsupportedSyntaxError, match="whose rule is numerical"):
        ad.hessian(lambda x: np.sum(fn(x, Y)))(X)
    with pytest.raises(ad.RuleError, match="complex step"):
        ad.numerical_rule(fn, method="guess")
    with pytest.raises(ad.NotImplementedDerivativeError, match="not by those in containers"):
        names = {}
        exec("def first(xs):\n    return xs[0] * 2.0", names)
        ad.numerical_rule(names["first"])
        ad.grad(lambda x: names["first"]([x, x]))(1.0)
