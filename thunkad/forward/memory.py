"""Which names may hold memory that is changed in place, and what a callee does to the memory of its parameters.

Names that may share memory form one class, whatever the order of statements.  In a class that is mutated every tangent
is a buffer of its own, laid out like its primal, so that the statements that alias and change the primal can be
repeated on the tangent.  Parameters that a function changes are part of its :class:`Summary`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.changing import makes_changing
from thunkad.analysis.late_calls import foreseen, variables_of
from thunkad.analysis.residuals import residuals_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.views import ARRAY_VIEWS, is_fold
from thunkad.analysis.writing import dispatched_writes, is_product, is_shared_dispatch
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Known, Mapping, Num, Opaque, Sequence
from thunkad.records import field, record
from thunkad.runtime import arrays, cotangents

#: Runtime helpers that hand on the cotangent that they are given.
_FRESH = frozenset(
    "zeros own tangent_buffer index_bar len range isinstance float int bool complex abs round print".split()
)
MUTATING = frozenset(
    "append appendleft extend extendleft insert pop popleft remove rotate sort reverse clear update setdefault popitem "
    "move_to_end fill put itemset resize partition "
    "add discard".split()
)


@record
class Summary:
    """What calling a function does to its parameters: which it changes, and which its result may share memory with."""

    mutated: frozenset[str] = frozenset()
    overwritten: frozenset[str] = frozenset()  # of these, those that reach an array that is written
    aliased: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()  # those that a callee found when the code runs may change
    makes_changing: bool = False  # whether it makes functions that change what they capture


#: Asks for the summary of the callee of an 'inside' or 'lifted' site.
Ask = Callable[[Site], Summary]


@record
class Memory:
    """Classes of names by representative; ``mutated`` holds the representatives of those that are changed in place.

    ``made`` are the names of containers that the function itself makes, ``changed`` the changed names that are not:
    what is only put into a list of the function's own stays as it is.  ``overwritten`` are those of ``changed`` that
    may be arrays: what a list or an object holds stays as it is where that gets or loses an item or a field.
    """

    parent: dict[str, str] = field(default_factory=dict)
    mutated: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    overwritten: set[str] = field(default_factory=set)

    def find(self, x: str) -> str:
        root = x
        while (up := self.parent.get(root, root)) != root:
            root = up
        while (up := self.parent.get(x, x)) != root:
            self.parent[x], x = root, up
        return root

    def union(self, x: str, y: str) -> None:
        a, b = self.find(x), self.find(y)
        if a != b:
            self.parent[a] = b
            if a in self.mutated:
                self.mutated.add(b)

    def change(self, x: str, itself: bool = False, container: bool = False) -> None:
        """Note that memory in the class of ``x`` is changed; with ``itself``, not that of what it holds.

        ``container``: it is only a list or the like that gets or loses an item.
        """
        self.mutated.add(self.find(x))
        if not itself or x not in self.made:
            self.changed.add(x)
            if not container:
                self.overwritten.add(x)

    def is_mutated(self, x: str) -> bool:
        return self.find(x) in self.mutated

    def classes(self, names: set[str]) -> set[str]:
        return {self.find(x) for x in names}

    def share(self, x: str, y: str) -> bool:
        return self.find(x) == self.find(y)


def memory_of(resolved: Resolved, ask: Ask) -> Memory:
    """The classes of memory of a function in normal form."""
    run = _Run(resolved, ask)
    run.memory.made = _made(resolved)
    for s in walk.statements(resolved.function.body):
        run.statement(s)
    return run.memory


def _made(resolved: Resolved) -> set[str]:
    """The names that are bound to displays of lists, sets and dicts, and to nothing else."""
    made: set[str] = set()
    other = {p.name for p in resolved.function.params} | set(resolved.function.captures)
    for s in walk.statements(resolved.function.body):
        display = type(s) is n.Assign and type(s.value) in (n.ListExpr, n.SetExpr, n.DictExpr)
        (made if display else other).update(walk.writes(s))
    return made - other


def summary_of(resolved: Resolved, memory: Memory, ask: Ask) -> Summary:
    """What the function does to its parameters."""
    function = resolved.function
    params = [*function.captures, *(p.name for p in function.params)]
    last = function.body[-1]
    result = set(walk.names(last.value)) if type(last) is n.Return else set()
    changed, overwritten = memory.classes(memory.changed), memory.classes(memory.overwritten)
    return Summary(
        frozenset(p for p in params if memory.find(p) in changed),
        frozenset(p for p in params if memory.find(p) in overwritten),
        frozenset(p for p in params if any(memory.share(p, r) for r in result)),
        _given_late(resolved, memory, ask, params) if resolved.writes_late else frozenset(),
        makes_changing(function),
    )


def _given_late(resolved: Resolved, memory: Memory, ask: Ask, params: list[str]) -> frozenset[str]:
    """The parameters that reach a call whose callee is found when the code runs."""
    found: set[str] = set()
    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        if foreseen(resolved, site):
            found.update(x for e in walk.expressions(s) for x in walk.names(e))
        elif site is not None and site.how in ("inside", "lifted"):
            late = ask(site).late
            found.update(x for p, e in site.bound if p in late for x in walk.names(e))
    classes = {memory.find(x) for x in found}
    return frozenset(p for p in params if memory.find(p) in classes)


class _Run:
    def __init__(self, resolved: Resolved, ask: Ask) -> None:
        self.resolved, self.ask, self.memory = resolved, ask, Memory()
        self.residuals = residuals_of(resolved)

    def holds(self, x: str) -> bool:
        """Whether ``x`` may hold memory that can be shared."""
        kind = self.resolved.kinds.get(x)
        return not ((isinstance(kind, Num) and kind.is_scalar) or isinstance(kind, (Known, Opaque)))

    def join(self, x: str, e: n.Expr) -> None:
        if self.holds(x):
            for y in walk.names(e):
                if self.holds(y):
                    self.memory.union(x, y)

    def change(self, e: n.Expr, replaces: bool = True, container: bool = False) -> None:
        """``replaces``: what ``e`` held is not changed but gives way to another value."""
        if type(e) in (n.TupleExpr, n.ListExpr, n.DictExpr, n.Star):  # collected for a callee
            for part in walk.children(e):
                self.change(part, replaces, container)
        itself = replaces and type(e) in (n.Index, n.Attr) and type(e.value) is n.Name  # type: ignore[union-attr]
        is_field = type(e) is n.Attr and not hasattr(np.ndarray, e.name)  # no array has a method ``append``, either
        while type(e) in (n.Index, n.Attr):
            e = e.value  # type: ignore[union-attr]
        if type(e) is n.Name:
            container = container or (itself and (is_field or self.is_container(e.id)))
            self.memory.change(e.id, itself, container)

    def is_container(self, x: str) -> bool:
        return isinstance(self.resolved.kinds.get(x), (Sequence, Mapping, Instance))

    def through_variables(self, s: n.Stmt, site: Site | None) -> None:
        """A callee may put what it is given into variables that functions share, and return what is in them."""
        shared = variables_of(self.resolved, site)
        if shared and site is not None:
            given = [*(a for _, a in site.bound), *site.args, *(v for _, v in site.kwargs)]
            for x in (*(i for e in given for i in walk.names(e)), *walk.writes(s)):
                self.join(shared[0], n.Name(x))
            if site.how == "dynamic":
                for x in shared:
                    self.memory.change(x, True, True)

    def statement(self, s: n.Stmt) -> None:
        t = type(s)
        site = self.resolved.sites.get(id(s))
        self.through_variables(s, site)
        handed_on = self.residuals.flows(s)
        if handed_on is not None:
            for target, names in handed_on:
                for x in names:
                    self.join(target, n.Name(x))
        elif t is n.Assign:
            self.value(s.target, s.value, site)
        elif t is n.Unpack:
            for target in s.targets:
                self.value(target, s.value, site)
            for target in s.targets[1:]:
                if self.holds(target) and self.holds(s.targets[0]) and type(s.value) is n.Name:
                    self.memory.union(s.targets[0], target)
        elif t is n.For:
            self.value(s.target, s.iter, site)
        elif t is n.Append:
            self.memory.change(s.target, True, True)
            self.join(s.target, s.value)
        elif t in (n.Store, n.Update):
            self.change(s.target, replaces=t is n.Store)
            root = s.target
            while type(root) in (n.Index, n.Attr):
                root = root.value
            kind = self.resolved.kind(root)
            if type(root) is n.Name and not isinstance(kind, Num):
                self.join(root.id, s.value)
        elif t is n.Delete and type(s.target) is not n.Name:
            self.change(s.target)
        elif t is n.Effect:
            self.effect(s.value, site)

    def value(self, target: str, e: n.Expr, site: Site | None) -> None:
        if type(e) is n.Inplace:
            self.join(target, e.left)
            if site is None or site.how == "inplace":
                self.change(e.left)
            elif site.how in ("inside", "lifted"):
                self.call(target, e, site)
            return
        if type(e) is n.Index:
            self.join(target, e.value)
            if site is not None and site.how in ("inside", "lifted"):
                self.call(target, e, site)
            return
        if site is not None:
            self.call(target, e, site)
        elif type(e) not in (n.Compare, n.Const):
            self.join(target, e)

    def effect(self, e: n.Expr, site: Site | None) -> None:
        if site is not None:
            self.call(None, e, site)

    def call(self, target: str | None, e: n.Expr, site: Site) -> None:
        operands = [*site.args, *(v for _, v in site.kwargs)]
        if (
            type(e) is n.Call
            and type(e.func) is n.Attr
            and e.func.name in MUTATING
            and site.how not in ("inside", "lifted")
        ):
            self.change(e.func)
            root = e.func.value
            if type(root) is n.Name:
                for a in e.args:
                    self.join(root.id, a)
        if site.how in ("inside", "lifted"):
            if not any(self.holds(i) for _, a in site.bound for i in walk.names(a)):
                return
            summary = self.ask(site)
            for p, a in site.bound:
                if p in summary.mutated:
                    self.change(a, container=p not in summary.overwritten)
                if target is not None and p in summary.aliased:
                    self.join(target, a)
            return
        for k, v in site.kwargs:
            if k == "out":
                self.change(v)
        for a in dispatched_writes(site):
            self.change(a)
        late: list[n.Expr] = []
        if foreseen(self.resolved, site) and not self.resolved.function.generated:
            late = [*operands, site.callee] if isinstance(site.callee, (n.Name, n.Attr)) else operands
        for x in (x for a in late for x in walk.names(a) if self.holds(x)):
            self.memory.change(x)
        if late or is_shared_dispatch(site):
            given = [x for a in late or dispatched_writes(site) for x in walk.names(a) if self.holds(x)]
            for x in given[1:]:
                self.memory.union(given[0], x)
        if site.callee is setattr and len(operands) == 3 and type(operands[0]) is n.Name:
            is_array = isinstance(self.resolved.kind(operands[0]), Num)
            self.memory.change(operands[0].id, True, not is_array)
            self.join(operands[0].id, operands[2])
        if changes_first(site.callee) and operands:
            self.change(operands[0])
        if target is not None and not makes_fresh(site):
            for a in handed_on(site, operands):
                self.join(target, a)
            if isinstance(site.callee, (n.Name, n.Attr)):
                self.join(target, site.callee)


def changes_first(fn: Any) -> bool:
    """Whether a library function or a helper changes its first argument in place."""
    name = getattr(fn, "__name__", "")
    if name in (
        "copyto",
        "put",
        "place",
        "putmask",
        "fill_diagonal",
        "put_along_axis",
        "index_add",
        "item_add",
        "take_stored",
        "take_moved",
    ):
        return True
    return name == "at" and isinstance(getattr(fn, "__self__", None), np.ufunc)


def makes_fresh(site: Site) -> bool:
    """Whether the result of a call shares no memory with its operands."""
    fn = site.callee
    if fn is np.conjugate:  # the method .conj() of a real array returns the array itself
        return False
    if isinstance(fn, np.ufunc) or site.how == "constant" or (fn is np.einsum and is_product(site)):
        return True
    name = getattr(fn, "__name__", "")
    if name in _FRESH:
        return True
    module = getattr(fn, "__module__", None) or ""
    return (
        module.split(".")[0] in ("numpy", "math", "cmath", "scipy")
        and name not in ARRAY_VIEWS
        and isinstance(name, str)
        and not is_fold(fn)
    )


def handed_on(site: Site, operands: list[n.Expr]) -> list[n.Expr]:
    """The operands of a call whose memory its result may be: a helper that is linear hands on what it is linear in."""
    if site.how != "rule" or site.entry is None or site.entry.layer != "library":
        return operands
    places = getattr(site.entry.function, "linear_in", None)
    if places is not None:  # of two factors it makes something new
        return operands[:1] if len(places) == 1 else []
    return operands[:1] if any(site.callee is known for known in _LIKE) else operands


#: Helpers that give their first argument the shape, type or structure of another one, which they only look at.
_LIKE = (
    arrays.unbroadcast,
    arrays.stretch,
    cotangents.dense,
    cotangents.own,
    cotangents.project,
    cotangents.project_copy,
)


def hands_on(site: Site) -> bool:
    """Whether a library function may return a view of its operand, or a new container of what is in it."""
    name = getattr(site.callee, "__name__", "")
    return not makes_fresh(site) and (name in ARRAY_VIEWS or name in ("copy", "flatten", "dict", "list"))
