"""Operators, calls, attributes, subscripts and displays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, Held, lowers
from thunkad.tree.convert import BINARY, COMPARE, UNARY

SLICE = n.Ref("slice", slice)


def truth(b: Builder, node: Any) -> n.Expr:
    """The atom of a test."""
    return b.atom(node)


@lowers("Constant")
def _constant(b: Builder, node: Any) -> n.Expr:
    return n.Const(node.value)


@lowers("Name")
def _name(b: Builder, node: Any) -> n.Expr:
    return b.read(node.id)


@lowers("UnaryOp")
def _unary(b: Builder, node: Any) -> n.Expr:
    op = UNARY[type(node.op)]
    operand = b.atom(node.operand)
    if op == "-" and type(operand) is n.Const and type(operand.value) in (int, float, complex):
        return n.Const(-operand.value)
    return n.Unary(op, operand)


@lowers("BinOp")
def _binary(b: Builder, node: Any) -> n.Expr:
    spine = []  # a sum of a thousand terms leans to the left
    while type(node).__name__ == "BinOp":
        spine.append(node)
        node = node.left
    value = b.expression(node)
    for part in reversed(spine):
        left = b.hold(value if isinstance(value, n.ATOMS) else b.temp(value))
        right = b.hold(b.atom(part.right))
        value = n.Binary(BINARY[type(part.op)], *b.settle([left, right]))
    return value


@lowers("BoolOp")
def _bool(b: Builder, node: Any) -> n.Expr:
    """``t = first; if t: t = second`` (or its else)."""
    is_and = type(node.op).__name__ == "And"
    out = b.temporary()
    b.assign(out, b.expression(node.values[0]))
    outer = b.block
    for value in node.values[1:]:
        rest: list[n.Stmt] = []
        b.emit(n.If(n.Name(out), rest, []) if is_and else n.If(n.Name(out), [], rest))
        b.block = rest
        b.assign(out, b.expression(value))
    b.block = outer
    return n.Name(out)


@lowers("IfExp")
def _choice(b: Builder, node: Any) -> n.Expr:
    test = truth(b, node.test)
    out = b.temporary()
    arms = []
    for part in (node.body, node.orelse):
        with b.into([]) as arm:
            b.assign(out, b.expression(part))
        arms.append(arm)
    b.emit(n.If(test, *arms))
    return n.Name(out)


@lowers("Compare")
def _compare(b: Builder, node: Any) -> n.Expr:
    left = b.atom(node.left)
    if len(node.ops) == 1:
        left, right = b.settle([b.hold(left), b.hold(b.atom(node.comparators[0]))])
        return n.Compare(COMPARE[type(node.ops[0])], left, right)
    out = b.temporary()
    outer = b.block
    for k, (op, comparator) in enumerate(zip(node.ops, node.comparators)):
        if k:
            rest: list[n.Stmt] = []
            b.emit(n.If(n.Name(out), rest, []))
            b.block = rest
        left, right = b.settle([b.hold(left), b.hold(b.atom(comparator))])
        b.assign(out, n.Compare(COMPARE[type(op)], left, right))
        left = right
    b.block = outer
    return n.Name(out)


@lowers("NamedExpr")
def _walrus(b: Builder, node: Any) -> n.Expr:
    b.write(node.target.id, b.expression(node.value), node.target)
    b.rebindings += 1
    return b.read(node.target.id)


# ---------------------------------------------------------------- attributes and subscripts


@lowers("Attribute")
def _attribute(b: Builder, node: Any) -> n.Expr:
    return b.shared_attribute(node) or n.Attr(b.atom(node.value), node.attr)


@lowers("Subscript")
def _subscript(b: Builder, node: Any) -> n.Expr:
    base = b.hold(b.atom(node.value))
    index, rebuild = held_index(b, node.slice)
    value, *parts = b.settle([base, *index])
    return n.Index(value, rebuild(parts))


Rebuild = Callable[[list[n.Expr]], n.Expr]


def held_index(b: Builder, node: Any) -> tuple[list[Held], Rebuild]:
    """The operands of an index, and how to put it together from them once they are settled."""
    kind = type(node).__name__
    if kind == "Slice":
        present = [p is not None for p in (node.lower, node.upper, node.step)]
        held = [b.hold(b.atom(p)) for p in (node.lower, node.upper, node.step) if p is not None]

        def as_slice(parts: list[n.Expr]) -> n.Expr:
            left = iter(parts)
            return n.Slice(*(next(left) if p else None for p in present))

        return held, as_slice
    if kind == "Tuple" and not any(type(e).__name__ == "Starred" for e in node.elts):
        if not node.elts:
            return [b.hold(b.temp(n.TupleExpr(())))], lambda parts: parts[0]
        items = [held_index(b, e) if type(e).__name__ == "Slice" else _held_atom(b, e) for e in node.elts]

        def as_tuple(parts: list[n.Expr]) -> n.Expr:
            out, start = [], 0
            for held, rebuild in items:
                out.append(rebuild(parts[start : start + len(held)]))
                start += len(held)
            return n.TupleExpr(tuple(out))

        return [h for held, _ in items for h in held], as_tuple
    if kind == "Tuple":  # x[*i, 1:2]: the index is a tuple like any other
        held = [b.hold(_index_item(b, e)) for e in node.elts]
        return [b.hold(b.temp(n.TupleExpr(tuple(b.settle(held)))))], lambda parts: parts[0]
    return _held_atom(b, node)


def _held_atom(b: Builder, node: Any) -> tuple[list[Held], Rebuild]:
    return [b.hold(b.atom(node))], lambda parts: parts[0]


def _index_item(b: Builder, node: Any) -> n.Expr:
    if type(node).__name__ != "Slice":
        return item(b, node)
    parts = [n.Const(None) if p is None else b.atom(p) for p in (node.lower, node.upper, node.step)]
    return b.temp(n.Call(SLICE, tuple(parts)))


# ---------------------------------------------------------------- displays


def item(b: Builder, node: Any) -> n.Expr:
    """An element of a display or an argument: an atom or ``Star`` of one."""
    if type(node).__name__ == "Starred":
        return n.Star(b.atom(node.value))
    return b.atom(node)


@lowers("Tuple", "List", "Set")
def _display(b: Builder, node: Any) -> n.Expr:
    items = tuple(b.settle([b.hold(item(b, e)) for e in node.elts]))
    kind = type(node).__name__
    return n.TupleExpr(items) if kind == "Tuple" else n.ListExpr(items) if kind == "List" else n.SetExpr(items)


@lowers("Dict")
def _dict(b: Builder, node: Any) -> n.Expr:
    held = []
    for key, value in zip(node.keys, node.values):
        if key is not None:
            held.append(b.hold(b.atom(key)))
        held.append(b.hold(b.atom(value), mapping=key is None))
    parts = iter(b.settle(held))
    keys, values = [], []
    for key in node.keys:
        keys.append(None if key is None else next(parts))
        values.append(next(parts))
    return n.DictExpr(tuple(keys), tuple(values))


# ---------------------------------------------------------------- calls


def callee(b: Builder, node: Any) -> Held:
    """What is called: an atom, a method of an atom, or a chain of attributes that begins outside the function."""
    if type(node).__name__ != "Attribute":
        return b.hold(b.atom(node), callee=True)
    chain, root = [node.attr], node.value
    while type(root).__name__ == "Attribute":
        chain.append(root.attr)
        root = root.value
    if type(root).__name__ == "Name" and b.slot(root.id) is None:
        value = b.read(root.id)
        for name in reversed(chain):
            value = n.Attr(value, name)
        return b.hold(value, callee=True)
    return b.hold(n.Attr(b.atom(node.value), node.attr), callee=True)


def plain_call(b: Builder, node: Any, first: Callable[[Builder, Any], n.Expr] = item) -> n.Call:
    """A call that is kept as a call; ``first`` lowers its first argument."""
    held = [callee(b, node.func)]
    held += [b.hold((first if k == 0 else item)(b, a)) for k, a in enumerate(node.args)]
    held += [b.hold(b.atom(k.value), mapping=k.arg is None) for k in node.keywords]
    func, *rest = b.settle(held)
    b.calls += 1
    count = len(node.args)
    return n.Call(func, tuple(rest[:count]), tuple((k.arg, v) for k, v in zip(node.keywords, rest[count:])))
