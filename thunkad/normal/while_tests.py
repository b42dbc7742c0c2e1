"""Loops whose test binds variables that outlive it.

The test of a ``While`` runs once more than its body.  A variable bound there and read at the head or after the loop has
no place where its carried copy could be bound, and one that the body reads would bring a derivative out of the test:
such a loop becomes ``while True`` with its test as an ``if``.
"""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.ir.live import Liveness


def move_tests(block: list[n.Stmt], live: Liveness, names: Names) -> list[n.Stmt]:
    """``block`` with such tests moved into the bodies of their loops; ``block`` itself where there are none."""
    out = [_moved(s, live, names) for s in block]
    return block if all(a is b for a, b in zip(out, block)) else out


def _moved(s: n.Stmt, live: Liveness, names: Names) -> n.Stmt:
    where = {"line": s.line, "site": s.site}
    if type(s) is n.If:
        body, orelse = move_tests(s.body, live, names), move_tests(s.orelse, live, names)
        return s if body is s.body and orelse is s.orelse else n.If(s.test, body, orelse, **where)
    if type(s) is n.For:
        body = move_tests(s.body, live, names)
        return s if body is s.body else n.For(s.target, s.iter, body, s.stop, s.count, **where)
    if type(s) is n.With:
        body = move_tests(s.body, live, names)
        return s if body is s.body else n.With(s.item, s.target, body, **where)
    if type(s) is n.Try:
        blocks = [move_tests(b, live, names) for b in (s.body, s.handler, s.orelse)]
        same = blocks[0] is s.body and blocks[1] is s.handler and blocks[2] is s.orelse
        return s if same else n.Try(*blocks, s.types, s.error, **where)
    if type(s) is not n.While:
        return s
    test_body, body = move_tests(s.test_body, live, names), move_tests(s.body, live, names)
    outlives = live.after[id(s)] | live.at_head[id(s)] | walk.read_anywhere(s.body)
    if outlives.isdisjoint(_changed(s.test_body)):
        if test_body is s.test_body and body is s.body:
            return s
        return n.While(test_body, s.test, body, s.stop, **where)
    stop, end = s.stop, list(body)
    if stop is None:
        stop = names.new("stop")
        end.append(n.Assign(stop, n.Const(False), line=s.line))
    leave = n.Assign(stop, n.Const(True), line=s.line)
    return n.While([], n.Const(True), [*test_body, n.If(s.test, end, [leave], line=s.line)], stop, **where)


def _changed(block: list[n.Stmt]) -> set[str]:
    """Variables that ``block`` binds or deletes."""
    deleted = {s.target.id for s in walk.statements(block) if type(s) is n.Delete and type(s.target) is n.Name}
    return walk.assigned(block) | deleted
