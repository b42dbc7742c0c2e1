"""Scenarios T34 and T36: the order of effects, and derivatives of derivatives through rules with thunks."""

from __future__ import annotations

import numpy as np
import product_rules as p
import pytest

import thunkad as ad

LOG: list[str] = []


def note(what):
    LOG.append(what)


def watched(x, name):
    return ad.hook(x, lambda x_bar: note(f"{name} in reverse"))


def test_t34_effects_run_forwards_and_hooks_backwards_once_each() -> None:
    def f(x):
        note("first")
        a = watched(x * 2.0, "a")
        note("second")
        b = watched(a * a, "b")
        note("third")
        return watched(b + 1.0, "c")

    LOG.clear()
    assert ad.grad(f)(3.0) == 24.0
    assert LOG == ["first", "second", "third", "c in reverse", "b in reverse", "a in reverse"]
    LOG.clear()
    _, pullback = ad.vjp(f, 3.0)
    assert LOG == ["first", "second", "third"]
    bars = pullback(1.0)
    assert bars[0] == 24.0 and bars[0] == 24.0
    assert LOG[3:] == ["c in reverse", "b in reverse", "a in reverse"]
    assert pullback(1.0)[0] == 24.0
    assert len(LOG) == 9


def test_t34_a_hook_changes_the_cotangent_and_sees_each_iteration() -> None:
    def f(x, n):
        for k in range(n):
            x = ad.hook(x * 2.0, lambda x_bar: x_bar * 10.0)
        return x

    assert ad.grad(f)(1.0, 3) == 8000.0


def smooth(a, b):
    return np.sin(a) * b


@ad.rrule(smooth)
def _(a, b):
    def pullback(z_bar):
        return ad.thunk(lambda: z_bar * np.cos(a) * b), ad.thunk(lambda: z_bar * np.sin(a))

    return np.sin(a) * b, pullback


@pytest.mark.parametrize("order", ["grad of grad", "vjp of vjp", "grad of vjp", "vjp of grad"])
def test_t36_derivatives_of_derivatives_through_thunks(order) -> None:
    def f(x):
        return smooth(x, x * x)

    def first(x):
        return ad.grad(f)(x) if order.endswith("of grad") else ad.vjp(f, x)[1](1.0)[0]

    x = 0.7
    second = ad.grad(first)(x) if order.startswith("grad") else ad.vjp(first, x)[1](1.0)[0]
    np.testing.assert_allclose(second, -np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x))


def test_t36_arrays_through_a_rule_that_is_pasted() -> None:
    def f(a, b):
        return np.sum(p.pasted(a, b) ** 2)

    a, b = p.matrices((2, 3), (3, 2))
    p.take()
    second = ad.grad(lambda b: np.sum(ad.grad(f, argnums=1)(a, b)))(b)
    np.testing.assert_allclose(second, 2 * a.T @ a @ np.ones((3, 2)))
