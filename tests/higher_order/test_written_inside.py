"""Derivatives inside differentiated code of functions that seem to write into what they are given.

Whether they do is seen when they run: what they leave as it was has its derivatives, in every mode, also where several
arguments are one array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunkad as ad

X = np.array([0.3, 0.8, -0.5])
V = np.array([0.4, 0.5, 0.6])


def bump(a):
    a *= 2.0
    return a


def wrapped(f):
    def g(*args):
        return f(*args)

    return g


def of_a_copy(f):
    def g(a):
        b = a.copy()
        b[0] = b[1] * b[0]
        return f(b)

    return g


def with_its_name(f):
    @functools.wraps(f)
    def g(*args, **kwargs):
        given = []
        for a in args:
            given.append(a * 1.0)
        return f(*given, **kwargs)

    return g


def applied(f, u):
    return f(u)


def by_a_wrapper(x):
    return np.sum(ad.grad(wrapped(lambda u: np.sum(u**3 * x)))(x))


def by_a_wrapper_with_its_name(x):
    return np.sum(ad.grad(with_its_name(lambda u: np.sum(u**3 * x)))(x) * x)


def by_a_wrapper_that_copies(x):
    return np.sum(ad.grad(of_a_copy(lambda u: np.sum(u**3 * x)))(x) * x)


def out_of_a_list(x):
    fs = [of_a_copy(lambda u: np.sum(u**3 * x)), wrapped(lambda u: np.sum(u**2 * x))]
    return np.sum(ad.grad(fs[0])(x) * ad.grad(fs[1])(x))


def passed_on(x):
    return np.sum(ad.grad(lambda u: applied(of_a_copy(lambda v: np.sum(v**3 * x)), u))(x) * x)


def found_inside(x):
    def h(u):
        fs = [of_a_copy(lambda v: np.sum(v**3 * x))]
        return fs[0](u)

    return np.sum(ad.grad(h)(x) * x)


def what_it_captures(x):
    def h(u):
        fs = [of_a_copy(lambda v: np.sum(v**3 * x))]
        return fs[0](u)

    return np.sum(ad.grad(h)(V) * V)


def beside_one_that_writes(x):
    def h(u):
        fs = [of_a_copy(lambda v: np.sum(v**3 * x)), bump]
        return fs[0](u)

    return np.sum(ad.grad(h)(x))


def after_one_that_writes(x):
    def h(u):
        fs = [lambda v: np.sum(v**3 * x), bump]
        return fs[0](fs[1](u * 1.0)) * fs[0](u)

    return np.sum(ad.grad(h)(x))


def two_arguments(x):
    def h(u, w):
        fs = [lambda v, w: np.sum(v**3 * w), bump]
        return fs[0](u, w)

    return np.sum(ad.grad(h)(x, x))


def a_wrapper_and_a_pullback(x):
    value, back = ad.vjp(of_a_copy(lambda u: u**3 * x), x)
    return np.sum(value * back(x)[0])


FUNCTIONS = [
    by_a_wrapper, by_a_wrapper_with_its_name, by_a_wrapper_that_copies, out_of_a_list, passed_on, found_inside, what_it_captures,
    beside_one_that_writes, after_one_that_writes, two_arguments, a_wrapper_and_a_pullback,
]  # fmt: skip


def differences(f: Callable[[Any], Any]) -> np.ndarray:
    """The derivatives of ``f`` at X; the axis of X comes last."""
    h, out = 1e-4, []
    for e in np.eye(3):
        near, far = f(X + h * e) - f(X - h * e), f(X + 2 * h * e) - f(X - 2 * h * e)
        out.append((8 * near - far) / (12 * h))
    return np.stack(out, -1)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    want = differences(f)
    assert np.allclose(ad.grad(f)(X), want, rtol=1e-7, atol=1e-8)
    value, dot = ad.jvp(f, (X,), (V,))
    assert np.allclose(value, f(X), rtol=1e-14)
    assert np.allclose(dot, want @ V, rtol=1e-7, atol=1e-8)
    assert np.allclose(ad.hessian(f)(X), differences(ad.grad(f)), rtol=1e-6, atol=1e-7)


def test_the_value_of_two_arguments() -> None:
    assert np.isclose(two_arguments(X), np.sum(3 * X**2 * X))


def found_late(u, w):
    fs = [lambda v, w: np.sum(v**3 * w), bump]
    return fs[0](u, w) * np.sum(fs[1](u.copy()))


@pytest.mark.parametrize("k", [0, 1])
def test_one_array_for_two_arguments(k: int) -> None:
    want = ad.grad(found_late, k)(X, X.copy())
    assert np.allclose(ad.grad(found_late, k)(X, X), want, rtol=1e-14)
    assert np.allclose(ad.vjp(found_late, X, X)[1](1.0)[k], want, rtol=1e-14)


def test_one_array_for_two_arguments_that_are_written_is_refused() -> None:
    def f(u, w):
        fs = [bump]
        return np.sum(fs[0](u) * fs[0](w))

    x = X.copy()
    with pytest.raises(ad.ArgumentError, match="share memory"):
        ad.grad(f, (0, 1))(x, x)


def test_what_is_changed_is_refused() -> None:
    def f(x):
        fs = [bump]
        return np.sum(ad.grad(lambda u: np.sum(fs[0](u)))(x) * x)

    with pytest.raises(ad.UnsupportedSyntaxError, match="in place"):
        ad.grad(f)(X.copy())
