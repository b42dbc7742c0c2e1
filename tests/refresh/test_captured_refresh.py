"""Derivatives for captured parameters follow the rules like all others."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import FORMS, quiet, rule

import thunkad as ad
from thunkad.compiled.root import root_of

form = pytest.mark.parametrize("form", FORMS)


class Net:
    """A function of captured arrays whose callees, one known and one met when the code runs, may have rules."""

    def __init__(self):
        self.w, self.b = np.array([1.0, 2.0]), np.array([3.0])
        w, b = self.w, self.b

        def g(x):
            return x * x

        def late(x):
            return x * x

        table = [late, None]

        def f(x):
            return np.sum(g(w)) * x + np.sum(table[0](b))

        self.f, self.g, self.late = f, g, late
        self.gradient = ad.grad(f, captured=ad.Params([w, b]))

    def slopes(self):
        found = self.gradient(2.0)
        return found[self.w].tolist(), found[self.b].tolist()


OLD, NEW_G, NEW_BOTH = ([4.0, 8.0], [6.0]), ([20.0, 20.0], [6.0]), ([20.0, 20.0], [30.0])


@form
def test_as_the_policy_says(policy, form):
    net = Net()
    root = root_of(net.f)
    assert net.slopes() == OLD
    rule(net.g, 10.0, form)
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning, match="g: no rule -> a rule") as caught:
            assert net.slopes() == OLD
        assert len(caught) == 1
        with quiet():
            assert net.slopes() == OLD
        (report,) = ad.refresh(net.f)
        assert report.rebuilt == ("derivative for captured parameters",)
    with quiet():
        assert net.slopes() == NEW_G
        assert root.rebuilds == 1
        rule(net.late, 30.0, form)
        if policy == "auto":
            assert net.slopes() == NEW_BOTH
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning, match="late: no rule -> a rule"):
            assert net.slopes() == NEW_G
        ad.refresh()
    with quiet():
        assert net.slopes() == NEW_BOTH
    assert root.rebuilds == 1
    assert {(e.callee, e.how, e.late) for e in ad.rules.edges(net.f)} >= {(net.g, "rule", False), (net.late, "rule", True)}


def test_under_error():
    net = Net()
    with ad.refresh_policy("error"):
        net.slopes()
        rule(net.g, 10.0)
        for _ in range(2):
            with pytest.raises(ad.StaleRuleError):
                net.slopes()
        ad.refresh(net.f)
        assert net.slopes() == NEW_G


def test_it_is_pinned_to_the_same_rules_as_the_other_derivatives():
    net = Net()
    assert ad.grad(net.f)(2.0) == 5.0
    rule(net.g, 10.0)
    with pytest.warns(ad.StaleRuleWarning):
        assert net.slopes() == OLD


def test_a_pullback_keeps_its_rules(policy):
    net = Net()
    _, pullback = ad.vjp(net.f, 2.0, captured=[net.w, net.b])
    rule(net.g, 10.0)
    rule(net.late, 30.0)
    ad.refresh()
    assert pullback(1.0)[net.w].tolist() == [4.0, 8.0] and pullback(1.0)[net.b].tolist() == [6.0]
    assert ad.vjp(net.f, 2.0, captured=[net.w, net.b])[1](1.0)[net.b].tolist() == [30.0]
    assert pullback(1.0)[net.b].tolist() == [6.0]


def test_unrelated_changes_and_other_arrays_in_the_same_places_rebuild_nothing():
    w = np.array([1.0, 2.0])

    def f():
        return np.sum(w * w)

    for _ in range(20):
        ad.non_differentiable(lambda x: x)
        np.testing.assert_allclose(ad.grad(f, captured=[w])()[w], 2 * w)
        w = w + 1.0
    root = root_of(f)
    assert root.rebuilds == 0 and len(root.specializations) == 1


def test_parameters_that_are_found_elsewhere_are_not_kept_for_ever():
    for k in range(20):
        box = {"w": np.array([1.0])}
        used = [box] if k % 2 else box

        def f():
            return np.sum(used["w"] if isinstance(used, dict) else used[0]["w"])

        assert ad.grad(f, captured=[box["w"]])()[box["w"]] == 1.0

    def many(i):
        return np.sum(first if i == 0 else second)

    first, second = np.ones(1), np.ones(1)
    for k in range(20):
        which = [first, second][k % 2]
        assert ad.grad(many, captured=[which])(k % 2)[which] == 1.0
    assert len(root_of(many).places) <= 8
