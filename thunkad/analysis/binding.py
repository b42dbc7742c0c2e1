"""Operands of a call bound to the parameters of what it calls, as expressions."""

from __future__ import annotations

import inspect
import types
from typing import Any

from thunkad.ir import nodes as n


def bind_call(fn: types.FunctionType, args: Any, kwargs: Any) -> tuple[tuple[str, n.Expr], ...] | None:
    """Each parameter of ``fn`` with its operand at this call, defaults included; None if only a run decides it."""
    if any(k is None for k, _ in kwargs):
        return None
    signature = inspect.signature(fn, follow_wrapped=False)
    if any(type(a) is n.Star for a in args) and not _only_collects(signature, args):
        return None
    try:
        bound = signature.bind(*args, **dict(kwargs))
    except TypeError:
        return None
    out: list[tuple[str, n.Expr]] = []
    for name, p in signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            if p.kind is p.VAR_POSITIONAL:
                value = n.TupleExpr(tuple(value))
            elif p.kind is p.VAR_KEYWORD:
                value = n.DictExpr(tuple(n.Const(k) for k in value), tuple(value.values()))
        elif p.kind is p.VAR_POSITIONAL:
            value = n.TupleExpr(())
        elif p.kind is p.VAR_KEYWORD:
            value = n.DictExpr((), ())
        else:
            value = as_operand(name, p.default)
        out.append((name, value))
    return tuple(out)


def _only_collects(signature: inspect.Signature, args: Any) -> bool:
    """Whether what stars spread is all collected by a parameter such as ``*args``."""
    first = next(k for k, a in enumerate(args) if type(a) is n.Star)
    kinds = [p.kind for p in signature.parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds[: first + 1]


def bind_lifted(closure: n.Closure, args: Any, kwargs: Any) -> tuple[tuple[str, n.Expr], ...] | None:
    """Each parameter of a function made here, captures first, with its operand; None if that is decided at run time."""
    function = closure.function
    if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
        return None
    captured = tuple(zip(function.captures, closure.captures))
    own = [p for p in function.params if p.name not in function.captures]
    if any(p.kind not in ("positional", "keyword") for p in own):
        return None
    given = dict(kwargs)
    positional = [p for p in own if p.kind == "positional"]
    if len(args) > len(positional):
        return None
    out: dict[str, n.Expr] = {p.name: a for p, a in zip(positional, args)}
    if set(given) & set(out) or not set(given) <= {p.name for p in own}:
        return None
    out.update(given)
    defaults = dict(zip([p.name for p in positional][len(positional) - len(closure.defaults) :], closure.defaults))
    defaults.update(dict(closure.kw_defaults))
    for p in own:
        if p.name not in out:
            if p.name not in defaults:
                return None
            out[p.name] = defaults[p.name]
    return (*captured, *((p.name, out[p.name]) for p in own))


def as_operand(name: str, value: Any) -> n.Expr:
    """A constant of the source if ``value`` can be written as one, else the object itself."""
    plain = value is None or value is Ellipsis or type(value) in (bool, int, float, complex, str)
    return n.Const(value) if plain else n.Ref(f"{name}_default", value)
