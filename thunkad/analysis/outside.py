"""What a function leaves behind in objects that outlive the call, and what it reads of them.

A derivative can't flow through such an object: what is in it may stem from another call.  :class:`Traffic` says which
*spots* a function writes with values that are differentiated and which it reads; a spot is an object, or one attribute
of it.  Callees are looked into: the spots of their parameters become those of the arguments.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.activity import is_outside, is_table, varied_names
from thunkad.analysis.aliases import has_memory, makes_view
from thunkad.analysis.outside_spots import Memory, Spot, attribute
from thunkad.analysis.shared_attributes import imported_module
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.special import Super
from thunkad.analysis.writing import MUTATING_METHODS, first_is_written, is_numpy, out_operands
from thunkad.errors import Place
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Known, Mapping, Num, Sequence, Tuple, Unknown
from thunkad.kinds.variables import is_shared
from thunkad.records import field, record, replace
from thunkad.runtime.iterators import EXHAUSTED
from thunkad.runtime.unbound import Unbound
from thunkad.runtime.variables import Variable

_IMMUTABLE = (
    int, float, complex, str, bytes, bool, type(None), np.generic, types.ModuleType, types.BuiltinFunctionType,
    np.ufunc, Variable,
    frozenset, range, slice,
)  # fmt: skip
_CODE = (types.FunctionType, type)
_CONTAINERS = (Tuple, Sequence, Mapping)
_READ_TOO = frozenset(("pop", "popitem", "setdefault"))


@record
class Traffic:
    """``writes`` and ``reads``: spot → the function that does it, and where.  Variables that are shared are followed.

    ``overwrites``: arrays that are written in place, with whatever values, of parameters and those that are captured.
    """

    writes: dict[Spot, tuple[Any, Place]] = field(default_factory=dict)
    overwrites: dict[Spot, tuple[Any, Place]] = field(default_factory=dict)
    settings: dict[str, Place] = field(default_factory=dict)  # attributes of classes and functions, set to what varies
    reads: dict[Spot, tuple[Any, Place]] = field(default_factory=dict)
    returns: set[Spot] = field(default_factory=set)
    variables: set[Any] = field(default_factory=set)  # classes of shared variables that are assigned such values

    def clash(self) -> tuple[Spot, Place, Place] | None:
        """Something outside that is written and read: what, and where."""
        written = [(spot, Memory(spot, False), *by) for spot, by in self.writes.items() if spot.where != "parameter"]
        for other, (reader, there) in self.reads.items() if written else ():
            memory = Memory(other, True)
            for spot, touched, writer, place in written:
                own = spot.where == other.where == "variable" and writer is reader
                own = own or (spot.where == "shared" and spot.key == other.key) or (spot.followed and other.followed)
                if not own and (spot.meets(other) or touched.meets(memory)):
                    return spot, place, there
        return None


def traffic(resolved: Resolved, wanted: frozenset[str], value_of: Callable[[str], Any],
            inner: Callable[[Site, frozenset[str]], Traffic | None], follows: bool) -> Traffic:  # fmt: skip
    """The traffic of a function of whose parameters ``wanted`` are differentiated.

    ``value_of`` gives the values of free names (KeyError: there is none), ``inner`` the traffic of a callee.
    ``follows``: derivatives flow through what functions share, and all that it leads to.
    """
    scan = _Scan(resolved, wanted, value_of, inner)
    scan.follows = follows
    statements = list(walk.statements(resolved.function.body))
    while True:
        before = sum(map(len, scan.spots.values()))
        for s in statements:
            scan.link(s)
        if sum(map(len, scan.spots.values())) == before:
            break
    for s in statements:
        scan.statement(s)
    return scan.found


def is_data(held: Any) -> bool:
    """Whether what a class holds is an object that its objects share, and not code."""
    if isinstance(held, (list, dict, set, np.ndarray)):
        return True
    code = isinstance(held, (*_CODE, *_IMMUTABLE, tuple, property, classmethod, staticmethod)) or hasattr(
        held, "__get__"
    )
    return not code and isinstance(getattr(held, "__dict__", None), dict)


class _Scan:
    def __init__(self, resolved: Resolved, wanted: frozenset[str], value_of: Any, inner: Any) -> None:
        self.resolved, self.value_of, self.inner = resolved, value_of, inner
        self.varied = varied_names(resolved, wanted)
        self.found = Traffic()
        self.follows = False
        self.line = resolved.function.line
        self.imported: dict[str, Any] = {}  # modules that the function itself imports, by their names in it
        self.held: dict[str, set[Spot]] = {}  # what the items of a display lead to
        function = resolved.function
        self.spots: dict[str, set[Spot]] = {}
        for p in (*function.captures, *(p.name for p in function.params)):
            if has_memory(resolved.kind(n.Name(p))) and not is_shared(resolved.kind(n.Name(p))):
                self.spots[p] = {Spot("parameter", p, p)}

    # ------------------------------------------------------------ what leads where

    def of(self, e: n.Expr) -> set[Spot]:
        t = type(e)
        if t is n.Name:
            return self.spots.get(e.id, set())
        if t is n.Global:
            return self.free(e.id)
        if t is n.Ref:
            return self.object(e.value, e.name)
        if t is n.Attr and self.is_variable(e):  # what is in it
            cls: Any = self.resolved.kind(e.value).cls
            held = cls.places[e.name]() if e.name in getattr(cls, "places", ()) else None
            found = self.object(held, e.name) if held is not None else {Spot("object", id(cls), cls.label, held=cls)}
            return {replace(spot, followed=self.follows) for spot in found}
        if t is n.Attr:
            if type(e.value) in (n.Global, n.Ref) or (type(e.value) is n.Name and e.value.id in self.imported):
                owner = self.imported[e.value.id] if type(e.value) is n.Name else self.value(e.value)
                if isinstance(owner, types.ModuleType):
                    return self.object(getattr(owner, e.name, None), e.name)
            held = self.in_class(e)
            shared = self.object(held, e.name) if is_data(held) else set()
            owners = self.of(e.value)
            if isinstance(held, functools.cached_property):
                return owners  # computed from what the object holds
            return shared | {spot.at(e.name) for spot in owners}
        if t is n.Index:
            return self.of(e.value)
        if t is n.Star:
            return self.of(e.value)
        return set()

    def is_variable(self, e: n.Expr) -> bool:
        """Whether this is a variable that functions share."""
        return type(e) is n.Attr and is_shared(self.resolved.kind(e.value))

    def in_class(self, e: n.Attr) -> Any:
        """What the class of an object, or a class, holds under that name."""
        kind = self.resolved.kind(e.value)
        if type(e.value) in (n.Global, n.Ref):
            owner = self.value(e.value)
            return inspect.getattr_static(owner if isinstance(owner, type) else type(owner), e.name, None)
        if isinstance(kind, Known) and isinstance(kind.value, type):
            return inspect.getattr_static(kind.value, e.name, None)
        if isinstance(kind, Super):
            return kind.method(e.name)
        return inspect.getattr_static(kind.cls, e.name, None) if isinstance(kind, Instance) else None

    def value(self, e: n.Expr) -> Any:
        if type(e) is n.Ref:
            return e.value
        try:
            return self.value_of(e.id)  # type: ignore[attr-defined]
        except KeyError:
            return None

    def free(self, name: str) -> set[Spot]:
        owner = self.resolved.owner
        found = self.object(self.value(n.Global(name)), name)
        if owner is not None and name in owner.__globals__:
            found = found | {Spot("variable", (id(owner.__globals__), name), name)}
        return found

    def object(self, value: Any, label: str) -> set[Spot]:
        if isinstance(value, tuple):
            return set().union(*(self.object(v, label) for v in value))
        if isinstance(value, _IMMUTABLE) or value is EXHAUSTED or value is Unbound:
            return set()
        return {Spot("object", id(value), label, code=isinstance(value, _CODE), held=value)}

    def link(self, s: n.Stmt) -> None:
        t = type(s)
        if t is n.Assign:
            self.module(s)
        if t is n.Assign:
            targets, e = (s.target,), s.value
        elif t is n.Unpack:
            targets, e = s.targets, s.value
        elif t is n.For:
            targets, e = (s.target,), s.iter
        else:
            return
        copied = self.copied(s)
        if copied is not None:
            self.hold(targets[0], self.inside(copied) | self.of(copied))
            return
        found = self.result_of(e, self.resolved.sites.get(id(s)))
        if type(e) is n.Name and t is n.Assign:
            self.hold(targets[0], self.held.get(e.id, set()))
        elif type(e) in (n.TupleExpr, n.ListExpr, n.DictExpr):
            parts = e.values if type(e) is n.DictExpr else e.items  # type: ignore[attr-defined]
            self.hold(targets[0], {spot for part in parts for spot in self.inside(part) | self.of(part)})
        else:
            found = found | self.inside(e.value if type(e) is n.Index else e)
            for target in targets:
                self.hold(target, self.inside(e.value if type(e) is n.Index else e))
        for target in targets:
            if found and (has_memory(self.resolved.kind(n.Name(target))) or type(e) is not n.Index):
                self.spots.setdefault(target, set()).update(found)

    def copied(self, s: n.Stmt) -> n.Expr | None:
        """What ``s`` makes a copy of: new memory, in which a container may hold what the old one does."""
        e, site = getattr(s, "value", None), self.resolved.sites.get(id(s))
        if type(s) is not n.Assign:
            return None
        if type(e) is n.Index:
            whole, index = self.resolved.kind(e.value), self.resolved.kind(e.index)
            known = self.value(e.value) if type(e.value) in (n.Global, n.Ref) else None
            if isinstance(whole, Num) or type(known) is np.ndarray:  # several elements are copied, a slice is a view
                several = isinstance(index, Sequence) or (isinstance(index, Num) and bool(index.ndim))
            else:
                whole_list = isinstance(whole, _CONTAINERS) or type(known) in (list, tuple)
                several = whole_list and type(e.index) is n.Slice
            return e.value if several else None
        if type(e) is not n.Call or site is None or site.kwargs or self.looked_into(site):
            return None
        new = any(site.callee is fn for fn in (list, dict, tuple, set, frozenset, sorted))
        if not new and isinstance(self.resolved.kind(n.Name(s.target)), (Num, *_CONTAINERS)):
            new = getattr(site.callee, "__name__", "") in ("copy", "array", "astype")
        return site.args[0] if new and site.args else None

    def module(self, s: n.Assign) -> None:
        """Note the module that ``s`` imports, or takes from another one."""
        e = s.value
        found: Any = imported_module(e, self.resolved.owner)
        if type(e) is n.Attr and type(e.value) is n.Name and e.value.id in self.imported:
            found = getattr(self.imported[e.value.id], e.name, None)
        if isinstance(found, types.ModuleType):
            self.imported[s.target] = found

    def hold(self, name: str, spots: set[Spot]) -> None:
        if spots:
            self.held.setdefault(name, set()).update(spots)

    def inside(self, e: n.Expr) -> set[Spot]:
        """What the items of ``e`` lead to, if it was made by a display in this function."""
        return self.held.get(e.id, set()) if type(e) is n.Name else set()

    def result_of(self, e: n.Expr, site: Site | None) -> set[Spot]:
        if type(e) is not n.Call:
            return self.of(e)
        if site is None:
            return set()
        if self.looked_into(site):
            summary, places = self.summary(site)
            return {s for spot in summary.returns for s in self.mapped(spot, places)}
        if makes_view(site):
            return set().union(*(self.of(a) for a in site.args)) if site.args else set()
        return set()

    # ------------------------------------------------------------ callees

    def looked_into(self, site: Site) -> bool:
        return site.how in ("inside", "lifted") or (site.how == "construct" and bool(site.bound))

    def summary(self, site: Site) -> tuple[Traffic, dict[str, set[Spot]]]:
        wanted = frozenset(p for p, a in site.bound if self.is_varied(a))
        return self.inner(site, wanted) or Traffic(), {p: self.of(a) for p, a in site.bound}

    def mapped(self, spot: Spot, places: dict[str, set[Spot]]) -> set[Spot]:
        if spot.where != "parameter":
            return {spot}
        given = places.get(spot.key, set())
        for name in spot.path:
            given = {g.at(name) for g in given}
        return {g.setting() for g in given} if spot.itself else given

    # ------------------------------------------------------------ reading and writing

    def is_varied(self, *parts: n.Expr) -> bool:
        return any(i in self.varied for e in parts for i in walk.names(e))

    def is_table(self, e: n.Expr) -> bool:
        return type(e) is n.Name and is_table(self.resolved, self.varied, e.id)

    def read(self, *parts: n.Expr) -> None:
        for e in parts:
            self.read_one(e)

    def read_one(self, e: n.Expr) -> None:
        for spot in self.of(e):
            if not (spot.code and not spot.path):
                self.found.reads.setdefault(spot, self.here())

        if type(e) is n.Attr and isinstance(self.in_class(e), (int, float, complex, np.generic)):
            for cls in self.classes(e.value):
                if e.name in cls.__dict__:
                    self.found.reads.setdefault(Spot("object", id(cls), cls.__name__, held=cls).at(e.name), self.here())

    def classes(self, e: n.Expr) -> tuple[type, ...]:
        """The classes in which an attribute of ``e`` is looked for."""
        kind: Any = self.resolved.kind(e)
        found = self.value(e) if type(e) in (n.Global, n.Ref) else kind.value if isinstance(kind, Known) else kind.cls
        return (found if isinstance(found, type) else type(found)).__mro__

    def here(self) -> tuple[Any, Place]:
        return self.resolved.owner, self.resolved.place(self.line)

    def write(self, target: n.Expr, *values: n.Expr, itself: bool = False) -> None:
        if any(self.is_varied(v) and not self.is_table(v) for v in values):
            for spot in self.of(target):
                spot = spot.setting() if itself else spot
                if spot.where != "variable" and not (spot.code and not spot.path):
                    self.found.writes.setdefault(spot, self.here())

        if type(target) is not n.Attr and isinstance(self.resolved.kind(target), (Num, Unknown)):
            for spot in self.of(target):
                self.overwrite(spot, self.here())

    def update(self, target: n.Attr | n.Index) -> None:
        """``target`` is changed by an operator in place: so is the array that it holds."""
        key = target.index.value if type(target) is n.Index and type(target.index) is n.Const else None
        for spot in self.of(target):
            held = spot.held
            if not spot.path and isinstance(held, (dict, list)) and key is not None:
                with contextlib.suppress(LookupError, TypeError):
                    for inner in self.object(held[key], f"{spot.label}[{key!r}]"):
                        self.overwrite(inner, self.here())
            else:
                self.overwrite(spot, self.here())

    def overwrite(self, spot: Spot, there: tuple[Any, Place]) -> None:
        if spot.where == "parameter" or (spot.where == "object" and self.is_captured(spot)):
            self.found.overwrites.setdefault(spot, there)

    def is_captured(self, spot: Spot) -> bool:
        value = spot.held
        for name in spot.path:
            value = attribute(value, name)
        return self.resolved.captured is not None and self.resolved.captured.overlaps(value)

    def statement(self, s: n.Stmt) -> None:
        self.line = s.line or self.line
        t = type(s)
        if t in (n.Assign, n.Effect, n.Unpack):
            self.value_use(s.value, self.resolved.sites.get(id(s)), s)  # type: ignore[attr-defined]
        elif t is n.Return:
            self.found.returns |= self.of(s.value)
        elif t in (n.Store, n.Update) and self.is_variable(s.target):
            self.read(s.value)
            if self.is_varied(s.value):
                cls = self.resolved.kind(s.target.value).cls  # type: ignore[union-attr]
                self.found.variables.add(cls)
                self.found.writes.setdefault(Spot("shared", id(cls), cls.label, held=cls), self.here())
        elif t in (n.Store, n.Update):
            self.method(self.resolved.sites.get(id(s)))
            self.read(s.value)
            target = s.target if type(s.target) is n.Attr else s.target.value
            self.write(target, s.value, itself=t is n.Store and type(s.target) is n.Attr)
            if is_outside(self.resolved, s) and self.is_varied(s.value):
                self.found.settings.setdefault(s.target.name, self.here()[1])  # type: ignore[union-attr]
            if t is n.Update:
                self.update(s.target)
        elif t is n.Append:
            self.read(s.value)
            self.write(n.Name(s.target), s.value)
        elif t is n.SetGlobal and self.is_varied(s.value):
            key = id(self.resolved.owner.__globals__), s.name
            self.found.writes.setdefault(Spot("variable", key, s.name), self.here())

    def value_use(self, e: n.Expr, site: Site | None, s: n.Stmt) -> None:
        t = type(e)
        if t is not n.Call:
            self.method(site)
        copied = self.copied(s)
        if copied is not None:
            self.read(copied)
        if t is n.Binary:
            self.read(e.left, e.right)
        elif t is n.Inplace:
            self.read(e.right)
            if site is not None and site.how == "inplace":
                self.write(e.left, e.right)
            else:
                self.read(e.left)
        elif t is n.Unary and e.op != "not":
            self.read(e.operand)
        elif t in (n.Index, n.Attr) and type(s) is n.Assign and not has_memory(self.resolved.kind(n.Name(s.target))):
            self.read(e)
        elif t in (n.TupleExpr, n.ListExpr, n.SetExpr):
            self.read(*e.items)
        elif t is n.DictExpr:
            self.read(*e.values)
        elif t is n.Closure:
            self.read(*e.captures)
        elif t is n.Call and site is not None and site.how != "constant":
            self.call(e, site)
        elif t is n.Call and type(e.func) is n.Attr and e.func.name in MUTATING_METHODS:
            self.write(e.func.value, *e.args)

    def method(self, site: Site | None) -> None:
        """What a property, a setter or an operator of a class does."""
        if site is not None and self.looked_into(site):
            self.inner_traffic(site)

    def call(self, e: n.Call, site: Site) -> None:
        if self.looked_into(site):
            self.inner_traffic(site)
            return
        self.plain_call(e, site)

    def inner_traffic(self, site: Site) -> None:
        summary, places = self.summary(site)
        self.found.settings.update(summary.settings)
        for mine, theirs in ((self.found.reads, summary.reads), (self.found.writes, summary.writes)):
            for spot, there in theirs.items():
                for found in self.mapped(spot, places):
                    mine.setdefault(found, there)
        for spot, there in summary.overwrites.items():
            for found in self.mapped(spot, places):
                if spot.where == "parameter":
                    self.overwrite(found, there)
                else:
                    self.found.overwrites.setdefault(found, there)

    def plain_call(self, e: n.Call, site: Site) -> None:
        operands = (*site.args, *(v for _, v in site.kwargs))
        outs = [*out_operands(site, e)]
        first = first_is_written(site, e)
        if first is not None:
            outs.append(first)
        for target in outs:
            self.write(target, *(a for a in operands if a is not target))
        name = e.func.name if type(e.func) is n.Attr else ""
        self.read(*(a for a in operands if not any(a is target or a == target for target in outs)))
        if name and not is_numpy(site.callee) and (first is None or name in _READ_TOO):
            self.read(e.func.value)  # type: ignore[union-attr]
