"""Which derivation a derivative function is, and how the arguments of a call of it are bound.

``grad(f)`` returns a function that carries a :class:`Derivative`.  Here it becomes a :class:`Derivation` of the
innermost function that has code, whose leading parameters are what partials, methods and closures have fixed.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

from thunkad.analysis.binding import as_operand
from thunkad.analysis.sites import Site
from thunkad.compiled.derivation import Derivation, Pick
from thunkad.compiled.target import target_of
from thunkad.errors import ArgumentError
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN, Kind
from thunkad.records import field, record, replace
from thunkad.runtime.cotangents import entry
from thunkad.runtime.marks import MAP, NESTED, Derivative, derivative_of
from thunkad.tangents import NO_TANGENT, ZERO, Tangent


@record
class Bound:
    """A function with code and the arguments of a call by parameter.

    ``own`` are the caller's positional ones, ``fixed`` those that partials and methods fix in front of them.
    """

    target: Any
    owner: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]
    own: list[Pick]
    fixed: list[Pick] = field(default_factory=list)
    keywords: dict[str, tuple[str, Any]] = field(default_factory=dict)  # those that went into a ``**`` parameter
    defaulted: tuple[str, ...] = ()  # parameters of a function made inside that have their default values


class Binder:
    """Binds calls in one world.

    ``wrap`` makes an operand of a value that is not one of the call's own arguments, ``kind`` is what is known of one.
    """

    def __init__(
        self,
        world: Any,
        wrap: Callable[[str, Any], Any],
        pack: Callable[[tuple[Any, ...]], Any],
        pack_named: Callable[[dict[str, Any]], Any],
        kind: Callable[[Any], Kind] = lambda operand: UNKNOWN,
    ) -> None:
        self.world, self.wrap, self.pack, self.pack_named, self.kind = world, wrap, pack, pack_named, kind

    def derivation(self, spec: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Derivation, Bound]:
        """The derivation that calling a derivative function is, with its arguments."""
        bound = self.bind(spec.f, args, kwargs)
        wanted, single = self.wanted(spec, bound)
        d = Derivation(bound.target, bound.owner, bound.names, spec.product, wanted, single, spec.has_aux)
        return d, bound

    def wanted(self, spec: Derivative, bound: Bound) -> tuple[tuple[Pick, ...], bool]:
        if spec.product == "checkpoint":
            return (), False
        if spec.argnames is not None:
            single = isinstance(spec.argnames, str)
            names = (spec.argnames,) if single else tuple(spec.argnames)
            for name in names:
                if name not in bound.names:
                    raise ArgumentError(f"argnames: there is no parameter {name!r}; there are {', '.join(bound.names)}")
            return tuple((name, None) for name in names), single
        single = not isinstance(spec.argnums, (tuple, list))
        numbers = (spec.argnums,) if single else tuple(spec.argnums)
        for number in numbers:
            if not -len(bound.own) <= number < len(bound.own):
                raise ArgumentError(
                    f"argnums: {number} is out of range; there are {len(bound.own)} positional arguments"
                )
        return tuple(bound.own[number] for number in numbers), single

    def bind(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        spec = derivative_of(f)
        if spec is not None:
            d, bound = self.derivation(spec, args, kwargs)
            return replace(bound, target=d, owner=None, names=d.parameters)
        target = target_of(f)
        before = tuple(self.wrap("fixed", v) for v in target.before)
        keywords = {**{k: self.wrap(k, v) for k, v in (target.keywords or {}).items()}, **kwargs}
        if derivative_of(target.fn) is not None:
            bound = self.bind(target.fn, (*before, *args), keywords)
            fixed, own = [*bound.fixed, *bound.own[: len(before)]], bound.own[len(before) :]
            return replace(bound, own=own, fixed=fixed)
        if target.is_library:
            return self.library(target.fn, (*before, *args), keywords, len(before))
        return self.function(target.fn, (*before, *args), keywords, len(before))

    def library(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], skip: int) -> Bound:
        function = self.world.library_function(fn, len(args), tuple(kwargs))
        names = tuple(p.name for p in function.params)
        places: list[Pick] = [(name, None) for name in names[: len(args)]]
        return Bound(function, None, names, (*args, *kwargs.values()), places[skip:], places[:skip])

    def function(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], skip: int) -> Bound:
        signature = inspect.signature(fn, follow_wrapped=False)
        given = signature.bind(*args, **kwargs).arguments
        names: list[str] = []
        values: list[Any] = []
        own: list[Pick] = []
        keywords: dict[str, tuple[str, Any]] = {}
        for name, p in signature.parameters.items():
            if p.kind is p.VAR_KEYWORD:
                value: Any = self.pack_named(given.get(name, {}))
                keywords.update({k: (name, k) for k in given.get(name, {})})
            elif p.kind is p.VAR_POSITIONAL:
                value = self.pack(tuple(given.get(name, ())))
                own += [(name, k) for k in range(len(given.get(name, ())))]
            else:
                if name not in given:
                    self.world.left_to_defaults(fn)
                value = given[name] if name in given else self.wrap(name, p.default)
                if p.kind is not p.KEYWORD_ONLY:
                    own.append((name, None))
            names.append(name)
            values.append(value)
        lifted = self.world.lifted.get(fn.__dict__.get("lifted", fn))
        target, owner = (fn, fn) if lifted is None else lifted
        # where it is not known of what types the arguments are, every registration counts
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in signature.parameters.values())
        kinds = [self.kind(v) if plain else UNKNOWN for v in values]
        if lifted is None and self.world.lookup(fn, kinds).how != "missing":
            target, owner = self.world.own_function(fn), None  # what the table says of it counts, not its body
        defaulted = () if lifted is None else tuple(p for p in names if p not in given)
        return Bound(target, owner, tuple(names), tuple(values), own[skip:], own[:skip], keywords, defaulted)


def part_of(by_name: dict[str, Any], pick: Pick) -> Any:
    """The cotangent of one argument from those of parameters."""
    p, k = pick
    return by_name.get(p, NO_TANGENT) if k is None else entry(by_name.get(p, ZERO), k)


def by_keyword(bound: Bound, by_name: dict[str, Any], kwargs: Iterable[str]) -> dict[str, Any]:
    """Cotangents of keyword arguments from those of parameters."""
    return {k: part_of(by_name, bound.keywords.get(k, (k, None))) for k in kwargs}


def by_call(f: Any, bound: Bound, by_name: dict[str, Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Cotangents of a whole call (callee, positional arguments, keywords) from those of parameters."""
    fixed = [part_of(by_name, pick) for pick in bound.fixed]
    named = by_keyword(bound, by_name, fixed_keywords(f) - kwargs.keys())
    own = [part_of(by_name, pick) for pick in bound.own[: len(args)]]
    defaults = {p: by_name[p] for p in bound.defaulted if p in by_name}
    return callee_bar(f, fixed, named, defaults), own, by_keyword(bound, by_name, kwargs)


