"""A Python function that returns what it raises.

What is raised in a callee and caught by its caller is data like any other if it is handed over like any other::

    def checked(x):                         def checked_outcome(x):
        if x > 3.0:                             try:
            raise TooBig(x)                         if x > 3.0:
        return x * x                                    raise TooBig(x)
                                                    return x * x, None
                                                except BaseException as error:
                                                    return None, error

Its source lies where that of the function does.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from thunkad.ir.fresh import Names
from thunkad.lifetimes import attached
from thunkad.normal.code_text import CodeText
from thunkad.normal.scope import FUNCTIONS
from thunkad.normal.suspended_class import compiled_inside
from thunkad.source.functions import Source, find_source, note_source
from thunkad.tree.parse import deep_recursion, gast


def outcome_of(fn: Any) -> Any:
    """A function that takes what ``fn`` takes and returns its result with None, or None with what it raises."""
    known = attached(fn)
    if known.get("outcome", (None,))[0] is not fn.__code__:
        with deep_recursion():
            known["outcome"] = fn.__code__, _written(find_source(fn), fn)
    found = known["outcome"][1]
    found.__defaults__, found.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    return found


def origin_of(fn: Any) -> Any:
    """The function whose outcome ``fn`` returns; None for any other function."""
    found = fn.__dict__.get(_ORIGIN) if isinstance(fn, types.FunctionType) else None
    return None if found is None else found()


_ORIGIN = "__thunkad_outcome_of__"


def _written(source: Source, fn: Any) -> Any:
    node: Any = source.node
    text = CodeText(node)
    taken = {x.id for x in gast.walk(node) if isinstance(x, gast.Name)} | set(fn.__code__.co_freevars)
    fresh = Names(taken)
    caught, error = fresh.new("BaseException"), fresh.new("error")
    name = fresh.new(f"{fn.__name__}_outcome" if fn.__name__.isidentifier() else "outcome")
    body = text.code("return x, None", x=node.body) if type(node).__name__ == "Lambda" else _paired(node.body, text)
    made: Any = text.code(f"def {name}():\n try: pass\n except {caught} as {error}: return None, {error}")[0]
    made.args = node.args
    made.body[0].body = body
    if type(body[-1]).__name__ not in ("Return", "Raise"):
        made.body += text.code("return None, None")
    gast.fix_missing_locations(made)
    free = {**dict(zip(fn.__code__.co_freevars, fn.__closure__ or ())), caught: types.CellType(BaseException)}
    code = compiled_inside(made, source.filename, tuple(free))
    function = types.FunctionType(code, fn.__globals__, name, None, tuple(free[x] for x in code.co_freevars))
    function.__module__, function.__qualname__ = fn.__module__, f"{fn.__qualname__}_outcome"
    function.__dict__[_ORIGIN] = weakref.ref(fn)
    note_source(code, Source(made, source.filename, node.lineno, name, source._lines, function))
    return function


def _paired(body: list[Any], text: CodeText) -> list[Any]:
    """``body`` with None beside each result that is returned."""
    for node in body:
        if type(node).__name__ == "Return":
            nothing = text.expr("None")
            node.value = gast.Tuple([node.value or text.expr("None"), nothing], gast.Load())
            gast.copy_location(node.value, node)
        elif type(node).__name__ not in (*FUNCTIONS, "ClassDef"):
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                _paired(getattr(node, name, None) or [], text)
    return body
