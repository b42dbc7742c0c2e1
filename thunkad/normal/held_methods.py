"""``put = items.append`` and ``put(x)`` further on as ``items.append(x)``: a method that a variable holds, called.

A pass over normal form, for methods that change their owner: what they do is known where they are called by name.
"""

from __future__ import annotations

from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.guarded import MUTATING


def called_by_name(function: n.Function) -> n.Function:
    """``function``, in normal form, with such calls replaced; the same object if it has none."""
    held = _held(function)
    if not held:
        return function

    def called(e: n.Expr) -> n.Expr:
        if type(e) is n.Call and type(e.func) is n.Name and e.func.id in held:
            return n.Call(held[e.func.id], e.args, e.kwargs)
        return e

    body = [walk.map_stmt(s, called) for s in walk.without(function.body, held)]
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


def _held(function: n.Function) -> dict[str, n.Attr]:
    """Variables bound once, to a method of what is bound once, before it in the same block; and only called."""
    bound = Counter(i for s in walk.statements(function.body) for i in walk.writes(s))
    held = dict(_candidates(function.body, {p.name for p in function.params} - bound.keys(), bound))
    if held:
        known: set[str] = set()
        for s in walk.statements(function.body):  # in program order
            for i in _read_but_for_calls(s, held):
                held.pop(i, None)
            for i in walk.reads(s) & held.keys() - known:
                del held[i]  # called before it is bound, in a loop
            known.update(walk.writes(s))
    return held


def _candidates(block: list[n.Stmt], given: set[str], bound: Counter[str]) -> list[tuple[str, n.Attr]]:
    out: list[tuple[str, n.Attr]] = []
    here = set(given)
    for s in block:
        if type(s) is n.Assign and type(s.value) is n.Attr and s.value.name in MUTATING and bound[s.target] == 1:
            if type(s.value.value) is n.Name and s.value.value.id in here:
                out.append((s.target, s.value))
        here.update(i for i in walk.writes(s) if bound[i] == 1 and type(s) is n.Assign)
        for inner in walk.blocks(s):
            out += _candidates(inner, set(), bound)
    return out


def _read_but_for_calls(s: n.Stmt, held: dict[str, n.Attr]) -> set[str]:
    """Which of ``held`` the statement reads otherwise than to call them."""
    reads = Counter(i for e in walk.expressions(s) for i in walk.names(e) if i in held)
    calls = Counter(
        e.func.id
        for e in walk.parts(*walk.expressions(s))
        if type(e) is n.Call and type(e.func) is n.Name and e.func.id in held
    )
    return {i for i in walk.reads(s) & held.keys() if reads[i] != calls[i]}
