"""What forbids running a function again in the reverse sweep, and what forbids taking its gradient for symmetric."""

from __future__ import annotations

import types
from os.path import basename
from typing import Any

from thunkad.analysis.randomness import draws_again, is_random, is_seeded, is_unknown, may_draw, seeded_names
from thunkad.analysis.sites import called, path_of
from thunkad.compiled.before import Before
from thunkad.compiled.load import place_of_target
from thunkad.compiled.surroundings import Surroundings
from thunkad.errors import ArgumentError, UnsupportedSyntaxError
from thunkad.forward.calls import EFFECT
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Known, Lifted
from thunkad.rules.entry import name_of
from thunkad.runtime.replays import random_states, refuse_draws
from thunkad.runtime.residuals import same_numbers, snapshot

STATES, REFUSE_DRAWS = n.Ref("random_states", random_states), n.Ref("refuse_draws", refuse_draws)


def refuse_replay(world: Any, d: Any, kinds: Any) -> bool:
    """A derivative inside differentiated code runs its function again, so that must do the same a second time.

    Returns
    -------
    bool
        Whether some of what it calls is only known when it runs, so that draws have to be looked for then.
    """
    if isinstance(d.target, n.Function):
        resolved = world.analysis_of_ir(d.target, d.owner, kinds[: len(d.params)])
    elif hasattr(d.target, "__code__"):
        resolved = world.analysis(d.target, kinds[: len(d.params)])
    else:
        return False  # a derivation: its own target was looked at
    look = Draws(world)
    found = look.first(resolved)
    if found is not None:
        line, what = found
        raise UnsupportedSyntaxError(
            f"a derivative inside a differentiated function, or a checkpoint, of code that draws random numbers "
            f"({what}) is not supported: it is run again in the reverse sweep and would draw others",
            resolved.place(line),
            "draw the numbers outside and pass them in",
        )
    return look.unknown


def watched(rerun: list[n.Stmt], names: Names, d: Any) -> list[n.Stmt]:
    """Statements that run the function of ``d`` again, between looks at the random numbers that are drawn meanwhile."""
    states = names.new("random_states")
    return [
        n.Assign(states, n.Call(STATES), site=EFFECT),
        *rerun,
        n.Effect(n.Call(REFUSE_DRAWS, (n.Name(states), n.Const(where(d)))), site=EFFECT),
    ]


def where(d: Any) -> str:
    """The function of a derivation, in a message."""
    place = place_of_target(d.target)
    return "a function" if place is None else f"the function at line {place.line} of {basename(place.filename)}"


class Draws:
    """Looks for random numbers in a function and in what it calls."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.seen: set[tuple[int, frozenset[str]]] = set()
        self.unknown = False  # whether it calls something that is found when the code runs

    def first(self, resolved: Any, given: frozenset[str] = frozenset()) -> tuple[int, str] | None:
        """The line and name of the first draw; ``given``: parameters that are generators made anew each time."""
        if (id(resolved), given) in self.seen:
            return None
        self.seen.add((id(resolved), given))
        seeded = seeded_names(resolved, given)
        for s in walk.statements(resolved.function.body):
            site = resolved.sites.get(id(s))
            if site is None:
                continue
            if (is_random(site, resolved) or may_draw(site, resolved)) and not draws_again(site, resolved, seeded):
                return s.line, described(site, resolved)
            self.unknown = self.unknown or is_unknown(site, resolved) or self.hands_over(site)
            inner = self.callee(site, resolved)
            again = frozenset(p for p, e in site.bound if is_seeded(e, seeded))
            found = None if inner is None else self.first(inner, again)
            if found is not None:
                return s.line, found[1]
        return None

    def hands_over(self, site: Any) -> bool:
        """Whether a function goes to code that isn't looked into."""
        return site.how not in ("inside", "lifted", "construct") and any(
            isinstance(k, Lifted) or (isinstance(k, Known) and isinstance(k.value, types.FunctionType))
            for k in site.kinds
        )

    def callee(self, site: Any, resolved: Any) -> Any:
        """What a call looks into, resolved."""
        if site.how not in ("inside", "lifted"):
            return None
        target = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        try:
            if isinstance(target, n.Function):
                return self.world.analysis_of_ir(target, resolved.owner, site.kinds)
            return self.world.analysis(target, site.kinds) if hasattr(target, "__code__") else None
        except Exception:
            return None  # what is wrong with it is told where its derivative is made


def described(site: Any, resolved: Any) -> str:
    """The function that draws, as the user would write it."""
    if isinstance(site.callee, (n.Attr, n.Global)):
        return path_of(site.callee)
    found = called(site, resolved)
    return name_of(found.value if isinstance(found, n.Ref) else found)


def refuse_surrogates(world: Any) -> None:
    """Second derivatives rest on the symmetry of the Hessian, which rules that aren't derivatives break."""
    for decision in world.answers().values():
        if decision.entry is not None and decision.entry.surrogate and decision.entry.kind == "rrule":
            name = name_of(decision.entry.target)
            raise UnsupportedSyntaxError(
                f"a second derivative through {name}, whose rule is marked as a surrogate, is not supported",
                hint="apply it outside of the function that is differentiated twice",
            )


class FirstRun:
    """What a function gave when it ran first, and what it has left: a linear map is made of it by running it again.

    What a run changes around it (a variable that it sets, a counter of an object) is put back before the next one,
    which leaves the same again.  ``values`` are its arguments.
    """

    def __init__(self, fn: Any, values: tuple[Any, ...]) -> None:
        self.fn, self.all = fn, (fn, *values)
        self.before = Before(*self.all)
        self.surroundings: Surroundings | None = None
        self.value: Any = None

    def gave(self, value: Any) -> None:
        self.value, self.surroundings = snapshot(value), Surroundings({"": self.all})

    def begin_again(self) -> None:
        """Before another run; refused if something that it reads is not what the last one has left."""
        assert self.surroundings is not None
        if self.surroundings.changed({"": self.all}) is not None:
            raise self.error("something that it reads has changed")
        self.before.restore()

    def check_value(self, value: Any) -> None:
        """Refuse what another run has given if that is another value."""
        if not same_numbers(value, self.value):
            raise self.error(
                "its value isn't what it was: something that it reads has changed, or it draws random numbers"
            )
        self.surroundings = Surroundings({"": self.all})

    def error(self, what: str) -> ArgumentError:
        return ArgumentError(
            f"the linear map of {name_of(self.fn)} runs it again, and {what}",
            hint="call linearize again, or give the function what changes as an argument",
        )
