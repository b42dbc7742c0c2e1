"""Every function that makes derivatives, inside of functions that are differentiated by every one of them.

Each inner derivative is taken of a closure over what the outer one differentiates, of a function that is given as an
argument, of a method of an object that holds it, of a lambda, of what is found only when the code runs.  The outer
derivatives are compared with differences.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunkad as ad

X = np.array([0.3, 0.8, -0.5])
V = np.array([0.7, -0.2, 0.4])


# ---------------------------------------------------------------- what is done with ``f`` at ``u``


def grad(f, u):
    return ad.grad(f)(u)


def grad_of_grad(f, u):
    return ad.grad(lambda v: np.sum(ad.grad(f)(v) * v))(u)


def value_and_grad(f, u):
    value, g = ad.value_and_grad(f)(u)
    return value * g


def vjp(f, u):
    value, back = ad.vjp(f, u)
    return value + back(value * value)[0]


def vjp_with_aux(f, u):
    value, back, aux = ad.vjp(lambda v: (f(v), np.sum(v) * u[0]), u, has_aux=True)
    return value * aux + back(value)[0]


def jvp(f, u):
    value, dot = ad.jvp(f, (u,), (u * u,))
    return value * dot


def jacobian(f, u):
    return ad.jacobian(f)(u)


def jacobian_by_rows(f, u):
    return ad.jacobian(f, mode="reverse")(u)


def hessian(f, u):
    return ad.hessian(f)(u)


def hvp(f, u):
    return ad.hvp(f, (u,), (u * u,))


def vhp(f, u):
    return ad.vhp(f, (u,), (u * u,))


def gauss_newton_product(f, u):
    return ad.gauss_newton_product(f, lambda y: np.sum(y**3), (u,), (u * u,))


def linearize(f, u):
    value, linear = ad.linearize(f, u)
    return value * linear(u * u) + linear(value)


def derivative(f, u):
    return ad.derivative(f, 2)(u[0]) * ad.derivative(f)(u[1])


def elementwise_grad(f, u):
    return ad.elementwise_grad(f)(u)


def checkpoint(f, u):
    return ad.checkpoint(f)(u)


WHOLE, EACH = "whole", "each"
INNER = {
    grad: WHOLE, grad_of_grad: WHOLE, value_and_grad: WHOLE, vjp: EACH, vjp_with_aux: EACH, jvp: EACH, jacobian: EACH,
    jacobian_by_rows: EACH, hessian: WHOLE, hvp: WHOLE, vhp: WHOLE, gauss_newton_product: EACH, linearize: EACH,
    derivative: WHOLE, elementwise_grad: EACH, checkpoint: EACH,
}  # fmt: skip


# ---------------------------------------------------------------- what ``f`` is


def whole(k, u):
    return np.sum(np.tanh(k * u) * u)


def each(k, u):
    return np.tanh(k * u) * u


class Wave:
    def __init__(self, k):
        self.k = k

    def whole(self, u):
        return np.sum(np.tanh(self.k * u) * u)

    def each(self, u):
        return np.tanh(self.k * u) * u


def wrapped(f):
    def g(*args):
        return f(*args)

    return g


def closure(inner: Any, sort: str) -> Any:
    def f(x):
        k = x * x[1]

        def of_sum(u):
            return np.sum(np.tanh(k[0] * u) * u)

        def of_each(u):
            return np.tanh(k[0] * u) * u

        return np.sum(inner(of_sum if sort == WHOLE else of_each, x) ** 2)

    return f


def from_a_lambda(inner: Any, sort: str) -> Any:
    if sort == WHOLE:
        return lambda x: np.sum(inner(lambda u: np.sum(np.tanh(x[0] * x[1] * u) * u), x * x[2]) ** 2)
    return lambda x: np.sum(inner(lambda u: np.tanh(x[0] * x[1] * u) * u, x * x[2]) ** 2)


def argument(inner: Any, sort: str) -> Any:
    f = {WHOLE: whole, EACH: each}[sort]

    def of(g, x):
        return np.sum(inner(g, x) ** 2)

    return lambda x: of(functools.partial(f, x[0] * x[1]), x)


def method(inner: Any, sort: str) -> Any:
    if sort == WHOLE:
        return lambda x: np.sum(inner(Wave(x[0] * x[1]).whole, x) ** 2)
    return lambda x: np.sum(inner(Wave(x[0] * x[1]).each, x) ** 2)


def by_a_wrapper(inner: Any, sort: str) -> Any:
    f = {WHOLE: whole, EACH: each}[sort]
    return lambda x: np.sum(inner(wrapped(functools.partial(f, x[0] * x[1])), x) ** 2)


def out_of_a_list(inner: Any, sort: str) -> Any:
    f = {WHOLE: whole, EACH: each}[sort]

    def g(x):
        found = [functools.partial(f, x[0] * x[1]), functools.partial(f, x[2])]
        return np.sum(inner(found[len(x) - 3], x) ** 2)

    return g


def that_writes(inner: Any, sort: str) -> Any:
    def g(x):
        def f(u):
            out = np.zeros(np.shape(u))
            for _ in range(2):
                out += 0.5 * np.tanh(x[0] * x[1] * u) * u
            return np.sum(out) if sort == WHOLE else out

        return np.sum(inner(f, x) ** 2)

    return g


WAYS = (
    closure, from_a_lambda, argument, method, by_a_wrapper, out_of_a_list, that_writes,
)  # fmt: skip
CASES = {f"{inner.__name__}-{way.__name__}": way(inner, sort) for inner, sort in INNER.items() for way in WAYS}


def differences(f: Callable[[Any], Any]) -> np.ndarray:
    """The derivatives of ``f`` at X; the axis of X comes last."""
    h, out = 1e-3, []
    for e in np.eye(3):
        near, far, more = (f(X + k * h * e) - f(X - k * h * e) for k in (1, 2, 3))
        out.append((45 * near - 9 * far + more) / (60 * h))
    return np.stack(out, -1)


@pytest.mark.parametrize("name", CASES)
def test_first_order(name: str) -> None:
    f, want = CASES[name], differences(CASES[name])
    assert np.allclose(ad.grad(f)(X), want, rtol=1e-7, atol=1e-8)
    assert np.allclose(ad.jvp(f, (X,), (V,))[1], want @ V, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith(("closure", "method"))])
def test_jacobian(name: str) -> None:
    f = CASES[name]

    def several(x):
        return f(x) * x

    want = np.outer(X, differences(f)) + f(X) * np.eye(3)
    assert np.allclose(ad.jacobian(several)(X), want, rtol=1e-7, atol=1e-8)
    assert np.allclose(ad.jacobian(several, mode="reverse")(X), want, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_hessian(name: str) -> None:
    assert np.allclose(ad.hessian(CASES[name])(X), differences(ad.grad(CASES[name])), rtol=1e-6, atol=1e-7)
