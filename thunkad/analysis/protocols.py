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

import builtins
import collections
import inspect
import linecache
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thunkad.analysis.constructors import makes_empty
from thunkad.analysis.drawn_again import (
    drawn_again,
    goes_on,
    is_function,
    lazily,
    made_lazily,
    spreads_iterators,
    taken_into_list,
)
from thunkad.analysis.hidden import TAKEN
from thunkad.analysis.item_keys import ends, key_of
from thunkad.analysis.plain_iterators import plain_iterator
from thunkad.analysis.sites import Context, Site
from thunkad.analysis.special import Access, attribute_access, own_method
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known
from thunkad.normal.drawing import DRAWN, ITER, NOTHING_LEFT
from thunkad.normal.guarded import CUT, DrawnInTry
from thunkad.normal.suspended_class import class_of
from thunkad.records import replace
from thunkad.runtime.attributes import check_in_one_step, has_items, is_iterated
from thunkad.runtime.exits import Exits
from thunkad.runtime.iterators import contained, everything, found_in, listed, unpacked
from thunkad.runtime.lazy import OF_BUILTINS
from thunkad.runtime.spans import GRIDS, JOINERS, spanned
from thunkad.runtime.suspended import Managed, Suspended
from thunkad.runtime.unpacking import split_starred

_WITH_STARS = (n.Call, n.TupleExpr, n.ListExpr, n.SetExpr)
UNPACKED = n.Ref("unpacked", unpacked)
FOUND_IN, CONTAINED = n.Ref("found_in", found_in), n.Ref("contained", contained)
EVERYTHING, SPLIT = n.Ref("everything", everything), n.Ref("split_starred", split_starred)
IN_ONE_STEP = n.Ref("check_in_one_step", check_in_one_step)
GET, SET = n.Ref("getattr", getattr), n.Ref("setattr", setattr)
GETITEM, SETITEM = n.Ref("getitem", operator.getitem), n.Ref("setitem", operator.setitem)
DELITEM = n.Ref("delitem", operator.delitem)
LISTED = n.Ref("listed", listed)
#: Functions that take all items of their first argument at once.
TAKE_ALL = ("list", "tuple", "sum", "min", "max", "sorted", "any", "all", "dict")
#: Methods of containers that do.
TAKING = ("extend", "extendleft", "update")


KindOf = Callable[[Any, n.Expr], Kind | None]


def by_protocol(
    function: n.Function, kind: KindOf, sites: Mapping[int, Site], suspends: bool, context: Context
) -> n.Function:
    """``function`` in normal form, with such loops written out; itself if there are none.

    ``kind`` gives the kind of an operand, or of what a loop runs over; ``suspends``: what nothing is known of may be a
    generator.
    """
    writer = _Writer(function, kind, sites, suspends, context)
    body = writer.block(function.body)
    if not writer.found:
        return function
    return replace(function, body=body)


