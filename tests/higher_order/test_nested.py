"""Derivatives inside differentiated functions, with closures over what is differentiated outside."""

from __future__ import annotations

import math

import numpy as np
import pytest

import thunkad as ad


def difference(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)


def confused_sum(x):
    return x * ad.grad(lambda y: x + y)(1.0)


def confused_product(x):
    return x * ad.grad(lambda y: x * y)(1.0)


def captured(x):
    return ad.grad(lambda y: x * y**2)(2.0) * x


def with_value(x):
    value, g = ad.value_and_grad(lambda y: np.sin(x * y) * y)(x * x)
    return value * g


def three_deep(x):
    return ad.grad(lambda y: ad.grad(lambda z: x * y * z**3 + y**2 * z)(y * x))(x)


def with_jvp(x):
    y, y_dot = ad.jvp(lambda a, b: a * b * x, (x, x * x), (1.0, x))
    return y * y_dot


def with_vjp(x):
    y, pullback = ad.vjp(lambda a: np.sin(a) * x, x * x)
    (a_bar,) = pullback(y)
    return a_bar * y


def with_aux(x):
    g, aux = ad.grad(lambda y: (x * y**3, x * y), has_aux=True)(x)
    return g * aux


def in_a_loop(x):
    y = 1.5
    for _ in range(3):
        y = y - 0.1 * ad.grad(lambda z: (z * z - x) ** 2)(y)
    return y


def chosen(x):
    return ad.grad(np.sin if x > 0 else np.cos)(x)


def cube(x, k):
    return k * x**3


def keyword(x):
    return ad.grad(cube)(x, k=x)


def second_argument(x):
    return ad.grad(cube, 1)(x, x) + ad.grad(cube, argnames="k")(x, 2.0)


def both_arguments(x):
    a, b = ad.grad(cube, (0, 1))(x, x)
    return a * b


class Model:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x**3

    def force(self, x):
        return ad.grad(self.energy)(x)


def method(x):
    return Model(x).force(x) * x


FUNCTIONS = [
    confused_sum, confused_product, captured, with_value, three_deep, with_jvp, with_vjp, with_aux, in_a_loop, chosen,
    keyword, second_argument, both_arguments, method,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f) -> None:
    x = 0.9
    assert math.isclose(ad.grad(f)(x), difference(f, x), rel_tol=1e-7, abs_tol=1e-9)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_jvp(f) -> None:
    x = 0.9
    value, tangent = ad.jvp(f, (x,), (2.0,))
    assert math.isclose(value, f(x))
    assert math.isclose(tangent, 2 * difference(f, x), rel_tol=1e-7, abs_tol=1e-9)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_second_derivative(f) -> None:
    x = 0.9
    assert math.isclose(ad.grad(ad.grad(f))(x), difference(ad.grad(f), x), rel_tol=1e-6, abs_tol=1e-8)


def test_no_perturbation_confusion() -> None:
    assert ad.grad(confused_sum)(1.0) == 1.0
    assert ad.grad(confused_product)(4.0) == 8.0
    assert ad.grad(captured)(1.5) == 12.0  # 6 if the share of the capture is lost
    assert math.isclose(ad.grad(three_deep)(0.9), 45 * 0.9**4 + 2)


def penalty(w, x):
    g = ad.grad(lambda v: np.sum(np.tanh(v * w) ** 2))(x)
    return np.sum(g * g)


def test_gradient_penalty() -> None:
    w, x = np.array([0.5, -1.2]), np.array([0.3, 0.8])
    found = ad.grad(penalty)(w, x)
    step = 1e-6
    want = [(penalty(w + e, x) - penalty(w - e, x)) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(found, want, rtol=1e-6)


def test_hessian_inside() -> None:
    def trace(x):
        return np.trace(ad.hessian(lambda v: np.sum(v**4))(x))

    np.testing.assert_allclose(ad.grad(trace)(np.array([1.0, 2.0])), [24.0, 48.0])


def random_inside(x):
    rng = np.random.default_rng(1)
    return ad.grad(lambda y: y * y * rng.normal())(x)


def test_random_numbers_inside_are_refused() -> None:
    with pytest.raises(ad.ThunkadError):
        ad.grad(random_inside)(1.0)


def clipped(x):
    return ad.hook(x * x, lambda g: 10 * g) * x


def test_a_hook_changes_the_gradient_once() -> None:
    assert math.isclose(ad.grad(clipped)(2.0), 10 * 2 * 2.0 * 2.0 + 4.0)


def test_a_second_derivative_through_a_hook_is_refused() -> None:
    with pytest.raises(ad.ThunkadError, match="hook"):
        ad.grad(ad.grad(clipped))(2.0)


def test_a_hook_that_looks_only() -> None:
    seen = []
    assert ad.grad(lambda x: ad.hook(x * 3.0, seen.append) * 2.0)(1.0) == 6.0
    assert seen == [2.0]


def test_stop_gradient() -> None:
    assert ad.grad(lambda x: x * ad.stop_gradient(x * x))(3.0) == 9.0
    assert ad.jvp(lambda x: x * ad.stop_gradient(x * x), (3.0,), (1.0,)) == (27.0, 9.0)
    inside = lambda x: ad.grad(lambda u: u**3 * ad.stop_gradient(u * x))(x)  # noqa: E731
    assert ad.grad(inside)(2.0) == ad.jvp(inside, (2.0,), (1.0,))[1] == 3 * 2 * 2.0 * (2.0 * 2.0)
    assert ad.grad(ad.grad(lambda x: x * x * ad.stop_gradient(x)))(3.0) == 6.0


def wave(x, k):
    for _ in range(3):
        x = np.sin(x * k)
    return x


def test_checkpoint_gives_the_same_to_the_last_bit() -> None:
    def plain(x):
        return np.sum(wave(wave(x, 1.3), 0.7))

    def kept(x):
        again = ad.checkpoint(wave)
        return np.sum(again(again(x, 1.3), 0.7))

    x = np.array([0.3, 0.8])
    assert ad.grad(plain)(x).tolist() == ad.grad(kept)(x).tolist()
    assert ad.jvp(plain, (x,), (x,))[1] == ad.jvp(kept, (x,), (x,))[1]


def test_checkpoint_runs_its_function_twice_and_of_a_closure() -> None:
    calls = []

    def note(x):
        calls.append(1)
        return x

    ad.non_differentiable(note)

    def f(k):
        def inner(x):
            note(1.0)
            return x * x * k

        return ad.checkpoint(inner)(k) * 2.0

    assert math.isclose(ad.grad(f)(1.5), 6 * 1.5**2)
    assert len(calls) == 2


def constant_inside(x):
    return ad.grad(lambda y: y**3)(2.0) * ad.jvp(lambda y: y**2, (3.0,), (1.0,))[1] * x


def test_a_derivative_inside_of_a_function_that_captures_nothing() -> None:
    assert ad.grad(constant_inside)(0.7) == 72.0
    assert ad.jvp(constant_inside, (0.7,), (2.0,))[1] == 144.0


def checkpointed_closure(x):
    def g(y):
        return x * y**3 + x**2 * y

    return ad.checkpoint(g)(x + 1.0) * x


def test_second_derivatives_through_a_checkpoint_of_a_closure() -> None:
    want = difference(ad.grad(checkpointed_closure), 0.7)
    assert math.isclose(ad.grad(ad.grad(checkpointed_closure))(0.7), want, rel_tol=1e-8)
    assert math.isclose(ad.hessian(checkpointed_closure)(0.7), want, rel_tol=1e-8)
