"""Run-time dispatch differentiated again: forward mode over calls of ``pull``, of its pullbacks, and of ``push``.

What such a call does is known: it takes a derivative of a callee that is there now.  So it is the derivation of that
callee (see :mod:`thunkad.compiled.derivations`), and the dispatcher's own code is never looked at.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from thunkad.analysis.constructors import is_made_by_init
from thunkad.analysis.special import is_by_fields
from thunkad.analysis.stand_ins import is_made_anew, making, stands_for
from thunkad.compiled import push_updates_redone, updates_redone
from thunkad.compiled.derivations import Derivation
from thunkad.compiled.nested import NESTED, Bound, by_call
from thunkad.compiled.own_classes import attribute_call, operator_methods
from thunkad.compiled.pull_nested import NestedPullback, linearized
from thunkad.errors import UnsupportedSyntaxError
from thunkad.kinds.lattice import may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.results import cotangents, value_and_pullback
from thunkad.rules.template import template_of
from thunkad.runtime.chosen import bound_choice
from thunkad.runtime.cotangents import add, dense, entry
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent, resolved, unthunk


class Pulled:
    """A pullback that ``pull`` returned, with what it is the pullback of.  ``wrt`` is None for packed arguments.

    With a ``rule``, ``fn`` is the pullback that the rule returned.
    """

    passes = True

    def __init__(
        self, pullback: Any, fn: Any, wrt: Any, args: tuple[Any, ...], kwargs: dict[str, Any], rule: Entry | None = None
    ) -> None:
        self.pullback, self.fn, self.wrt, self.args, self.kwargs = pullback, fn, wrt, args, kwargs
        self.rule = rule

    def __call__(self, value_bar: Any) -> Any:
        return self.pullback(value_bar)


class Redone:
    """See the module's docstring; one for each world."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def push(self, fn: Any, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
        """Forward mode over a method of a dispatcher."""
        what = fn.__func__.__qualname__
        if what == "Pull.call":
            callee, wrt, *rest = args
            rule = self.rule_of(callee, tuple(rest), kwargs)
            if rule is not None:
                return self.push_rule(rule, wrt, tuple(rest), tuple(arg_dots[2:]))
            value, pullback = fn(*args, **kwargs)
            found = self.tangent(callee, arg_dots[0], tuple(rest), tuple(arg_dots[2:]), kwargs, kwarg_dots)
            made = Pulled(pullback, callee, wrt, tuple(rest), kwargs)
            dot = Tangent(Pulled, {"f": arg_dots[0], "args": tuple(arg_dots[2:]), "kwargs": kwarg_dots})
            return (value, made), (found, dot)
        if what == "Pull.packed":
            callee, inner, named = args
            rule = self.rule_of(callee, tuple(inner), named)
            if rule is not None:
                return self.push_rule(rule, None, tuple(inner), tuple(entry(arg_dots[1], k) for k in range(len(inner))))
            value, pullback = fn(*args)
            dots = tuple(entry(arg_dots[1], k) for k in range(len(inner)))
            named_dots = {k: entry(arg_dots[2], k) for k in named}
            found = self.tangent(callee, arg_dots[0], tuple(inner), dots, named, named_dots)
            dot = Tangent(Pulled, {"f": arg_dots[0], "args": dots, "kwargs": named_dots})
            return (value, Pulled(pullback, callee, None, tuple(inner), dict(named))), (found, dot)
        if what == "Push.call":
            return self.push_push(args, arg_dots, kwargs, kwarg_dots)
        if what in ("Pull.change", "Pull.update", "Pull.update_entry", "Pull.update_attribute"):
            return updates_redone.again(self, what, fn, args, arg_dots)
        if what.startswith("Push."):
            return push_updates_redone.again(self, what, fn, args, arg_dots)
        raise UnsupportedSyntaxError(f"forward mode over {what} is not supported")

    def rule_of(self, fn: Any, args: Any, kwargs: Any) -> Entry | None:
        """The reverse rule of ``fn`` if it is one that is called as it stands, not pasted."""
        if isinstance(fn, functools.partial):
            fn, args, kwargs = fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}
            inside = True
        elif isinstance(fn, types.MethodType):
            fn, args, inside = fn.__func__, (fn.__self__, *args), True
        else:
            inside = False
        if not isinstance(fn, types.FunctionType):
            return None
        decision = self.world.late_lookup(fn, args, kwargs)
        if decision.how != "rule" or (decision.entry.layer != "user" and not decision.entry.wants_ad()):
            return None
        if template_of(decision.entry) is not None:
            return None
        if getattr(decision.entry.function, "first_order_only", False):
            raise UnsupportedSyntaxError(
                f"a second derivative through {name_of(fn)}, whose rule is numerical, is not supported",
                hint="write a rule for it with thunkad.rrule",
            )
        if decision.entry.wants_ad() or inside or kwargs:
            why = "takes derivatives itself" if decision.entry.wants_ad() else "is called when the code runs"
            raise UnsupportedSyntaxError(
                f"a second derivative through {name_of(fn)}, whose rule {why}, is not supported",
                hint="opt out of the rule (thunkad.opt_out), so that the function itself is looked into"
                if decision.entry.wants_ad()
                else "call the function by its name, with positional arguments",
            )
        return decision.entry

    def push_rule(self, rule: Entry, wrt: Any, args: Any, arg_dots: Any) -> Any:
        """Forward mode over the rule itself: over its value, and later over its pullback."""
        both, dots = self.world.forwarding.pusher.function(rule.function, args, arg_dots, {}, {})
        if both is None:
            raise UnsupportedSyntaxError(f"a second derivative through {name_of(rule.target)}, whose rule says None")
        value, back = value_and_pullback(rule, both)
        made = Pulled(lambda value_bar: arranged_by_rule(rule, wrt, args, back(value_bar)), back, wrt, args, {}, rule)
        return (value, made), (dense(entry(dots, 0), value), Tangent(Pulled, {"back": entry(dots, 1)}))

    def tangent(self, fn: Any, fn_dot: Any, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
        return self.world.forwarding.pusher.whole(fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)[1]

    def bind(self, fn: Any, args: Any, kwargs: Any) -> tuple[Any, Bound, tuple[Any, ...]]:
        """The callee in the form that has code, and its arguments bound; owners of methods become arguments."""
        name = getattr(fn, "__name__", "").strip("_")
        if getattr(fn, "__module__", None) in ("_operator", "operator"):
            direct, reflected = operator_methods(fn, args)
            if direct is None and reflected is not None:
                raise own_again(f"the operator {name} of {type(args[-1]).__qualname__}")
            fn = fn if direct is None else direct
        elif fn is getattr or is_by_fields(fn):
            raise own_again(f"{fn.__name__}()")
        fn = self.written_out(fn, args, kwargs)
        nested = self.world.derivatives
        return fn, nested.binder.bind(fn, args, kwargs), args

    def written_out(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """The body that stands in for ``fn``, if there is one."""
        owner: tuple[Any, ...] = ()
        bound = bound_choice(fn)
        fn = types.MethodType(bound[0](type(args[0])), bound[1]) if bound is not None else stands_for(fn)[0]
        inner = fn
        if isinstance(fn, types.MethodType):
            inner, owner = fn.__func__, (fn.__self__,)
        elif not isinstance(fn, types.FunctionType):
            inner, owner = getattr(type(fn), "__call__", None), (fn,)  # noqa: B004 - the method itself is looked at
        if not isinstance(inner, types.FunctionType):
            return fn
        decision = self.world.late_lookup(inner, (*owner, *args), kwargs)
        if decision.how != "alternative":
            return fn
        body = decision.entry.function
        return types.MethodType(body, owner[0]) if owner else body

    def push_pulled(self, fn: Pulled, fn_dot: Any, seed: Any, seed_dot: Any) -> Any:
        """The cotangents that a pullback gives, and their tangents."""
        if fn.rule is not None:
            push = self.world.forwarding.pusher.whole
            parts, dots = push(fn.fn, entry(fn_dot, "back"), (seed,), (seed_dot,), {}, {})
            bars = resolved(arranged_by_rule(fn.rule, fn.wrt, fn.args, parts))
            if isinstance(dots, AbstractZero):
                return bars, ZERO
            return bars, resolved(arranged_by_rule(fn.rule, fn.wrt, fn.args, dots))
        bars = resolved(fn.pullback(seed))
        if isinstance(seed, AbstractZero):
            return bars, ZERO if isinstance(seed_dot, AbstractZero) else resolved(fn.pullback(seed_dot))
        made = isinstance(fn.fn, type) and not is_made_by_init(fn.fn)
        if made or _joins(fn.fn, fn.args) or is_linear(fn.fn, fn.args):  # of nothing but the seed
            return bars, ZERO if isinstance(seed_dot, AbstractZero) else resolved(fn.pullback(seed_dot))
        callee, args, kwargs, arg_dots, f_dot = fn.fn, fn.args, fn.kwargs, entry(fn_dot, "args"), entry(fn_dot, "f")
        dots = tuple(entry(arg_dots, k) for k in range(len(args)))
        named = {k: entry(entry(fn_dot, "kwargs"), k) for k in kwargs}
        owner = getattr(callee, "__self__", None)
        builtin = isinstance(callee, types.BuiltinMethodType) and owner is not None
        if builtin and not isinstance(owner, (types.ModuleType, type)):
            function = (
                self.world.array_member(callee.__name__)
                if hasattr(owner, "dtype")
                else getattr(type(owner), callee.__name__)
            )
            _, value_dot = self.cotangents(
                function, ZERO, (owner, *args), (f_dot, *dots), kwargs, named, seed, seed_dot
            )
            return bars, self.arranged(fn, value_dot, owner_first=True)
        _, value_dot = self.cotangents(callee, f_dot, args, dots, kwargs, named, seed, seed_dot)
        return bars, self.arranged(fn, value_dot)

    def cotangents(
        self, fn: Any, fn_dot: Any, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any, seed: Any, seed_dot: Any
    ) -> Any:
        """Cotangents of a whole call (callee, arguments, keywords) and their tangents."""
        nested = self.world.derivatives
        what = getattr(fn, NESTED, None)
        if what == "jvp":
            return self.of_jvp(args, arg_dots, seed, seed_dot)
        if what == "linearize":
            return self.cotangents(linearized, ZERO, args, arg_dots, kwargs, kwarg_dots, seed, seed_dot)
        if isinstance(fn, NestedPullback):
            return self.of_pullback(fn, fn_dot, args, arg_dots, seed, seed_dot)
        if what == "vjp":
            raise UnsupportedSyntaxError(
                "a derivative of order three through vjp is not supported", hint="use grad or jvp"
            )
        if isinstance(fn, type):
            fn = making(fn, len(args), tuple(kwargs))
        fn, bound, _ = self.bind(fn, args, kwargs)
        by_name = dict(zip(bound.names, bound.values))
        picks = tuple((p, None) for p in bound.names if may_have_tangent(kind_of(by_name[p])))
        if not picks:
            return None, ZERO
        d = Derivation(bound.target, bound.owner, bound.names, "pull", picks, False)
        dots = nested.dots_of(fn, fn_dot, bound, arg_dots, kwarg_dots)
        dots[d.parameters[-1]] = seed_dot
        value, value_dot = nested.dual(d, (*bound.values, seed), dots)

        def whole(parts: Any) -> Any:
            return by_call(fn, bound, {p: entry(parts, k) for k, (p, _) in enumerate(picks)}, args, kwargs)

        return whole(value), ZERO if isinstance(value_dot, AbstractZero) else whole(value_dot)

    def of_jvp(self, args: Any, arg_dots: Any, seed: Any, seed_dot: Any) -> Any:
        """The same for a call of ``jvp``."""
        nested = self.world.derivatives
        f, primals, tangents = args
        d, bound, moving = nested.of_jvp(f, primals, tangents)
        dots = nested.jvp_dots(d, bound, moving, args, arg_dots)
        values = (*bound.values, *(tangents[k] for k in moving))
        names = d.parameters
        picks = tuple((p, None) for p, v in zip(names, values) if may_have_tangent(kind_of(v)))
        outer = Derivation(d, None, names, "pull", picks, False)
        dots[outer.parameters[-1]] = seed_dot
        value, value_dot = nested.dual(outer, (*values, seed), dots)

        def whole(parts: Any) -> Any:
            return nested.jvp_cotangents(d, bound, moving, args, {p: entry(parts, k) for k, (p, _) in enumerate(picks)})

        return whole(value), ZERO if isinstance(value_dot, AbstractZero) else whole(value_dot)

    def of_pullback(self, fn: NestedPullback, fn_dot: Any, args: Any, arg_dots: Any, seed: Any, seed_dot: Any) -> Any:
        """The same for a call of the pullback of a ``vjp``."""
        nested = self.world.derivatives
        d, bound = nested.of_pullback(fn)
        dots = nested.pullback_dots(d, bound, fn, fn_dot, arg_dots[0])
        values = (*bound.values, args[0])
        picks = tuple((p, None) for p, v in zip(d.parameters, values) if may_have_tangent(kind_of(v)))
        outer = Derivation(d, None, d.parameters, "pull", picks, False)
        dots[outer.parameters[-1]] = (
            ZERO if isinstance(seed_dot, AbstractZero) else nested.disarranged(d, bound, seed_dot)
        )
        value, value_dot = nested.dual(outer, (*values, nested.disarranged(d, bound, seed)), dots)

        def whole(parts: Any) -> Any:
            return nested.pullback_cotangents(d, bound, fn, {p: entry(parts, k) for k, (p, _) in enumerate(picks)})

        return whole(value), ZERO if isinstance(value_dot, AbstractZero) else whole(value_dot)

    def arranged(self, fn: Pulled, found: Any, owner_first: bool = False) -> Any:
        """Cotangents in the order that the pullback gives them."""
        if isinstance(found, AbstractZero):
            return ZERO
        of_callee, own, named = found
        if owner_first:
            of_callee, own = own[0], own[1:]
        if fn.wrt is None:
            return of_callee, tuple(own), named
        return tuple(of_callee if w is None else own[w] if isinstance(w, int) else named.get(w, ZERO) for w in fn.wrt)

    def push_push(self, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
        """Forward mode over ``push``: a second tangent."""
        nested = self.world.derivatives
        fn, fn_step, steps, _, *rest = args
        fn_dot, fn_step_dot, steps_dot, _, *rest_dots = arg_dots
        again = isinstance(fn, (Pulled, NestedPullback)) or (
            isinstance(fn, types.MethodType) and hasattr(fn.__self__, "whole")
        )
        if kwargs or isinstance(fn, type) or again or hasattr(fn, NESTED):
            raise UnsupportedSyntaxError(
                "a third derivative through a call of what is known only when the code runs is not supported",
                hint="call functions by their names, with positional arguments",
            )
        fn, bound, _ = self.bind(fn, tuple(rest), {})
        first = nested.dots_of(fn, fn_step, bound, steps, {})
        both = [entry(steps_dot, k) for k in range(len(rest))]
        second = nested.dots_of(fn, fn_step_dot, bound, both, {})
        picks = tuple((p, None) for p in bound.names if not _still(first.get(p, ZERO)))
        dots = nested.dots_of(fn, fn_dot, bound, tuple(rest_dots), {})
        if not picks:
            value, value_dot = self.world.forwarding.pusher.whole(fn, fn_dot, tuple(rest), tuple(rest_dots), {}, {})
            _, step_dot = self.world.forwarding.pusher.whole(fn, fn_step_dot, tuple(rest), tuple(both), {}, {})
            return (value, ZERO), (value_dot, step_dot)
        d = Derivation(bound.target, bound.owner, bound.names, "jvp", picks, False)
        dots.update({name: second.get(p, ZERO) for name, (p, _) in zip(d.parameters[len(d.params) :], picks)})
        # tangents of parameters that had no first tangent: the value's second one is linear in them
        late = {p: t for p, t in second.items() if not _still(t) and (p, None) not in picks}
        values = (*bound.values, *(first[p] for p, _ in picks))
        both_values, both_dots = nested.dual(d, values, dots)
        if late:
            more = Derivation(bound.target, bound.owner, bound.names, "jvp", tuple((p, None) for p in late), False)
            extra = nested.value(more, (*bound.values, *late.values()))[1]
            both_dots = (entry(both_dots, 0), add(entry(both_dots, 1), extra))
        return both_values, both_dots


def _joins(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn`` is an operator on sequences: it puts their entries together."""
    return (
        getattr(fn, "__module__", None) == "_operator"
        and any(isinstance(a, (list, tuple)) for a in args)
        and operator_methods(fn, args) == (None, None)
    )


def is_linear(fn: Any, args: Any) -> bool:
    """Whether a call only puts together or takes apart what it is given."""
    return (is_by_fields(fn) and not is_made_anew(fn, args)) or (
        fn is getattr and not isinstance(args[0], (np.ndarray, np.generic)) and attribute_call(args) is None
    )


def own_again(what: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a second derivative through {what}, where the class of the object is known only when the code runs,",
        hint="make the object by the name of its class in the same function, or pass it to one",
    )


def _still(dot: Any) -> bool:
    return isinstance(dot, AbstractZero) or (isinstance(dot, (tuple, list)) and all(map(_still, dot)))


def arranged_by_rule(rule: Entry, wrt: Any, args: Any, parts: Any) -> Any:
    """What the pullback of a rule gave, in the order that the pullback of ``pull`` gives it."""
    flat: list[Any] = []
    positional = [p for p in rule.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
    for p, part in zip(positional, cotangents(rule, parts)):
        flat.extend(unthunk(part)) if p.kind is p.VAR_POSITIONAL else flat.append(part)
    flat += [NO_TANGENT] * (len(args) - len(flat))
    if wrt is None:
        return NO_TANGENT, tuple(flat[: len(args)]), {}
    return tuple(NO_TANGENT if w is None else flat[w] for w in wrt)
