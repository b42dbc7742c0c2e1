"""What the sites say about dropping a statement: whether it is pure, its shape check, what has its shape."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.sites import Site
from thunkad.analysis.writing import writes
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Kind, Num, Opaque, Sequence, Tuple
from thunkad.optimise.dead import Purity
from thunkad.runtime.shapes import broadcast, matmul_shape
from thunkad.source.origin import module_of

BROADCAST, MATMUL_SHAPE = n.Ref("broadcast", broadcast), n.Ref("matmul_shape", matmul_shape)
_LIBRARY = ("numpy", "math", "cmath", "scipy", "operator", "_operator")
_PURE_BUILTINS = frozenset(
    (abs, bool, complex, dict, divmod, enumerate, float, hash, int, isinstance, len, list, max, min, pow, range, repr,
     reversed, round, set, slice, sorted, str, sum, tuple, type, zip, frozenset, callable, hasattr, all, any)
)  # fmt: skip
#: Helpers of generated code that change something, or run code of the user's.
CHANGING = frozenset(
    ("pop", "insert", "reverse", "index_add", "item_add", "accumulate", "take_entry", "take_key",
     "take_default_key", "take_item", "take_field", "take_stored", "take_moved",
     "change", "update", "update_entry", "update_attribute", "pull", "pull_kept", "pull_shared", "pull_packed",
     "pull_kept_packed", "pull_shared_packed", "pull_noting", "pull_noting_packed",
     "set_entry", "add_key", "add_default_key", "set_field", "del_field", "change_dot", "next_dot",
     "enter", "entered", "leave", "check_delete", "begin", "settle")
)  # fmt: skip
#: Those that refuse a result that is no number.
CHECKING = frozenset(("scalar_seed", "aux_seed"))
_WHOLE_REDUCTIONS = (np.sum, np.mean, np.std, np.var, np.prod)


def make_purity(user_pure: Callable[[Any], bool]) -> Purity:
    """The judgement over statements that carry their sites; ``user_pure`` says it of a user's function."""

    def pure(s: n.Stmt) -> bool:
        if s.site == "collects":
            return False
        e = s.value  # type: ignore[attr-defined]
        return is_pure(e, s.site if isinstance(s.site, Site) else None, user_pure)

    return Purity(pure, shape_check, stand_in)


def is_pure(e: n.Expr, site: Site | None, user_pure: Callable[[Any], bool]) -> bool:
    t = type(e)
    if t in (n.Name, n.Const, n.Ref, n.TupleExpr, n.ListExpr, n.DictExpr, n.SetExpr, n.Closure, n.Compare):
        return t is not n.Compare or site is None or all(isinstance(k, (Num, Opaque)) for k in site.kinds)
    if site is None:
        return _helper_is_pure(e)
    if t is n.Call and (is_changing_helper(site.callee) or writes(site, e)):
        return False
    if site.how in ("rule", "constant") and t in (n.Binary, n.Unary, n.Attr, n.Inplace):
        return t is not n.Inplace
    of_library = site.entry is None or site.entry.layer == "library"
    if t is n.Call and site.how in ("rule", "constant", "missing") and of_library:
        return callee_is_pure(site) and has_shape_story(site)
    if t is n.Call and site.how == "inside" and isinstance(site.callee, types.FunctionType):
        return user_pure(site)
    return False


def _helper_is_pure(e: n.Expr) -> bool:
    """Code that the compiler made itself: expressions over helpers and NumPy are pure, statements may write."""
    if type(e) is n.Call:
        name = e.func.name if type(e.func) in (n.Ref, n.Attr) else ""
        if name in CHANGING or name.endswith("_pullback"):
            return False
        return type(e.func) in (n.Ref, n.Attr)
    return type(e) not in (n.Index, n.Attr, n.Global) or (type(e) is n.Attr and type(e.value) is not n.Name)


