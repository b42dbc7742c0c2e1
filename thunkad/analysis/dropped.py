"""Generators that have something to do when they are left for good: where the last reference to them goes.

CPython closes a generator that nobody refers to any more.  Here the forward code keeps it, so that is written out: a
generator that one variable of a function refers to is closed where the function ends, one that no variable refers to
after its last use::

    g = powers(x)                       g = powers(x)
    y = next(g)                         watch(g)
    return y                            y = next(g)
                                        g.close()
                                        return y

One that anything else may refer to has to be over by the end of the block that made it (``settled``), and one that
nobody watches does not begin.
"""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any

from thunkad.analysis.half_way import WATCHING
from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Instance, is_hashable
from thunkad.records import replace
from thunkad.runtime.iterators import drawn, drawn_or
from thunkad.runtime.suspended import Closing, delegated, handed, itself, returned, settled, watch

WATCH, SETTLED = n.Ref("watch", watch), n.Ref("settled", settled)
_TEMPORARY = re.compile(r"(t\d+|it(_\d+)?)\Z")
_VERSION = re.compile(r"(_\d+)+\Z")
#: What draws from a generator that it is given, and keeps no reference to it.
_DRAWING = (next, drawn, drawn_or, handed, returned)
#: What gives the generator itself.
_SAME = (iter, delegated, itself)


def with_drops(found: Resolved) -> n.Function:
    """The function of ``found`` with such statements; itself if there is nothing to add."""
    if not any(map(_cleans_up, found.kinds.values())):
        return found.function
    writer = _Writer(found)
    body = writer.block(found.function.body, True)
    return replace(found.function, body=body) if writer.changed else found.function


def _cleans_up(kind: Any) -> bool:
    return isinstance(kind, Instance) and issubclass(kind.cls, Closing)


