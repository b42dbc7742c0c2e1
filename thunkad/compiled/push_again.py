"""Run-time dispatch of forward mode, differentiated again: calls of ``push`` on bundles of any order."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from thunkad.analysis.constructors import init_of, is_made_by_init
from thunkad.analysis.makers import maker_of
from thunkad.analysis.special import is_by_fields
from thunkad.analysis.stand_ins import stands_for
from thunkad.compiled.binding import bound_call
from thunkad.compiled.bundles import (
    Args,
    Bundle,
    Kwargs,
    at_places,
    bundle_kind,
    constant,
    moves,
    named_values,
    owner_of,
    partial_bundles,
    values,
)
from thunkad.compiled.dynamic import is_nested
from thunkad.compiled.load import lifted_of, slot_of
from thunkad.compiled.operators import as_operands, is_of_python, on_numbers
from thunkad.compiled.outcomes import push_attempt_again
from thunkad.compiled.own_classes import attribute_call, operator_methods, push_fields
from thunkad.compiled.refusals import changes_argument
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.calls import no_frule
from thunkad.forward.template import forward_template
from thunkad.kinds.lattice import is_hashable, may_have_tangent
from thunkad.normal.suspended_class import class_of
from thunkad.rules.entry import FRULE, Entry
from thunkad.runtime.chosen import bound_choice, built_in_owner
from thunkad.runtime.dot_changes import set_field
from thunkad.runtime.dots import field_dot
from thunkad.runtime.exceptions import attempt
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.runtime.sets import is_of_sets, merged_dots
from thunkad.runtime.using import Using, finds_some, handed
from thunkad.runtime.watching import unchanged
from thunkad.source.wrapped import python_function
from thunkad.tangents import Tangent
from thunkad.tree.parse import deep_recursion


class PushAgain:
    """See the module's docstring; one for each world."""

    def __init__(self, world: Any, shared: bool = False) -> None:
        self.world, self.foresees = world, shared  # whether callees may change arrays that they are given

    @property
    def pusher(self) -> Any:
        """The dispatch of first order."""
        forwarding = self.world.forwarding
        return forwarding.dispatch_shared if self.foresees else forwarding.pusher

    def whole(self, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        """``fn(*args, **kwargs)`` on bundles; the first order is that of :class:`thunkad.compiled.push.Push`."""
        if isinstance(fn[0], Using):
            with handed(fn) as callee:
                return self.whole(callee, args, kwargs)
        f, given, named = fn[0], values(args), named_values(kwargs)
        if len(fn) == 1:
            return (f(*given, **named),)
        if len(fn) == 2:
            dots, named_dots = tuple(a[1] for a in args), {k: v[1] for k, v in kwargs.items()}
            return self.pusher.whole(f, fn[1], given, dots, named, named_dots)  # type: ignore[no-any-return]
        redone = self.world.forwarding.redone
        if redone.knows(f):
            return redone.run(fn, args, kwargs)  # type: ignore[no-any-return]
        if not any(map(moves, (fn, *args, *kwargs.values()))) and not is_nested(f) and not finds_some():
            return constant(f(*given, **named), fn)
        if is_of_python(f, given):
            value = f(*given)
            ufunc = constant(on_numbers(f, given), fn)
            operands = tuple((x, *a[1:]) for x, a in zip(as_operands(value, given), args))
            with np.errstate(all="ignore"):
                return (value, *self.whole(ufunc, operands, {})[1:])
        if on_numbers(f, given) is not f:
            f = on_numbers(f, given)
            fn = constant(f, fn)
        if isinstance(f, functools.partial):
            inner, fixed, own = partial_bundles(fn)
            return self.whole(inner, (*fixed, *args), {**own, **kwargs})
        if isinstance(f, types.MethodType):
            return self.method(f.__func__, owner_of(fn), args, kwargs)
        owner = built_in_owner(f)
        if owner is not None:
            function = self.world.forwarding.array_member(f.__name__) if isinstance(owner, np.ndarray) else None
            function = function or getattr(type(owner), f.__name__, None)
            if function is not None:
                return self.method(function, owner_of(fn), args, kwargs)
        decision = self.world.late_lookup(f, given, named, FRULE) if is_hashable(f) else None
        how = "missing" if decision is None else decision.how
        if how == "rule":
            if decision.entry.kind != FRULE:
                raise no_frule(f, None)
            on_bundles = getattr(decision.entry.function, "on_bundles", None)
            if on_bundles is not None:
                return on_bundles(self, args, kwargs)  # type: ignore[no-any-return]
            return self.by_rule(decision.entry, fn, args, kwargs)
        if how == "constant":
            return constant(f(*given, **named), fn)
        if how == "alternative":
            return self.function(constant(decision.entry.function, fn), args, kwargs)
        return self.by_kind(fn, args, kwargs)

    def by_kind(self, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        f, given = fn[0], values(args)
        bound = bound_choice(f)
        if bound is not None and args:
            chosen = bound[0](type(given[0]))
            return self.whole(constant(chosen, fn), ((bound[1], *fn[1:]), *args), kwargs)
        if stands_for(f)[0] is not f:
            return self.whole((stands_for(f)[0], *fn[1:]), args, kwargs)
        if hasattr(f, MAP):
            return self.whole(constant(applied, fn), (fn, *args), kwargs)
        if f is super and len(args) == 2:
            return (super(*given), *args[1][1:])
        if f is attempt:
            return push_attempt_again(self, args, kwargs)
        if f is getattr or f is setattr:
            return self.attribute(fn, args)
        if is_by_fields(f):
            pusher, named = self.pusher, named_values(kwargs)
            places = at_places(args, kwargs, len(fn))
            found = [push_fields(pusher, f, given, dots, named, named_dots) for dots, named_dots in places]
            return (found[0][0], *(dot for _, dot in found))  # type: ignore[index, misc]
        if is_nested(f):
            return self.world.forwarding.pulled_again.nested.push(self, fn, args, kwargs)  # type: ignore[no-any-return]
        if isinstance(f, types.FunctionType):
            return self.function(fn, args, kwargs)
        wrapped = python_function(f)
        if wrapped is not None:
            return self.whole(constant(wrapped, fn), args, kwargs)
        direct, reflected = operator_methods(f, given)
        if direct is not None:
            result = self.whole(constant(direct, fn), args, {})
            if result[0] is not NotImplemented:
                return result
        if reflected is not None:
            return self.whole(constant(reflected, fn), args[::-1], {})
        if is_of_sets(f, given):
            value = f(*given)
            return (value, *(merged_dots(value, *((a[0], a[i]) for a in args)) for i in range(1, len(fn))))
        if isinstance(f, type):
            return self.construct(fn, args, kwargs)
        call = getattr(type(f), "__call__", None)  # noqa: B004 - the method itself is looked at
        if isinstance(call, types.FunctionType):
            return self.method(call, fn, args, kwargs)
        dots, named_dots = tuple(a[1] for a in args), {k: v[1] for k, v in kwargs.items()}
        push = self.pusher
        return push.by_kind(f, fn[1], given, dots, named_values(kwargs), named_dots)  # type: ignore[no-any-return]

    def method(self, function: Any, owner: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        return self.whole(constant(function, owner), (owner, *args), kwargs)

    def by_rule(self, rule: Entry, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        """A function with a rule: generated code that only calls it."""
        nested = self.world.derivatives
        bound = nested.binder.bind(fn[0], values(args), named_values(kwargs))
        given = self.world.forwarding.pulled_again.nested.bundles_of(fn, bound, args, kwargs)
        named = named_values(kwargs)
        target, owner = bound.target, bound.owner
        if target is fn[0] and forward_template(rule) is not None:  # a forward rule alone, which is pasted
            target, owner = self.world.own_function(target), None
        return self.world.forwarding.pulled_again.bundles.run(  # type: ignore[no-any-return]
            target, owner, given, lambda *_: fn[0](*values(args), **named)
        )

    def attribute(self, fn: Bundle, args: Args) -> Bundle:
        """``getattr`` and ``setattr``"""
        x, name, *rest = args
        if fn[0] is setattr:
            found = inspect.getattr_static(type(x[0]), name[0], None)
            if isinstance(found, property) and found.fset is not None:
                return self.whole(constant(found.fset, fn), (x, rest[0]), {})
            for t, dot in zip(x[1:], rest[0][1:]):
                set_field(t, name[0], dot, x[0], rest[0][0])
            setattr(x[0], name[0], rest[0][0])
            return constant(None, fn)
        if isinstance(x[0], (np.ndarray, np.generic)) and self.world.forwarding.array_attribute(name[0]) is not None:
            return self.whole(constant(self.world.forwarding.array_attribute(name[0]), fn), (x,), {})
        computed = attribute_call(values(args))
        if computed is not None:
            function, given, place = computed
            passed = tuple(x if k == place else constant(v, x) for k, v in enumerate(given))
            try:
                return self.whole(constant(function, fn), passed, {})
            except AttributeError:
                if not rest:
                    raise
        elif not rest or hasattr(x[0], name[0]):
            value = getattr(x[0], name[0])
            return (value, *(field_dot(t, name[0], x[0], value) for t in x[1:]))
        return rest[0]

    def function(self, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        """A Python function, compiled for the kinds of these arguments and for the tangents that there are."""
        f, given, named = fn[0], values(args), named_values(kwargs)
        lifted = self.world.lifted.get(lifted_of(f))
        if lifted is None and inspect.isgeneratorfunction(f):
            return self.construct(constant(class_of(f), fn), args, kwargs)
        slot = slot_of(f) if lifted is None else None
        if slot is not None:
            return self.world.forwarding.pulled_again.bundles.run_call(slot, args)  # type: ignore[no-any-return]
        if lifted is None and inspect.iscoroutinefunction(f):
            raise UnsupportedSyntaxError(f"{f.__name__} is a coroutine and can't be differentiated")
        again = self.world.forwarding.pulled_again
        signature = inspect.signature(f, follow_wrapped=False)
        by_name = again.by_parameter(signature, bound_call(signature, f, given, named).arguments, fn, args, kwargs)
        if lifted is None:
            kinds = tuple(bundle_kind(b[0]) for b in by_name.values())
            by_name |= self.world.variable_bundles(f, kinds, len(fn))
        by_name = {
            p: b if may_have_tangent(bundle_kind(b[0])) or any(isinstance(t, (list, dict)) for t in b[1:])
            else constant(b[0], b)
            for p, b in by_name.items()
        }  # fmt: skip
        target, owner = (f, f) if lifted is None else lifted
        with deep_recursion():
            blind = again.bundles.blind(target, owner, by_name, False)
            if self.foresees:  # arrays have tangents that are changed with them
                blind = [p for p in blind if any(not isinstance(t, np.ndarray) for t in by_name[p][1:])]
            run = lambda: again.bundles.run(target, owner, by_name, lambda *_: f(*given, **named))
            return unchanged(blind, by_name, run, functools.partial(changes_argument, f))  # type: ignore[no-any-return]

    def construct(self, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        cls, given, named = fn[0], values(args), named_values(kwargs)
        by_fields = hasattr(cls, "_fields") or cls in (functools.partial, types.SimpleNamespace)
        if not by_fields and is_made_by_init(cls):
            made = (object.__new__(cls), *(Tangent(cls) for _ in fn[1:]))
            self.function(constant(init_of(cls), fn), (made, *args), kwargs)
            return made
        maker = maker_of(cls, len(args), tuple(kwargs))
        if maker is not None:
            return self.whole((maker, *fn[1:]), args, kwargs)
        pusher, places = self.pusher, at_places(args, kwargs, len(fn))
        found = [pusher.construct(cls, given, dots, named, named_dots) for dots, named_dots in places]
        return (found[0][0], *(dot for _, dot in found))
