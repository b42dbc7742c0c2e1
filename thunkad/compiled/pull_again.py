"""Run-time dispatch of reverse mode, differentiated again: calls of ``pull`` and of its pullbacks on bundles.

A call does what :class:`thunkad.compiled.dynamic.Pull` does with the values.  Where that runs the two halves of a
compiled callee, forward mode over these halves is run; the pullback of a rule is the derivation of its function (see
:mod:`thunkad.compiled.derivations`), at copies of the arguments where they may be changed meanwhile.  All else only
hands values on, and hands on their tangents in the same way.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.constructors import init_of, is_made_by_init
from thunkad.analysis.makers import maker_of
from thunkad.analysis.special import is_by_fields
from thunkad.analysis.stand_ins import stands_for
from thunkad.analysis.views import returns_operand
from thunkad.compiled.binding import back_to_call, bound_call, parameters_at, places_given
from thunkad.compiled.bundles import (
    SHADOWS,
    Args,
    Back,
    Bundle,
    Bundles,
    Found,
    Kwargs,
    at_places,
    constant,
    linear,
    moves,
    named_values,
    nothing,
    owner_of,
    part,
    partial_bundles,
    rearranged,
    triple,
    unpacked,
    unpacked_named,
    values,
)
from thunkad.compiled.dynamic import Cotangents, Pull, Wrt, is_nested
from thunkad.compiled.load import lifted_of
from thunkad.compiled.nested_again import NestedAgain
from thunkad.compiled.operators import as_operands, is_of_python, on_numbers
from thunkad.compiled.outcomes import pull_attempt_again
from thunkad.compiled.own_classes import (
    is_operator_of_own,
    operator_methods,
)
from thunkad.compiled.own_classes_again import attribute, by_fields
from thunkad.compiled.refusals import changes_argument, writes_in_place
from thunkad.compiled.replay import refuse_surrogates
from thunkad.compiled.rules_again import is_as_it_stands, rule_itself, rule_of_library
from thunkad.compiled.shared import SharedPull, collected, fields_taken, is_made_of_fields
from thunkad.errors import UnsupportedSyntaxError
from thunkad.kinds.lattice import UNKNOWN, Tuple, is_hashable, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.kinds.variables import is_shared
from thunkad.normal.suspended_class import class_of
from thunkad.rules.entry import Entry, name_of
from thunkad.runtime.chosen import bound_choice, built_in_owner
from thunkad.runtime.complex import is_real_number, real_part
from thunkad.runtime.cotangents import add
from thunkad.runtime.dots import defaults_dot
from thunkad.runtime.exceptions import attempt
from thunkad.runtime.held import held
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.runtime.sets import is_of_sets, merged_dots, operand_bars
from thunkad.runtime.shadows import VALUES, Shadows, then
from thunkad.runtime.sharing import check_fresh
from thunkad.runtime.using import Using, handed
from thunkad.runtime.watching import parted, unchanged
from thunkad.source.wrapped import python_function
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent, resolved, unthunk
from thunkad.tree.parse import deep_recursion


class Handed:
    """A pullback that ``pull`` returned, or what undoes a change, on bundles of a cotangent and of shadows."""

    __slots__ = ("run",)
    passes = True  # made by a call and gone with it: nobody registers anything for it

    def __init__(self, run: Callable[..., Bundle]) -> None:
        self.run = run


class PullAgain:
    """See the module's docstring; one for each world."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.bundles = Bundles(world)
        self.nested = NestedAgain(self)

    # ------------------------------------------------------------ what generated code calls

    def call(self, pull: Pull, fn: Bundle, wrt: Any, args: Args, kwargs: Kwargs) -> Bundle:
        """``Pull.call``"""
        found, back = self.whole(pull, fn, args, kwargs, frozenset(wrt))

        def arranged(parts: Any) -> Any:
            if isinstance(parts, AbstractZero):
                return (ZERO,) * len(wrt)
            of_callee, own, named = parts
            return tuple(of_callee if w is None else own[w] if isinstance(w, int) else named.get(w, ZERO) for w in wrt)

        return self.handed(found, back, arranged)

    def packed(self, pull: Pull, fn: Bundle, args: Bundle, kwargs: Bundle) -> Bundle:
        """``Pull.packed``"""
        found, back = self.whole(pull, fn, unpacked(args), unpacked_named(kwargs))

        def arranged(parts: Any) -> Any:
            if isinstance(parts, AbstractZero):
                return ZERO, ZERO, ZERO
            return parts[0], tuple(parts[1]), parts[2]

        return self.handed(found, back, arranged)

    def handed(self, found: Bundle, back: Back, arranged: Callable[[Any], Any]) -> Bundle:
        """The bundle of the pair of a value and its pullback."""

        def run(bars: Bundle, shadows: Bundle | None = None) -> Bundle:
            bars = tuple(resolved(unthunk(b)) for b in bars)
            if shadows is None and all(isinstance(b, AbstractZero) for b in bars):
                return tuple(arranged(ZERO) for _ in bars)
            return tuple(resolved(arranged(parts)) for parts in back(bars, shadows))

        made = Tangent(Handed, {"run": True})  # so that the calls of it are on bundles of the same order
        return tuple((v, made if i else Handed(run)) for i, v in enumerate(found))

    # ------------------------------------------------------------ dispatch on what the callee is

    def whole(self, pull: Pull, fn: Bundle, args: Args, kwargs: Kwargs, wrt: Wrt = None) -> Found:
        """See :meth:`Pull.whole`."""
        if isinstance(fn[0], Using):
            with handed(fn) as callee:
                return self.whole(pull, callee, args, kwargs, wrt)
        f, given = fn[0], values(args)
        if is_of_python(f, given):
            return self.on_python_numbers(pull, fn, args)
        if on_numbers(f, given) is not f:
            f = on_numbers(f, given)
            fn = constant(f, fn)
        if isinstance(f, functools.partial):
            return self.partial(pull, fn, args, kwargs)
        if isinstance(f, types.MethodType):
            return self.method(pull, f.__func__, owner_of(fn), args, kwargs, wrt)
        owner = built_in_owner(f)
        if owner is not None:
            function = self.world.array_member(f.__name__) if isinstance(owner, np.ndarray) else None
            function = function or getattr(type(owner), f.__name__, None)
            if function is not None:
                return self.method(pull, function, owner_of(fn), args, kwargs)
        if is_operator_of_own(f, given):
            found = self.operator(pull, fn, args)
            if found is not None:
                return found
        decision = self.world.late_lookup(f, given, named_values(kwargs)) if is_hashable(f) else None
        if decision is not None and decision.how == "rule":
            found = self.rule(pull, decision.entry, fn, args, kwargs)
            if found is not None:
                return found
        if decision is not None and decision.how == "constant":
            return constant(f(*given, **named_values(kwargs)), fn), nothing(args)
        if decision is not None and decision.how == "alternative":
            body = constant(decision.entry.function, fn)
            return self.function(pull, body, args, kwargs, places_given(args, kwargs, wrt))
        return self.by_kind(pull, fn, args, kwargs, wrt)

    def on_python_numbers(self, pull: Pull, fn: Bundle, args: Args) -> Found:
        value = fn[0](*values(args))
        if not any(isinstance(a[0], (float, complex)) for a in args):
            return constant(value, fn), nothing(args)
        ufunc = on_numbers(fn[0], values(args))
        given = tuple((x, *a[1:]) for x, a in zip(as_operands(value, values(args)), args))
        with np.errstate(all="ignore"):
            found, back = self.whole(pull, constant(ufunc, fn), given, {})
        return (value, *found[1:]), back

    def by_kind(self, pull: Pull, fn: Bundle, args: Args, kwargs: Kwargs, wrt: Wrt) -> Found:
        f, given = fn[0], values(args)
        shared = isinstance(pull, SharedPull)
        bound = bound_choice(f)
        if bound is not None and args:
            return self.method(pull, bound[0](type(given[0])), (bound[1], *fn[1:]), args, kwargs, wrt)
        if stands_for(f)[0] is not f:
            return self.whole(pull, (stands_for(f)[0], *fn[1:]), args, kwargs, wrt)
        if f is attempt:
            return pull_attempt_again(self, pull, args, kwargs)
        if f is getattr or f is setattr:
            return attribute(self, pull, shared, fn, args)
        if is_by_fields(f):
            found = by_fields(self, fn, args, kwargs)
            return self.taking(*found, args, kwargs) if shared else found
        if is_nested(f):
            if pull.kept:
                fn, args, kwargs = held_bundles(fn, args, kwargs)
            found = self.nested.pull(pull, fn, args, kwargs)
            return self.taking(*found, args, kwargs) if shared else found
        if hasattr(f, MAP):
            return self.method(pull, applied, fn, args, kwargs)
        if isinstance(f, types.FunctionType):
            return self.function(pull, fn, args, kwargs, wrt)
        wrapped = python_function(f)
        if wrapped is not None:
            return self.whole(pull, constant(wrapped, fn), args, kwargs)
        special = self.operator(pull, fn, args)
        if special is not None:
            return special
        if is_of_sets(f, given):
            value = f(*given)
            dots = (merged_dots(value, *((a[0], a[i]) for a in args)) for i in range(1, len(fn)))
            return (value, *dots), lambda bars, _: [(NO_TANGENT, operand_bars(bar, value, given), {}) for bar in bars]
        if isinstance(f, type):
            return self.construct(pull, fn, args, kwargs)
        call = getattr(type(f), "__call__", None)  # noqa: B004 - the method itself is looked at
        if isinstance(call, types.FunctionType):
            return self.method(pull, call, fn, args, kwargs)
        value, _ = pull.by_kind(f, given, named_values(kwargs))  # a constant, or an error
        return constant(value, fn), nothing(args)

    # ------------------------------------------------------------ callees that hand on

    def partial(self, pull: Pull, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        f = fn[0]
        inner, fixed, own = partial_bundles(fn)
        found, back = self.whole(pull, inner, (*fixed, *args), {**own, **kwargs})

        def through(parts: Any) -> Cotangents:
            of_callee, of_args, of_kwargs = parts
            held = {k: v for k, v in of_kwargs.items() if k in f.keywords and k not in kwargs}
            fields = {"func": of_callee, "args": tuple(of_args[: len(fixed)]), "keywords": held}
            rest = {k: v for k, v in of_kwargs.items() if k in kwargs}
            return Tangent(functools.partial, fields), of_args[len(fixed) :], rest

        return found, rearranged(back, through)

    def method(self, pull: Pull, function: Any, owner: Bundle, args: Args, kwargs: Kwargs, wrt: Wrt = None) -> Found:
        if wrt is not None:
            wrt = frozenset(0 if w is None else w + 1 if isinstance(w, int) else w for w in wrt)
        found, back = self.whole(pull, constant(function, owner), (owner, *args), kwargs, wrt)
        return found, rearranged(back, lambda parts: (parts[1][0], parts[1][1:], parts[2]))

    def operator(self, pull: Pull, fn: Bundle, args: Args) -> Found | None:
        direct, reflected = operator_methods(fn[0], values(args))
        if direct is not None:
            found = self.whole(pull, constant(direct, fn), args, {})
            if found[0][0] is not NotImplemented:
                return found
        if reflected is None:
            return None
        swapped, back = self.whole(pull, constant(reflected, fn), args[::-1], {})
        return swapped, rearranged(back, lambda parts: (parts[0], parts[1][::-1], parts[2]))

    def construct(self, pull: Pull, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        cls, given, named = fn[0], values(args), named_values(kwargs)
        plain = hasattr(cls, "_fields") or cls in (functools.partial, types.SimpleNamespace)
        carries = any(may_have_tangent(kind_of(v)) for v in (*given, *named.values()))
        if not plain and carries and is_made_by_init(cls):
            shared = self.world.dispatch_shared
            if isinstance(pull, SharedPull):
                return self.made_by_init(pull, fn, args, kwargs)
            return self.privately(lambda: self.made_by_init(shared, fn, args, kwargs), args, kwargs)
        maker = maker_of(cls, len(args), tuple(kwargs))
        if maker is not None:
            return self.whole(pull, (maker, *fn[1:]), args, kwargs)
        if cls is super and len(given) == 2:
            found = (super(*given), *args[1][1:])
            return found, lambda bars, _: [(NO_TANGENT, [NO_TANGENT, bar], {}) for bar in bars]
        value, back = Pull.construct(pull, cls, given, named)
        dots: list[Any] = [ZERO] * (len(fn) - 1)
        if any(map(moves, (*args, *kwargs.values()))):
            push, places = self.world.forwarding.pusher, at_places(args, kwargs, len(fn))
            dots = [push.construct(cls, given, own, named, own_named)[1] for own, own_named in places]
        if not isinstance(pull, SharedPull) or not is_made_of_fields(value):
            return (value, *dots), linear(back)
        return (value, *dots), lambda bars, shadows: [
            back(fields_taken(s, value, bar)) for s, bar in zip(shadows, bars)
        ]

    def made_by_init(self, pull: Any, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
        cls = fn[0]
        made = (object.__new__(cls), *(Tangent(cls) for _ in fn[1:]))
        _, back = self.whole(pull, constant(init_of(cls), fn), (made, *args), kwargs)

        def through(bars: Bundle, shadows: Any) -> list[Any]:
            for bar, s in zip(bars, shadows):
                if not isinstance(unthunk(bar), AbstractZero):
                    s.add(made[0], bar)
            return [(NO_TANGENT, p[1][1:], p[2]) for p in map(triple(args), back((ZERO,) * len(bars), shadows))]

        return made, through

    # ------------------------------------------------------------ rules

    def rule(self, pull: Pull, rule: Entry, fn: Bundle, args: Args, kwargs: Kwargs) -> Found | None:
        given, named = values(args), named_values(kwargs)
        shared = isinstance(pull, SharedPull)
        if is_as_it_stands(rule) and any(map(moves, (*args, *kwargs.values()))):
            found = rule_itself(self, pull, rule, fn, args, kwargs)
        else:
            plain = Pull.rule(pull, rule, given, named)
            if plain is None:
                return None
            found = rule_of_library(self, pull, rule, fn, args, kwargs, *plain)
        if not shared:
            return found
        views = rule.layer == "library" and returns_operand(rule.target)
        return self.taking(*found, args, kwargs, views)

    # ------------------------------------------------------------ compiled callees

    def function(self, pull: Pull, fn: Bundle, args: Args, kwargs: Kwargs, wrt: Wrt = None) -> Found:
        """A Python function, or one that was made inside a compiled one: both halves of it in forward mode."""
        f, given, named = fn[0], values(args), named_values(kwargs)
        lifted = self.world.lifted.get(lifted_of(f))
        if lifted is None and inspect.isgeneratorfunction(f):
            return self.whole(pull, constant(class_of(f), fn), args, kwargs)
        if lifted is None and f.__code__.co_filename.startswith("<thunkad "):
            raise UnsupportedSyntaxError(
                f"a second derivative through {f.__name__}, which was compiled for a derivative, is not supported"
            )
        if lifted is None and inspect.iscoroutinefunction(f):
            raise UnsupportedSyntaxError(f"{name_of(f)} is a coroutine and can't be differentiated")
        signature = inspect.signature(f, follow_wrapped=False)
        bound = bound_call(signature, f, given, named)
        by_name = self.by_parameter(signature, bound.arguments, fn, args, kwargs)
        shared: tuple[str, ...] = ()
        if lifted is None:
            own = pull.kinds_of(b[0] for b in by_name.values())
            shared = self.world.used_variables(f, own, isinstance(pull, SharedPull))
            by_name |= self.world.variable_bundles(f, own, len(fn))
        if not by_name:  # it is given nothing and has captured nothing
            return constant(f(), fn), nothing(args)
        names = tuple(by_name)
        kinds = pull.kinds_of(b[0] for b in by_name.values())
        target, owner = (f, None) if lifted is None else lifted
        wanted = None if wrt is None or lifted is not None else parameters_at(signature, len(args), named, wrt)
        may = (p for p, k in zip(names, kinds) if may_have_tangent(k) and (lifted is not None or not is_shared(k)))
        demand = (*(p for p in may if wanted is None or p in wanted), *shared)
        if lifted is None and not demand and not self.world.target_reads_captured(f, None, kinds):
            return self.world.forwarding.pushed_again.whole(fn, args, kwargs), nothing(args)
        with self.world.lock, deep_recursion():
            pair = pull.pair_for(target, owner, kinds, demand, names)
        refuse_surrogates(self.world)
        if pull.is_private(pair, f):
            given, named = parted(given, named)
            args = tuple((x, *a[1:]) for x, a in zip(given, args))
            kwargs = {k: (named[k], *v[1:]) for k, v in kwargs.items()}
            watched = bound_call(signature, f, given, named).arguments
            call = functools.partial(self.function, self.world.dispatch_shared, fn, args, kwargs, wrt)
            private = functools.partial(self.privately, call, args, kwargs)
            return unchanged(pair.changed, watched, private, functools.partial(writes_in_place, f))
        run = functools.partial(self.halves, pull, pair, dict(zip(names, kinds)), by_name, demand)
        blind = self.bundles.blind(target, owner or f, by_name, True)
        found, back = unchanged(blind, by_name, run, functools.partial(changes_argument, f))
        packed = {k: v for k, v in bound.arguments.items() if signature.parameters[k].kind.name.startswith("VAR_")}
        absent = {p for p in names if p not in signature.bind(*given, **named).arguments}

        def through(bars: Bundle, shadows: Any) -> list[Any]:
            out = []
            for i, bar_by_name in enumerate(back(bars, shadows)):
                if isinstance(bar_by_name, AbstractZero):
                    bar_by_name = {}
                if shadows is not None:
                    for p, v in packed.items():
                        if p in demand:
                            bar_by_name[p] = add(bar_by_name.get(p, ZERO), shadows[i].numbers(v, ZERO))
                defaults = {p: bar_by_name[p] for p in absent if p in bar_by_name}
                of_callee = Tangent(types.FunctionType, {"defaults": defaults}) if defaults else NO_TANGENT
                out.append((of_callee, *back_to_call(signature, bar_by_name, given, named)))
            return out

        return found, through

    def by_parameter(self, signature: Any, bound: dict[str, Any], fn: Bundle, args: Args, kwargs: Kwargs) -> Any:
        """The bundles of the parameters; tangents of defaults are those of the function."""
        dots = []
        for i in range(1, len(fn)):
            given = tuple(a[i] for a in args)
            found = signature.bind_partial(*given, **{k: v[i] for k, v in kwargs.items()}).arguments
            dots.append({**defaults_dot(fn[i]), **found})
        return {p: (v, *(d.get(p, ZERO) for d in dots)) for p, v in bound.items()}

    def halves(
        self, pull: Pull, pair: Any, kinds: dict[str, Any], given: dict[str, Bundle], demand: tuple[str, ...]
    ) -> tuple[Bundle, Callable[[Bundle, Any], list[Any]]]:
        """The value that the forward half gives, and the reverse half: from a cotangent to those by parameter."""
        if pair.notes:
            raised = pair.forward.function.params[0].name
            kinds = {raised: UNKNOWN, **kinds}
            given = {raised: (pull.raised, *(ZERO,) * (len(next(iter(given.values()))) - 1)), **given}
        both = self.bundles.run_slot(pair.forward, given, kinds)
        found, saved = part(both, 0), part(both, 1)
        real = is_real_number(found[0])
        result = self.world.forwarding.compiled_result_kind(pair.forward, tuple(kinds.values()))
        saved_kind = result.items[1] if isinstance(result, Tuple) and len(result.items) == 2 else UNKNOWN
        params = [p.name for p in pair.reverse.function.params]

        def reverse(bars: Bundle, shadows: Any) -> list[Any]:
            bars = tuple(real_part(b) if real else b for b in bars)
            passed = dict(zip(params, (saved, bars, shadows)))
            known = dict(zip(params, (saved_kind, kind_of(bars[0]), SHADOWS)))
            parts = self.bundles.run_slot(pair.reverse, passed, {p: known[p] for p in passed})
            named = [p for p in demand if p not in pair.shadowed] if shadows is not None else list(demand)
            one = len(named) == 1
            return [ZERO if isinstance(p, AbstractZero) else dict(zip(named, (p,) if one else p)) for p in parts]

        return found, reverse

    # ------------------------------------------------------------ shadows

    def taking(self, found: Bundle, back: Back, args: Args, kwargs: Kwargs, views: bool = False) -> Found:
        """See :meth:`SharedPull.taking`."""
        value = found[0]
        if not views:
            check_fresh(value, *values(args), *named_values(kwargs).values())

        def taken(bars: Bundle, shadows: Any) -> list[Any]:
            bars = tuple(resolved(unthunk(s.take(value, bar))) for s, bar in zip(shadows, bars))
            if all(isinstance(b, AbstractZero) for b in bars):
                return [ZERO] * len(bars)
            return back(bars, None)

        return found, taken

    def privately(self, call: Callable[[], Found], args: Args, kwargs: Kwargs) -> Found:
        """See :meth:`SharedPull.privately`."""
        found, back = call()
        value, made = found[0], then(found[0])

        def through(bars: Bundle, _: Any) -> list[Any]:
            shadows = tuple(Shadows() for _ in bars)
            if not isinstance(value, (*VALUES, type(None))):
                for s, bar in zip(shadows, bars):
                    s.expect(made)
                    s.add(made, bar)
                bars = (ZERO,) * len(bars)
            out = []
            for s, parts in zip(shadows, map(triple(args), back(bars, shadows))):
                of_callee, of_args, of_kwargs = parts
                seen: dict[int, Any] = {}
                own = [of_args[k] if k < len(of_args) else ZERO for k in range(len(args))]
                whole = [collected(s, a[0], own[k], seen) for k, a in enumerate(args)]
                named = {k: collected(s, v[0], of_kwargs.get(k, ZERO), seen) for k, v in kwargs.items()}
                out.append((of_callee, whole, named))
            return out

        return found, through


def held_bundles(fn: Bundle, args: Args, kwargs: Kwargs) -> tuple[Bundle, Args, Kwargs]:
    """A call as it is now; at each place of the bundles what shares memory still does."""
    places = [held((fn[i], [a[i] for a in args], {k: v[i] for k, v in kwargs.items()})) for i in range(len(fn))]
    own = tuple(tuple(p[1][k] for p in places) for k in range(len(args)))
    return tuple(p[0] for p in places), own, {k: tuple(p[2][k] for p in places) for k in kwargs}
