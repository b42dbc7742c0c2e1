"""Calls whose result goes on reading memory for as long as it is used: iterators, and views that repeat memory.

Such a result is *disturbed* if that memory is written between the call and the last use of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk

#: Iterators that read as they go on.
LIVE = (enumerate, zip, reversed, map, filter, iter, dict.items, dict.values, dict.keys)
#: Read-only views that show one element at several places.
REPEATING = (np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.sliding_window_view)


def find_spans(resolved: Resolved, aliases: Any) -> None:
    """Tell ``aliases`` of disturbed iterators, and of repeating views whose cotangent need not follow memory."""
    if not aliases.mutated:
        return

    def scan(block: list[n.Stmt]) -> None:
        for k, s in enumerate(block):
            site = resolved.sites.get(id(s))
            if type(s) is n.Assign and is_one_of(site, LIVE):
                if _Span(resolved, aliases, block, k, site).is_disturbed():
                    aliases.disturbed.add(id(s))
            elif type(s) is n.Assign and is_one_of(site, REPEATING):
                span = _Span(resolved, aliases, block, k, site)
                if not span.is_disturbed() and not span.derived:
                    aliases.functional.add(s.target)
            for inner in walk.blocks(s):
                scan(inner)

    scan(resolved.function.body)


def is_one_of(site: Site | None, functions: tuple[Any, ...]) -> bool:
    return site is not None and site.how == "rule" and any(site.callee is f for f in functions)


class _Span:
    """From a call to the last use of its result in the same block."""

    def __init__(self, resolved: Resolved, aliases: Any, block: list[n.Stmt], start: int, site: Any) -> None:
        self.aliases, self.block, self.start = aliases, block, start
        self.classes = {aliases.find(i) for a in site.args for i in walk.names(a)}
        iterator = is_one_of(site, LIVE)
        names, self.last, self.derived = set(walk.writes(block[start])), start, False
        for place in range(start + 1, len(block)):
            for x in walk.statements([block[place]]):
                if names.isdisjoint(walk.reads(x)):
                    continue
                self.last = place
                same = type(x) is n.Assign and type(x.value) is n.Name
                more = is_one_of(resolved.sites.get(id(x)), LIVE) if iterator else self.shares(x)
                if same or more:
                    names.update(walk.writes(x))
                    self.derived = True

    def shares(self, x: n.Stmt) -> bool:
        return any(self.aliases.find(w) in self.classes for w in walk.writes(x))

    def is_disturbed(self) -> bool:
        inside = self.block[self.start + 1 : self.last + 1]
        written = (w for x in walk.statements(inside) for w in self.aliases.written_by.get(id(x), ()))
        return any(self.aliases.find(w) in self.classes for w in written)
