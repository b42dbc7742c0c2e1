"""What a function that is run again finds around it: looked at when it runs, compared before it runs once more.

A derivative inside differentiated code and a checkpoint run their function again in the reverse sweep.  By then global
variables, what they hold, default values or attributes may have changed, and the second run would be that of another
function.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from typing import Any

import numpy as np

from thunkad.analysis.readings import readings
from thunkad.compiled.forms import normal_form
from thunkad.compiled.reach import is_foreign_file
from thunkad.errors import UnsupportedSyntaxError
from thunkad.rules.entry import NON_DIFFERENTIABLE
from thunkad.rules.table import TABLE
from thunkad.runtime.containers import SEQUENCES
from thunkad.runtime.marks import derivative_of
from thunkad.runtime.parts import fields_of
from thunkad.source.names import lookup
from thunkad.source.origin import is_foreign, module_of

_PLAIN = (float, int, bool, complex, str, bytes, type(None), range, type(Ellipsis), type(NotImplemented))
_IN_FULL = 4096  # bytes of an array that are kept as they are; of more the hash
_DEEP = 30  # what lies deeper is described beside, not inside: Python recurses only so far
_of_owners: weakref.WeakKeyDictionary[types.CodeType, tuple[str, ...]] = weakref.WeakKeyDictionary()
_plans: weakref.WeakKeyDictionary[types.CodeType, tuple[str, ...]] = weakref.WeakKeyDictionary()


class Surroundings:
    """What is ``given`` by name (``"name.attribute"`` for that attribute of the value) as it is now, to any depth."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.before = {name: described(name, value) for name, value in given.items()}

    def check(self, given: dict[str, Any], where: str) -> None:
        """Refuse to run the function that ``where`` names again if something has changed."""
        changed = self.changed(given)
        if changed is not None:
            name = changed.removesuffix(".__call__")
            raise UnsupportedSyntaxError(
                f"{where} has to be run again for its derivative (it is in a checkpoint, or a derivative of it is "
                f"differentiated), and {name!r}, which it reads, is not what it was when it ran first",
                hint="pass it a copy of that as an argument, or change it after the derivative has been computed",
            )

    def changed(self, given: dict[str, Any]) -> str | None:
        """The name of something that has changed."""
        return next((name for name, value in given.items() if described(name, value) != self.before[name]), None)


def described(name: str, value: Any) -> Any:
    """What ``value``, or that attribute of it, is and holds; equal to another description if these do not differ."""
    return _Description().whole(_at(value, name))


def holds_data(name: str, value: Any) -> bool:
    """Whether there is anything in it, or in what functions read that it leads to, that may change."""
    if isinstance(value, types.ModuleType) and is_library(value):
        return False
    found, description = _at(value, name), _Description()
    if not _only_notes(name, found):
        description.whole(found)
    return description.data


def free_value(fn: types.FunctionType, name: str) -> Any:
    """What the first part of a dotted name stands for in ``fn``; raises ``KeyError``."""
    return lookup(fn, name.removesuffix("()").partition(".")[0])


def _only_notes(name: str, value: Any) -> bool:
    """Whether ``value`` is called for nothing but its effect, and declared to have nothing to do with derivatives."""
    if not (name.endswith("()") and isinstance(value, types.FunctionType)):
        return False
    return any(entry.kind == NON_DIFFERENTIABLE for entry in TABLE.pending(value))


def read_by(fn: types.FunctionType) -> tuple[str, ...]:
    """What a Python function reads from outside."""
    code = fn.__code__
    if code not in _plans:
        try:
            _plans[code] = readings(normal_form(fn))
        except Exception:
            _plans[code] = (*code.co_names, *code.co_freevars)  # what is wrong with it is said where it is looked into
    return _plans[code]


def read_of_owner(fn: Any) -> tuple[str, ...] | None:
    """What a method reads of its object, ``"self.attribute"``; None where that isn't known."""
    code = getattr(fn, "__code__", None)
    if code is None or is_library(fn) or not code.co_argcount or "__class__" in code.co_freevars:
        return None
    if code not in _of_owners:
        try:
            function = normal_form(fn)
            _of_owners[code] = read_of(function, function.params[0].name)
        except Exception:
            return None  # what is wrong with it is said where it is looked into
    return _of_owners[code]


def read_of(function: Any, param: str) -> tuple[str, ...]:
    """What a function reads of what it is given for ``param``: that, or ``"param.attribute"`` for parts of it."""
    return tuple(name for name in readings(function, (param,)) if name.removesuffix("()").partition(".")[0] == param)


def _at(value: Any, path: str) -> Any:
    """What the attributes in ``path`` lead to from ``value``; as far as that can be told without running anything."""
    for name in path.removesuffix("()").split(".")[1:]:
        if isinstance(value, types.ModuleType):
            found = vars(value).get(name, value)
        elif isinstance(value, (np.ndarray, types.FunctionType)):
            found = value
        else:
            fields = {} if isinstance(value, type) else fields_of(value)
            found = fields[name] if name in fields else inspect.getattr_static(value, name, value)
            getter = found.fget if isinstance(found, property) else found
            if name not in fields and isinstance(getter, types.FunctionType) and not isinstance(value, type):
                return types.MethodType(getter, value)
            if name not in fields and (callable(found) or hasattr(type(found), "__get__")):
                found = value  # something that may read anything of it
        if found is value:
            break
        value = found
    return value


