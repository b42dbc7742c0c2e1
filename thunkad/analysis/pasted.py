"""The kind of what a pasted rule of a user's returns: its own lines compute the value."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from thunkad.ir import nodes as n
from thunkad.kinds import results
from thunkad.kinds.lattice import UNKNOWN, Kind, Known, Num, Sequence, Tuple, item_of, join
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import Entry
from thunkad.rules.python.operators import numeric_function
from thunkad.rules.template import template_of


def pasted_kind(entry: Entry, positional: list[Kind], named: dict[str, Kind]) -> Kind:
    """The kind of the value of a rule called with operands of these kinds; Unknown where its lines don't tell."""
    template = template_of(entry) if entry.kind == "rrule" else None
    if template is None or template.plain:
        return UNKNOWN
    signature = entry.signature()
    try:
        bound = signature.bind(*positional, **named)  # type: ignore[arg-type]
    except TypeError:
        return UNKNOWN
    kinds: dict[str, Kind] = {}
    for name, p in signature.parameters.items():
        given: Any = bound.arguments.get(name)
        if p.kind is p.VAR_POSITIONAL:
            kinds[name] = Tuple(given or ())
        elif given is not None:
            kinds[name] = given
        elif p.default is not inspect.Parameter.empty:
            kinds[name] = kind_of(p.default)
    for s in template.forward:
        if type(s) is n.Assign:
            kinds[s.target] = kind_in(s.value, kinds)
        elif type(s) is n.Unpack:
            whole = kind_in(s.value, kinds)
            exact = isinstance(whole, Tuple) and len(whole.items) == len(s.targets)
            for k, x in enumerate(s.targets):
                kinds[x] = whole.items[k] if exact else item_of(whole)  # type: ignore[union-attr]
    return kind_in(template.value, kinds)


def kind_in(e: n.Expr, kinds: dict[str, Kind]) -> Kind:
    """The kind of an expression, of which the operands may be expressions, given those of names."""
    t = type(e)
    if t is n.Name:
        return kinds.get(e.id, UNKNOWN)
    if t is n.Const or t is n.Ref:
        return kind_of(e.value)
    if t is n.Binary:
        return results.binary(e.op, kind_in(e.left, kinds), kind_in(e.right, kinds))
    if t is n.Unary:
        return results.unary(e.op, kind_in(e.operand, kinds))
    if t is n.Compare:
        return results.compare(e.op, kind_in(e.left, kinds), kind_in(e.right, kinds))
    if t is n.TupleExpr and not any(type(x) is n.Star for x in e.items):
        return Tuple(tuple(kind_in(x, kinds) for x in e.items))
    if t is n.ListExpr and not any(type(x) is n.Star for x in e.items):
        item: Kind | None = None
        for x in e.items:
            item = join(item, kind_in(x, kinds))
        return Sequence(item)
    if t is n.Attr:
        return _attribute(kind_in(e.value, kinds), e.name)
    if t is n.Call:
        return _call(e, kinds)
    return UNKNOWN


def _attribute(owner: Kind, name: str) -> Kind:
    if isinstance(owner, Num):
        return results.array_attribute(owner, name) or UNKNOWN
    if isinstance(owner, Known) and inspect.ismodule(owner.value):
        return kind_of(getattr(owner.value, name, None))
    return UNKNOWN


def _call(e: n.Call, kinds: dict[str, Kind]) -> Kind:
    if any(type(a) is n.Star for a in e.args) or any(k is None for k, _ in e.kwargs):
        return UNKNOWN
    args = [kind_in(a, kinds) for a in e.args]
    named = {k: kind_in(v, kinds) for k, v in e.kwargs if k is not None}
    if type(e.func) is n.Attr and isinstance(owner := kind_in(e.func.value, kinds), Num):
        method = getattr(np.ndarray, e.func.name, None)
        return UNKNOWN if method is None else results.call(method, [owner, *args], named)
    callee = kind_in(e.func, kinds)
    if not isinstance(callee, Known):
        return UNKNOWN
    function = numeric_function(callee.value, args)
    return UNKNOWN if function is None else results.call(function, args, named)
