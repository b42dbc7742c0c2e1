"""A loop over iterators in a ``try`` that is cut: what drawing an item raises is caught where the item is drawn.

::

    for a, b in zip(xs, ys):            it = iter(xs)
        body                            it_1 = iter(ys)
                                        while True:
                                            item = drawn(it)
                                            if item is EXHAUSTED: break
                                            item_1 = drawn(it_1)
                                            if item_1 is EXHAUSTED: break
                                            a, b = item, item_1
                                            body

Each line that may raise is a piece of its own; so all that has been drawn before it stays drawn.
"""

from __future__ import annotations

from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.runtime.iterators import EXHAUSTED, drawn
from thunkad.runtime.lazy import refuse_lengths

ITER, DRAWN, NOTHING_LEFT = n.Ref("iter", iter), n.Ref("drawn", drawn), n.Ref("EXHAUSTED", EXHAUSTED)
FALSE = n.Const(False)
REFUSE_LENGTHS = n.Ref("refuse_lengths", refuse_lengths)


class Drawn:
    """The loop ``s``, its body cut by ``cut``; ``protected`` puts statements into a ``try`` of their own."""

    def __init__(
        self,
        s: n.For,
        names: Names,
        cut: Callable[[list[n.Stmt]], list[n.Stmt]],
        protected: Callable[[list[n.Stmt]], list[n.Stmt]],
    ) -> None:
        self.s, self.names, self.cut, self.protected = s, names, cut, protected

    def loop(self) -> list[n.Stmt]:
        s, e = self.s, self.s.iter
        name = e.func.id if type(e) is n.Call and type(e.func) is n.Global else ""
        if type(e) is n.Call and name == "enumerate" and len(e.args) + len(e.kwargs) in (1, 2):
            return self.counted(e)
        if type(e) is n.Call and name == "zip" and not any(type(a) is n.Star for a in e.args):
            return self.zipped(e)
        over, item = n.Name(self.names.new("items")), n.Name(self.names.new("item"))
        made = self.protected([n.Assign(over.id, e, line=s.line)])
        return [*made, *self.over((over,), (item,), [n.Assign(s.target, item, line=s.line)])]

    def counted(self, e: n.Call) -> list[n.Stmt]:
        """``enumerate(xs, start)``"""
        s, line = self.s, self.s.line
        count, item = n.Name(self.names.new("k")), n.Name(self.names.new("item"))
        start: n.Expr = (*e.args[1:], *(v for _, v in e.kwargs), n.Const(0))[0]
        given: list[n.Stmt] = [
            n.Assign(s.target, n.TupleExpr((count, item)), line=line),
            n.Assign(count.id, n.Binary("+", count, n.Const(1)), line=line),
        ]
        return [n.Assign(count.id, start, line=line), *self.over(e.args[:1], (item,), given)]

    def zipped(self, e: n.Call) -> list[n.Stmt]:
        """``zip(xs, ys, strict=strict)``"""
        s = self.s
        items = tuple(n.Name(self.names.new("item")) for _ in e.args)
        strict: n.Expr = (*(v for _, v in e.kwargs), FALSE)[0]
        return self.over(e.args, items, [n.Assign(s.target, n.TupleExpr(items), line=s.line)], strict)

    def over(
        self, overs: tuple[n.Expr, ...], items: tuple[n.Name, ...], given: list[n.Stmt], strict: n.Expr = FALSE
    ) -> list[n.Stmt]:
        """A loop that draws ``items`` of ``overs`` by turns, and binds its target by ``given``."""
        s, line = self.s, self.s.line
        its = tuple(n.Name(self.names.new("it")) for _ in overs)
        out: list[n.Stmt] = []
        for it, over in zip(its, overs):
            out += self.protected([n.Assign(it.id, n.Call(ITER, (over,)), line=line)])
        turn: list[n.Stmt] = [*given, *self.cut(s.body)] if items else [n.Break(line=line)]
        for k in reversed(range(len(items))):
            left: list[n.Stmt] = [n.Break(line=line)]
            if strict != FALSE:
                left.insert(0, n.If(strict, self.lengths(its, k), [], line=line))
            turn = [*self.drawing(its[k], items[k], left, turn)]
        return [*out, n.While([], n.Const(True), turn, s.stop, line=line)]

    def drawing(self, it: n.Name, item: n.Name, left: list[n.Stmt], orelse: list[n.Stmt]) -> list[n.Stmt]:
        """Draw an item; ``left`` if there is none."""
        line, over = self.s.line, n.Name(self.names.temporary())
        drawing = self.protected([n.Assign(item.id, n.Call(DRAWN, (it,)), line=line)])
        tested = n.Assign(over.id, n.Compare("is", item, NOTHING_LEFT), line=line)
        return [*drawing, tested, n.If(over, left, orelse, line=line)]

    def lengths(self, its: tuple[n.Name, ...], k: int) -> list[n.Stmt]:
        """What ``zip(strict=True)`` does when the iterator of number ``k`` is the first that has ended."""
        if k > 0:
            return self.refused(k, True)
        out: list[n.Stmt] = []
        for j in reversed(range(1, len(its))):
            out = self.drawing(its[j], n.Name(self.names.new("item")), out, self.refused(j, False))
        return out

    def refused(self, k: int, shorter: bool) -> list[n.Stmt]:
        call = n.Call(REFUSE_LENGTHS, (n.Const(k), n.Const(shorter)))
        return self.protected([n.Effect(call, line=self.s.line)])
