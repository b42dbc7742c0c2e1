"""Iterators of ``zip``, ``enumerate``, ``map``, ``filter`` and ``reversed`` that are used again, from where they are.

One that is used once is a list (see :mod:`thunkad.rules.python.builtins`), or no object at all; of the others the
position matters, and they are objects that the compiler looks into.
"""

from __future__ import annotations

import builtins
import linecache
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from thunkad.analysis.binding import bind_call
from thunkad.analysis.sites import Site
from thunkad.analysis.special import own_method
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind
from thunkad.normal.suspended_class import class_of
from thunkad.runtime.lazy import OF_BUILTINS, backwards, check_lengths

_MADE = OF_BUILTINS | {"reversed": backwards}


def lazily(name: str, call: n.Call) -> n.Call:
    """``call`` of the built-in function ``name`` as one that makes an object that the compiler knows."""
    cls = class_of(_MADE[name])
    return n.Call(n.Ref(cls.__name__, cls), call.args, call.kwargs)


def drawn_again(function: n.Function, sites: Mapping[int, Site], context: Any) -> dict[int, str]:
    """The statements that bind such an iterator of differentiated values, by identity, each with what it calls."""
    made = {
        id(s): s.value.func.id
        for s in walk.statements(function.body)
        if type(s) is n.Assign
        and type(s.value) is n.Call
        and type(s.value.func) is n.Global
        and s.value.func.id in _MADE
        and (site := sites.get(id(s))) is not None
        and site.how not in ("constant", "missing")
    }
    if not made:
        return {}
    again = _used_again(function.body, made, sites, context)
    for s in walk.statements(function.body):
        if id(s) in again and _is_starred(s):
            raise UnsupportedSyntaxError(
                f"{made[id(s)]}(*…) under a name that is used again",
                Place(function.filename, s.line, linecache.getline(function.filename, s.line)),
                "make a list of it first: list(…)",
            )
    return {key: made[key] for key in again}


def goes_on(function: n.Function, call: n.Call, kind: Callable[[Any, n.Expr], Kind | None]) -> bool:
    """Whether ``call`` draws from an iterator that is used elsewhere, too: it takes no more than it needs then."""
    own = {x.id for x in call.args if type(x) is n.Name and own_method(kind(None, x), "__next__") is not None}
    if not own:
        return False
    statements = walk.statements(function.body)
    read = [i for s in statements for e in walk.expressions(s) for i in walk.names(e) if i in own]
    return len(read) > len(own)


def _used_again(body: list[n.Stmt], made: Mapping[int, str], sites: Mapping[int, Site], context: Any) -> set[int]:
    targets = {s.target for s in walk.statements(body) if type(s) is n.Assign and id(s) in made}
    uses = _Uses(targets, context, sites, made)
    read = {i for s in walk.statements(body) for i in walk.reads(s)}
    uses.idle = {id(s) for s in walk.statements(body) if type(s) is n.Assign and id(s) in made and s.target not in read}
    uses.starred = {s.target for s in walk.statements(body) if id(s) in made and _is_starred(s)}  # type: ignore[attr-defined]
    uses.block(body, ())
    again: set[int] = set()
    for s, around in reversed(uses.bound):
        if uses.goes_on(s.target, around):
            again.add(id(s))
            uses.number.update(walk.names(s.value))  # so is what it draws from
    return again


