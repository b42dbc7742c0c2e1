"""Values that one line or the next computes again, computed once: ``x[i] * np.sin(x[i])`` reads the element once.

Only where nothing is changed in place, and only arithmetic and parts of arrays: these are the same object or an equal
one, and nobody can tell.  The reverse sweep then adds up what the uses contribute before it goes on.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num
from thunkad.records import replace

_TEMPORARY = re.compile(r"t\d+$")
_REDUCE = (np.sum, np.mean, np.prod, np.max, np.min, np.dot, np.matmul)


def computed_once(resolved: Resolved) -> tuple[Resolved, dict[str, str]]:
    """``resolved`` with copies in place of temporaries that hold what another name of the block does, and which do."""
    work = _Common(resolved)
    body = work.block(resolved.function.body)
    if not work.same:
        return resolved, {}
    cache = {k: v for k, v in resolved.cache.items() if k == "outlives"}  # all else was found of the old statements
    made = replace(resolved, function=replace(resolved.function, body=body), sites=work.sites, cache=cache)
    return made, work.same


class _Common:
    def __init__(self, resolved: Resolved) -> None:
        self.resolved, self.sites = resolved, dict(resolved.sites)
        self.same: dict[str, str] = {}
        self.copies: dict[str, n.Expr] = {}  # the same, as expressions
        bound = Counter(w for s in walk.statements(resolved.function.body) for w in walk.writes(s))
        bound.update(p.name for p in resolved.function.params)
        self.rebound = {name for name, count in bound.items() if count > 1}
        # Arrays that the caller may get hold of: one of them must not turn out to be another.
        self.handed_on = {
            name
            for s in walk.statements(resolved.function.body)
            if not self.only_reads(s)
            for name in walk.reads(s)
            if not self.is_scalar(name)
        }
        self.kept = self.rebound | self.handed_on

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        known: dict[n.Expr, str] = {}
        out: list[n.Stmt] = []
        for s in block:
            once = type(s) is n.Assign and s.target not in self.kept and self.is_pure(s)
            if not once:
                first = None
            else:
                value = walk.substitute(s.value, self.copies)  # type: ignore[attr-defined]
                first = known.get(value)
            if first is not None and _TEMPORARY.match(s.target):  # type: ignore[attr-defined]
                self.same[s.target], self.copies[s.target] = first, n.Name(first)  # type: ignore[attr-defined]
                out.append(n.Assign(s.target, n.Name(first), line=s.line))  # type: ignore[attr-defined]
                continue
            out.append(self.inside(s))
            again = self.rebound.intersection(walk.assigned([s]) if walk.blocks(s) else walk.writes(s))
            if again:
                known = {e: x for e, x in known.items() if not again.intersection(walk.names(e))}
            if once:
                known[value] = s.target  # type: ignore[attr-defined]
        return out

    def inside(self, s: Any) -> n.Stmt:
        if type(s) is n.If:
            new: n.Stmt = replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
        elif type(s) in (n.For, n.While):
            new = replace(s, body=self.block(s.body))
        else:
            return s  # type: ignore[no-any-return]
        if id(s) in self.sites:
            self.sites[id(new)] = self.sites[id(s)]
        return new

    def is_pure(self, s: n.Assign) -> bool:
        """Whether ``s`` is arithmetic of the library's on numbers and arrays, or takes a part of an array."""
        e = s.value
        if type(e) is n.Index:
            parts = e.index.items if type(e.index) is n.TupleExpr else (e.index,)
            kind = self.resolved.kind(e.value)
            return isinstance(kind, Num) and kind.form == "array" and all(map(self.is_basic, parts))
        return self.is_arithmetic(s)

    def is_arithmetic(self, s: n.Assign) -> bool:
        site = self.sites.get(id(s))
        if not isinstance(site, Site) or site.how not in ("rule", "constant") or site.kwargs:
            return False
        if type(s.value) not in (n.Binary, n.Unary, n.Call) or (site.entry and site.entry.layer != "library"):
            return False
        elementwise = isinstance(site.callee, np.ufunc) and site.callee.nout == 1
        numbers = all(isinstance(k, Num) for k in (*site.kinds, site.result))
        return numbers and (elementwise or getattr(site.callee, "__module__", None) == "math")

    def only_reads(self, s: n.Stmt) -> bool:
        """Whether what ``s`` makes of what it reads is another object, with memory of its own."""
        site = self.sites.get(id(s))
        if type(s) is n.Assign and isinstance(site, Site) and site.callee in _REDUCE and not site.kwargs:
            return True
        return type(s) is n.Assign and self.is_arithmetic(s)

    def is_scalar(self, name: str) -> bool:
        kind = self.resolved.kind(n.Name(name))
        return isinstance(kind, Num) and kind.is_scalar

    def is_basic(self, index: n.Expr) -> bool:
        if type(index) is n.Slice:
            return all(p is None or self.is_basic(p) for p in (index.lower, index.upper, index.step))
        if type(index) is n.Const:
            return index.value is None or index.value is Ellipsis or type(index.value) is int
        kind = self.resolved.kind(index)
        return isinstance(kind, Num) and kind.is_scalar and kind.field == "int"
