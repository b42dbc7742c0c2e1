"""Copies of what a function holds: values of any structure, with their tangents."""

from __future__ import annotations

import copy
from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.chosen import is_function
from thunkad.runtime.dots import tangent_buffer
from thunkad.runtime.parts import fields_of
from thunkad.tangents import AbstractZero, Tangent, unthunk

#: Methods by which a class has a say in how its objects are copied.
_HOOKS = (
    "__copy__",
    "__deepcopy__",
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs_ex__",
)


def copied(x: Any) -> Any:
    """``copy.copy(x)``"""
    check_copied(x, "__deepcopy__")
    return copy.copy(x)


def deep_copied(x: Any) -> Any:
    """``copy.deepcopy(x)``"""
    _check_all(x, set())
    return copy.deepcopy(x)


def copied_dot(x_dot: Any, x: Any, y: Any) -> Any:
    """The tangent of a shallow copy ``y`` of ``x``: what both hold has one tangent."""
    x_dot = unthunk(x_dot)
    if y is x or isinstance(x_dot, AbstractZero):
        return x_dot if y is x else tangent_buffer(x_dot, y)
    if isinstance(x_dot, Tangent):
        return Tangent(x_dot.cls, dict(x_dot.fields))
    return copy.copy(x_dot)


def deep_copied_dot(x_dot: Any, y: Any) -> Any:
    """The tangent of a deep copy ``y``."""
    return tangent_buffer(x_dot, y)


def _check_all(x: Any, seen: set[int]) -> None:
    if id(x) in seen:
        return
    seen.add(id(x))
    check_copied(x, "__copy__")
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple, set, frozenset)) else ()
    for part in parts:
        _check_all(part, seen)
    if not is_function(x):
        for part in fields_of(x).values():
            _check_all(part, seen)


def check_copied(x: Any, other: str) -> None:
    """Refuse an object whose class copies it in its own way; ``other`` is the method for the other sort of copy."""
    cls = type(x)
    for name in _HOOKS:
        own: Any = getattr(cls, name, None)
        if name != other and getattr(own, "__code__", None) is not None and not _is_plain(cls):
            raise UnsupportedSyntaxError(
                f"a copy of an object of the class {cls.__qualname__}, which has a {name} of its own, with values that "
                "are differentiated is not supported",
                hint="write a method that makes the copy, and call it",
            )


def _is_plain(cls: type) -> bool:
    """Whether the copy of an object of a class of Python's own library is one of its parts."""
    return cls.__module__ in ("collections", "types", "functools")
