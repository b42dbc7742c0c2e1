"""The typed signature of a rule, read from its annotations, and which of two signatures is the more specific."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

from thunkad.rules.entry import Entry


def signature_types(entry: Entry) -> tuple[Any, ...]:
    """The typed signature: for each leading positional parameter a class or a tuple of classes."""
    if entry.types is None:
        assert entry.function is not None
        if not getattr(entry.function, "__annotations__", None):
            entry.types = ()
            return ()
        try:
            hints = typing.get_type_hints(entry.function)
        except Exception:
            hints = getattr(entry.function, "__annotations__", {})
        params = [p for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
        entry.types = tuple(_as_class(hints.get(p.name, object)) for p in params)
        while entry.types and entry.types[-1] is object:
            entry.types = entry.types[:-1]
    return entry.types


def _as_class(annotation: Any) -> Any:
    if annotation in (Any, inspect.Parameter.empty) or isinstance(annotation, (str, typing.TypeVar)):
        return object
    if annotation is None:
        return type(None)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        parts: list[Any] = []
        for a in typing.get_args(annotation):
            found = _as_class(a)
            parts.extend(found if isinstance(found, tuple) else (found,))
        return object if object in parts else tuple(parts)
    if origin is typing.Annotated:
        return _as_class(typing.get_args(annotation)[0])
    if isinstance(origin, type):
        return origin
    return annotation if isinstance(annotation, type) else object


def covers(general: tuple[Any, ...], special: tuple[Any, ...]) -> bool:
    """Whether everything that ``special`` applies to is covered by ``general``."""
    for k in range(max(len(general), len(special))):
        g = general[k] if k < len(general) else object
        s = special[k] if k < len(special) else object
        parts = s if isinstance(s, tuple) else (s,)
        if not all(issubclass(p, g) for p in parts):
            return False
    return True
