"""Loops over objects of the user's classes, written out as what they do: ``__iter__`` is called, then ``__next__``.

::

    for x in obj:                       it = iter(obj)
        body                            item = drawn(it)
                                        while item is not EXHAUSTED:
                                            x = item
                                            body
                                            item = drawn(it)
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from typing import Any

from thunkad.analysis.special import own_method
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind
from thunkad.runtime.iterators import EXHAUSTED, drawn, listed

ITER, DRAWN, LISTED = n.Ref("iter", iter), n.Ref("drawn", drawn), n.Ref("listed", listed)
NOTHING_LEFT = n.Ref("EXHAUSTED", EXHAUSTED)
#: Functions that take all items of their first argument at once.
AT_ONCE = ("enumerate", "zip", "map", "filter", "reversed")
TAKE_ALL = ("list", "tuple", "sum", "min", "max", "sorted")


def by_protocol(function: n.Function, kind: Callable[[n.Stmt, n.Expr], Kind | None]) -> n.Function:
    """``function`` in normal form, with such loops written out; itself if there are none.

    ``kind`` gives the kind of an operand, or of what a loop runs over.
    """
    writer = _Writer(function, kind)
    body = writer.block(function.body)
    if not writer.found:
        return function
    return n.Function(
        function.name, function.params, body, function.captures, function.line, function.filename, function.checkpoint
    )


class _Writer:
    def __init__(self, function: n.Function, kind: Callable[[Any, n.Expr], Kind | None]) -> None:
        self.function, self.kind, self.names = function, kind, Names(walk.taken_names(function))
        self.found = False

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        return [x for s in block for x in self.statement(s)]

    def statement(self, s: Any) -> list[n.Stmt]:
        t = type(s)
        where = {"line": s.line, "site": s.site}
        if t is n.If:
            return [n.If(s.test, self.block(s.body), self.block(s.orelse), **where)]
        if t is n.While:
            return [n.While(self.block(s.test_body), s.test, self.block(s.body), s.stop, **where)]
        if t is n.With:
            return [n.With(s.item, s.target, self.block(s.body), **where)]
        if t is n.Try:
            parts = self.block(s.body), self.block(s.handler), self.block(s.orelse)
            return [n.Try(*parts, s.types, s.error, s.raised, s.shielded, **where)]
        if t is n.For:
            method = own_method(self.kind(s, s.iter), "__iter__")
            if method is not None and s.count is None:
                return self.loop(s, s.iter, method, None)
            if type(s.iter) is n.Call and type(s.iter.func) is n.Global and s.count is None:
                of_parts = [own_method(self.kind(s.iter, a), "__iter__") for a in s.iter.args]
                if s.iter.func.id == "enumerate" and of_parts and of_parts[0] is not None and not s.iter.kwargs:
                    return self.loop(s, s.iter.args[0], of_parts[0], (*s.iter.args[1:], n.Const(0))[0])
                if s.iter.func.id in AT_ONCE and any(m is not None for m in of_parts):
                    raise UnsupportedSyntaxError(
                        f"{s.iter.func.id} of an object with an __iter__ of its own is not differentiated",
                        Place(self.function.filename, s.line, linecache.getline(self.function.filename, s.line)),
                        "loop over the object, or make a list of it first: list(...)",
                    )
            return [n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, **where)]
        if t is n.Assign and type(s.value) is n.Call and type(s.value.func) is n.Global and s.value.args:
            first, *rest = s.value.args
            if s.value.func.id in TAKE_ALL and own_method(self.kind(s, first), "__iter__") is not None:
                self.found = True
                made, items = self.listed(s, first)
                return [made, n.Assign(s.target, n.Call(s.value.func, (items, *rest), s.value.kwargs), line=s.line)]
        if t is n.Unpack and type(s.value) is n.Name and own_method(self.kind(s, s.value), "__iter__") is not None:
            self.found = True
            made, items = self.listed(s, s.value)
            return [made, n.Unpack(s.targets, items, line=s.line)]
        return [s]

    def listed(self, s: n.Stmt, e: n.Expr) -> tuple[n.Stmt, n.Expr]:
        """A list of all items of ``e``, which may be starred, and what stands for ``e`` then."""
        items = self.names.new("items")
        made = n.Assign(items, n.Call(LISTED, (e.value if type(e) is n.Star else e,)), line=s.line)
        return made, n.Star(n.Name(items)) if type(e) is n.Star else n.Name(items)

    def loop(self, s: n.For, over: n.Expr, method: Any, start: n.Expr | None) -> list[n.Stmt]:
        """``start``: where ``enumerate`` begins to count, None if the loop is over the object itself."""
        self.found = True
        out: list[n.Stmt] = []
        if type(over) not in n.ATOMS:
            made, over = over, n.Name(self.names.temporary())
            out.append(n.Assign(over.id, made, line=s.line))
        it = n.Name(self.names.new("it"))
        out.append(n.Assign(it.id, n.Call(ITER, (over,)), line=s.line))
        if inspect.isgeneratorfunction(method):
            values = it if start is None else n.Call(n.Global("enumerate"), (it, start))
            return [*out, n.For(s.target, values, self.block(s.body), s.stop, None, line=s.line, site=s.site)]
        first, item, new, more = (n.Name(self.names.new(x)) for x in ("first_item", "item", "next_item", "more"))
        draw: n.Stmt = n.Assign(new.id, n.Call(DRAWN, (it,)), line=s.line)
        if s.stop is not None:  # a loop that is left draws no more
            draw = n.If(n.Name(s.stop), [n.Assign(new.id, NOTHING_LEFT, line=s.line)], [draw], line=s.line)
        own = self.block(s.body)
        carried = [x for x in own if type(x) is n.Assign and x.site == "carried"]
        given: n.Expr = item
        if start is not None:
            count, after = n.Name(self.names.new("k")), n.Name(self.names.new("next_k"))
            given = n.TupleExpr((count, item))
            out.append(n.Assign(count.id, start, line=s.line))
            own.insert(0, n.Assign(after.id, n.Binary("+", count, n.Const(1)), line=s.line))
            carried.append(n.Assign(count.id, after, line=s.line, site="carried"))
        kept = len(own) - len([x for x in own if type(x) is n.Assign and x.site == "carried"])
        body: list[n.Stmt] = [
            n.Assign(s.target, given, line=s.line),
            *own[:kept],
            draw,
            *carried,
            n.Assign(item.id, new, line=s.line, site="carried"),
        ]
        test: list[n.Stmt] = [n.Assign(more.id, n.Compare("is not", item, NOTHING_LEFT), line=s.line)]
        out.append(n.Assign(first.id, n.Call(DRAWN, (it,)), line=s.line))
        out.append(n.Assign(item.id, first, line=s.line))
        return [*out, n.While(test, more, body, s.stop, line=s.line)]
