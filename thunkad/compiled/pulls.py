"""The pull of a function, ``f_pull(x, w) = f(x), J(x)ᵀ w``, from its two halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thunkad.analysis.aliases import has_memory
from thunkad.compiled.load import Slot
from thunkad.forward.calls import EFFECT
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Num
from thunkad.records import field, record
from thunkad.runtime.shadows import Shadows, then
from thunkad.runtime.structures import structure
from thunkad.runtime.watching import Watch, refuse_shared, refuse_shared_in, separate, watch_copies, watch_shared
from thunkad.tangents import ZERO

ZERO_REF = n.Ref("ZERO", ZERO)
SHADOWS, THEN, STRUCTURE = n.Ref("Shadows", Shadows), n.Ref("then", then), n.Ref("structure", structure)
REFUSE_SHARED, WATCH_SHARED = n.Ref("refuse_shared", refuse_shared), n.Ref("watch_shared", watch_shared)
SHARED_IN = n.Ref("refuse_shared_in", refuse_shared_in)
WATCH, SEPARATE, WATCH_COPIES = n.Ref("Watch", Watch), n.Ref("separate", separate), n.Ref("watch_copies", watch_copies)


@record
class PullBody:
    """Statements that bind ``value`` and, for each wanted parameter, its cotangent."""

    statements: list[n.Stmt]
    value: n.Name
    bars: dict[str, n.Expr]
    slots: tuple[Slot, ...]
    originals: dict[str, n.Expr] = field(default_factory=dict)  # changed containers → copies of how they were

    def all_bars(self) -> n.Expr:
        """The cotangents as the reverse half of a callee returns them."""
        found = tuple(self.bars.values())
        return found[0] if len(found) == 1 else n.TupleExpr(found)


def pull_body(
    pair: Any, params: tuple[str, ...], kinds: dict[str, Kind], demand: tuple[str, ...], names: Names,
    seed: Callable[[n.Name], n.Expr], written: tuple[str, ...] = (), apart: frozenset[str] = frozenset(),
    several: frozenset[str] = frozenset(),
) -> PullBody:  # fmt: skip
    """Run the forward half of ``pair`` and its reverse half, with a seed that may depend on the value.

    The cotangents of parameters that are changed in place (``written``: so that others may see it) are in the shadows
    that the reverse half is given.  ``apart``: those that must share no memory with others; ``several``: those that
    stand for several arguments.
    """
    value, saved, shadows = n.Name(names.new("value")), names.new("saved"), n.Name(names.new("shadows"))
    out: list[n.Stmt] = []
    before: dict[str, n.Expr] = {}
    originals: dict[str, n.Expr] = {}
    changed = tuple(p for p in demand if p in pair.shadowed or p in pair.written)
    own = {p: n.Name(p) for p in params}
    watch = n.Name(names.new("watch"))
    if changed:
        own = _separate(params, kinds, names, out)
    for p in sorted(apart):
        others = tuple(n.Name(q) for q in params if has_memory(kinds[q]) and q != p)
        if others:
            out.append(n.Effect(n.Call(REFUSE_SHARED, (n.Name(p), *others)), site=EFFECT))
    out += [n.Effect(n.Call(SHARED_IN, (n.Name(p),)), site=EFFECT) for p in written if p in several]
    watched: Sequence[str] = ()
    if written and any(own[q].id != q for q in params):
        watched = [p for p in params if has_memory(kinds[p])]
    if watched:
        pairs = tuple(n.TupleExpr((n.Name(p), own[p])) for p in watched)
        out.append(n.Assign(watch.id, n.Call(WATCH_COPIES, pairs), site=EFFECT))
    elif written and not changed and len(held := [n.Name(p) for p in params if has_memory(kinds[p])]) > 1:
        watched = params  # no cotangent follows memory, so nothing was copied
        out.append(n.Assign(watch.id, n.Call(WATCH_SHARED, tuple(held)), site=EFFECT))
    for p in changed:
        if not isinstance(kinds[p], Num) or kinds[p].form == "any":  # type: ignore[union-attr]
            was, copy = n.Name(names.new(f"{p}_then")), n.Name(names.new(f"{p}_was"))
            out += [n.Assign(copy.id, n.Call(STRUCTURE, (own[p],))), n.Assign(was.id, n.Call(THEN, (own[p],)))]
            before[p], originals[p] = was, copy
    out.append(n.Unpack((value.id, saved), n.Call(n.Ref(pair.forward.__name__, pair.forward), tuple(own.values()))))
    if watched:
        out.append(n.Effect(n.Call(n.Attr(watch, "check"), ()), site=EFFECT))
    given: tuple[n.Expr, ...] = (n.Name(saved), seed(value))
    if pair.written:
        out.append(n.Assign(shadows.id, n.Call(SHADOWS)))
        given = (*given, shadows)
        for p in before:
            after = n.Name(names.new(f"{p}_after"))
            out.append(n.Assign(after.id, n.Call(THEN, (own[p],))))
            out.append(n.Effect(n.Call(n.Attr(shadows, "expect"), (after,))))
    found = n.Name(names.new("bars"))
    out.append(n.Assign(found.id, n.Call(n.Ref(pair.reverse.__name__, pair.reverse), given)))
    returned = [p for p in demand if p not in pair.shadowed]
    bars: dict[str, n.Expr] = {}
    for p in demand:
        bar = found if len(returned) == 1 else n.Index(found, n.Const(returned.index(p))) if p in returned else ZERO_REF
        if p in changed:
            call = n.Call(n.Attr(shadows, "whole"), (before.get(p, own[p]), bar))
            bar = n.Name(names.new(f"{p}_bar"))
            out.append(n.Assign(bar.id, call))
        bars[p] = bar
    return PullBody(out, value, bars, (pair.forward, pair.reverse), originals)


def _separate(params: tuple[str, ...], kinds: dict[str, Kind], names: Names, out: list[n.Stmt]) -> dict[str, n.Name]:
    """The parameters under names of which no two share memory, since cotangents follow it; copies where they do."""
    own = {p: n.Name(p) for p in params}
    before: list[n.Expr] = []
    for p in params:
        if has_memory(kinds[p]):
            if before:
                name = names.new(p)
                out.append(n.Assign(name, n.Call(SEPARATE, (own[p], *before))))
                own[p] = n.Name(name)
            before.append(own[p])
    return own


def watching(run: n.Stmt, changed: tuple[str, ...], label: str, names: Names) -> list[n.Stmt]:
    """``run``, which is run again in the reverse sweep: what it seems to change it must leave as it was."""
    if not changed:
        return [run]
    watch = names.new("watch")
    given = n.DictExpr(tuple(map(n.Const, changed)), tuple(map(n.Name, changed)))
    check = n.Call(n.Attr(n.Name(watch), "check"), (n.Const(label),))
    return [n.Assign(watch, n.Call(WATCH, (given,)), site=EFFECT), run, n.Effect(check, site=EFFECT)]
