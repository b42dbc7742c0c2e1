"""Calls of the interface that can't be meant: each error says what was expected and what was given."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads

X = np.array([1.0, 2.0, 3.0])


def f(x, y=2.0):
    return np.sum(x**2) * y


@dataclasses.dataclass
class Fields:
    x: object
    y: object


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: ad.grad(f, argnames=0), "argnames: 0 is not a name"),
        (lambda: ad.grad(f, argnames=("x", 1)), r"argnames: \('x', 1\) is not a name"),
        (lambda: ad.value_and_grad(f, argnums="x"), "(?s)argnums: 'x' is not an integer.*argnames"),
        (lambda: ad.grad(f, argnums=1.5), "argnums: 1.5 is not an integer"),
        (lambda: ad.grad(f, argnums=True), "argnums: True is not an integer"),
        (lambda: ad.grad(f, np.ones(2)), r"(?s)argnums: array.* is not an integer.*grad\(f\) when called"),
        (lambda: ad.adjoint_source(f, np.ones(2)), r"(?s)argnums: array.* is not an integer.*args=\(…\)"),
        (lambda: ad.hessian(f, argnums="x"), "argnums: 'x' is not an integer"),
        (lambda: ad.jacobian(f, argnums=("x",)), r"argnums: \('x',\) is not an integer"),
        (lambda: ad.grad(f, argnums=1, argnames="x"), "argnums=1 and argnames='x' were both given"),
        (lambda: ad.adjoint_source(f, argnums=1, argnames="x"), "both given"),
        (lambda: ad.hvp(f, X, X), r"hvp\(f, primals, tangents\): primals is an array of shape \(3,\)"),
        (lambda: ad.hvp(f, (X,), 1.0), r"hvp\(f, primals, tangents\): tangents is a number"),
        (lambda: ad.vhp(f, (X,), (X, X)), r"vhp\(f, primals, cotangents\): there are 1 primals and 2 cotangents"),
        (lambda: ad.jvp(f, (X, 1.0), (X,)), r"jvp\(f, primals, tangents\): there are 2 primals and 1 tangents"),
        (lambda: ad.gauss_newton_product(f, f, X, X), r"gauss_newton_product\(f, primals, tangents\): primals is"),
        (lambda: ad.adjoint_source(ad.grad(lambda x, y=1: x)), "different numbers of arguments"),
    ],
)
def test_arguments(use, message: str) -> None:
    with pytest.raises(ad.ArgumentError, match=message):
        use()


def pair(x):
    return np.sum(x**2), x * 2


def table(x):
    return {"a": x * 2, "b": np.sum(x)}


def fields(x):
    return Fields(x * 2, 1.0)


@pytest.mark.parametrize(
    ("g", "seed", "message"),
    [
        (pair, 1.0, r"of the result is a number, and .* a tuple \(a number, an array of shape \(3,\)\)"),
        (pair, (1.0,), r"of the result is a tuple \(a number\)"),
        (pair, {"a": 1.0}, r"of the result is a dict \{'a': a number\}"),
        (pair, None, "of the result is None"),
        (pair, (None, X), r"of entry \[0\] of the result is None, and .* a number"),
        (pair, (1.0, "s"), r"of entry \[1\] of the result is a str, and .* an array of shape \(3,\)"),
        (pair, (1.0, np.ones(4)), r"of entry \[1\] of the result is an array of shape \(4,\)"),
        (table, {"c": X}, r"a dict \{'c': an array of shape \(3,\)\}, and .* a dict \{'a': .*, 'b': a number\}"),
        (table, {"b": X}, r"of entry \['b'\] of the result is an array of shape \(3,\), and .* a number"),
        (table, (X, 1.0), "is a tuple .* is a dict"),
        (lambda x: x * 2, None, "is None, and .* an array"),
        (lambda x: x * 2, [[1.0], [2.0, 3.0]], "is a list"),
        (lambda x: [x, x], X, "is an array .* is a list"),
        (np.sum, None, "is None, and .* a number"),
        (np.sum, "1", "is a str, and .* a number"),
        (fields, 1.0, "is a number, and .* a Fields"),
    ],
)
def test_cotangents(g, seed, message: str) -> None:
    pullback = ad.vjp(g, X)[1]
    with pytest.raises(ad.CotangentError, match=message):
        tuple(pullback(seed))


def test_cotangents_of_the_right_structure_are_taken() -> None:
    np.testing.assert_allclose(ad.vjp(pair, X)[1]([1.0, X])[0], 4 * X)
    np.testing.assert_allclose(ad.vjp(pair, X)[1]((ad.ZeroTangent(), [1, 1, 1]))[0], np.full(3, 2.0))
    np.testing.assert_allclose(ad.vjp(table, X)[1]({"a": X})[0], 2 * X)
    for seed in (Fields(X, 0.0), {"x": X}, ad.Tangent(Fields, {"x": X})):
        np.testing.assert_allclose(ad.vjp(fields, X)[1](seed)[0], 2 * X)


def test_products_with_hessians_inside_differentiated_code() -> None:
    def cubes(y):
        return np.sum(y**3)

    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.hvp(cubes, (x,), (x,))))(X), 12 * X)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.vhp(cubes, (x,), (x,))))(X), 12 * X)


def test_the_source_of_a_gradient_that_was_used() -> None:
    gradient = ad.grad(f)
    ad.grad(lambda x: np.sum(gradient(x)))(X)
    ad.grad(lambda x: np.sum(ad.grad(gradient)(x)))(2.0)
    assert "def " in ad.adjoint_source(gradient, args=(2.0,))
    assert "def " in ad.adjoint_source(ad.grad(lambda x: x**2))


def made():
    def h(x, y):
        return x * np.exp(y)

    return h


def both(h):
    return ad.grad(lambda x, y: np.sum(h(x, y)), argnums=(0, 1))(X, X)


@pytest.mark.parametrize(
    ("partials", "message"),
    [
        ([lambda r, x, y: r] * 3, "has 3 partial derivatives, and they take 2 arguments"),
        ([lambda x, y: y, lambda x, y: x], "has 2 partial derivatives, and they take 1 arguments"),
        ([lambda r, x: r], "the function takes 2 arguments, and its partial derivatives 1"),
    ],
)
def test_partials_that_do_not_fit_the_function(partials, message: str) -> None:
    with pytest.raises(ad.RuleError, match=message) as caught:
        ad.scalar_rule(made(), *partials)
    assert "test_misuse.py" in str(caught.value)


@pytest.mark.parametrize(
    "partials", [lambda r, x, y: np.exp(y), lambda r, x, y: (np.exp(y),), lambda r, x, y: [r, r, r]]
)
def test_too_few_partials_in_one_function(partials) -> None:
    h = made()
    ad.scalar_rule(h, partials)
    with pytest.raises(ad.RuleError, match="a tuple of 2 partial derivatives") as caught:
        both(h)
    assert "test_misuse.py" in str(caught.value)
    with pytest.raises(ad.RuleError, match="a tuple of 2 partial derivatives"):
        ad.jvp(h, (X, X), (X, X))


def test_all_partials_in_one_function() -> None:
    h = made()
    ad.scalar_rule(h, lambda r, x, y: (np.exp(y), r))
    np.testing.assert_allclose(both(h), (np.exp(X), X * np.exp(X)))


def none_for_one(x, y):
    def pullback(z_bar):
        return None, z_bar * x * np.exp(y)

    return x * np.exp(y), pullback


def none_for_one_called(x, y):
    def pullback(z_bar):
        parts = [None, z_bar]
        return parts

    return x * np.exp(y), pullback


def none(x, y):
    return x * np.exp(y), lambda z_bar: None


def one_of_two(x, y):
    def pullback(z_bar):
        return (z_bar * np.exp(y),)

    return x * np.exp(y), pullback


def one_parameter(x):
    return x, lambda z_bar: (z_bar,)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (none_for_one, "returned None for the cotangent of 'x'"),
        (none_for_one_called, "returned None for the cotangent of 'x'"),
        (none, "returned None"),
        (one_of_two, "returned a tuple of 1"),
        (one_parameter, "does not take this call's arguments"),
    ],
)
def test_rules_that_return_something_else(rule, message: str) -> None:
    h = made()
    ad.rrule(h)(rule)
    with pytest.raises(ad.RuleError, match=message) as caught:
        both(h)
    assert "made.<locals>.h" in str(caught.value)
    assert f"line {rule.__code__.co_firstlineno}" in str(caught.value)


@pytest.mark.parametrize(
    "use", [ad.rrule, ad.frule, ad.non_differentiable, ad.opt_out, lambda fn: ad.scalar_rule(fn, lambda r, x: r)]
)
@pytest.mark.parametrize("fn", [3, "x", None, np, [np.sin]])
def test_rules_for_what_is_no_function(use, fn) -> None:
    with pytest.raises(ad.RuleError, match="for functions, not for") as caught:
        use(fn)
    assert "test_misuse.py" in str(caught.value)


def test_loops_over_what_is_changed_before() -> None:
    def values(p):
        q = {"a": p * 1.0, "b": p * 2.0}
        q["a"][0] = q["b"][1] ** 2
        total = 0.0
        for v in q.values():
            total = total + np.sum(v**2)
        return total

    def backwards(p):
        q = [p * 1.0, p * 2.0]
        q[0][0] = q[1][1] ** 2
        total = 0.0
        for v in reversed(q):
            total = total + np.sum(v**2)
        return total

    for g in (values, backwards):
        check_grads(g, X)
