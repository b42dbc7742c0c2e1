"""Derivatives as attributes of this module, so that they can be pickled by name as their functions can.

``grad(f)`` is always the same object for a function ``f``.  Its qualified name says how to get at it: the module and
name of ``f`` and what was asked for, without dots.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from typing import Any

_NAME = re.compile(r"(grad|value_and_grad)(\(.*\))")


def qualified_name(
    f: Any, product: str, argnums: Any, argnames: Any, has_aux: bool, owner: type | None = None
) -> str | None:
    """The name of a derivative in this module, None if its function has no name to be found by.

    ``owner``: the class that a class method is bound to.
    """
    module, name = getattr(f if owner is None else owner, "__module__", None), getattr(f, "__qualname__", None)
    if owner is not None:
        name = f"{owner.__qualname__}.{f.__name__}"
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return None
    if hasattr(f, "__thunkad_derivative__") and module != __name__:
        return None  # of what has no name itself
    return _without_dots(f"{product}{(module, name, argnums, argnames, has_aux)!r}")


def _without_dots(text: str) -> str:
    """A name without dots, which may be part of another such name."""
    return text.replace("%", "%0").replace(".", "%1")


def _with_dots(text: str) -> str:
    return text.replace("%1", ".").replace("%0", "%")


def __getattr__(name: str) -> Any:
    found = _NAME.fullmatch(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, path, argnums, argnames, has_aux = ast.literal_eval(_with_dots(found[2]))
    parts = [path] if module == __name__ else path.split(".")
    f = functools.reduce(getattr, parts, importlib.import_module(module))
    api = importlib.import_module("thunkad.api")
    return getattr(api, found[1])(f, argnums, argnames, has_aux)
