"""``zip(x, y, strict=True)`` raises at the end of a loop: what a handler sees of it is a loop that has run."""

from __future__ import annotations

from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.runtime.lazy import check_lengths


def is_strict(s: n.Stmt) -> bool:
    """Whether ``s`` is such a loop, which ends nowhere else."""
    return (
        type(s) is n.For
        and type(s.iter) is n.Call
        and s.iter.func == n.Global("zip")
        and s.iter.kwargs not in ((), (("strict", n.Const(False)),))
        and not any(type(x) in (n.Break, n.Return) for x in walk.statements(s.body))
    )


def checked_after(
    s: n.For,
    names: Names,
    descend: Callable[[n.Stmt], list[n.Stmt]],
    protected: Callable[[list[n.Stmt]], list[n.Stmt]],
) -> list[n.Stmt]:
    """The loop over ``zip(x, y)``, cut by ``descend``, and the check that follows it, in a ``try`` of its own."""
    assert type(s.iter) is n.Call
    parts = tuple(n.Name(names.new("part")) for _ in s.iter.args)
    held: list[n.Stmt] = [n.Assign(p.id, a, line=s.line) for p, a in zip(parts, s.iter.args)]
    loop = n.For(s.target, n.Call(s.iter.func, parts), s.body, s.stop, s.count, line=s.line)
    check = n.Effect(n.Call(n.Ref("check_lengths", check_lengths), parts, s.iter.kwargs), line=s.line)
    return [*held, *descend(loop), *protected([check])]
