"""What is left when functions go: nothing; and what doesn't grow while they stay."""

from __future__ import annotations

import gc
import linecache
import sys
import weakref

import numpy as np

import pytest
import thunkad as ad
from thunkad.compiled.load import generated
from thunkad.compiled.root import ROOTS, Root, root_of
from thunkad.rules.table import TABLE


pytestmark = pytest.mark.usefixtures("few_objects_to_collect")


def used_and_dropped(k):
    """A lambda that was differentiated in several ways, and had a rule for a while."""
    f = (lambda k: lambda x: x * x * k)(k)
    assert ad.grad(f)(2.0) == 4.0 * k
    if k % 4 == 0:
        value, back = ad.vjp(f, 2.0)
        assert back(1.0)[0] == 4.0 * k
    if k % 4 == 1:

        @ad.rrule(f)
        def _(x):
            def pullback(y_bar):
                return (y_bar * f(1.0),)

            return f(x), pullback

        ad.refresh(f)
        assert ad.grad(f)(2.0) == k
    return weakref.ref(f)


def left_over():
    gc.collect()
    counts = len(ROOTS), len(generated), len(TABLE.cells()), sum(name.startswith("<thunkad") for name in linecache.cache)
    return counts, sys.getallocatedblocks()


def test_differentiated_and_dropped_lambdas_leave_nothing():
    for k in range(1, 200):  # what the library and the interpreter keep is there after a while
        used_and_dropped(k)
    grown = []
    for _ in range(3):  # the interpreter's own pools grow now and then, what is left of a function would grow each time
        counts, blocks = left_over()
        refs = [used_and_dropped(k) for k in range(1, 300)]
        gc.collect()
        assert not any(ref() for ref in refs)
        del refs
        counts_now, blocks_now = left_over()
        assert counts_now == counts
        grown.append(blocks_now - blocks)
        if grown[-1] < 150:
            return
    raise AssertionError(f"blocks that were left of 300 functions: {grown}")


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