def fixed_keywords(f: Any) -> set[str]:
    """The keywords that partials in ``f`` fix."""
    spec = derivative_of(f)
    if spec is not None:
        return fixed_keywords(spec.f)
    if isinstance(f, functools.partial):
        return fixed_keywords(f.func) | f.keywords.keys()
    return fixed_keywords(f.__func__) if isinstance(f, types.MethodType) else set()


def keyword_dots(f: Any, f_dot: Any) -> dict[str, Any]:
    """The tangents of what they fix, out of the tangent of ``f``."""
    spec = derivative_of(f)
    if spec is not None:
        return keyword_dots(spec.f, f_dot)
    if isinstance(f, functools.partial):
        own = entry(f_dot, "keywords")
        return {**keyword_dots(f.func, entry(f_dot, "func")), **{k: entry(own, k) for k in f.keywords}}
    return keyword_dots(f.__func__, ZERO) if isinstance(f, types.MethodType) else {}


def fixed_count(f: Any) -> int:
    """How many arguments partials, methods and derivatives of them fix in front of a call's own."""
    spec = derivative_of(f)
    if spec is not None:
        return fixed_count(spec.f)
    if isinstance(f, functools.partial):
        return fixed_count(f.func) + len(f.args)
    if isinstance(f, types.MethodType):
        return fixed_count(f.__func__) + 1
    return 0 if isinstance(f, types.FunctionType) else len(target_of(f).before)


def fixed_dots(f: Any, f_dot: Any) -> list[Any]:
    """The tangents of those arguments, out of the tangent of ``f``."""
    spec = derivative_of(f)
    if spec is not None:
        return fixed_dots(spec.f, f_dot)
    if isinstance(f, functools.partial):
        parts = entry(f_dot, "args")
        return [*fixed_dots(f.func, entry(f_dot, "func")), *(entry(parts, k) for k in range(len(f.args)))]
    if isinstance(f, types.MethodType):
        return [*fixed_dots(f.__func__, ZERO), f_dot]
    return [] if isinstance(f, types.FunctionType) else [f_dot] * fixed_count(f)


def callee_bar(f: Any, bars: list[Any], named: dict[str, Any], defaults: dict[str, Any]) -> Any:
    """The cotangent of ``f`` from those of the arguments and keywords that it fixes, which are consumed.

    Arguments are taken from the front; a keyword belongs to the outermost partial that fixes it.  ``defaults`` are
    those of the default values of the function itself.
    """
    spec = derivative_of(f)
    if spec is not None:
        return callee_bar(spec.f, bars, named, defaults)
    if isinstance(f, functools.partial):
        keywords = {k: named.pop(k, ZERO) for k in f.keywords}
        inner = callee_bar(f.func, bars, named, defaults)
        own = tuple(bars.pop(0) for _ in f.args)
        return Tangent(functools.partial, {"func": inner, "args": own, "keywords": keywords})
    if isinstance(f, types.MethodType):
        callee_bar(f.__func__, bars, named, defaults)
        return bars.pop(0)
    if isinstance(f, types.FunctionType):
        return Tangent(types.FunctionType, {"defaults": defaults}) if defaults else NO_TANGENT
    return bars.pop(0) if fixed_count(f) else NO_TANGENT


def nested_site(world: Any, fn: Any, args: Any, kwargs: Any) -> Site | None:
    """What a call of a derivative function, of ``jvp`` or of ``vjp`` stands for at transform time."""
    if hasattr(fn, NESTED) or hasattr(fn, MAP):
        return Site("dynamic")
    spec = derivative_of(fn)
    if spec is None:
        return None
    if spec.product in ("columns", "blocks"):
        return Site("dynamic")
    if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
        return Site("dynamic")
    binder = Binder(
        world, as_operand, n.TupleExpr, lambda named: n.DictExpr(tuple(map(n.Const, named)), tuple(named.values()))
    )
    d, bound = binder.derivation(spec, args, dict(kwargs))
    return Site("inside", d, bound=tuple(zip(bound.names, bound.values)))
