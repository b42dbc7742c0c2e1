"""Random histories of rule changes, rebinding, calls and pullbacks against a model that works everything out from scratch.

All functions are linear, so a derivative is a number that tells which bodies and which rules it came from.  The model also
knows when a derivative has to be compiled anew: when a name that its code reads is bound to another function, or when a
look-up has another outcome and the policy (or ``refresh``) says that it counts.
"""

from __future__ import annotations

import itertools
import random
import types
import warnings

import pytest

import thunkad as ad
from thunkad.compiled.root import root_of

pytestmark = pytest.mark.filterwarnings("ignore::thunkad.RuleWarning")

NAMES = ("h", "g", "late")
POINT = 2.0


class World:
    """The program under test: ``f`` calls ``g``, which calls ``h``; ``late`` is found in a list when the code runs."""

    def __init__(self) -> None:
        self.factors = iter(map(float, PRIMES))
        self.bound = bound = types.ModuleType("bound")
        self.table = table = [None, None]
        for name in NAMES:
            self.rebind(name)

        def f(x):
            return 3.0 * bound.g(x) + table[0](x)

        self.f = f
        self.gradient = ad.grad(f)

    def rebind(self, name):
        factor, bound = next(self.factors), self.bound

        def plain(x):
            return factor * x

        def g(x):
            return factor * bound.h(x)

        made = g if name == "g" else plain
        made.factor, made.kind = factor, name
        setattr(bound, name, made)
        self.table[0] = getattr(bound, "late", None)
        return made


def primes():
    for n in itertools.count(5):
        if all(n % k for k in range(2, int(n**0.5) + 1)):
            yield n


PRIMES = tuple(itertools.islice(primes(), 400))


class Model:
    """What should come out."""

    def __init__(self, world, policy):
        self.world, self.policy = world, policy
        self.rules = {}  # function -> (what, factor, registration)
        self.out = {}  # function -> registration of the opt-out
        self.pinned = None
        self.compiled = {}  # product -> (names as bound, outcomes when compiled, those of calls decided when the code ran)
        self.warned = set()
        self.rebuilds = 0

    # ---- the table

    def table(self):
        return {fn: rule for fn, rule in self.rules.items() if fn not in self.out}

    # ---- from scratch

    def slope(self, fn, table):
        rule = table.get(fn)
        if rule is not None:
            return rule[1]
        if fn is self.world.f:
            return 3.0 * self.slope(self.world.bound.g, table) + self.slope(self.world.bound.late, table)
        return fn.factor * (self.slope(self.world.bound.h, table) if fn.kind == "g" else 1.0)

    def read(self, table):
        """The names that compiled code reads, the outcomes of its look-ups, and those of look-ups when it runs: none yet."""
        names, early = {}, {}
        f, bound = self.world.f, self.world.bound
        early[f] = table.get(f)
        if early[f] is None:
            names["g"], early[bound.g] = bound.g, table.get(bound.g)
            if early[bound.g] is None:
                names["h"], early[bound.h] = bound.h, table.get(bound.h)
        return names, early, {}

    # ---- what happens

    def call(self, product):
        """The slope that a call gives, None if it raises, and how often it warns."""
        now = self.table()
        if product not in self.compiled:
            if self.pinned is None or self.policy == "auto":
                self.pinned = now
            self.compiled[product] = self.read(self.pinned)
        names, early, late = self.compiled[product]
        bound = self.world.bound
        if any(getattr(bound, name) is not fn for name, fn in names.items()):
            self.rebuilds += 1
            if self.policy == "auto":
                self.pinned = now
            names, early, _ = self.compiled[product] = self.read(self.pinned)
            late = {}
        changed = {fn for fn, was in {**early, **late}.items() if now.get(fn) != was}
        if self.policy == "auto":
            if any(fn in changed for fn in early):
                self.rebuilds += 1
            self.pinned = now
            names, early, _ = self.read(now)
            late = {} if changed else late
            if early[self.world.f] is None:
                late = {**late, bound.late: now.get(bound.late)}
            self.compiled[product] = names, early, late
            return self.slope(self.world.f, now), 0
        if changed and self.policy == "error":
            return None, 0
        warnings = self.warns({(fn, late.get(fn, early.get(fn)), now.get(fn)) for fn in changed})
        if early[self.world.f] is None:  # what is decided when the code runs is noted, and told of if it is stale
            was, fn = self.pinned.get(bound.late), bound.late
            late = {**late, fn: was}
            if now.get(fn) != was and fn not in changed:
                if self.policy == "error":
                    self.compiled[product] = names, early, late
                    return None, 0
                warnings += self.warns({(fn, was, now.get(fn))})
        self.compiled[product] = names, early, late
        return self.slope(self.world.f, self.pinned), warnings

    def warns(self, marks):
        """The number of warnings that tell of these changes: one, if any of them is news."""
        news = marks - self.warned
        self.warned |= marks
        return int(bool(news))

    def refresh(self):
        now = self.table()
        stale = False
        for product, (names, early, late) in list(self.compiled.items()):
            bound = self.world.bound
            if any(now.get(fn) != was for fn, was in early.items()):
                self.rebuilds += 1
                stale = True
                self.compiled[product] = self.read(now)[0], self.read(now)[1], {}
            else:
                if any(now.get(fn) != was for fn, was in late.items()):
                    stale, late = True, {}
                self.compiled[product] = names, {fn: now.get(fn) for fn in early}, {fn: now.get(fn) for fn in late}
        if self.compiled:
            self.pinned = now
        self.warned.clear()
        return stale


