"""Whether a function may change in place what others have hold of: globals, arguments, what these hold."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator

from thunkad.analysis.aliases import aliases_of, has_memory
from thunkad.analysis.late_calls import is_opaque
from thunkad.analysis.randomness import is_unknown
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.writing import first_is_written, out_operands
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Known

#: The functions that a site calls, or hands on to be called, in resolved form; None for one that is not to be had.
Callees = Callable[[Site, Resolved], Iterator[Resolved | None]]


class OutsideChanges:
    """A look at one function and at all that it calls."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self.seen: set[int] = set()

    def made_by(self, resolved: Resolved, first: bool = True) -> bool:
        """Whether ``resolved`` makes some; what the parameters of a callee lead to is looked at where it is called."""
        if id(resolved) in self.seen:
            return False
        self.seen.add(id(resolved))
        function, aliases = resolved.function, aliases_of(resolved)
        statements = walk.statements(function.body)
        given = (*function.captures, *(p.name for p in function.params)) if first else ()
        names = {t for s in statements if self.is_from_outside(s, resolved) for t in walk.writes(s)}
        outside = {aliases.find(name) for name in (*given, *names)}
        for s in statements:
            if type(s) is n.SetGlobal or any(aliases.find(x) in outside for x in aliases.written_by.get(id(s), ())):
                return True
            site = resolved.sites.get(id(s))
            if self.by_statement(s, site, resolved) or (site is not None and self.by_site(site, resolved)):
                return True
        return False

    def is_from_outside(self, s: n.Stmt, resolved: Resolved) -> bool:
        """Whether ``s`` binds something that it finds outside, or that may hold such a thing."""
        if type(s) not in (n.Assign, n.Unpack, n.For, n.With):
            return False
        if not any(has_memory(resolved.kinds[t]) for t in walk.writes(s) if t in resolved.kinds):
            return False
        return any(_is_outside(e) for e in walk.parts(*walk.expressions(s)))

    def by_statement(self, s: n.Stmt, site: Site | None, resolved: Resolved) -> bool:
        t = type(s)
        if t in (n.Store, n.Update, n.Delete):
            return _leads_outside(s.target)  # type: ignore[attr-defined]
        if t not in (n.Assign, n.Effect, n.Unpack):
            return False
        e = s.value  # type: ignore[attr-defined]
        if type(e) is n.Inplace:
            return _leads_outside(e.left)
        if type(e) is not n.Call:
            return False
        written = [*out_operands(site, e), first_is_written(site, e)]
        return any(x is not None and _leads_outside(x) for x in written)

    def by_site(self, site: Site, resolved: Resolved) -> bool:
        if is_unknown(site, resolved) and not (site.only_reads or site.infix):
            return True
        if is_opaque(site) and any(map(_leads_outside, site.args)):
            return True
        if site.bound and resolved.mutated_params is not None and any(_leads_outside(a) for _, a in site.bound):
            written = resolved.mutated_params(site)
            if any(p in written and _leads_outside(a) for p, a in site.bound):
                return True
        return any(callee is None or self.made_by(callee, False) for callee in self.callees(site, resolved))


def handed_on(site: Site) -> Iterator[types.FunctionType]:
    """Functions of the user's among the operands."""
    for kind in site.kinds:
        if isinstance(kind, Known) and isinstance(kind.value, types.FunctionType):
            yield kind.value


def _is_outside(e: n.Expr) -> bool:
    return type(e) is n.Global or (type(e) is n.Ref and not isinstance(e.value, (types.FunctionType, type)))


def _leads_outside(e: n.Expr) -> bool:
    while type(e) in (n.Index, n.Attr):
        e = e.value  # type: ignore[attr-defined]
    return _is_outside(e)