class _Uses:
    """How often names are used in a body, and where; what may not use up what it is given counts twice.

    ``made``: the statements of the body that make iterators, which draw from others no more than is drawn from them.
    ``globals``: in which the calls of a callee are looked up, of which there are no sites.
    """

    def __init__(
        self, names: set[str], context: Any, sites: Mapping[int, Site], made: Mapping[int, str],
        globals: Mapping[str, Any] | None = None, seen: frozenset[Any] = frozenset(),
    ) -> None:  # fmt: skip
        self.names, self.context, self.sites, self.made = names, context, sites, made
        self.globals, self.seen = globals or {}, seen
        self.starred: set[str] = set()  # those of which nothing is known but that they are lists when they are read
        self.number: Counter[str] = Counter()
        self.loops: dict[str, tuple[int, ...]] = {}  # around the last use of a name
        self.bound: list[tuple[n.Assign, tuple[int, ...]]] = []
        self.idle: set[int] = set()  # the statements that make iterators which nobody draws from

    def goes_on(self, name: str, around: tuple[int, ...]) -> bool:
        """Whether an iterator that is bound to ``name`` in these loops is used again."""
        return self.number[name] > 1 or self.loops.get(name, around) != around

    def block(self, block: list[n.Stmt], around: tuple[int, ...]) -> None:
        for s in block:
            if id(s) in self.idle or _only_measures(s):
                continue
            for e in walk.expressions(s):
                self.number.update(self.names.intersection(walk.names(e)))
            self.loops.update(dict.fromkeys(walk.reads(s), around))
            self.number.update(self.names.intersection(self.kept(s)))
            if type(s) is n.Assign and id(s) in self.made:
                self.bound.append((s, around))
            for inner in walk.blocks(s):
                self.block(inner, (*around, id(s)) if type(s) in (n.For, n.While) else around)

    def kept(self, s: Any) -> Iterable[str]:
        """What ``s`` gives another name, keeps in something, or may draw only some of."""
        if id(s) in self.made or self.names.isdisjoint(walk.reads(s)):
            return ()
        if type(s) in (n.Unpack, n.Update, n.For):  # taken apart, or taken in by a list
            return ()
        e = getattr(s, "value", None)
        if type(e) is not n.Call:
            parts = e.items if type(e) in (n.TupleExpr, n.ListExpr, n.SetExpr) else (e,)
            keeps = type(e) in (n.Name, n.TupleExpr, n.ListExpr, n.SetExpr, n.DictExpr, n.Closure, n.Attr)
            return [i for p in parts if keeps and type(p) is not n.Star for i in walk.names(p)]
        site = self.sites.get(id(s)) or self.site(e)
        bound: Any = [(None, a) for a in e.args] + [(None, v) for _, v in e.kwargs]
        if type(e.func) is n.Global and e.func.id in ("next", "iter"):
            return walk.names(e)
        if site is None or (site.how == "dynamic" and not _takes_all(e.func)):
            return [i for _, a in (*bound, (None, e.func)) if type(a) is not n.Star for i in walk.names(a)]
        if site.how == "construct":
            return [i for i in walk.names(e) if i not in self.starred]
        if site.how not in ("inside", "lifted") or _is_own(site.callee):
            return ()
        return [i for p, a in site.bound for i in walk.names(a) if type(a) is not n.Name or self.again(site, p)]

    def again(self, site: Site, parameter: str) -> bool:
        """Whether a callee may use its parameter again."""
        callee = site.callee
        if callee in self.seen or not isinstance(callee, (types.FunctionType, n.Closure)):
            return True
        form = callee.function if isinstance(callee, n.Closure) else self.context.form_of(callee)
        globals = getattr(callee, "__globals__", self.globals)
        uses = _Uses({parameter}, self.context, {}, {}, globals, self.seen | {callee})
        uses.block(form.body, ())
        return uses.goes_on(parameter, ())

    def site(self, e: n.Call) -> Site | None:
        """What a call in a callee stands for, as far as its name tells."""
        if type(e.func) is n.Ref and _is_own(e.func.value):
            return Site("inside", e.func.value)
        fn = self.globals.get(e.func.id) if type(e.func) is n.Global else None
        if isinstance(fn, types.FunctionType):
            bound = bind_call(fn, e.args, e.kwargs)
            return None if bound is None else Site("inside", fn, bound=bound)
        return Site("rule") if fn is None and _takes_all(e.func) else None


def _only_measures(s: n.Stmt) -> bool:
    """Whether ``s`` is the check behind a loop over a strict ``zip``, which draws nothing."""
    call = s.value if type(s) is n.Effect else None
    return type(call) is n.Call and type(call.func) is n.Ref and call.func.value is check_lengths


def _is_starred(s: Any) -> bool:
    """Whether an iterator is made by a call with stars, which makes a list of what it draws from."""
    return any(type(a) is n.Star for a in s.value.args)


def _is_own(fn: Any) -> bool:
    """Whether ``fn`` stands for a library function: it uses up what it is given, or goes on with it."""
    return (getattr(fn, "__module__", None) or "").startswith("thunkad.")


def _takes_all(func: n.Expr) -> bool:
    """Whether a built-in function, or a method of a container, is called that goes through all of an iterable."""
    if type(func) is n.Attr:
        return func.name in ("extend", "extendleft", "update", "join", "writelines")
    return type(func) is n.Global and hasattr(builtins, func.id)
