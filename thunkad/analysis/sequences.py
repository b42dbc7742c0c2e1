"""Lists and tuples as operands of NumPy's ufuncs, made arrays first, as NumPy does: rules are written for arrays.

np.multiply([x, y], z)              t1 = np.array([x, y])
                                    np.multiply(t1, z)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Sequence, Tuple
from thunkad.records import replace

ARRAY = n.Attr(n.Ref("np", np), "array")


def with_arrays(function: n.Function, sites: dict[int, Site]) -> n.Function:
    """``function`` in normal form with such operands made arrays; itself if there are none."""
    if function.generated or not any(_lists(s, sites.get(id(s))) for s in walk.statements(function.body)):
        return function
    names = Names(walk.taken_names(function))

    def block(body: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in body:
            found = _lists(s, sites.get(id(s)))
            made = {a: n.Name(names.temporary()) for a in found}
            out += [n.Assign(name.id, n.Call(ARRAY, (a,)), line=s.line) for a, name in made.items()]
            if made:
                e: Any = s.value  # type: ignore[attr-defined]
                args = tuple(made.get(a, a) for a in e.args)
                s = replace(s, value=n.Call(e.func, args, e.kwargs))
            out.append(s if type(s) is n.Assert else walk.map_blocks(s, block))
        return out

    return replace(function, body=block(function.body))


def _lists(s: n.Stmt, site: Site | None) -> list[n.Expr]:
    """The operands of a call of a ufunc that are lists or tuples."""
    e = s.value if type(s) in (n.Assign, n.Effect) else None  # type: ignore[attr-defined]
    if site is None or type(e) is not n.Call:
        return []
    if not (isinstance(site.callee, np.ufunc) and len(e.args) <= site.callee.nin) and site.callee is not np.clip:
        return []
    return list(dict.fromkeys(a for a, kind in zip(e.args, site.kinds) if type(a) is n.Name and _is_list(kind)))


def _is_list(kind: Kind) -> bool:
    return (isinstance(kind, Sequence) and kind.cls in (list, tuple)) or (isinstance(kind, Tuple) and kind.cls is tuple)