class _Writer:
    def __init__(
        self, function: n.Function, kind: KindOf, sites: Mapping[int, Site], suspends: bool, context: Context
    ) -> None:
        self.sites, self.suspends = sites, suspends
        self.foreign: set[str] = set()  # what functions return that can't be looked into
        self.function, self.kind, self.names = function, kind, Names(walk.taken_names(function))
        self.context, self.computed, self.sets = context, context.computed, context.writes_late
        self.found = self.trying = False
        self.again = drawn_again(function, sites, context)

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        return [x for s in block for x in self.statement(s)]

    def statement(self, s: Any) -> list[n.Stmt]:
        t = type(s)
        where = {"line": s.line, "site": s.site}
        if t in (n.If, n.While, n.With, n.Try):
            outer, self.trying = self.trying, self.trying or t is n.Try
            written = walk.map_blocks(s, self.block)
            self.trying = outer
            return [written]
        if t is n.For:
            if type(s.iter) is n.Name and s.iter.id in self.foreign:
                self.foreign.add(s.target)
            method = own_method(self.kind(s, s.iter), "__iter__")
            if method is not None and s.count is None:
                return self.loop(s, s.iter, method, None)
            if self.suspends and type(s.iter) is n.Name and s.count is None and self.may_iterate(s.iter):
                return self.loop(s, s.iter, None, None)
            through = s.iter.args if type(s.iter) is n.Call and type(s.iter.func) is n.Global else (s.iter,)
            starred = [a.value for a in through if type(a) is n.Star]
            unknown = [x for x in (*through, *starred) if self.may_list(x) or (x in starred and self.may_iterate(x))]
            if unknown and s.site is None:
                *lists, loop = self.listing(s, unknown, place="iter")
                return [*lists, walk.map_blocks(loop, self.block)]
            if type(s.iter) is n.Call and type(s.iter.func) is n.Global and s.count is None:
                of_parts = [own_method(self.kind(s.iter, a), "__iter__") for a in s.iter.args]
                name = s.iter.func.id if self.is_builtin(s.iter.func) else ""
                if name == "enumerate" and of_parts and of_parts[0] is not None and not s.iter.kwargs:
                    return self.loop(s, s.iter.args[0], of_parts[0], (*s.iter.args[1:], n.Const(0))[0])
                strictly = name == "zip" and s.stop is not None and s.iter.kwargs  # one that is left is not at its end
                drawn = not starred and name in OF_BUILTINS and any(map(self.may_iterate, s.iter.args))
                spread = name in OF_BUILTINS and spreads_iterators(s.iter, self.kind)
                if strictly or spread or drawn:
                    listed = not (strictly or spread or self.suspends) and s.site is None
                    if listed and not goes_on(self.function, s.iter, self.kind):
                        own = [x for x in s.iter.args if self.may_iterate(x) or self.may_list(x)]
                        *lists, loop = self.listing(s, own, place="iter")
                        return [*lists, walk.map_blocks(loop, self.block)]
                    made = n.Name(self.names.temporary())
                    making = made_lazily(n.Assign(made.id, s.iter, line=s.line), name, self.names)
                    self.found = True
                    return [*making, n.For(s.target, made, self.block(s.body), s.stop, **where)]
                if name == "reversed" and any(m is not None for m in of_parts):
                    raise UnsupportedSyntaxError(
                        f"{name} of an object with an __iter__ of its own is not differentiated",
                        Place(self.function.filename, s.line, linecache.getline(self.function.filename, s.line)),
                        "loop over the object, or make a list of it first: list(...)",
                    )
            return [n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, **where)]
        taken_in = taken_into_list(s)
        if type(taken_in) is n.Name and own_method(self.kind(None, taken_in), "__next__") is not None:
            return self.listing(s, [taken_in])
        if id(s) in self.again and self.is_builtin(s.value.func):
            self.found = True
            return made_lazily(s, self.again[id(s)], self.names)
        if t is n.Assign and type(s.value) is n.Call and (manager := self.managed(s)) is not None:
            self.found = True
            return [manager]
        if t is n.Assign and self.may_be_computed(s, s.value):
            self.found = True
            return [replace(s, value=n.Call(GET, (s.value.value, n.Const(s.value.name))))]
        if t is n.Update and type(s.target) is n.Attr and self.sets_by_method(s, s.target):
            return self.in_steps(s)
        stores = t in (n.Store, n.Update) and self.sets and not getattr(s, "past", False)
        if stores and self.may_be_computed(s, s.target):
            return self.setting(s)
        item = s.value if t is n.Assign else s.target if t in (n.Store, n.Update, n.Delete) else None
        if type(item) is n.Index and self.may_be_item(s, item):
            return self.by_class(s, item)
        if t is n.Assign and type(s.value) is n.Index:
            return self.with_key(s, s.value, lambda index: replace(s, value=replace(s.value, index=index)))
        if t in (n.Store, n.Update, n.Delete) and type(s.target) is n.Index:
            return self.with_key(s, s.target, lambda index: replace(s, target=replace(s.target, index=index)))
        if t is n.Assign and type(s.value) is n.Call and s.value.kwargs:
            if self.kind_of(s, s.value.func) == Known(dict) and not self.is_plain_dict(s.value):
                return self.with_entries(s, s.value)
        if t is n.Unpack and type(s.value) is n.Name and s.value.id in self.foreign:
            self.foreign.update(s.targets)
        if s.site == TAKEN:
            return [s]
        if t is n.Unpack and type(s.value) is n.Name and (self.may_iterate(s.value) or self.may_list(s.value)):
            if self.in_one_step(s.value):
                return self.checked(s, s.value)
            count = (n.Const(len(s.targets)),) if self.suspends else ()
            return self.listing(s, [s.value], *count)
        if self.suspends and t is n.Assign:
            site = self.sites.get(id(s))
            if site is not None and site.how in ("missing", "constant"):
                self.foreign.add(s.target)
        if t is n.Assign and type(s.value) is n.Compare and s.value.op in ("in", "not in"):
            return self.membership(s, s.value)
        if t in (n.Assign, n.Effect) and type(s.value) in _WITH_STARS:
            return self.taking(s, s.value)
        return [s]

    def managed(self, s: n.Assign) -> n.Assign | None:
        """A call of what ``contextlib.contextmanager`` made, or of ``ExitStack``, as one of what stands for it."""
        site = self.sites.get(id(s))
        if (
            site is None
            or site.how != "construct"
            or not issubclass(site.callee, (Managed, Exits))
            or makes_empty(s.value)
        ):
            return None
        made = n.Ref(site.callee.__name__, site.callee)
        return None if s.value.func == made else replace(s, value=n.Call(made, site.args, site.kwargs))  # type: ignore[union-attr]

    def is_builtin(self, e: n.Global) -> bool:
        kind = self.kind(None, e)
        return isinstance(kind, Known) and kind.value is getattr(builtins, e.id, None)

    def may_iterate(self, e: n.Expr) -> bool:
        """Whether ``e`` is an object with an ``__iter__`` of its own, as far as is known."""
        kind = self.kind(None, e)
        return own_method(kind, "__iter__") is not None or (
            self.suspends and kind is UNKNOWN and not (type(e) is n.Name and e.id in self.foreign)
        )

    def may_list(self, e: n.Expr) -> bool:
        """Whether ``e`` may be an object that makes an iterator of its own when it is iterated over, no generator."""
        if self.suspends or type(e) is not n.Name or e.id in self.foreign:
            return False
        return not self.computed.isdisjoint(("__iter__", "__getitem__")) and self.kind(None, e) is UNKNOWN

    def in_one_step(self, e: n.Expr) -> bool:
        """Whether something unknown is taken apart in a ``try``, which must not be left in the middle of that."""
        return self.trying and self.suspends and own_method(self.kind(None, e), "__iter__") is None

    def checked(self, s: Any, e: n.Expr) -> list[n.Stmt]:
        """``s``, which takes ``e`` apart, where that is not an iterator."""
        self.found = True
        return [n.Effect(n.Call(IN_ONE_STEP, (e,)), line=s.line), replace(s, site=TAKEN)]

    def membership(self, s: n.Assign, e: n.Compare) -> list[n.Stmt]:
        """``x in items``, which goes through the items of an iterator."""
        if not self.may_iterate(e.right) or own_method(self.kind(None, e.right), "__contains__") is not None:
            return [s]
        self.found = True
        known = own_method(self.kind(None, e.right), "__iter__") is not None
        call = n.Call(FOUND_IN if known else CONTAINED, (e.right, e.left))
        if e.op == "in":
            return [n.Assign(s.target, call, line=s.line, site=s.site)]
        found = n.Name(self.names.temporary())
        return [
            n.Assign(found.id, call, line=s.line),
            n.Assign(s.target, n.Unary("not", found), line=s.line, site=s.site),
        ]

    def taking(self, s: Any, e: n.Expr) -> list[n.Stmt]:
        """A call that goes through what it is given, or something with stars in it."""
        found: list[n.Expr] = [a.value for a in walk.children(e) if type(a) is n.Star]
        if type(e) is n.Call and e.args:
            name = e.func.id if type(e.func) is n.Global and self.is_builtin(e.func) else ""
            if name == "iter" and len(e.args) == 2 and is_function(self.kind(s, e.args[0])):
                self.found = True
                return [replace(s, value=lazily("iter", e))]
            drawing = self.suspends or (name in OF_BUILTINS and goes_on(self.function, e, self.kind))
            drawing = drawing and not found and any(map(self.may_iterate, e.args))
            if name in OF_BUILTINS and (drawing or spreads_iterators(e, self.kind)):
                self.found = True
                return made_lazily(s, name, self.names)
            if name in OF_BUILTINS or (type(e.func) is n.Attr and e.func.name in TAKING):
                found += [x for x in e.args if self.may_list(x) or self.may_iterate(x)]
            callee = getattr(self.sites.get(id(s)), "callee", None)
            if (
                callee in (math.prod, math.fsum, collections.deque)
                or getattr(callee, "__module__", None) == "statistics"
            ):
                found.append(e.args[0])
            many = len(e.args) > 1 and name in ("min", "max")
            if (name in TAKE_ALL and not many) or e.func == SPLIT:
                found.append(e.args[0])
        found = [x for x in found if type(x) is n.Name and (self.may_iterate(x) or self.may_list(x))]
        if type(e) is n.Call and e.func == SPLIT and found == [e.args[0]] and self.in_one_step(found[0]):
            return self.checked(s, found[0])
        return self.listing(s, found) if found else [s]

    def listing(self, s: Any, operands: list[n.Expr], *count: n.Const, place: str = "value") -> list[n.Stmt]:
        """``s`` with lists of all items in place of these operands."""
        self.found = True
        out: list[n.Stmt] = []
        lists: dict[str, n.Expr] = {}
        for x in operands:
            known = own_method(self.kind(s, x), "__iter__") is not None
            function = EVERYTHING if not known else UNPACKED if count else LISTED
            items = self.names.new("items")
            made = n.Assign(items, n.Call(function, (x, *count)), line=s.line)
            if self.may_list(x):  # an array or a list, most of all, stays what it is
                test = n.Name(self.names.new("own_items"))
                out.append(n.Assign(test.id, n.Call(n.Ref("is_iterated", is_iterated), (x,)), line=s.line))
                out.append(n.If(test, [made], [n.Assign(items, x, line=s.line)], line=s.line))
            else:
                out.append(made)
            lists[x.id] = n.Name(items)  # type: ignore[union-attr]
        value = walk.substitute(getattr(s, place), lists)
        return [*out, replace(s, **{place: value}, site=TAKEN)]

    def may_be_computed(self, s: n.Stmt, e: n.Expr) -> bool:
        """Whether ``e`` is an attribute that may be code, of an object whose class is known only when the code runs."""
        return (
            type(e) is n.Attr
            and e.name in self.computed
            and type(e.value) is n.Name
            and self.kind(s, e.value) in (None, UNKNOWN)
        )

    def may_be_item(self, s: n.Stmt, e: n.Index) -> bool:
        """Whether ``e`` is an item of something of which nothing is known, so that a method may make or put it."""
        method = "__getitem__" if type(s) is n.Assign else "__delitem__" if type(s) is n.Delete else "__setitem__"
        known = s.site is not None or type(e.value) is not n.Name
        return not known and method in self.computed and self.kind(s, e.value) is UNKNOWN

    def by_class(self, s: Any, e: n.Index) -> list[n.Stmt]:
        """``s`` twice: by the methods of the class of what ``e`` is an item of, and on memory."""
        key, out = key_of(e, s.line, self.names)
        x, line = e.value, s.line
        by_methods: list[n.Stmt]
        if type(s) is n.Assign:
            by_methods = [replace(s, value=n.Call(GETITEM, (x, key)))]
        elif type(s) is n.Delete:
            by_methods = [n.Effect(n.Call(DELITEM, (x, key)), line=line)]
        else:
            by_methods, value = [], s.value
            if type(s) is n.Update:
                old, value = n.Name(self.names.new("old")), n.Name(self.names.new("new"))
                by_methods.append(n.Assign(old.id, n.Call(GETITEM, (x, key)), line=line))
                by_methods.append(n.Assign(value.id, n.Inplace(s.op, old, s.value), line=line))
            by_methods.append(n.Effect(n.Call(SETITEM, (x, key, value)), line=line))
        test = n.Name(self.names.new("own_items"))
        out.append(n.Assign(test.id, n.Call(n.Ref("has_items", has_items), (x,)), line=line))
        self.found = True
        return [*out, n.If(test, by_methods, [replace(s, site=TAKEN)], line=line)]

    def sets_by_method(self, s: n.Update, target: n.Attr) -> bool:
        """Whether setting ``target`` calls a method of the user's and reading it is plain, or the other way round."""
        kind = self.kind(s, target.value) if type(target.value) is n.Name else None
        read, access = attribute_access(kind, target.name), attribute_access(kind, target.name, True)
        if access is None:
            return read == Access(None, None)  # it may be made by ``__getattr__``
        if self.trying and read is not None:
            return True  # which of the two raises matters
        return access.name is not None and read is None

    def in_steps(self, s: n.Update) -> list[n.Stmt]:
        """``x.name op= v`` as a read, an operation and a store."""
        self.found = True
        assert type(s.target) is n.Attr
        old, new = (n.Name(self.names.new(s.target.name)) for _ in range(2))
        return [
            n.Assign(old.id, s.target, line=s.line),
            n.Assign(new.id, n.Inplace(s.op, old, s.value), line=s.line),
            n.Store(s.target, new, line=s.line),
        ]

    def setting(self, s: Any) -> list[n.Stmt]:
        """``x.name = v`` or ``x.name op= v`` by functions."""
        self.found = True
        at, out, value = (s.target.value, n.Const(s.target.name)), [], s.value
        if type(s) is n.Update:
            old, value = n.Name(self.names.new(s.target.name)), n.Name(self.names.new(s.target.name))
            out.append(n.Assign(old.id, n.Call(GET, at), line=s.line))
            out.append(n.Assign(value.id, n.Inplace(s.op, old, s.value), line=s.line))
        return [*out, n.Effect(n.Call(SET, (*at, value)), line=s.line)]

    def kind_of(self, s: n.Stmt, e: n.Expr) -> Kind | None:
        return self.kind(s, e) if type(e) in n.ATOMS else None

    def is_plain_dict(self, e: n.Call) -> bool:
        return not e.args and all(k is not None for k, _ in e.kwargs)

    def with_entries(self, s: n.Assign, e: n.Call) -> list[n.Stmt]:
        """``dict(d, key=value)`` as ``{**dict(d), "key": value}``"""
        self.found = True
        out: list[n.Stmt] = []
        keys: list[n.Expr | None] = [None if k is None else n.Const(k) for k, _ in e.kwargs]
        values = [v for _, v in e.kwargs]
        if e.args:
            first = n.Name(self.names.new("given"))
            out.append(n.Assign(first.id, n.Call(e.func, e.args), line=s.line))
            keys, values = [None, *keys], [first, *values]
        return [*out, replace(s, value=n.DictExpr(tuple(keys), tuple(values)))]

    def with_key(self, s: Any, e: n.Index, made: Callable[[n.Expr], Any]) -> list[n.Stmt]:
        """``obj[1:, k]`` as what its methods are called with: the slices made first, and under a name."""
        parts = e.index.items if type(e.index) is n.TupleExpr else (e.index,)
        kind = self.kind(s, e.value)
        if not any(type(p) is n.Slice for p in parts) or not isinstance(kind, Instance):
            return [s]
        self.found = True
        if type(s) is n.Assign and kind.cls in (*GRIDS, *JOINERS):
            return self.spans(s, e, parts, kind.cls)
        key, out = key_of(e, s.line, self.names)
        return [*out, made(key)]

    def spans(self, s: n.Assign, e: n.Index, parts: tuple[n.Expr, ...], cls: type) -> list[n.Stmt]:
        """``np.mgrid[a:b, c:d:e]``, or ``np.r_[a:b, x]``, of which each slice is an array of its own."""
        if cls in GRIDS:
            if not all(type(p) is n.Slice for p in parts):
                return [s]
            given = tuple(end for p in parts for end in ends(p))
            return self.spanned(s, e.value, type(e.index) is not n.TupleExpr, given, s.target)
        out: list[n.Stmt] = []
        items: list[n.Expr] = []
        for p in parts:
            items.append(n.Name(self.names.new("span")) if type(p) is n.Slice else p)
            if type(p) is n.Slice:
                out += self.spanned(s, n.Ref("r_", np.r_), True, ends(p), items[-1].id)  # type: ignore[union-attr]
        key = n.Name(self.names.new("key"))
        out.append(n.Assign(key.id, n.TupleExpr(tuple(items)), line=s.line))
        return [*out, replace(s, value=n.Index(e.value, key))]

    def spanned(
        self, s: n.Assign, brackets: n.Expr, single: bool, ends: tuple[n.Expr, ...], target: str
    ) -> list[n.Stmt]:
        bounds = n.Name(self.names.new("bounds"))
        call = n.Call(n.Ref("spanned", spanned), (brackets, n.Const(single), bounds))
        return [n.Assign(bounds.id, n.TupleExpr(ends), line=s.line), n.Assign(target, call, line=s.line, site=s.site)]

    def loop(self, s: n.For, over: n.Expr, method: Any, start: n.Expr | None) -> list[n.Stmt]:
        """``start``: where ``enumerate`` begins to count, None if the loop is over the object itself."""
        self.found = True
        kind = self.kind(s, over)
        inlined = None
        if type(over) is n.Name and isinstance(kind, Instance):
            inlined = plain_iterator(over, kind.cls, method, self.context, self.names)
        if inlined is not None:
            before, values = inlined
            if start is not None:
                if type(values) is n.Call:
                    lazy, items = n.Name(self.names.temporary()), n.Name(self.names.new("items"))
                    before.append(n.Assign(lazy.id, values, line=s.line))
                    before.append(n.Assign(items.id, n.Call(n.Global("list"), (lazy,)), line=s.line))
                    values = items
                values = n.Call(n.Global("enumerate"), (values, start))
            return [*before, n.For(s.target, values, self.block(s.body), s.stop, None, line=s.line, site=s.site)]
        if s.site == CUT:
            raise DrawnInTry(
                "a loop over an iterator in a 'try' whose handler may see what the loop has done is not differentiated",
                Place(self.function.filename, s.line, linecache.getline(self.function.filename, s.line)),
                "put the 'try' inside of the loop, and draw the items by next(...)",
            )
        out: list[n.Stmt] = []
        if type(over) not in n.ATOMS:
            made, over = over, n.Name(self.names.temporary())
            out.append(n.Assign(over.id, made, line=s.line))
        it = n.Name(self.names.new("it"))
        out.append(n.Assign(it.id, n.Call(ITER, (over,)), line=s.line))
        cls = getattr(self.kind(s, over), "cls", object)
        if inspect.isgeneratorfunction(method) and self.suspends:
            cls = class_of(method)
            out[-1] = n.Assign(it.id, n.Call(n.Ref(cls.__name__, cls), (over,)), line=s.line)
        elif inspect.isgeneratorfunction(method):
            values = it if start is None else n.Call(n.Global("enumerate"), (it, start))
            return [*out, n.For(s.target, values, self.block(s.body), s.stop, None, line=s.line, site=s.site)]
        first, item, new, more = (n.Name(self.names.new(x)) for x in ("first_item", "item", "next_item", "more"))
        resumed = n.Call(n.Attr(it, "resumed"), (n.Const(None),))
        drawing = resumed if issubclass(cls, Suspended) else n.Call(DRAWN, (it,))
        draw: n.Stmt = n.Assign(new.id, drawing, line=s.line)
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
        out.append(n.Assign(first.id, drawing, line=s.line))
        out.append(n.Assign(item.id, first, line=s.line))
        out.append(n.While(test, more, body, s.stop, line=s.line))
        return out
