"""Which names matter: *varied* (depend on a wanted input) and *useful* (reach the result), both through derivatives."""

from __future__ import annotations

from collections.abc import Iterable

from thunkad.analysis.resolution import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import may_have_tangent


def active_names(resolved: Resolved, wanted: Iterable[str]) -> frozenset[str]:
    """Names that carry a cotangent when ``wanted`` parameters are differentiated."""
    varied = varied_names(resolved, wanted)
    return varied & useful_names(resolved, varied)


def varied_names(resolved: Resolved, wanted: Iterable[str]) -> frozenset[str]:
    varied = set(wanted)
    statements = list(walk.statements(resolved.function.body))
    changed = True
    while changed:
        before = len(varied)
        for s in statements:
            for target, operands in flows(resolved, s):
                if target not in varied and not varied.isdisjoint(operands):
                    if may_have_tangent(resolved.kinds.get(target, _ANY)):
                        varied.add(target)
        changed = len(varied) != before
    return frozenset(varied)


def useful_names(resolved: Resolved, varied: frozenset[str]) -> frozenset[str]:
    useful: set[str] = set()
    statements = list(walk.statements(resolved.function.body))
    for s in statements:
        if type(s) is n.Return:
            useful.update(walk.names(s.value))
    statements.reverse()
    changed = True
    while changed:
        before = len(useful)
        for s in statements:
            for target, operands in flows(resolved, s):
                if target in useful and target in varied:
                    useful.update(operands)
        changed = len(useful) != before
    return frozenset(useful)


def flows(resolved: Resolved, s: n.Stmt) -> list[tuple[str, tuple[str, ...]]]:
    """The names that ``s`` gives a derivative to, each with the names that it comes from."""
    t = type(s)
    if t is n.Assign:
        return [(s.target, operands(s.value, resolved.sites.get(id(s)))), *_writes(s.value)]
    if t is n.Effect:
        return _writes(s.value)
    if t is n.Unpack:
        source = operands(s.value, resolved.sites.get(id(s)))
        return [(target, source) for target in s.targets]
    if t is n.For:
        return [(s.target, operands(s.iter, resolved.sites.get(id(s))))]
    if t is n.Append:
        return [(s.target, tuple(walk.names(s.value)))]
    if t in (n.Store, n.Update) and type(s.target) in (n.Index, n.Attr):
        root = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        return [(root.id, tuple(walk.names(s.value)))] if type(root) is n.Name else []
    return []


def _writes(e: n.Expr) -> list[tuple[str, tuple[str, ...]]]:
    return [(target, tuple(walk.names(e))) for target in written(e)]


def written(e: n.Expr) -> tuple[str, ...]:
    """The names of the objects that a call writes into: ``out=``, the owner of a mutating method, its first argument."""
    if type(e) is not n.Call:
        return ()
    places = [value for key, value in e.kwargs if key == "out"]
    if type(e.func) is n.Attr and e.func.name in _MUTATING:
        places += [e.func.value, *e.args[:1]] if type(e.func.value) is not n.Name else [e.func.value]
    return tuple(name for place in places for name in walk.names(place))


_MUTATING = frozenset(
    "append extend insert pop remove sort reverse clear update setdefault popitem fill put itemset resize partition add "
    "at copyto place putmask put_along_axis fill_diagonal".split()
)


def operands(e: n.Expr, site: Site | None) -> tuple[str, ...]:
    """Names through which a derivative enters ``e``."""
    if site is not None:
        if site.how == "constant":
            return ()
        out = [i for a in site.args for i in walk.names(a)] + [i for _, a in site.kwargs for i in walk.names(a)]
        out += [i for _, a in site.bound for i in walk.names(a)]
        if isinstance(site.callee, (n.Name, n.Attr)):
            out += walk.names(site.callee)
        return tuple(out)
    if type(e) is n.Index:
        return tuple(walk.names(e.value))
    if type(e) is n.Compare:
        return ()
    return tuple(walk.names(e))


class _Any:
    """Stands for a name of which nothing is known: it may carry a derivative."""


_ANY = _Any()  # type: ignore[var-annotated]
