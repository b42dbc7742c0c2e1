"""Copies of names removed: ``x_bar = t_bar`` makes later reads of ``x_bar`` reads of ``t_bar`` where that is the same.

Only generated names are replaced, and only where neither name is bound again; the copies themselves are left to dead code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.optimise.dead import free_reads

Fold = Callable[[n.Expr], n.Expr]
_GENERATED = re.compile(r"t\d+(_\d+)?$|.*_bar(_\d+)*$|.*_bar_")
_FLAGS = re.compile(r"(stop|returned)(_\d+)*$")


def propagate(block: list[n.Stmt], fold: Fold = lambda e: e) -> list[n.Stmt]:
    """``block`` with reads of plain copies replaced by reads of their source, and ``fold`` on every expression."""
    bound = Counter(w for s in walk.statements(block) for w in _bindings(s))
    return _Copies(bound, free_reads(block), fold).block(block, {})


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
    def __init__(self, bound: Counter[str], outside: set[str], fold: Fold) -> None:
        self.bound, self.outside, self.fold = bound, outside, fold

    def block(self, block: list[n.Stmt], known: dict[str, n.Expr]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            out.append(self.statement(s, known))
        return out

    def expression(self, e: n.Expr, known: dict[str, n.Expr]) -> n.Expr:
        return self.fold(walk.substitute(e, known) if known else e)

    def statement(self, s: n.Stmt, known: dict[str, n.Expr]) -> n.Stmt:
        t = type(s)
        if t is n.If:
            test = self.expression(s.test, known)
            body, orelse = self.block(s.body, dict(known)), self.block(s.orelse, dict(known))
            flag = _flag(test, body, orelse)
            if flag is None:
                return n.If(test, body, orelse, line=s.line, site=s.site)
            s, t = flag, n.Assign
        if t is n.For:
            iterable = self.expression(s.iter, known)
            inner = dict(known)
            body = self.block(s.body, inner)
            return n.For(s.target, iterable, body, _stop(s.stop, inner), s.count, line=s.line, site=s.site)
        if t is n.While:
            inner = dict(known)
            test_body = self.block(s.test_body, dict(known))
            body = self.block(s.body, inner)
            return n.While(test_body, s.test, body, _stop(s.stop, inner), line=s.line, site=s.site)
        if t is n.Define or t is n.Assert:
            return s
        if t is n.Update:
            new: n.Stmt = n.Update(
                self.target(s.target, known), s.op, self.expression(s.value, known), line=s.line, site=s.site
            )
        elif t is n.Store:
            new = n.Store(self.target(s.target, known), self.expression(s.value, known), line=s.line, site=s.site)
        else:
            new = walk.map_stmt(s, lambda e: self.expression(e, known))
        if type(new) is n.Assign and self.is_replaced(new):
            known[new.target] = new.value
        return new

    def target(self, e: n.Expr, known: dict[str, n.Expr]) -> n.Expr:
        if type(e) is n.Index:
            return n.Index(self.target(e.value, known), self.expression(e.index, known))
        return e

    def is_replaced(self, s: n.Assign) -> bool:
        """Whether reads of the target become reads of the value."""
        if not self.is_single(s.target):
            return False
        if _FLAGS.match(s.target):
            return type(s.value) is n.Const or type(s.value) is n.Name and self.is_single(s.value.id)
        if not _GENERATED.match(s.target):
            return False
        return type(s.value) is n.Const or type(s.value) is n.Name and self.is_single(s.value.id)

    def is_single(self, name: str) -> bool:
        """Whether the name is the same wherever it is read: bound once, or never here."""
        return self.bound[name] == 0 or self.bound[name] == 1 and name not in self.outside


def _stop(stop: str | None, known: dict[str, n.Expr]) -> str | None:
    found = known.get(stop) if stop is not None else None
    return found.id if type(found) is n.Name else stop


def _flag(test: n.Expr, body: list[n.Stmt], orelse: list[n.Stmt]) -> n.Assign | None:
    """``flag = test`` in place of a branch that does nothing but set a flag of the compiler's, which is only tested."""
    if type(test) is not n.Name or len(body) != 1 or len(orelse) != 1:
        return None
    yes, no = body[0], orelse[0]
    if type(yes) is not n.Assign or type(no) is not n.Assign or yes.target != no.target or not _FLAGS.match(yes.target):
        return None
    if yes.value == n.Const(True) and no.value == n.Const(False):
        return n.Assign(yes.target, test, line=yes.line)
    return None
