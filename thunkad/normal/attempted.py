"""A function that hands over what it raises instead of raising it.

A callee that changes what it is given and then raises, inside the caller's ``try``, has been left half-way, and the
caller's handler sees the half that was done.  In this form it never is left half-way as far as its caller can tell::

    def callee(x):                      def callee(raised, x):
        x[0] = 2 * x[1]                     result = None
        if x[0] > 1:                        try:
            raise ValueError                    x[0] = 2 * x[1]
        return x[0]                             ...
                                                result = x[0]
                                            except BaseException as error:
                                                note(raised, error)
                                            return result

:mod:`thunkad.normal.guarded` cuts this ``try`` like any other, so the derivative of what was done is right.
"""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.runtime.exceptions import note

NOTE = n.Ref("note", note)


def attempted(function: n.Function) -> n.Function:
    """``function``, with structured exits, with a first parameter for the list that takes what it raises."""
    names = Names(walk.taken_names(function))
    raised, error, result = names.new("raised"), names.new("error"), names.new("result")
    last = function.body[-1]
    assert type(last) is n.Return
    protected = [*function.body[:-1], n.Assign(result, last.value, line=last.line)]
    handler: list[n.Stmt] = [n.Effect(n.Call(NOTE, (n.Name(raised), n.Name(error))), line=last.line)]
    body: list[n.Stmt] = [
        n.Assign(result, n.Const(None), line=function.line),
        n.Try(protected, handler, [], None, error, line=function.line),
        n.Return(n.Name(result), line=last.line),
    ]
    captured = [n.Param(c) for c in function.captures]
    own = [p for p in function.params if p.name not in function.captures]
    params = [n.Param(raised), *captured, *own]
    return n.Function(function.name, params, body, (), function.line, function.filename)


def with_outcome(function: n.Function) -> n.Function:
    """``function``, with structured exits, returning its result and None, or None and what it raises.

    What :mod:`thunkad.normal.outcomes` does for a Python function, for one that was made inside of one.
    """
    names = Names(walk.taken_names(function))
    caught, error, result, pair = (names.new(x) for x in ("caught", "error", "result", "outcome"))
    last = function.body[-1]
    assert type(last) is n.Return
    nothing = n.Const(None)
    body: list[n.Stmt] = [
        n.Assign(error, nothing, line=function.line),
        n.Assign(result, nothing, line=function.line),
        n.Try(
            [*function.body[:-1], n.Assign(result, last.value, line=last.line)],
            [n.Assign(error, n.Name(caught), line=last.line), n.Assign(result, nothing, line=last.line)],
            [], None, caught, line=function.line,
        ),
        n.Assign(pair, n.TupleExpr((n.Name(result), n.Name(error))), line=last.line),
        n.Return(n.Name(pair), line=last.line),
    ]  # fmt: skip
    name, params = f"{function.name}_outcome", function.params
    return n.Function(name, params, body, function.captures, function.line, function.filename)
