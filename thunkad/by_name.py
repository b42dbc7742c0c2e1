"""Derivatives as attributes of this module, so that they can be pickled by name as their functions can.

``grad(f)`` is always the same object for a function ``f``.  Its qualified name says how to get at it: the module and
name of ``f`` and what was asked for, with colons in place of dots.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from typing import Any

_NAME = re.compile(r"(grad|value_and_grad)(\(.*\))")


def qualified_name(f: Any, product: str, argnums: Any, argnames: Any, has_aux: bool) -> str | None:
    """The name of a derivative in this module, None if its function has no name to be found by."""
    module, name = getattr(f, "__module__", None), getattr(f, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return None
    return f"{product}{(module, name, argnums, argnames, has_aux)!r}".replace(".", ":")


def __getattr__(name: str) -> Any:
    found = _NAME.fullmatch(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, path, argnums, argnames, has_aux = ast.literal_eval(found[2].replace(":", "."))
    f = functools.reduce(getattr, path.split("."), importlib.import_module(module))
    api = importlib.import_module("thunkad.api")
    return getattr(api, found[1])(f, argnums, argnames, has_aux)