class _Writer:
    def __init__(self, found: Resolved) -> None:
        self.found, self.changed, self.names = found, False, Names(walk.taken_names(found.function))
        statements = list(walk.statements(found.function.body))
        self.watched = {i for s in statements if _calls(s, WATCH) or _calls(s, SETTLED) for i in walk.reads(s)}
        self.bound = [w for s in statements for w in walk.writes(s)]

    def block(self, block: list[n.Stmt], last: bool) -> list[n.Stmt]:
        """``last``: nothing is done between the end of the block and that of the function."""
        end = len(block)
        while end and _hands_on(block[end - 1]):
            end -= 1
        out: list[n.Stmt] = []
        for k, s in enumerate(block):
            if type(s) is n.Try and s.body and self.is_new(s.body[-1]):  # cut behind what makes it
                follows = [s.body[-1], *s.orelse]
                s = replace(s, orelse=self.block(follows, False)[1:])
            inside = functools.partial(self.block, last=last and k == end - 1 and type(s) is n.If)
            s = walk.map_blocks(s, inside)
            out.append(s)
            if not self.is_new(s):
                continue
            fresh = self.made(s) or False
            self.changed = True
            self.watched.add(s.target)  # type: ignore[attr-defined]
            return [*out, *self.guarded(s, fresh, block, k, max(end, k + 1), last)]
        return out

    def guarded(self, made: Any, fresh: bool, block: list[n.Stmt], k: int, end: int, last: bool) -> list[n.Stmt]:
        """What follows the statement that makes a generator."""
        g, line = n.Name(made.target), made.line
        until = self.closed_at(g.id, block, k, end, last) if fresh else None
        is_over: n.Stmt = n.Effect(n.Call(SETTLED, (g,)), line=line)
        leave: n.Stmt = is_over if until is None else n.Effect(n.Call(n.Attr(g, "close"), ()), line=line)
        until = end if until is None else until
        error = self.names.new("error")
        raised = n.Raise(n.Name(error), None, line=line)
        begun = [n.Effect(n.Call(WATCH, (g,)), line=line)] if fresh else []
        inside = self.block(block[k + 1 : until], False)
        guarded = [n.Try(inside, [is_over, raised], [], None, error, line=line, site=WATCHING)] if inside else []
        return [*begun, *guarded, leave, *self.block(block[until:], last)]

    def is_new(self, s: Any) -> bool:
        return self.made(s) is not None and s.target not in self.watched

    def made(self, s: Any) -> bool | None:
        """Whether ``s`` gives a generator that is made by it (False: perhaps by others); None if it gives none."""
        if type(s) is not n.Assign or type(s.value) is not n.Call or not _cleans_up(self.found.kind(n.Name(s.target))):
            return None
        site = self.found.sites.get(id(s))
        if site is None or self.callee(s.value) in _SAME or _method(s.value.func) == "__iter__":
            return None
        return site.how == "construct" or makes_generators(site.callee)

    def closed_at(self, name: str, block: list[n.Stmt], k: int, end: int, last: bool) -> int | None:
        """The place in ``block`` where the last reference goes; None if that is not known."""
        names, uses = {name}, set[int]()
        for j, s in enumerate(block[k + 1 :], k + 1):
            for x in walk.statements([s]):
                if not names.isdisjoint(walk.reads(x)):
                    uses.add(j)
                    if type(x) is n.Assign and self.is_same(x.value, names):
                        names.add(x.target)
                    elif not self.keeps_none(x, names):
                        return None
        everywhere = [x for x in walk.statements(self.found.function.body) if not names.isdisjoint(walk.reads(x))]
        if len(everywhere) > sum(not names.isdisjoint(walk.reads(x)) for x in walk.statements(block[k + 1 :])):
            return None
        if all(map(_TEMPORARY.match, names)):
            return max(uses, default=k) + 1
        roots = [_VERSION.sub("", x) for x in self.bound if x not in names]
        return end if last and not any(_VERSION.sub("", x) in roots for x in names) else None

    def is_same(self, e: n.Expr, names: set[str]) -> bool:
        if type(e) is n.Name:
            return True
        return type(e) is n.Call and self.callee(e) in _SAME and type(e.args[0]) is n.Name and e.args[0].id in names

    def keeps_none(self, s: n.Stmt, names: set[str]) -> bool:
        """Whether what ``s`` does with a generator leaves no reference to it."""
        if type(s) is n.For:
            return type(s.iter) is n.Name
        e = getattr(s, "value", None)
        if type(e) is n.Compare:
            return True
        if type(e) is not n.Call or type(s) not in (n.Assign, n.Effect):
            return False
        others = {i for a in (*e.args[1:], *(v for _, v in e.kwargs)) for i in walk.names(a)}
        if type(e.func) is n.Attr:
            own = type(e.func.value) is n.Name and e.func.name in ("send", "close", "resumed", "__next__", "__iter__")
            return own and names.isdisjoint({*others, *(i for a in e.args for i in walk.names(a))})
        return self.callee(e) in _DRAWING and names.isdisjoint(others)

    def callee(self, e: n.Call) -> Any:
        if type(e.func) is n.Global:
            return getattr(builtins, e.func.id, None)
        return e.func.value if type(e.func) is n.Ref and is_hashable(e.func.value) else None


def makes_generators(callee: Any) -> bool:
    """Whether a function is one that is made inside another one and stands for a generator function."""
    body = callee.function.body if type(callee) is n.Closure else ()
    made = [s.value.func for s in body if type(s) is n.Assign and type(s.value) is n.Call]
    return len(made) == 1 and type(made[0]) is n.Ref and isinstance(made[0].value, type)


def _calls(s: Any, function: n.Ref) -> bool:
    return type(s) is n.Effect and type(s.value) is n.Call and s.value.func == function


def _method(e: n.Expr) -> str | None:
    return e.name if type(e) is n.Attr else None


def _hands_on(s: n.Stmt) -> bool:
    """Whether ``s`` only gives a value to what follows the block."""
    return type(s) is n.Return or (type(s) is n.Assign and type(s.value) in (n.Name, n.Const))
