"""Generator functions as callees.

They are compiled as functions that return the list of their values where somebody uses these up at once and nothing can
be seen of the order in which they are made; elsewhere a call makes an object, see :mod:`thunkad.normal.suspended`.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import may_have_tangent
from thunkad.normal.suspended_class import class_of

#: Functions that take all of an iterable at once.
CONSUMERS = (
    sum, list, tuple, sorted, max, min, set, frozenset, dict, math.fsum, math.prod, enumerate, np.sum,
)  # fmt: skip
#: What doesn't matter to a generator that is an object.
EFFECTS, CHANGES, RAISES, ENDLESS = (
    "does more than yield values", "reads what the loop over it changes", "may raise, or deal with what is raised",
    "may go on for ever, and is left early",
)  # fmt: skip
HARMLESS = (EFFECTS, CHANGES, RAISES, ENDLESS)
_ENDLESS = ("count", "cycle", "repeat", "iter")


def kept_generators(
    found: Resolved, made: dict[int, n.Assign], function: n.Function, context: Any
) -> dict[int, tuple[n.Assign, n.Call]]:
    """The statements whose generators have to be objects, and the calls that make these.

    Parameters
    ----------
    found : Resolved
        ``function`` with its loops written out.
    made : dict
        The statements that call generator functions, by their identity.
    """
    out: dict[int, tuple[n.Assign, n.Call]] = {}
    own = {id(s) for s in walk.statements(function.body)}
    for key, s in made.items():
        site = found.sites.get(key)
        if site is None or site.how != "inside" or not inspect.isgeneratorfunction(site.callee):
            continue
        why = _misuse(found, context, s, s.target, site)
        still = all(type(e) in (n.Const, n.Ref) or not may_have_tangent(k) for (_, e), k in zip(site.bound, site.kinds))
        written = why is ENDLESS and aliases_of(found).is_mutated(s.target)  # it would be run for the sake of that
        if why is None or (why in HARMLESS and still and not written):
            continue  # it is the generator itself where nothing of it is differentiated
        if key not in own:
            context.suspends = True  # the loop is written out another way then
            continue
        cls = class_of(site.callee)
        out[key] = s, n.Call(n.Ref(cls.__name__, cls), site.args, site.kwargs)
    return out


def with_objects(block: list[n.Stmt], kept: dict[int, tuple[n.Assign, n.Call]]) -> list[n.Stmt]:
    """``block`` with these calls."""

    def replaced(s: Any) -> n.Stmt:
        if id(s) in kept:
            return n.Assign(s.target, kept[id(s)][1], line=s.line, site=s.site)
        return walk.map_blocks(s, lambda inner: with_objects(inner, kept))

    return [replaced(s) for s in block]


def _misuse(resolved: Resolved, callees: Any, made: n.Stmt, target: str, site: Site) -> str | None:
    uses = [s for s in walk.statements(resolved.function.body) if target in walk.reads(s)]
    if len(uses) != 1:
        return "is not used up exactly once"
    (use,) = uses
    if _loops_around(resolved.function.body, use) != _loops_around(resolved.function.body, made):
        return "is made outside of the loop that uses it up"
    body, aliases = resolved.function.body, aliases_of(resolved)
    if id(made) in aliases.disturbed:
        return CHANGES
    if tries_around(body, use) != tries_around(body, made):
        return RAISES
    partial = False
    if type(use) is n.For:
        zipped = type(use.iter) is n.Call and use.iter.func == n.Global("zip")
        if type(use.iter) is n.Call and not zipped and use.iter.func != n.Global("enumerate"):
            return "is not used up by a loop"
        partial = zipped or use.stop is not None
        written = {w for s in walk.statements(use.body) for w in aliases.written_by.get(id(s), ())}
        if any(aliases.find(w) == aliases.find(i) for w in written for _, e in site.bound for i in walk.names(e)):
            return CHANGES
    else:
        consumer = resolved.sites.get(id(use))
        if consumer is None or not any(consumer.callee is c for c in CONSUMERS) or consumer.callee is enumerate:
            return "is not used up by a loop or a function that takes all of its values"
    form = callees.form_of(site.callee)
    if type(use) is n.For and type(use.iter) is n.Call and any(type(s) is n.Try for s in walk.statements(form.body)):
        return "is used up by zip or enumerate"
    if not callees.only_yields(site):
        return EFFECTS
    if type(use) is n.For and any(type(s) in (n.Raise, n.Assert, n.Try) for s in walk.statements(form.body)):
        return RAISES
    if partial and any(_may_be_endless(s) for s in walk.statements(form.body)):
        return ENDLESS
    return None


def _may_be_endless(s: n.Stmt) -> bool:
    if type(s) is n.While:
        return True
    calls = [e for e in walk.expressions(s) if type(e) is n.Call]
    return any(_last_name(e.func) in _ENDLESS for e in calls)


def _last_name(e: n.Expr) -> str:
    return e.name if type(e) in (n.Attr, n.Ref) else getattr(e, "id", "")


def _loops_around(block: list[n.Stmt], wanted: n.Stmt) -> tuple[int, ...] | None:
    return _around(block, wanted, (n.For, n.While))


def tries_around(block: list[n.Stmt], wanted: n.Stmt) -> tuple[int, ...] | None:
    """What stands around a statement and handles what it raises."""
    return _around(block, wanted, (n.Try, n.With))


def _around(
    block: list[n.Stmt], wanted: n.Stmt, kinds: tuple[type, ...], around: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    for s in block:
        if s is wanted:
            return around
        inner = (*around, id(s)) if type(s) in kinds else around
        for b in walk.blocks(s):
            found = _around(b, wanted, kinds, inner)
            if found is not None:
                return found
    return None
