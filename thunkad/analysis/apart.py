"""Names of which is seen that they take nothing in that others hold: lists that only they lead to, and totals."""

from __future__ import annotations

from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.views import VIEWS, is_fold
from thunkad.ir import nodes as n
from thunkad.ir import walk

#: Of the functions that hand on what they are given, those that hand on the items only.
_OF_ITEMS = frozenset(
    ("zip", "enumerate", "reversed", "list", "tuple", "sorted", "iter", "array", "asarray", "max", "min")
)


def lists_apart(resolved: Resolved) -> set[str]:
    """The names that are bound to new lists only, and whose list is never stored, passed on or given another name."""
    found: set[str] | None = resolved.cache.get("lists apart")
    if found is None:
        made, others = set(), {p.name for p in resolved.function.params} | set(resolved.function.captures)
        for s in walk.statements(resolved.function.body):
            if type(s) is n.Assign and type(s.value) is n.ListExpr:
                made.add(s.target)
                others |= set(walk.names(s.value))
            elif type(s) is not n.Append:
                others |= set(walk.writes(s))
            others |= _passed_on(s, resolved.sites.get(id(s)))
        found = resolved.cache["lists apart"] = made - others
    return found


def _passed_on(s: n.Stmt, site: Site | None) -> set[str]:
    """Names whose value something else may hold after a statement."""
    t = type(s)
    if t is n.Append or t is n.Store:
        return set(walk.names(s.value))  # type: ignore[attr-defined]
    if t in (n.For, n.While, n.If, n.Return, n.Break, n.Continue, n.Comment, n.Assert):
        return set()
    if t in (n.Assign, n.Effect, n.Unpack):
        e = s.value  # type: ignore[attr-defined]
        if type(e) is n.Index or type(e) in (n.Compare, n.Unary):
            return set()
        if type(e) is n.Call:
            if type(e.func) is n.Attr:
                return {i for a in (*e.args, *(v for _, v in e.kwargs)) for i in walk.names(a)}
            return set() if _takes_items(e, site) else set(walk.names(e))
        return set(walk.names(e))
    return walk.reads(s)


def _takes_items(e: n.Call, site: Site | None) -> bool:
    """Whether a call keeps nothing but items of what it is given."""
    if site is None:
        return False
    if is_fold(site.callee):
        return len(e.args) + len(e.kwargs) == 1
    if site.how == "constant":
        return getattr(site.callee, "__module__", None) in ("builtins", "numpy", "math")
    library = site.how == "rule" and site.entry is not None and site.entry.layer == "library"
    name = getattr(site.callee, "__name__", "")
    return library and (name not in VIEWS or name in _OF_ITEMS)


def is_total(resolved: Resolved, x: n.Expr) -> bool:
    """Whether ``x`` starts as a number and is only added to: ``total += term`` puts no term into it."""
    values: dict[str, list[n.Expr]] | None = resolved.cache.get("values")
    if values is None:
        values = resolved.cache["values"] = {}
        for s in walk.statements(resolved.function.body):
            for w in walk.writes(s):
                values.setdefault(w, []).append(s.value if type(s) is n.Assign else n.Const(None))
    left, seen = [x], set()
    while left:
        e = left.pop()
        if type(e) is n.Inplace:
            left.append(e.left)
        elif type(e) is n.Name and e.id in values:
            left += () if e.id in seen else values[e.id]
            seen.add(e.id)
        elif type(e) is not n.Const or type(e.value) not in (int, float, complex):
            return False
    return True