def linear_rule(fn, factor, form):
    if form == "inlined":

        @ad.rrule(fn)
        def made(x):
            def pullback(y_bar):
                return ad.thunk(lambda: y_bar * factor)

            return fn(x), pullback
    else:

        @ad.rrule(fn)
        def made(x):
            if factor is None:
                return None
            return fn(x), lambda y_bar: (y_bar * factor,)


def one_history(seed, policy, steps=40):
    rng = random.Random(seed)
    world = World()
    model = Model(world, policy)
    root, kept, log = root_of(world.f), [], []
    registration = itertools.count()
    known = [world.f, *(getattr(world.bound, name) for name in NAMES)]

    def check(product):
        expected, warns = model.call(product)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                if product == "grad":
                    found = world.gradient(POINT)
                else:
                    _, back = ad.vjp(world.f, POINT)
                    found = back(1.0)[0]
                    kept.append((back, found))
            except ad.StaleRuleError:
                found = None
        count = sum(issubclass(w.category, ad.StaleRuleWarning) for w in caught)
        assert found == expected, (log, found, expected)
        assert count == warns, (log, count, warns)
        assert root.rebuilds == model.rebuilds, (log, root.rebuilds, model.rebuilds)

    with ad.refresh_policy(policy):
        for _ in range(steps):
            what = rng.choice(["rule", "rule", "remove", "out", "in", "constant", "rebind", "call", "call", "call", "vjp", "back", "refresh"])
            fn = rng.choice(known)
            log.append(f"{what} {getattr(fn, 'kind', 'f')}{known.index(fn)}")
            if what in ("rule", "constant"):
                factor = float(next(world.factors)) if what == "rule" else 0.0
                old = model.rules.get(fn)
                if what == "rule":
                    linear_rule(fn, factor, rng.choice(["inlined", "outlined"]))
                else:
                    ad.non_differentiable(fn)
                if not (what == "constant" and old is not None and old[0] == "constant"):  # the same again changes nothing
                    model.rules[fn] = what, factor, next(registration)
            elif what == "remove":
                if fn in model.rules and fn not in model.out:
                    ad.rules.remove(fn)
                    del model.rules[fn]
            elif what == "out":
                ad.opt_out(fn)
                model.out[fn] = True
            elif what == "in":
                ad.opt_in(fn)
                model.out.pop(fn, None)
            elif what == "rebind":
                known.append(world.rebind(rng.choice(NAMES)))
            elif what == "call":
                check("grad")
            elif what == "vjp":
                check("vjp")
            elif what == "back" and kept:
                back, found = rng.choice(kept)
                assert back(1.0)[0] == found, log
            elif what == "refresh":
                stale = model.refresh()
                report = ad.refresh(world.f)
                assert bool(len(report)) == stale, (log, str(report))
                assert root.rebuilds == model.rebuilds, log
        for back, found in kept:
            assert back(1.0)[0] == found, log


@pytest.mark.parametrize("policy", ["manual", "auto", "error"])
@pytest.mark.parametrize("seed", range(40))
def test_random_histories(seed, policy):
    one_history(seed, policy)
