"""Arrays let go of after their last use, in code that is long enough for it to matter.

Short functions keep their look: there, little is held that is not needed until the end anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.ir import walk

#: With fewer arrays than this nothing is dropped early.
FEWEST = 16


def release(block: list[n.Stmt], is_array: Callable[[str], bool], fewest: int = FEWEST) -> list[n.Stmt]:
    """``block`` (a function's body) with ``del`` after the last statement that uses an array made in it."""
    made = {w for s in block for w in walk.writes(s) if type(s) in (n.Assign, n.Unpack) and is_array(w)}
    if len(made - _stand_ins(block)) < fewest:
        return block
    last: dict[str, int] = {}
    for k, s in enumerate(block):
        for x in _mentioned(s) & made:
            last[x] = k
    kept = _held(block)
    dropped: dict[int, list[str]] = {}
    for x in sorted(made - kept):
        dropped.setdefault(last[x], []).append(x)
    out: list[n.Stmt] = []
    final = max((k for k, s in enumerate(block) if type(s) is n.Return), default=len(block))
    for k, s in enumerate(block):
        out.append(s)
        if k < final - 1:
            out += [n.Delete(n.Name(x), line=s.line) for x in dropped.get(k, ())]
    return out


def _stand_ins(block: list[n.Stmt]) -> set[str]:
    """Names that only stand for shapes, or for numbers in place of arrays."""
    helpers = ("thunkad.runtime.shapes", "thunkad.runtime.uniform")
    return {
        s.target
        for s in block
        if type(s) is n.Assign and type(s.value) is n.Call and type(s.value.func) is n.Ref
        if getattr(s.value.func.value, "__module__", "") in helpers
    }  # fmt: skip


def _mentioned(s: n.Stmt) -> set[str]:
    found: set[str] = set()
    for x in walk.statements([s]):
        found |= walk.reads(x)
        found.update(walk.writes(x))
        if type(x) in (n.For, n.While) and x.stop is not None:  # type: ignore[attr-defined]
            found.add(x.stop)  # type: ignore[attr-defined]
    return found


def _held(block: list[n.Stmt]) -> set[str]:
    """Names that are bound on some paths only, or that a nested function reads."""
    held: set[str] = set()
    for s in block:
        if type(s) is n.Define:
            for x in walk.statements(s.function.body):
                held |= walk.reads(x)
        for inner in walk.blocks(s):
            held |= walk.assigned(inner)
        for x in walk.statements([s]):
            if type(x) is n.Delete and type(x.target) is n.Name:
                held.add(x.target.id)
    return held
