"""Rule sources as templates that the compiler pastes into generated code.

    def _(x, y):                                   params      x, y
        z = np.multiply(x, y)                      forward     z = np.multiply(x, y)
        def pullback(z_bar):                       seed        z_bar
            g = 2 * z_bar                          reverse     g = 2 * z_bar
            return thunk(lambda: g * y), g         results     g * y, g
        return z, pullback                         value       z

A rule that is anything but such straight lines has no template and is called as it stands.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from types import FunctionType
from typing import Any, cast

from thunkad.errors import SourceUnavailableError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import record
from thunkad.rules.entry import Entry
from thunkad.runtime.arrays import conjugate, unbroadcast
from thunkad.source.functions import find_own_source, find_source
from thunkad.source.names import lookup
from thunkad.tangents import NoTangent, NotImplementedTangent, Thunk, ZeroTangent, thunk
from thunkad.tree.convert import NotInlineable, convert
from thunkad.tree.parse import gast


@record(frozen=True)
class Template:
    """A rule as data.  ``results`` has one expression per positional parameter, None where there is no tangent."""

    entry: Entry
    forward: tuple[n.Stmt, ...]
    value: n.Expr
    plain: bool  # the value is the plain call of the function with the rule's own parameters
    seed: str
    reverse: tuple[n.Stmt, ...]
    results: tuple[n.Expr | None, ...]

    @functools.cached_property
    def locals(self) -> frozenset[str]:
        return frozenset(walk.assigned([*self.forward, *self.reverse]))

    @functools.cached_property
    def forward_locals(self) -> tuple[str, ...]:
        """What only the value needs, by name."""
        return tuple(sorted(self.locals - walk.assigned([*self.reverse])))

    def may_vanish(self, result: n.Expr) -> bool:
        """Whether one of ``results`` may be a structural zero: a helper that returns one makes it, or what it reads."""
        return id(result) in self._vanishing

    @functools.cached_property
    def _vanishing(self) -> frozenset[int]:
        doubtful: set[str] = set()
        for s in self.reverse:
            if any(_vanishes(e, doubtful) for e in walk.expressions(s)):
                doubtful.update(walk.writes(s))
        return frozenset(id(r) for r in self.results if r is not None and _vanishes(r, doubtful))


def _vanishes(e: n.Expr, doubtful: set[str]) -> bool:
    if type(e) is n.Name:
        return e.id in doubtful
    if type(e) is n.Ref and isinstance(e.value, FunctionType) and "ZERO" in e.value.__code__.co_names:
        return True
    return any(_vanishes(x, doubtful) for x in walk.children(e))


def template_of(entry: Entry) -> Template | None:
    """The template of a reverse rule, or None if it can't be pasted; remembered on the entry while it is up to date."""
    forget_outdated(entry)
    if "template" not in entry.cache:
        try:
            if entry.wants_ad():
                raise NotInlineable("derivatives inside the rule")
            entry.cache["template"] = _elementwise(entry) if entry.partials else _explicit(entry)
        except (NotInlineable, SourceUnavailableError):
            entry.cache["template"] = None
    found: Template | None = entry.cache["template"]
    return found


def forget_outdated(entry: Entry) -> None:
    """Drop the templates of a user's rule whose code has changed, or a name that it reads."""
    if entry.layer == "library":
        return
    code = getattr(entry.function, "__code__", None)
    same = entry.cache.setdefault("code", code) is code
    if not (same and all(_is_bound_to(f, name, value) for (f, name), value in reads_of(entry).items())):
        for key in ("template", "forward_template", "reads", "signature"):
            entry.cache.pop(key, None)
        entry.cache["code"] = code


def reads_of(entry: Entry) -> dict[tuple[Any, str], Any]:
    """The free names that a pasted rule takes from its module or closure, each with its function and its value."""
    reads: dict[tuple[Any, str], Any] = entry.cache.setdefault("reads", {})
    return reads


