"""Iterators of ``zip``, ``enumerate``, ``map``, ``filter`` and ``reversed`` that are used again, from where they are.

One that is used once is a list (see :mod:`thunkad.rules.python.builtins`), or no object at all; of the others the
position matters, and they are objects that the compiler looks into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from thunkad.analysis.sites import Site
from thunkad.analysis.special import own_method
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind
from thunkad.normal.suspended_class import class_of
from thunkad.runtime.lazy import OF_BUILTINS, backwards

_MADE = OF_BUILTINS | {"reversed": backwards}


def lazily(name: str, call: n.Call) -> n.Call:
    """``call`` of the built-in function ``name`` as one that makes an object that the compiler knows."""
    cls = class_of(_MADE[name])
    return n.Call(n.Ref(cls.__name__, cls), call.args, call.kwargs)


def drawn_again(function: n.Function, sites: Mapping[int, Site], context: Any) -> dict[int, str]:
    """The statements that bind such an iterator of differentiated values, by identity, each with what it calls."""
    made = {
        id(s): s.value.func.id
        for s in walk.statements(function.body)
        if type(s) is n.Assign
        and type(s.value) is n.Call
        and type(s.value.func) is n.Global
        and s.value.func.id in _MADE
        and (site := sites.get(id(s))) is not None
        and site.how not in ("constant", "missing")
    }
    return {key: made[key] for key in _used_again(function.body, made, sites, context)} if made else {}


def goes_on(function: n.Function, call: n.Call, kind: Callable[[Any, n.Expr], Kind | None]) -> bool:
    """Whether ``call`` draws from an iterator that is used elsewhere, too: it takes no more than it needs then."""
    own = {x.id for x in call.args if type(x) is n.Name and own_method(kind(None, x), "__next__") is not None}
    if not own:
        return False
    statements = walk.statements(function.body)
    read = [i for s in statements for e in walk.expressions(s) for i in walk.names(e) if i in own]
    return len(read) > len(own)


def _used_again(body: list[n.Stmt], made: Mapping[int, str], sites: Mapping[int, Site], context: Any) -> set[int]:
    uses: Counter[str] = Counter()
    loops: dict[str, tuple[int, ...]] = {}  # around the last use of a name
    bound: list[tuple[n.Assign, tuple[int, ...]]] = []
    targets = {s.target for s in walk.statements(body) if type(s) is n.Assign and id(s) in made}

    def visit(block: list[n.Stmt], around: tuple[int, ...]) -> None:
        for s in block:
            for e in walk.expressions(s):
                uses.update(walk.names(e))
            loops.update(dict.fromkeys(walk.reads(s), around))
            value = getattr(s, "value", None)
            used_up = type(s) in (n.Unpack, n.Update)  # taken apart, or taken in by a list
            if type(s) in (n.Store, n.Append) or (not used_up and _goes_on_being_used(value)):
                items = value.items if type(value) in (n.TupleExpr, n.ListExpr) else (value,)
                uses.update(i for item in items if type(item) is not n.Star for i in walk.names(item))
            site = sites.get(id(s))
            if site is not None and site.how == "inside":
                drawn = {e.id: p for p, e in site.bound if type(e) is n.Name and e.id in targets}
                form = context.form_of(site.callee) if drawn else None
                uses.update(i for i, p in drawn.items() if _reads_again(form.body, p))
            if type(s) is n.Assign and id(s) in made:
                bound.append((s, around))
            for inner in walk.blocks(s):
                visit(inner, (*around, id(s)) if type(s) in (n.For, n.While) else around)

    visit(body, ())
    again: set[int] = set()
    for s, around in reversed(bound):
        if uses[s.target] > 1 or loops.get(s.target, around) != around:
            again.add(id(s))
            uses.update(walk.names(s.value))  # so is what it draws from
    return again


def _reads_again(body: list[n.Stmt], name: str) -> bool:
    """Whether a callee uses its parameter ``name`` more than once."""
    return sum(name in walk.reads(s) for s in walk.statements(body)) > 1


def _goes_on_being_used(e: n.Expr | None) -> bool:
    """Whether an iterator is as well used after ``e``: that names it, keeps it in something, or draws one item."""
    if type(e) is n.Call:
        return e.func in (n.Global("next"), n.Global("iter"))
    return type(e) in (n.Name, n.TupleExpr, n.ListExpr, n.DictExpr)
