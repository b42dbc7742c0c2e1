"""Statements and expressions that are refused, each with a rewrite."""

from __future__ import annotations

from typing import Any

from thunkad.normal.lower_builder import Builder, lowers

REFUSED = {
    "AsyncWith": ("an 'async with' block", "Differentiate a plain function."),
    "TryStar": ("a 'try' statement", "Test for the exceptional case with 'if' before the operation that raises."),
    "ClassDef": ("a class definition inside the function", "Define the class at module level."),
    "AsyncFunctionDef": ("an 'async' function", "Differentiate a plain function."),
    "AsyncFor": ("an 'async for' loop", "Differentiate a plain function."),
    "Await": ("'await'", "Differentiate a plain function."),
    "TypeAlias": ("a 'type' statement inside the function", "Move it to module level."),
    "TemplateStr": ("a template string", "Use an f-string."),
}


@lowers(*REFUSED)
def _refuse(b: Builder, node: Any) -> None:
    what, hint = REFUSED[type(node).__name__]
    b.unsupported(node, f"{what} can't be differentiated", hint)
