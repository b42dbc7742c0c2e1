"""Calls of derivatives inside differentiated code, decided when the code runs: values, cotangents and tangents."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from thunkad.compiled.derivation import Derivation
from thunkad.compiled.nested import Binder, Bound, by_call, fixed_dots, keyword_dots
from thunkad.compiled.rerun import Around
from thunkad.errors import ArgumentError
from thunkad.kinds.lattice import may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.runtime.attributes import Holding
from thunkad.runtime.columns import column, directions, side_by_side
from thunkad.runtime.cotangents import add, entry
from thunkad.runtime.dots import defaults_dot, outward, tangent_for
from thunkad.runtime.held import held
from thunkad.runtime.maps import value_alone
from thunkad.runtime.marks import NESTED, PUBLIC, Derivative
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent


class NestedPullback(Holding):
    """The pullback of a ``vjp`` inside differentiated code: a function of the cotangent and of the arguments."""

    __thunkad_pullback__ = True
    passes = True  # made by a call and gone with it: nobody registers anything for it

    def __init__(self, nested: Nested, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.nested, self.f, self.args, self.kwargs = nested, f, args, kwargs
        bound = nested.binder.bind(f, args, kwargs)
        self.around = Around(Derivation(bound.target, bound.owner, bound.names, "pull", ()))

    def holding(self, copied: Callable[[Any], Any]) -> NestedPullback:
        made = copy.copy(self)
        made.f, made.args, made.kwargs = copied((self.f, self.args, self.kwargs))
        return made

    def __call__(self, value_bar: Any) -> Any:
        d, bound = self.nested.of_pullback(self)
        return self.nested.arranged(
            d, bound, self.nested.value(d, self.nested.own(d, bound, (*bound.values, value_bar)))
        )


class NestedMap(NestedPullback):
    """The map that ``linearize`` returns inside differentiated code: a function of tangents and of the arguments."""

    def __call__(self, *tangents: Any) -> Any:
        self.around.check()
        return PUBLIC["jvp"](self.f, self.args, tangents)[1]


class Nested:
    """Run-time handling of derivatives in one world."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.binder = Binder(world, lambda name, value: value, lambda values: values, dict, kind_of)

    # ------------------------------------------------------------ derivations and their values

    def value(self, d: Derivation, values: tuple[Any, ...]) -> Any:
        with self.world.lock:
            slot = self.world.derivations.value(d, tuple(map(kind_of, values)))
        return slot.cell.cell_contents(*values)

    def own(self, d: Derivation, bound: Bound, given: Any) -> Any:
        """Values or tangents for one run of a derivation: copies, if its target seems to change what it is given."""
        with self.world.lock:
            return held(given) if self.world.derivations.changed(d, tuple(map(kind_of, bound.values))) else given

    def of_pullback(self, pullback: NestedPullback) -> tuple[Derivation, Bound]:
        pullback.around.check()
        bound = self.binder.bind(pullback.f, pullback.args, pullback.kwargs)
        by_name = dict(zip(bound.names, bound.values))
        values = [by_name[p] if k is None else by_name[p][k] for p, k in bound.own]
        wanted = tuple(pick for pick, value in zip(bound.own, values) if may_have_tangent(kind_of(value)))
        return Derivation(bound.target, bound.owner, bound.names, "pull", wanted, False), bound

    def arranged(self, d: Derivation, bound: Bound, parts: Any) -> tuple[Any, ...]:
        """Gradients by parameter → one for each of the call's own positional arguments."""
        by_pick = dict(zip(d.picks, parts))
        return tuple(by_pick.get(pick, NO_TANGENT) for pick in bound.own)

    def disarranged(self, d: Derivation, bound: Bound, parts: Any) -> tuple[Any, ...]:
        """The other way round, for cotangents of gradients."""
        by_pick = {pick: entry(parts, k) for k, pick in enumerate(bound.own)}
        return tuple(by_pick[pick] for pick in d.picks)

    # ------------------------------------------------------------ reverse mode

    def pull(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a call and a function from its cotangent to those of the callee, the arguments, the keywords."""
        kind = getattr(fn, NESTED, None)
        if kind == "jvp":
            return self.pull_jvp(*args, **kwargs)
        if kind == "vjp":
            return self.pull_vjp(args[0], args[1:], kwargs)
        if kind == "linearize":
            return self.pull_vjp(args[0], args[1:], kwargs, NestedMap)
        if isinstance(fn, NestedMap):
            return self.pull_of_map(fn, args)
        if isinstance(fn, NestedPullback):
            return self.pull_pullback(fn, *args)
        spec: Derivative = fn.__thunkad_derivative__
        if spec.product in ("columns", "blocks"):
            return self.pull_columns(spec, args, kwargs)
        d, bound = self.binder.derivation(spec, args, kwargs)
        value, back = self.halves(d, bound.values)

        def pullback(value_bar: Any) -> Any:
            by_name = back(value_bar)
            return by_call(spec.f, bound, by_name, args, kwargs)

        return value, pullback

    def halves(self, d: Derivation, values: tuple[Any, ...]) -> Any:
        """The value of a derivation and a function from its cotangent to those of its parameters, by name."""
        names = d.parameters
        kinds = tuple(map(kind_of, values))
        demand = tuple(p for p, k in zip(names, kinds) if may_have_tangent(k))
        with self.world.lock:
            pair = self.world.pair_for(d, None, kinds, demand)
        value, saved = pair.forward.cell.cell_contents(*values)

        def back(value_bar: Any) -> dict[str, Any]:
            parts = pair.reverse.cell.cell_contents(saved, value_bar)
            return dict(zip(demand, parts if len(demand) > 1 else (parts,)))

        return value, back

    def pull_jvp(self, f: Any, primals: Any, tangents: Any) -> Any:
        d, bound, moving = self.of_jvp(f, primals, tangents)
        values = (*bound.values, *(tangents[k] for k in moving))
        value, back = self.halves(d, values)

        def pullback(value_bar: Any) -> Any:
            return self.jvp_cotangents(d, bound, moving, (f, primals, tangents), back(value_bar))

        return value, pullback

    def jvp_cotangents(self, d: Derivation, bound: Bound, moving: list[int], args: Any, by_name: dict[str, Any]) -> Any:
        """Cotangents of the arguments of ``jvp`` from those of the parameters of its derivation."""
        f, primals, tangents = args
        of_f, own, _ = by_call(f, bound, by_name, primals, {})
        dots = dict(zip(moving, (by_name.get(p, ZERO) for p in d.parameters[len(d.params) :])))
        return NO_TANGENT, [of_f, tuple(own), tuple(dots.get(k, NO_TANGENT) for k in range(len(tangents)))], {}

    def jvp_dots(self, d: Derivation, bound: Bound, moving: list[int], args: Any, arg_dots: Any) -> dict[str, Any]:
        """Tangents of the parameters of the derivation from those of the arguments of ``jvp``."""
        f, primals, _ = args
        f_dot, primal_dots, tangent_dots = arg_dots
        dots = self.dots_of(f, f_dot, bound, tuple(entry(primal_dots, k) for k in range(len(primals))), {})
        dots.update(zip(d.parameters[len(d.params) :], (entry(tangent_dots, k) for k in moving)))
        return dots

    def of_jvp(self, f: Any, primals: Any, tangents: Any) -> tuple[Derivation, Bound, list[int]]:
        if len(primals) != len(tangents):
            raise ArgumentError(f"jvp: {len(primals)} primals and {len(tangents)} tangents")
        bound = self.binder.bind(f, tuple(primals), {})
        for k, (x, dot) in enumerate(zip(primals, tangents)):
            tangent_for(dot, x, f"argument {k}")
        moving = [k for k, dot in enumerate(tangents) if dot is not None and not isinstance(dot, AbstractZero)]
        wanted = tuple(bound.own[k] for k in moving)
        return Derivation(bound.target, bound.owner, bound.names, "jvp", wanted, False), bound, moving

    def pull_of_map(self, fn: NestedMap, tangents: tuple[Any, ...]) -> Any:
        fn.around.check()
        (_, value), back = self.pull_jvp(fn.f, fn.args, tangents)

        def pullback(value_bar: Any) -> Any:
            return map_cotangents(back((ZERO, value_bar)))

        return value, pullback

    def pull_vjp(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], cls: type[NestedPullback] = NestedPullback
    ) -> Any:
        aux, kwargs = taken_aux(kwargs)
        value, back = self.world.puller.whole(f, args, kwargs)

        def pullback(found_bar: Any) -> Any:
            value_bar, pullback_bar = value_bar_of(found_bar, aux), entry(found_bar, 1)
            of_value = ZERO if isinstance(value_bar, AbstractZero) else back(value_bar)
            return vjp_cotangents(of_value, pullback_bar, aux, args, kwargs)

        return returned(value, cls(self, first_of(f, aux), args, kwargs), aux), pullback

    def pull_pullback(self, fn: NestedPullback, value_bar: Any) -> Any:
        d, bound = self.of_pullback(fn)
        found, back = self.halves(d, (*bound.values, value_bar))

        def pullback(bars_bar: Any) -> Any:
            return self.pullback_cotangents(d, bound, fn, back(self.disarranged(d, bound, bars_bar)))

        return self.arranged(d, bound, found), pullback

    def pullback_cotangents(self, d: Derivation, bound: Bound, fn: NestedPullback, by_name: dict[str, Any]) -> Any:
        """Cotangents of a pullback and of its argument from those of the parameters of its derivation."""
        of_f, own, _ = by_call(fn.f, bound, by_name, fn.args, {})
        return Tangent(NestedPullback, {"f": of_f, "args": tuple(own)}), [by_name.get(d.parameters[-1], ZERO)], {}

    def pullback_dots(
        self, d: Derivation, bound: Bound, fn: NestedPullback, fn_dot: Any, seed_dot: Any
    ) -> dict[str, Any]:
        own = entry(fn_dot, "args")
        dots = self.dots_of(fn.f, entry(fn_dot, "f"), bound, tuple(entry(own, k) for k in range(len(fn.args))), {})
        dots[d.parameters[-1]] = seed_dot
        return dots

    # ------------------------------------------------------------ matrices, column by column

    def pull_columns(self, spec: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A Jacobian or Hessian: each column is a ``jvp``."""
        if isinstance(spec.argnums, tuple):
            return self.pull_each(spec, args, kwargs)
        f = functools.partial(spec.f, **kwargs) if kwargs else spec.f
        found = [self.pull_jvp(f, args, dots) for dots in directions(args, spec.argnums)]
        x, y = args[spec.argnums], found[0][0][0]

        def pullback(value_bar: Any) -> Any:
            of_f: Any = NO_TANGENT
            own: list[Any] = [ZERO] * len(args)
            for k, (_, back) in enumerate(found):
                _, (f_bar, primal_bars, _), _ = back((ZERO, column(value_bar, y, k, x)))
                of_f = add(of_f, f_bar)
                own = [add(a, b) for a, b in zip(own, primal_bars)]
            return of_f, own, dict.fromkeys(kwargs, ZERO)

        return side_by_side([outward(v, y) for (_, v), _ in found], x), pullback

    def pull_each(self, spec: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """By several arguments, one after the other."""
        found = [self.pull_columns(one, args, kwargs) for one in spec.each()]

        def pullback(value_bar: Any) -> Any:
            of_f: Any = NO_TANGENT
            own: list[Any] = [ZERO] * len(args)
            bar = spec.turned(value_bar) if spec.product == "blocks" else value_bar
            for k, (_, back) in enumerate(found):
                f_bar, bars, _ = back(entry(bar, k))
                of_f, own = add(of_f, f_bar), [add(a, b) for a, b in zip(own, bars)]
            return of_f, own, dict.fromkeys(kwargs, ZERO)

        return spec.turned([value for value, _ in found]), pullback

    def push_columns(self, spec: Derivative, fn_dot: Any, args: Any, arg_dots: Any, kwargs: dict[str, Any]) -> Any:
        if isinstance(spec.argnums, tuple):
            each = [self.push_columns(one, fn_dot, args, arg_dots, kwargs) for one in spec.each()]
            return spec.turned([value for value, _ in each]), spec.turned([dot for _, dot in each])
        f = functools.partial(spec.f, **kwargs) if kwargs else spec.f
        f_dot = Tangent(functools.partial, {"func": fn_dot}) if kwargs else fn_dot
        x = args[spec.argnums]
        values, tangents = [], []
        for dots in directions(args, spec.argnums):
            d, bound, moving = self.of_jvp(f, args, dots)
            found = self.jvp_dots(d, bound, moving, (f, args, dots), (f_dot, arg_dots, (ZERO,) * len(args)))
            (y, value), both = self.dual(d, (*bound.values, *(dots[k] for k in moving)), found)
            values.append(outward(value, y))
            tangents.append(outward(entry(both, 1), y))
        return side_by_side(values, x), side_by_side(tangents, x, as_tangent=True)

    # ------------------------------------------------------------ forward mode

    def push(self, push: Any, fn: Any, fn_dot: Any, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
        """The value of a call and its tangent; ``push`` is the dispatch that has met it."""
        kind = getattr(fn, NESTED, None)
        if kind == "jvp":
            d, bound, moving = self.of_jvp(*args)
            dots = self.jvp_dots(d, bound, moving, args, arg_dots)
            return self.dual(d, (*bound.values, *(args[2][k] for k in moving)), dots)
        if kind in ("vjp", "linearize"):
            aux, kwargs = taken_aux(kwargs)
            f, given, named = held((args[0], tuple(args[1:]), kwargs))  # as they are before the call
            f_dot, dots = held((arg_dots[0], tuple(arg_dots[1:])))
            value, value_dot = push.whole(args[0], arg_dots[0], args[1:], arg_dots[1:], kwargs, kwarg_dots)
            made = (NestedPullback if kind == "vjp" else NestedMap)(self, first_of(f, aux), given, named)
            made_dot = Tangent(NestedPullback, {"f": first_dot(f_dot, aux), "args": dots})
            return returned(value, made, aux), returned(value_dot, made_dot, aux)
        if isinstance(fn, NestedMap):
            given, dots = map_call(fn, fn_dot, args, arg_dots)
            (_, value), both = self.push(push, PUBLIC["jvp"], ZERO, given, dots, {}, {})
            return value, entry(both, 1)
        if isinstance(fn, NestedPullback):
            d, bound = self.of_pullback(fn)
            dots = self.own(d, bound, self.pullback_dots(d, bound, fn, fn_dot, arg_dots[0]))
            value, value_dot = self.dual(d, self.own(d, bound, (*bound.values, args[0])), dots)
            value_dot = ZERO if isinstance(value_dot, AbstractZero) else self.arranged(d, bound, value_dot)
            return self.arranged(d, bound, value), value_dot
        spec: Derivative = fn.__thunkad_derivative__
        if spec.product in ("columns", "blocks"):
            return self.push_columns(spec, fn_dot, args, arg_dots, kwargs)
        d, bound = self.binder.derivation(spec, args, kwargs)
        return self.dual(d, bound.values, self.dots_of(spec.f, fn_dot, bound, arg_dots, kwarg_dots))

    def dots_of(self, f: Any, f_dot: Any, bound: Bound, arg_dots: Any, kwarg_dots: Any) -> dict[str, Any]:
        defaults = defaults_dot(f_dot)
        dots: dict[str, Any] = {p: defaults[p] for p in bound.defaulted if p in defaults}
        for (p, k), dot in (*zip(bound.fixed, fixed_dots(f, f_dot)), *zip(bound.own, arg_dots)):
            if k is None:
                dots[p] = dot
            else:
                dots[p] = (*dots.get(p, ()), dot)
        for name, dot in {**keyword_dots(f, f_dot), **kwarg_dots}.items():
            p, key = bound.keywords.get(name, (name, None))
            if key is None:
                dots[p] = dot
            else:
                dots[p] = {**dots.get(p, {}), key: dot}
        return dots

    def dual(self, d: Derivation, values: Any, dots: dict[str, Any]) -> Any:
        kinds = tuple(map(kind_of, values))
        demand = tuple(
            p
            for p, k in zip(d.parameters, kinds)
            if may_have_tangent(k) and not isinstance(dots.get(p, ZERO), AbstractZero)
        )
        if not demand:
            return self.value(d, tuple(values)), ZERO
        with self.world.lock:
            slot = self.world.forwarding.slot_for(d, None, kinds, demand)
        return slot.cell.cell_contents(*values, *(dots[p] for p in demand))


# ---------------------------------------------------------------- what ``vjp`` returns


def taken_aux(kwargs: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether ``has_aux`` is asked for, and the keywords that go to the function."""
    return bool(kwargs.get("has_aux", False)), {k: v for k, v in kwargs.items() if k != "has_aux"}


def first_of(f: Any, aux: bool) -> Any:
    return functools.partial(value_alone, f) if aux else f


def first_dot(f_dot: Any, aux: bool) -> Any:
    """The tangent of that from the tangent of ``f``."""
    return Tangent(functools.partial, {"args": (f_dot,)}) if aux and not isinstance(f_dot, AbstractZero) else f_dot


def returned(value: Any, made: Any, aux: bool) -> Any:
    """What ``vjp`` returns, or its tangent."""
    return (entry(value, 0), made, entry(value, 1)) if aux else (value, made)


def value_bar_of(found_bar: Any, aux: bool) -> Any:
    """The cotangent of the value of ``f`` from that of what ``vjp`` returns."""
    if not aux:
        return entry(found_bar, 0)
    parts = entry(found_bar, 0), entry(found_bar, 2)
    return ZERO if all(isinstance(p, AbstractZero) for p in parts) else parts


def vjp_cotangents(of_value: Any, pullback_bar: Any, aux: bool, args: Any, kwargs: Any) -> Any:
    """Cotangents of a call of ``vjp`` from those by the value of its function and that of the pullback."""
    of_f, own, named = NO_TANGENT, [ZERO] * len(args), dict.fromkeys(kwargs, ZERO)
    if not isinstance(of_value, AbstractZero):
        of_f, own, named = of_value
    if not isinstance(pullback_bar, AbstractZero):
        by_pullback = entry(pullback_bar, "f")
        of_f = add(of_f, entry(entry(by_pullback, "args"), 0) if aux else by_pullback)
        parts = entry(pullback_bar, "args")
        own = [add(a, entry(parts, k)) for k, a in enumerate(own)]
    return NO_TANGENT, [of_f, *own], named


def map_call(fn: Any, fn_dot: Any, tangents: Any, dots: Any) -> Any:
    """The arguments of ``jvp`` that a call of the map ``fn`` stands for, and their tangents."""
    fn.around.check()
    return (fn.f, fn.args, tangents), (entry(fn_dot, "f"), entry(fn_dot, "args"), dots)


def map_cotangents(of_jvp: Any) -> Any:
    """Cotangents of a call of a map from those of the call of ``jvp`` that it stands for."""
    if isinstance(of_jvp, AbstractZero):
        return of_jvp
    _, (of_f, own, tangents), _ = of_jvp
    return Tangent(NestedPullback, {"f": of_f, "args": own}), list(tangents), {}
