"""R28, R29, R36: rules for classes, abstract ones, and classes that are defined again."""

from __future__ import annotations

import abc

import numpy as np
import pytest
from scenarios import form, in_form, quiet

import thunkad as ad
from thunkad.compiled.root import root_of


class Shaped(abc.ABC):
    pass


@form
def test_r28_a_class_is_registered_with_an_abstract_one(policy, form):
    class Square:
        pass

    class Other:
        pass

    def g(x, shape):
        return x * x

    def f(x, shape):
        return g(x, shape)

    @ad.rrule(g)
    @in_form(form)
    def of_shapes(x, shape: Shaped):
        return x * x, lambda y_bar: (y_bar * 10.0, ad.NoTangent())

    gradient, square, other = ad.grad(f), Square(), Other()
    assert gradient(2.0, square) == gradient(2.0, other) == 4.0
    Shaped.register(Square)
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            assert gradient(2.0, square) == 4.0
        ad.refresh()
    with quiet():
        assert gradient(2.0, square) == 10.0
        assert gradient(2.0, other) == 4.0
    assert root_of(f).rebuilds == 1
    assert {(e.types[1], e.how) for e in ad.rules.edges(f) if e.callee is g and not e.late} == {("Square", "rule"), ("Other", "missing")}


@form
def test_r29_a_class_is_defined_again(policy, form):
    def make():
        class Box:
            def __init__(self, a):
                self.a = a

        return Box

    def g(box):
        return box.a * box.a

    def f(x, cls):
        return g(cls(x))

    old, new = make(), make()

    @ad.rrule(g)
    @in_form(form)
    def of_old(box: old):
        return box.a * box.a, lambda y_bar: (ad.Tangent(old, {"a": y_bar * 10.0}),)

    gradient = ad.grad(f)
    for _ in range(2):
        with quiet():
            assert gradient(2.0, old) == 10.0
            assert gradient(2.0, new) == 4.0
    assert root_of(f).rebuilds == 0
    assert {e.how for e in ad.rules.edges(f) if e.callee is g} == {"rule", "missing"}


class Arrays(abc.ABC):
    pass


class MyArray(np.ndarray):
    pass


@form
def test_r36_a_rule_for_a_base_class(policy, form):
    def g(x):
        return np.asarray(x) * 3.0

    def f(x):
        return np.sum(g(x))

    x = np.arange(3.0).view(MyArray)
    gradient = ad.grad(f)
    np.testing.assert_allclose(gradient(x), 3.0)
    Arrays.register(MyArray)

    @ad.rrule(g)
    @in_form(form)
    def of_arrays(x: Arrays):
        return np.asarray(x) * 3.0, lambda y_bar: (y_bar * 10.0,)

    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            np.testing.assert_allclose(gradient(x), 3.0)
        ad.refresh()
    with quiet():
        np.testing.assert_allclose(gradient(x), 10.0)
        np.testing.assert_allclose(gradient(np.arange(3.0)), 3.0)
    assert root_of(f).rebuilds == 1
