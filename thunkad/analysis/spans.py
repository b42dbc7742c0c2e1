"""Calls whose result goes on reading memory for as long as it is used: iterators, and views that repeat memory.

Such a result is *disturbed* if that memory is written between the call and the last use of the result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad.analysis.apart import lists_apart
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.rules.python.builtins import apply_to_each, keep_where

#: Iterators that read as they go on.
LIVE = (enumerate, zip, reversed, map, filter, iter, dict.items, dict.values, dict.keys)
_BUILT_IN = ("enumerate", "zip", "reversed", "map", "filter")
#: Read-only views that show one element at several places.
REPEATING = (np.broadcast_to, np.broadcast_arrays, np.lib.stride_tricks.sliding_window_view)


def find_spans(resolved: Resolved, aliases: Any, without: Callable[[n.Stmt], Any]) -> None:
    """Tell ``aliases`` of disturbed iterators, and of repeating views whose cotangent need not follow memory.

    ``without``: the alias classes that there are without a statement.
    """
    if not aliases.mutated:
        return
    layout: _Layout | None = None
    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        live, repeating = goes_on_reading(site), is_one_of(site, REPEATING)
        if type(s) is not n.Assign or not (live or repeating):
            continue
        layout = _Layout(resolved.function.body) if layout is None else layout
        span = _Span(resolved, aliases, layout, s, site, without)
        if live and span.is_disturbed():
            aliases.disturbed.add(id(s))
        elif repeating and not live and not span.derived and not span.is_disturbed():
            aliases.functional.add(s.target)


class _Layout:
    """The statements of a function in the order of the text, with what they are in."""

    def __init__(self, body: list[n.Stmt]) -> None:
        self.order: list[n.Stmt] = []
        self.index: dict[int, int] = {}
        self.end: dict[int, int] = {}  # of a statement with all that is in it
        self.within: dict[int, tuple[tuple[n.Stmt, int], ...]] = {}  # the statements around one, each with the block
        self.visit(body, ())

    def visit(self, block: list[n.Stmt], within: tuple[tuple[n.Stmt, int], ...]) -> None:
        for s in block:
            self.index[id(s)] = len(self.order)
            self.order.append(s)
            self.within[id(s)] = within
            for k, inner in enumerate(walk.blocks(s)):
                self.visit(inner, (*within, (s, k)))
            self.end[id(s)] = len(self.order) - 1

    def loops(self, s: n.Stmt) -> list[n.Stmt]:
        """The loops around a statement, outermost first, and itself if it is one."""
        return [x for x, _ in (*self.within[id(s)], (s, 0)) if type(x) in (n.For, n.While)]

    def exclude(self, a: n.Stmt, b: n.Stmt) -> bool:
        """Whether two statements are in the two arms of a branch."""
        arms = {id(x): k for x, k in self.within[id(a)] if type(x) is n.If}
        return any(arms.get(id(x), k) != k for x, k in self.within[id(b)])


def may_write(resolved: Resolved, aliases: Any, statements: Iterable[n.Stmt], given: set[str]) -> bool:
    """Whether ``statements`` may write what the names ``given`` lead to."""
    others = lists_apart(resolved) - given
    classes = set(map(aliases.find, given))
    return any(
        w not in others and aliases.find(w) in classes for x in statements for w in aliases.written_by.get(id(x), ())
    )


def counts(site: Site) -> bool:
    """Whether a call goes through what it is given side by side, by number."""
    if site.callee not in (enumerate, zip, reversed) or any(type(a) is n.Star for a in site.args):
        return False
    return not site.kwargs or site.callee is enumerate


def is_place(index: n.Expr) -> bool:
    """Whether ``index`` is a place in an item of such a call, counted from its start."""
    return type(index) is n.Const and type(index.value) is int and index.value >= 0


def is_one_of(site: Site | None, functions: tuple[Any, ...]) -> bool:
    return site is not None and site.how == "rule" and any(site.callee is f for f in functions)


def starred_iterator(site: Site | None) -> str | None:
    """The name of the built-in function that makes an iterator, if it is called with stars."""
    if site is None or site.how != "dynamic" or type(site.callee) is not n.Global:
        return None
    name = site.callee.id
    return name if name in _BUILT_IN and any(type(a) is n.Star for a in site.args) else None


def goes_on_reading(site: Site | None) -> bool:
    """Whether a call makes an iterator that reads as it goes on, and that may be a list."""
    if starred_iterator(site) is not None:
        return True
    if site is None or site.how != "inside":
        return is_one_of(site, LIVE)
    return site.callee in (apply_to_each, keep_where) or inspect.isgeneratorfunction(site.callee)


class _Span:
    """From a call to the last use of its result."""

    def __init__(
        self, resolved: Resolved, aliases: Any, layout: _Layout, s: n.Assign, site: Any,
        without: Callable[[n.Stmt], Any],
    ) -> None:  # fmt: skip
        self.resolved, self.aliases, self.layout, self.call, self.without = resolved, aliases, layout, s, without
        self.given = {i for a in (*site.args, *(e for _, e in site.bound)) for i in walk.names(a)}
        self.classes = set(map(aliases.find, self.given))
        iterator = goes_on_reading(site)
        names, reads = {s.target}, []
        self.derived = False
        while True:
            before = len(names)
            reads = [x for x in layout.order if not names.isdisjoint(walk.reads(x))]
            for x in reads:
                same = type(x) is n.Assign and type(x.value) is n.Name
                if same or (goes_on_reading(resolved.sites.get(id(x))) if iterator else self.shares(x)):
                    names.update(walk.writes(x))
                    self.derived = True
            if len(names) == before:
                break
        start = layout.index[id(s)]
        around = layout.loops(s)
        ends = [start]
        for x in reads:
            if layout.index[id(x)] <= start:  # in the next iteration, if at all
                again = [loop for loop in around if loop in layout.loops(x)]
                start = min([start, *(layout.index[id(loop)] for loop in again)])
                ends += [layout.end[id(loop)] for loop in again]
                continue
            own = [loop for loop in layout.loops(x) if loop not in around]
            ends.append(layout.end[id(own[0])] if own else layout.index[id(x)])
        self.first, self.last, self.names = start + 1, max(ends), names

    def shares(self, x: n.Stmt) -> bool:
        return any(self.aliases.find(w) in self.classes for w in walk.writes(x))

    def is_disturbed(self) -> bool:
        between = (
            x
            for x in self.layout.order[self.first : self.last + 1]
            if x is not self.call and not self.layout.exclude(self.call, x) and not self.takes_in(x)
        )
        return may_write(self.resolved, self.aliases, between, self.given)

    def takes_in(self, x: Any) -> bool:
        """Whether ``x`` fills a list or dict from the iterator, which reads others: ``d.update(zip(keys, values))``."""
        e = getattr(x, "value", None)
        if type(e) is n.Inplace:
            owner, items = e.left, e.right
        elif type(e) is n.Call and type(e.func) is n.Attr and e.func.name in ("update", "extend") and e.args:
            owner, items = e.func.value, e.args[0]
        else:
            return False
        if type(items) is not n.Name or items.id not in self.names or type(owner) is not n.Name:
            return False
        before = self.without(x)
        return before.find(owner.id) not in set(map(before.find, self.given))
