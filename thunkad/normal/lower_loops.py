"""``for`` and ``while``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.lower_builder import Builder, lowers
from thunkad.normal.lower_expressions import truth
from thunkad.normal.lower_iterables import iterable, loop_target

#: Loops that are not kept as loops: each lowers one sort and says whether it has.
SPECIAL: list[Callable[[Builder, Any], bool]] = []


@lowers("For")
def _for(b: Builder, node: Any) -> None:
    line = b.line
    if any(special(b, node) for special in SPECIAL):
        return
    run = iterable(b, node.iter)
    with b.into([]) as body:
        target = loop_target(b, run, node.target)
        b.statements(node.body)
    b.line = line
    _with_else(b, n.For(target, run.over, body), node.orelse)


@lowers("While")
def _while(b: Builder, node: Any) -> None:
    line, rebindings = b.line, b.rebindings
    with b.into([]) as test_body:
        test = truth(b, node.test)
    if b.rebindings == rebindings:
        loop = n.While(test_body, test, b.statements_of(node.body))
        b.line = line
        _with_else(b, loop, node.orelse)
        return
    # A test that binds variables: `while True` with the test as an `if`.
    body = b.statements_of(node.body)
    b.line = line
    leave: list[n.Stmt] = [n.Break(line=line)]
    done: str | None = None
    if node.orelse:
        done = b.names.new("done")
        b.assign(done, n.Const(False))
        leave.insert(0, n.Assign(done, n.Const(True), line=line))
    choice = n.If(test, body, leave, line=line)
    b.emit(n.While([], n.Const(True), [*test_body, choice]))
    if done is not None:
        orelse = b.statements_of(node.orelse)
        b.line = line
        b.emit(n.If(n.Name(done), orelse, []))


def _with_else(b: Builder, loop: n.For | n.While, orelse: list[Any]) -> None:
    """The loop and its ``else``; a ``stop`` name tells whether it was left by ``break``."""
    if not orelse:
        b.emit(loop)
    elif not has_break(loop.body):
        b.emit(loop)
        line = b.line
        b.statements(orelse)
        b.line = line
    else:
        loop.stop = b.names.new("stop")
        b.emit(loop)
        line = b.line
        block = b.statements_of(orelse)
        b.line = line
        b.emit(n.If(n.Name(loop.stop), [], block))


def has_break(block: list[n.Stmt]) -> bool:
    """Whether ``block`` leaves the loop that it is the body of by ``break``."""
    for s in block:
        if type(s) is n.Break or (type(s) in (n.If, n.With, n.Try) and any(map(has_break, walk.blocks(s)))):
            return True
    return False
