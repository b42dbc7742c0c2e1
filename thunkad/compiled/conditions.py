"""Text of the tests that stand in front of compiled code, and functions made of it.

Every object that a test is about is a closure variable of the function, so that a test costs a few loads and an ``is``.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from thunkad.compiled.guards import (
    AbsentGuard,
    AttributeGuard,
    CodeGuard,
    DefaultsGuard,
    Guard,
    MemberGuard,
    NameGuard,
    is_leaf,
    same,
)
from thunkad.kinds.lattice import Kind, Known, Mapping, Num, Opaque, Sequence, Tuple
from thunkad.kinds.observe import ONE_KIND, kind_of

_ONE_KIND = [{cls} for cls in ONE_KIND]
_TYPE_IS_ENOUGH = (str, bytes, range, slice)
_DTYPE_KINDS = {"bool": "b", "int": "iu", "real": "f", "complex": "c"}


class Text:
    """A function under construction: what its tests refer to, by name.

    ``fn`` is the function of the user's in whose globals it runs, so that names of that module are plain loads.
    """

    def __init__(self, fn: types.FunctionType | None, taken: set[str]) -> None:
        self.fn = fn
        self.free = () if fn is None else fn.__code__.co_freevars
        self.taken = {*taken, *self.free}
        self.refs: dict[str, Any] = {}
        self.shared: set[str] = set()
        self._spelled: dict[int, str] = {}
        self.used: set[str] = set()  # free variables of the user's that are tested

    def ref(self, value: Any, wish: str = "r") -> str:
        """The name of an object."""
        name = self._spelled.get(id(value))
        if name is None:
            name = self.new(wish)
            self.refs[name] = value
            self._spelled[id(value)] = name
        return name

    def cell(self, cell: types.CellType) -> str:
        """The name of what is in a closure cell, whenever it is read."""
        name = self.new("cell")
        self.refs[name] = cell
        self.shared.add(name)
        return name

    def new(self, wish: str) -> str:
        """A name that nothing else has."""
        k = len(self.refs)
        name = f"{wish}_{k}"
        while name in self.taken:
            k += 1
            name = f"{wish}_{k}"
        self.taken.add(name)
        return name

    # ------------------------------------------------------------ tests; each is true if something is not as it was

    def changed(self, guard: Guard) -> str:
        """The test of a guard."""
        if isinstance(guard, NameGuard):
            return self.rebound(guard)
        if isinstance(guard, CodeGuard):
            return f"{self.ref(guard.fn)}.__code__ is not {self.ref(guard.code)}"
        if isinstance(guard, AttributeGuard):
            return self.other(f"{self.ref(guard.base)}.{guard.name}", guard.value, guard.kind)
        if isinstance(guard, DefaultsGuard) and not guard.keyword:
            fn = self.ref(guard.fn)
            return f"{fn}.__defaults__ is not {self.ref(guard.defaults)} or {fn}.__kwdefaults__"
        if isinstance(guard, MemberGuard):
            return f"{self.ref(guard.cls)}.__dict__[{guard.name!r}] is not {self.ref(guard.value)}"
        if isinstance(guard, AbsentGuard):
            return f"not {self.ref(guard.cls)}.__dict__.keys().isdisjoint({self.ref(guard.names)})"
        return f"not {self.ref(guard)}.holds()"

    def rebound(self, guard: NameGuard) -> str:
        owner, name = guard.owner, guard.name
        if guard.where == "closure":
            if owner is self.fn:
                self.used.add(name)
                return self.other(name, guard.value, guard.kind)
            cell = owner.__closure__[owner.__code__.co_freevars.index(name)]
            return self.other(f"{self.ref(cell)}.cell_contents", guard.value, guard.kind)
        if self.fn is not None and owner.__globals__ is self.fn.__globals__ and name not in self.free:
            return self.other(name, guard.value, guard.kind)
        if guard.where == "global":
            return self.other(f"{self.ref(owner.__globals__)}[{name!r}]", guard.value, guard.kind)
        return f"{name!r} in {self.ref(owner.__globals__)}"  # a builtin that nobody hides

    def other(self, read: str, value: Any, kind: Kind) -> str:
        if isinstance(kind, Known):
            return f"{read} {'!=' if type(value) is str else 'is not'} {self.ref(value)}"
        # data may be rebound to data of its kind: the code reads it live
        quick = f"{read} is not {self.ref(value)} and " if is_leaf(kind) else ""
        return f"{quick}not {self.ref(same)}({read}, {self.ref(value)}, {self.ref(kind)})"

    def argument(self, name: str, value: Any, kind: Kind) -> str:
        """Whether an argument is of another kind than ``value``."""
        cls = type(value)
        is_class = f"{self.ref(type)}({name}) is not {self.ref(cls)}"
        if isinstance(kind, Num):
            if cls is np.ndarray:
                dtype = self.ref(value.dtype)
                letters = _DTYPE_KINDS[kind.field]
                kinds = f"{name}.dtype.kind not in {letters!r}"
                return f"{is_class} or {name}.ndim != {value.ndim} or {name}.dtype is not {dtype} and {kinds}"
            if cls in (float, int, bool, complex) or issubclass(cls, np.generic):
                return is_class
        if isinstance(kind, Known) and cls not in (str, bytes):
            return f"{name} is not {self.ref(value)}"
        if isinstance(kind, Opaque) and cls in _TYPE_IS_ENOUGH:
            return is_class
        if isinstance(kind, Sequence) and cls is list and {*map(type, value)} in _ONE_KIND:
            return f"{is_class} or {{*{self.ref(map)}({self.ref(type)}, {name})}} != {self.ref({*map(type, value)})}"
        if isinstance(kind, Tuple) and cls is tuple and _is_flat(kind.items):
            length = f"{self.ref(len)}({name}) != {len(value)}"
            return self.entries(f"{is_class} or {length}", name, enumerate(value), kind.items)
        if isinstance(kind, Mapping) and cls is dict and kind.entries is not None:
            if _is_flat([k for _, k in kind.entries]) and all(type(key) is str for key in value):
                first = f"{is_class} or (*{name},) != {tuple(value)!r}"
                return self.entries(first, name, value.items(), [k for _, k in kind.entries])
        return f"{self.ref(kind_of)}({name}) != {self.ref(kind)}"

    def entries(self, first: str, name: str, values: Iterable[tuple[Any, Any]], kinds: Iterable[Kind]) -> str:
        """``first``, and whether any entry of a container is of another kind than it was."""
        return " or ".join((first, *(self.argument(f"{name}[{key!r}]", v, k) for (key, v), k in zip(values, kinds))))

    # ------------------------------------------------------------ the function

    def function(self, name: str, text: str) -> types.FunctionType:
        """The function that ``text`` defines, in the globals and with the cells of the user's."""
        used = [v for v in self.free if v in self.used]
        outer = f"def factory({', '.join((*self.refs, *used))}):\n"
        code = compile(outer + text, f"<thunkad {name}>", "exec", dont_inherit=True)
        (make,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
        (inner,) = (c for c in make.co_consts if isinstance(c, types.CodeType))
        cells: dict[str, types.CellType] = {
            k: v if k in self.shared else types.CellType(v) for k, v in self.refs.items()
        }
        if self.fn is not None:
            cells.update((v, c) for v, c in zip(self.free, self.fn.__closure__ or ()) if v in self.used)
        namespace = {} if self.fn is None else self.fn.__globals__
        return types.FunctionType(inner, namespace, name, None, tuple(cells[v] for v in inner.co_freevars))


def _is_flat(kinds: Collection[Kind]) -> bool:
    """Whether a container of entries of these kinds is tested entry by entry: they are few, none is a container."""
    return len(kinds) <= 8 and all(isinstance(k, (Num, Known, Opaque)) for k in kinds)


#: What a test may raise if what it is about is gone.
GONE = (NameError, AttributeError, LookupError, ValueError, TypeError)


def checker(guards: list[Guard]) -> Any:
    """A function without arguments: whether all these guards hold."""
    text = Text(None, {guard.name for guard in guards if isinstance(guard, NameGuard)})
    tests = [text.changed(guard) for guard in guards]
    gone = text.ref(GONE)
    lines = [
        "    def check():",
        "        try:",
        f"            return not ({any_of(tests)})",
        f"        except {gone}:",
        "            return False",
    ]
    return text.function("check", "\n".join(lines) + "\n")


def any_of(tests: list[str]) -> str:
    return " or ".join(f"({t})" if " and " in t else t for t in tests) or "False"
