"""R1 to R7: rules that are added, replaced and removed."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from scenarios import Story, form, in_form, rule, without_source

import thunkad as ad
from thunkad.compiled.root import root_of


@form
def test_r01_a_rule_for_the_function_itself(policy, form):
    def f(x):
        return x * x

    story = Story(f, policy=policy)
    story.is_now(4.0)
    rule(f, 10.0, form)
    story.changes(4.0, 10.0, name="f: no rule -> a rule")


@form
def test_r02_a_rule_for_a_callee_that_was_looked_into(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x) + x

    story = Story(f, policy=policy)
    story.is_now(5.0)
    assert story.edges() == {("f", "missing", False), ("g", "missing", False)}
    rule(g, 10.0, form)
    story.changes(5.0, 11.0, name="g: no rule -> a rule")
    assert story.decided() == {("f", "missing"), ("g", "rule")}


@form
def test_r02_a_rule_for_a_callee_that_is_compiled_apart(policy, form):
    def g(x):
        return x * x

    table = [g, None]

    def f(x):
        return table[0](x) + x

    story = Story(f, policy=policy)
    story.is_now(5.0)
    assert story.edges() == {("f", "missing", False), ("g", "missing", True)}
    rule(g, 10.0, form)
    story.changes(5.0, 11.0, rebuilds=0)
    assert story.edges() == {("f", "missing", False), ("g", "rule", True)}


@form
def test_r03_a_rule_two_levels_down(policy, form):
    def h(x):
        return x * x

    def g(x):
        return 3.0 * h(x)

    def f(x):
        return g(x) + x

    def other(x):
        return x * x * x

    stories = Story(f, policy=policy), Story(g, policy=policy), Story(other, policy=policy)
    for story, value in zip(stories, (13.0, 12.0, 12.0)):
        story.is_now(value)
    rule(h, 10.0, form)
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            stories[0].gradient(2.0)
        assert sorted(r.name for r in ad.refresh()) == sorted((stories[0].root.name, stories[1].root.name))
    for story, value, rebuilds in zip(stories, (31.0, 30.0, 12.0), (1, 1, 0)):
        story.is_now(value)
        assert story.root.rebuilds == rebuilds
    assert stories[0].decided() == {("f", "missing"), ("g", "missing"), ("h", "rule")}
    assert stories[1].decided() == {("g", "missing"), ("h", "rule")}
    assert stories[2].decided() == {("other", "missing")}


@form
def test_r04_a_rule_is_redefined(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    rule(g, 10.0, form)
    story = Story(f, policy=policy)
    story.is_now(10.0)
    (old,) = story.root.specializations.values()
    old = weakref.ref(old.call)
    rule(g, 20.0, form)
    story.changes(10.0, 20.0, name="g: a rule")
    gc.collect()
    assert old() is None


@form
def test_r05_a_rule_is_removed(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    rule(g, 10.0, form)
    story = Story(f, policy=policy)
    story.is_now(10.0)
    ad.rules.remove(g)
    story.changes(10.0, 4.0, name="g: a rule")
    assert story.edges() == {("f", "missing", False), ("g", "missing", False)}


@form
def test_r05_a_rule_is_removed_and_there_is_nothing_to_look_into(policy, form):
    g = without_source("def opaque(x): return x * x")

    def f(x):
        return g(x)

    rule(g, 10.0, form)
    story = Story(f, policy=policy)
    story.is_now(10.0)
    ad.rules.remove(g)
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning):
            assert story.gradient(2.0) == 10.0
        (report,) = ad.refresh()
        assert "SourceUnavailableError" in str(report) and not report.rebuilt
    for _ in range(2):
        with pytest.raises(ad.SourceUnavailableError, match="opaque"):
            story.gradient(2.0)
    rule(g, 30.0, form)
    story.is_now(30.0)
    assert story.root.rebuilds == 1 and not any(e.failed for e in ad.rules.edges(f))


@form
def test_r06_a_more_specific_rule(policy, form):
    def g(x):
        return x * 1.0

    def f(x):
        return np.sum(g(x))

    def general(x):
        return x * 1.0, lambda y_bar: (y_bar * 2.0,)

    def special(x: np.float32):
        return x * np.float32(1.0), lambda y_bar: (y_bar * np.float32(5.0),)

    ad.rrule(g)(in_form(form)(general))
    points = np.array([1.0, 2.0]), np.float64(1.0), np.float32(1.0)
    stories = [Story(f, x, policy) for x in points]
    for story in stories:
        story.is_now(2.0)
    ad.rrule(g)(in_form(form)(special))
    if policy == "manual":
        ad.refresh()
    for story, expected in zip(stories, (2.0, 2.0, 5.0)):
        story.is_now(expected)
    assert stories[2].gradient(np.float32(1.0)).dtype == np.float32
    assert root_of(f).rebuilds == 1  # that for scalars, whose dtype decides now when the code runs; not that for arrays
    called = {(("ndarray[float64]",), "rule", True)} if form == "outlined" else set()
    assert {(e.types, e.how, e.late) for e in ad.rules.edges(f) if e.callee is g} == called | {
        (("real array",), "rule", False),
        (("real NumPy scalar",), "undecided", False),
        (("float64",), "rule", True),
        (("float32",), "rule", True),
    }


@form
def test_r07_a_less_specific_rule_changes_nothing(policy, form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    @ad.rrule(g)
    def special(x: float):
        def pullback(y_bar):
            return (y_bar * 7.0,)

        return x * x, pullback

    story = Story(f, policy=policy)
    story.is_now(7.0)
    rule(g, 10.0, form)
    story.stays(7.0)