class _Same:
    """An object of which nothing is known but which one it is."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.x is other.x

    __hash__ = None  # type: ignore[assignment]


class _Description:
    def __init__(self) -> None:
        self.seen: dict[int, tuple[int, Any]] = {}
        self.data = False
        self.methods: dict[tuple[int, int], int] = {}
        self.depth = 0
        self.deeper: list[Any] = []  # what is left to be described

    def whole(self, x: Any) -> Any:
        """The description of ``x`` and, one by one, of what lies too deep in it."""
        parts = [self.of(x)]
        while self.deeper:
            parts.append(self.inside(self.deeper.pop()))
        return parts

    def of(self, x: Any) -> Any:
        if type(x) in _PLAIN:
            self.data = True
            return type(x), x
        if id(x) in self.seen:
            return "again", self.seen[id(x)][0]
        self.seen[id(x)] = len(self.seen), x
        if self.depth == _DEEP:
            self.deeper.append(x)
            return "deeper"
        self.depth += 1
        found = self.inside(x)
        self.depth -= 1
        return found

    def inside(self, x: Any) -> Any:
        if isinstance(x, (types.FunctionType, types.MethodType, types.BuiltinMethodType, functools.partial, type)):
            return self.code(x)
        if isinstance(x, types.ModuleType) or (callable(x) and is_library(x)):
            return _Same(x)
        self.data = True
        if isinstance(x, np.ndarray):
            return self.array(x)
        if isinstance(x, np.generic):
            return x.dtype.str, x.tobytes()
        if isinstance(x, SEQUENCES):
            return type(x), self.all(x), *((self.fields(x),) if type(x) not in SEQUENCES else ())
        if isinstance(x, dict):
            return type(x), self.all(x), self.all(x.values())
        if isinstance(x, (set, frozenset)):
            return type(x), frozenset(x)
        if isinstance(x, types.CellType):
            return self.cell(x)
        if isinstance(x, (property, staticmethod, classmethod)):
            return type(x), self.all(f for f in _functions_in(x) if f is not None)
        if is_library(type(x)):
            return _Same(x), *((self.of(x.__wrapped__),) if hasattr(x, "__wrapped__") else ())
        return self.of(type(x)), self.fields(x)

    def all(self, items: Any) -> Any:
        items = tuple(items)
        if all(type(x) is float for x in items):
            self.data = True
            return items
        return tuple(map(self.of, items))

    def array(self, x: np.ndarray) -> Any:
        if x.dtype.hasobject:
            return x.shape, self.all(x.flat)
        whole = x.tobytes()
        return x.dtype.str, x.shape, whole if x.nbytes <= _IN_FULL else hash(whole)

    def code(self, x: Any) -> Any:
        if isinstance(x, types.MethodType):
            return self.method(x)
        if isinstance(x, functools.partial):
            return self.of(x.func), self.all(x.args), tuple(x.keywords), self.all(x.keywords.values())
        if isinstance(x, types.FunctionType):
            return self.function(x)
        if isinstance(x, types.BuiltinMethodType):
            owner = x.__self__
            return x.__name__, _Same(x) if owner is None or isinstance(owner, types.ModuleType) else self.of(owner)
        return self.cls(x)

    def method(self, x: types.MethodType) -> Any:
        fn, owner = x.__func__, x.__self__
        read = None if isinstance(owner, type) else read_of_owner(fn)
        if read is None:
            return self.of(fn), self.of(owner)
        key = id(fn), id(owner)
        if key in self.methods:
            return "again", self.methods[key]
        self.methods[key] = len(self.methods)
        return self.of(fn), self.of(type(owner)), tuple((name, self.of(_at(owner, name))) for name in read)

    def function(self, fn: types.FunctionType) -> Any:
        spec = derivative_of(fn)
        if spec is not None:
            return spec.product, spec.argnums, spec.argnames, self.of(spec.f)
        if is_library(fn):
            return _Same(fn), *((self.of(fn.__wrapped__),) if hasattr(fn, "__wrapped__") else ())
        read = []
        for name in read_by(fn):
            try:
                value = free_value(fn, name)
            except KeyError:
                continue
            if value is fn or (isinstance(value, types.ModuleType) and is_library(value)):
                continue
            found = _at(value, name)
            if not _only_notes(name, found):
                read.append((name, self.of(found)))
        defaults = self.all(fn.__defaults__ or ()), self.all((fn.__kwdefaults__ or {}).values())
        return fn.__code__, defaults, tuple(read)

    def cls(self, cls: type) -> Any:
        if is_library(cls):
            return _Same(cls)
        held = {}
        for base in cls.__mro__:
            if not is_library(base):
                held.update({(base, name): v for name, v in vars(base).items() if not _is_internal(name, v)})
        return _Same(cls), tuple(name for _, name in held), self.all(held.values())

    def cell(self, cell: types.CellType) -> Any:
        try:
            return (self.of(cell.cell_contents),)
        except ValueError:
            return ()  # it is empty

    def fields(self, x: Any) -> Any:
        fields = fields_of(x)
        for name in tuple(fields):  # what is only remembered of what it holds
            if isinstance(inspect.getattr_static(type(x), name, None), functools.cached_property):
                del fields[name]
        return tuple(fields), self.all(fields.values())


def is_library(x: Any) -> bool:
    """Whether a function, a class or a module is not of the user's own."""
    if is_foreign(x):
        return True
    name = x.__name__ if isinstance(x, types.ModuleType) else module_of(x)
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and is_foreign_file(file)


def _functions_in(x: Any) -> tuple[Any, ...]:
    return (x.fget, x.fset, x.fdel) if isinstance(x, property) else (x.__func__,)


def _is_internal(name: str, value: Any) -> bool:
    written = isinstance(value, (types.FunctionType, property, staticmethod, classmethod))
    return not written and (name.startswith("__") or hasattr(type(value), "__get__") or name == "_abc_impl")
