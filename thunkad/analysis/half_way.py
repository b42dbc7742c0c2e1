"""Callees that may raise once they have changed something: what a ``try`` around their call has to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from thunkad.analysis.aliases import aliases_of, foreseen
from thunkad.analysis.followed import is_of_container
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.guarded import Hazard, own_objects, parts

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


def late_lines(resolved: Resolved) -> frozenset[int]:
    """The lines in which every step has to be cut off, since what they call may change something, and runs unseen."""
    tries = [s for s in walk.statements(resolved.function.body) if type(s) is n.Try and badly_cut(resolved, s)]
    found = ((_Changed(resolved, s, resolved.kinds), x) for s in tries for x in parts(s.body) if not walk.blocks(x))
    return frozenset(x.line for changed, x in found if changed.calls(x) or changed.is_found_late(x))


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
        self.concerned = {self.aliases.find(x) for x in concerned}
        self.given = self.concerned - own

    def called_late(self, block: list[n.Stmt], begun: bool = False) -> bool:
        made = walk.assigned(block)
        found = (s for s in parts(block) if self.is_found_late(s))
        return super().called_late(block, begun) or any(not made.isdisjoint(walk.reads(s)) for s in found)

    def is_found_late(self, s: n.Stmt) -> bool:
        """Whether ``s`` calls a function that is found when the code runs, and that may change something."""
        site = self.resolved.sites.get(id(s))
        if site is None or not foreseen(self.resolved, site) or is_of_container(site.callee):
            return False
        return any(self.aliases.find(x) in self.concerned for x in self.aliases.written_by.get(id(s), ()))

    def calls(self, s: n.Stmt) -> bool:
        site = self.resolved.sites.get(id(s))
        if site is None or site.how not in ("inside", "lifted", "construct"):
            return False
        made = s.target if site.how == "construct" and type(s) is n.Assign else None
        written = [x for x in self.aliases.written_by.get(id(s), ()) if x != made]
        return any(self.aliases.find(x) in self.given for x in written)
