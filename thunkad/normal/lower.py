"""gast → IR: every expression in single operations, in Python's order of evaluation."""

from __future__ import annotations

from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.normal import (
    lower_comprehensions,
    lower_expressions,
    lower_functions,
    lower_generators,
    lower_guarded,
    lower_loops,
    lower_match,
    lower_statements,
    lower_strings,
    lower_targets,
    lower_unsupported,
)
from thunkad.normal.lower_builder import Builder, Env, SourceLike
from thunkad.normal.lower_functions import function_body
from thunkad.normal.lower_generators import generator_body
from thunkad.normal.scopes import Scopes
from thunkad.tree.parse import deep_recursion

_TOPICS = (  # imported for the functions that they register
    lower_comprehensions, lower_expressions, lower_functions, lower_generators, lower_guarded, lower_loops, lower_match,
    lower_statements, lower_strings, lower_targets, lower_unsupported,
)  # fmt: skip


def lower(source: SourceLike) -> n.Function:
    """The function in IR, before :mod:`thunkad.normal.exits` and :mod:`thunkad.normal.versions`.

    Parameters
    ----------
    source : Source

    Returns
    -------
    Function
        Variables keep the user's names and are rebound freely; ``Return``, ``Break`` and ``Continue`` stand anywhere.

    Raises
    ------
    UnsupportedSyntaxError
    """
    node: Any = source.node
    with deep_recursion():
        scopes = Scopes(node)
        builder = Builder(source, scopes, Names(scopes.global_names), Env(scopes.root, Env(scopes.outside, None)))
        if type(node).__name__ == "AsyncFunctionDef":
            builder.unsupported(node, "an 'async' function can't be differentiated", "Differentiate a plain function.")
        builder.line = node.lineno
        for variable in scopes.shared_outside():
            builder.unsupported(
                node,
                f"the function assigns the global variable '{variable}', which a function made in it uses",
                "Return the new value instead, or keep it in an attribute of an object.",
            )
        assert builder.env.parent is not None
        builder.enter_outside(builder.env.parent)
        name = source.name if source.name.isidentifier() else "function"
        if scopes.root.generator and not scopes.root.awaits:
            return generator_body(builder, node, name)
        return function_body(builder, node, name)
