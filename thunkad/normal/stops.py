"""``raise StopIteration`` in a generator: what leaves it is a ``RuntimeError`` with that as its cause."""

from __future__ import annotations

from typing import Any

from thunkad.normal.code_text import CodeText
from thunkad.normal.scope import FUNCTIONS
from thunkad.normal.scope_walk import fields
from thunkad.normal.yields import has_yield
from thunkad.tree.parse import gast


def turn_stops(node: Any) -> None:
    """Turn such statements in ``node``, and in the functions that it makes, into what leaves the generator."""
    nodes = list(gast.walk(node))
    if not any(isinstance(x, gast.Raise) and _is_stop(x.exc) for x in nodes):
        return
    for f in nodes:
        if isinstance(f, gast.FunctionDef) and has_yield(*f.body):
            _turn(f.body, CodeText(f))


def _turn(body: list[Any], written: CodeText) -> None:
    for s in body:
        kind = type(s).__name__
        if kind == "Raise" and _is_stop(s.exc):
            written.line = s
            cause = s.exc if s.cause is None else s.cause
            s.exc, s.cause = written.expr("RuntimeError('generator raised StopIteration')"), cause
        elif kind not in FUNCTIONS:
            # What the body of a 'try' raises may be caught in the generator.
            parts = [p for p in fields(s) if not (kind == "Try" and s.handlers and p in s.body)]
            _turn([p for p in parts if isinstance(p, (gast.stmt, gast.ExceptHandler, gast.match_case))], written)


def _is_stop(e: Any) -> bool:
    e = e.func if type(e).__name__ == "Call" else e
    return type(e).__name__ == "Name" and e.id == "StopIteration"
