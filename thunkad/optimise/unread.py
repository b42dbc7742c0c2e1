"""Sums that nobody reads: buffers that are made, added into, and not looked at, in code with a name for each version.

x_bar = zeros(x)
x_bar[1:] += t_bar
x_bar_1 = index_add(x_bar, k, t_bar)        all of it, if x_bar_1 is not read
"""

from __future__ import annotations

from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.runtime.accumulate import accumulate
from thunkad.runtime.arrays import zeros
from thunkad.runtime.cotangents import index_add


def without_unread(body: list[n.Stmt]) -> list[n.Stmt]:
    """``body`` without the statements that only add to such sums."""
    everything = list(walk.statements(body))
    bound = Counter(w for s in everything for w in walk.writes(s))
    reads = Counter(x for s in everything for e in walk.expressions(s) for x in walk.names(e))
    sums = {x: s for s in everything if (x := _made_by(s)) is not None and bound[x] == 1}
    while True:
        allowed = Counter[str]()
        for s in everything:
            root = _changed_by(s)
            if root is not None and (type(s) is not n.Assign or s.target in sums):
                allowed[root] += 1
        still = {x: s for x, s in sums.items() if reads[x] == allowed[x] and _starts_fresh(s, sums)}
        if len(still) == len(sums):
            break
        sums = still
    return _without(body, sums) if sums else body


def _helper(s: n.Stmt) -> object:
    e = s.value if type(s) is n.Assign else None
    return e.func.value if type(e) is n.Call and type(e.func) is n.Ref and not e.kwargs else None


def _made_by(s: n.Stmt) -> str | None:
    """The name of the sum that ``s`` begins or goes on with."""
    return s.target if type(s) is n.Assign and _helper(s) in (zeros, index_add, accumulate) else None


def _changed_by(s: n.Stmt) -> str | None:
    """The name of the sum that ``s`` adds to in place, if it reads it for nothing else."""
    if type(s) in (n.Update, n.Store) and type(s.target) is n.Index and type(s.target.value) is n.Name:
        root = s.target.value.id
        return root if root not in (*walk.names(s.target.index), *walk.names(s.value)) else None
    if type(s) is n.Assign and _helper(s) in (index_add, accumulate):
        first, *others = s.value.args  # type: ignore[union-attr]
        if type(first) is n.Name and all(first.id not in walk.names(e) for e in others):
            return first.id
    return None


def _starts_fresh(s: n.Stmt, sums: dict[str, n.Stmt]) -> bool:
    """Whether nobody else sees what ``s`` adds to: what ``accumulate`` is given is the adjoint's own."""
    return _helper(s) is not index_add or _changed_by(s) in sums


def _without(block: list[n.Stmt], sums: dict[str, n.Stmt]) -> list[n.Stmt]:
    out: list[n.Stmt] = []
    for s in block:
        changed = _changed_by(s)
        if changed is not None and (s.target in sums if type(s) is n.Assign else changed in sums):
            continue
        out.append(walk.map_blocks(s, lambda b: _without(b, sums)))
    return out