def _is_bound_to(function: Any, name: str, value: Any) -> bool:
    try:
        return lookup(function, name) is value
    except KeyError:
        return False


# ---------------------------------------------------------------- explicit rules


def _resolver(function: Any, local: set[str], entry: Entry) -> Any:
    def name(ident: str) -> n.Expr:
        if ident in local:
            return n.Name(ident)
        try:
            value = lookup(function, ident)
        except KeyError:
            raise NotInlineable(f"unbound name {ident}") from None
        reads_of(entry)[function, ident] = value
        if ident in function.__code__.co_freevars and inspect.isroutine(value):
            ident = value.__name__  # a rule that is made for several functions calls each by its own name
        return n.Ref(ident, value)

    return name


def _explicit(entry: Entry) -> Template:
    function: Any = entry.function
    if not inspect.isfunction(function):
        raise NotInlineable("not a Python function")
    source = find_own_source(function) if entry.layer == "library" else find_source(function)
    node = source.node
    if not isinstance(node, gast.FunctionDef):
        raise NotInlineable("a lambda")
    body = _without_docstring(node.body)
    last = body[-1]
    if not (isinstance(last, gast.Return) and isinstance(last.value, gast.Tuple) and len(last.value.elts) == 2):
        raise NotInlineable("no plain return of (value, pullback)")
    value_node, pullback_node = last.value.elts
    params = list(entry.signature().parameters)
    local = {*params, *_bound(body)}
    if isinstance(pullback_node, gast.Lambda):
        pullback = _as_function(pullback_node)
    else:
        pullback = _single_pullback(body)
        local.add(pullback.name)
        if not (isinstance(pullback_node, gast.Name) and pullback_node.id == pullback.name):
            raise NotInlineable("returns another pullback")
    name = _resolver(function, local, entry)
    written = [s for stmt in body[:-1] if stmt is not pullback for s in _assign(stmt, name)]
    forward, then = bound_once(written, set(params))
    value = walk.substitute(convert(value_node, name), then)
    plain = False
    if type(value) is n.Name and len(forward) >= 1:
        source_of_value = [s for s in forward if type(s) is n.Assign and s.target == value.id]
        plain = len(source_of_value) == 1 and _is_plain_call(source_of_value[0].value, entry)
    else:
        plain = _is_plain_call(value, entry)
    seed, reverse, results = _pullback(pullback, name, function, local)
    reverse = [walk.map_stmt(s, lambda e: walk.substitute(e, then)) for s in reverse]
    reverse, last = bound_once(reverse, {seed, *params, *walk.assigned(forward)})
    results = [None if r is None else walk.substitute(r, {**then, **last}) for r in results]
    count = sum(p.kind is not p.KEYWORD_ONLY for p in entry.signature().parameters.values())
    if len(results) != count:
        raise NotInlineable("another number of cotangents than of parameters")
    return Template(entry, tuple(forward), value, plain, seed, tuple(reverse), tuple(results))


def bound_once(block: list[n.Stmt], taken: set[str]) -> tuple[list[n.Stmt], dict[str, n.Expr]]:
    """A straight line in which no name is bound twice, nor one that is ``taken``; what each stands for after it."""
    out: list[n.Stmt] = []
    now: dict[str, n.Expr] = {}
    for s in block:
        own: dict[str, str] = {}
        for w in walk.writes(s):
            own[w] = w if w not in taken else next(x for k in itertools.count(1) if (x := f"{w}_{k}") not in taken)
            taken.add(own[w])
        out.append(walk.map_stmt(s, functools.partial(walk.substitute, mapping=dict(now)), own.__getitem__))
        now.update({w: n.Name(x) for w, x in own.items()})
    return out, now


