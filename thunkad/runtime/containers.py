"""Python's sequences and dicts, by what they have in common."""

from __future__ import annotations

import functools
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.chosen import owner_of

SEQUENCES = (list, tuple, deque)
CONTAINERS = (*SEQUENCES, dict)
SETS = (set, frozenset)
#: Sequences that can be changed in place; the cotangent or tangent of one is a list.
LISTS = (list, deque)
#: Classes of dicts whose objects can be copied.
DICTS = (dict, OrderedDict, defaultdict, Counter)
#: What ``keys()``, ``values()`` and ``items()`` of these return, which changes as the dict does.
VIEWS = frozenset(type(getattr(made(), name)()) for made in DICTS for name in ("keys", "values", "items"))


def remade(x: Any, items: Iterable[Any]) -> Any:
    """A sequence of the sort of ``x`` with these items."""
    if type(x) is deque:
        return deque(items, x.maxlen)
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def remade_dict(x: Any, values: Iterable[Any]) -> Any:
    """A dict of the sort of ``x`` with the same keys and these values."""
    if type(x) is dict:
        return dict(zip(x, values))
    made = x.copy()
    for key, value in zip(x, values):
        made[key] = value
    return made


def counter(mapping: Any) -> Any:
    """A :class:`collections.Counter` with these counts."""
    return Counter(mapping)


def counted(items: Any) -> Any:
    """How often each of some keys is there."""
    return Counter(items)


def ordered_dict(mapping: Any) -> Any:
    """``collections.OrderedDict(mapping)``"""
    return OrderedDict(mapping)


def default_dict(mapping: Any, factory: Any) -> Any:
    """``collections.defaultdict(factory, mapping)``, unless ``factory`` may hold something that is differentiated."""
    held = (owner_of(factory), *(factory.args if isinstance(factory, functools.partial) else ()))
    if not all(x is None or isinstance(x, (int, str, type, types.ModuleType)) for x in held):
        raise UnsupportedSyntaxError(
            "a defaultdict whose missing values are made of a variable that is differentiated is not supported",
            hint="use d.setdefault(key, value), or test for the key: if key not in d: d[key] = value",
        )
    return defaultdict(factory, mapping)


class DefaultDots(dict[Any, Any]):
    """The tangent of a ``defaultdict``: what that makes of itself is new, and has a new tangent."""


class SetAsItWas(set[Any]):
    """A copy of a set, gone through in the order in which that was."""

    def __init__(self, x: set[Any]) -> None:
        super().__init__(x)
        self.order = list(x)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.order)


class SetDots(dict[int, Any]):
    """The tangents of the elements of a set, by their identities."""


class AsItWas:
    """An object of class ``cls`` with the attributes that it had at some time."""

    def __init__(self, cls: type) -> None:
        self.cls, self.fields = cls, dict[str, Any]()


def shallow(x: Any) -> Any:
    """A list or dict copied, with the very things that it holds."""
    if type(x) in DICTS:
        return remade_dict(x, x.values())
    return remade(x, x) if type(x) in LISTS else x
