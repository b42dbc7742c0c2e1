"""What the tests of refresh share: rules in both forms, and the story of a change under each policy."""

from __future__ import annotations

import contextlib
import functools
import textwrap
import warnings

import numpy as np
import pytest

import thunkad as ad
from thunkad.compiled.root import root_of

POLICIES = ("manual", "auto")
FORMS = ("inlined", "outlined")
form = pytest.mark.parametrize("form", FORMS)


def rule(fn, factor, form="inlined", *, calls=None):
    """Register a rule for ``fn`` of one argument whose cotangent is ``factor`` times the seed."""
    if form == "inlined":

        @ad.rrule(fn)
        def made(x):
            def pullback(y_bar):
                return ad.thunk(lambda: y_bar * factor)

            return fn(x), pullback
    else:

        @ad.rrule(fn)
        def made(x):
            y = fn(x)
            if calls is not None:
                calls.append(factor)

            def pullback(y_bar):
                return y_bar * factor

            return y, pullback

    return made


def in_form(form):
    """A decorator of rules: one that could be inlined is made one that is called."""

    def decorate(rule):
        @functools.wraps(rule)
        def called(*args):
            for _ in range(1):
                found = rule(*args)
            return found

        return rule if form == "inlined" else called

    return decorate


def counted_rule(fn, form):
    """Register a rule for ``fn`` with the cotangent ten times the seed; the list grows by each use of its pullback."""
    uses = []

    def ten_times(y_bar):
        uses.append(1)
        return y_bar * 10.0

    @ad.rrule(fn)
    @in_form(form)
    def counted(x):
        def pullback(y_bar):
            return (ten_times(y_bar),)

        return fn(x), pullback

    return uses


def without_source(text):
    """A function whose source nobody finds."""
    namespace = {"np": np}
    exec(textwrap.dedent(text), namespace)
    return namespace["opaque"]


@contextlib.contextmanager
def quiet():
    """No StaleRuleWarning may come."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ad.StaleRuleWarning)
        yield


class Story:
    """One function, its gradient at one point, and how often it was compiled anew."""

    def __init__(self, f, x=2.0, policy="manual"):
        self.f, self.x, self.policy = f, x, policy
        self.gradient = ad.grad(f)
        self.root = root_of(f)

    def is_now(self, expected):
        with quiet():
            np.testing.assert_allclose(self.gradient(self.x), expected)

    def changes(self, old, new, rebuilds=1, name=None):
        """A change was made: under 'manual' the old result with one warning, until refresh(); then the new one."""
        before = self.root.rebuilds
        if self.policy == "manual":
            with pytest.warns(ad.StaleRuleWarning) as caught:
                np.testing.assert_allclose(self.gradient(self.x), old)
            assert len(caught) == 1 and self.f.__name__ in str(caught[0].message) and "refresh()" in str(caught[0].message)
            if name is not None:
                assert name in str(caught[0].message)
            self.is_now(old)
            assert self.root.rebuilds == before
            report = ad.refresh()
            assert [r.name for r in report].count(self.root.name) == 1, str(report)
            assert len(ad.refresh()) == 0
        self.is_now(new)
        self.is_now(new)
        assert self.root.rebuilds - before == rebuilds
        if rebuilds:  # and one can see why
            assert " -> " in self.root.reason and f"last rebuilt: {self.root.reason}" in str(ad.explain(self.f))

    def stays(self, value):
        """A change was made that is none of this function's business."""
        before = self.root.rebuilds
        self.is_now(value)
        assert not any(r.name == self.root.name for r in ad.refresh())
        self.is_now(value)
        assert self.root.rebuilds == before

    def edges(self):
        """The look-ups of user's functions: (name, how, whether at run time)."""
        return {(e.callee.__name__, e.how, e.late) for e in ad.rules.edges(self.f) if not isinstance(e.callee, np.ufunc)}

    def decided(self):
        """The same without the moment, since a rule that is called as it stands may be asked for once more then."""
        return {(name, how) for name, how, _ in self.edges()}
