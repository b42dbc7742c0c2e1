"""What forbids running a function again in the reverse sweep, and what forbids taking its gradient for symmetric."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.randomness import is_random
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.rules.entry import name_of


def refuse_replay(world: Any, d: Any, kinds: Any) -> None:
    """A derivative inside differentiated code runs its function again, so that must do the same a second time."""
    if isinstance(d.target, n.Function):
        resolved = world.analysis_of_ir(d.target, d.owner, kinds[: len(d.params)])
    elif hasattr(d.target, "__code__"):
        resolved = world.analysis(d.target, kinds[: len(d.params)])
    else:
        return  # a derivation: its own target was looked at
    found = draws(world, resolved, set())
    if found is not None:
        line, what = found
        raise UnsupportedSyntaxError(
            f"a derivative inside a differentiated function, or a checkpoint, of code that draws random numbers "
            f"({what}) is not supported: it is run again in the reverse sweep and would draw others",
            resolved.place(line),
            "draw the numbers outside and pass them in",
        )


def draws(world: Any, resolved: Any, seen: set[int]) -> tuple[int, str] | None:
    """The line and name of the first drawing of a random number in a function or in what it calls."""
    if id(resolved) in seen:
        return None
    seen.add(id(resolved))
    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        if site is None:
            continue
        if is_random(site):
            return s.line, name_of(site.callee) if not isinstance(site.callee, n.Attr) else site.callee.name
        if site.how in ("inside", "lifted"):
            target = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
            try:
                if isinstance(target, n.Function):
                    inner = world.analysis_of_ir(target, resolved.owner, site.kinds)
                elif hasattr(target, "__code__"):
                    inner = world.analysis(target, site.kinds)
                else:
                    continue
            except Exception:
                continue  # what is wrong with it is told where its derivative is made
            found = draws(world, inner, seen)
            if found is not None:
                return s.line, found[1]
    return None


def refuse_surrogates(world: Any) -> None:
    """Second derivatives rest on the symmetry of the Hessian, which rules that aren't derivatives break."""
    for decision in world.answers().values():
        if decision.entry is not None and decision.entry.surrogate and decision.entry.kind == "rrule":
            name = name_of(decision.entry.target)
            raise UnsupportedSyntaxError(
                f"a second derivative through {name}, whose rule is marked as a surrogate, is not supported",
                hint="apply it outside of the function that is differentiated twice",
            )
