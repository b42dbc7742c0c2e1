"""Expressions made simpler by what the kinds of names say: factors of one, constant powers, equal shapes."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Num
from thunkad.runtime.arrays import stretch
from thunkad.runtime.complex import real_part
from thunkad.runtime.elementwise import power_partial
from thunkad.runtime.shapes import broadcast
from thunkad.runtime.uniform import share

_FLOAT_FUNCTIONS = frozenset(
    "sin cos tan exp log sqrt sinh cosh tanh arcsin arccos arctan expm1 log1p exp2 log2 log10 sign".split()
)

_EXACT_FACTORS = (0.25, 0.5, 1, 2, 4, 8)  # products with these are not rounded


def folder(kinds: Mapping[str, Kind], shapes: Mapping[str, object] | None = None) -> Callable[[n.Expr], n.Expr]:
    """The simplification of expressions over names of these kinds; names of equal ``shapes`` are of the same shape."""
    return _Fold(kinds, shapes or {}).expression


class _Fold:
    def __init__(self, kinds: Mapping[str, Kind], shapes: Mapping[str, object]) -> None:
        self.kinds, self.shapes = kinds, shapes

    def expression(self, e: n.Expr) -> n.Expr:
        if type(e) in (n.Name, n.Const, n.Global, n.Ref, n.Closure, n.Lambda):
            return e
        e = walk.map_expr(e, self.expression)
        if type(e) is n.Binary:
            return self.product(e) if e.op == "*" else e
        if type(e) is n.Unary and e.op == "-":
            return self.negative(e)
        if type(e) is n.Call and type(e.func) is n.Ref and not e.kwargs:
            return self.helper(e, e.func.value)
        return e

    def helper(self, e: n.Call, function: object) -> n.Expr:
        if function is power_partial and len(e.args) == 2:
            return self.power(e)
        if function is broadcast:
            by_shape: dict[object, n.Expr] = {}
            for a in e.args:
                by_shape.setdefault(self.shapes.get(a.id, a) if type(a) is n.Name else a, a)
            different = tuple(by_shape.values())
            if len(different) == 1 and type(different[0]) is n.Name:
                return different[0]
            return n.Call(e.func, different) if len(different) > 1 else e
        if function is real_part and len(e.args) == 1 and self.is_real(e.args[0]):
            return e.args[0]
        if function is share and len(e.args) == 3 and type(e.args[0]) is n.Call and e.args[0].func == e.func:
            inner = e.args[0]
            return n.Call(e.func, (inner.args[0], inner.args[1], e.args[2])) if inner.args[2] == e.args[1] else e
        if function is stretch and len(e.args) == 2 and e.args[0] == e.args[1]:
            return e.args[0]
        return e

    def power(self, e: n.Call) -> n.Expr:
        """The partial of ``x ** p`` in ``x`` for a literal ``p``, where an expression does as well as the helper.

        On Python numbers ``0.0 ** -1`` raises and a negative base with a fraction is complex, so there only whole
        positive exponents are written out.
        """
        x, p = e.args
        if type(x) is not n.Name or type(p) is not n.Const or type(p.value) not in (int, float):
            return e
        exponent = p.value
        if exponent == 1:
            return n.Const(1.0)
        kind = self.kinds.get(x.id)
        if not isinstance(kind, Num) or kind.field not in ("real", "complex") or exponent == 0:
            return e
        if exponent == 2:
            return n.Binary("*", n.Const(2), x)
        whole = float(exponent).is_integer() and exponent > 2
        if kind.form in ("array", "scalar") or (kind.form == "python" and whole):
            return n.Binary("*", p, n.Binary("**", x, n.Const(exponent - 1)))
        return e

    def product(self, e: n.Binary) -> n.Expr:
        for one, other in ((e.left, e.right), (e.right, e.left)):
            if type(one) is n.Const and type(one.value) is float and self.is_float(other):
                if one.value == 1.0 and not self.is_memory(other):
                    return other
                if one.value == -1.0:
                    return n.Unary("-", other)
        if type(e.left) is n.Unary and e.left.op == "-":  # -x * 0.5, -x * (2 * y)
            x, y = e.left.operand, e.right
            if _is_number(y):
                return n.Binary("*", x, n.Const(-y.value))  # type: ignore[union-attr]
            if type(y) is n.Binary and y.op == "*" and _is_number(y.left) and self.is_float(y.right):
                return n.Binary("*", x, n.Binary("*", n.Const(-y.left.value), y.right))  # type: ignore[union-attr]
        return self.scaled(e.left, e.right) or e

    def scaled(self, factor: n.Expr, x: n.Expr) -> n.Expr | None:
        """``factor * x`` as one product where ``x`` is one with a constant: ``200.0 * x`` for ``100.0 * (2 * x)``."""
        if type(factor) is n.Binary and factor.op == "/":
            top = self.scaled(factor.left, x)
            return top and n.Binary("*", n.Binary("/", top.left, factor.right), top.right)  # type: ignore[union-attr]
        if type(x) is not n.Binary or x.op != "*" or not (_is_number(factor) and _is_number(x.left)):
            return None
        if abs(x.left.value) not in _EXACT_FACTORS or not self.is_float(x.right):  # type: ignore[union-attr]
            return None
        return n.Binary("*", n.Const(factor.value * x.left.value), x.right)  # type: ignore[union-attr]

    def negative(self, e: n.Unary) -> n.Expr:
        """``-(c * x)`` and ``-(-x * y)`` with one sign less, ``-(x + x)`` as one product."""
        x = e.operand
        if type(x) is not n.Binary:
            return e
        if x.op == "+" and type(x.left) is n.Name and x.left == x.right and self.is_float(x.left):
            return n.Binary("*", n.Const(-2), x.left)
        if x.op in ("*", "/"):
            if type(x.left) is n.Unary and x.left.op == "-" and self.is_float(x.left.operand):
                return n.Binary(x.op, x.left.operand, x.right)
            if _is_number(x.left) and self.is_float(x.right):
                return n.Binary(x.op, n.Const(-x.left.value), x.right)
        return e

    # ------------------------------------------------------------ what an expression surely is

    def is_float(self, e: n.Expr) -> bool:
        """Whether ``e`` is a float or complex number or array, so that a factor of one changes nothing."""
        if type(e) is n.Name:
            kind = self.kinds.get(e.id)
            return isinstance(kind, Num) and kind.field in ("real", "complex")
        if type(e) is n.Const:
            return type(e.value) in (float, complex)
        if type(e) is n.Unary:
            return e.op == "-" and self.is_float(e.operand)
        if type(e) is n.Binary:
            return e.op in ("+", "-", "*", "/", "**") and (self.is_float(e.left) or self.is_float(e.right))
        if type(e) is n.Call and type(e.func) is n.Attr and type(e.func.value) is n.Ref:
            module = e.func.value.value
            if isinstance(module, types.ModuleType) and module.__name__ in ("numpy", "math") and len(e.args) == 1:
                return e.func.name in _FLOAT_FUNCTIONS and self.is_float(e.args[0])
        return False

    def is_memory(self, e: n.Expr) -> bool:
        """Whether ``e`` may be an array that something else holds: a product with it is memory of the adjoint's own."""
        if type(e) is n.Name:
            kind = self.kinds.get(e.id)
            return not (isinstance(kind, Num) and kind.is_scalar)
        return False

    def is_real(self, e: n.Expr) -> bool:
        if type(e) is n.Const:
            return type(e.value) in (int, float)
        kind = self.kinds.get(e.id) if type(e) is n.Name else None
        return isinstance(kind, Num) and kind.is_real


def _is_number(e: n.Expr) -> bool:
    return type(e) is n.Const and type(e.value) in (int, float)
