"""Arrays that are written in place and go by names of their own only: their cotangent is one buffer by name."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.aliases import has_memory
from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num

_HELD = (n.TupleExpr, n.ListExpr, n.DictExpr, n.SetExpr, n.Closure)


def plain_arrays(resolved: Resolved, aliases: Any) -> dict[str, str]:
    """Names of such arrays → the name under which the array is made.

    All names of the class are that one array: made once at the top of the function, bound again only by copies and by
    operators in place, never looked at through a view, put into a container or handed to a function of the user's.
    """
    classes: dict[str, list[str]] = {}
    for name, kind in resolved.kinds.items():
        cls = aliases.find(name)
        if cls in aliases.mutated and cls not in aliases.shared and has_memory(kind):
            classes.setdefault(cls, []).append(name)
    if not classes:
        return {}
    made, spoilt = _bindings(resolved, aliases)
    top = {id(s) for s in resolved.function.body}
    out: dict[str, str] = {}
    params = {*resolved.function.captures, *(p.name for p in resolved.function.params)}
    for cls, names in classes.items():
        kinds = [resolved.kinds[x] for x in names]
        makers = made.get(cls, [])
        sure = all(isinstance(k, Num) and k.form == "array" and k.field in ("real", "complex") for k in kinds)
        if cls in spoilt or not sure or len(makers) != 1 or not params.isdisjoint(names):
            continue
        if len(names) == 1 or id(makers[0]) in top:
            out.update(dict.fromkeys(names, makers[0].target))
    return out


def _bindings(resolved: Resolved, aliases: Any) -> tuple[dict[str, list[n.Assign]], set[str]]:
    """The statements that make the arrays of each class, and the classes that are used in some other way."""
    made: dict[str, list[n.Assign]] = {}
    spoilt: set[str] = set()

    def spoil(names: Any) -> None:
        spoilt.update(map(aliases.find, names))

    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        if type(s) is n.Assign and type(s.value) is n.Name:
            continue
        if type(s) is n.Assign and type(s.value) is n.Inplace and site is not None and site.how == "inplace":
            continue
        mine = [i for e in walk.expressions(s) for i in walk.names(e)]
        if site is not None and site.how not in ("rule", "constant", "missing", "inplace"):
            spoil(mine)
        if type(s) is n.Assign:
            own = aliases.find(s.target)
            made.setdefault(own, []).append(s)
            if type(s.value) in _HELD or (
                any(aliases.find(i) == own for i in walk.names(s.value)) and has_memory(resolved.kind(n.Name(s.target)))
            ):
                spoil([s.target, *mine])
        elif type(s) in (n.Store, n.Update) and type(s.target) is n.Attr:
            spoil(walk.names(s.target))  # its real part, say, is a view
        elif type(s) in (n.Unpack, n.For, n.With):
            spoil([*walk.writes(s), *mine])
        elif type(s) in (n.Append, n.Return) and type(getattr(s, "value", None)) is not n.Name:
            spoil(mine)
        elif type(s) is n.Append:
            spoil([s.target, *mine])
    return made, spoilt
