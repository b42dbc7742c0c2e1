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

_FLOAT_FUNCTIONS = frozenset(
    "sin cos tan exp log sqrt sinh cosh tanh arcsin arccos arctan expm1 log1p exp2 log2 log10 sign".split()
)


def folder(kinds: Mapping[str, Kind]) -> Callable[[n.Expr], n.Expr]:
    """The simplification of expressions over names of these kinds."""
    return _Fold(kinds).expression


class _Fold:
    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds

    def expression(self, e: n.Expr) -> n.Expr:
        if type(e) in (n.Name, n.Const, n.Global, n.Ref, n.Closure, n.Lambda):
            return e
        e = walk.map_expr(e, self.expression)
        if type(e) is n.Binary:
            return self.product(e) if e.op == "*" else e
        if type(e) is n.Call and type(e.func) is n.Ref and not e.kwargs:
            return self.helper(e, e.func.value)
        return e

    def helper(self, e: n.Call, function: object) -> n.Expr:
        if function is power_partial and len(e.args) == 2:
            return self.power(e)
        if function is broadcast:
            different = tuple(dict.fromkeys(e.args))
            if len(different) == 1 and type(different[0]) is n.Name:
                return different[0]
            return n.Call(e.func, different) if len(different) > 1 else e
        if function is real_part and len(e.args) == 1 and self.is_real(e.args[0]):
            return e.args[0]
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
