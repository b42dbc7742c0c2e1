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
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.normal.stops import turn_stops
from thunkad.tree.parse import deep_recursion

_TOPICS = (  # imported for the functions that they register
    lower_comprehensions, lower_expressions, lower_functions, lower_generators, lower_guarded, lower_loops, lower_match,
    lower_statements, lower_strings, lower_targets, lower_unsupported,
)  # fmt: skip


def lower(source: SourceLike, shared: SharedNames = NOTHING) -> n.Function:
    """The function in IR, before :mod:`thunkad.normal.exits` and :mod:`thunkad.normal.versions`.

    Parameters
    ----------
    source : Source
    shared : SharedNames, optional
        Variables that the function shares with others: it takes the objects for them as its last parameters.

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
        turn_stops(node)
        scopes = Scopes(node, shared)
        builder = Builder(source, scopes, Names(scopes.global_names), Env(scopes.root, Env(scopes.outside, None)))
        params = set(scopes.root.params)
        builder.shared = tuple(new_apart(builder.names, label, params) for label in shared.labels)
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
            made = generator_body(builder, node, name)
        else:
            made = function_body(builder, node, name)
        made.params += map(n.Param, builder.shared)
        return made


def new_apart(names: Names, wish: str, others: set[str]) -> str:
    """A new name that is none of ``others`` either."""
    while (name := names.new(wish)) in others:
        pass
    return name