def _without_docstring(body: list[Any]) -> list[Any]:
    first = body[0]
    is_doc = (
        isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_doc else body


def _single_pullback(body: list[Any]) -> Any:
    found = [s for s in body if isinstance(s, gast.FunctionDef)]
    if len(found) != 1:
        raise NotInlineable("no single nested pullback")
    (pullback,) = found
    _check_pullback(pullback)
    return pullback


def _as_function(node: Any) -> Any:
    """A pullback that is written as a lambda, as a function."""
    body = [gast.Return(value=node.body)]
    pullback = gast.FunctionDef("pullback", node.args, body, [], None, None, [])
    _check_pullback(pullback)
    return pullback


def _check_pullback(pullback: Any) -> None:
    arguments = pullback.args
    if len(arguments.args) != 1 or arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.defaults:
        raise NotInlineable("the pullback takes more than the cotangent")
    if pullback.decorator_list:
        raise NotInlineable("a decorated pullback")


def _bound(body: list[Any]) -> set[str]:
    out: set[str] = set()
    for stmt in body:
        if isinstance(stmt, gast.Assign):
            for target in stmt.targets:
                out |= {x.id for x in gast.walk(target) if isinstance(x, gast.Name)}
    return out


def _assign(stmt: Any, name: Any) -> list[n.Stmt]:
    if not (isinstance(stmt, gast.Assign) and len(stmt.targets) == 1):
        raise NotInlineable(type(stmt).__name__)
    target, value = stmt.targets[0], convert(stmt.value, name)
    if isinstance(target, gast.Name):
        return [n.Assign(target.id, value)]
    if isinstance(target, (gast.Tuple, gast.List)) and all(isinstance(x, gast.Name) for x in target.elts):
        return [n.Unpack(tuple(x.id for x in target.elts), value)]
    raise NotInlineable("an assignment to something else than names")


def _is_plain_call(e: n.Expr, entry: Entry, dots: frozenset[str] = frozenset()) -> bool:
    """Whether ``e`` calls the rule's own target with each parameter (but the tangents ``dots``) in its own place."""
    if type(e) is not n.Call or _value_of(e.func) is not entry.target:
        return False
    parameters = {k: p for k, p in entry.signature().parameters.items() if k not in dots}
    positional = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    given: set[str] = set()
    for k, a in enumerate(e.args):
        if type(a) is n.Star:
            a = a.value
            if not (k < len(positional) and positional[k].kind is inspect.Parameter.VAR_POSITIONAL):
                return False
        if not (k < len(positional) and a == n.Name(positional[k].name)):
            return False
        given.add(positional[k].name)
    for key, a in e.kwargs:
        if key is None or a != n.Name(key):
            return False
        given.add(key)
    return given == set(parameters)


def _value_of(e: n.Expr) -> Any:
    """The object that an expression over pinned objects stands for."""
    if type(e) is n.Ref:
        return e.value
    if type(e) is n.Attr:
        return getattr(_value_of(e.value), e.name, None)
    return None


def _pullback(
    node: Any, outer: Any, function: Any, outer_local: set[str]
) -> tuple[str, list[n.Stmt], list[n.Expr | None]]:
    seed = node.args.args[0].id
    body = _without_docstring(node.body)
    local = {seed, *_bound(body)}
    if local & outer_local:
        raise NotInlineable("the pullback rebinds a name of the rule")

    def name(ident: str) -> n.Expr:
        return n.Name(ident) if ident in local else outer(ident)

    reverse = [s for stmt in body[:-1] for s in _assign(stmt, name)]
    last = body[-1]
    if not isinstance(last, gast.Return) or last.value is None:
        raise NotInlineable("the pullback does not return cotangents")
    if isinstance(last.value, gast.Tuple):
        return seed, reverse, [_result(e, name) for e in last.value.elts]
    if not isinstance(last.value, gast.Call) or _value_of(convert(last.value.func, name)) not in (thunk, Thunk):
        raise NotInlineable("whether the pullback returns a tuple is seen when it runs")
    return seed, reverse, [_result(last.value, name)]


def _result(e: Any, name: Any) -> n.Expr | None:
    if isinstance(e, gast.Starred):
        raise NotInlineable("a starred cotangent")
    if isinstance(e, gast.Call):
        called = _value_of(convert(e.func, name))
        if called in (ZeroTangent, NoTangent) and not e.args:
            return None
        if called is NotImplementedTangent:
            raise NotInlineable("a derivative that is not implemented")
        if called in (thunk, Thunk):
            (argument,) = e.args
            if not isinstance(argument, gast.Lambda) or argument.args.args:
                raise NotInlineable("a thunk of something else than a lambda")
            return convert(argument.body, name)
        if isinstance(called, type) and issubclass(called, Thunk):
            raise NotInlineable("an in-place thunk")
    if isinstance(e, gast.Constant) and e.value is None:
        raise NotInlineable("None for a cotangent")
    return convert(e, name)


# ---------------------------------------------------------------- elementwise rules


def _elementwise(entry: Entry) -> Template:
    params = list(entry.signature().parameters)
    results = [_elementwise_result(e, p) for e, p in zip(partial_expressions(entry, params), params)]
    value = n.Call(n.Ref(getattr(entry.target, "__name__", "function"), entry.target), tuple(map(n.Name, params)))
    return Template(entry, (n.Assign("result", value),), n.Name("result"), True, "result_bar", (), tuple(results))


def partial_expressions(entry: Entry, params: list[str]) -> list[n.Expr]:
    """The partial derivatives of an elementwise rule as expressions of ``result`` and the parameters."""
    assert entry.partials is not None
    expressions: list[n.Expr] = []
    partials = cast("tuple[FunctionType, ...]", entry.partials)
    lines = [p.__code__.co_firstlineno for p in partials]
    for k, partial in enumerate(partials):
        if entry.layer == "library":
            node = find_own_source(partial, lines[:k].count(lines[k])).node
        else:
            node = find_source(partial).node
        if not isinstance(node, gast.Lambda):
            raise NotInlineable("a partial that is no lambda")
        own = [a.id for a in node.args.args]
        if len(own) != len(params) + 1:
            raise NotInlineable("partials of unequal signature")
        rename = dict(zip(own, ("result", *params)))
        resolve = _resolver(partial, set(), entry)

        def name(ident: str, rename: Any = rename, resolve: Any = resolve) -> n.Expr:
            return n.Name(rename[ident]) if ident in rename else resolve(ident)

        body = convert(node.body, name)
        if len(entry.partials) == 1 and len(params) > 1:
            if type(body) is not n.TupleExpr or len(body.items) != len(params):
                raise NotInlineable("not a tuple of partials")
            expressions = list(body.items)
        else:
            expressions.append(body)
    if "result" in params:
        raise NotInlineable("a parameter called result")
    return expressions


CONJUGATE, UNBROADCAST = n.Ref("conjugate", conjugate), n.Ref("unbroadcast", unbroadcast)


def _elementwise_result(partial: n.Expr, param: str) -> n.Expr | None:
    if type(partial) is n.Call and _value_of(partial.func) in (ZeroTangent, NoTangent):
        return None
    seed: n.Expr = n.Name("result_bar")
    if type(partial) is n.Const and partial.value == 1:
        product: n.Expr = seed
    elif type(partial) is n.Const and partial.value == -1:
        product = n.Unary("-", seed)
    elif type(partial) is n.Const:
        product = n.Binary("*", seed, partial)
    elif type(partial) is n.Binary and partial.op == "/" and partial.left == n.Const(1):
        product = n.Binary("/", seed, n.Call(CONJUGATE, (partial.right,)))
    elif type(partial) is n.Unary and partial.op == "-":
        product = n.Unary("-", n.Binary("*", seed, n.Call(CONJUGATE, (partial.operand,))))
    else:
        product = n.Binary("*", seed, n.Call(CONJUGATE, (partial,)))
    return n.Call(UNBROADCAST, (product, n.Name(param)))
