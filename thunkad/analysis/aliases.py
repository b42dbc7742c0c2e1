"""Which names may share memory, which memory is written in place, and where.

Names are put into classes, flow-insensitively: two names of one class may hold the same object, views of one array, or
a container and what is in it.  A class that some statement writes into is *mutated*.  ``after`` says of each statement
which classes may be written after it ran (a loop body comes after itself), so that residuals are copied only where they
may be overwritten.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from thunkad.analysis.apart import is_total
from thunkad.analysis.keys import object_keys
from thunkad.analysis.late_calls import foreseen, is_opaque, variables_of
from thunkad.analysis.residuals import residuals_of
from thunkad.analysis.same_objects import one_object
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.spans import find_spans
from thunkad.analysis.views import is_fold, returns_operand
from thunkad.analysis.writing import (
    MUTATING_METHODS,
    dispatched_writes,
    first_is_written,
    is_numpy,
    is_product,
    out_operands,
)
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Kind, Known, Mapping, Num, Opaque, Sequence, Tuple
from thunkad.kinds.results import is_basic_index
from thunkad.records import field, record, replace
from thunkad.runtime.iterators import items_of, keys_of
from thunkad.source.origin import library_of

_FRESH_IN_NUMPY = {"max", "min", "copy", "positive"}  # on arrays these make memory of their own


@record(frozen=True)
class Sharing:
    """What a callee shares with its caller.

    ``volatile`` parameters and (``returned``) what it returns may be written once it has returned; the cotangents of
    ``shared`` parameters and (``result``) of what it returns live in the caller's shadows.  ``lazy``: which of its
    cotangents the caller needs is known only when they are read.
    """

    volatile: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    result: bool = False
    lazy: bool = False
    returned: bool = False

    @property
    def shadows(self) -> bool:
        return bool(self.shared) or self.result


NOTHING_SHARED = Sharing()
_WITHOUT_MEMORY = (
    types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc, type(np.sum), str,
)  # fmt: skip


#: Where functions that make derivative functions are defined.
_OF_DERIVATIVES = ("thunkad.api", "thunkad.derived", "thunkad.nesting")


@record
class Aliases:
    """Classes of names (by representative), those that are written, and what each statement leaves to be written."""

    parent: dict[str, str] = field(default_factory=dict)
    mutated: set[str] = field(default_factory=set)
    after: dict[int, frozenset[str]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()  # names of what is written, objects that are only made here left out
    written_by: dict[int, list[str]] = field(default_factory=dict)  # statement → names whose memory it writes
    perhaps: dict[int, list[str]] = field(default_factory=dict)  # the same, where nothing says that they have any
    shared: set[str] = field(default_factory=set)  # classes whose cotangents live in the caller's shadows
    outside: frozenset[str] = frozenset()  # classes that others may write once the function has returned
    disturbed: set[int] = field(default_factory=set)  # see thunkad.analysis.spans
    functional: set[str] = field(default_factory=set)
    rests_on_callees: bool = False  # what functions of the user's write was asked
    cache: dict[str, Any] = field(default_factory=dict)
    resolved: Any = None

    def copy(self) -> Aliases:
        """The same, for one who adds names."""
        own = {"parent": dict(self.parent), "mutated": set(self.mutated), "shared": set(self.shared), "cache": {}}
        return replace(self, **own, disturbed=set(self.disturbed), functional=set(self.functional))

    def find(self, name: str) -> str:
        root = name
        while self.parent.get(root, root) != root:
            root = self.parent[root]
        while self.parent.get(name, name) != root:
            self.parent[name], name = root, self.parent[name]
        return root

    def union(self, a: str, b: str) -> None:
        first, second = self.find(a), self.find(b)
        if first != second:
            self.parent[second] = first

    def is_mutated(self, name: str) -> bool:
        return self.find(name) in self.mutated

    def written_after(self, s: n.Stmt, name: str) -> bool:
        """Whether the memory of ``name`` may be written once ``s`` has read it."""
        found = self.find(name)
        return found in self.after.get(id(s), ()) or any(self.find(x) == found for x in self.written_by.get(id(s), ()))

    def arrays_written(self, name: str) -> bool:
        """Whether something may write into an array in the class of ``name``, not only into what holds one."""
        found = self.find(name)
        for s in walk.statements(self.resolved.function.body):
            names = [x for x in self.written_by.get(id(s), ()) if self.find(x) == found]
            if names and not only_holders(self.resolved, s, names):
                return True
        return False

    def surely_written(self, name: str) -> bool:
        """Whether something in the class of ``name`` is written by more than a callee that is found at run time."""
        found = self.find(name)
        for s in walk.statements(self.resolved.function.body):
            if any(self.find(x) == found for x in self.written_by.get(id(s), ())):
                if not foreseen(self.resolved, self.resolved.sites.get(id(s))):
                    return True
        return False

    def members(self, names: Any) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for name in names:
            out.setdefault(self.find(name), []).append(name)
        return out


def only_holders(resolved: Resolved, s: n.Stmt, names: list[str]) -> bool:
    """Whether ``s`` surely writes into ``names`` as lists, dicts or objects, not into an array in them."""
    if type(s) is n.Append:
        return True
    if type(s) in (n.Store, n.Delete):
        kind = resolved.kind(s.target.value)
        return isinstance(kind, (Sequence, Mapping, Instance)) and resolved.sites.get(id(s)) is None
    if type(s) in (n.Assign, n.Effect) and type(s.value) is n.Call:
        site, func = resolved.sites.get(id(s)), s.value.func
        if site is not None and site.how == "construct":
            return names == [getattr(s, "target", None)]
        return (
            type(func) is n.Attr
            and func.name in _OF_HOLDERS
            and isinstance(resolved.kind(func.value), (Sequence, Mapping))
        )
    return False


_OF_HOLDERS = frozenset("append extend insert pop clear update setdefault popitem reverse".split())


def makes_view(site: Site) -> bool:
    """Whether the result of a library function may be a view of, or hold, what it is given."""
    if is_fold(site.callee):
        return any(map(has_memory, site.kinds[1:]))
    return returns_operand(site.callee)


def has_memory(kind: Kind) -> bool:
    """Whether a value of this kind can be changed in place or hold something that can."""
    if isinstance(kind, Num):
        return not kind.is_scalar
    if isinstance(kind, Opaque):
        return False
    if isinstance(kind, Known):
        return kind.value is not None and not isinstance(kind.value, _WITHOUT_MEMORY)
    if isinstance(kind, Tuple):
        return any((isinstance(k, Num) and k.field in ("real", "complex", "any")) or has_memory(k) for k in kind.items)
    return True


def find_aliases(resolved: Resolved, sharing: Sharing = NOTHING_SHARED) -> Aliases:
    """The alias classes of a function that shares this with its caller."""
    finder = _Finder(resolved)
    for x, y in one_object(resolved):
        finder.aliases.union(x, y)
    for s in walk.statements(resolved.function.body):
        finder.statement(s)
    written: dict[int, set[str]] = {}
    for s in walk.statements(resolved.function.body):
        names = finder.written(s)
        if names:
            finder.aliases.written_by[id(s)] = names
            written[id(s)] = {finder.aliases.find(x) for x in names}
    finder.aliases.mutated = set().union(*written.values()) if written else set()
    last = resolved.function.body[-1]
    returned = tuple(walk.names(last.value)) if type(last) is n.Return else ()
    finder.aliases.shared = {finder.aliases.find(x) for x in (*sharing.shared, *(returned if sharing.result else ()))}
    finder.aliases.mutated |= finder.aliases.shared
    find_spans(resolved, finder.aliases, lambda s: aliases_without(resolved, s))
    later = (*sharing.volatile, *(returned if sharing.returned else ()))
    outside = finder.aliases.outside = frozenset(map(finder.aliases.find, later))
    finder.aliases.changed = changed_names(resolved, finder.aliases.written_by)
    if written or outside:
        _After(finder.aliases, written).block(resolved.function.body, outside)
    return finder.aliases


def aliases_without(resolved: Resolved, left_out: n.Stmt) -> Aliases:
    """The alias classes of names if a statement did nothing."""
    finder = _Finder(resolved)
    for s in walk.statements(resolved.function.body):
        if s is not left_out:
            finder.statement(s)
    return finder.aliases


def changed_names(resolved: Resolved, written_by: dict[int, list[str]]) -> frozenset[str]:
    """Names whose memory others may see changed: not that of an object that is made here, or that only takes it in."""
    statements = list(walk.statements(resolved.function.body))
    changed: set[str] = set()
    for s in statements:
        site = resolved.sites.get(id(s))
        if id(s) in written_by and site is not None and site.how in ("inside", "lifted", "construct"):
            by_callee = resolved.mutated_params(site, changed=True) if resolved.mutated_params is not None else ()
            given = site.bound[1:] if site.how == "construct" and type(s) is n.Assign else site.bound
            changed.update(i for p, a in given if p in by_callee for i in walk.names(a))
        else:
            changed.update(written_by.get(id(s), ()))
    if not changed:
        return frozenset()
    finder = _Finder(resolved)
    finder.read = {i for s in statements if type(s) is not n.Store for i in walk.reads(s)}
    for s in statements:
        finder.statement(s)
    classes = {finder.aliases.find(x) for x in changed}
    return frozenset(x for x in {*resolved.kinds, *changed} if finder.aliases.find(x) in classes)


def aliases_of(resolved: Resolved) -> Aliases:
    """The alias classes of a resolved function, found once."""
    if "aliases" not in resolved.cache:
        resolved.cache["aliases"] = find_aliases(resolved)
    return resolved.cache["aliases"]  # type: ignore[no-any-return]


class _After:
    def __init__(self, aliases: Aliases, written: dict[int, set[str]]) -> None:
        self.aliases, self.written = aliases, written

    def block(self, block: list[n.Stmt], after: frozenset[str]) -> frozenset[str]:
        for s in reversed(block):
            after = self.statement(s, after)
        return after

    def statement(self, s: n.Stmt, after: frozenset[str]) -> frozenset[str]:
        if type(s) in (n.For, n.While):
            inside = {c for x in walk.statements([s]) for c in self.written.get(id(x), ())}
            after = after | inside
        self.aliases.after[id(s)] = after
        nested = walk.blocks(s)
        if type(s) is n.Try:  # what follows its body is its ``else`` or its handler
            after = self.block(s.body, self.block(s.orelse, after) | self.block(s.handler, after))
        elif nested:
            after = after.union(*(self.block(b, after) for b in nested))
        return after | self.written.get(id(s), frozenset())


class _Finder:
    def __init__(self, resolved: Resolved) -> None:
        self.resolved, self.aliases = resolved, Aliases(resolved=resolved)
        self.without = {name for name, kind in resolved.kinds.items() if not has_memory(kind)}
        self.residuals = residuals_of(resolved)
        self.read: set[str] | None = None  # names of what something is read from (None: it does not matter)
        self.held: dict[str, list[str]] = {}  # variables that hold a method which changes its owner, with the owner

    def memory(self, e: n.Expr) -> list[str]:
        """Names in ``e`` whose memory its value may reach."""
        return [i for i in walk.names(e) if i not in self.without]

    def link(self, target: str, sources: list[str]) -> None:
        if target not in self.without:
            for source in sources:
                if source not in self.without:
                    self.aliases.union(target, source)

    def statement(self, s: n.Stmt) -> None:
        t = type(s)
        self.through_variables(s)
        handed_on = self.residuals.flows(s)
        if handed_on is not None:
            for target, names in handed_on:
                self.link(target, list(names))
        elif t is n.Assign:
            self.link(s.target, self.sources(s.value, self.resolved.sites.get(id(s))))
            if type(s.value) is n.Attr and s.value.name in MUTATING_METHODS:
                self.held[s.target] = self.memory(s.value)
        elif t is n.Unpack:
            for target in s.targets:
                self.link(target, self.sources(s.value, self.resolved.sites.get(id(s))))
        elif t is n.For:
            self.link(s.target, self.sources(s.iter, self.resolved.sites.get(id(s))))
        elif t is n.With and s.target is not None:
            self.link(s.target, self.memory(s.item))
        elif t is n.Append:
            self.link(s.target, self.memory(s.value))
        elif t in (n.Store, n.Update) and type(s.target) is not n.Name:
            root = root_of(s.target)
            kind = self.resolved.kind(s.target.value)
            unread = self.read is not None and root not in self.read
            # an array takes a copy of what is stored into it
            if root is not None and not unread and not isinstance(kind, Num):
                self.link(root, [*self.memory(s.value), *object_keys(self.resolved, s)])
        elif t is n.Effect and type(s.value) is n.Call:
            self.effect(s.value, self.resolved.sites.get(id(s)))

    def through_variables(self, s: n.Stmt) -> None:
        """A callee may put what it is given into variables that functions share, and return what is in them."""
        site = self.resolved.sites.get(id(s))
        shared = [i for i in variables_of(self.resolved, site) if i not in self.without]
        if shared and site is not None:
            given = [i for _, a in site.bound for i in self.memory(a)]
            given += [i for a in (*site.args, *(v for _, v in site.kwargs)) for i in self.memory(a)]
            for other in (*given, *(x for x in walk.writes(s) if x not in self.without)):
                self.aliases.union(shared[0], other)

    def effect(self, e: n.Call, site: Site | None) -> None:
        """A call may put what it is given into what it is given."""
        if site is not None and (site.how == "constant" or is_numpy(site.callee)):
            return
        names = self.memory(e)
        for other in names[1:]:
            self.aliases.union(names[0], other)

    def sources(self, e: n.Expr, site: Site | None) -> list[str]:
        t = type(e)
        if t is n.Name:
            return [e.id]
        if site is not None and site.how == "constant" and t is not n.Call:
            return []
        if t is n.Inplace:  # a list or a dict takes in what is on the right; an array takes a copy of it
            number = isinstance(self.resolved.kind(e.left), Num) or is_total(self.resolved, e.left)
            return self.memory(e.left if number else e)
        if t is n.Unary and site is not None and site.how != "rule":
            return self.memory(e)  # a method of a class of the user's
        if t in (n.Const, n.Ref, n.Global, n.Compare, n.Unary, n.Slice):
            return []
        if t in (n.TupleExpr, n.ListExpr, n.DictExpr, n.SetExpr, n.Closure, n.Attr):
            return self.memory(e)
        if t is n.Index:
            return self.memory(e.value) if self.may_be_view(e) else []
        if t is n.Binary:
            if site is None or site.how == "dynamic" or not all(isinstance(k, Num) for k in site.kinds):
                return self.memory(e)
            return []
        if t is n.Call:
            return self.call(e, site)
        return self.memory(e)

    def may_be_view(self, e: n.Index) -> bool:
        container = self.resolved.kind(e.value)
        if not isinstance(container, Num):
            return True
        return not _gathers(self.resolved, e.index)

    def call(self, e: n.Call, site: Site | None) -> list[str]:
        outs = [i for v in out_operands(site, e) for i in self.memory(v)]
        if site is None:
            return self.memory(e)
        if site.how == "constant":
            return outs
        if site.how == "rule" and site.entry is not None and site.entry.layer == "library":
            name = getattr(site.callee, "__name__", "")
            on_array = bool(site.kinds) and isinstance(site.kinds[0], Num)
            fresh = on_array and name in _FRESH_IN_NUMPY and site.callee not in (max, min)
            if (getattr(site.callee, "__module__", None) or "").startswith(_OF_DERIVATIVES):
                return self.memory(e)  # what a derivative holds is what its function holds
            if not makes_view(site) or fresh:
                return outs
            if name == "einsum" and is_product(site):
                return outs
            if name == "array" and not any(k == "copy" for k, _ in e.kwargs):
                return outs
            if name == "astype" and not any(k == "copy" for k, _ in e.kwargs):
                return outs
        return self.memory(e)

    # ------------------------------------------------------------ writing

    def written(self, s: n.Stmt) -> list[str]:
        """Names whose memory ``s`` writes into."""
        t = type(s)
        site = self.resolved.sites.get(id(s))
        runs = site is not None and site.how in ("inside", "lifted")
        if runs and (t is n.Store or (t in (n.Assign, n.Effect, n.Unpack) and type(s.value) is not n.Call)):
            return [i for p, a in site.bound if p in self.mutates(site) for i in self.memory(a)]
        if t in (n.Store, n.Update) or (t is n.Delete and type(s.target) is not n.Name):
            root = root_of(s.target)
            return [] if root is None else [root]
        if t is n.Append:
            return [] if id(s) in self.residuals.appends else [s.target]
        if t is n.Assign and type(s.value) is n.Inplace:
            site = self.resolved.sites.get(id(s))
            inplace = site is not None and site.how == "inplace"
            return [*self.memory(s.value.left), s.target] if inplace else []
        if t in (n.Assign, n.Effect, n.Unpack) and type(s.value) is n.Call:
            site = self.resolved.sites.get(id(s))
            if site is not None and site.how == "construct" and site.bound:
                made = [s.target] if t is n.Assign else []
                return [*made, *(i for p, a in site.bound[1:] if p in self.mutates(site) for i in self.memory(a))]
            found = self.written_by_call(s.value, site)
            if not found:
                found = self.aliases.perhaps[id(s)] = self.unseen(s, s.value, site)
            return found
        return []

    def unseen(self, s: n.Stmt, e: n.Call, site: Site | None) -> list[str]:
        """What a call may change without anything in its text that says so.

        A library function without rule and source that is called for nothing but its effect may change whatever can be
        changed; and a method such as ``xs.append`` that a variable holds changes ``xs`` wherever it is handed to.
        """
        if site is not None and site.how == "constant" and library_of(site.callee) == "thunkad":
            return []  # the checks of what is left behind
        given = [i for a in (*e.args, *(v for _, v in e.kwargs)) for i in walk.names(a)]
        found = [i for x in (*walk.names(e.func), *given) if x in self.held for i in self.held[x]]
        if type(s) is n.Effect and site is not None and is_opaque(site):
            found += [i for a in (*site.args, *(v for _, v in site.kwargs)) for i in self.memory(a)]
        return found

    def written_by_call(self, e: n.Call, site: Site | None) -> list[str]:
        out = [i for v in (*out_operands(site, e), *dispatched_writes(site)) for i in self.memory(v)]
        first = first_is_written(site, e)
        if first is not None:
            out += self.memory(first)
        if site is not None and site.how in ("inside", "lifted"):
            out += [i for p, a in site.bound if p in self.mutates(site) for i in self.memory(a)]
        if foreseen(self.resolved, site):
            callee = (site.callee,) if isinstance(site.callee, (n.Name, n.Attr)) else ()
            out += [i for a in (*callee, *site.args, *(v for _, v in site.kwargs)) for i in self.memory(a)]
            out += variables_of(self.resolved, site)
        return out

    def mutates(self, site: Site) -> frozenset[str]:
        if site.callee in (items_of, keys_of):
            return frozenset()  # the iterator that is made is changed, and holds what it goes through
        self.aliases.rests_on_callees = True
        return self.resolved.mutated_params(site) if self.resolved.mutated_params is not None else frozenset()


def root_of(target: n.Expr) -> str | None:
    while type(target) in (n.Index, n.Attr):
        target = target.value
    return target.id if type(target) is n.Name else None


def _gathers(resolved: Resolved, index: n.Expr) -> bool:
    """Whether an index surely is fancy, so that the result is a copy."""
    parts = index.items if type(index) is n.TupleExpr else (index,)
    for p in parts:
        kind = resolved.kind(p)
        if (isinstance(kind, Sequence) and kind.cls is list) or (isinstance(kind, Num) and kind.form == "array"):
            return True
    return False


def basic(resolved: Resolved, index: n.Expr) -> bool:
    """Whether an index surely gives an element or a view."""
    parts = index.items if type(index) is n.TupleExpr else (index,)
    for p in parts:
        plain = type(p) is n.Const and (p.value is None or p.value is Ellipsis or type(p.value) is int)
        if plain or type(p) is n.Slice:
            continue
        if not is_basic_index(resolved.kind(p)):
            return False
    return True
