"""R21 to R25: callees that are passed, recursion, higher order, rules that differentiate their argument."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scenarios import Story, form, in_form, quiet, rule

import thunkad as ad
from thunkad.compiled.root import root_of


@form
def test_r21_a_callee_that_is_passed(policy, form):
    def g(x):
        return x * x

    table = [np.sin, None]

    def f(x):
        return table[0](x)

    story = Story(f, policy=policy)
    story.is_now(np.cos(2.0))
    table[0] = g
    story.is_now(4.0)
    rule(g, 10.0, form)
    story.changes(4.0, 10.0, rebuilds=0)
    table[0] = np.sin
    story.is_now(np.cos(2.0))
    assert {(e.callee, e.how) for e in ad.rules.edges(f) if e.late} >= {(np.sin, "rule"), (g, "rule")}
    assert story.root.rebuilds == 0


@form
def test_r21_a_callee_that_is_an_argument(policy, form):
    def g(x):
        return x * x

    def f(x, h):
        return h(x)

    gradient = ad.grad(f)
    assert gradient(2.0, np.sin) == np.cos(2.0)
    assert gradient(2.0, g) == 4.0
    rule(g, 10.0, form)
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            assert gradient(2.0, g) == 4.0
        (report,) = ad.refresh()
        assert len(report.rebuilt) == 1
    with quiet():
        assert gradient(2.0, g) == 10.0
        assert gradient(2.0, np.sin) == np.cos(2.0)
    assert root_of(f).rebuilds == 1


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


@form
def test_r22_recursion_and_a_rule_for_the_function_itself(policy, form):
    gc.collect()  # the functions of earlier runs call `power`, too

    def outer(x):
        return power(x, 3)

    story = Story(outer, policy=policy)
    story.is_now(12.0)
    asked = []

    def noted(n):
        asked.append(n)
        return n

    @ad.rrule(power)
    @in_form(form)
    def closed(x, n):
        def pullback(y_bar):
            return y_bar * noted(n) * x ** (n - 1), ad.NoTangent()

        return x**n, pullback

    try:
        story.changes(12.0, 12.0)
        assert set(asked) == {3}  # the rule stands for all of it
        assert story.decided() == {("outer", "missing"), ("power", "rule")}
        ad.opt_out(power)
        if policy == "manual":
            ad.refresh()
        story.is_now(12.0)
        assert story.root.rebuilds == 2
    finally:
        ad.rules.remove(power)


def inner_power(x, n, inner=None):
    return 1.0 if n == 0 else x * inner_power(x, n - 1, 0.0)


@form
def test_r22_the_rule_is_used_at_the_inner_calls(policy, form):
    gradient, root = ad.grad(inner_power), root_of(inner_power)
    before = root.rebuilds
    assert gradient(2.0, 3) == 12.0

    @ad.rrule(inner_power)
    @in_form(form)
    def of_inner(x, n, inner: float):  # the outermost call is looked into; the calls inside it are not
        def pullback(y_bar):
            return y_bar * 1000.0, ad.NoTangent(), ad.NoTangent()

        return inner_power(x, n, inner), pullback

    try:
        if policy == "manual":
            with pytest.warns(ad.StaleRuleWarning, match="power: no rule -> a rule"):
                assert gradient(2.0, 3) == 12.0
            ad.refresh(inner_power)
        with quiet():
            assert gradient(2.0, 3) == 4.0 + 2.0 * 1000.0
            assert gradient(2.0, 2) == 2.0 + 2.0 * 1000.0
        assert root.rebuilds == before + 1
        assert {(e.types, e.how) for e in ad.rules.edges(inner_power) if e.callee is inner_power} == {
            (("float", "int", "None"), "missing"),
            (("float", "int", "float"), "rule"),
        }
    finally:
        ad.rules.remove(inner_power)
        ad.refresh(inner_power)
    assert gradient(2.0, 3) == 12.0


def even(x, n):
    return x if n == 0 else odd(x * 2.0, n - 1)


def odd(x, n):
    return x * x if n == 0 else even(x, n - 1)


@form
def test_r23_mutual_recursion(policy, form):
    gc.collect()  # the functions of earlier runs call `even`, too

    def f(x):
        return even(x, 3)

    story = Story(f, policy=policy)
    story.is_now(64.0)

    @ad.rrule(odd)
    @in_form(form)
    def constant(x, n):
        return x * 1.0, lambda y_bar: (y_bar * 10.0, ad.NoTangent())

    try:
        story.changes(64.0, 20.0)
    finally:
        ad.rules.remove(odd)


@form
def test_r24_second_order(policy, form):
    def g(x):
        return x * x * x

    def f(x):
        return g(x)

    second = ad.grad(ad.grad(f))
    assert second(2.0) == 12.0

    @ad.rrule(g)
    @in_form(form)
    def quadratic(x):
        def pullback(y_bar):
            return (y_bar * 5.0 * x,)

        return x * x * x, pullback

    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning, match="g: no rule -> a rule"):
            assert second(2.0) == 12.0
        ad.refresh()
    with quiet():
        assert ad.grad(f)(2.0) == 10.0
        assert second(2.0) == 5.0
    assert root_of(ad.grad(f)).rebuilds == 1


@form
def test_r25_a_rule_that_differentiates_its_argument(policy, form):
    def apply(h, x):
        return h(x)

    @ad.rrule(apply)
    def _(h, x, *, ad):
        y, back = ad.vjp(h, x)

        def pullback(y_bar):
            (x_bar,) = back(y_bar)
            return None, 100.0 * x_bar

        return y, pullback

    def h(x):
        return x * x

    def f(x):
        return apply(h, x)

    story = Story(f, policy=policy)
    story.is_now(400.0)
    assert story.decided() == {("f", "missing"), ("apply", "rule"), ("h", "missing")}
    rule(h, 10.0, form)
    story.changes(400.0, 1000.0, rebuilds=0)
    assert story.decided() == {("f", "missing"), ("apply", "rule"), ("h", "rule")}
