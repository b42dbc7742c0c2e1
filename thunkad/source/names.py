"""What the free names of a function mean now: closure cells, globals, builtins, in Python's order."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Literal


def binding_of(fn: FunctionType, name: str) -> Literal["closure", "global", "builtin"] | None:
    """Where ``fn`` would find the free name ``name``; None if nowhere.

    A closure variable that has no value yet is still a closure variable: the compiler decided that.
    """
    if name in fn.__code__.co_freevars:
        return "closure"
    if _has(fn.__globals__, name):
        return "global"
    return "builtin" if _has(_builtins(fn), name) else None


def lookup(fn: FunctionType, name: str) -> Any:
    """The object that the free name ``name`` of ``fn`` is bound to at this moment.

    Raises
    ------
    KeyError
        ``name`` is not bound: no such global or builtin, or a closure variable without a value.
    """
    free = fn.__code__.co_freevars
    if name in free:
        cells = fn.__closure__ or ()
        try:
            return cells[free.index(name)].cell_contents
        except ValueError:  # an empty cell hides a global of the same name, as it does for Python
            raise KeyError(name) from None
    # by subscription, not `in`: a namespace may be a dict with __missing__, which LOAD_GLOBAL honours
    for namespace in (fn.__globals__, _builtins(fn)):
        try:
            return namespace[name]
        except KeyError:
            continue
    raise KeyError(name)


def _builtins(fn: FunctionType) -> dict[str, Any]:
    return fn.__builtins__  # type: ignore[attr-defined]  # of every function since 3.10


def _has(namespace: dict[str, Any], name: str) -> bool:
    try:
        namespace[name]
    except KeyError:
        return False
    return True
