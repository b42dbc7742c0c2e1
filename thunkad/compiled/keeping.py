"""Whether a program may leave values in objects that outlive a call, where the next one finds them.

It has to hold such an object, and to put something into an object of that sort which it has not just made.  What does
neither needs none of the statements of :mod:`thunkad.analysis.left_behind`.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections import ChainMap, UserDict, UserList, deque
from functools import partial
from typing import Any

import numpy as np

from thunkad.analysis.writing import MUTATING_METHODS
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.runtime.parts import fields_of
from thunkad.source.names import lookup
from thunkad.source.origin import is_foreign

_DISPLAYS = (n.ListExpr, n.DictExpr, n.SetExpr, n.TupleExpr)
_CONTAINERS = (list, dict, set, deque, UserDict, UserList, ChainMap)
_HOLDERS = (weakref.ref, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
_CODE = (types.FunctionType, types.MethodType, types.ModuleType, staticmethod, classmethod, property, partial)
_DEEPEST, _MOST = 4, 50  # how far objects are looked into
_ANY = "*"  # an object that was found in some other way than as an attribute


class Keeping:
    """What a program holds and where it puts things, as far as it was looked at."""

    def __init__(self) -> None:
        self.anything = False  # part of the program was not looked at
        self.containers = self.objects = False  # what outlives a call
        self.held: set[str] = set()  # the attributes in which such objects have containers
        self.into_objects = False  # attributes are set of objects that were not just made
        self.changed: set[str] = set()  # their names, where they may be set to what is differentiated
        self.filled: set[str] = set()  # the same of the attributes that hold containers
        self.into: set[str] = set()  # the attributes that hold the containers that something is put into
        self.made: set[str] = set()  # the attributes that are set to new containers ...
        self.given: set[str] = set()  # ... and to others

    @property
    def stores(self) -> bool:
        """Whether something is put into an object that was not just made."""
        return self.anything or self.into_objects or bool(self.into)

    @property
    def keeps(self) -> bool:
        """Whether one that outlives a call may be among these."""
        hidden = self.into - (self.made - self.given - self.held)
        return self.anything or (self.objects and self.into_objects) or (self.containers and bool(hidden))

    def may_change(self, value: Any, depth: int = 0) -> bool:
        """Whether something may be put into ``value``, or into what it holds."""
        if isinstance(value, (*_CONTAINERS, np.ndarray)):
            parts = list(value.values() if isinstance(value, dict) else () if isinstance(value, np.ndarray) else value)
            if _ANY in self.filled and not (parts and all(isinstance(v, (*_CODE, type, str)) for v in parts[:_MOST])):
                return True
        elif isinstance(value, tuple):
            parts = list(value)
        elif isinstance(value, types.MethodType):
            parts = [value.__self__]
        elif isinstance(value, (*_CODE, type, enum.Enum)) or _is_foreign(type(value)):
            return False
        else:
            fields = fields_of(value)
            if self.changed & {_ANY, *fields, *vars(type(value))} or self.filled & fields.keys():
                return True
            parts = list(fields.values())
        return depth < _DEEPEST and any(self.may_change(v, depth + 1) for v in parts[:_MOST])

    def value(self, value: Any) -> None:
        """Note a value that the program reaches from outside."""
        if isinstance(value, _CONTAINERS):
            self.containers = True
        elif isinstance(value, _HOLDERS) or (hasattr(value, "cache_info") and hasattr(value, "__wrapped__")):
            self.containers = self.objects = True
        elif isinstance(value, type):
            self.cls(value)
        elif not isinstance(value, (*_CODE, tuple, enum.Enum)) and not _is_foreign(type(value)):
            fields = fields_of(value)
            if fields or hasattr(value, "__dict__"):
                frozen = getattr(type(value), "__dataclass_params__", None)
                self.objects = self.objects or frozen is None or not frozen.frozen
                self.held.update(fields)
                self.containers = self.containers or any(isinstance(v, _CONTAINERS) for v in fields.values())

    def cls(self, cls: type) -> None:
        if _is_foreign(cls):
            return
        own_making = type(cls) is not type and not _is_foreign(type(cls))
        self.objects = self.objects or own_making or isinstance(vars(cls).get("__new__"), staticmethod)
        self.held.update(vars(cls))
        for f in vars(cls).get("__dataclass_fields__", {}).values():
            (self.made if f.default_factory in (list, dict, set, deque) else self.given).add(f.name)

    def defaults(self, fn: types.FunctionType) -> None:
        for value in (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()):
            self.value(value)

    def function(self, function: n.Function, owner: Any, makes: bool) -> None:
        """Note where ``function`` puts things; ``makes``: it fills the object that is its first argument."""
        bound: dict[str, list[n.Expr | None]] = {}
        for s in walk.statements(function.body):
            for name in walk.writes(s):
                bound.setdefault(name, []).append(s.value if type(s) is n.Assign else None)

        def is_new(e: n.Expr) -> bool:
            values = bound.get(e.id, [None]) if type(e) is n.Name else [e]
            return all(type(v) in (*_DISPLAYS, n.Const) or _makes_container(v, owner) for v in values)

        own = function.params[0].name if makes and function.params else None
        for s in walk.statements(function.body):
            value = getattr(s, "value", None)
            call = value if type(s) in (n.Assign, n.Effect) and type(value) is n.Call else None
            if type(s) in (n.Store, n.Update) and type(s.target) is n.Attr:  # type: ignore[attr-defined]
                (self.made if type(s) is n.Store and is_new(s.value) else self.given).add(s.target.name)  # type: ignore[attr-defined]
                if s.target.value != n.Name(own or ""):  # type: ignore[attr-defined]
                    self.into_objects = True
                    self.changed.update([] if type(value) is n.Const else [s.target.name])  # type: ignore[attr-defined]
            elif type(s) in (n.Store, n.Update) and type(s.target) is n.Index:  # type: ignore[attr-defined]
                self.item(s.target.value, bound, is_new, type(value) is n.Const)  # type: ignore[attr-defined]
            elif call is not None and type(call.func) is n.Attr and call.func.name in MUTATING_METHODS:
                self.item(call.func.value, bound, is_new, all(type(a) is n.Const for a in call.args))
            elif call is not None and call.func == n.Global("setattr"):
                self.into_objects = True
                self.changed.add(_ANY)

    def item(
        self, container: n.Expr, bound: dict[str, list[n.Expr | None]], is_new: Any, constant: bool = False
    ) -> None:
        if is_new(container):
            return
        values = bound.get(container.id, [None]) if type(container) is n.Name else [container]
        names = {v.name if type(v) is n.Attr else _ANY for v in values}
        self.into |= names
        self.filled |= set() if constant else names


def _makes_container(e: n.Expr | None, owner: Any) -> bool:
    """Whether ``e`` is a call that makes a new container or array."""
    if type(e) is not n.Call:
        return False
    try:
        if type(e.func) is n.Attr and type(e.func.value) is n.Global:
            return lookup(owner, e.func.value.id) is np
        return type(e.func) is n.Global and lookup(owner, e.func.id) in (list, dict, set, deque)
    except (KeyError, TypeError):
        return False


def _is_foreign(cls: type) -> bool:
    return not isinstance(cls.__module__, str) or is_foreign(cls)  # of some classes in C it is that of their objects
