"""Calls of library functions that the compiler itself writes."""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.binding import bind_call
from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.kinds import results
from thunkad.kinds.lattice import UNKNOWN, Kind
from thunkad.kinds.observe import kind_of


def library_site(
    context: Any,
    fn: Any,
    args: tuple[n.Expr, ...],
    kwargs: tuple[tuple[str | None, n.Expr], ...],
    kinds: tuple[Kind, ...],
) -> Site:
    """What a call of ``fn`` stands for: by the table, or a function in Python to look into."""
    positional = list(kinds[: len(args)])
    named = {k: v for (k, _), v in zip(kwargs, kinds[len(args) :]) if k is not None}
    decision = context.lookup(fn, positional, named)
    body = decision.entry.function if decision.how == "alternative" and decision.entry is not None else fn
    bound = bind_call(body, args, kwargs) if isinstance(body, types.FunctionType) else None
    if decision.how in ("alternative", "missing") and bound is not None:
        given = dict(zip((*args, *(v for _, v in kwargs)), kinds))
        own = tuple(given[e] if e in given else _constant(e) for _, e in bound)
        return Site("inside", body, None, args, kwargs, own, context.result_kind(body, own), bound=bound)
    return Site(decision.how, fn, decision.entry, args, kwargs, kinds, results.call(fn, positional, named))


def _constant(e: n.Expr) -> Kind:
    """The kind of a default."""
    return kind_of(e.value) if isinstance(e, (n.Const, n.Ref)) else UNKNOWN
