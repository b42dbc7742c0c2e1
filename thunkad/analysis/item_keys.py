"""What stands in brackets, as the object that ``__getitem__`` and the like are given."""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names


def key_of(e: n.Index, line: int, names: Names) -> tuple[n.Expr, list[n.Stmt]]:
    """The index of ``e`` as an operand, and the statements that make it."""
    parts = e.index.items if type(e.index) is n.TupleExpr else (e.index,)
    out: list[n.Stmt] = []
    keys: list[n.Expr] = []
    for p in parts:
        if type(p) is not n.Slice:
            keys.append(p)
            continue
        part = n.Name(names.new("part"))
        out.append(n.Assign(part.id, n.Call(n.Ref("slice", slice), ends(p)), line=line))
        keys.append(part)
    if type(e.index) is not n.TupleExpr:
        return keys[0], out
    key = n.Name(names.new("key"))
    out.append(n.Assign(key.id, n.TupleExpr(tuple(keys)), line=line))
    return key, out


def ends(p: n.Slice) -> tuple[n.Expr, ...]:
    """The bounds of a slice."""
    return tuple(n.Const(None) if x is None else x for x in (p.lower, p.upper, p.step))
