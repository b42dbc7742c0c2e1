"""Generators that a loop uses up: the body of the loop takes the place of ``yield``.

::

    def evens(n):                       for k in range(n):
        for k in range(n):                  if k % 2 == 0:
            if k % 2 == 0:                      j = k
                yield k                         total = total + x[j]
    for j in evens(n):
        total = total + x[j]

``continue`` in the body goes on behind the ``yield``; ``break`` and ``return`` leave the generator as well as the loop.
"""

from __future__ import annotations

from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.exits import leaving, left_early
from thunkad.normal.lower_builder import Builder, Env, lowers
from thunkad.normal.lower_comprehensions import comprehension_loops
from thunkad.normal.lower_functions import function_body, generator_call, run_generator
from thunkad.normal.lower_guarded import coded
from thunkad.normal.lower_iterables import as_atom, item, iterable
from thunkad.normal.lower_loops import SPECIAL
from thunkad.normal.lower_targets import bind
from thunkad.runtime.unbound import Unbound

UNBOUND = n.Ref("Unbound", Unbound)


@lowers("Yield")
def _yield(b: Builder, node: Any) -> n.Expr:
    value = n.Const(None) if node.value is None else b.atom(node.value)
    _give(b, node)(value)
    return n.Const(None)


@lowers("YieldFrom")
def _yield_from(b: Builder, node: Any) -> n.Expr:
    if not getattr(node, "unused", False) and type(node.value).__name__ not in ("List", "Tuple", "ListComp"):
        b.unsupported(node, "the value of 'yield from' can't be differentiated", "Compute it by a function of its own.")
    give = _give(b, node)
    inner = generator_call(b, node.value)
    if inner is not None:
        b.block += run_generator(b, node.value, inner, give)
        return n.Const(None)
    run = iterable(b, node.value)
    with b.into([]) as body:
        element, value = item(b, run)
        give(as_atom(b, value))
    b.emit(n.For(element, run.over, body))
    return n.Const(None)


def _give(b: Builder, node: Any) -> Any:
    """What becomes of the values; it is of the innermost generator: the outer one's ``yield`` is not its business."""
    if not b.yielding:
        b.unsupported(node, "a generator can't be differentiated", "Collect the values in a list and return it.")
    mine = b.yielding[-1]

    def give(value: n.Expr) -> None:
        rest, b.yielding = b.yielding, b.yielding[:-1]
        mine(value)
        b.yielding = rest

    return give


def generator_body(b: Builder, node: Any, name: str) -> n.Function:
    """A generator function as one that returns the list of its values.

    :mod:`thunkad.adjoint.generators` judges its calls.
    """
    rows = b.names.new("rows")
    b.stable.add(rows)
    b.line = node.lineno
    b.assign(rows, n.ListExpr(()))
    b.yielding.append(lambda value: b.emit(n.Append(rows, value)))
    function = function_body(b, node, name)
    for s in walk.statements(function.body):
        if type(s) is n.Return:
            s.value = n.Name(rows)
    function.body.append(n.Return(n.Name(rows), line=node.lineno))
    return function


def loop_over_generator(b: Builder, node: Any) -> bool:
    """Lower ``for`` over a call of a nested generator function or over a generator expression; whether it is one."""
    generator = generator_call(b, node.iter)
    expression = type(node.iter).__name__ == "GeneratorExp"
    if generator is None and not expression:
        return False
    line = b.line
    code, value = b.names.new("leave"), b.names.new("value")
    b.stable.add(value)
    kinds: set[type] = set()

    def consume(element: n.Expr) -> None:
        with b.into([]) as body:
            bind(b, node.target, element)
            b.statements(node.body)
        found = leaving(body)
        kinds.update(found)
        order = [k for k in (n.Return, n.Break, n.Continue) if k in found]
        if not order:
            b.block += body
            return
        numbers = {n.Return: 1, n.Break: 2, n.Continue: 0}
        b.block += left_early([x for s in body for x in coded(s, numbers, code, value, False)], b.names)
        if n.Return in found or n.Break in found:
            b.emit(n.If(n.Name(code), [n.Return(n.Const(None), line=line)], []))

    with b.into([]) as block:
        if generator is not None:
            block += run_generator(b, node.iter, generator, consume)
        else:
            with b.into([]) as loops:
                env = Env(b.scopes.of(node.iter), b.env)
                outer = b.env

                def outside(element: n.Expr) -> None:
                    with b.within(outer):
                        consume(element)

                comprehension_loops(b, node.iter, env, outside)
            block += left_early(loops, b.names)
    b.line = line
    if kinds & {n.Return, n.Break}:
        b.assign(code, n.Const(0))
        if n.Return in kinds:
            b.assign(value, UNBOUND)
    b.block += block
    orelse = b.statements_of(node.orelse)
    b.line = line
    if n.Return in kinds:
        test = b.temp(n.Compare("==", n.Name(code), n.Const(1)))
        b.emit(n.If(test, [n.Return(n.Name(value), line=line)], []))
    if n.Break in kinds and orelse:
        b.emit(n.If(n.Name(code), [], orelse))
    else:
        b.block += orelse
    return True


SPECIAL.append(loop_over_generator)
