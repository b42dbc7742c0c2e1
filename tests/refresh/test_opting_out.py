"""R8 to R14: opting out and in, ambiguities, failures, rules that say None."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import Story, counted_rule, form, in_form, quiet, rule, without_source

import thunkad as ad
from thunkad.compiled.root import root_of


@form
@pytest.mark.parametrize("x", [2.0, np.array([2.0, 3.0])], ids=["scalar", "array"])
def test_r08_opted_out_after_use(policy, form, x):
    def g(x):
        return x * x

    def f(x):
        return np.sum(g(x))

    uses = counted_rule(g, form)
    story = Story(f, x, policy)
    story.is_now(10.0 + 0 * x)
    ad.opt_out(g)
    story.changes(10.0 + 0 * x, 2 * x)
    seen = len(uses)
    assert seen > 0
    story.is_now(2 * x)
    assert len(uses) == seen
    assert story.edges() == {("f", "missing", False), ("g", "inside", False), ("sum", "rule", False)}


@form
def test_r09_opted_in_again(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    rule(g, 10.0, form)
    ad.opt_out(g, float)
    story = Story(f, policy=policy)
    story.is_now(4.0)
    assert story.edges() == {("f", "missing", False), ("g", "inside", False)}
    ad.opt_in(g, float)
    story.changes(4.0, 10.0)
    assert story.decided() == {("f", "missing"), ("g", "rule")}


@form
def test_r10_an_opt_out_that_is_more_general_than_the_rule(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    @ad.rrule(g)
    @in_form(form)
    def special(x: float):
        def pullback(y_bar):
            return (y_bar * 7.0,)

        return x * x, pullback

    story = Story(f, policy=policy)
    story.is_now(7.0)
    ad.opt_out(g)
    story.stays(7.0)
    ad.opt_out(g, float)
    story.changes(7.0, 4.0)
    assert story.edges() == {("f", "missing", False), ("g", "inside", False)}


class Left:
    pass


class Right:
    pass


class Both(Left, Right):
    pass


@form
def test_r11_an_ambiguity_comes_and_goes(policy, form):
    def g(x, how):
        return x * x

    def f(x, how):
        return g(x, how)

    def left(x, how: Left):
        return x * x, lambda y_bar: (y_bar * 3.0, ad.NoTangent())

    def right(x, how: Right):
        return x * x, lambda y_bar: (y_bar * 5.0, ad.NoTangent())

    ad.rrule(g)(in_form(form)(left))  # after the first: two object arguments of unrelated classes may still have a common subclass
    gradient, both = ad.grad(f), Both()
    assert gradient(2.0, both) == 3.0
    ad.rrule(g)(in_form(form)(right))
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning, match="neither is more specific"):
            assert gradient(2.0, both) == 3.0
        (report,) = ad.refresh()
        assert "AmbiguousRuleError" in str(report)
    with pytest.raises(ad.AmbiguousRuleError) as error:
        gradient(2.0, both)
    for named in (left, right) if form == "inlined" else ():  # the others were both made by the same lines
        assert f"line {named.__code__.co_firstlineno}" in str(error.value)
    assert str(error.value).count('File "') == 2
    assert {(e.how, e.failed) for e in ad.rules.edges(f) if e.callee is g} == {("ambiguous", True)}
    ad.rules.remove(g, object, Left)
    with quiet():
        assert gradient(2.0, both) == 5.0
    assert {(e.how, e.failed) for e in ad.rules.edges(f) if e.callee is g} >= {("rule", False)}
    assert root_of(f).rebuilds == 1


def test_r11_an_ambiguity_that_can_be_seen_is_refused_when_it_is_registered():
    def g(x, y):
        return x * y

    @ad.rrule(g)
    def first(x: float, y):
        return x * y, lambda z_bar: (z_bar * y, z_bar * x)

    def second(x, y: float):
        return x * y, lambda z_bar: (z_bar * y, z_bar * x)

    with pytest.raises(ad.AmbiguousRuleError) as error:
        ad.rrule(g)(second)
    for named in (first, second):
        assert f"line {named.__code__.co_firstlineno}" in str(error.value)
    assert ad.rules.lookup(g, str, float).how == "missing"

    @ad.rrule(g)
    def meet(x: float, y: float):
        return x * y, lambda z_bar: (z_bar * 100.0, z_bar * 100.0)

    ad.rrule(g)(second)
    assert ad.rules.lookup(g, float, float).entry.function is meet


@form
def test_r12_a_first_attempt_fails_and_then_a_rule_comes(policy, form):
    g = without_source("def opaque(x): return x * x")

    def f(x):
        return g(x) + x

    story = Story(f, policy=policy)
    for _ in range(2):
        with pytest.raises(ad.SourceUnavailableError):
            story.gradient(2.0)
    assert {(e.callee, e.how) for e in ad.rules.edges(f) if e.failed} >= {(g, "missing")}
    rule(g, 10.0, form)
    story.is_now(11.0)  # in every policy
    assert not any(e.failed for e in ad.rules.edges(f))
    assert story.root.rebuilds == 0


@form
def test_r12_a_failure_beside_what_is_pinned(policy, form):
    g = without_source("def opaque(x): return x")

    def f(x, how):
        return g(x) if how == "g" else x * x

    gradient = ad.grad(f)
    with pytest.raises(ad.SourceUnavailableError):
        gradient(2.0, "g")
    rule(g, 10.0, form)
    with quiet():
        assert gradient(2.0, "g") == 10.0
    assert root_of(f).rebuilds == 0


@form
def test_r12_a_call_that_fails_when_it_is_decided_at_run_time(policy, form):
    g = without_source("def opaque(x): return x * x")
    table = [g, None]

    def f(x):
        return table[0](x)

    gradient = ad.grad(f)
    with pytest.raises(ad.SourceUnavailableError):
        gradient(2.0)
    rule(g, 10.0, form)
    with quiet():
        assert gradient(2.0) == 10.0
    assert root_of(f).rebuilds == 0


@form
def test_r13_none_for_some_values(policy, form):
    def g(x):
        return x * x

    def beside(x):
        return x

    def f(x):
        return g(x) + beside(x)

    @ad.rrule(g)
    def sometimes(x):  # it branches, so it is called as it stands
        if x < 0:
            return None
        return x * x, lambda y_bar: (y_bar * 10.0,)

    rule(beside, 100.0, form)
    story = Story(f, policy=policy)
    for _ in range(3):
        story.is_now(110.0)
        assert story.gradient(-2.0) == 96.0
    assert story.root.rebuilds == 0 and len(story.root.specializations) == 1
    assert story.decided() == {("f", "missing"), ("g", "rule"), ("beside", "rule")}


def scaled(y_bar):
    return y_bar * 10.0


@form
def test_r14_a_helper_of_a_rule_is_redefined(policy, form, monkeypatch):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    @ad.rrule(g)
    @in_form(form)
    def helped(x):
        def pullback(y_bar):
            return (scaled(y_bar),)

        return x * x, pullback

    story = Story(f, policy=policy)
    story.is_now(10.0)
    monkeypatch.setitem(globals(), "scaled", lambda y_bar: y_bar * 30.0)
    story.is_now(30.0)
    assert story.root.rebuilds == (form == "inlined")  # what is called as it stands finds its helper itself
    assert story.decided() == {("f", "missing"), ("g", "rule")}


none_for = 0.0


def wants(x):
    return x > none_for


@form
def test_r14_a_helper_that_says_for_which_values_there_is_a_rule(policy, form, monkeypatch):
    def g(x):
        return x * x

    def beside(x):
        return x

    def f(x):
        return g(x) + beside(x)

    @ad.rrule(g)
    def sometimes(x):
        if not wants(x):
            return None
        return x * x, lambda y_bar: (y_bar * 10.0,)

    rule(beside, 100.0, form)
    story = Story(f, policy=policy)
    story.is_now(110.0)
    monkeypatch.setitem(globals(), "none_for", 100.0)
    story.is_now(104.0)
    monkeypatch.setitem(globals(), "wants", lambda x: True)
    story.is_now(110.0)
    assert story.root.rebuilds <= 1
