"""The stacked form of a linear map: its code, with helpers that run in every lane (:mod:`thunkad.runtime.lanes`)."""

from __future__ import annotations

import types

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.runtime import arrays, dots
from thunkad.runtime.shadows import Shadows

#: What makes memory that may be changed afterwards.
_MAKERS = (arrays.zeros, dots.tangent_buffer)


def in_lanes(function: n.Function) -> n.Function:
    """``function(saved, dots…)``, linear in its tangents, as ``(lanes, saved, dots…)`` for stacks of them."""
    names = Names(walk.taken_names(function))
    lanes = n.Name(names.new("lanes"))

    def expression(e: n.Expr) -> n.Expr:
        e = walk.map_expr(e, expression)
        if type(e) is not n.Call or _is_numpy(e.func):
            return e
        makes = type(e.func) is n.Ref and any(e.func.value is maker for maker in _MAKERS)
        return n.Call(n.Attr(lanes, "make" if makes else "call"), (e.func, *e.args), e.kwargs)

    def iterable(e: n.Expr) -> n.Expr:
        return e if type(e) is n.Name else walk.map_expr(e, expression)

    def block(body: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in body:
            if type(s) is n.For:
                new: n.Stmt = n.For(
                    s.target, iterable(s.iter), block(s.body), s.stop, s.count, line=s.line, site=s.site
                )
            elif type(s) is n.If:
                new = n.If(s.test, block(s.body), block(s.orelse), line=s.line, site=s.site)
            else:
                new = walk.map_stmt(s, expression)
            out.append(new)
        return out

    params = [n.Param(lanes.id), *function.params]
    where = function.captures, function.line, function.filename
    return n.Function(f"{function.name}_in_lanes", params, block(function.body), *where)


def has_shadows(function: n.Function) -> bool:
    """Whether code keeps cotangents by the identity of memory, which is the same in all lanes."""
    parts = (e for s in walk.statements(function.body) for e in walk.parts(*walk.expressions(s)))
    return len(function.params) > 2 or any(type(e) is n.Ref and e.value is Shadows for e in parts)


def _is_numpy(func: n.Expr) -> bool:
    """Whether a callee is a function of NumPy's, which knows stacks itself."""
    while type(func) is n.Attr:
        func = func.value
    return type(func) is n.Ref and isinstance(func.value, types.ModuleType) and func.value.__name__ == "numpy"
