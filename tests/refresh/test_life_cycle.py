"""Functions that come and go: none is taken for another, and what is noted while they stay does not grow."""

from __future__ import annotations

import gc
import weakref

import numpy as np

import pytest
import thunkad as ad
from thunkad.compiled.root import Root, root_of
from thunkad.rules.table import TABLE


pytestmark = pytest.mark.usefixtures("few_objects_to_collect")


def test_the_identity_of_a_dead_function_is_not_mistaken_for_another():
    seen = set()
    for k in range(1, 60):
        f = (lambda k: lambda x: x * k)(k)
        seen.add(id(f))
        if k % 2:

            @ad.rrule(f)
            def _(x):
                return x, lambda y_bar: (y_bar * 1000.0,)

            assert ad.grad(f)(1.0) == 1000.0
        else:
            assert ad.rules.lookup(f).how == "missing" and ad.grad(f)(1.0) == k
        del f
        gc.collect()
    assert len(seen) < 59  # or the test tests nothing


def test_ever_new_functions_as_arguments():
    def f(h, x):
        return h(x)

    gradient = ad.grad(f, argnums=1)
    for k in range(Root.LIMIT + 40):
        assert gradient((lambda k: lambda x: x * k)(k), 2.0) == k
    assert len(root_of(f).specializations) <= Root.LIMIT


def test_ever_new_functions_that_are_met_when_the_code_runs():
    table = [None, np.sin]

    def f(x):
        return table[0](x)

    gradient, kept = ad.grad(f), []
    for k in range(700):
        table[0] = (lambda k: lambda x: x * k)(k)
        kept.append(weakref.ref(table[0]))
        assert gradient(2.0) == k
    gc.collect()
    assert sum(ref() is not None for ref in kept) < 600
    assert root_of(f).rebuilds == 0


def test_the_history_of_a_rule_that_changes_all_the_time_is_short():
    def g(x):
        return x

    def f(x):
        return g(x)

    def rule_of(k):
        return lambda x: (x, lambda y_bar: (y_bar * k,))

    for k in range(1000):
        ad.rrule(g)(rule_of(k))
        if k == 500:
            assert ad.grad(f)(1.0) == 500.0
            held = root_of(f).snapshot
    assert len(TABLE.cell(g).history) < 40
    assert held.entries(g)[0].function(1.0)[1](1.0) == (500.0,)
