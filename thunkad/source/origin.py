"""Where functions and classes are defined."""

from __future__ import annotations

from typing import Any


def module_of(target: Any) -> str:
    """The name of the module that a function, or the class of a method, is defined in; empty if there is none."""
    module = getattr(target, "__module__", None) or getattr(getattr(target, "__objclass__", None), "__module__", None)
    return module if isinstance(module, str) else ""


def library_of(target: Any) -> str:
    """The name of the package that a function or a class is from; empty if there is none."""
    return module_of(target).partition(".")[0]
