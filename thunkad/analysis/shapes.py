"""Which values have the same shape: each name's shape as the broadcast of a set of shapes that are not known.

Broadcasting is associative, commutative and idempotent, so the shape of what elementwise operations make of some arrays
is a *set*: that of the names whose shapes are broadcast.  Equal sets mean equal shapes; a number has the empty set.
Slices that cut off as much are as long: ``x[1:]``, ``x[:-1]``, and ``x[2:] - x[:-2]`` is of the shape of ``x[1:-1]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num
from thunkad.runtime.elementwise import power_partial

#: The names whose shapes are broadcast; None where nothing can be said.
Shape = frozenset[str] | None
SCALAR: frozenset[str] = frozenset()


def shape_classes(resolved: Resolved) -> dict[str, frozenset[str]]:
    """The shape of every name that is bound once; names that are bound again have none."""
    bound = Counter(w for s in walk.statements(resolved.function.body) for w in walk.writes(s))
    bound.update(p.name for p in resolved.function.params)
    bound.update(c for c in resolved.function.captures if c not in {p.name for p in resolved.function.params})
    out: dict[str, frozenset[str]] = {}
    for name, count in bound.items():
        kind = resolved.kind(n.Name(name))
        if isinstance(kind, Num) and count == 1:
            out[name] = SCALAR if kind.is_scalar else frozenset((name,))
    parts: dict[object, frozenset[str]] = {}
    for s in walk.statements(resolved.function.body):
        if type(s) is n.Assign and out.get(s.target):
            found = _result(resolved, s, out)
            if type(s.value) is n.Index and type(s.value.value) is n.Name:
                cut = _cut(s.value.index, out)
                whole = out.get(s.value.value.id)
                if cut is not None and whole:
                    found = parts.setdefault((whole, cut), out[s.target])
            if found:
                out[s.target] = found
    return out


def _cut(index: n.Expr, shapes: dict[str, frozenset[str]]) -> object:
    """What an index does to a shape, the same for indices that do the same; None if that is not known."""
    if type(index) is n.TupleExpr:
        cuts = tuple(_cut(part, shapes) for part in index.items)
        return None if None in cuts else cuts
    if type(index) is n.Const and (index.value is Ellipsis or index.value is None or type(index.value) is int):
        return "one" if type(index.value) is int else str(index.value)
    if type(index) is not n.Slice:
        return None
    lower, upper, step = (_bound(part, shapes) for part in (index.lower, index.upper, index.step))
    if "" in (lower, upper, step):
        return None
    first, last = lower or 0, upper or 0
    if step is None and type(first) is type(last) is int and first >= 0 and (upper is None or last < 0):
        return "cut", first - last
    return lower, upper, step


def _bound(e: n.Expr | None, shapes: dict[str, frozenset[str]]) -> int | str | None:
    """A bound of a slice: a number, a name that is bound once, none, or (an empty name) anything else."""
    if e is None or (type(e) is n.Const and e.value is None):
        return None
    if type(e) is n.Const and type(e.value) is int:
        return e.value
    return e.id if type(e) is n.Name and shapes.get(e.id) == SCALAR else ""


def _result(resolved: Resolved, s: n.Assign, shapes: dict[str, frozenset[str]]) -> Shape:
    if type(s.value) is n.Name:
        return shapes.get(s.value.id)
    site = resolved.sites.get(id(s))
    if not isinstance(site, Site) or site.how not in ("rule", "constant") or site.kwargs:
        return None
    if not is_elementwise(site.callee) and not (site.callee is np.where and len(site.args) == 3):
        return None
    if type(s.value) is n.Inplace:
        return None
    return union(resolved, site.args, shapes)


def union(resolved: Resolved, operands: tuple[n.Expr, ...], shapes: dict[str, frozenset[str]]) -> Shape:
    """The broadcast of the shapes of operands."""
    total: frozenset[str] = SCALAR
    for e in operands:
        if type(e) is n.Name:
            found = shapes.get(e.id)
        else:
            kind = resolved.kind(e)
            found = SCALAR if isinstance(kind, Num) and kind.is_scalar else None
        if found is None:
            return None
        total |= found
    return total


def is_elementwise(fn: object) -> bool:
    """Whether ``fn`` broadcasts its arguments and works on each element."""
    return isinstance(fn, np.ufunc) and fn.signature is None and fn.nout == 1


def shape_of(e: n.Expr, names: Callable[[str], Shape], pinned: Callable[[n.Expr], object]) -> Shape:
    """The shape of an expression over names of known shape (``pinned``: the object that a callee stands for)."""
    t = type(e)
    if t is n.Name:
        return names(e.id)
    if t is n.Const:
        return SCALAR if isinstance(e.value, (int, float, complex)) else None
    if t is n.Ref:
        return SCALAR if isinstance(e.value, (int, float, complex)) else None
    if t in (n.Binary, n.Unary):
        if t is n.Binary and e.op == "@":
            return None
        parts = [shape_of(c, names, pinned) for c in walk.children(e)]
    elif t is n.Attr:
        return SCALAR if isinstance(pinned(e), (int, float)) else None
    elif t is n.Call and not e.kwargs and is_elementwise(pinned(e.func)):
        parts = [shape_of(a, names, pinned) for a in e.args]
    elif (
        t is n.Call and pinned(e.func) is power_partial and type(e.args[1]) is n.Const and e.args[1].value not in (0, 1)
    ):
        parts = [shape_of(e.args[0], names, pinned)]
    else:
        return None
    total: frozenset[str] = SCALAR
    for part in parts:
        if part is None:
            return None
        total |= part
    return total
