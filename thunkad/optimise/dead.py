"""Dead code: statements whose results nothing reads are dropped, and values whose shape alone is read not computed.

One walk backwards keeps two sets, names whose *value* is read later and names of which only the *shape* is.  A
statement that computes a name of the second kind is replaced by a stand-in of the same shape where its operation has
one.  What may raise for reasons of shape leaves its check behind, so that slicing never turns an error into a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import record

SHAPE_ATTRIBUTES = ("shape", "ndim", "size")


def free_reads(block: list[n.Stmt]) -> set[str]:
    """Names that ``block`` reads before it binds them (on some path)."""
    return _Free().block(block, set())


class _Free:
    def block(self, block: list[n.Stmt], live: set[str]) -> set[str]:
        for s in reversed(block):
            live = self.statement(s, live)
        return live

    def statement(self, s: n.Stmt, live: set[str]) -> set[str]:
        t = type(s)
        if t is n.If:
            return self.block(s.body, set(live)) | self.block(s.orelse, set(live)) | walk.reads(s)
        if t is n.For:
            head = self.block(s.body, live | ({s.stop} if s.stop else set()))
            return (live | head - set(walk.writes(s))) | walk.reads(s)
        if t is n.While:
            head = self.block(s.body, live | ({s.stop} if s.stop else set()))
            return self.block(s.test_body, live | head | walk.reads(s)) | live
        if t is n.With:
            return (self.block(s.body, live) - set(walk.writes(s))) | walk.reads(s)
        if t is n.Try:
            caught = self.block(s.handler, set(live)) - set(walk.writes(s))
            return self.block(s.body, self.block(s.orelse, live)) | caught | walk.reads(s)
        if t is n.Define:
            inner = free_reads(s.function.body) - {p.name for p in s.function.params}
            return (live - {s.function.name}) | inner
        if t is n.Assert:
            return live | self.block(s.message_body, set(live)) | walk.reads(s)
        return (live - set(walk.writes(s))) | walk.reads(s)


@record
class Purity:
    """What the clean-up may assume of expressions; made by the caller, who knows the sites.

    ``pure(s)``: ``s`` may be dropped when its result is not read.  ``check(s)``: what must stay of it then (a shape
    check), or None.  ``stand_in(s)``: an expression with the shape of its result, or None.
    """

    pure: Callable[[n.Stmt], bool]
    check: Callable[[n.Stmt], n.Expr | None]
    stand_in: Callable[[n.Stmt], n.Expr | None]


class Live:
    """Names read later, by value or by shape only."""

    __slots__ = ("shapes", "values")

    def __init__(self, values: set[str], shapes: set[str]) -> None:
        self.values, self.shapes = values, shapes

    def copy(self) -> Live:
        return Live(set(self.values), set(self.shapes))

    def union(self, other: Live) -> Live:
        return Live(self.values | other.values, self.shapes | other.shapes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Live) and self.values == other.values and self.shapes == other.shapes

    def read(self, e: n.Expr) -> None:
        """Note that ``e`` is evaluated."""
        stack = [e]
        while stack:
            e = stack.pop()
            t = type(e)
            if t is n.Name:
                self.values.add(e.id)
            elif t is n.Attr and type(e.value) is n.Name and e.name in SHAPE_ATTRIBUTES:
                self.shapes.add(e.value.id)
            elif t is n.Call and (positions := shape_positions(e.func)):
                for k, a in enumerate(e.args):
                    if type(a) is n.Name and k in positions:
                        self.shapes.add(a.id)
                    else:
                        stack.append(a)
                stack.extend(v for _, v in e.kwargs)
            elif t is n.Lambda:
                self.values.update(i for i in walk.names(e))
            else:
                stack.extend(walk.children(e))

    def kill(self, names: Any) -> None:
        self.values.difference_update(names)
        self.shapes.difference_update(names)


def shape_positions(func: n.Expr) -> frozenset[int]:
    """Positions of the arguments of which a pinned helper reads only the shape."""
    if type(func) is n.Attr and type(func.value) is n.Ref and func.name in ("shape", "ndim", "size"):
        return frozenset((0,)) if getattr(func.value.value, "__name__", "") == "numpy" else frozenset()
    value = func.value if type(func) is n.Ref else None
    if value is None:
        return frozenset()
    marked = getattr(value, "shape_only", None)
    if not marked or not hasattr(value, "__code__"):
        return frozenset()
    parameters = value.__code__.co_varnames[: value.__code__.co_argcount]
    return frozenset(k for k, p in enumerate(parameters) if p in marked)


def eliminate(block: list[n.Stmt], results: set[str], purity: Purity) -> list[n.Stmt]:
    """``block`` without what neither ``results`` nor an effect needs."""
    return _Eliminate(purity).block(block, Live(set(results), set()))[0]


class _Eliminate:
    def __init__(self, purity: Purity) -> None:
        self.purity = purity

    def block(self, block: list[n.Stmt], live: Live) -> tuple[list[n.Stmt], Live]:
        out: list[n.Stmt] = []
        for s in reversed(block):
            live = self.statement(s, live, out)
        out.reverse()
        while out and type(out[-1]) is n.Comment:
            out.pop()
        return [s for k, s in enumerate(out) if type(s) is not n.Comment or type(out[k + 1]) is not n.Comment], live

    def statement(self, s: n.Stmt, live: Live, out: list[n.Stmt]) -> Live:
        t = type(s)
        if t is n.If:
            return self.branch(s, live, out)
        if t in (n.For, n.While):
            return self.loop(s, live, out)
        if t is n.Comment:
            out.append(s)
            return live
        if t is n.With:
            return self.with_(s, live, out)
        if t is n.Try:
            return self.try_(s, live, out)
        if t in (n.Assign, n.Unpack):
            return self.binding(s, live, out)
        if t is n.Append:
            if s.target not in live.values and s.target not in live.shapes:  # its length is its shape
                return live
            live.read(s.value)
            out.append(s)
            return live
        if t is n.Update and type(s.target) is not n.Effect:
            return self.update(s, live, out)
        if t is n.Define:
            return self.define(s, live, out)
        if t is n.Assert:
            live.values |= free_reads(s.message_body)
        for e in walk.expressions(s):
            live.read(e)
        live.kill(w for w in walk.writes(s) if t is not n.Update)
        out.append(s)
        return live

    def binding(self, s: Any, live: Live, out: list[n.Stmt]) -> Live:
        targets = walk.writes(s)
        needed = any(t in live.values for t in targets)
        if not needed and any(t in live.shapes for t in targets):
            stand_in = self.purity.stand_in(s) if type(s) is n.Assign else None
            if stand_in is not None:
                s = n.Assign(s.target, stand_in, line=s.line)
                live.kill(targets)
                self.read_shapes(stand_in, live)
                out.append(s)
                return live
            needed = True
        if not needed and self.purity.pure(s):
            check = self.purity.check(s)
            if check is None:
                return live
            live.kill(targets)
            self.read_shapes(check, live)
            out.append(n.Effect(check, line=s.line))
            return live
        live.kill(targets)
        live.read(s.value)
        out.append(s)
        return live

    def read_shapes(self, e: n.Expr, live: Live) -> None:
        if type(e) is n.Name:
            live.shapes.add(e.id)
        else:
            live.read(e)

    def update(self, s: n.Update, live: Live, out: list[n.Stmt]) -> Live:
        target = s.target
        root: n.Expr = target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        if type(root) is n.Name and s.site == "adjoint" and root.id not in live.values:
            return live
        for e in walk.expressions(s):
            live.read(e)
        out.append(s)
        return live

    def define(self, s: n.Define, live: Live, out: list[n.Stmt]) -> Live:
        if s.function.name not in live.values:
            return live
        live.kill((s.function.name,))
        inner = Live(set(), set())
        body, inner = self.block(s.function.body, inner)
        inner.kill(p.name for p in s.function.params)
        s.function.body = body
        out.append(s)
        return live.union(inner)

    def branch(self, s: n.If, live: Live, out: list[n.Stmt]) -> Live:
        body, first = self.block(s.body, live.copy())
        orelse, second = self.block(s.orelse, live.copy())
        if not body and not orelse:
            return live
        live = first.union(second)
        live.read(s.test)
        out.append(n.If(s.test, body, orelse, line=s.line, site=s.site))
        return live

    def with_(self, s: n.With, live: Live, out: list[n.Stmt]) -> Live:
        body, inner = self.block(s.body, live.copy())
        if not body and s.site == "mirrored":
            return live
        inner.kill(walk.writes(s))
        inner.read(s.item)
        out.append(n.With(s.item, s.target, body, line=s.line, site=s.site))
        return inner

    def try_(self, s: n.Try, live: Live, out: list[n.Stmt]) -> Live:
        """What may raise decides which way is gone, so all of the body stays."""
        raised = s.raised if s.raised in live.values else None
        handler, caught = self.block(s.handler, live.copy())
        caught.kill(walk.writes(s))
        orelse, completed = self.block(s.orelse, live.copy())
        completed.kill(walk.assigned(s.body))
        completed.values |= free_reads(s.body)
        live = completed.union(caught)
        for e in walk.expressions(s):
            live.read(e)
        live.kill([s.raised] if s.raised else [])
        out.append(n.Try(s.body, handler, orelse, s.types, s.error, raised, s.shielded, line=s.line, site=s.site))
        return live

    def loop(self, s: Any, live: Live, out: list[n.Stmt]) -> Live:
        after = live
        head = live.copy()
        while True:
            start = head.copy()
            if s.stop is not None:
                start.values.add(s.stop)
            body, top = self.block(s.body, start.union(after))
            test_body: list[n.Stmt] = []
            if type(s) is n.While:
                top.read(s.test)
                test_body, top = self.block(s.test_body, top.union(after))
            else:
                top.kill(walk.writes(s))
            new = head.union(top)
            if new == head:
                break
            head = new
        if self.is_idle(s, body, test_body):
            if s.site == "iter":
                after.read(s.iter)
                out.append(n.Effect(n.Call(n.Ref("iter", iter), (s.iter,)), line=s.line))
            return after
        result = head.union(after)
        if type(s) is n.For:
            result.read(s.iter)
            out.append(n.For(s.target, s.iter, body, s.stop, s.count, line=s.line, site=s.site))
        else:
            out.append(n.While(test_body, s.test, body, s.stop, line=s.line, site=s.site))
        return result

    def is_idle(self, s: Any, body: list[n.Stmt], test_body: list[n.Stmt]) -> bool:
        """Whether all that is left of a loop is what decides when it ends."""
        if type(s) is n.While:
            left = {id(x) for x in walk.statements(body)}
            return not left
        if s.stop is None:
            return not body
        needed = _slice_of(body, s.stop)
        return all(id(x) in needed for x in walk.statements(body)) and not any(
            type(x) not in (n.Assign, n.Unpack, n.If) or (type(x) is not n.If and not self.purity.pure(x))
            for x in walk.statements(body)
        )


def _slice_of(body: list[n.Stmt], name: str) -> set[int]:
    """Statements of ``body`` that only serve ``name``, carried names included."""
    wanted = {name}
    found: set[int] = set()
    changed = True
    while changed:
        changed = False
        for s in walk.statements(body):
            if id(s) not in found and (wanted.intersection(walk.writes(s)) or type(s) is n.If):
                found.add(id(s))
                wanted |= walk.reads(s)
                changed = True
    return found
