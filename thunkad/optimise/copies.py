"""Copies of names removed: ``x_bar = t_bar`` makes later reads of ``x_bar`` reads of ``t_bar`` where that is the same.

Only generated names are replaced, and only until either name is bound again; the copies themselves are left to dead
code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import replace

Fold = Callable[[n.Expr], n.Expr]
_GENERATED = re.compile(r"t\d+(_\d+)?$|.*_bar(_\d+)*$|.*_bar_")
_FLAGS = re.compile(r"(stop|returned)(_\d+)*$")


def propagate(block: list[n.Stmt], fold: Fold = lambda e: e) -> list[n.Stmt]:
    """``block`` with reads of plain copies replaced by reads of their source, and ``fold`` on every expression."""
    return _Copies(fold).block(block, {})


def _bindings(s: n.Stmt) -> tuple[str, ...]:
    if type(s) is n.Update:
        root: Any = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        return (root.id,) if type(root) is n.Name else ()
    if type(s) is n.Append:
        return (s.target,)
    return walk.writes(s)


Known = dict[str, n.Expr]


def _forget(known: Known, names: Iterable[str]) -> None:
    """Copies of these names, and under these names, hold no longer."""
    for name in names:
        known.pop(name, None)
        for target in [x for x, value in known.items() if type(value) is n.Name and value.id == name]:
            del known[target]


def _bound_in(block: list[n.Stmt]) -> list[str]:
    return [w for s in walk.statements(block) for w in _bindings(s)]


class _Copies:
    """One walk in program order; ``known`` holds the copies that are valid at the point reached."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold

    def block(self, block: list[n.Stmt], known: Known) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            self.statement(s, known, out)
        return out

    def expression(self, e: n.Expr, known: Known) -> n.Expr:
        return self.fold(walk.substitute(e, known) if known else e)

    def statement(self, s: n.Stmt, known: Known, out: list[n.Stmt]) -> None:
        t = type(s)
        if t is n.If:
            self.branch(s, known, out)
        elif t in (n.For, n.While):
            out.append(self.loop(s, known))
        elif t is n.With:
            item = self.expression(s.item, known)
            _forget(known, walk.writes(s))
            out.append(n.With(item, s.target, self.block(s.body, known), line=s.line, site=s.site))
        elif t is n.Try:
            _forget(known, _bound_in([s]))
            body, handler, orelse = (self.block(b, dict(known)) for b in (s.body, s.handler, s.orelse))
            out.append(n.Try(body, handler, orelse, s.types, s.error, s.raised, s.shielded, line=s.line, site=s.site))
        elif t is n.Define:
            out.append(s)
        elif t is n.Assert:
            out.append(s)
            _forget(known, _bound_in(s.message_body))
        else:
            new = self.simple(s, known)
            out.append(new)
            _forget(known, _bindings(new))
            if type(new) is n.Assign and new.value != n.Name(new.target) and is_replaced(new):
                known[new.target] = new.value

    def branch(self, s: n.If, known: Known, out: list[n.Stmt]) -> None:
        test = self.expression(s.test, known)
        body, orelse = self.block(s.body, dict(known)), self.block(s.orelse, dict(known))
        _forget(known, _bound_in([s]))
        flags = _flags(test, body, orelse)
        if flags:
            body = [x for x in body if not _sets(x, flags)]
            orelse = [x for x in orelse if not _sets(x, flags)]
        if body or orelse:
            out.append(n.If(test, body, orelse, line=s.line, site=s.site))
        for flag in flags:
            out.append(n.Assign(flag, test, line=s.line))
            known[flag] = test

    def loop(self, s: Any, known: Known) -> n.Stmt:
        if type(s) is n.For:
            iterable = self.expression(s.iter, known)
        _forget(known, _bound_in([s]))
        inner = dict(known)
        if type(s) is n.For:
            body = self.block(s.body, inner)
            return n.For(s.target, iterable, body, _stop(s.stop, inner), s.count, line=s.line, site=s.site)
        test_body = self.block(s.test_body, inner)
        test = walk.substitute(s.test, inner)
        body = self.block(s.body, inner)
        return n.While(test_body, test, body, _stop(s.stop, inner), line=s.line, site=s.site)

    def simple(self, s: n.Stmt, known: Known) -> n.Stmt:
        if type(s) is n.Update:
            target = self.target(s.target, known)
            return n.Update(target, s.op, self.expression(s.value, known), line=s.line, site=s.site)
        if type(s) is n.Store:
            target, value = self.target(s.target, known), self.expression(s.value, known)
            return n.Store(target, value, s.past, line=s.line, site=s.site)
        if hasattr(s.site, "how"):  # the user's own statement: ``x * 1.0`` is new memory there, and stays
            new = walk.map_stmt(s, lambda e: walk.substitute(e, known))
            new.site = _with_operands(s.site, known)
            return new
        return walk.map_stmt(s, lambda e: self.expression(e, known))

    def target(self, e: n.Expr, known: Known) -> n.Expr:
        if type(e) is n.Index:
            return n.Index(self.target(e.value, known), self.expression(e.index, known))
        return e


def _with_operands(site: Any, known: Known) -> Any:
    """A site that names what its statement reads, of which a check of shapes may be made."""
    if known.keys().isdisjoint(i for a in (*site.args, *(v for _, v in site.kwargs)) for i in walk.names(a)):
        return site
    args = tuple(walk.substitute(a, known) for a in site.args)
    return replace(site, args=args, kwargs=tuple((k, walk.substitute(v, known)) for k, v in site.kwargs))


def is_replaced(s: n.Assign) -> bool:
    """Whether reads of the target become reads of the value: a copy under a name of the compiler's."""
    return type(s.value) in (n.Const, n.Name) and bool(_GENERATED.match(s.target) or _FLAGS.match(s.target))


def _stop(stop: str | None, known: dict[str, n.Expr]) -> str | None:
    found = known.get(stop) if stop is not None else None
    return found.id if type(found) is n.Name else stop


def _flags(test: n.Expr, body: list[n.Stmt], orelse: list[n.Stmt]) -> list[str]:
    """Flags of the compiler's, which are only tested, that a branch sets to what its test says."""
    if type(test) is not n.Name or test.id in _bound_in([*body, *orelse]):
        return []
    true = [s.target for s in body if type(s) is n.Assign and s.value == n.Const(True) and _FLAGS.match(s.target)]
    false = {s.target for s in orelse if type(s) is n.Assign and s.value == n.Const(False)}
    return [flag for flag in true if flag in false]


def _sets(s: n.Stmt, flags: list[str]) -> bool:
    return type(s) is n.Assign and s.target in flags
