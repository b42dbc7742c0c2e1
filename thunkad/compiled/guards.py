"""What a compiled derivative took for granted of the user's world: names, attributes, code, defaults.

A guard holds as long as what was resolved is still there: for functions, classes and modules the very object, for data
anything of the same kind, since generated code reads data live.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

from thunkad.analysis.members import found_in
from thunkad.analysis.sites import weaken
from thunkad.kinds.lattice import Kind, Known, Num, Opaque
from thunkad.kinds.observe import kind_of
from thunkad.lifetimes import carries
from thunkad.records import record
from thunkad.runtime.suspended import Suspended
from thunkad.runtime.variables import Outside
from thunkad.source.names import binding_of, lookup


@record(frozen=True, eq=False)
class NameGuard:
    """What a free name of a function is bound to."""

    owner: Any
    name: str
    value: Any
    kind: Kind
    where: str  # 'closure', 'global' or 'builtin'

    def holds(self) -> bool:
        try:
            return same(lookup(self.owner, self.name), self.value, self.kind)
        except KeyError:
            return False

    def __str__(self) -> str:
        return f"the name {self.name}"


@record(frozen=True, eq=False)
class AttributeGuard:
    """What an attribute of a module, class or pinned object is."""

    base: Any
    name: str
    value: Any
    kind: Kind

    def holds(self) -> bool:
        try:
            return same(getattr(self.base, self.name), self.value, self.kind)
        except AttributeError:
            return False

    def __str__(self) -> str:
        return f"{getattr(self.base, '__name__', type(self.base).__name__)}.{self.name}"


@record(frozen=True, eq=False)
class MemberGuard:
    """What a class has itself under a name, descriptors unbound."""

    cls: type
    name: str
    value: Any

    def holds(self) -> bool:
        return self.cls.__dict__.get(self.name) is self.value

    def __str__(self) -> str:
        return f"{self.cls.__name__}.{self.name}"


@record(frozen=True, eq=False)
class AbsentGuard:
    """The names that a class itself has nothing under."""

    cls: type
    names: set[str]

    def holds(self) -> bool:
        return self.cls.__dict__.keys().isdisjoint(self.names)

    def __str__(self) -> str:
        return f"{self.cls.__name__}.{next(iter(self.names & self.cls.__dict__.keys()), '')}"


@record(frozen=True, eq=False)
class CodeGuard:
    """The code of a function that was looked into."""

    fn: Any
    code: types.CodeType

    def holds(self) -> bool:
        return self.fn.__code__ is self.code

    def __str__(self) -> str:
        return f"the code of {self.fn.__name__}"


@record(frozen=True, eq=False)
class DefaultsGuard:
    """The defaults of a function, which a call left to it."""

    fn: Any
    defaults: tuple[Any, ...] | None
    keyword: tuple[tuple[str, Any], ...]

    def holds(self) -> bool:
        now = self.fn.__kwdefaults__ or {}
        return (
            self.fn.__defaults__ is self.defaults
            and len(now) == len(self.keyword)
            and all(now.get(k, self) is v for k, v in self.keyword)
        )

    def __str__(self) -> str:
        return f"the defaults of {self.fn.__name__}"


@record(frozen=True, eq=False)
class ChoiceGuard:
    """What a generic function calls for arguments of some classes."""

    dispatcher: Any
    classes: tuple[type, ...]
    found: Any

    def holds(self) -> bool:
        return all(self.dispatcher.dispatch(cls) is self.found for cls in self.classes)

    def __str__(self) -> str:
        return f"what {self.dispatcher.__name__} calls for {self.classes[0].__name__}"


@record(frozen=True, eq=False)
class ImportGuard:
    """What an import inside of a function gives; None: it has not been imported yet."""

    name: str
    module: Any

    def holds(self) -> bool:
        return sys.modules.get(self.name) is self.module

    def __str__(self) -> str:
        return f"the module {self.name}"


@record(frozen=True, eq=False)
class OutsideGuard:
    """What is known of the lists, dicts and objects that are followed, whatever is written into them."""

    outside: Outside

    def holds(self) -> bool:
        kinds = self.outside.kinds
        return all(weaken(kind_of(value)) == kinds[name] for name, value in self.outside.fields().items())

    def __str__(self) -> str:
        return f"one of the names {self.outside.label}"


Guard = (
    OutsideGuard
    | ImportGuard
    | ChoiceGuard
    | NameGuard
    | AttributeGuard
    | MemberGuard
    | AbsentGuard
    | CodeGuard
    | DefaultsGuard
)


def same(now: Any, value: Any, kind: Kind) -> bool:
    """Whether code compiled for ``value`` serves ``now``."""
    if isinstance(kind, Known):
        return now is value or (type(value) is str and now == value)
    # what is in a container or an object may have changed, though it is the same one
    return (now is value and is_leaf(kind)) or kind_of(now) == kind


def is_leaf(kind: Kind) -> bool:
    """Whether an object of this kind stays of this kind."""
    return isinstance(kind, (Known, Num, Opaque))


class Guards:
    """Everything that the code of one world rests on."""

    def __init__(self) -> None:
        self._guards: dict[Any, Guard] = {}
        self._asked: set[Any] = set()  # the questions about classes

    def __iter__(self) -> Iterator[Guard]:
        return iter(list(self._guards.values()))

    def __len__(self) -> int:
        return len(self._guards)

    def name(self, owner: Any, name: str, value: Any) -> None:
        if owner is not None:
            where = binding_of(owner, name) or "global"
            self._guards.setdefault((id(owner), name), NameGuard(owner, name, value, kind_of(value), where))

    def pinned(self, owner: Any, name: str, value: Any) -> None:
        """Like :meth:`name` where the value itself is in the code, be it data or not."""
        if not (isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _TRUSTED):
            self._guards[id(owner), name] = NameGuard(
                owner, name, value, Known(value), binding_of(owner, name) or "global"
            )

    def attribute(self, base: Any, name: str, value: Any) -> None:
        if isinstance(base, types.ModuleType) and base.__name__.split(".")[0] in _TRUSTED:
            return
        self._guards.setdefault((id(base), name, 0), AttributeGuard(base, name, value, kind_of(value)))

    def member(self, cls: type, name: str, after: type | None = None) -> None:
        """What objects of a class find in it under a name, or that they find nothing (``after``: behind that class)."""
        if issubclass(cls, Suspended):
            self.code(cls.generator)  # of which the class is made
            return
        if (id(cls), name, after) in self._asked or not _is_users(cls):
            return
        self._asked.add((id(cls), name, after))
        owner, found = found_in(cls, name, after)
        if isinstance(found, types.FunctionType) and after is None:
            self.attribute(cls, name, found)  # the name as it is read, wherever it is found
            return
        mro = cls.__mro__
        self._guards.setdefault((id(cls), "__mro__", 0), AttributeGuard(cls, "__mro__", mro, Known(mro)))
        for c in mro if after is None else mro[mro.index(after) + 1 :]:
            if c is owner:
                if _is_users(c):
                    self._guards.setdefault((id(c), name, 1), _member(c, name, found))
                return
            if _is_users(c):
                absent = self._guards.setdefault((id(c), AbsentGuard), AbsentGuard(c, set()))
                absent.names.add(name)  # type: ignore[union-attr]

    def choice(self, dispatcher: Any, classes: tuple[type, ...], found: Any) -> None:
        if classes:
            self._guards.setdefault((id(dispatcher), classes), ChoiceGuard(dispatcher, classes, found))

    def imported(self, name: str) -> None:
        if name.split(".")[0] not in (*_TRUSTED, *sys.stdlib_module_names):
            self._guards.setdefault(("import", name), ImportGuard(name, sys.modules.get(name)))

    def outside(self, found: Any) -> None:
        """What the names of followed objects are bound to, if that is what they are."""
        if isinstance(found, Outside):
            self._guards.setdefault(id(found), OutsideGuard(found))

    def code(self, fn: Any) -> None:
        if isinstance(fn, types.FunctionType):
            self._guards.setdefault((id(fn),), CodeGuard(fn, fn.__code__))

    def defaults(self, fn: Any) -> None:
        if fn.__defaults__ or fn.__kwdefaults__:
            keyword = tuple((fn.__kwdefaults__ or {}).items())
            self._guards.setdefault((id(fn), 0), DefaultsGuard(fn, fn.__defaults__, keyword))

    def broken(self) -> Guard | None:
        """One that doesn't hold any more."""
        return next((guard for guard in self if not guard.holds()), None)

    def hold(self) -> bool:
        """Whether everything still is what it was."""
        return self.broken() is None


def _member(cls: type, name: str, found: Any) -> Guard:
    """That a class has ``found``; data may become other data of its kind, since code reads it live."""
    if not (callable(found) or hasattr(type(found), "__get__")):
        kind = kind_of(found)
        if is_leaf(kind):
            return AttributeGuard(cls, name, found, kind)
    return MemberGuard(cls, name, found)


def _is_users(cls: type) -> bool:
    """Whether a class may be changed: it is neither built in nor part of a library that stays as it is."""
    module = cls.__module__.split(".")[0]
    return carries(cls) and module not in _TRUSTED and module not in sys.stdlib_module_names


_TRUSTED = ("numpy", "scipy", "math", "cmath", "builtins", "operator", "thunkad")
