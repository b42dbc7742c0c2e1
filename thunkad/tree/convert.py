"""gast expressions → nested IR expressions, for sources that are pasted rather than compiled: rules."""

from __future__ import annotations

from collections.abc import Callable

from thunkad.ir import nodes as n
from thunkad.tree.parse import gast

BINARY = {
    gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/", gast.FloorDiv: "//", gast.Mod: "%", gast.Pow: "**",
    gast.MatMult: "@", gast.LShift: "<<", gast.RShift: ">>", gast.BitOr: "|", gast.BitXor: "^", gast.BitAnd: "&",
}  # fmt: skip
UNARY = {gast.USub: "-", gast.UAdd: "+", gast.Invert: "~", gast.Not: "not"}
COMPARE = {
    gast.Lt: "<", gast.LtE: "<=", gast.Eq: "==", gast.NotEq: "!=", gast.Gt: ">", gast.GtE: ">=",
    gast.Is: "is", gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip


class NotInlineable(Exception):
    """The source holds something that can't be pasted."""


def convert(e: gast.AST, name: Callable[[str], n.Expr]) -> n.Expr:
    """The IR of ``e``; ``name`` says what a name stands for.  Raises :class:`NotInlineable`."""

    def go(e: gast.AST) -> n.Expr:
        t = type(e)
        if t is gast.Name:
            return name(e.id)
        if t is gast.Constant:
            return n.Const(e.value)
        if t is gast.BinOp:
            return n.Binary(BINARY[type(e.op)], go(e.left), go(e.right))
        if t is gast.UnaryOp:
            inner = go(e.operand)
            if type(e.op) is gast.USub and type(inner) is n.Const and type(inner.value) in (int, float):
                return n.Const(-inner.value)
            return n.Unary(UNARY[type(e.op)], inner)
        if t is gast.Compare and len(e.ops) == 1:
            return n.Compare(COMPARE[type(e.ops[0])], go(e.left), go(e.comparators[0]))
        if t is gast.Call:
            return n.Call(go(e.func), tuple(go(a) for a in e.args), tuple((k.arg, go(k.value)) for k in e.keywords))
        if t is gast.Starred:
            return n.Star(go(e.value))
        if t is gast.Attribute:
            return n.Attr(go(e.value), e.attr)
        if t is gast.Subscript:
            return n.Index(go(e.value), go(e.slice))
        if t is gast.Slice:
            return n.Slice(*(None if p is None else go(p) for p in (e.lower, e.upper, e.step)))
        if t is gast.Tuple:
            return n.TupleExpr(tuple(go(x) for x in e.elts))
        if t is gast.List:
            return n.ListExpr(tuple(go(x) for x in e.elts))
        if t is gast.Dict and all(k is not None for k in e.keys):
            return n.DictExpr(tuple(go(k) for k in e.keys), tuple(go(v) for v in e.values))
        if t is gast.IfExp:
            return n.IfExp(go(e.test), go(e.body), go(e.orelse))
        raise NotInlineable(t.__name__)

    return go(e)
