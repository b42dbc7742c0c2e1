"""Iterators of ``zip``, ``enumerate``, ``map``, ``filter`` and ``reversed`` that are used again, from where they are.

One that is used once is a list (see :mod:`thunkad.rules.python.builtins`), or no object at all; of the others the
position matters, and they are objects that the compiler looks into.
"""

from __future__ import annotations

import builtins
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from thunkad.analysis.binding import bind_call
from thunkad.analysis.constructors import init_of, is_generated
from thunkad.analysis.sites import Site
from thunkad.analysis.special import own_method
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind, Known, Lifted, Method, Partial, Sequence, Tuple, item_of
from thunkad.normal.suspended_class import class_of
from thunkad.records import replace
from thunkad.runtime.lazy import OF_BUILTINS, backwards, check_lengths, map_together, until, zip_together

_TOGETHER: dict[str, Any] = {"zip": zip_together, "map": map_together}
_MADE = OF_BUILTINS | {"reversed": backwards}


def lazily(name: str, call: n.Call) -> n.Call:
    """``call`` of the built-in function ``name`` as one that makes an object that the compiler knows."""
    if spread(name, call) is not None:
        *before, last = call.args
        return n.Call(n.Ref(f"{name}_together", _TOGETHER[name]), (*before, last.value), call.kwargs)  # type: ignore[union-attr]
    cls = class_of(until if name == "iter" else _MADE[name])
    return n.Call(n.Ref(cls.__name__, cls), call.args, call.kwargs)


def spread(name: str, call: n.Call) -> n.Expr | None:
    """What ``call`` spreads by a star, if that is all that it runs over: ``zip(*rows)``, ``map(f, *rows)``."""
    own = call.args[1:] if name == "map" else call.args
    return own[0].value if name in _TOGETHER and len(own) == 1 and type(own[0]) is n.Star else None


def made_lazily(s: n.Assign, name: str, names: Names) -> list[n.Stmt]:
    """``s``, which calls the built-in function ``name``, as statements that make such an object."""
    call = s.value
    assert type(call) is n.Call
    if spread(name, call) is not None or not any(type(a) is n.Star for a in call.args):
        return [replace(s, value=lazily(name, call))]
    count = 1 if name == "map" else 0
    rows = n.Name(names.new("iterables"))
    made = replace(call, args=(*call.args[:count], n.Star(rows)))
    return [n.Assign(rows.id, n.ListExpr(call.args[count:]), line=s.line), replace(s, value=lazily(name, made))]


def taken_into_list(s: Any) -> n.Expr | None:
    """What ``s`` puts into a list item by item, if it is a list that it changes: ``x += it``, or ``x[1:3] = it``."""
    if type(s) is n.Assign:
        return s.value.right if type(s.value) is n.Inplace and s.value.op == "+" else None
    if type(s) is n.Store and type(s.target) is n.Index:
        return s.value if type(s.target.index) is n.Slice else None
    return s.value if type(s) is n.Update and s.op == "+" else None


def is_function(kind: Kind | None) -> bool:
    """Whether a value of this kind is a function, as far as is known."""
    return isinstance(kind, (Known, Lifted, Method, Partial))


def spreads_iterators(call: n.Call, kind: Callable[[Any, n.Expr], Kind | None]) -> bool:
    """Whether iterators that are objects are among the arguments of ``call`` by a star, as in ``zip(*[it] * 2)``."""
    kinds = [kind(None, a.value) for a in call.args if type(a) is n.Star]
    items = [item_of(k) for k in kinds if isinstance(k, (Sequence, Tuple))]
    return any(own_method(k, "__next__") is not None for k in items)


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
        if site.how not in ("inside", "lifted", "construct") or _is_own(site.callee):
            return ()
        callee = init_of(site.callee) if site.how == "construct" else site.callee
        return [i for p, a in site.bound for i in walk.names(a) if type(a) is not n.Name or self.again(callee, p)]

    def again(self, callee: Any, parameter: str) -> bool:
        """Whether a callee may use its parameter again."""
        if callee in self.seen or not isinstance(callee, (types.FunctionType, n.Closure)) or is_generated(callee):
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


def _is_own(fn: Any) -> bool:
    """Whether ``fn`` stands for a library function: it uses up what it is given, or goes on with it."""
    return (getattr(fn, "__module__", None) or "").startswith("thunkad.")


def _takes_all(func: n.Expr) -> bool:
    """Whether a built-in function, or a method of a container, is called that goes through all of an iterable."""
    if type(func) is n.Attr:
        return func.name in ("extend", "extendleft", "update", "join", "writelines")
    return type(func) is n.Global and hasattr(builtins, func.id)
