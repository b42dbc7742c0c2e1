"""An ``__iter__`` that only makes an iterator, such as ``return iter(self.items)``, written out where it is called."""

from __future__ import annotations

import inspect
from typing import Any

from thunkad.analysis.sites import Context
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names

#: What it may call, besides methods.
_PASSING = {"iter", "zip", "enumerate", "range", "reversed", "sorted", "list", "tuple", "len", "map", "filter"}
_LAZY = {"zip", "enumerate", "range", "reversed", "map", "filter"}
_STRAIGHT = (n.Assign, n.For, n.If, n.Append, n.Unpack)


def plain_iterator(
    over: n.Name, cls: type, method: Any, context: Context, names: Names
) -> tuple[list[n.Stmt], n.Expr] | None:
    """The statements of such an ``__iter__`` of ``cls`` for the object ``over``, and what it goes through.

    None for a method that does more than that.
    """
    if inspect.isgeneratorfunction(method) or method.__closure__:
        return None
    form = context.form_of(method)
    everything = walk.statements(form.body)
    used = {e.id for t in everything for e in walk.parts(*walk.expressions(t)) if type(e) is n.Global}
    if not used <= _PASSING or not used.isdisjoint(method.__globals__) or len(form.params) != 1:
        return None
    if not all(type(t) in _STRAIGHT for t in everything[:-1]) or len(form.body) < 2:
        return None
    mapping = {name: names.new(name) for name in walk.assigned(form.body)}
    *before, made, last = walk.rename(form.body, {**mapping, form.params[0].name: over.id})
    if type(last) is not n.Return or type(made) is not n.Assign or last.value != n.Name(made.target):
        return None
    call = made.value
    if type(call) is not n.Call or type(call.func) is not n.Global or call.kwargs:
        return None
    if call.func.id == "iter" and len(call.args) == 1 and type(call.args[0]) is n.Name:
        (items,) = call.args
        if before and type(before[-1]) is n.Assign and before[-1].target == items.id:
            made, call = before[-1], before[-1].value
            if type(call) is not n.Call or type(call.func) is not n.Global or call.func.id not in _LAZY:
                call = items
            else:
                before.pop()
        else:
            call = items
    elif call.func.id not in _LAZY:
        return None
    context.class_member(cls, "__iter__")
    return before, call
