"""Arrays, lists, dicts and objects that a function reaches by a global or closure name and may write into.

Such a name is read once, at the start, into a local; from there on it is memory like any other.  Derivatives don't
follow it from one function to another: where one stores what is differentiated and another uses the same object, that
is refused by name, and so is storing it in an attribute of a class, a module or a function.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from thunkad.analysis.activity import varied_names
from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved
from thunkad.analysis.writing import MUTATING_METHODS, WRITING_FUNCTIONS
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.source.names import lookup

_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc)
_VALUES = (str, bytes, int, float, complex, np.generic, type(None), tuple, frozenset)
_FOREIGN = ("numpy", "scipy", "thunkad", "builtins", "math", "itertools", "functools", "operator")
HINT = (
    "pass it as an argument and return what is new in it; thunkad.stop_gradient(…) stores a value without derivatives"
)


def value_at(owner: Any, name: str) -> Any:
    """What the free name holds now; None if nothing."""
    try:
        return None if owner is None else lookup(owner, name)
    except KeyError:
        return None


def is_data(value: Any) -> bool:
    """Whether ``value`` can be written into and isn't code."""
    if isinstance(value, (*_CODE, *_VALUES)):
        return False
    if isinstance(value, (np.ndarray, list, dict, set)):
        return True
    return type(value).__module__.split(".")[0] not in _FOREIGN and hasattr(value, "__dict__")


def local_memory(function: n.Function, owner: Any) -> n.Function:
    """``function``, in normal form, with a local name for each such object that it may write into."""
    names = [x for x in _written(function.body, owner) if is_data(value_at(owner, x))]
    if not names:
        return function
    fresh = Names(walk.taken_names(function))
    locals_ = {x: n.Name(fresh.new(f"{x}_here")) for x in names}

    def rewrite(e: n.Expr) -> n.Expr:
        if type(e) is n.Global and e.id in locals_:
            return locals_[e.id]
        return walk.map_expr(e, rewrite)

    first: list[n.Stmt] = [n.Assign(locals_[x].id, n.Global(x), line=function.line) for x in names]
    body = [walk.map_stmt(s, rewrite) for s in function.body]
    return n.Function(
        function.name, function.params, [*first, *body], function.captures, function.line, function.filename
    )


def _root(e: n.Expr) -> n.Expr:
    while type(e) in (n.Index, n.Attr):
        e = e.value  # type: ignore[union-attr]
    return e


def _written(block: list[n.Stmt], owner: Any) -> Iterator[str]:
    """Free names whose memory a statement may write into, each once."""
    seen: set[str] = set()
    for s in walk.statements(block):
        named = [s.value] if type(s) is n.Assign and type(s.value) is n.Global else []
        for e in (*_places(s, owner), *named):
            root = _root(e)
            if type(root) is n.Global and root.id not in seen:
                seen.add(root.id)
                yield root.id


def _places(s: n.Stmt, owner: Any) -> list[n.Expr]:
    """What ``s`` writes into, and what it hands to functions of the user's, which may."""
    if type(s) in (n.Store, n.Update, n.Delete):
        return [s.target] if type(s.target) in (n.Index, n.Attr) else []
    e = getattr(s, "value", None)
    if type(s) is n.Assign and type(e) is n.Inplace:
        return [e.left]
    if type(e) is not n.Call:
        return []
    out = [x for k, v in e.kwargs if k == "out" for x in (v.items if type(v) is n.TupleExpr else (v,))]
    name = e.func.name if type(e.func) is n.Attr else ""
    if name in MUTATING_METHODS:
        out.append(e.func.value)  # type: ignore[attr-defined]
    if name in WRITING_FUNCTIONS or name == "at":
        out += e.args[:1]
    if _is_the_users(e.func, owner):
        out += [*e.args, *(v for _, v in e.kwargs), *([e.func.value] if type(e.func) is n.Attr else [])]
    return out


def _is_the_users(func: n.Expr, owner: Any) -> bool:
    """Whether what is called may be code of the user's that changes what it is given."""
    root = _root(func)
    if type(root) is not n.Global:
        return type(func) is n.Name
    value = value_at(owner, root.id)
    if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _FOREIGN:
        return False
    return getattr(value, "__module__", None) is None or value.__module__.split(".")[0] not in _FOREIGN


