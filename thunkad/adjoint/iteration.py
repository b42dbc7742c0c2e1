"""Loops over ``enumerate(x)``, ``zip(x, y)``, ``reversed(x)`` and ``d.items()`` that write ``x`` while they run.

Elsewhere such an iterator is made a list first; here it has to stay alive, as each iteration sees what the ones
before wrote.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.steps import ENTRY, IndexStep, Step
from thunkad.analysis.sites import Site
from thunkad.analysis.spans import LIVE
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import PY_INT, UNKNOWN
from thunkad.records import record


@record
class LiveItemStep(Step):
    """``target`` is what an iterator over ``sources`` gave: the item at ``key`` of each."""

    target: str
    sources: tuple[tuple[n.Expr, n.Expr | None, n.Expr], ...]  # (source, place in the item or None: all of it, key)
    temporaries: dict[
        str, str
    ]  # sources that are not shadowed → the name under which their item's cotangent is passed on

    def reads(self) -> set[str]:
        return {i for s, _, _ in self.sources for i in walk.names(s)}

    def reverse(self, bars: Bars) -> None:
        if self.target in bars.shadowed:
            live = bars.live.pop(self.target, None)
            numbers = n.Attr(n.Name(bars.shadows), "numbers")
            seed = bars.as_atom(n.Call(numbers, (n.Name(self.target), ZERO_REF if live is None else live.expr)))
        else:
            bar = bars.taken(self.target)
            if bar is None:
                return
            seed = bars.as_atom(bar.expr)
        for source, place, key in self.sources:
            if type(source) is not n.Name or source.id not in bars.active:
                continue
            part: n.Expr = seed if place is None else n.Call(ENTRY, (seed, place))
            item: n.Expr = n.Name(self.target) if place is None else n.Index(n.Name(self.target), place)
            if source.id in bars.shadowed:
                bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), "add_entry"), (source, key, item, part))))
            else:
                bars.contribute(self.temporaries[source.id], part, maybe_zero=True)


def live_iteration(
    forward: Any, s: n.For, site: Site | None, out: list[n.Stmt]
) -> tuple[n.Expr, str, list[Step]] | None:
    """What the loop runs over, the name of its count, and the steps at the start of its body; None if nothing is
    written."""
    mutation = forward.mutation
    if site is None or site.callee not in LIVE or not isinstance(s.iter, n.Call):
        return None
    inside = {
        mutation.aliases.find(x) for b in walk.statements(s.body) for x in mutation.aliases.written_by.get(id(b), ())
    }
    names = [i for a in site.args for i in walk.names(a)]
    if not any(mutation.aliases.find(i) in inside for i in names):
        return None
    if site.kwargs or site.callee in (map, filter, iter) or any(type(a) is n.Star for a in site.args):
        raise forward.unsupported(
            s, "iterating in this way over what the loop may change", "iterate over a list(…) of it, or by index"
        )
    count = s.count or forward.names.new("k")
    forward.resolved.kinds[count] = PY_INT
    k: n.Expr = n.Name(count)
    if site.callee is enumerate:
        sources: list[tuple[n.Expr, n.Expr | None, n.Expr]] = [(site.args[0], n.Const(1), k)]
    elif site.callee is zip:
        sources = [(a, n.Const(j), k) for j, a in enumerate(site.args)]
    elif site.callee is reversed:
        last = forward.names.new("last")
        size = n.Binary("-", n.Call(n.Ref("len", len), site.args), n.Const(1))
        out.append(n.Assign(last, size, line=s.line))
        sources = [(site.args[0], None, n.Binary("-", n.Name(last), k))]
    elif site.callee is dict.values:
        keys = forward.names.new("keys")
        out.append(n.Assign(keys, n.Call(n.Ref("list", list), site.args), line=s.line))
        sources = [(site.args[0], None, n.Index(n.Name(keys), k))]
    else:
        sources = (
            [(site.args[0], n.Const(1), n.Index(n.Name(s.target), n.Const(0)))] if site.callee is dict.items else []
        )
    steps: list[Step] = []
    temporaries: dict[str, str] = {}
    for source, _, key in sources:
        if type(source) is n.Name and source.id in forward.active and source.id not in mutation.shadowed:
            temporaries[source.id] = mutation.temporary(UNKNOWN)
            steps.append(IndexStep(s.line, temporaries[source.id], source.id, key, PY_INT))
    steps.append(LiveItemStep(s.line, s.target, tuple(sources), temporaries))
    return s.iter, count, steps
