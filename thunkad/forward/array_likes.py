"""Lists and tuples where NumPy takes an array: made one, so that their tangents are arrays too."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from thunkad.adjoint.inline import bind_rule
from thunkad.analysis.sites import Site, called
from thunkad.forward.template import dots_of, without_dots
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num, Sequence, Tuple
from thunkad.records import replace
from thunkad.rules.entry import Entry
from thunkad.runtime.dot_changes import array_dot
from thunkad.tangents import AbstractZero

ARRAY_DOT = n.Ref("array_dot", array_dot)
TO_ARRAY = n.Attr(n.Ref("np", np), "array")
ARRAY = Num("array", "any")
#: Functions for which a list is not the same as an array, or whose rules take either.
AS_GIVEN = (np.array, np.asarray, np.asanyarray, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
#: Parameters that take a sequence of arrays, which may have different shapes.
SEVERAL = frozenset(("arrays", "tup", "choices", "choicelist", "key", "c_and_lower", "lu_and_piv"))


def taken_as_arrays(rule: Entry) -> tuple[str, ...]:
    """The parameters of a rule of the library for which NumPy makes an array of a list."""
    found = rule.cache.get("taken_as_arrays")
    if found is None:
        fn = rule.target
        owner = getattr(fn, "__objclass__", fn)  # the class of a method
        module = str(getattr(owner, "__module__", None) or "numpy" if rule.layer == "library" else "")
        own = module.split(".")[0] in ("numpy", "scipy") and not any(fn is other for other in AS_GIVEN)
        found = rule.cache["taken_as_arrays"] = tuple(p for p in dots_of(rule) if own and p not in SEVERAL)
    return found


def with_arrays(push: Any, s: n.Assign, site: Site) -> tuple[n.Assign, Site]:
    """A call of a rule, and its site, with an array for every list that has a tangent and is taken as an array."""
    rule: Any = site.entry
    taken = () if isinstance(called(site, push.resolved), np.ufunc) else taken_as_arrays(rule)
    lists = {
        e.id
        for e, kind in zip((*site.args, *(v for _, v in site.kwargs)), site.kinds)
        if taken and type(e) is n.Name and push.moves(e) and isinstance(kind, (Tuple, Sequence))
    }
    bound = bind_rule(without_dots(rule), site, push.resolved, s.line) if lists else None
    if bound is None:
        return s, site
    names: dict[str, n.Expr] = {}
    operands = (e for p in taken for e in (bound[p].items if type(bound[p]) is n.TupleExpr else (bound[p],)))
    for operand in operands:
        if type(operand) is n.Name and operand.id in lists and operand.id not in names:
            made = names[operand.id] = n.Name(push.temporary(ARRAY))
            push.emit(n.Assign(made.id, n.Call(TO_ARRAY, (operand,))))
            push.tangent(made.id, n.Call(ARRAY_DOT, (push.dot(operand), operand)), fresh=True)
    kinds = tuple(
        ARRAY if type(e) is n.Name and e.id in names else kind
        for e, kind in zip((*site.args, *(v for _, v in site.kwargs)), site.kinds)
    )
    args = tuple(walk.substitute(a, names) for a in site.args)
    kwargs = tuple((k, walk.substitute(v, names)) for k, v in site.kwargs)
    call = n.Assign(s.target, walk.substitute(s.value, names), line=s.line)
    return call, replace(site, args=args, kwargs=kwargs, kinds=kinds)


def with_arrays_given(rule: Entry, bound: Any, dots: dict[str, Any]) -> dict[str, Any]:
    """The same for a call that is decided when it runs: its arguments are changed, and the tangents returned."""
    out = dict(dots)
    for p in taken_as_arrays(rule):
        value, d = bound.arguments.get(p), dots_of(rule)[p]
        if isinstance(value, (list, tuple)) and not isinstance(dots[d], AbstractZero):
            if rule.signature().parameters[p].kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[p] = tuple(np.array(v) if isinstance(v, (list, tuple)) else v for v in value)
                each = zip(dots[d], value)
                out[d] = tuple(array_dot(v_dot, v) if isinstance(v, (list, tuple)) else v_dot for v_dot, v in each)
            else:
                bound.arguments[p], out[d] = np.array(value), array_dot(dots[d], value)
    return out
