"""Derivatives of generic functions themselves, and of bound methods that choose by the class of their argument."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import thunkad as ad


@pytest.fixture
def generic():
    @functools.singledispatch
    def g(x, k=2.0):
        return x * k

    @g.register
    def _(x: float, k=2.0):
        return x * x * k

    @g.register
    def _(x: np.ndarray, k=2.0):
        return np.sum(x**3) * k

    return g


def test_by_the_class_of_the_argument(generic):
    x = np.array([1.0, 2.0])
    assert ad.grad(generic)(3.0) == ad.jvp(generic, (3.0,), (1.0,))[1] == ad.vjp(generic, 3.0)[1](1.0)[0] == 12.0
    assert ad.grad(generic)(3) == 2.0
    assert ad.grad(generic)(3.0, k=5.0) == 30.0 and ad.grad(generic, argnums=(0, 1))(3.0, 5.0) == (30.0, 9.0)
    np.testing.assert_allclose(ad.grad(generic)(x), 6.0 * x**2)
    np.testing.assert_allclose(ad.hessian(generic)(x), np.diag(12.0 * x))
    assert ad.grad(ad.grad(generic))(3.0) == ad.hvp(generic, (3.0,), (1.0,)) == 4.0


def test_what_is_registered_later_is_followed(generic):
    assert ad.grad(generic)(3.0) == 12.0

    @generic.register
    def _(x: float, k=2.0):
        return x**3 * k

    assert ad.grad(generic)(3.0) == 54.0

    @ad.rrule(generic)
    def _(x, k=2.0):
        return generic(x, k), lambda y_bar: (100.0 * y_bar, 0.0)

    ad.refresh(generic)
    assert ad.grad(generic)(3.0) == 100.0


def test_bound_methods():
    class Holder:
        w = 2.0

        @functools.singledispatchmethod
        def m(self, x):
            return np.sum(x) * self.w

        @m.register
        def _(self, x: float):
            return x * x * self.w

    holder = Holder()
    known = holder.m

    def f(x):
        return known(x) * x

    np.testing.assert_allclose(ad.grad(holder.m)(np.ones(2)), 2.0)
    assert ad.grad(holder.m)(3.0) == ad.vjp(known, 3.0)[1](1.0)[0] == ad.jvp(known, (3.0,), (1.0,))[1] == 12.0
    assert ad.grad(ad.grad(holder.m))(3.0) == 4.0
    assert ad.grad(f)(3.0) == ad.jvp(f, (3.0,), (1.0,))[1] == 54.0
    assert ad.hvp(f, (3.0,), (1.0,)) == 36.0
