"""Random histories of rule changes, rebinding, calls and pullbacks against a model that works everything out from scratch.

All functions are linear, so a derivative is a number that tells which bodies and which rules it came from.  The model also
knows when a derivative has to be compiled anew: when a name that its code reads is bound to another function, when a
function that was looked into gets other code or defaults, or when a look-up has another outcome and the policy (or
``refresh``) says that it counts.  What is in closure cells is read live.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import types
import warnings

import pytest
from scenarios import FORMS, in_form

import thunkad as ad
from thunkad.compiled.root import root_of

pytestmark = pytest.mark.filterwarnings("ignore::thunkad.RuleWarning")

NAMES = ("h", "g", "late", "m")
POINT = 2.0


class World:
    """The program under test: ``f`` calls ``g``, which calls ``h``, and a method ``m``; ``late`` is found when it runs."""

    def __init__(self) -> None:
        self.factors = iter(map(float, PRIMES))
        self.bound = bound = types.ModuleType("bound")
        self.cls = bound.cls = type("Holder", (), {})
        holder = self.cls()
        self.table = table = [None, None]
        for name in NAMES:
            self.rebind(name)

        def f(x):
            return 3.0 * bound.g(x) + table[0](x) + holder.m(x)

        def half_square(x):
            y = f(x)
            return 0.5 * y * y

        self.f, self.half_square = f, half_square
        self.gradient = ad.grad(f)

    def now(self, name):
        """The function that has this name."""
        return getattr(self.cls if name == "m" else self.bound, name)

    def rebind(self, name):
        made, cell, codes = _made(self.bound, name, next(self.factors))
        made.kind, made.cell, made.codes = name, cell, codes
        setattr(self.cls if name == "m" else self.bound, name, made)
        self.table[0] = getattr(self.bound, "late", None)
        return made


def _made(bound, name, factor):
    """A function, the cell of its factor, and its code in two versions, of which the second doubles the result."""

    def plain(x, scale=1.0):
        return factor * scale * x

    def doubled(x, scale=1.0):
        return 2.0 * factor * scale * x

    def g(x, scale=1.0):
        return factor * scale * bound.h(x)

    def doubled_g(x, scale=1.0):
        return 2.0 * factor * scale * bound.h(x)

    def m(self, x, scale=1.0):
        return factor * scale * x

    def doubled_m(self, x, scale=1.0):
        return 2.0 * factor * scale * x

    made, other = {"g": (g, doubled_g), "m": (m, doubled_m)}.get(name, (plain, doubled))
    cell = made.__closure__[made.__code__.co_freevars.index("factor")]
    return made, cell, (made.__code__, other.__code__)


def own_slope(fn):
    """What the body of a function multiplies by."""
    return (1.0 + fn.codes.index(fn.__code__)) * fn.cell.cell_contents * fn.__defaults__[0]


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
            g, late, m = (self.slope(self.world.now(name), table) for name in ("g", "late", "m"))
            return 3.0 * g + late + m
        return own_slope(fn) * (self.slope(self.world.now("h"), table) if fn.kind == "g" else 1.0)

    def read(self, table):
        """What compiled code reads of the program, the outcomes of its look-ups, and those when it runs: none yet."""
        read, early = {}, {}
        f, now = self.world.f, self.world.now
        early[f] = table.get(f)
        for name in ("g", "h", "m") if early[f] is None else ():
            if name != "h" or early[now("g")] is None:
                early[now(name)] = table.get(now(name))
                read[name] = self.state(now(name), early[now(name)] is None)
        return read, early, {}

    def state(self, fn, looked_inside):
        return (fn, fn.__code__, fn.__defaults__) if looked_inside else (fn,)

    def is_read_anew(self, read):
        return any(self.state(self.world.now(name), len(was) > 1) != was for name, was in read.items())

    def met(self, late, table):
        """The answers of calls decided when the code runs, with the code of what was looked into."""
        fn = self.world.now("late")
        return {**late, fn: (table.get(fn), fn.__code__ if table.get(fn) is None else None)}

    # ---- what happens

    def call(self, product):
        """The slope that a call gives, None if it raises, and how often it warns."""
        now = self.table()
        if product not in self.compiled:
            if self.pinned is None or self.policy == "auto":
                self.pinned = now
            self.compiled[product] = self.read(self.pinned)
        read, early, late = self.compiled[product]
        if self.is_read_anew(read):
            self.rebuilds += 1
            if self.policy == "auto":
                self.pinned = now
            read, early, late = self.compiled[product] = self.read(self.pinned)
        elif any(code not in (None, fn.__code__) for fn, (_, code) in late.items()):
            late = {}
        known = {**early, **{fn: was for fn, (was, _) in late.items()}}
        changed = {fn for fn, was in known.items() if now.get(fn) != was}
        runs = early[self.world.f] is None
        if self.policy == "auto":
            if any(fn in changed for fn in early):
                self.rebuilds += 1
            self.pinned = now
            read, early, _ = self.read(now)
            late = {} if changed else late
            if early[self.world.f] is None:
                late = self.met(late, now)
            self.compiled[product] = read, early, late
            return self.slope(self.world.f, now), 0
        self.compiled[product] = read, early, late
        if changed and self.policy == "error":
            return None, 0
        warnings = self.warns({(fn, known[fn], now.get(fn)) for fn in changed})
        if runs:  # what is decided when the code runs is noted, and told of if it is stale
            fn = self.world.now("late")
            was = self.pinned.get(fn)
            late = self.met(late, self.pinned)
            self.compiled[product] = read, early, late
            if now.get(fn) != was and fn not in changed:
                if self.policy == "error":
                    return None, 0
                warnings += self.warns({(fn, was, now.get(fn))})
        return self.slope(self.world.f, self.pinned), warnings

    def warns(self, marks):
        """The number of warnings that tell of these changes: one, if any of them is news."""
        news = marks - self.warned
        self.warned |= marks
        return int(bool(news))

    def refresh(self):
        now = self.table()
        stale = False
        for product, (read, early, late) in list(self.compiled.items()):
            if any(now.get(fn) != was for fn, was in early.items()):
                self.rebuilds += 1
                stale = True
                self.compiled[product] = self.read(now)
            else:
                if any(now.get(fn) != was for fn, (was, _) in late.items()):
                    stale, late = True, {}
                late = {fn: (now.get(fn), code) for fn, (_, code) in late.items()}
                self.compiled[product] = read, {fn: now.get(fn) for fn in early}, late
        if self.compiled:
            self.pinned = now
        self.warned.clear()
        return stale


def reverse_rule(fn, factor):
    """A rule with the derivative ``factor``."""
    if fn.__code__.co_varnames[0] == "self":
        none = ad.NoTangent()
        return lambda self, x, scale=1.0: (fn(self, x, scale), lambda y_bar: (none, y_bar * factor, none))
    if fn.__name__ == "f":
        return lambda x: (fn(x), lambda y_bar: (y_bar * factor,))

    def reverse(x, scale=1.0):
        def pullback(y_bar):
            return ad.thunk(lambda: y_bar * factor), ad.NoTangent()

        return fn(x, scale), pullback

    return reverse


def forward_rule(fn, factor):
    """The same in forward mode."""
    if fn.__code__.co_varnames[0] == "self":
        return lambda self, x, scale=1.0, *, self_dot, x_dot, scale_dot: (fn(self, x, scale), x_dot * factor)
    if fn.__name__ == "f":
        return lambda x, *, x_dot: (fn(x), x_dot * factor)
    return lambda x, scale=1.0, *, x_dot, scale_dot: (fn(x, scale), x_dot * factor)


def linear_rule(fn, factor, form):
    with ad.rules.together():
        ad.frule(fn)(forward_rule(fn, factor))
        ad.rrule(fn)(in_form(form)(reverse_rule(fn, factor)))


MOVES = (
    *("rule", "rule", "remove", "out", "in", "constant", "override", "rebind", "code", "defaults", "cell"),
    *("call", "call", "call", "vjp", "back", "refresh"),
)


def change_program(what, fn, factors):
    """Give a function other code, other defaults, or other data in its closure."""
    if what == "code":
        fn.__code__ = fn.codes[1 - fn.codes.index(fn.__code__)]
    elif what == "defaults":
        fn.__defaults__ = (next(factors),)
    else:
        fn.cell.cell_contents = next(factors)


def change_rules(what, fn, world, model, rng, registration):
    """Register, remove, opt out or in, and tell the model."""
    if what in ("rule", "constant"):
        factor = float(next(world.factors)) if what == "rule" else 0.0
        old = model.rules.get(fn)
        if what == "rule":
            linear_rule(fn, factor, rng.choice(FORMS))
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


@contextlib.contextmanager
def overridden(fn, world, model, rng, registration):
    """Another rule for a while, or none, for the library and the model."""
    rules, out = dict(model.rules), dict(model.out)
    factor = float(next(world.factors))

    rule = rng.choice([None, reverse_rule(fn, factor)])
    with ad.rules.override(fn, rule):
        if rule is None:
            model.out[fn] = True
        else:
            model.rules[fn] = "rule", factor, next(registration)
        yield
    model.rules, model.out = rules, out


def one_history(seed, policy, steps=40):
    rng = random.Random(seed)
    world = World()
    model = Model(world, policy)
    root, kept, log = root_of(world.f), [], []
    registration = itertools.count()
    known = [world.f, *map(world.now, NAMES)]

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
            what, fn = rng.choice(MOVES), rng.choice(known)
            log.append(f"{what} {getattr(fn, 'kind', 'f')}{known.index(fn)}")
            if what in ("rule", "constant", "remove", "out", "in"):
                change_rules(what, fn, world, model, rng, registration)
            elif what in ("code", "defaults", "cell"):
                if fn is not world.f:
                    change_program(what, fn, world.factors)
            elif what == "override":
                with overridden(fn, world, model, rng, registration):
                    check(rng.choice(["grad", "vjp"]))
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


def values_of_higher_order(seed, policy, steps=25):
    """Second derivatives, forward mode and linear maps of a function of ``f``: only values, which pin a table of their own."""
    rng = random.Random(seed)
    world = World()
    model = Model(world, policy)
    registration, pinned = itertools.count(), None
    known, kept = [world.f, *map(world.now, NAMES)], []
    second = ad.grad(ad.grad(world.half_square))
    products = {
        "second": lambda: second(POINT),
        "hvp": lambda: ad.hvp(world.half_square, (POINT,), (1.0,)),
        "hessian": lambda: float(ad.hessian(world.half_square)(POINT)),
        "jvp": lambda: ad.jvp(world.f, (POINT,), (1.0,))[1] ** 2,
        "linearize": lambda: linear_map() ** 2,
    }

    def linear_map():
        _, pushforward = ad.linearize(world.f, POINT)
        kept.append((pushforward, pushforward(1.0)))
        return kept[-1][1]

    with ad.refresh_policy(policy), warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.StaleRuleWarning)
        for _ in range(steps):
            what, fn = rng.choice(MOVES), rng.choice(known)
            if fn is world.f and what in ("rule", "constant"):
                continue
            if what in ("rule", "constant", "remove", "out", "in"):
                change_rules(what, fn, world, model, rng, registration)
            elif what in ("code", "defaults", "cell") and fn is not world.f:
                change_program(what, fn, world.factors)
            elif what == "rebind":
                known.append(world.rebind(rng.choice(NAMES)))
            elif what == "refresh":
                ad.refresh()
                pinned = None if pinned is None else model.table()
            elif what in ("call", "vjp", "back"):
                if pinned is None or policy == "auto":
                    pinned = model.table()
                    if policy == "manual":  # each derivative pins the rules of its first call: let it be the same moment
                        for product in products.values():
                            product()
                product = rng.choice(list(products))
                assert products[product]() == model.slope(world.f, pinned) ** 2, product
        for pushforward, found in kept:
            assert pushforward(1.0) == found


@pytest.mark.parametrize("policy", ["manual", "auto"])
@pytest.mark.parametrize("seed", range(15))
def test_random_histories_of_higher_order(seed, policy):
    values_of_higher_order(seed, policy)
