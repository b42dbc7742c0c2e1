"""Reads of captured parameters: where a derivative starts that enters a function by no argument."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from thunkad.analysis.sites import Resolved, Site
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Known
from thunkad.source.names import lookup
from thunkad.source.origin import library_of

_DEEPEST = 6
_FOREIGN = ("numpy", "scipy", "thunkad", "builtins", "math")


class Captured:
    """Which free names of which functions lead to a captured parameter: to the array itself, or to what holds it.

    Only those facts are remembered, no arrays: what is compiled serves other arrays that are found in the same places.
    """

    def __init__(self, volatile: bool = False) -> None:
        self.volatile = volatile  # the caller may write into the parameters before the reverse sweep runs
        self.arrays: dict[int, Any] = {}
        self.reads: dict[tuple[int, str], tuple[Any, str, bool]] = {}

    def aim(self, arrays: tuple[Any, ...]) -> None:
        self.arrays = {id(a): a for a in arrays}

    def reads_global(self, owner: Any, path: str) -> bool:
        """Whether the free name ``path`` of ``owner`` (or ``module.name``) leads to a parameter; remembered."""
        if owner is None:
            return False
        value = _value_at(owner, path)
        found = self.reaches(value)
        if not isinstance(value, _CODE):
            self.reads[id(owner), path] = owner, path, found
        return found

    def reads_attribute(self, owner: Any, name: str) -> bool:
        """Whether a class or function carries a parameter, or what holds one, under this name; remembered."""
        value = inspect.getattr_static(owner, name, None)
        if value is None or isinstance(value, _CODE):
            return False
        found = self.reaches(value)
        self.reads[id(owner), f".{name}"] = owner, f".{name}", found
        return found

    def reaches(self, value: Any) -> bool:
        """Whether ``value`` is one of the parameters or holds one."""
        return bool(self.arrays) and self._reaches(value, set(), 0)

    def overlaps(self, value: Any) -> bool:
        """Whether writing into arrays of ``value`` may change one of the parameters."""
        arrays = self.arrays.values()
        return self.reaches(value) or (
            isinstance(value, np.ndarray) and any(np.may_share_memory(value, a) for a in arrays)
        )

    def _reaches(self, value: Any, seen: set[int], depth: int) -> bool:
        if id(value) in self.arrays:
            return True
        if isinstance(value, (*_CODE, *_LEAF)) or depth > _DEEPEST or id(value) in seen:
            return False
        seen.add(id(value))
        return any(self._reaches(v, seen, depth + 1) for v in _parts(value))

    def still_holds(self, arrays: tuple[Any, ...]) -> bool:
        """Whether ``arrays`` are found in the same places as those for which code was compiled."""
        now = Captured()
        now.aim(arrays)
        return all(now.reaches(_value_at(owner, path)) == was for owner, path, was in self.reads.values())


class OutsideData:
    """All global variables and attributes of modules that hold data: a pullback must find them as they were."""

    def reads_global(self, owner: Any, path: str) -> bool:
        """Whether the free name ``path`` of ``owner`` (or ``module.name``) leads to numbers, or to what holds some."""
        value = None if owner is None else _value_at(owner, path)
        return not isinstance(value, (*_CODE, str, bytes, bool, type(None))) and not callable(value)


OUTSIDE_DATA = OutsideData()

_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc)
_LEAF = (np.ndarray, np.generic, str, bytes, int, float, complex, type(None))


def _value_at(owner: Any, path: str) -> Any:
    name, _, attribute = path.partition(".")
    if not name:
        return inspect.getattr_static(owner, attribute, None)
    try:
        value = lookup(owner, name)
    except KeyError:
        return None
    return getattr(value, attribute, None) if attribute else value


def _parts(value: Any) -> list[Any]:
    """What a container or an object holds."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, types.MethodType):
        return [value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if library_of(type(value)) in _FOREIGN:
        return []
    parts = list(getattr(value, "__dict__", {}).values())
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        parts += [getattr(value, x) for x in ((slots,) if isinstance(slots, str) else slots) if hasattr(value, x)]
        parts += class_data(cls)
    return parts


def class_data(cls: type) -> list[Any]:
    """Arrays and containers among the attributes of a user's class."""
    if library_of(cls) in _FOREIGN:
        return []
    return [v for v in vars(cls).values() if isinstance(v, (np.ndarray, list, tuple, dict))]


# ---------------------------------------------------------------- normal form


def hoist(function: n.Function, owner: Any, captured: Captured | OutsideData) -> n.Function:
    """``function`` with every read of such a global as a statement of its own."""
    return _Hoist(function, owner, captured).function_of(function)


class _Hoist:
    def __init__(self, function: n.Function, owner: Any, captured: Captured | OutsideData) -> None:
        self.owner, self.captured = owner, captured
        self.names = Names(walk.taken_names(function))

    def function_of(self, f: n.Function) -> n.Function:
        return n.Function(f.name, f.params, self.block(f.body), f.captures, f.line, f.filename)

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            self.statement(s, out)
        return out

    def statement(self, s: n.Stmt, out: list[n.Stmt]) -> None:
        reads: list[n.Stmt] = []

        def rewrite(e: n.Expr) -> n.Expr:
            t = type(e)
            if t is n.Global and self.captured.reads_global(self.owner, e.id):  # type: ignore[union-attr]
                name = self.names.new(f"{e.id}_read")  # type: ignore[union-attr]
                reads.append(n.Assign(name, e, line=s.line))
                return n.Name(name)
            if (
                t is n.Attr
                and type(e.value) is n.Global  # type: ignore[union-attr]
                and isinstance(_value_at(self.owner, e.value.id), types.ModuleType)  # type: ignore[union-attr]
            ):
                if self.captured.reads_global(self.owner, f"{e.value.id}.{e.name}"):  # type: ignore[union-attr]
                    name = self.names.new(f"{e.name}_read")  # type: ignore[union-attr]
                    reads.append(n.Assign(name, e, line=s.line))
                    return n.Name(name)
            if t is n.Closure:
                e = n.Closure(self.function_of(e.function), e.captures, e.defaults, e.kw_defaults)  # type: ignore[union-attr]
            return walk.map_expr(e, rewrite)

        t = type(s)
        if t is n.If:
            new: n.Stmt = n.If(rewrite(s.test), self.block(s.body), self.block(s.orelse), line=s.line, site=s.site)  # type: ignore[attr-defined]
        elif t is n.For:
            new = n.For(s.target, rewrite(s.iter), self.block(s.body), s.stop, s.count, line=s.line, site=s.site)  # type: ignore[attr-defined]
        elif t is n.While:
            test_body = self.block(s.test_body)  # type: ignore[attr-defined]
            test = rewrite(s.test)  # type: ignore[attr-defined]
            new = n.While([*test_body, *reads], test, self.block(s.body), s.stop, line=s.line, site=s.site)  # type: ignore[attr-defined]
            reads = []
        elif t is n.Assign and is_read(self.captured, self.owner, s.value):  # type: ignore[attr-defined]
            new = s
        elif t is n.Assert:
            new = n.Assert(rewrite(s.test), self.block(s.message_body), s.message, line=s.line, site=s.site)  # type: ignore[attr-defined]
        else:
            new = walk.map_stmt(s, rewrite)
        out.extend(reads)
        out.append(new)


def is_read(captured: Captured | OutsideData, owner: Any, e: n.Expr) -> bool:
    """Whether ``e`` reads a name that leads to a captured parameter, as an expression of its own."""
    if type(e) is n.Global:
        return captured.reads_global(owner, e.id)
    if type(e) is n.Attr and type(e.value) is n.Global and isinstance(_value_at(owner, e.value.id), types.ModuleType):
        return captured.reads_global(owner, f"{e.value.id}.{e.name}")
    return False


# ---------------------------------------------------------------- resolved code


def is_source(resolved: Resolved, s: n.Stmt) -> bool:
    """Whether ``s`` reads a captured parameter, or what holds one, from outside of the function."""
    captured: Captured | None = resolved.captured
    if captured is None or type(s) is not n.Assign:
        return False
    return is_read(captured, resolved.owner, s.value) or _reads_attribute_of_code(resolved, s.value)


def _reads_attribute_of_code(resolved: Resolved, e: n.Expr) -> bool:
    """Whether ``e`` reads a captured parameter that a class or a function carries as an attribute."""
    if type(e) is not n.Attr:
        return False
    if type(e.value) is n.Global:
        owner = None if resolved.owner is None else _value_at(resolved.owner, e.value.id)
    else:
        kind = resolved.kind(e.value)
        owner = kind.value if isinstance(kind, Known) else None
    return isinstance(owner, (type, types.FunctionType)) and resolved.captured.reads_attribute(owner, e.name)


def _check_class(resolved: Resolved, s: n.Stmt, cls: Any) -> None:
    """Objects that are made while the code runs lead to their class's data, too."""
    if isinstance(cls, type) and any(resolved.captured.reaches(v) for c in cls.__mro__ for v in class_data(c)):
        raise UnsupportedSyntaxError(
            f"{cls.__qualname__} holds a captured parameter as a class attribute, and an object of it is made here",
            resolved.place(s.line),
            f"read it as {cls.__name__}.…, or set it in __init__",
        )


def sources(resolved: Resolved, s: n.Stmt) -> tuple[str, ...]:
    """The names that ``s`` binds to a captured parameter, or to what a callee makes of one."""
    if resolved.captured is None or type(s) not in (n.Assign, n.Unpack, n.For):
        return ()
    site = resolved.sites.get(id(s))
    if isinstance(site, Site) and site.how == "construct":
        _check_class(resolved, s, site.callee)
    if isinstance(site, Site) and site.how in ("inside", "lifted", "dynamic", "construct"):
        return walk.writes(s) if site.how == "dynamic" or resolved.reads_captured(site) else ()
    return walk.writes(s) if is_source(resolved, s) else ()


def volatile_sources(resolved: Resolved) -> tuple[str, ...]:
    """Names bound to captured parameters, or to other data outside, that may be written before the sweep reads them."""
    if resolved.cache.get("outlives"):
        body = walk.statements(resolved.function.body)
        return tuple(s.target for s in body if type(s) is n.Assign and is_read(OUTSIDE_DATA, resolved.owner, s.value))
    if resolved.captured is None or not resolved.captured.volatile:
        return ()
    return tuple(s.target for s in walk.statements(resolved.function.body) if is_source(resolved, s))  # type: ignore[attr-defined]


def is_container_outside(owner: Any, e: n.Expr) -> bool:
    """Whether ``e``, a name from outside or an attribute of one, is a container or array, which an index picks from."""
    try:
        if type(e) is n.Attr and type(e.value) is n.Global:
            found = getattr(lookup(owner, e.value.id), e.name, None)
        else:
            found = lookup(owner, e.id) if type(e) is n.Global else e.value if type(e) is n.Ref else None
    except KeyError:
        return False
    return type(found) in (dict, list, tuple, str, np.ndarray)
