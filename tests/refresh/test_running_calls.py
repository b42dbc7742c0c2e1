"""R15 to R18, R26, R27: a call that runs, and what is left of it, sees one table from start to end."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import Story, form, quiet, rule

import thunkad as ad
from thunkad.compiled.root import root_of


@form
def test_r15_a_rule_registered_in_the_forward_pass(policy, form):
    def h(x):
        return x * x

    table = [h, None]

    def register():
        if register.on:
            rule(h, 10.0, form)

    register.on = False

    def f(x):
        register()
        return table[0](x) + h(x)

    ad.non_differentiable(register)
    story = Story(f, policy=policy)
    story.is_now(8.0)
    register.on = True
    assert story.gradient(2.0) == 8.0
    register.on = False
    story.changes(8.0, 20.0)
    assert story.edges() >= {("h", "rule", True), ("h", "rule", False), ("register", "constant", False)}


@form
def test_r15_a_late_callee_that_is_first_met_after_its_rule_was_registered(policy, form):
    def h(x):
        return x * x

    table = [None, np.cos]

    def register():
        rule(h, 10.0, form)
        table[0] = h

    ad.non_differentiable(register)

    def f(x):
        if table[0] is None:
            register()
        return table[0](x)

    gradient = ad.grad(f)
    assert gradient(2.0) == 4.0
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            assert gradient(2.0) == 4.0
        ad.refresh()
    with quiet():
        assert gradient(2.0) == 10.0
    assert root_of(f).rebuilds == 0


@form
def test_r16_a_rule_registered_in_a_pullback(policy, form):
    def h(x):
        return x * x

    def g(x):
        return h(x)

    def f(x):
        return g(x) + h(x)

    @ad.rrule(g)
    def registers(x):
        y = h(x)

        def pullback(y_bar):
            if registers.on:
                rule(h, 10.0, form)
            return (y_bar * 100.0,)

        return y, pullback

    registers.on = False
    story = Story(f, policy=policy)
    story.is_now(104.0)
    registers.on = True
    assert story.gradient(2.0) == 104.0
    registers.on = False
    story.changes(104.0, 110.0)
    assert story.decided() == {("f", "missing"), ("g", "rule"), ("h", "rule")}


@form
def test_r17_a_pullback_keeps_the_rules_that_it_began_with(policy, form):
    def g(x):
        return x * x

    def late(x):
        return x * x

    table = [late, None]

    def f(x):
        return g(x) + table[0](x)

    rule(g, 10.0, form)
    rule(late, 1000.0, form)
    value, back = ad.vjp(f, 2.0)
    rule(g, 20.0, form)
    rule(late, 2000.0, form)
    ad.refresh()
    assert back(1.0)[0] == back(1.0)[0] == 1010.0
    assert ad.vjp(f, 2.0)[1](1.0)[0] == 2020.0
    assert back(1.0)[0] == 1010.0
    assert root_of(f).rebuilds == 1


def rebound(x):
    return x * x


weight = 3.0


@form
def test_r18_a_callee_and_data_are_rebound_between_forward_and_back(policy, form, monkeypatch):
    def g(x):
        return x

    def f(x):
        return rebound(x) * weight + g(x)

    rule(g, 100.0, form)
    _, back = ad.vjp(f, 2.0)
    monkeypatch.setitem(globals(), "rebound", lambda x: x * 5.0)
    monkeypatch.setitem(globals(), "weight", 7.0)
    assert back(1.0)[0] == back(1.0)[0] == 112.0
    assert root_of(f).rebuilds == 0
    assert ad.vjp(f, 2.0)[1](1.0)[0] == 135.0
    assert back(1.0)[0] == 112.0
    assert root_of(f).rebuilds == 1
    assert Story(f).decided() == {("f", "missing"), ("<lambda>", "missing"), ("g", "rule")}


@form
def test_r26_a_checkpoint(policy, form):
    def h(x):
        return x * x

    def late(x):
        return x

    table = [late, None]

    def g(x):
        return h(x) + table[0](x)

    def f(x):
        return ad.checkpoint(g)(x) * x

    _, back = ad.vjp(f, 2.0)
    rule(h, 10.0, form)
    rule(late, 100.0, form)
    with quiet():
        assert back(1.0)[0] == 16.0
    ad.refresh()
    assert back(1.0)[0] == back(1.0)[0] == 16.0
    assert root_of(f).rebuilds <= 1
    assert ad.vjp(f, 2.0)[1](1.0)[0] == 226.0
    assert back(1.0)[0] == 16.0


@form
def test_r27_a_branch_that_was_not_taken_at_first(policy, form):
    def h(x):
        return x * x

    table = [h, None]

    def change():
        rule(h, 10.0, form)

    ad.non_differentiable(change)

    def f(x):
        if x > 0:
            change()
            return table[0](x)
        return -x

    gradient = ad.grad(f)
    assert gradient(-1.0) == -1.0
    assert gradient(2.0) == 4.0
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            assert gradient(2.0) == 4.0
        ad.refresh()
    with quiet():
        assert gradient(2.0) == 10.0
    assert root_of(f).rebuilds == 0
