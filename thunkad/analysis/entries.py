"""Containers of which only entries by constant keys are read: their unused entries need no derivative."""

from __future__ import annotations

from collections import Counter
from typing import Any

from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Tuple


def tracked_names(resolved: Resolved) -> frozenset[str]:
    """Names bound once whose every use reads one entry by a constant key, unpacks them all, or returns them."""
    bound = Counter(w for s in walk.statements(resolved.function.body) for w in walk.writes(s))
    whole: set[str] = set()
    by_entry: set[str] = set()
    for s in walk.statements(resolved.function.body):
        source = entry_read(resolved, s)
        if source is not None:
            by_entry.add(source[0])
        elif (type(s) is n.Unpack and type(s.value) is n.Name) or (type(s) is n.Return and type(s.value) is n.Name):
            by_entry.add(s.value.id)  # type: ignore[union-attr]
        else:
            whole |= walk.reads(s)
            whole.update(x for x in walk.writes(s) if type(s) in (n.Update, n.For))
    return frozenset(x for x in by_entry - whole if bound[x] <= 1)


def entry_read(resolved: Resolved, s: n.Stmt) -> tuple[str, Any] | None:
    """``(container, key)`` of a statement ``target = container[constant]``."""
    if type(s) is not n.Assign or type(s.value) is not n.Index:
        return None
    e = s.value
    if type(e.value) is not n.Name or type(e.index) is not n.Const or type(e.index.value) not in (int, str):
        return None
    key = e.index.value
    if isinstance(key, int) and key < 0:
        kind = resolved.kind(e.value)
        if not isinstance(kind, Tuple):
            return None
        key += len(kind.items)
    return e.value.id, key


def display_entries(e: n.Expr) -> dict[Any, n.Expr] | None:
    """The operands of a display by key; None for other expressions and where keys are not known."""
    if type(e) in (n.TupleExpr, n.ListExpr):
        if any(type(x) is n.Star for x in e.items):  # type: ignore[union-attr]
            return None
        return dict(enumerate(e.items))  # type: ignore[union-attr]
    if type(e) is n.DictExpr:
        if any(type(k) is not n.Const or type(k.value) not in (int, str) for k in e.keys):
            return None
        return {k.value: v for k, v in zip(e.keys, e.values)}  # type: ignore[union-attr]
    return None