def is_changing_call(e: n.Expr) -> bool:
    """Whether ``e`` calls a helper that changes something besides returning its result."""
    return type(e) is n.Call and type(e.func) is n.Ref and is_changing_helper(e.func.value)


def is_helper(fn: object) -> bool:
    """Whether ``fn`` is a function that generated code calls at run time."""
    return isinstance(fn, types.FunctionType) and (fn.__module__ or "").startswith("thunkad.")


def is_changing_helper(fn: object) -> bool:
    """Whether ``fn`` is of the compiler and changes something besides returning its result."""
    module = getattr(fn, "__module__", None) or ""
    return module.startswith("thunkad.") and getattr(fn, "__name__", "") in CHANGING


def callee_is_pure(site: Site) -> bool:
    fn = site.callee
    try:
        if fn in _PURE_BUILTINS:
            return True
    except TypeError:
        return False
    if any(k == "out" for k, _ in site.kwargs):
        return False
    module = module_of(fn)
    if isinstance(fn, np.ufunc):
        return True
    return module.split(".")[0] in _LIBRARY and not module.startswith("numpy.random")


def has_shape_story(site: Site) -> bool:
    """Whether dropping the call hides no error of shape: it can't have one, or its check is known."""
    fn = site.callee
    if isinstance(fn, np.ufunc):
        return fn.signature is None or fn is np.matmul
    if site.how == "constant":
        return True
    if fn in _WHOLE_REDUCTIONS:
        return len(site.args) == 1 and not site.kwargs
    if fn is np.where:
        return len(site.args) == 3
    return fn in (np.transpose, np.ravel, np.real, np.imag, np.conj, np.copy, np.shape, np.ndim, np.size) or all(
        isinstance(k, Num) and k.is_scalar for k in site.kinds
    )


def arrays_of(site: Site) -> list[n.Expr]:
    """Operands that may be arrays of more than one element."""
    pairs = zip((*site.args, *(v for _, v in site.kwargs)), site.kinds)
    return [a for a, k in pairs if not _is_scalar(k)]


def _is_scalar(k: Kind) -> bool:
    return (isinstance(k, Num) and k.is_scalar) or isinstance(k, Opaque)


def shape_check(s: n.Stmt) -> n.Expr | None:
    site = s.site
    if not isinstance(site, Site) or site.how not in ("rule", "constant"):
        return None
    value = getattr(s, "value", None)
    if site.callee is np.matmul or (site.infix and type(value) is n.Binary and value.op == "@"):
        return n.Call(MATMUL_SHAPE, site.args)
    operands = list(dict.fromkeys(arrays_of(site)))
    elementwise = isinstance(site.callee, np.ufunc) and site.callee.signature is None
    if (site.infix or elementwise or site.callee is np.where) and len(operands) > 1:
        if any(isinstance(k, (Tuple, Sequence)) for k in site.kinds):
            return None
        return n.Call(BROADCAST, tuple(operands))
    return None


def stand_in(s: n.Stmt) -> n.Expr | None:
    """Something with the shape of what ``s`` computes: an operand of an elementwise operation, or their broadcast."""
    site = s.site
    value = s.value  # type: ignore[attr-defined]
    if type(value) is n.Call and type(value.func) is n.Ref and value.func.name == "keep":
        if type(value.args[0]) is n.Name and site != "kept list":
            return value.args[0]
    if not isinstance(site, Site) or site.how not in ("rule", "constant"):
        return None
    if site.callee is np.matmul:
        return n.Call(MATMUL_SHAPE, site.args)
    elementwise = isinstance(site.callee, np.ufunc) and site.callee.signature is None and site.callee.nout == 1
    if (not elementwise and site.callee is not np.where) or site.kwargs:
        return None
    if any(not isinstance(k, Num) for k in site.kinds):
        return None
    operands = list(dict.fromkeys(arrays_of(site)))
    if not operands:
        return None
    if len(operands) == 1:
        return operands[0] if type(operands[0]) is n.Name else None
    return n.Call(BROADCAST, tuple(operands))
