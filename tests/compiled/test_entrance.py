"""The function that grad returns: its parameters, and the tests in front of the compiled code."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled.root import root_of
from thunkad.kinds.observe import kind_of


def loss(x, y=3.0, *, n=1):
    return x * y * n


def test_one_derivative_for_one_question():
    gradient = ad.grad(loss)
    assert ad.grad(loss) is gradient and ad.grad(loss, argnums=[0, 1]) is ad.grad(loss, argnums=(0, 1))
    assert ad.grad(loss, argnames="x") is not gradient and ad.value_and_grad(loss) is not gradient
    assert gradient.__name__ == "grad(loss)" and "loss" in gradient.__doc__


def test_every_way_of_passing():
    gradient = ad.grad(loss)
    assert [gradient(2.0), gradient(x=2.0), gradient(2.0, 5.0), gradient(2.0, y=5.0)] == [3.0, 3.0, 5.0, 5.0]
    assert [gradient(2.0, n=4), gradient(n=4, y=5.0, x=2.0)] == [12.0, 20.0]
    assert ad.grad(loss, argnums=(0, 1))(2.0, n=2) == (6.0, 4.0)
    assert ad.grad(loss, argnames=("y", "x"))(2.0) == (2.0, 3.0)
    assert ad.grad(loss, argnums=-1)(2.0, 5.0) == 2.0 and ad.grad(loss, argnums=-1)(2.0) == 3.0


@pytest.mark.parametrize("call", [lambda g: g(), lambda g: g(1.0, 2.0, 3.0), lambda g: g(1.0, z=2.0), lambda g: g(1.0, x=2.0)])
def test_wrong_calls(call):
    gradient = ad.grad(loss)
    for _ in range(2):
        with pytest.raises(TypeError, match="loss"):
            call(gradient)
        assert gradient(2.0) == 3.0


def target(default, missing, fixed=2.0, *, slow=3.0):
    return default * missing * fixed * slow


def error(x, changed=1.0):
    return x * changed * p_0(x) * r_0


def p_0(x):
    return 2.0


r_0 = 5.0


def test_names_of_the_users_that_the_tests_use_too():
    assert ad.grad(target)(1.0, 5.0) == 30.0 and ad.grad(target, argnames="slow")(1.0, 5.0) == 10.0
    assert ad.grad(error)(2.0) == ad.grad(error)(2.0) == 10.0


def test_every_kind_of_argument_is_told_apart():
    def f(x):
        return np.sum(np.asarray(x) * 2.0)

    gradient = ad.grad(f)
    points = [2.0, 2, np.float64(2.0), np.float32(2.0), np.ones(2), np.ones((2, 2)), np.ones(2, np.float32), np.ones(2, int)]
    for _ in range(2):
        for x in points:
            found = gradient(x)
            assert np.shape(found) == np.shape(x)
            np.testing.assert_allclose(found, 2.0)
            assert np.result_type(found) == (np.float32 if getattr(x, "dtype", None) == np.float32 else np.float64)
    count = len(root_of(f).specializations)
    gradient(np.ones(2, np.float16))
    assert len(root_of(f).specializations) == count  # of the same kind: served by the same code


def test_containers_and_functions_as_arguments():
    def f(p, h, flag=None):
        return h(p["a"]) * p["b"] * (2.0 if flag else 1.0)

    gradient = ad.grad(f)
    for _ in range(2):
        assert gradient({"a": 2.0, "b": 3.0}, lambda x: x * x) == {"a": 12.0, "b": 4.0}
        assert gradient({"a": 2.0, "b": np.float64(3.0)}, np.sin, "yes")["b"] == 2 * np.sin(2.0)


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, x, k=2.0):
        return self.w * x * k


def test_methods_keep_their_object():
    first, second = Model(3.0), Model(5.0)
    gradients = ad.grad(first.energy), ad.grad(second.energy)
    for _ in range(2):
        assert [g(1.0) for g in gradients] == [6.0, 10.0]
        assert gradients[0](1.0, k=1.0) == 3.0
    first.w = np.float64(7.0)
    assert gradients[0](1.0) == 14.0 and gradients[1](1.0) == 10.0
    with pytest.raises(TypeError, match="energy"):
        gradients[0]()
    assert ad.grad(Model.energy, argnums=1)(second, 1.0) == 10.0
    assert list(inspect.signature(gradients[0]).parameters)[:2] == ["x", "k"]


def test_an_error_of_the_users_keeps_its_type_on_the_short_way():
    def f(x, table):
        return x * table["scale"]

    gradient = ad.grad(f)
    assert gradient(2.0, {"scale": 3.0}) == 3.0

    def g(x):
        if x < 0:
            raise KeyError("negative")
        return x * x

    gradient = ad.grad(g)
    for _ in range(2):
        assert gradient(2.0) == 4.0
        with pytest.raises(KeyError, match="negative"):
            gradient(-2.0)


def test_rules_that_change_while_a_derivative_is_on_the_short_way():
    def g(x):
        return x

    def f(x):
        return g(x)

    def rule(k):
        return lambda x: (x, lambda y_bar: (y_bar * k,))

    gradient = ad.grad(f)
    with ad.refresh_policy("auto"):
        for k in range(1, 6):
            ad.rrule(g)(rule(float(k)))
            assert gradient(2.0) == gradient(2.0) == k
    assert root_of(f).rebuilds == 4


@pytest.mark.parametrize(
    "points",
    [
        [[1.0, 2.0], [3.0], [1.0, 2], [2, 1.0], [1, 2], [], [np.float64(2.0)]],
        [(1.0, 2.0), (1.0, 2), (1.0, 2.0), (1.0,), [1.0, 2.0]],
    ],
    ids=["lists", "tuples"],
)
def test_entries_are_told_apart(points):
    def squares(p):
        total = 0.0
        for x in p:
            total = total + x * x
        return total

    gradient = ad.grad(squares)
    for _ in range(3):
        for p in points:
            assert gradient(p) == type(p)(2.0 * x for x in p)
    assert len(root_of(squares).specializations) == len(set(map(kind_of, points)))


def weighted(p):
    return np.sum(p["a"] * p["b"])


def test_entries_of_dicts_are_told_apart():
    gradient, ones = ad.grad(weighted), np.ones(2)
    points = [
        {"a": 2.0, "b": 3.0},
        {"b": 3.0, "a": 2.0},
        {"a": 2.0, "b": 3},
        {"a": ones, "b": 3.0},
        {"a": ones, "b": ones[None]},
        {"a": 2.0, "b": 3.0, "more": "text"},
        {"a": 2.0, "b": 3.0, "more": [1.0]},
    ]
    for _ in range(3):
        for p in points:
            found = gradient(p)
            assert list(found) == list(p)
            np.testing.assert_allclose(found["a"], p["b"] if np.ndim(p["a"]) == 0 else ones * np.reshape(p["b"], -1))
    for wrong in ({"a": 2.0}, None, 1.0):
        with pytest.raises((KeyError, TypeError, ad.ThunkadError)):
            gradient(wrong)
    assert gradient(points[0])["a"] == 3.0


def test_a_derivative_of_a_library_function_is_entered_like_any_other():
    second = ad.grad(ad.grad(np.sin))
    for x in (0.5, np.float32(0.5), 0.5):
        np.testing.assert_allclose(second(x), -np.sin(x), rtol=1e-6)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"sin\(\) missing a required argument: 'x'"):
            second()
        with pytest.raises(ad.ThunkadError):
            second(0.5, 1.0)
        with pytest.raises(ad.ThunkadError):
            second(x=0.5)
    assert ad.grad(np.multiply, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_a_derivative_of_a_derivative_has_its_parameters():
    second = ad.grad(ad.grad(lambda x, y: x**3 * y))
    assert second(2.0, 1.0) == 12.0
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        second(2.0)
