"""What a ``match`` statement asks of its subject."""

from __future__ import annotations

import sys
from typing import Any

# Python itself decides by these flags of a class, inherited, and set by registering with the abstract classes sets.
_SEQUENCE, _MAPPING = 1 << 5, 1 << 6
#: Classes whose only positional pattern is matched against the subject itself.
SELF_MATCHING = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


def is_sequence(subject: Any, length: int, exact: bool) -> bool:
    """Whether a sequence pattern of ``length`` elements fits; not ``exact``: of as many or more."""
    if not type(subject).__flags__ & _SEQUENCE:
        return False
    return len(subject) == length if exact else len(subject) >= length


def has_keys(subject: Any, *keys: Any) -> bool:
    """Whether a mapping pattern with these keys fits."""
    if not type(subject).__flags__ & _MAPPING:
        return False
    seen = set()
    missing = object()
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        if subject.get(key, missing) is missing:
            return False
    return True


def is_instance(subject: Any, cls: Any, count: int, *names: str) -> bool:
    """Whether a class pattern with ``count`` positional patterns and these keywords is about ``subject``."""
    if not isinstance(cls, type):
        kind = "class" if sys.version_info >= (3, 12) else "type"
        raise TypeError(f"called match pattern must be a {kind}")
    if not isinstance(subject, cls):
        return False
    if count and cls.__name__ in SELF_MATCHING and cls.__module__ == "builtins":
        raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({count} given)")
    taken = [_positional(cls, k, count) for k in range(count)]
    for name in (*taken[1:], *names):
        if (*taken, *names).count(name) > 1:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
    return True


def _positional(cls: type, k: int, count: int) -> str:
    names = getattr(cls, "__match_args__", ())
    if type(names) is not tuple:
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    if count > len(names):
        ending = "" if len(names) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(names)} positional sub-pattern{ending} ({count} given)")
    name = names[k]
    if type(name) is not str:
        raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return name


def field_name(cls: type, k: int) -> str:
    """The attribute that the positional pattern number ``k`` is about."""
    return str(cls.__match_args__[k])  # type: ignore[attr-defined]


def has_field(subject: Any, name: str) -> bool:
    return hasattr(subject, name)


def matched_field(subject: Any, cls: type, k: int) -> Any:
    """The value of that attribute."""
    return getattr(subject, field_name(cls, k))
