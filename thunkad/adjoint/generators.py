"""Generator functions as callees: they are compiled as functions that return the list of their values.

That is the same only if somebody uses the values up at once and nothing can be seen of the order in which they are
made.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk

#: Functions that take all of an iterable at once.
CONSUMERS = (
    sum, list, tuple, sorted, max, min, set, frozenset, dict, math.fsum, math.prod, enumerate, np.sum,
)  # fmt: skip
_ENDLESS = ("count", "cycle", "repeat", "iter")


def check_generator(resolved: Resolved, callees: Any, made: n.Stmt, target: str, site: Site) -> None:
    """Refuse a call of a generator function whose values are not used up at once."""
    if not inspect.isgeneratorfunction(site.callee):
        return
    why = _misuse(resolved, callees, made, target, site)
    if why is not None:
        name = getattr(site.callee, "__name__", "function")
        raise UnsupportedSyntaxError(
            f"the generator {name} {why}; with values that are differentiated this is not supported",
            resolved.place(made.line),
            "collect its values in a list and return that",
        )


def _misuse(resolved: Resolved, callees: Any, made: n.Stmt, target: str, site: Site) -> str | None:
    if not callees.only_yields(site):
        return "does more than yield values"
    uses = [s for s in walk.statements(resolved.function.body) if target in walk.reads(s)]
    if len(uses) != 1:
        return "is not used up exactly once"
    (use,) = uses
    if _loops_around(resolved.function.body, use) != _loops_around(resolved.function.body, made):
        return "is made outside of the loop that uses it up"
    partial = False
    if type(use) is n.For:
        zipped = type(use.iter) is n.Call and use.iter.func == n.Global("zip")
        if type(use.iter) is n.Call and not zipped and use.iter.func != n.Global("enumerate"):
            return "is not used up by a loop"
        partial = zipped or use.stop is not None
        aliases = aliases_of(resolved)
        written = {w for s in walk.statements(use.body) for w in aliases.written_by.get(id(s), ())}
        if any(aliases.find(w) == aliases.find(i) for w in written for _, e in site.bound for i in walk.names(e)):
            return "reads what the loop over it changes"
    else:
        consumer = resolved.sites.get(id(use))
        if consumer is None or not any(consumer.callee is c for c in CONSUMERS) or consumer.callee is enumerate:
            return "is not used up by a loop or a function that takes all of its values"
    form = callees.form_of(site.callee)
    if partial and any(_may_be_endless(s) for s in walk.statements(form.body)):
        return "may go on for ever, and is left early"
    return None


def _may_be_endless(s: n.Stmt) -> bool:
    if type(s) is n.While:
        return True
    calls = [e for e in walk.expressions(s) if type(e) is n.Call]
    return any(_last_name(e.func) in _ENDLESS for e in calls)


def _last_name(e: n.Expr) -> str:
    return e.name if type(e) in (n.Attr, n.Ref) else getattr(e, "id", "")


def _loops_around(block: list[n.Stmt], wanted: n.Stmt, around: tuple[int, ...] = ()) -> tuple[int, ...] | None:
    for s in block:
        if s is wanted:
            return around
        inner = (*around, id(s)) if type(s) in (n.For, n.While) else around
        for b in walk.blocks(s):
            found = _loops_around(b, wanted, inner)
            if found is not None:
                return found
    return None
