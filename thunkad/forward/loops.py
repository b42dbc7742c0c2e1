"""Loops over what they change, where the tangents of the items can't be read off before the loop."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site, called
from thunkad.analysis.spans import counts, is_place, may_write
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num, is_sequence


def changes_what_it_runs_over(push: Any, s: n.For, operands: list[n.Expr]) -> bool:
    """Whether the body of the loop ``s`` may change what ``operands``, which it runs over, hold."""
    if type(s.iter) is n.Call and type(s.iter.func) is n.Ref:
        return False  # a reverse sweep over what its forward sweep saved
    names = {i for a in operands for i in walk.names(a) if not push.is_scalar(i)}
    if all(isinstance(k, Num) and (k.ndim or 0) > 1 for k in map(push.kind, names)):
        return False  # rows are views, and so are those of the tangent
    return may_write(push.resolved, aliases_of(push.resolved), walk.statements(s.body), names)


def parts_by_number(push: Any, s: n.For, site: Site | None, count: str) -> dict[Any, n.Index] | None:
    """For places in the items of ``enumerate(x)``, ``zip(x, y)``, ``reversed(x)`` (None: all of it) what stands there.

    None if the loop runs over something else, or an item is used as a whole.
    """
    if site is None or site.how != "rule" or not counts(site) or type(s.iter) is not n.Call:
        return None
    if any(push.moves(a) and not (type(a) is n.Name and is_sequence(push.kind(a.id))) for a in site.args):
        return None
    k = n.Name(count)
    if site.callee is reversed:
        from_end = n.Unary("~", k)
        return {None: n.Index(site.args[0], from_end)}
    if any(s.target in walk.reads(x) and not _takes_apart(x, s.target) for x in walk.statements(s.body)):
        return None
    if site.callee is enumerate:
        return {1: n.Index(site.args[0], k)}
    return {j: n.Index(a, k) for j, a in enumerate(site.args)}


def _takes_apart(x: n.Stmt, item: str) -> bool:
    """Whether a statement does nothing with ``item`` but take it apart."""
    if type(x) is n.Unpack:
        return type(x.value) is n.Name
    e = x.value if type(x) is n.Assign else None
    return type(e) is n.Index and is_place(e.index) and e.value == n.Name(item)


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
