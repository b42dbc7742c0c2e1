"""Pasting a rule's source at a call site: binding operands, renaming what the rule binds, and simplifying by kinds."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from thunkad.analysis.binding import as_operand
from thunkad.analysis.sites import Resolved, Site
from thunkad.errors import RuleError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Lifted, Method, Num, Partial
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.results import no_cotangent_for_function
from thunkad.rules.template import UNBROADCAST
from thunkad.runtime import complex as complex_helpers
from thunkad.runtime import shaping
from thunkad.runtime.arrays import conjugate, unbroadcast

SUM = n.Attr(n.Ref("np", np), "sum")
REAL = n.Ref("real_part", complex_helpers.real_part)


def bind_rule(entry: Entry, site: Site, resolved: Resolved, line: int) -> dict[str, n.Expr] | None:
    """Each parameter of the rule with its operand; None if that is only known at run time (starred arguments)."""
    if any(type(a) is n.Star for a in site.args) or any(k is None for k, _ in site.kwargs):
        return None
    signature = entry.signature()
    try:
        bound = signature.bind(*site.args, **dict(site.kwargs))  # type: ignore[arg-type]
    except TypeError as error:
        names = ", ".join(str(k) for k, _ in site.kwargs)
        raise RuleError(
            f"the rule for {name_of(entry.target)} does not take this call's arguments ({error})",
            resolved.place(line),
            f"it takes {signature}" + (f"; the call passes the keywords {names}" if names else "") + _written(entry),
        ) from None
    out: dict[str, n.Expr] = {}
    for name, p in signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            out[name] = n.TupleExpr(tuple(value)) if p.kind is p.VAR_POSITIONAL else value
        elif p.kind is p.VAR_POSITIONAL:
            out[name] = n.TupleExpr(())
        else:
            out[name] = as_operand(name, None if p.default is inspect.Parameter.empty else p.default)
    return out


def given_cotangents(
    forward: Any,
    s: n.Stmt,
    entry: Entry,
    operands: list[n.Expr],
    results: Sequence[n.Expr | None],
    kinds: dict[n.Expr, Kind],
) -> list[tuple[n.Expr, n.Expr]]:
    """The operands that a rule has cotangents for; a function that holds differentiated values must be among them."""
    for operand, result in zip(operands, results):
        holds = isinstance(kinds.get(operand), (Lifted, Partial, Method)) and entry.layer == "user"
        if holds and result is None and forward.is_active(operand):
            raise forward.unsupported(s, *no_cotangent_for_function(entry))
    return [(o, r) for o, r in zip(operands, results) if r is not None]


def _written(entry: Entry) -> str:
    place = entry.place
    return f"; the rule is at {place.filename}, line {place.line}" if place.line else ""


def simplify(e: n.Expr, kinds: dict[n.Expr, Kind], result: Kind, full: frozenset[n.Expr] = frozenset()) -> n.Expr:
    """``e`` without the conjugates and the unbroadcasting that the kinds of the operands show to be needless.

    ``full``: operands that are known to have the shape of the result.
    """
    e = walk.map_expr(e, lambda c: simplify(c, kinds, result, full)) if type(e) not in (n.Name, n.Const, n.Ref) else e
    if type(e) is n.Call and type(e.func) is n.Ref:
        if e.func.value is conjugate and all_real(kinds, result):
            return e.args[0]
        if e.func.value is unbroadcast and len(e.args) == 2:
            return e.args[0] if e.args[1] in full else simplify_unbroadcast(e, kinds, result)
        return in_known_order(e)
    if type(e) is n.Binary:
        return fold(e)
    if type(e) is n.Unary and e.op == "-" and type(e.operand) is n.Const and type(e.operand.value) in (int, float):
        return n.Const(-e.operand.value)
    if type(e) is n.Unary and e.op == "-" and type(e.operand) is n.Unary and e.operand.op == "-":
        return e.operand.operand
    return e


def all_real(kinds: dict[n.Expr, Kind], result: Kind) -> bool:
    return all(isinstance(k, Num) and k.is_real for k in (*kinds.values(), result))


def simplify_unbroadcast(e: n.Call, kinds: dict[n.Expr, Kind], result: Kind) -> n.Expr:
    value, x = e.args
    kind = kinds.get(x)
    if not isinstance(kind, Num) or not isinstance(result, Num):
        return e
    if kind.is_scalar and result.is_scalar:
        return value
    others = [k for operand, k in kinds.items() if operand != x]
    if not kind.is_scalar and all(isinstance(k, Num) and k.is_scalar for k in others):
        return value
    if kind.is_scalar and result.form == "array":
        return n.Call(SUM, (value,))
    return e


def fold(e: n.Binary) -> n.Expr:
    """Multiplication and division by one, sums and products of constants."""
    left, right = e.left, e.right
    if e.op == "*":
        if _is(left, 1.0) and not _is_const(right):
            return right
        if _is(right, 1.0) and not _is_const(left):
            return left
        if _is(left, -1.0) and not _is_const(right):
            return n.Unary("-", right)
    if e.op == "/" and _is(right, 1.0):
        return left
    if _is_const(left) and _is_const(right) and e.op in ("*", "+", "-"):
        a, b = left.value, right.value  # type: ignore[union-attr]
        return n.Const(a * b if e.op == "*" else a + b if e.op == "+" else a - b)
    return e


def in_known_order(e: n.Call) -> n.Expr:
    """A helper that asks for an order of memory, decided where the call says "C" or "F"."""
    function, order = e.func.value, e.args[-1] if e.args else None  # type: ignore[union-attr]
    if function in (shaping.memory_order, shaping.in_memory_like) and order in (n.Const("C"), n.Const("F")):
        return order if function is shaping.memory_order else e.args[0]  # type: ignore[return-value]
    return e


def _is_const(e: n.Expr) -> bool:
    return type(e) is n.Const and type(e.value) in (int, float)


def _is(e: n.Expr, value: float) -> bool:
    return type(e) is n.Const and type(e.value) in (int, float) and e.value == value


_FRESH_CALLS = {"exp", "log", "sum", "zeros", "dot", "matmul", "where", "multiply", "outer", "einsum"}


def is_fresh(e: n.Expr) -> bool:
    """Whether evaluating ``e`` surely makes memory of its own."""
    if type(e) is n.Binary or type(e) is n.Unary:
        return True
    if type(e) is n.Call:
        name = e.func.name if type(e.func) in (n.Ref, n.Attr) else ""
        return name in _FRESH_CALLS or (name == "unbroadcast" and type(e.args[0]) is n.Binary)
    return False


def demanded(statements: tuple[n.Stmt, ...], needed: set[str]) -> list[n.Stmt]:
    """Those of a straight line that ``needed`` names depend on."""
    out: list[n.Stmt] = []
    needed = set(needed)
    for s in reversed(statements):
        if needed.intersection(walk.writes(s)):
            out.append(s)
            needed |= walk.reads(s)
    out.reverse()
    return out


def any_complex(site: Site) -> bool:
    """Whether a result that depends on a real operand may be complex."""
    return any(isinstance(k, Num) and k.field in ("complex", "any") for k in (*site.kinds, site.result))


def real_part(value: n.Expr, kind: Kind | None, site: Site) -> n.Expr:
    """The real part where the operand is real and the operation may be complex."""
    if isinstance(kind, Num) and kind.is_real and any_complex(site) and not all_python_real(site):
        return n.Call(REAL, (value,))
    return value


def fitted(bar: n.Expr, value: n.Expr, kind: Kind, element: Kind) -> n.Expr:
    """The cotangent of a part of an array as that of the value that was broadcast into it."""
    if isinstance(kind, Num) and kind.is_real and isinstance(element, Num) and element.field in ("complex", "any"):
        bar = n.Call(REAL, (bar,))
    if isinstance(kind, Num) and kind.is_scalar and isinstance(element, Num) and element.is_scalar:
        return bar
    call = n.Call(UNBROADCAST, (bar, value))
    return simplify_unbroadcast(call, {value: kind, n.Const("element"): Num("array", "any")}, Num("array", "any"))


def all_python_real(site: Site) -> bool:
    """Whether the doubt about the field comes only from a power of Python floats."""
    return all(isinstance(k, Num) and k.form == "python" and k.is_real for k in site.kinds) and site.infix
