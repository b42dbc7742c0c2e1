"""Automatic reloading in notebooks: old functions are made likenesses of new ones, which share their attributes."""

from __future__ import annotations

import importlib
import sys
import textwrap

import pytest
from scenarios import quiet

import thunkad as ad

TEXT = """
    import thunkad as ad

    def g(x):
        return {body}

    {rule}
"""
RULE = """
    @ad.rrule(g)
    def _(x):
        def pullback(y_bar):
            return (y_bar * {factor},)

        return g(x), pullback
"""


class Edited:
    """A module that is edited, and reloaded as IPython's autoreload does it."""

    def __init__(self, path, name):
        self.path, self.olds = path / f"{name}.py", []
        self.write("x * x")
        self.module = importlib.import_module(name)

    def write(self, body, factor=None):
        rule = "" if factor is None else textwrap.indent(textwrap.dedent(RULE.format(factor=factor)), "    ")
        self.path.write_text(textwrap.dedent(TEXT.format(body=body, rule=rule.strip())))
        importlib.invalidate_caches()

    def reload(self, body, factor=None):
        self.write(body, factor)
        self.olds.append(self.module.g)
        importlib.reload(self.module)
        for old in self.olds:
            for name in ("__code__", "__defaults__", "__doc__", "__dict__"):
                setattr(old, name, getattr(self.module.g, name))


@pytest.fixture
def edited(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"edited_{tmp_path.name.replace('-', '_')}"
    yield Edited(tmp_path, name)
    sys.modules.pop(name, None)


def test_rules_of_the_new_function_are_those_of_the_old_one(policy, edited):
    g = edited.module.g  # as `from module import g` has it

    def f(x):
        return g(x)

    gradient = ad.grad(f)
    assert gradient(2.0) == 4.0
    edited.reload("x * x * x")
    with quiet():
        assert gradient(2.0) == ad.grad(edited.module.g)(2.0) == 12.0
    edited.reload("x * x * x", factor=50.0)
    assert ad.rules.lookup(g).how == ad.rules.lookup(edited.module.g).how == "rule"
    if policy == "manual":
        with pytest.warns(ad.StaleRuleWarning, match="g: no rule -> a rule"):
            assert gradient(2.0) == 12.0
        ad.refresh(f)
    with quiet():
        assert gradient(2.0) == ad.grad(g)(2.0) == ad.grad(edited.module.g)(2.0) == 50.0
    edited.reload("5.0 * x")
    with ad.refresh_policy("auto"):
        assert gradient(2.0) == ad.grad(g)(2.0) == 5.0
    assert ad.rules.lookup(g).how == "missing"


def test_wraps_copies_attributes_but_no_rules():
    import functools

    def g(x):
        return x * x

    @ad.rrule(g)
    def _(x):
        return x * x, lambda y_bar: (y_bar * 10.0,)

    assert ad.grad(g)(2.0) == 10.0

    @functools.wraps(g)
    def other(x):
        return 7.0 * x

    assert ad.rules.lookup(other).how == "missing" and ad.grad(other)(2.0) == 7.0
    assert ad.grad(g)(2.0) == 10.0
