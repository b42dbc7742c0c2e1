"""Iterators of ``zip``, ``enumerate``, ``reversed``, ``map`` and ``filter`` under a name, which are used up later on.

One of them is a list, made where it is called, as long as nothing of that can be seen: what it reads stays what it is
until it is used up, and so does what the function that it calls reads and writes.  Elsewhere it is an object.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from thunkad.analysis.aliases import Aliases, aliases_of
from thunkad.analysis.drawn_again import lazily, spread
from thunkad.analysis.generators import CONSUMERS, tries_around
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.spans import starred_iterator
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Known, Lifted, Method, is_hashable
from thunkad.normal.guarded import changes, may_change, own_objects
from thunkad.rules.python.builtins import apply_to_each, keep_where

_CALLING: dict[Any, str] = {apply_to_each: "map", keep_where: "filter"}
_NAMES: dict[Any, str] = {zip: "zip", enumerate: "enumerate", reversed: "reversed", **_CALLING}
_HARMLESS = (n.Assign, n.Unpack, n.If, n.For, n.While, n.Return, n.Append, n.Comment, n.Store, n.Update, n.Effect)


def kept_iterators(found: Resolved, function: n.Function, context: Any) -> dict[int, tuple[n.Assign, n.Call]]:
    """The statements of ``function`` whose iterators have to be objects, and the calls that make these.

    Parameters
    ----------
    found : Resolved
        ``function`` with its loops written out.
    """
    out: dict[int, tuple[n.Assign, n.Call]] = {}
    for s in walk.statements(function.body):
        site = found.sites.get(id(s))
        if type(s) is not n.Assign or type(s.value) is not n.Call or site is None:
            continue
        name = starred_iterator(site)
        if name is None and site.how in ("rule", "inside") and is_hashable(site.callee):
            name = _NAMES.get(site.callee)
        starred = any(type(a) is n.Star for a in s.value.args)
        if name is None or type(s.value.func) is not n.Global or (starred and spread(name, s.value) is None):
            continue
        aliases = aliases_of(found)
        acting = name in ("map", "filter") or (name == "zip" and bool(site.kwargs))
        if id(s) in aliases.disturbed or (acting and _acts_late(found, aliases, s, site, context)):
            out[id(s)] = s, lazily(name, s.value)
    return out


def _acts_late(found: Resolved, aliases: Aliases, s: n.Assign, site: Site, context: Any) -> bool:
    """Whether what such an iterator calls, or raises, can be seen before it is used up."""
    body = found.function.body
    uses = [x for x in walk.statements(body) if s.target in walk.reads(x)]
    if any(tries_around(body, x) != tries_around(body, s) for x in uses):  # what they raise is caught somewhere else
        if not _calls(site) or not raises_nothing(found, site.args[0], context):
            return True
    if _are_at_once(found, body, s, uses):
        return False
    if not _calls(site):  # one that is strict raises at its end
        return bool(site.kwargs) and any(type(x) is not n.For or x.stop is not None for x in uses)
    return bool(aliases.written_by.get(id(s))) or acts(found, site.args[0], context)


def _calls(site: Site) -> bool:
    """Whether an iterator calls a function, its first argument."""
    return starred_iterator(site) in ("map", "filter") or (site.how == "inside" and site.callee in _CALLING)


def _are_at_once(found: Resolved, body: list[n.Stmt], s: n.Stmt, uses: list[n.Stmt]) -> bool:
    """Whether the only use of what ``s`` makes takes all of it, with nothing done in between."""
    if len(uses) != 1:
        return False
    consumer = found.sites.get(id(uses[0]))
    if consumer is None or consumer.callee is enumerate or not any(consumer.callee is c for c in CONSUMERS):
        return False
    for block in (body, *(b for x in walk.statements(body) for b in walk.blocks(x))):
        at = [k for k, x in enumerate(block) if x is s or x is uses[0]]
        if len(at) == 2:
            between = block[at[0] + 1 : at[1]]
            return all(type(x) is n.Assign and type(x.value) in (n.Closure, n.Name, n.Const) for x in between)
    return False


def acts(found: Resolved, function: n.Expr, context: Any) -> bool:
    """Whether a function may do more than compute its result, or raise an exception of its own."""
    form, globals = _form(found, function, context)
    if form is not None:
        return _acts(form, globals, context, frozenset())
    kind = found.kind(function)
    known = kind.value if isinstance(kind, Known) else None
    return function != n.Const(None) and (known is None or (isinstance(known, type) and known.__module__ != "builtins"))


def raises_nothing(found: Resolved, function: n.Expr, context: Any) -> bool:
    """Whether a function surely raises nothing that a program foresees, such as a division by zero."""
    form, globals = _form(found, function, context)
    if form is None:
        return isinstance(found.kind(function), Known) and isinstance(found.kind(function).value, np.ufunc)  # type: ignore[union-attr]
    return all(type(s) in (n.Assign, n.Return) and _is_calm(s.value, globals) for s in form.body)  # type: ignore[attr-defined]


def _is_calm(e: n.Expr, globals: Mapping[str, Any]) -> bool:
    if type(e) is n.Call:
        root = globals.get(e.func.value.id) if type(e.func) is n.Attr and type(e.func.value) is n.Global else None
        return root is np and isinstance(getattr(np, e.func.name, None), np.ufunc)  # type: ignore[union-attr]
    return type(e) in n.ATOMS or type(e) is n.Unary or (type(e) is n.Binary and e.op in ("+", "-", "*"))


def _form(found: Resolved, function: n.Expr, context: Any) -> tuple[n.Function | None, Mapping[str, Any]]:
    """The normal form of a function and its global variables, as far as it is known."""
    kind = found.kind(function)
    if isinstance(kind, Lifted):
        return kind.closure.function, getattr(found.owner, "__globals__", {})
    known = kind.function if isinstance(kind, Method) else kind.value if isinstance(kind, Known) else None
    if isinstance(known, types.FunctionType):
        return context.form_of(known), known.__globals__
    return None, {}


def _acts(form: n.Function, globals: Mapping[str, Any], context: Any, seen: frozenset[Any]) -> bool:
    own = own_objects(form.body)
    for s in walk.statements(form.body):
        if type(s) not in _HARMLESS or changes(s, own):
            return True
        call = getattr(s, "value", None)
        if type(call) is not n.Call or not may_change(call, own):
            continue
        callee = globals.get(call.func.id) if type(call.func) is n.Global else None
        if callee is None or isinstance(callee, type):
            return True
        if isinstance(callee, types.FunctionType) and callee not in seen:
            if _acts(context.form_of(callee), callee.__globals__, context, seen | {callee}):
                return True
    return False
