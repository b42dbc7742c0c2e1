"""Generator expressions as generator functions."""

from __future__ import annotations

from typing import Any

from thunkad.tree.parse import gast

#: The parameter for what a generator expression goes through first.
OVER = "over"


def as_generator_function(node: gast.GeneratorExp) -> gast.FunctionDef:
    """A function of one parameter that does what ``node`` does, made of the same nodes."""
    names = {x.id for x in gast.walk(node) if isinstance(x, gast.Name)}
    over = OVER
    while over in names:
        over += "_"
    line, column = node.lineno, node.col_offset
    where = {"lineno": line, "col_offset": column, "end_lineno": line, "end_col_offset": column}
    function: Any = gast.parse(f"def generator_expression({over}): pass").body[0]
    for x in gast.walk(function):
        for name, value in where.items():
            setattr(x, name, value)
    body: Any = gast.Expr(gast.Yield(node.elt, **where), **where)
    for k, g in reversed(list(enumerate(node.generators))):
        for test in reversed(g.ifs):
            body = gast.If(test, [body], [], **where)
        iterable = g.iter if k else gast.Name(over, gast.Load(), None, None, **where)
        body = gast.For(g.target, iterable, [body], [], None, **where)
    function.body = [body]
    return function  # type: ignore[no-any-return]
