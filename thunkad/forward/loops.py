"""Loops over what they change, where the tangents of the items can't be read off before the loop."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site, called
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num


def changes_what_it_runs_over(push: Any, s: n.For, operands: list[n.Expr]) -> bool:
    """Whether the body of the loop ``s`` may change what ``operands``, which it runs over, hold."""
    if type(s.iter) is n.Call and type(s.iter.func) is n.Ref:
        return False  # a reverse sweep over what its forward sweep saved
    names = {i for a in operands for i in walk.names(a) if not push.is_scalar(i)}
    if all(isinstance(k, Num) and (k.ndim or 0) > 1 for k in map(push.kind, names)):
        return False  # rows are views, and so are those of the tangent
    aliases, same, made = aliases_of(push.resolved), set(names), set()
    for x in walk.statements(push.resolved.function.body):
        if type(x) is n.Assign and type(x.value) is n.Name and not same.isdisjoint((x.target, x.value.id)):
            same |= {x.target, x.value.id}
        elif type(x) is n.Assign and type(x.value) is n.ListExpr:
            made.add(x.target)
    classes = {aliases.find(x) for x in names}
    for x in walk.statements(s.body):
        other = type(x) is n.Append and x.target in made - same
        if not other and any(aliases.find(w) in classes for w in aliases.written_by.get(id(x), ())):
            return True
    return False


def live_call(e: n.Expr, site: Site, resolved: Resolved) -> tuple[Any, list[n.Expr]]:
    """What a loop over a call runs over, and its operands: what has ``items`` or ``values`` is taken for a dict."""
    fn, operands = called(site, resolved), list(site.args)
    if type(e) is n.Call and type(e.func) is n.Attr and type(e.func.value) is n.Name and site.how == "dynamic":
        of_dict = {"items": dict.items, "values": dict.values}.get(e.func.name)
        if of_dict is not None and not e.args:
            return of_dict, [e.func.value]
    return fn, operands


def as_value(index: n.Expr) -> n.Expr:
    """An index as an argument of a call: slices spelled out."""
    if type(index) is n.Slice:
        parts = (n.Const(None) if p is None else p for p in (index.lower, index.upper, index.step))
        return n.Call(n.Ref("slice", slice), tuple(parts))
    if type(index) is n.TupleExpr:
        return n.TupleExpr(tuple(map(as_value, index.items)))
    return index
