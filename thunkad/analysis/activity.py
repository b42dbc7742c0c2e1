"""Which names matter: *varied* (depend on a wanted input) and *useful* (reach the result), both through derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thunkad.analysis.aliases import aliases_of, has_memory
from thunkad.analysis.entries import display_entries, entry_read, tracked_names
from thunkad.analysis.keys import active_keys, read_key
from thunkad.analysis.residuals import residuals_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.sources import sources
from thunkad.analysis.views import SELECT_BY_VALUE
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import may_have_tangent

#: The site of a ``try`` statement whose exceptions hold constants; see :mod:`thunkad.analysis.followed`.
CONSTANT = "constant exceptions"


def active_names(resolved: Resolved, wanted: Iterable[str]) -> frozenset[str]:
    """Names that carry a cotangent when ``wanted`` parameters are differentiated."""
    return activity(resolved, wanted)[0]


def activity(
    resolved: Resolved, wanted: Iterable[str], results: tuple[int, ...] | None = None, sinks: Iterable[str] = ()
) -> tuple[frozenset[str], dict[str, frozenset[Any]]]:
    """Names that carry a cotangent, and for containers that are only read by constant keys the keys that matter.

    ``results``: the entries of the function's result that have a cotangent (None: all of it); ``sinks``: parameters
    whose memory the caller sees once the function has written into it.
    """
    varied = varied_names(resolved, wanted)
    useful, entries = useful_names(resolved, varied, results, sinks)
    return varied & (useful | entries.keys()), {x: frozenset(keys) for x, keys in entries.items() if x not in useful}


def varied_names(resolved: Resolved, wanted: Iterable[str]) -> frozenset[str]:
    varied = set(wanted)
    everything = all_flows(resolved)
    for s, _ in everything:
        varied.update(x for x in sources(resolved, s) if may_have_tangent(resolved.kinds.get(x, _ANY)))
    changed = True
    while changed:
        before = len(varied)
        for _, flowing in everything:
            for target, operands in flowing:
                if target not in varied and not varied.isdisjoint(operands):
                    if may_have_tangent(resolved.kinds.get(target, _ANY)):
                        varied.add(target)
        varied |= through_memory(resolved, varied)
        changed = len(varied) != before
    return frozenset(varied)


def useful_names(
    resolved: Resolved, varied: frozenset[str], results: tuple[int, ...] | None = None, sinks: Iterable[str] = ()
) -> tuple[frozenset[str], dict[str, set[Any]]]:
    """Names that reach the result as a whole, and names of which only entries do, with their keys."""
    useful: set[str] = set(sinks)
    entries: dict[str, set[Any]] = {}
    tracked = tracked_names(resolved)
    everything = all_flows(resolved)
    for s, _ in everything:
        if type(s) is n.Return:
            if results is not None and type(s.value) is n.Name and s.value.id in tracked:
                entries[s.value.id] = set(results)
            else:
                useful.update(walk.names(s.value))
        elif is_outside(resolved, s):
            useful.update(walk.names(s.value))  # so that it is refused
    changed = True
    while changed:
        before = len(useful), sum(map(len, entries.values()))
        for s, flowing in reversed(everything):
            for k, (target, operands) in enumerate(flowing):
                if target not in varied:
                    continue
                read = entry_read(resolved, s)
                if type(s) is n.Unpack and type(s.value) is n.Name:
                    read = s.value.id, k
                if target in useful or (target in entries and read is not None):
                    if read is not None and read[0] in tracked:
                        entries.setdefault(read[0], set()).add(read[1])
                    else:
                        useful.update(operands)
                elif target in entries:
                    items = display_entries(s.value) if type(s) is n.Assign else None
                    if items is None:
                        useful.update(operands)
                    else:
                        useful.update(i for key in entries[target] & items.keys() for i in walk.names(items[key]))
        useful |= through_memory(resolved, useful | entries.keys())
        changed = (len(useful), sum(map(len, entries.values()))) != before
    return frozenset(useful), entries


def is_outside(resolved: Resolved, s: n.Stmt) -> bool:
    """Whether ``s`` sets an attribute of a class, a module or a function."""
    site = resolved.sites.get(id(s))
    return site is not None and site.how == "outside"


def is_table(resolved: Resolved, varied: frozenset[str], name: str) -> bool:
    """Whether ``name`` is made of constants and not changed: what shares memory with what varies counts as varied."""
    for s, flowing in all_flows(resolved):
        if name in walk.writes(s):
            if type(s) is not n.Assign or any(not varied.isdisjoint(used) for _, used in flowing):
                return False
        elif name in walk.reads(s) and not _hands_over(s, n.Name(name)):
            return False
    return all(p.name != name for p in resolved.function.params)


def _hands_over(s: n.Stmt, e: n.Name) -> bool:
    """Whether ``s`` does no more with ``e`` than to return it, or to put it somewhere."""
    call = s.value if type(s) in (n.Assign, n.Effect) else None  # type: ignore[attr-defined]
    if type(call) is n.Call and type(call.func) is n.Attr:
        return call.func.name in ("setdefault", "append", "insert") and e in call.args and call.func.value != e
    return type(s) is n.Return or (type(s) is n.Store and s.value == e)


def through_memory(resolved: Resolved, names: set[str]) -> set[str]:
    """Names that share memory that is written in place with one of ``names``: what is known of one holds for all."""
    aliases = aliases_of(resolved)
    if not aliases.mutated:
        return set()
    classes = {aliases.find(x) for x in names} & aliases.mutated
    if not classes:
        return set()
    return {
        x
        for x, kind in resolved.kinds.items()
        if aliases.find(x) in classes and has_memory(kind) and may_have_tangent(kind)
    }


def all_flows(resolved: Resolved) -> list[tuple[n.Stmt, list[tuple[str, tuple[str, ...]]]]]:
    """Every statement in program order, each with its :func:`flows`; found once."""
    if "flows" not in resolved.cache:
        resolved.cache["flows"] = [(s, flows(resolved, s)) for s in walk.statements(resolved.function.body)]
    return resolved.cache["flows"]  # type: ignore[no-any-return]


def flows(resolved: Resolved, s: n.Stmt) -> list[tuple[str, tuple[str, ...]]]:
    """The names that ``s`` gives a derivative to, each with the names that it comes from."""
    t = type(s)
    through_list = residuals_of(resolved).flows(s)
    if through_list is not None:
        return through_list
    if t is n.Assign:
        read = read_key(resolved, s)
        keyed = [] if read is None else [(read[0], read[1:])]
        return [(s.target, operands(s.value, resolved.sites.get(id(s)))), *_writes(resolved, s), *keyed]
    if t is n.Effect:
        return _writes(resolved, s)
    if t is n.Unpack:
        source = operands(s.value, resolved.sites.get(id(s)))
        return [(target, source) for target in s.targets]
    if t is n.With:
        return [] if s.target is None else [(s.target, operands(s.item, resolved.sites.get(id(s))))]
    if t is n.Try:  # an exception may hold whatever the body that raised it has read
        return [] if s.error is None or s.site is CONSTANT else [(s.error, tuple(sorted(walk.read_anywhere(s.body))))]
    if t is n.For:
        return [(s.target, operands(s.iter, resolved.sites.get(id(s))))]
    if t is n.Append:
        return [(s.target, tuple(walk.names(s.value)))]
    if t in (n.Store, n.Update) and type(s.target) in (n.Index, n.Attr):
        root = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        put = (*walk.names(s.value), *active_keys(resolved, s))
        return [(root.id, put)] if type(root) is n.Name else []
    return []


def _writes(resolved: Resolved, s: n.Stmt) -> list[tuple[str, tuple[str, ...]]]:
    targets = dict.fromkeys([*written(s.value), *aliases_of(resolved).written_by.get(id(s), ())])
    return [(target, tuple(walk.names(s.value))) for target in targets]


def written(e: n.Expr) -> tuple[str, ...]:
    """The names of the objects that a call writes into: ``out=``, a mutating method's owner, its first argument."""
    if type(e) is not n.Call:
        return ()
    places = [value for key, value in e.kwargs if key == "out"]
    if type(e.func) is n.Attr and e.func.name == "nan_to_num" and any(k == "copy" for k, _ in e.kwargs):
        places += e.args[:1]
    if type(e.func) is n.Global and e.func.id in ("setattr", "delattr"):
        places += e.args[:1]
    if type(e.func) is n.Attr and e.func.name in ("__setattr__", "__delattr__"):
        places += [e.func.value] if type(e.func.value) is n.Name else e.args[:1]
    if type(e.func) is n.Attr and e.func.name in _MUTATING:
        places += [e.func.value, *e.args[:1]] if type(e.func.value) is not n.Name else [e.func.value]
    return tuple(name for place in places for name in walk.names(place))


