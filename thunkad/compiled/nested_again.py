"""Derivatives inside differentiated code whose function is found at run time, on bundles.

What :mod:`thunkad.compiled.pull_nested` does with values and tangents of first order, for tangents of any order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from thunkad.compiled.bundles import (
    Args,
    Bundle,
    Kwargs,
    at_places,
    constant,
    dense_in,
    named_values,
    part,
    unpacked,
    values,
)
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.nested import Bound, by_call
from thunkad.compiled.own_classes import operator_methods
from thunkad.compiled.pull_nested import (
    NestedMap,
    NestedPullback,
    first_dot,
    first_of,
    map_call,
    map_cotangents,
    returned,
    taken_aux,
    value_bar_of,
    vjp_cotangents,
)
from thunkad.errors import UnsupportedSyntaxError
from thunkad.kinds.lattice import may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.runtime.columns import column, directions, side_by_side
from thunkad.runtime.cotangents import add, entry
from thunkad.runtime.dots import outward
from thunkad.runtime.held import held
from thunkad.runtime.key_dots import check_keys_still
from thunkad.runtime.marks import NESTED, Derivative
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent

Back = Callable[[Bundle, Any], list[Any]]
Found = tuple[Bundle, Back]


class NestedAgain:
    """See the module's docstring; ``again`` dispatches what is called."""

    def __init__(self, again: Any) -> None:
        self.again, self.world = again, again.world

    # ------------------------------------------------------------ derivations on bundles

    def bundles_of(self, f: Bundle, bound: Bound, args: Args, kwargs: Kwargs) -> dict[str, Bundle]:
        """The bundles of the parameters of a derivation, from those of the call."""
        dots = [
            self.world.derivatives.dots_of(f[0], f_dot, bound, own, named)
            for f_dot, (own, named) in zip(f[1:], at_places(args, kwargs, len(f)))
        ]
        return {p: (v, *(d.get(p, ZERO) for d in dots)) for p, v in zip(bound.names, bound.values)}

    def value(self, d: Derivation, given: dict[str, Bundle]) -> Bundle:
        """The derivation on bundles by parameter."""
        found: Bundle = self.again.bundles.run(d, None, given, lambda *values: self.world.derivatives.value(d, values))
        return found

    def halves(self, d: Derivation, given: dict[str, Bundle]) -> tuple[Bundle, Back]:
        """The derivation, and a function from the bundle of its cotangent to cotangents by parameter."""
        demand = tuple(p for p, b in given.items() if may_have_tangent(kind_of(b[0])))
        kinds = tuple(kind_of(b[0]) for b in given.values())
        with self.world.lock:
            pair = self.world.pair_for(d, None, kinds, demand)
        both = self.again.bundles.run_slot(pair.forward, given)
        found, saved = part(both, 0), part(both, 1)
        params = [p.name for p in pair.reverse.function.params]

        def back(bars: Bundle, _: Any) -> list[Any]:
            bars = (dense_in(bars[0], found[0]), *bars[1:])
            parts = self.again.bundles.run_slot(pair.reverse, dict(zip(params, (saved, bars))))
            one = len(demand) == 1
            return [{} if isinstance(p, AbstractZero) else dict(zip(demand, (p,) if one else p)) for p in parts]

        return found, back

    # ------------------------------------------------------------ reverse mode

    def pull(self, pull: Any, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        """See :meth:`thunkad.compiled.pull_nested.Nested.pull`."""
        f = fn[0]
        what = getattr(f, NESTED, None)
        if what == "jvp":
            return self.pull_jvp(args[0], unpacked(args[1]), unpacked(args[2]))
        if what in ("vjp", "linearize"):
            return self.pull_vjp(what, args[0], args[1:], kwargs)
        if isinstance(f, NestedMap):
            found, back = self.pull_jvp(*bundles_of_map(fn, args))
            through = lambda bars, _: list(map(map_cotangents, back(tuple((ZERO, b) for b in bars), None)))
            return part(found, 1), through
        if isinstance(f, NestedPullback):
            return self.pull_pullback(fn, args[0])
        spec: Derivative = f.__thunkad_derivative__
        if spec.product in ("columns", "blocks"):
            return self.pull_columns(spec, fn, args, kwargs)
        d, bound = self.world.derivatives.binder.derivation(spec, values(args), named_values(kwargs))
        found, back = self.halves(d, self.bundles_of((spec.f, *fn[1:]), bound, args, kwargs))

        def by_place(bars: Bundle, _: Any) -> list[Any]:
            return [by_call(spec.f, bound, by_name, values(args), named_values(kwargs)) for by_name in back(bars, None)]

        return found, by_place

    def of_jvp(self, f: Bundle, primals: Args, tangents: Args) -> tuple[Derivation, Any, dict[str, Bundle]]:
        """``jvp(f, primals, tangents)``: the derivation, how its cotangents are arranged, its parameters."""
        nested = self.world.derivatives
        given = f[0], values(primals), values(tangents)
        d, bound, moving = nested.of_jvp(*given)
        by_name = self.bundles_of(f, bound, primals, {})
        dots = {p: tangents[k] for p, k in zip(d.parameters[len(d.params) :], moving)}

        def arranged(parts: dict[str, Any]) -> Any:
            return nested.jvp_cotangents(d, bound, moving, given, parts)

        return d, arranged, {**by_name, **dots}

    def pull_jvp(self, f: Bundle, primals: Args, tangents: Args) -> Found:
        d, arranged, given = self.of_jvp(f, primals, tangents)
        found, back = self.halves(d, given)
        return found, lambda bars, _: [arranged(by_name) for by_name in back(bars, None)]

    def pull_vjp(self, what: str, f: Bundle, args: Args, kwargs: Kwargs) -> Found:
        aux, kwargs = self.taken_aux(kwargs)
        made = self.made(what, f, args, kwargs, aux)
        found, back = self.again.whole(self.world.puller, f, args, kwargs)

        def through(bars: Bundle, _: Any) -> list[Any]:
            value_bars = tuple(value_bar_of(b, aux) for b in bars)
            out: list[Any] = [ZERO] * len(bars)
            if not all(isinstance(b, AbstractZero) for b in value_bars):
                out = back(value_bars, None)
            return [vjp_cotangents(p, entry(b, 1), aux, args, kwargs) for p, b in zip(out, bars)]

        return tuple(returned(value, m, aux) for value, m in zip(found, made)), through

    def taken_aux(self, kwargs: Kwargs) -> tuple[bool, Kwargs]:
        aux = taken_aux(named_values(kwargs))[0]
        return aux, {k: v for k, v in kwargs.items() if k != "has_aux"}

    def made(self, what: str, f: Bundle, args: Args, kwargs: Kwargs, aux: bool) -> Bundle:
        """The bundle of the pullback or the map that ``vjp`` or ``linearize`` returns."""
        places = [held((f[i], tuple(a[i] for a in args))) for i in range(len(f))]
        of, own = places[0]
        named = held(named_values(kwargs))
        made = (NestedPullback if what == "vjp" else NestedMap)(self.world.derivatives, first_of(of, aux), own, named)
        dots = (Tangent(NestedPullback, {"f": first_dot(f_dot, aux), "args": own}) for f_dot, own in places[1:])
        return (made, *dots)

    def of_pullback(self, fn: Bundle, seed: Bundle) -> tuple[Derivation, Bound, dict[str, Bundle]]:
        """The call of the pullback of a ``vjp``: the derivation and its parameters."""
        f: NestedPullback = fn[0]
        d, bound = self.world.derivatives.of_pullback(f)
        own = tuple((x, *(entry(entry(t, "args"), k) for t in fn[1:])) for k, x in enumerate(f.args))
        named = {k: constant(v, fn) for k, v in f.kwargs.items()}
        by_name = self.bundles_of((f.f, *(entry(t, "f") for t in fn[1:])), bound, own, named)
        return d, bound, {**by_name, d.parameters[-1]: seed}

    def pull_pullback(self, fn: Bundle, seed: Bundle) -> Found:
        nested = self.world.derivatives
        d, bound, given = self.of_pullback(fn, seed)
        found, back = self.halves(d, given)

        def through(bars: Bundle, _: Any) -> list[Any]:
            inner = tuple(ZERO if isinstance(b, AbstractZero) else nested.disarranged(d, bound, b) for b in bars)
            return [nested.pullback_cotangents(d, bound, fn[0], by_name) for by_name in back(inner, None)]

        return self.arranged(d, bound, found), through

    def arranged(self, d: Derivation, bound: Bound, found: Bundle) -> Bundle:
        nested = self.world.derivatives
        return tuple(ZERO if isinstance(p, AbstractZero) else nested.arranged(d, bound, p) for p in found)

    def pull_columns(self, spec: Derivative, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        if isinstance(spec.argnums, tuple):
            return self.pull_each(spec, fn, args, kwargs)
        f = of_columns(spec, fn, kwargs)
        x = args[spec.argnums][0]
        given = list(directions(values(args), spec.argnums))
        found = [self.pull_jvp(f, args, tuple(constant(t, fn) for t in dots)) for dots in given]

        y = found[0][0][0][0]

        def back(bars: Bundle, _: Any) -> list[Any]:
            out: list[Any] = [(NO_TANGENT, [ZERO] * len(args))] * len(bars)
            for k, (_, inner) in enumerate(found):
                one = tuple((ZERO, column(b, y, k, x)) for b in bars)
                for i, (_, parts, _) in enumerate(inner(one, None)):
                    of_f, own = out[i]
                    out[i] = add(of_f, parts[0]), [add(a, b) for a, b in zip(own, parts[1])]
            return [(of_f, own, dict.fromkeys(kwargs, ZERO)) for of_f, own in out]

        return columns([value for value, _ in found], x), back

    def pull_each(self, spec: Derivative, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        found = [self.pull_columns(one, fn, args, kwargs) for one in spec.each()]

        def back(bars: Bundle, _: Any) -> list[Any]:
            out: list[Any] = [(NO_TANGENT, [ZERO] * len(args))] * len(bars)
            turned = [spec.turned(b) if spec.product == "blocks" else b for b in bars]
            for k, (_, inner) in enumerate(found):
                for i, (f_bar, own_bars, _) in enumerate(inner(tuple(entry(b, k) for b in turned), None)):
                    of_f, own = out[i]
                    out[i] = add(of_f, f_bar), [add(a, b) for a, b in zip(own, own_bars)]
            return [(of_f, own, dict.fromkeys(kwargs, ZERO)) for of_f, own in out]

        return side_by_side_each(spec, [bundle for bundle, _ in found]), back

    # ------------------------------------------------------------ forward mode

    def push(self, push: Any, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        """See :meth:`thunkad.compiled.pull_nested.Nested.push`."""
        f = fn[0]
        what = getattr(f, NESTED, None)
        if what == "jvp":
            d, _, given = self.of_jvp(args[0], unpacked(args[1]), unpacked(args[2]))
            return self.value(d, given)
        if what in ("vjp", "linearize"):
            aux, kwargs = self.taken_aux(kwargs)
            made = self.made(what, args[0], args[1:], kwargs, aux)
            found = push.whole(args[0], args[1:], kwargs)
            return tuple(returned(value, m, aux) for value, m in zip(found, made))
        if isinstance(f, NestedMap):
            d, _, given = self.of_jvp(*bundles_of_map(fn, args))
            return part(self.value(d, given), 1)
        if isinstance(f, NestedPullback):
            d, bound, given = self.of_pullback(fn, args[0])
            return self.arranged(d, bound, self.value(d, self.world.derivatives.own(d, bound, given)))
        spec: Derivative = f.__thunkad_derivative__
        if spec.product in ("columns", "blocks"):
            return self.push_columns(spec, of_columns(spec, fn, kwargs), args)
        d, bound = self.world.derivatives.binder.derivation(spec, values(args), named_values(kwargs))
        return self.value(d, self.bundles_of((spec.f, *fn[1:]), bound, args, kwargs))

    def push_columns(self, spec: Derivative, fn: Bundle, args: Args) -> Bundle:
        if isinstance(spec.argnums, tuple):
            return side_by_side_each(spec, [self.push_columns(one, fn, args) for one in spec.each()])
        found = []
        for dots in directions(values(args), spec.argnums):
            d, _, given = self.of_jvp(fn, args, tuple(constant(t, fn) for t in dots))
            found.append(self.value(d, given))
        return columns(found, args[spec.argnums][0])

    # ------------------------------------------------------------ pullbacks of what has a rule

    def cotangents(self, fn: Bundle, args: Args, kwargs: Kwargs, seed: Bundle) -> list[Any]:
        """The cotangents of a whole call (callee, arguments, keywords), by the derivation of the callee."""
        for bundle in (fn, *args, *kwargs.values()):
            check_keys_still(bundle[1:])
        f, given, named = fn[0], values(args), named_values(kwargs)
        direct, _ = operator_methods(f, given)
        f = f if direct is None else direct
        bound = self.world.derivatives.binder.bind(f, given, named)
        by_name = self.bundles_of((f, *fn[1:]), bound, args, kwargs)
        picks = tuple((p, None) for p, b in by_name.items() if may_have_tangent(kind_of(b[0])))
        if not picks:
            return [ZERO] * len(fn)
        d = Derivation(bound.target, bound.owner, bound.names, "pull", picks, False)
        found = self.value(d, {**by_name, d.parameters[-1]: seed})

        def whole(parts: Any) -> Any:
            return by_call(f, bound, {p: entry(parts, k) for k, (p, _) in enumerate(picks)}, given, named)

        return [ZERO if isinstance(p, AbstractZero) else whole(p) for p in found]


def bundles_of_map(fn: Bundle, tangents: Args) -> tuple[Bundle, Args, Args]:
    """The arguments of ``jvp`` that a call of the map ``fn`` stands for."""
    places = [map_call(fn[0], t, (), ())[1][:2] for t in fn[1:]]
    f = (fn[0].f, *(of_f for of_f, _ in places))
    own = tuple((x, *(entry(parts, k) for _, parts in places)) for k, x in enumerate(fn[0].args))
    return f, own, tangents


def of_columns(spec: Derivative, fn: Bundle, kwargs: Kwargs) -> Bundle:
    """The function of which a Jacobian is taken, with its keywords fixed."""
    if not kwargs:
        return (spec.f, *fn[1:])
    if any(not isinstance(t, AbstractZero) for v in kwargs.values() for t in v[1:]):
        raise UnsupportedSyntaxError(
            "a derivative of a Jacobian for a keyword argument is not supported", hint="pass the argument by its place"
        )
    return (
        functools.partial(spec.f, **named_values(kwargs)),
        *(t if isinstance(t, AbstractZero) else Tangent(functools.partial, {"func": t}) for t in fn[1:]),
    )


def columns(found: list[Bundle], x: Any) -> Bundle:
    """Columns ``(value, tangent)`` of derivatives by ``x`` side by side, at each place of their bundles."""
    y = found[0][0][0]
    first = [outward(b[0][1], y) for b in found]
    dots = (side_by_side([outward(entry(b[i], 1), y) for b in found], x, True) for i in range(1, len(found[0])))
    return (side_by_side(first, x), *dots)


def side_by_side_each(spec: Derivative, found: list[Bundle]) -> Bundle:
    """Such columns by several arguments as one result."""
    return tuple(spec.turned(parts) for parts in zip(*found))
