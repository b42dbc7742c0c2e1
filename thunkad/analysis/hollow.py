"""Names that may be unbound where they are read."""

from __future__ import annotations

from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.runtime.unbound import Unbound


def unbound_at_heads(function: n.Function) -> set[str]:
    """Names that may be unbound where they are read.

    A loop carries them from one iteration to the next and nothing binds them before it, or only one arm of a branch
    binds them and they are read behind it.
    """
    out: set[str] = set()
    reads = Counter(i for s in walk.statements(function.body) for i in walk.reads(s))
    bound = {*function.captures, *(p.name for p in function.params)}

    def scan(block: list[n.Stmt]) -> None:
        for s in block:
            if type(s) in (n.For, n.While):
                carried = {x.target for x in s.body if type(x) is n.Assign and x.site == "carried"}
                out.update(carried - bound)
            elif type(s) is n.If:
                first, second = walk.assigned(s.body), walk.assigned(s.orelse)
                for arm, alone in ((s.body, first - second - bound), (s.orelse, second - first - bound)):
                    inside = Counter(i for x in walk.statements(arm) for i in walk.reads(x)) if alone else reads
                    out.update(x for x in alone if inside[x] < reads[x])
            for inner in walk.blocks(s):
                scan(inner)
            bound.update(walk.writes(s))

    scan(function.body)
    return out


def is_hollow(e: n.Expr, hollow: set[str]) -> bool:
    """Whether ``e`` may be the mark of an unbound variable."""
    return (type(e) is n.Ref and e.value is Unbound) or (type(e) is n.Name and e.id in hollow)