_MUTATING = frozenset(
    "append appendleft extend extendleft insert pop popleft remove rotate sort reverse clear update setdefault popitem "
    "move_to_end fill put itemset resize partition "
    "add at copyto place putmask put_along_axis fill_diagonal byteswap setfield shuffle __setitem__ __delitem__ "
    "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__ "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__".split()
)


def operands(e: n.Expr, site: Site | None) -> tuple[str, ...]:
    """Names through which a derivative enters ``e``."""
    if site is not None:
        if site.how == "constant":
            return ()
        read = read_for_shape(site.callee) if site.how == "rule" else ()
        out = [i for k, a in enumerate(site.args) if k not in read for i in walk.names(a)]
        # By its key, a value is only selected.
        selects = site.how == "rule" and getattr(site.callee, "__name__", "") in SELECT_BY_VALUE
        out += [i for k, a in site.kwargs if not (selects and k == "key") for i in walk.names(a)]
        out += [i for _, a in site.bound for i in walk.names(a)]
        if isinstance(site.callee, (n.Name, n.Attr)):
            out += walk.names(site.callee)
        return tuple(out)
    if type(e) is n.Index:
        # what is no local (np.r_) may make its result of the index
        return tuple(walk.names(e.value)) if type(e.value) is n.Name else tuple(walk.names(e))
    if type(e) is n.Compare:
        return ()
    return tuple(walk.names(e))


class _Any:
    """Stands for a name of which nothing is known: it may carry a derivative."""


_ANY = _Any()  # type: ignore[var-annotated]


def read_for_shape(fn: Any) -> tuple[int, ...]:
    """The places of the arguments of which a runtime helper reads only the shape."""
    marked = getattr(fn, "shape_only", None)
    code = getattr(fn, "__code__", None)
    if not isinstance(marked, tuple) or code is None:
        return ()
    return tuple(k for k, p in enumerate(code.co_varnames[: code.co_argcount]) if p in marked)
