"""Printed names: a spelling for every pinned object and generated function that collides with nothing of the user's."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from thunkad.errors import ThunkadError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names

_FAULT = "This is a fault of ThunkAD, not of your function: please report it."


def all_parameters(f: n.Function) -> list[n.Param]:
    """The printed parameters of ``f``: its captures, then its own (which may name the captures already)."""
    own = {p.name for p in f.params}
    return [n.Param(c) for c in f.captures if c not in own] + list(f.params)


class Scan:
    """What one function, nested definitions included, binds and refers to; everything in order of appearance."""

    def __init__(self, function: n.Function) -> None:
        self.function = function
        self.locals: dict[str, None] = {}
        self.globals: dict[str, None] = {}
        self.functions: dict[int, n.Function] = {}
        self.reads: Counter[str] = Counter()
        self.unbound: dict[str, None] = {}
        self._scope(function, frozenset())

    def _scope(self, f: n.Function, outer: frozenset[str]) -> None:
        bound = outer | {p.name for p in all_parameters(f)} | walk.assigned(f.body)
        self.locals.update(dict.fromkeys(p.name for p in all_parameters(f)))
        s: Any
        for s in walk.statements(f.body):
            self.locals.update(dict.fromkeys(walk.writes(s)))
            for e in walk.expressions(s):
                self._expression(e, bound)
            if type(s) is n.SetGlobal:
                self.globals[s.name] = None
            if type(s) is n.Append:
                self._read(s.target, bound)
            elif type(s) in (n.For, n.While) and s.stop is not None:
                self._read(s.stop, bound)
            elif type(s) is n.Delete and type(s.target) is n.Name:
                self._read(s.target.id, bound)
            elif type(s) is n.Define:
                self._scope(s.function, bound)

    def _read(self, name: str, bound: frozenset[str]) -> None:
        self.reads[name] += 1
        if name not in bound:
            self.unbound[name] = None

    def _expression(self, e: Any, bound: frozenset[str]) -> None:
        stack: list[Any] = [e]
        while stack:
            e = stack.pop()
            t = type(e)
            if t is n.Name:
                self._read(e.id, bound)
            elif t is n.Global:
                if e.id in bound:
                    message = f"{self.function.name}: {e.id!r} is both a local and a global of generated code"
                    raise ThunkadError(message, hint=_FAULT)
                self.globals[e.id] = None
            elif t is n.Lambda:
                self.locals.update(dict.fromkeys(e.params))
                self._expression(e.body, bound | set(e.params))
            elif t is n.Closure:
                self.functions[id(e.function)] = e.function
                stack.extend(reversed(walk.children(e)))
            elif t is n.Ref:
                if isinstance(e.value, n.Function):
                    self.functions[id(e.value)] = e.value
            elif t is not n.Const:
                stack.extend(reversed(walk.children(e)))


class Linker:
    """The names of one generated module.

    Parameters
    ----------
    functions : list of Function
        The functions asked for.  Those that they refer to (``Closure.function``, ``Ref`` to a ``Function``) join them.
    globals_of : mapping, optional
        What the user's globals, builtins and closure variables are bound to.

    Attributes
    ----------
    functions : list of Function
        All functions to print, in order.
    refs : dict
        Printed name to object, filled as :meth:`spell` is called.
    globals : tuple of str
        Globals, builtins and closure variables of the user's that the code reads.
    """

    def __init__(self, functions: list[n.Function], globals_of: Mapping[str, Any] | None = None) -> None:
        self._namespace = globals_of or {}
        self.scans = {id(f): Scan(f) for f in functions}
        self.functions = list(functions)
        for f in self.functions:  # grows while it is walked
            for key, callee in self.scans[id(f)].functions.items():
                if key not in self.scans:
                    self.scans[key] = Scan(callee)
                    self.functions.append(callee)
        self.globals = tuple(dict.fromkeys(g for f in self.functions for g in self.scans[id(f)].globals))
        self._names = Names(self._locals())
        self._names.reserve(self.globals)
        self._names.reserve(("__debug__",))
        self.refs: dict[str, Any] = {}
        self._spelled: dict[int, str] = {}
        self._keep: list[Any] = []  # spellings go by identity, so the objects must live as long
        self._function_names = {id(f): self._new(f.name) for f in self.functions}
        self._by_wish = {f.name: self._function_names[id(f)] for f in reversed(functions)}
        for f in self.functions:
            for name in self.scans[id(f)].unbound:
                if name not in self._by_wish:
                    raise ThunkadError(f"{f.name}: generated code reads {name!r}, which nothing binds", hint=_FAULT)

    def _locals(self) -> Iterator[str]:
        for scan in self.scans.values():
            yield from scan.locals

    def _new(self, wish: str) -> str:
        wish = re.sub(r"\W", "_", wish).strip("_") or "f" if not wish.isidentifier() else wish
        return self._names.new(wish)

    def name(self, id: str, scan: Scan) -> str:
        """How a ``Name`` is printed: as it is, unless it stands for another function of the module."""
        return self._by_wish[id] if id in scan.unbound else id

    def function_name(self, f: n.Function) -> str:
        """The printed name of a function of the module."""
        return self._function_names[id(f)]

    def spell(self, wish: str, value: Any) -> str:
        """The printed name of a pinned object."""
        if isinstance(value, n.Function):
            return self._function_names[id(value)]
        name = self._spelled.get(id(value))
        if name is None:
            if self._is_users_spelling(wish, value):
                name = wish
            else:
                if getattr(builtins, wish, value) is not value:
                    self._names.reserve((wish,))  # a `sum` that isn't Python's would mislead the reader
                name = self._new(wish)
                self.refs[name] = value
            self._spelled[id(value)] = name
            self._keep.append(value)
        return name

    def fresh(self, wish: str) -> str:
        """A new local."""
        return self._new(wish)

    def _is_users_spelling(self, wish: str, value: Any) -> bool:
        # Only modules and builtins share the user's live spelling: a function of the user's may be rebound, and then
        # a pinned object must not change with it.
        if wish not in self.globals:
            return False
        missing = object()
        found = self._namespace.get(wish, missing)
        if found is missing:
            found = getattr(builtins, wish, missing)
        return found is value and (isinstance(value, type(builtins)) or getattr(builtins, wish, missing) is value)
