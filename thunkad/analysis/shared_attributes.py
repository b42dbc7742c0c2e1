"""Attributes of modules that functions share, where a module goes by another name than its own."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import types
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Known
from thunkad.normal.lower_statements import IMPORT, IMPORT_RELATIVE
from thunkad.records import replace


def with_shared_attributes(function: n.Function, run: Any) -> n.Function:
    """``function`` with such attributes as the variables that they are; itself if it has none.

    ``run``: what was found out about the names of the function.
    """
    variables = run.variables()
    if not variables:
        return function

    def rewritten(e: Any) -> Any:
        if type(e) is n.Attr and type(e.value) in n.ATOMS:
            kind = run.atom(e.value)
            if isinstance(kind, Known) and isinstance(kind.value, types.ModuleType):
                place = run.context.variable_place(kind.value, e.name)
                if place is not None:
                    return n.Attr(variables[place[0]], place[1])
        return walk.map_expr(e, rewritten)

    body = [walk.map_stmt(s, rewritten) for s in function.body]
    return function if body == function.body else replace(function, body=body)


def imported_name(e: n.Expr, owner: Any) -> str | None:
    """The name of the module that a call gives which an ``import`` inside of ``owner`` has become."""
    if type(e) is not n.Call or type(e.func) is not n.Ref:
        return None
    if e.func == IMPORT:
        return getattr(e.args[0], "value", None)
    if e.func != IMPORT_RELATIVE or owner is None:
        return None
    level, name = (getattr(a, "value", None) for a in e.args[1:3])
    package = owner.__globals__.get("__package__")
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        return importlib.util.resolve_name("." * level + (name or ""), package)  # type: ignore[operator]
    return None


def imported_module(e: n.Expr, owner: Any) -> types.ModuleType | None:
    """That module, if it is there already."""
    return sys.modules.get(imported_name(e, owner) or "")
