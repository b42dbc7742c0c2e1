"""Records: what ``dataclasses`` makes, in a tenth of the time.

The compiler has some hundred and fifty of them, and the first derivative of a process waits until they are all made.
Type checkers see the decorator of the standard library; that ``frozen`` records aren't assigned to is checked by them
alone, which halves the time that it takes to make one.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field, replace

__all__ = ["field", "record", "replace"]

_REQUIRED: Any = object()


class _Field:
    """One field of a record, as :func:`dataclasses.field` describes it."""

    __slots__ = ("compare", "default", "factory", "init", "kw_only", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _REQUIRED,
        default_factory: Callable[[], Any] | None = None,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        kw_only: bool = False,
    ) -> None:
        self.name = ""
        self.default, self.factory = default, default_factory
        self.init, self.repr, self.compare, self.kw_only = init, repr, compare, kw_only

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED and self.factory is None


def _record(cls: Any = None, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
    """Give ``cls`` what its annotations say; frozen records can be hashed."""
    if cls is None:
        return lambda cls: _record(cls, frozen=frozen, slots=slots, eq=eq)
    own = _own_fields(cls)
    known = {name: f for base in reversed(cls.__mro__[1:]) for name, f in base.__dict__.get("__record__", {}).items()}
    fields = {**known, **own}
    namespace = dict(cls.__dict__)
    namespace["__record__"] = fields
    namespace["__match_args__"] = tuple(name for name, f in fields.items() if f.init and not f.kw_only)
    namespace["__init__"] = _first_init
    namespace.setdefault("__repr__", _repr)
    if eq:
        compared = [name for name, f in fields.items() if f.compare]
        key: Callable[[Any], Any] = operator.attrgetter(*compared) if compared else lambda self: ()
        namespace.setdefault("__eq__", _eq(key))
        namespace.setdefault("__hash__", _hash(key) if frozen else None)
    if slots:
        for name in (*own, "__dict__", "__weakref__"):
            namespace.pop(name, None)
        namespace["__slots__"] = tuple(own)
        return type(cls)(cls.__name__, cls.__bases__, namespace)
    for name, f in own.items():
        if f.default is not _REQUIRED:
            setattr(cls, name, f.default)
        elif name in cls.__dict__:
            delattr(cls, name)
    for name in ("__record__", "__match_args__", "__init__", "__repr__", "__eq__", "__hash__"):
        if name in namespace:
            setattr(cls, name, namespace[name])
    return cls


def _own_fields(cls: Any) -> dict[str, _Field]:
    own: dict[str, _Field] = {}
    for name in inspect.get_annotations(cls):
        default = cls.__dict__.get(name, _REQUIRED)
        own[name] = default if isinstance(default, _Field) else _Field(default=default)
        own[name].name = name
    return own


def _first_init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Writes the real ``__init__`` when the first record of its class is made: many never are."""
    cls: Any = next(c for c in type(self).__mro__ if c.__dict__.get("__init__") is _first_init)
    fields = list(cls.__record__.values())
    given = [f for f in fields if f.init]
    positional = [_parameter(f) for f in given if not f.kw_only]
    keywords = [_parameter(f) for f in given if f.kw_only]
    parameters = ["self", *positional, *(["*", *keywords] if keywords else [])]
    lines = [f"    self.{f.name} = {_value(f)}" for f in fields] or ["    pass"]
    scope: dict[str, Any] = {"_missing": _REQUIRED}
    for f in fields:
        scope[f"_default_{f.name}"] = f.default if f.factory is None else f.factory
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines), scope)
    cls.__init__ = init = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init(self, *args, **kwargs)


def _parameter(f: _Field) -> str:
    if f.is_required:
        return f.name
    return f"{f.name}=_missing" if f.factory is not None else f"{f.name}=_default_{f.name}"


def _value(f: _Field) -> str:
    if f.factory is not None:
        made = f"_default_{f.name}()"
        return f"{made} if {f.name} is _missing else {f.name}" if f.init else made
    return f.name if f.init else f"_default_{f.name}"


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self.__record__.values() if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(key: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def __eq__(self: Any, other: object) -> Any:
        if self is other:
            return True
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hash(key: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda self: hash(key(self))


def _replace(record: Any, **changes: Any) -> Any:
    """A copy of ``record`` with other values in some fields."""
    fields = record.__record__.values()
    kept = {f.name: getattr(record, f.name) for f in fields if f.init and f.name not in changes}
    return type(record)(**kept, **changes)


if not TYPE_CHECKING:
    record, field, replace = _record, _Field, _replace
