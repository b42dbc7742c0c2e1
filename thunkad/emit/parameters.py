"""Variables that the user's function closes over, as leading parameters: a text that runs by itself needs that."""

from __future__ import annotations

from typing import Any

from thunkad.emit.linker import Scan
from thunkad.ir import nodes as n
from thunkad.ir import walk


def closed_over_as_parameters(functions: list[n.Function], names: tuple[str, ...]) -> list[n.Function]:
    """``functions`` with those of ``names`` that each of them needs as leading parameters.

    A function needs the names that it reads as ``Global`` and those that the functions need that it refers to; it
    passes them on.  If one that only passes a variable on has a local of that name, all names stay globals.

    Parameters
    ----------
    functions : list of Function
        As for :func:`thunkad.emit.module.emit`; they are left as they are.
    names : tuple of str
        Closure variables of the user's function.
    """
    return _Rewrite(functions, names).result()


class _Rewrite:
    def __init__(self, functions: list[n.Function], names: tuple[str, ...]) -> None:
        self._asked = functions
        self._siblings = {f.name: f for f in reversed(functions)}
        self._scans = {id(f): Scan(f) for f in functions}
        self._all = list(functions)
        for f in self._all:  # grows while it is walked
            for callee in self._callees(f):
                if id(callee) not in self._scans:
                    self._scans[id(callee)] = Scan(callee)
                    self._all.append(callee)
        self._names = names
        self._needs = {key: {g for g in scan.globals if g in names} for key, scan in self._scans.items()}
        changed = True
        while changed:
            changed = False
            for f in self._all:
                for callee in self._callees(f):
                    more = self._needs[id(callee)] - self._needs[id(f)]
                    self._needs[id(f)] |= more
                    changed = changed or bool(more)
        self._new = {id(f): n.Function(f.name, f.params, [], line=f.line, filename=f.filename) for f in self._all}

    def _callees(self, f: n.Function) -> list[n.Function]:
        scan = self._scans[id(f)]
        return [*scan.functions.values(), *(self._siblings[i] for i in scan.unbound if i in self._siblings)]

    def result(self) -> list[n.Function]:
        if any(self._needs[id(f)] & set(self._scans[id(f)].locals) for f in self._all):
            return list(self._asked)
        for f in self._all:
            new = self._new[id(f)]
            new.captures = tuple(c for c in self._names if c in self._needs[id(f)]) + f.captures
            new.body = self._block(f.body, self._scans[id(f)])
        return [self._new[id(f)] for f in self._asked]

    def _block(self, body: list[n.Stmt], scan: Scan) -> list[n.Stmt]:
        def expr(e: n.Expr) -> n.Expr:
            return self._expr(e, scan)

        def block(body: list[n.Stmt]) -> list[n.Stmt]:
            return [statement(s) for s in body]

        def statement(s: Any) -> n.Stmt:
            # walk.map_stmt leaves nested definitions alone, also those inside other statements
            if type(s) is n.Define:
                f = s.function
                inner = n.Function(f.name, f.params, block(f.body), f.captures, f.line, f.filename)
                return n.Define(inner, line=s.line, site=s.site)
            new: Any = walk.map_stmt(s, expr)
            for field in ("body", "orelse", "test_body", "message_body"):
                if hasattr(s, field):
                    setattr(new, field, block(getattr(s, field)))
            return new

        return block(body)

    def _passed(self, f: n.Function) -> tuple[n.Expr, ...]:
        return tuple(n.Name(c) for c in self._names if c in self._needs[id(f)])

    def _target(self, e: n.Expr, scan: Scan) -> n.Function | None:
        if type(e) is n.Ref and isinstance(e.value, n.Function):
            return e.value
        if type(e) is n.Name and e.id in scan.unbound:
            return self._siblings.get(e.id)
        return None

    def _expr(self, e: n.Expr, scan: Scan) -> n.Expr:
        if isinstance(e, n.Global):
            return n.Name(e.id) if e.id in self._names else e
        target = self._target(e, scan)
        if target is not None:
            return n.Closure(self._new[id(target)], self._passed(target))
        if isinstance(e, n.Call):
            target = self._target(e.func, scan)
            rest = n.Call(e.func if target else self._expr(e.func, scan), *self._arguments(e, scan))
            if target is None:
                return rest
            new = self._new[id(target)]
            return n.Call(n.Ref(new.name, new), self._passed(target) + rest.args, rest.kwargs)
        e = walk.map_expr(e, lambda c: self._expr(c, scan))
        if isinstance(e, n.Closure):
            function = self._new[id(e.function)]
            return n.Closure(function, self._passed(e.function) + e.captures, e.defaults, e.kw_defaults)
        return e

    def _arguments(self, e: n.Call, scan: Scan) -> tuple[tuple[n.Expr, ...], tuple[tuple[str | None, n.Expr], ...]]:
        return tuple(self._expr(a, scan) for a in e.args), tuple((k, self._expr(v, scan)) for k, v in e.kwargs)