class GlobalMemory:
    """Where the functions of one world store what is differentiated into such objects, and who else uses them."""

    def __init__(self) -> None:
        self.root: Any = None  # the function that is differentiated
        self.stored: dict[int, tuple[str, Place]] = {}  # object → what the root calls it, and where it is
        self.used: dict[int, str] = {}  # object → another function that uses it
        self.kept: list[Any] = []

    def note(self, resolved: Resolved, nested: bool = False) -> None:
        """Note what ``resolved`` does; raise where a derivative would get lost.

        ``nested``: it is a function made inside its owner.
        """
        function, owner = resolved.function, resolved.owner
        if not isinstance(owner, types.FunctionType):
            return
        is_root = owner is self.root and not nested
        made = {s.target: s.value.id for s in function.body if _reads_data(s, owner)} if not nested else {}
        self.check_places(resolved)
        for s in function.body:
            if not (_reads_data(s, owner) and s.target in made):  # type: ignore[attr-defined]
                continue
            name = made[s.target]  # type: ignore[attr-defined]
            if not self.receives(resolved, s.target):  # type: ignore[attr-defined]
                continue
            again = any(site.callee is owner for site in resolved.sites.values())
            if not is_root or again:
                raise self.lost(f"{function.name} stores", name, resolved.place(function.line))
            value = value_at(owner, name)
            self.kept.append(value)
            self.stored[id(value)] = name, resolved.place(function.line)
        if not is_root:
            for value in _free_data(function.body, owner):
                self.kept.append(value)
                self.used[id(value)] = function.name
        for found in self.stored.keys() & self.used.keys():
            name, place = self.stored[found]
            raise self.lost(f"{self.used[found]} uses {name!r}, and {self.root.__name__} stores", name, place)

    def receives(self, resolved: Resolved, name: str) -> bool:
        """Whether something that is differentiated is written into the memory of ``name``."""
        aliases = aliases_of(resolved)
        if not aliases.is_mutated(name):
            return False
        found = aliases.find(name)
        return any(
            not self.varied(resolved).isdisjoint(walk.reads(s))
            for s in walk.statements(resolved.function.body)
            if any(aliases.find(x) == found for x in aliases.written_by.get(id(s), ()))
        )

    def varied(self, resolved: Resolved) -> frozenset[str]:
        if "varied by any" not in resolved.cache:
            parameters = {*resolved.function.captures, *(p.name for p in resolved.function.params)}
            resolved.cache["varied by any"] = varied_names(resolved, parameters)
        return resolved.cache["varied by any"]  # type: ignore[no-any-return]

    def lost(self, who: str, name: str, place: Place) -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(
            f"{who} what is differentiated into {name!r}, an object that is no argument: "
            "the derivative is not followed from one call to another through it",
            place,
            HINT,
        )

    def check_places(self, resolved: Resolved) -> None:
        """Refuse stores into classes, modules, functions, and into what a nested function reaches by a free name."""
        owner = resolved.owner
        for s in walk.statements(resolved.function.body):
            for e in _places(s, owner) if type(s) is not n.Delete else ():
                root = _root(e)
                if type(root) not in (n.Global, n.Ref) or self.varied(resolved).isdisjoint(walk.reads(s)):
                    continue
                value = value_at(owner, root.id) if type(root) is n.Global else root.value  # type: ignore[union-attr]
                if type(s) in (n.Store, n.Update) and isinstance(value, _CODE):
                    kind = "class" if isinstance(value, type) else type(value).__name__
                    raise UnsupportedSyntaxError(
                        f"storing what is differentiated in an attribute of a {kind} is not supported",
                        resolved.place(s.line),
                        HINT,
                    )
                if type(root) is n.Global and is_data(value):
                    raise self.lost(f"{resolved.function.name} stores", root.id, resolved.place(s.line))


def _reads_data(s: n.Stmt, owner: Any) -> bool:
    return type(s) is n.Assign and type(s.value) is n.Global and is_data(value_at(owner, s.value.id))


def _free_data(block: list[n.Stmt], owner: Any) -> Iterator[Any]:
    """The objects that ``block`` reaches by free names."""
    for s in walk.statements(block):
        for e in walk.parts(*walk.expressions(s)):
            if type(e) is n.Global and is_data(value := value_at(owner, e.id)):
                yield value
