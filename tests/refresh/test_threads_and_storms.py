"""R30, R31, R33, R34: threads, storms of registrations, rules that go while others look on."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from scenarios import Story, form, quiet, rule

import thunkad as ad
from thunkad.compiled.edges import Question
from thunkad.compiled.root import Root, root_of


def in_threads(count, work):
    """Run ``work(k)`` in threads that start together; the errors that came."""
    barrier, errors = threading.Barrier(count), []

    def run(k):
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=120)
    assert not any(t.is_alive() for t in threads)
    return errors


@pytest.mark.filterwarnings("ignore::thunkad.StaleRuleWarning")
@form
def test_r30_gradients_while_rules_change(policy, form):
    def g(x):
        return x

    def late(x):
        return x

    table = [late, None]

    def f(x):
        for _ in range(3):
            x = g(x)
        for _ in range(3):
            x = table[0](x)
        return x

    def both(factor):  # one change: nobody may see half of it
        with ad.rules.together():
            rule(g, factor, form)
            rule(late, factor, "outlined")

    both(1.0)
    gradient, done, seen = ad.grad(f), threading.Event(), []
    allowed = {1.0, 64.0}  # 2**6; a mixture would be another power of two

    def work(k):
        if k == 0:
            for turn in range(1000):
                both(2.0 if turn % 2 == 0 else 1.0)
                if policy == "manual" and turn % 100 in (0, 33):  # one table or the other is pinned anew
                    ad.refresh(f)
            done.set()
            return
        versions = [ad.rules.version]
        with ad.refresh_policy(policy):
            while not done.is_set():
                value = gradient(1.0)
                seen.append(value)
                assert value in allowed, value
                versions.append(ad.rules.version)
        assert versions == sorted(versions)

    try:
        errors = in_threads(9, work)
    finally:
        done.set()
    assert not errors, errors[0]
    assert seen
    if policy == "manual":
        assert root_of(f).rebuilds == 20  # the refreshs; calls compile nothing anew
        ad.refresh(f)
    assert gradient(1.0) == 1.0


@pytest.mark.filterwarnings("ignore::thunkad.StaleRuleWarning")
@form
def test_r30_refresh_beside_running_calls(policy, form):
    def g(x):
        return x

    def f(x):
        return g(g(g(x)))

    rule(g, 1.0, form)
    gradient, done = ad.grad(f), threading.Event()
    gradient(1.0)

    def work(k):
        if k == 0:
            for turn in range(100):
                rule(g, 2.0 if turn % 2 == 0 else 1.0, form)
                ad.refresh(f)
            done.set()
            return
        while not done.is_set():
            with ad.refresh_policy(policy):
                assert gradient(1.0) in (1.0, 8.0)

    assert not in_threads(5, work)


@form
def test_r31_threads_compile_the_same_function_at_once(policy, form):
    def ruled(x):
        return x * x

    def g(x):
        return np.sum(ruled(x))

    def f(x):
        return g(x) + g(2.0 * x)

    rule(ruled, 1.0, form)
    gradient, root, x = ad.grad(f), root_of(f), np.ones(3)

    def at_once(expected):
        published = []

        def work(k):
            with ad.refresh_policy(policy):
                np.testing.assert_allclose(gradient(x), expected)
            published.extend(map(id, root.specializations.values()))

        assert not in_threads(8, work)
        assert len(root.specializations) == 1 and len(set(published)) == 1

    at_once(3.0)
    assert root.rebuilds == 0
    rule(ruled, 2.0, form)
    if policy == "manual":
        ad.refresh(f)
    at_once(6.0)
    assert root.rebuilds == 1
    assert {(e.callee, e.how) for e in ad.rules.edges(f) if not isinstance(e.callee, np.ufunc)} == {
        (f, "missing"), (g, "missing"), (ruled, "rule"), (np.sum, "rule"),
    }  # fmt: skip


@form
def test_r33_a_storm_of_unrelated_registrations(policy, form, monkeypatch):
    def g(x):
        return x * x

    def f(x):
        return np.sum(np.sin(x)) * 2.0 + np.sum(g(x))

    rule(g, 100.0, form)
    x = np.arange(3.0)
    story = Story(f, x, policy)
    story.is_now(2 * np.cos(x) + 100.0)
    (before,) = story.root.specializations.values()
    edges = story.edges()
    unrelated = [eval(f"lambda x: x + {k}") for k in range(10_000)]
    for fn in unrelated:
        ad.non_differentiable(fn)
    compared, compare = [], Root.compare
    monkeypatch.setattr(Root, "compare", lambda self, *args: compared.append(1) or compare(self, *args))
    for _ in range(3):
        with quiet():
            np.testing.assert_allclose(story.gradient(x), 2 * np.cos(x) + 100.0)
    assert len(compared) == 1  # the first call looks, the others know
    (after,) = story.root.specializations.values()
    assert after is before and story.root.rebuilds == 0 and story.edges() == edges
    assert len(ad.refresh()) == 0


@pytest.mark.usefixtures("few_objects_to_collect")
@form
def test_r34_rules_go_away_while_others_look_on(policy, form):
    def make():
        def g(x):
            return x * x

        def f(x):
            return g(x)

        rule(g, 10.0, form)
        assert ad.grad(f)(2.0) == 10.0
        return g

    kept = [make() for _ in range(20)]
    while kept:
        g = kept.pop()
        ad.rules.remove(g)
        del g
        gc.collect()
        ad.refresh()


def test_r31_a_look_up_that_another_thread_is_about_to_answer(policy, monkeypatch):
    def g(x):
        return x

    table = [np.sin, None]

    def both_are_here():
        if table[0] is g:
            barrier.wait(30)

    def f(x):
        both_are_here()
        return table[0](x)

    rule(g, 10.0, "outlined")
    ad.non_differentiable(both_are_here)
    gradient, found, barrier = ad.grad(f), [], threading.Barrier(2)
    gradient(1.0)
    asked, go_on, ask = threading.Event(), threading.Event(), Question.ask

    def slow(question, snapshot):
        if question.fn is g and not asked.is_set():
            asked.set()
            go_on.wait(30)
        return ask(question, snapshot)

    monkeypatch.setattr(Question, "ask", slow)
    table[0] = g
    threads = [threading.Thread(target=lambda: found.append(gradient(1.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert asked.wait(30)
    while not found and threads[0].is_alive() and threads[1].is_alive():
        go_on.wait(0.5)  # the other one needs no answer of this one's
        go_on.set()
    for thread in threads:
        thread.join(timeout=30)
    assert found == [10.0, 10.0]
