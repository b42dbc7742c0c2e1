"""Attributes of modules that functions share, where a module goes by another name than its own."""

from __future__ import annotations

import sys
import types
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Known
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
                    return n.Attr(variables[place], "value")
        return walk.map_expr(e, rewritten)

    body = [walk.map_stmt(s, rewritten) for s in function.body]
    return function if body == function.body else replace(function, body=body)


def imported(name: Any) -> Kind:
    """The kind of what ``import name`` inside of a function gives."""
    return Known(sys.modules[name]) if isinstance(name, str) and name in sys.modules else UNKNOWN
