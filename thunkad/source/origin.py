"""Where functions and classes are defined."""

from __future__ import annotations

import sys
import types
from typing import Any

#: Packages whose functions and classes are never the user's own; what else is installed is known by where it lies.
_FOREIGN = frozenset(("numpy", "scipy", "thunkad", *sys.stdlib_module_names)) - {"__main__"}


def module_of(target: Any) -> str:
    """The name of the module that a function, or the class of a method, is defined in; empty if there is none."""
    module = getattr(target, "__module__", None) or getattr(getattr(target, "__objclass__", None), "__module__", None)
    return module if isinstance(module, str) else ""


def library_of(target: Any) -> str:
    """The name of the package that a function or a class is from; empty if there is none."""
    return module_of(target).partition(".")[0]


def is_foreign(target: Any) -> bool:
    """Whether a function, a class or a module is of Python's own library, NumPy, SciPy or this package."""
    library = target.__name__.partition(".")[0] if isinstance(target, types.ModuleType) else library_of(target)
    return library in _FOREIGN
