"""The pull of a function, ``f_pull(x, w) = f(x), J(x)ᵀ w``, from its two halves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.compiled.load import Slot
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Num
from thunkad.records import field, record
from thunkad.runtime.shadows import Shadows, structure, then
from thunkad.tangents import ZERO

ZERO_REF = n.Ref("ZERO", ZERO)
SHADOWS, THEN, STRUCTURE = n.Ref("Shadows", Shadows), n.Ref("then", then), n.Ref("structure", structure)


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
    seed: Callable[[n.Name], n.Expr],
) -> PullBody:  # fmt: skip
    """Run the forward half of ``pair`` and its reverse half, with a seed that may depend on the value.

    The cotangents of parameters that are changed in place are in the shadows that the reverse half is given.
    """
    value, saved, shadows = n.Name(names.new("value")), names.new("saved"), n.Name(names.new("shadows"))
    out: list[n.Stmt] = []
    before: dict[str, n.Expr] = {}
    originals: dict[str, n.Expr] = {}
    changed = tuple(p for p in demand if p in pair.shadowed or p in pair.written)
    for p in changed:
        if not isinstance(kinds[p], Num) or kinds[p].form == "any":  # type: ignore[union-attr]
            was, copy = n.Name(names.new(f"{p}_then")), n.Name(names.new(f"{p}_was"))
            out += [n.Assign(copy.id, n.Call(STRUCTURE, (n.Name(p),))), n.Assign(was.id, n.Call(THEN, (n.Name(p),)))]
            before[p], originals[p] = was, copy
    out.append(
        n.Unpack((value.id, saved), n.Call(n.Ref(pair.forward.__name__, pair.forward), tuple(map(n.Name, params))))
    )
    given: tuple[n.Expr, ...] = (n.Name(saved), seed(value))
    if pair.written:
        out.append(n.Assign(shadows.id, n.Call(SHADOWS)))
        given = (*given, shadows)
        for p in before:
            after = n.Name(names.new(f"{p}_after"))
            out.append(n.Assign(after.id, n.Call(THEN, (n.Name(p),))))
            out.append(n.Effect(n.Call(n.Attr(shadows, "expect"), (after,))))
    found = n.Name(names.new("bars"))
    out.append(n.Assign(found.id, n.Call(n.Ref(pair.reverse.__name__, pair.reverse), given)))
    returned = [p for p in demand if p not in pair.shadowed]
    bars: dict[str, n.Expr] = {}
    for p in demand:
        bar = found if len(returned) == 1 else n.Index(found, n.Const(returned.index(p))) if p in returned else ZERO_REF
        if p in changed:
            call = n.Call(n.Attr(shadows, "whole"), (before.get(p, n.Name(p)), bar))
            bar = n.Name(names.new(f"{p}_bar"))
            out.append(n.Assign(bar.id, call))
        bars[p] = bar
    return PullBody(out, value, bars, (pair.forward, pair.reverse), originals)


def refuse_changes(pair: Any, place: Place | None) -> None:
    """What is run again in the reverse sweep must find its arguments as they were."""
    if pair.written or pair.shadowed:
        raise UnsupportedSyntaxError(
            "a derivative inside a differentiated function of a function that changes its arguments or "
            "captured variables in place is not supported",
            place,
            "build new values instead",
        )
