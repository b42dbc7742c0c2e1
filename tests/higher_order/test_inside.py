"""Derivatives inside differentiated code: what they hold, what is changed around them, what they are handed to.

The gradient, the Hessian and forward mode of each are compared with differences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunkad as ad

X = np.array([0.3, 0.8, -0.5])


@dataclasses.dataclass
class Net:
    a: np.ndarray
    b: float

    def loss(self, x):
        return np.sum(np.tanh(self.a * x + self.b) ** 2)


def squares_of(h, v):
    return np.sum(h(v) ** 2)


def default(x):
    return ad.grad(lambda y, k=x[0]: k * y**3)(x[1])


def default_of_a_keyword(x):
    def g(y, *, k=x[0]):
        return k * y**3

    return ad.vjp(g, x[1])[1](x[2])[0] + ad.hessian(g)(x[1])


def object_as_argument(w):
    net = Net(w * w, w[0])
    g = ad.grad(lambda n, x: n.loss(x))(net, w)
    return np.sum(g.a**2) * g.b


def held_by_a_derivative(w):
    h = ad.checkpoint(lambda v: np.sin(v * w) * v)
    return np.sum(ad.grad(lambda v: np.sum(h(v) ** 2))(w) ** 2)


def handed_on(w):
    h = ad.grad(lambda v: np.sum(v**3 * w))
    _, linear = ad.linearize(lambda v: np.sin(v) * w, w)
    return squares_of(h, w * w) + squares_of(linear, w)


def mapped(w):
    return sum(map(lambda h: np.sum(h(w)), [ad.grad(lambda v: np.sum(v**3 * w))]))


def argument_changed_after_it(w):
    v = w.copy()
    for _ in range(3):
        v -= 0.1 * ad.grad(lambda u: np.sum(np.sin(u * w)))(v)
    return np.sum(v * v)


def pullback_after_a_change(w):
    a = w * 2.0
    _, back = ad.vjp(lambda u: np.sin(u) * u, a)
    a[0] = 5.0
    a *= w
    return np.sum(back(w)[0]) + np.sum(a)


def product_of_three(w):
    a = np.outer(w, w)
    return np.sum(ad.grad(lambda u: np.einsum("i,ij,j->", u, a, u * u))(w) ** 2)


def power_of_one(w):
    return np.sum(ad.hessian(lambda u: np.einsum("i,i,i,i", u, w, u, u))(w))


def map_after_a_change(w):
    a = w * 2.0
    _, linear = ad.linearize(lambda u: np.sin(u) * u * w, a)
    a[0] = 5.0
    a *= w
    return np.sum(linear(w)) + np.sum(a) + np.sum(linear(w * w))


def map_of_an_object_after_a_change(w):
    net = Net(w * w, w[0])
    _, linear = ad.linearize(net.loss, w)
    net.a *= w
    return linear(w) * net.loss(w)


def capture_changed_between(w):
    a = w * 2.0
    g = ad.grad(lambda u: np.sum(u * u * a))
    r = np.sum(g(w))
    a[0] = w[1]
    return r * np.sum(g(w))


def object_changed_between(w):
    net = Net(w * w, w[0])
    r = np.sum(ad.grad(net.loss)(w) ** 2)
    net.a *= w
    return r + np.sum(net.a) + np.sum(ad.grad(net.loss)(w))


FUNCTIONS = [
    default, default_of_a_keyword, object_as_argument, held_by_a_derivative, handed_on, mapped, argument_changed_after_it,
    pullback_after_a_change, product_of_three, power_of_one, map_after_a_change, map_of_an_object_after_a_change, capture_changed_between, object_changed_between,
]  # fmt: skip


def differences(f: Callable[[Any], Any]) -> np.ndarray:
    """The derivatives of ``f`` at X; the axis of X comes last."""
    h, out = 1e-4, []
    for e in np.eye(3):
        near, far = f(X + h * e) - f(X - h * e), f(X + 2 * h * e) - f(X - 2 * h * e)
        out.append((8 * near - far) / (12 * h))
    return np.stack(out, -1)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any], Any]) -> None:
    assert np.allclose(ad.grad(f)(X), differences(f), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_forward_mode(f: Callable[[Any], Any]) -> None:
    dot = np.array([1.0, -0.4, 0.7])
    assert np.allclose(ad.jvp(f, (X,), (dot,))[1], differences(f) @ dot, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessian(f: Callable[[Any], Any]) -> None:
    assert np.allclose(ad.hessian(f)(X), differences(ad.grad(f)), rtol=1e-6, atol=1e-7)
