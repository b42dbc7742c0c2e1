"""A pullback and a linear map from one run of a function: for Jacobians, before it is known which of them takes less.

The forward half of reverse mode is taken apart as ``linearize`` takes a function apart, so its primal half computes
the value, what the reverse half reads, and what the linear half reads.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.generate import Generator
from thunkad.analysis.aliases import Sharing
from thunkad.analysis.sites import Resolved
from thunkad.errors import ThunkadError
from thunkad.forward.linear import NotSeparable, halves
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.ir.walk import taken_names
from thunkad.kinds.lattice import Kind
from thunkad.records import replace
from thunkad.runtime.replays import handed_over

HANDED_OVER = n.Ref("handed_over", handed_over)


def three_parts(
    world: Any, resolved: Resolved, kinds: tuple[Kind, ...], wanted: tuple[str, ...], volatile: tuple[str, ...]
) -> list[n.Function]:
    """``primal(params) -> (value, saved, kept)`` and two that read what it returns besides the value.

    ``linear(saved, dots) -> value_dot`` and ``reverse(kept, value_bar)``, which gives the cotangents of ``wanted``.
    """
    base = resolved.function.name
    generator = Generator(resolved, world, world.is_pure, sharing=Sharing(volatile=volatile))
    forward, reverse = generator.pair(f"{base}_forward", f"{base}_reverse", wanted)
    if len(reverse.params) > 2:
        raise NotSeparable("shadows go by the identity of memory")
    forwarding = world.forwarding
    marked = with_mark(forward)
    forwarding.made.add(id(marked))
    world.keep(marked)
    outer = forwarding.analysis(marked, resolved.owner, kinds)
    names = f"{base}_primal", f"{base}_linear"
    primal, linear = halves(*names, outer, wanted, forwarding, world.is_pure, public=True, volatile=volatile)
    return [without_mark(primal), linear, reverse]


def with_mark(forward: n.Function) -> n.Function:
    """``forward`` with the value as its only result, and a mark at what else it hands over."""
    *body, last = forward.body
    assert type(last) is n.Return and type(last.value) is n.TupleExpr
    value, kept = last.value.items
    names = Names(taken_names(forward))
    result, saved = n.Name(names.new("result")), n.Name(names.new("kept"))
    end = [n.Assign(result.id, value), n.Assign(saved.id, kept), n.Effect(n.Call(HANDED_OVER, (saved,)))]
    return replace(forward, body=[*body, *end, n.Return(result, line=last.line)])


def without_mark(primal: n.Function) -> n.Function:
    """``primal`` with what is marked as its third result."""
    body, kept = [], None
    for s in primal.body[:-1]:
        if type(s) is n.Effect and type(s.value) is n.Call and s.value.func == HANDED_OVER:
            (kept,) = s.value.args
        else:
            body.append(s)
    last: Any = primal.body[-1]
    if kept is None:
        raise ThunkadError("generated code has lost what its reverse half reads")
    return replace(primal, body=[*body, n.Return(n.TupleExpr((*last.value.items, kept)), line=last.line)])
