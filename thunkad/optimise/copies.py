"""Copies of names removed: ``x_bar = t_bar`` makes later reads of ``x_bar`` reads of ``t_bar`` where that is the same.

Generated names only, and only where neither name is bound again while the copy lives; everything else stays as it is.
"""

from __future__ import annotations

from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk


def propagate(block: list[n.Stmt]) -> list[n.Stmt]:
    """``block`` with reads of plain copies replaced by reads of their source; the copies themselves are left to dead code."""
    bound = Counter(w for s in walk.statements(block) for w in _bindings(s))
    return _Copies(bound).block(block, {})


def _bindings(s: n.Stmt) -> tuple[str, ...]:
    if type(s) is n.Update:
        root = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value  # type: ignore[union-attr]
        return (root.id,) if type(root) is n.Name else ()
    if type(s) is n.Append:
        return (s.target,)
    return walk.writes(s)


class _Copies:
    def __init__(self, bound: Counter[str]) -> None:
        self.bound = bound

    def block(self, block: list[n.Stmt], known: dict[str, n.Expr]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            out.append(self.statement(s, known))
        return out

    def statement(self, s: n.Stmt, known: dict[str, n.Expr]) -> n.Stmt:
        t = type(s)
        if t is n.If:
            test = walk.substitute(s.test, known)
            return n.If(test, self.block(s.body, dict(known)), self.block(s.orelse, dict(known)), line=s.line, site=s.site)
        if t is n.For:
            iterable = walk.substitute(s.iter, known)
            return n.For(s.target, iterable, self.block(s.body, dict(known)), s.stop, s.count, line=s.line, site=s.site)
        if t is n.While:
            test_body = self.block(s.test_body, dict(known))
            return n.While(test_body, s.test, self.block(s.body, dict(known)), s.stop, line=s.line, site=s.site)
        if t is n.Define or t is n.Assert:
            return s
        new = walk.map_stmt(s, lambda e: walk.substitute(e, known)) if known and t is not n.Update else s
        if t is n.Update and known:
            new = n.Update(self.target(s.target, known), s.op, walk.substitute(s.value, known), line=s.line, site=s.site)
        if t is n.Assign and type(new.value) in (n.Name, n.Const) and self.is_single(s.target):
            if type(new.value) is n.Const or self.is_single(new.value.id):
                known[s.target] = new.value
        return new

    def target(self, e: n.Expr, known: dict[str, n.Expr]) -> n.Expr:
        if type(e) is n.Index:
            return n.Index(self.target(e.value, known), walk.substitute(e.index, known))
        return e

    def is_single(self, name: str) -> bool:
        """Bound once (or never: a parameter), so that it is the same wherever it is read afterwards."""
        return self.bound[name] <= 1 and (name.endswith("_bar") or self.bound[name] == 0 or "_bar_" in name or name[0] == "t")
