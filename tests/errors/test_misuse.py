"""Calls of the interface that can't be meant: each error says what was expected and what was given."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import thunkad as ad

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
