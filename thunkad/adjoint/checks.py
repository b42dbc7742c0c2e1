"""Debug mode: each cotangent is checked right after it was computed."""

from __future__ import annotations

from thunkad.adjoint.bars import Bars
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num, Unknown
from thunkad.runtime.checked import checked

CHECKED = n.Ref("checked", checked)


def insert_checks(bars: Bars) -> None:
    """Put the checks into the reverse code that ``bars`` has emitted, in place."""
    filename = bars.resolved.function.filename
    primal = {
        bar: x
        for x, bar in bars.spelled.items()
        if x not in bars.maybe_unbound and x not in bars.shadowed and isinstance(bars.kind(x), (Num, Unknown))
    }
    _block(bars.out, primal, filename)


def _block(block: list[n.Stmt], primal: dict[str, str], filename: str) -> None:
    out: list[n.Stmt] = []
    for s in block:
        for inner in walk.blocks(s):
            _block(inner, primal, filename)
        out.append(s)
        if type(s) is n.Assign and s.target in primal and s.line:
            value = n.Name(s.target)
            call = n.Call(CHECKED, (value, n.Name(primal[s.target]), n.Const(filename), n.Const(s.line)))
            out.append(n.Assign(s.target, call, line=s.line))
    block[:] = out
