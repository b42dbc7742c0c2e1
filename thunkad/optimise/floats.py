"""What is the identity on plain numbers, a Python float or a ``np.float64``, and on buffers that the adjoint made."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import PY_INT, PY_REAL, Kind, Num
from thunkad.runtime.arrays import zeros
from thunkad.runtime.complex import real_part
from thunkad.runtime.cotangents import dense, project, project_copy

_FUNCTIONS = frozenset(
    "sin cos tan exp log sqrt sinh cosh tanh arcsin arccos arctan expm1 log1p exp2 log2 log10 sign square absolute "
    "atan asin acos fabs reciprocal negative".split()
)


def identities(body: list[n.Stmt], kinds: Mapping[str, Kind]) -> Callable[[n.Expr], n.Expr]:
    """The simplification of helpers that leave the floats of ``body`` as they are; ``kinds``: of its variables."""
    floats, buffers = plain_floats(body, kinds), _buffers(body)

    def is_number(e: n.Expr) -> bool:
        kind = kinds.get(e.id) if type(e) is n.Name else None
        return kind in (PY_REAL, PY_INT)

    def simple(e: n.Expr) -> n.Expr:
        if type(e) is not n.Call or type(e.func) is not n.Ref or not e.args or e.kwargs:
            return e
        if e.func.value in (project, project_copy, dense) and len(e.args) == 2 and is_number(e.args[1]):
            return e.args[0] if is_plain(e.args[0], floats, kinds) else e
        if e.func.value is project and e.args[0] in buffers and buffers[e.args[0]] == e.args[1]:
            kind = kinds.get(e.args[1].id)  # type: ignore[union-attr]
            return e.args[0] if isinstance(kind, Num) and kind.form == "array" and kind.field == "real" else e
        if e.func.value is real_part and is_plain(e.args[0], floats, kinds):
            return e.args[0]
        return e

    return simple


def _buffers(body: list[n.Stmt]) -> dict[n.Expr, n.Expr]:
    """Names that hold ``zeros(x)``, which may be added into, and that ``x``."""
    found: dict[str, n.Expr] = {}
    for s in walk.statements(body):
        for w in walk.writes(s):
            made = type(s) is n.Assign and type(s.value) is n.Call and s.value.func == n.Ref("zeros", zeros)
            found[w] = s.value.args[0] if made and w not in found else n.Const(None)  # type: ignore[attr-defined]
    return {n.Name(w): x for w, x in found.items() if type(x) is n.Name}


def plain_floats(body: list[n.Stmt], kinds: Mapping[str, Kind]) -> set[str]:
    """The variables of ``body`` that hold nothing else: every binding makes one if the others do."""
    bindings = [(w, s) for s in walk.statements(body) for w in walk.writes(s)]
    floats = {w for w, _ in bindings} | {x for x, kind in kinds.items() if kind == PY_REAL}
    while True:
        doubtful = {
            w
            for w, s in bindings
            if w in floats and kinds.get(w) != PY_REAL
            if type(s) is not n.Assign or not is_plain(s.value, floats, kinds)
        }  # fmt: skip
        if not doubtful:
            return floats
        floats -= doubtful


def is_plain(e: n.Expr, floats: set[str], kinds: Mapping[str, Kind]) -> bool:
    """Whether ``e`` is a float or a ``np.float64``."""
    t = type(e)
    if t is n.Name:
        return e.id in floats
    if t is n.Const:
        return type(e.value) is float
    if t is n.Unary:
        return e.op in "+-" and is_plain(e.operand, floats, kinds)
    if t is n.Binary:
        parts = [is_plain(x, floats, kinds) for x in (e.left, e.right)]
        if e.op == "**":
            return parts[0] and _is_whole(e.right, kinds)
        both = all(known or _is_whole(x, kinds) for x, known in zip((e.left, e.right), parts))
        return e.op in ("+", "-", "*", "/") and any(parts) and both
    if t is n.Call and len(e.args) == 1 and not e.kwargs and type(e.func) is n.Attr and type(e.func.value) is n.Ref:
        module = e.func.value.value
        if isinstance(module, types.ModuleType) and module.__name__ in ("numpy", "math"):
            return e.func.name in _FUNCTIONS and is_plain(e.args[0], floats, kinds)
    if t is n.Call and type(e.func) is n.Ref and e.func.value in (project, project_copy, dense, real_part):
        return is_plain(e.args[0], floats, kinds)
    return False


def _is_whole(e: n.Expr, kinds: Mapping[str, Kind]) -> bool:
    if type(e) is n.Const:
        return type(e.value) is int
    kind = kinds.get(e.id) if type(e) is n.Name else None
    return isinstance(kind, Num) and kind.is_scalar and kind.field in ("int", "bool")
