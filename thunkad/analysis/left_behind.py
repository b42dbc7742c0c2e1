"""Statements that note what a function leaves in containers and objects, and warn where it reads what it did not leave.

Written into programs that hold some mutable object from outside and put values into objects, see
:mod:`thunkad.runtime.left_behind`.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any

from thunkad.analysis.activity import is_table, varied_names, written
from thunkad.analysis.sites import Resolved, Site, called
from thunkad.analysis.writing import is_numpy
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Known, Num, Opaque, may_have_tangent
from thunkad.kinds.variables import is_shared
from thunkad.records import replace
from thunkad.runtime import left_behind, left_elements
from thunkad.source.names import lookup

_ONE = frozenset("append appendleft insert add setdefault".split())
_SEVERAL = frozenset("extend extendleft update".split())
_ASKING = (len, bool, isinstance, type, id, print, repr, str, range)  # nothing of what they are given is in the result
_GIVES_ONE = frozenset("get pop popleft setdefault __getitem__".split())


def noting(resolved: Resolved, wanted: tuple[str, ...], filled: set[str]) -> Resolved:
    """``resolved``, differentiated for ``wanted``, with these statements.

    ``filled``: the attributes that hold the lists, dicts and arrays which something is put into; "*" for other places.
    """
    work = _Noting(resolved, varied_names(resolved, wanted), filled)
    body = work.block(resolved.function.body)
    cache = {k: v for k, v in resolved.cache.items() if k == "outlives"}  # all else was found of the old statements
    made = replace(resolved, function=replace(resolved.function, body=body), sites=work.sites, cache=cache)
    return made if work.count else resolved


def _only_asks(s: n.Stmt) -> bool:
    """Whether ``s`` compares what it reads, or branches by it; neither has a derivative."""
    return type(s) in (n.If, n.While) or (type(s) is n.Assign and type(s.value) is n.Compare)


def _changed_by(s: n.Stmt) -> tuple[str, ...]:
    """The names of what ``s`` changes in place."""
    if type(s) in (n.Store, n.Update) and type(s.target) is n.Index:  # type: ignore[attr-defined]
        return tuple(walk.names(s.target.value))  # type: ignore[attr-defined]
    e = getattr(s, "value", None)
    return tuple(walk.names(e.left)) if type(e) is n.Inplace else written(e) if type(e) is n.Call else ()


def _plain(index: n.Expr) -> n.Expr:
    """An index as a value; None for one that is none."""
    parts = index.items if type(index) is n.TupleExpr else (index,)
    if index == n.Slice(None, None, None):
        return n.Const(Ellipsis)
    return index if all(type(p) in n.ATOMS for p in parts) else n.Const(None)


class _Noting:
    def __init__(self, resolved: Resolved, varied: frozenset[str], filled: set[str]) -> None:
        self.resolved, self.varied, self.sites = resolved, varied, dict(resolved.sites)
        self.count, self.line = 0, resolved.function.line
        self.params = {p.name for p in resolved.function.params}
        self.fresh = self.displays()
        self.used = {x for s in walk.statements(resolved.function.body) if not _only_asks(s) for x in walk.reads(s)}

        self.changed = {x for s in walk.statements(resolved.function.body) for x in _changed_by(s)}
        self.arrays = self.arrays_outside(filled)

    def arrays_outside(self, filled: set[str]) -> set[str]:
        """Names of arrays that lie in objects, or outside, and that something may be put into."""
        found: set[str] = set()
        for s in walk.statements(self.resolved.function.body):
            if type(s) is not n.Assign or type(s.value) is not n.Attr:
                continue
            may = s.value.name in filled or ("*" in filled and is_shared(self.resolved.kind(s.value.value)))
            kind = self.resolved.kind(n.Name(s.target))
            if may and (kind is UNKNOWN or (isinstance(kind, Num) and not kind.is_scalar)):
                found.add(s.target)
        return found

    def displays(self) -> set[str]:
        """Names that hold nothing but what a display in this function has made."""
        made: set[str] = set()
        others = {*self.resolved.function.captures, *(p.name for p in self.resolved.function.params)}
        for s in walk.statements(self.resolved.function.body):
            if type(s) is n.Assign and type(s.value) in (n.ListExpr, n.DictExpr, n.SetExpr, n.TupleExpr):
                made.add(s.target)
            else:
                others.update(walk.writes(s))
        return made - others

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            self.line = s.line or self.line
            new = walk.map_blocks(s, self.block)
            if new is not s and id(s) in self.sites:
                self.sites[id(new)] = self.sites[id(s)]
            out += [*self.before(s), new, *self.after(s)]
            if type(s) is n.For:
                new.body[:0] = self.read(s.iter, n.Name(s.target))  # type: ignore[attr-defined]
        return out

    def effect(self, fn: Any, *args: n.Expr, where: n.Expr | None = None) -> n.Stmt:
        if where is not None:
            constant = self.varied.isdisjoint(x for e in args for x in walk.names(e))
            args = *args, n.Const(self.label(where)), *((n.Const(True),) if constant else ())
        made = n.Effect(n.Call(n.Ref(fn.__name__, fn), args), line=self.line)
        kinds = tuple(map(self.resolved.kind, args))
        self.sites[id(made)] = Site("constant", fn, args=args, kinds=kinds, result=Known(None))
        self.count += 1
        return made

    def label(self, e: n.Expr) -> str:
        """Where ``e`` is read, for a warning."""
        place = self.resolved.place(self.line)
        return f"{place.text.strip() or self.resolved.function.name} ({place.filename}, line {place.line})"

    # ------------------------------------------------------------ which statements

    def holds(self, e: n.Expr) -> bool:
        """Whether ``e`` may be a container or object that lives on."""
        kind = self.resolved.kind(e)
        if type(e) is n.Global:
            with contextlib.suppress(KeyError):
                return isinstance(lookup(self.resolved.owner, e.id), (list, dict))
            return False
        if type(e) is not n.Name or e.id in self.fresh or is_shared(kind):
            return False
        return not isinstance(kind, (Num, Known, Opaque))

    def read(self, container: n.Expr, found: n.Expr) -> list[n.Stmt]:
        if type(found) is n.Name and found.id not in self.used:
            return []
        if not self.holds(container) or not may_have_tangent(self.resolved.kind(found)):
            return []
        changed = type(found) is n.Name and found.id in self.changed
        check = left_behind.check_unchanged if changed else left_behind.check_left
        return [self.effect(check, container, found, where=container)]

    def every(self, *containers: n.Expr) -> list[n.Stmt]:
        given = (c.value if type(c) is n.Star else c for c in containers)
        return [self.effect(left_behind.check_each, c, where=c) for c in given if self.holds(c)]

    def is_varied(self, e: n.Expr) -> bool:
        if self.varied.isdisjoint(walk.names(e)):
            return False
        return not (type(e) is n.Name and is_table(self.resolved, self.varied, e.id))

    def put(self, container: n.Expr, *values: n.Expr, fn: Any = left_behind.note_left) -> list[n.Stmt]:
        if isinstance(self.resolved.kind(container), Num) or is_shared(self.resolved.kind(container)):
            return []
        return [self.effect(fn, container, v) for v in values if self.is_varied(v)]

    def made(self, e: n.Expr) -> list[n.Stmt]:
        """For a container that was made here and goes elsewhere."""
        fresh = type(e) is n.Name and e.id in self.fresh and e.id in self.varied
        return [self.effect(left_behind.note_made, e)] if fresh else []

    def before(self, s: n.Stmt) -> list[n.Stmt]:
        if type(s) is n.Update and type(s.target) is n.Attr and self.holds(s.target.value):
            return [self.effect(left_behind.check_field, s.target.value, n.Const(s.target.name), where=s.target.value)]
        return [*self.elements_read(s), *self.containers_read(s), *self.item_updated(s)]

    def item_updated(self, s: n.Stmt) -> list[n.Stmt]:
        """For what ``s`` may change in place where it lies."""
        if type(s) is not n.Update or type(s.target) is not n.Index or type(s.target.index) not in n.ATOMS:
            return []
        owner = s.target.value
        return [self.effect(left_behind.check_item, owner, s.target.index, where=owner)] if self.holds(owner) else []

    def elements_read(self, s: n.Stmt) -> list[n.Stmt]:
        """For an array of which elements may have been left by another call."""
        e = getattr(s, "value", None)
        if not self.arrays or type(s) not in (n.Assign, n.Effect, n.Unpack, n.Update) or type(e) in (n.Attr, n.Name):
            return []
        if type(s) is n.Update:
            e = s.target if type(s.target) is n.Index else None
        if type(e) is n.Index:
            if type(e.value) is not n.Name or e.value.id not in self.arrays:
                return []
            return [self.effect(left_elements.check_element, e.value, _plain(e.index), where=e.value)]
        used = [i for i in dict.fromkeys(walk.reads(s)) if i in self.arrays]
        out = [v for k, v in e.kwargs if k == "out"] if type(e) is n.Call else []
        checked = [n.Name(i) for i in used if n.Name(i) not in out]
        return [self.effect(left_elements.check_element, x, n.Const(None), where=x) for x in checked]

    def containers_read(self, s: n.Stmt) -> list[n.Stmt]:
        e = getattr(s, "value", None)
        site = self.sites.get(id(s))
        if type(s) is n.Return:
            return self.made(e)
        if type(s) not in (n.Assign, n.Effect, n.Unpack):
            return []
        if type(e) in (n.ListExpr, n.TupleExpr):
            return self.every(*(i for i in e.items if type(i) is n.Star))
        if type(e) is not n.Call or site is None or site.how not in ("rule", "constant", "missing", "dynamic"):
            return []
        callee = called(site, self.resolved) if site.how == "dynamic" else site.callee
        if site.how == "dynamic" and not (isinstance(callee, types.BuiltinFunctionType) or is_numpy(callee)):
            return []  # a function of the user's says so itself
        if any(callee is fn for fn in _ASKING):
            return []
        owner = e.func.value if type(e.func) is n.Attr else None
        name = e.func.name if type(e.func) is n.Attr else ""
        if name in _ONE:
            return [made for a in e.args for made in self.made(a)]
        if name in _SEVERAL or name in _GIVES_ONE or name == "clear":
            return []
        return self.every(*(() if owner is None else (owner,)), *e.args)

    def after(self, s: n.Stmt) -> list[n.Stmt]:
        t = type(s)
        if t is n.Assign and type(s.value) in (n.Index, n.Attr):
            return self.read(s.value.value, n.Name(s.target))
        if t is n.Unpack:
            return [made for target in s.targets for made in self.read(s.value, n.Name(target))]
        if t in (n.Store, n.Update) and type(s.target) is n.Index and type(s.target.value) is n.Name:
            if s.target.value.id in self.arrays or s.target.value.id in self.params:
                return [*self.element_put(s.target, s.value), *self.container_put(s)]
        if type(s) in (n.Assign, n.Effect) and type(s.value) is n.Call:
            out = [v for k, v in s.value.kwargs if k == "out" and type(v) is n.Name and v.id in self.arrays]
            if out:
                return [self.effect(left_elements.note_element, out[0], n.Const(Ellipsis), n.Const(True))]
        return self.container_put(s)

    def element_put(self, target: n.Index, value: n.Expr) -> list[n.Stmt]:
        varied = n.Const(self.is_varied(value))
        return [self.effect(left_elements.note_element, target.value, _plain(target.index), varied)]

    def container_put(self, s: n.Stmt) -> list[n.Stmt]:
        t = type(s)
        if t is n.Store:
            if type(s.value) is n.Const and isinstance(s.value.value, (float, complex)):
                return [self.effect(left_behind.note_constant, s.target.value, s.value)]
            several = type(s.target) is n.Index and type(s.target.index) is n.Slice
            put = self.put(s.target.value, s.value, fn=left_behind.note_each if several else left_behind.note_left)
            return [*self.made(s.value), *put]
        if t is n.Update and type(s.target) is n.Attr and self.is_varied(s.value):
            name: n.Expr = n.Const(s.target.name)
            return [self.effect(left_behind.note_field, s.target.value, name)]
        if t is n.Update and type(s.target) is n.Index and self.is_varied(s.value):
            if isinstance(self.resolved.kind(s.target.value), Num) or type(s.target.index) not in n.ATOMS:
                return []
            return [self.effect(left_behind.note_item, s.target.value, s.target.index)]
        if t in (n.Assign, n.Effect) and type(s.value) is n.Call and type(s.value.func) is n.Attr:
            return self.method(s, s.value.func, s.value)
        if t is n.Effect and type(s.value) is n.Call and s.value.func == n.Global("setattr") and len(s.value.args) == 3:
            return self.put(s.value.args[0], s.value.args[2])
        return []

    def method(self, s: Any, func: n.Attr, call: n.Call) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        if func.name in _ONE and call.args:
            out += self.put(func.value, call.args[-1])
        elif func.name in _SEVERAL:
            out += self.put(func.value, *call.args, fn=left_behind.note_each)
            out += self.put(func.value, *(v for _, v in call.kwargs))
        if func.name in _GIVES_ONE and type(s) is n.Assign:
            out += self.read(func.value, n.Name(s.target))
        return out
