"""Callees that may raise once they have changed something: what a ``try`` around their call has to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.guarded import Hazard, own_objects

#: The site of a ``try`` whose handler raises again, and looks at nothing but whether a generator is over.
WATCHING = "watching"


def stops_half_way(resolved: Resolved, inner: Callable[[Site], bool]) -> bool:
    """Whether a function may raise after it has changed something of its caller's; ``inner`` says so of its callees."""
    return _Written(resolved, inner).after(resolved.function.body, False) is None


class _Written(Hazard):
    def __init__(self, resolved: Resolved, inner: Callable[[Site], bool]) -> None:
        super().__init__(frozenset(), frozenset(), False)
        self.resolved, self.inner = resolved, inner
        self.aliases = aliases_of(resolved)
        function = resolved.function
        self.given = {self.aliases.find(x) for x in (*function.captures, *(p.name for p in function.params))}

    def statement(self, s: n.Stmt, dirty: bool) -> bool | None:
        if type(s) is n.Return:
            return dirty
        site = self.resolved.sites.get(id(s))
        if not walk.blocks(s) and site is not None and self.shows(s) and self.inner(site):
            return None
        return super().statement(s, dirty)

    def shows(self, s: n.Stmt) -> bool:
        return any(self.aliases.find(x) in self.given for x in self.aliases.written_by.get(id(s), ()))


def needs_care(resolved: Resolved) -> bool:
    """Whether a function has a ``try`` that is cut in the wrong places, since what it calls changes something."""
    return any(type(s) is n.Try and badly_cut(resolved, s) for s in walk.statements(resolved.function.body))


def badly_cut(resolved: Resolved, s: n.Try, concerned: Iterable[str] | None = None) -> bool:
    """Whether the handler may see part of what a callee has changed, or of what came before in the body.

    ``concerned``: names of what matters (None: everything).
    """
    if s.site == WATCHING:
        return False
    found = _Changed(resolved, s, resolved.kinds if concerned is None else concerned)
    return found.after(s.body, False) is None or found.called_late(s.body)


class _Changed(_Written):
    def __init__(self, resolved: Resolved, s: n.Try, concerned: Iterable[str]) -> None:
        super().__init__(resolved, lambda site: False)
        own = {self.aliases.find(x) for x in own_objects(s.body)}
        self.given = {self.aliases.find(x) for x in concerned} - own

    def calls(self, s: n.Stmt) -> bool:
        site = self.resolved.sites.get(id(s))
        if site is None or site.how not in ("inside", "lifted", "construct"):
            return False
        made = s.target if site.how == "construct" and type(s) is n.Assign else None
        written = [x for x in self.aliases.written_by.get(id(s), ()) if x != made]
        return any(self.aliases.find(x) in self.given for x in written)
