"""Places in objects and variables that outlive a call, and whether two of them are one.

The same list, array or dictionary may be reached under several names: two objects hold it, an array is a view of
another one, two objects share the dictionary of their attributes.  So places are compared by the memory behind them.
"""

from __future__ import annotations

import array
import contextlib
import inspect
import types
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from thunkad.records import field, record, replace
from thunkad.runtime.parts import fields_of
from thunkad.runtime.variables import Variable

_DEEPEST = 4  # attributes of attributes that are told apart
_MOST = 1000  # objects that are looked at
_CODE = (types.FunctionType, type, types.ModuleType)
_SCALARS = (int, float, complex, str, bytes, bool, type(None), np.generic, np.ufunc, types.BuiltinFunctionType)
_WRAPPERS = (UserDict, UserList, ChainMap)
_NOTHING = object()


@record(frozen=True)
class Spot:
    """A parameter (by name), or what is outside: an object (by identity) or a variable of a module.

    A ``'shared'`` one is a variable that several functions use; what it holds counts as an object, by its class.

    ``path``: the attributes that lead from there.  ``itself``: that attribute is set, nothing in what it holds.
    ``followed``: it was found through what functions share, which derivatives flow through.
    """

    where: str  # 'parameter', 'object', 'variable' or 'shared'
    key: Any
    label: str = field(compare=False)
    path: tuple[str, ...] = ()
    code: bool = field(default=False, compare=False)  # a function or class, of which only attributes are written
    held: Any = field(default=None, compare=False)  # the object
    itself: bool = False
    followed: bool = False

    def at(self, name: str) -> Spot:
        if len(self.path) == _DEEPEST or name == "__dict__":
            return self
        return Spot(
            self.where, self.key, f"{self.label}.{name}", (*self.path, name), held=self.held, followed=self.followed
        )

    def setting(self) -> Spot:
        """The last attribute itself, where it is told apart from what it holds."""
        return replace(self, itself=True) if 0 < len(self.path) < _DEEPEST else self

    def meets(self, other: Spot) -> bool:
        shared = min(len(self.path), len(other.path))
        return self.where == other.where and self.key == other.key and self.path[:shared] == other.path[:shared]


class Memory:
    """What is behind a spot, as it is now: entries of dictionaries, containers, arrays."""

    def __init__(self, spot: Spot, reads: bool) -> None:
        self.entries: set[tuple[int, str | None]] = set()  # None: all of them
        self.arrays: list[np.ndarray] = []
        if spot.where == "variable":
            self.entries.add(spot.key)
        elif spot.where == "shared":
            self.entries.add(_entry(spot.held))
        elif spot.where == "object":
            self.follow(spot, reads)

    def follow(self, spot: Spot, reads: bool) -> None:
        """Go along the attributes; who reads the last one reads all of them."""
        value = spot.held
        if isinstance(value, type) and issubclass(value, Variable):
            self.entries.add(_entry(value))
            with contextlib.suppress(NameError):
                value = value.read()
        values: list[Any] = [value]
        for k, name in enumerate(spot.path):
            owners = [x for value in values for x in (value, *items_within(value))]
            if reads or k + 1 == len(spot.path):
                self.entries.update((_dictionary(x), name) for x in owners)
            values = [attribute(x, name) for x in owners]
        for value in () if spot.itself else values:
            self.hold(value, reads)

    def hold(self, value: Any, reads: bool) -> None:
        """Note ``value``, and what it holds."""
        for part in within(value, reads):
            if isinstance(part, np.ndarray):
                self.arrays.append(part)
            elif isinstance(part, (memoryview, bytearray, array.array)):
                self.arrays.append(np.asarray(memoryview(part)))
            elif not isinstance(part, (tuple, frozenset)):
                self.entries.add((_dictionary(part), None))
                if isinstance(part, dict):  # of a subclass, which may have attributes beside its items
                    self.entries.add((id(part), None))

    def meets(self, other: Memory) -> bool:
        mine, theirs = self.entries, other.entries
        if not mine.isdisjoint(theirs):
            return True
        whole, others = {i for i, name in mine if name is None}, {i for i, name in theirs if name is None}
        if any(i in others for i, _ in mine) or any(i in whole for i, _ in theirs):
            return True
        return any(np.may_share_memory(a, b) for a in self.arrays for b in other.arrays)


def _entry(variable: type[Variable]) -> tuple[int, str | None]:
    """Where a variable is."""
    return (id(variable), None) if variable.namespace is None else (id(variable.namespace), variable.label)


def _dictionary(value: Any) -> int:
    """The identity of where the attributes of ``value`` are, or its items."""
    fields = None if isinstance(value, type) else getattr(value, "__dict__", None)
    return id(fields) if isinstance(fields, dict) else id(value)


def attribute(value: Any, name: str) -> Any:
    """The attribute of that name, unless it is computed."""
    if isinstance(value, types.ModuleType):
        return vars(value).get(name)
    found = fields_of(value).get(name, _NOTHING)
    return inspect.getattr_static(value, name, None) if found is _NOTHING else found


def items_within(value: Any) -> Iterator[Any]:
    """The items of a container, and theirs: an attribute of what was taken from it is one of these."""
    return (x for x in within(value, False) if x is not value)


def within(value: Any, deeply: bool) -> Iterator[Any]:
    """``value`` and what containers hold in it; ``deeply``: objects, too."""
    left: list[Any] = [value]
    seen: set[int] = set()
    while left and len(seen) < _MOST:
        value = left.pop()
        if isinstance(value, (*_SCALARS, *_CODE)) or id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, (dict, types.MappingProxyType)):
            left += dict(value).values()
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            left += value
        elif isinstance(value, np.ndarray):
            left += value.flat if value.dtype == object else ()
        elif deeply or isinstance(value, _WRAPPERS):
            left += fields_of(value).values()
