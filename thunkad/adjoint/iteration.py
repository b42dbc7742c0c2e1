"""Loops over ``enumerate(x)``, ``zip(x, y)``, ``reversed(x)`` and ``d.items()``, by the items of ``x`` and ``y``.

So are loops over arrays, lists and tuples, and those that write what they run over, where each iteration sees what the
ones before wrote.  Elsewhere such an iterator is made a list first.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.steps import ENTRY, Block, IndexStep, Step, UnpackStep
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.spans import LIVE, counts, is_place, may_write
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import PY_INT, UNKNOWN, Mapping, has_known_keys, is_sequence
from thunkad.records import record
from thunkad.runtime.key_bars import item_add

ITEM_ADD = n.Ref("item_add", item_add)


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
                if place == n.Const(1) and key == n.Index(n.Name(self.target), n.Const(0)):  # of the items of a dict
                    operands = source, n.Const(0), key, n.Call(ENTRY, (seed, n.Const(0)))
                    bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), "add_item"), operands)))
            else:
                bars.contribute(self.temporaries[source.id], part, maybe_zero=True)


@record
class KeyStep(IndexStep):
    """The item that a loop binds over what may be a dict: a key, which is no place in it."""

    def reads(self) -> set[str]:
        return {self.source, self.target}

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is None:
            return
        value = bars.stable(bar.expr, [n.Name(self.source)] * 2)
        buffer = bars.buffer(self.source)
        call = n.Call(ITEM_ADD, (buffer, self.index, value, n.Name(self.source), n.Name(self.target)))
        bars.emit(n.Assign(buffer.id, call))
        bars.live[self.source] = type(bar)(buffer, True, bars.live[self.source].maybe_zero)


def item_step(resolved: Resolved, s: n.For, source: str, count: str) -> IndexStep:
    """The step of what a loop over ``source`` binds."""
    kind = resolved.kind(n.Name(source))
    step = KeyStep if isinstance(kind, Mapping) or kind is UNKNOWN else IndexStep
    return step(s.line, s.target, source, n.Name(count), PY_INT)


def live_iteration(
    forward: Any, s: n.For, site: Site | None, out: list[n.Stmt]
) -> tuple[n.Expr, str, list[Step], dict[Any, tuple[str, n.Expr]]] | None:
    """What the loop runs over, the name of its count, the steps at the start of its body, and for places in an item
    the array or list that each is of, with its place there; None if this is no such loop."""
    mutation = forward.mutation
    if site is None or site.callee not in LIVE or not isinstance(s.iter, n.Call):
        return None
    names = {i for a in site.args for i in walk.names(a)}
    writes = may_write(forward.resolved, mutation.aliases, walk.statements(s.body), names)
    if not writes and not _by_index(forward, s, site):
        return None
    if (
        (site.kwargs and site.callee is not enumerate)
        or site.callee in (map, filter, iter)
        or any(type(a) is n.Star for a in site.args)
    ):
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
    active = {
        None if place is None else place.value: (source.id, key)  # type: ignore[union-attr, attr-defined]
        for source, place, key in sources
        if type(source) is n.Name and source.id in forward.active
    }
    direct = active if mutation.shadowed.keys().isdisjoint((s.target, *(x for x, _ in active.values()))) else {}
    if None in direct:
        return s.iter, count, [IndexStep(s.line, s.target, *direct[None], PY_INT)], {}
    steps: list[Step] = []
    temporaries: dict[str, str] = {}
    for source, _, key in sources:
        if type(source) is n.Name and source.id in forward.active and source.id not in mutation.shadowed:
            temporaries[source.id] = mutation.temporary(UNKNOWN)
            steps.append(IndexStep(s.line, temporaries[source.id], source.id, key, PY_INT))
    steps.append(LiveItemStep(s.line, s.target, tuple(sources), temporaries))
    return s.iter, count, steps, direct


def _by_index(forward: Any, s: n.For, site: Site) -> bool:
    """Whether the items of all that is differentiated are had by their number; such a loop makes no list."""
    if site.callee is dict.items:  # the values by their keys
        return has_known_keys((forward.resolved.kind(site.args[0]),))
    if not counts(site) or s.target in forward.mutation.shadowed:
        return False
    return all(
        type(a) is n.Name and a.id not in forward.mutation.shadowed and is_sequence(forward.resolved.kind(a))
        for a in site.args
        if forward.is_active(a)
    )


def taken_apart(target: str, sources: dict[Any, tuple[str, n.Expr]], inner: Block) -> None:
    """Let what the body of a loop takes out of an item pass its cotangent straight on to ``sources``."""
    steps: list[Any] = []
    for step in inner.steps:
        places: list[tuple[Any, str]] = []
        if type(step) is UnpackStep and step.source == target:
            places = list(enumerate(step.targets))
        elif type(step) is IndexStep and step.source == target and is_place(step.index):
            places = [(step.index.value, step.target)]
        steps += [IndexStep(step.line, name, *sources[k], PY_INT) for k, name in places if k in sources]
        if not places:
            steps.append(step)
    inner.steps[:] = steps
