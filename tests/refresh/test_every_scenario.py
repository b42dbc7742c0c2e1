"""Each of the scenarios R1 to R40 has a test that runs with rules in both forms, under both policies."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from scenarios import FORMS, POLICIES, Story, form, rule

import thunkad as ad

HERE = Path(__file__).parent


def scenarios():
    """The tests by the number of the scenario that they are named after."""
    found = {}
    for path in sorted(HERE.glob("test_*.py")):
        for name, test in vars(importlib.import_module(path.stem)).items():
            number = re.match(r"test_r(\d\d)_", name)
            if number is not None:
                found.setdefault(int(number[1]), []).append(test)
    return found


def variants(test):
    """In which forms of rules, and under which policies, a test runs."""
    forms = [mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize" and mark.args[0] == "form"]
    return {f for given in forms for f in given}, set(POLICIES) if "policy" in inspect.signature(test).parameters else set()


def test_all_are_there_in_both_forms_under_both_policies():
    found = scenarios()
    assert sorted(found) == list(range(1, 41))
    lacking = [k for k, tests in found.items() if (set(FORMS), set(POLICIES)) not in map(variants, tests)]
    assert lacking == []


def test_each_says_values_and_counts_rebuilds_and_looks_at_edges_where_they_are_the_point():
    texts = {k: "".join(map(inspect.getsource, tests)) for k, tests in scenarios().items()}
    counts = r"\.rebuilds|\.changes\(|\.stays\("  # the latter two count them
    assert [k for k, text in sorted(texts.items()) if not re.search(counts, text)] == NO_REBUILDS
    about_edges = [2, 3, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 22, 25, 28, 29, 31, 32, 33, 35, 37, 40]
    edges = r"\.edges\(|\.decided\("
    assert [k for k in about_edges if not re.search(edges, texts[k])] == []


#: R34 is about what may happen at any time: that nothing breaks; R40 about the look-ups of one compilation.
NO_REBUILDS = [34, 40]


@form
def test_the_two_forms_are_two(form):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    rule(g, 10.0, form)
    text = ad.adjoint_source(f, args=(2.0,))
    assert ("made(" in text or "pull(" in text) == (form == "outlined"), text


def test_the_policy_is_that_of_its_name(policy):
    def g(x):
        return x * x

    def f(x):
        return g(x)

    story = Story(f, policy=policy)
    story.is_now(4.0)
    rule(g, 10.0)
    with np.errstate(all="ignore"):
        if policy == "manual":
            with pytest.warns(ad.StaleRuleWarning):
                assert story.gradient(2.0) == 4.0
        else:
            assert story.gradient(2.0) == 10.0
