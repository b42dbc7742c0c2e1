"""``zip(x, y, strict=True)`` raises at the end of a loop: what a handler sees of it is a loop that has run."""

from __future__ import annotations

from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.runtime.lazy import check_lengths


def is_strict(s: n.Stmt) -> bool:
    """Whether ``s`` is such a loop."""
    return (
        type(s) is n.For
        and type(s.iter) is n.Call
        and s.iter.func == n.Global("zip")
        and s.iter.kwargs not in ((), (("strict", n.Const(False)),))
    )


def checked_after(
    s: n.For,
    names: Names,
    descend: Callable[[n.Stmt], list[n.Stmt]],
    protected: Callable[[list[n.Stmt]], list[n.Stmt]],
) -> list[n.Stmt]:
    """The loop over ``zip(x, y)``, cut by ``descend``, and the check that follows it, in a ``try`` of its own.

    A loop that is left by ``break`` or ``return`` is not checked.
    """
    assert type(s.iter) is n.Call
    bound = walk.assigned(s.body) | {s.target}
    parts = tuple(n.Name(names.new("part")) if type(a) is n.Name and a.id in bound else a for a in s.iter.args)
    held: list[n.Stmt] = [
        n.Assign(p.id, a, line=s.line) for p, a in zip(parts, s.iter.args) if type(p) is n.Name and p is not a
    ]
    body, left = s.body, n.Name(names.new("left"))
    if s.stop is not None:
        held.append(n.Assign(left.id, n.Const(False), line=s.line))
        body = [*body, n.Assign(left.id, n.Name(s.stop), line=s.line)]
    loop = n.For(s.target, n.Call(s.iter.func, parts), body, s.stop, s.count, line=s.line)
    check = protected([n.Effect(n.Call(n.Ref("check_lengths", check_lengths), parts, s.iter.kwargs), line=s.line)])
    return [*held, *descend(loop), *(check if s.stop is None else [n.If(left, [], check, line=s.line)])]
