"""IR expressions → Python ``ast``."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

from thunkad.emit.linker import Linker, Scan
from thunkad.ir import nodes as n
from thunkad.runtime.closures import with_defaults

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "|": ast.BitOr, "^": ast.BitXor, "&": ast.BitAnd,
}  # fmt: skip
UNARY: dict[str, type[ast.unaryop]] = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, "==": ast.Eq, "!=": ast.NotEq, ">": ast.Gt, ">=": ast.GtE, "is": ast.Is,
    "is not": ast.IsNot, "in": ast.In, "not in": ast.NotIn,
}  # fmt: skip
_LOAD = ast.Load()


def read(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, _LOAD)


def write(name: str) -> ast.Name:
    """A name that is bound."""
    return ast.Name(name, ast.Store())


def arguments(params: list[n.Param]) -> ast.arguments:
    """A parameter list; without defaults, since callers of generated code pass every argument."""
    out = ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])
    for p in params:
        arg = ast.arg(p.name)
        if p.kind == "positional":
            out.args.append(arg)
        elif p.kind == "var_positional":
            out.vararg = arg
        elif p.kind == "keyword":
            out.kwonlyargs.append(arg)
            out.kw_defaults.append(None)
        elif p.kind == "var_keyword":
            out.kwarg = arg
        else:
            raise TypeError(f"not a parameter kind: {p.kind!r}")
    return out


class Expressions:
    """Converts the expressions of one function."""

    def __init__(self, linker: Linker, scan: Scan) -> None:
        self._linker, self._scan = linker, scan

    def expr(self, e: n.Expr) -> ast.expr:
        """The ``ast`` of ``e``."""  # no __call__: that would take a piece of the C stack at each level
        return _CONVERT[type(e)](self, e)

    def builtin(self, name: str, value: Any) -> ast.Name:
        """A builtin, whatever the user's code calls by its name."""
        return read(self._linker.spell(name, value))

    def _call_builtin(self, value: Any, *args: ast.expr) -> ast.Call:
        return ast.Call(self.builtin(value.__name__, value), list(args), [])

    def _many(self, items: tuple[n.Expr, ...]) -> list[ast.expr]:
        return [self.expr(i) for i in items]

    def _name(self, e: n.Name) -> ast.expr:
        return read(self._linker.name(e.id, self._scan))

    def _global(self, e: n.Global) -> ast.expr:
        return read(e.id)

    def _ref(self, e: n.Ref) -> ast.expr:
        return read(self._linker.spell(e.name, e.value))

    def _const(self, e: n.Const) -> ast.expr:
        return self._literal(e.value)

    def _literal(self, value: Any) -> ast.expr:
        t = type(value)
        if t is float:
            return self._float(value)
        if t is int:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)
        if t is complex:
            # `a + bj` is an addition, which loses the sign of a zero
            if math.copysign(1, value.real) == 1 and value.real == 0 and math.copysign(1, value.imag) == 1:
                if math.isfinite(value.imag):
                    return ast.Constant(value)
            return self._call_builtin(complex, self._float(value.real), self._float(value.imag))
        if t in (str, bytes, bool, type(None), type(Ellipsis)):
            return ast.Constant(value)
        if t is tuple:
            return ast.Tuple([self._literal(v) for v in value], _LOAD)
        return read(self._linker.spell("constant", value))

    def _float(self, value: float) -> ast.expr:
        if math.isnan(value):
            return self._call_builtin(float, ast.Constant("nan"))
        if math.copysign(1, value) < 0:
            return ast.UnaryOp(ast.USub(), self._float(-value))
        return self._call_builtin(float, ast.Constant("inf")) if math.isinf(value) else ast.Constant(value)

    def _attr(self, e: n.Attr) -> ast.expr:
        return ast.Attribute(self.expr(e.value), e.name, _LOAD)

    def _index(self, e: n.Index) -> ast.expr:
        return ast.Subscript(self.expr(e.value), self.subscript(e.index), _LOAD)

    def subscript(self, e: n.Expr) -> ast.expr:
        """What stands between the brackets, where alone ``a:b`` may be written."""
        if type(e) is n.Slice:
            return self._colon(e)
        if type(e) is n.TupleExpr and not any(type(i) is n.Star for i in e.items):  # 3.10 has no `x[a:b, *c]`
            return ast.Tuple([self._colon(i) if type(i) is n.Slice else self.expr(i) for i in e.items], _LOAD)
        return self.expr(e)

    def _colon(self, e: n.Slice) -> ast.Slice:
        return ast.Slice(*(None if p is None else self.expr(p) for p in (e.lower, e.upper, e.step)))

    def _slice(self, e: n.Slice) -> ast.expr:
        parts: tuple[n.Expr | None, ...] = (e.lower, e.upper, e.step)
        if e.step is None:
            parts = (e.upper,) if e.lower is None else (e.lower, e.upper)
        return self._call_builtin(slice, *(ast.Constant(None) if p is None else self.expr(p) for p in parts))

    def _unary(self, e: n.Unary) -> ast.expr:
        return ast.UnaryOp(UNARY[e.op](), self.expr(e.operand))

    def _binary(self, e: n.Binary) -> ast.expr:
        return ast.BinOp(self.expr(e.left), BINARY[e.op](), self.expr(e.right))

    def _compare(self, e: n.Compare) -> ast.expr:
        return ast.Compare(self.expr(e.left), [COMPARE[e.op]()], [self.expr(e.right)])

    def _star(self, e: n.Star) -> ast.expr:
        return ast.Starred(self.expr(e.value), _LOAD)

    def _call(self, e: n.Call) -> ast.expr:
        return ast.Call(self.expr(e.func), self._many(e.args), [ast.keyword(k, self.expr(v)) for k, v in e.kwargs])

    def _tuple(self, e: n.TupleExpr) -> ast.expr:
        return ast.Tuple(self._many(e.items), _LOAD)

    def _list(self, e: n.ListExpr) -> ast.expr:
        return ast.List(self._many(e.items), _LOAD)

    def _set(self, e: n.SetExpr) -> ast.expr:
        return ast.Set(self._many(e.items)) if e.items else self._call_builtin(set)

    def _dict(self, e: n.DictExpr) -> ast.expr:
        return ast.Dict([None if k is None else self.expr(k) for k in e.keys], self._many(e.values))

    def _ifexp(self, e: n.IfExp) -> ast.expr:
        return ast.IfExp(self.expr(e.test), self.expr(e.body), self.expr(e.orelse))

    def _lambda(self, e: n.Lambda) -> ast.expr:
        return ast.Lambda(arguments([n.Param(p) for p in e.params]), self.expr(e.body))

    def _closure(self, e: n.Closure) -> ast.expr:
        function: ast.expr = read(self._linker.function_name(e.function))
        if e.defaults or e.kw_defaults:
            args: list[ast.expr] = [function, ast.Tuple(self._many(e.defaults), _LOAD)]
            if e.kw_defaults:
                keys: list[ast.expr | None] = [ast.Constant(k) for k, _ in e.kw_defaults]
                args.append(ast.Dict(keys, [self.expr(v) for _, v in e.kw_defaults]))
            function = ast.Call(self.builtin("with_defaults", with_defaults), args, [])
        if not e.captures:
            return function
        return ast.Call(self.builtin("partial", functools.partial), [function, *self._many(e.captures)], [])

    def _inplace(self, e: n.Inplace) -> ast.expr:
        raise TypeError("an Inplace is a whole statement, never an operand")


_CONVERT: dict[type, Callable[[Expressions, Any], ast.expr]] = {
    n.Name: Expressions._name,
    n.Const: Expressions._const,
    n.Global: Expressions._global,
    n.Ref: Expressions._ref,
    n.Attr: Expressions._attr,
    n.Index: Expressions._index,
    n.Slice: Expressions._slice,
    n.Unary: Expressions._unary,
    n.Binary: Expressions._binary,
    n.Inplace: Expressions._inplace,
    n.Compare: Expressions._compare,
    n.Star: Expressions._star,
    n.Call: Expressions._call,
    n.TupleExpr: Expressions._tuple,
    n.ListExpr: Expressions._list,
    n.SetExpr: Expressions._set,
    n.DictExpr: Expressions._dict,
    n.IfExp: Expressions._ifexp,
    n.Lambda: Expressions._lambda,
    n.Closure: Expressions._closure,
}
