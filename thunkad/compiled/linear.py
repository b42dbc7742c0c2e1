"""Calls decided when the code runs, in two halves: the value now, the tangent later and any number of times.

``linear_call(f, *args, **kwargs)`` returns the value of the call and ``linear(f_dot, arg_dots, kwarg_dots)``.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.randomness import draws_numbers
from thunkad.analysis.special import is_by_fields
from thunkad.compiled.binding import bound_call
from thunkad.compiled.dynamic import Pull, is_nested
from thunkad.compiled.own_classes import is_operator_of_own, operator_methods
from thunkad.compiled.push import Push
from thunkad.compiled.replay import FirstRun
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.calls import is_iterator
from thunkad.forward.linear import NotSeparable
from thunkad.kinds.lattice import is_hashable, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import FRULE, name_of
from thunkad.runtime.cotangents import dense, entry
from thunkad.runtime.dots import defaults_dot, tangent_buffer
from thunkad.runtime.held import held
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.runtime.watching import Watch
from thunkad.tangents import ZERO, AbstractZero, unthunk

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Linear = Callable[[Any, Args, Kwargs], Any]


class LinearCalls:
    """Run-time dispatch of both halves in one world."""

    def __init__(self, forwarding: Any) -> None:
        self.forwarding = forwarding

    def call(self, fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Linear]:
        late = self.forwarding.world.late_now().forwarding.linear_dispatch
        return late.whole(fn, tuple(map(unthunk, args)), kwargs)

    def whole(self, fn: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Linear]:
        if isinstance(fn, functools.partial):
            return self.partial(fn, args, kwargs)
        if hasattr(fn, MAP):
            return self.bound(applied, fn, args, kwargs)
        if is_dispatch(fn):
            raise NotSeparable("a pullback that is decided when the code runs")
        if isinstance(fn, types.MethodType):
            return self.bound(fn.__func__, fn.__self__, args, kwargs)
        decision = self.forwarding.world.late_lookup(fn, args, kwargs, FRULE) if is_hashable(fn) else None
        if decision is not None and decision.how == "alternative":
            return self.function(decision.entry.function, args, kwargs)
        missing = operator_methods(fn, args)[0] if is_operator_of_own(fn, args) and not kwargs else None
        if missing is not None:  # a method that fills its object must not run again
            return self.whole(missing, args, kwargs)
        ruled = decision is not None and decision.how in ("rule", "constant")
        if not ruled and not is_nested(fn) and not is_by_fields(fn):
            if isinstance(fn, types.FunctionType):
                return self.function(fn, args, kwargs)
            call = getattr(type(fn), "__call__", None)  # noqa: B004  (the method itself is wanted)
            if isinstance(call, types.FunctionType):
                return self.bound(call, fn, args, kwargs)
        return self.again(fn, args, kwargs)

    def partial(self, fn: functools.partial[Any], args: Args, kwargs: Kwargs) -> tuple[Any, Linear]:
        value, inner = self.whole(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})

        def linear(fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs) -> Any:
            fixed = (entry(entry(fn_dot, "args"), k) for k in range(len(fn.args)))
            own = {k: entry(entry(fn_dot, "keywords"), k) for k in fn.keywords}
            return inner(entry(fn_dot, "func"), (*fixed, *arg_dots), {**own, **kwarg_dots})

        return value, linear

    def bound(self, function: Any, owner: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Linear]:
        value, inner = self.whole(function, (owner, *args), kwargs)
        return value, lambda fn_dot, arg_dots, kwarg_dots: inner(ZERO, (fn_dot, *arg_dots), kwarg_dots)

    def again(self, fn: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Linear]:
        """A rule or a derivative: it is run once more for each tangent."""
        if draws_numbers(fn):
            raise UnsupportedSyntaxError(
                f"linearize of a call of {name_of(fn)} that is found when the code runs is not supported: it would "
                "draw other random numbers for each tangent",
                hint="draw the numbers outside and pass them in",
            )
        kept = held((fn, args, kwargs))  # it may change what it is given
        first = FirstRun(kept[0], kept[1]) if is_nested(fn) else None
        push = self.forwarding.pusher

        def linear(fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs) -> Any:
            again, own, named = held(kept)
            if first is not None:
                first.begin_again()
            found, dot = push.whole(again, fn_dot, own, tuple(map(unthunk, arg_dots)), named, kwarg_dots)
            if first is not None:
                first.check_value(found)
            return dot

        watch = Watch({"args": args, "kwargs": kwargs} if self.forwarding.writes_late else {})
        if is_nested(fn):  # with the rules of this call, not with those that the function is pinned to
            value = push.whole(fn, ZERO, args, (ZERO,) * len(args), kwargs, dict.fromkeys(kwargs, ZERO))[0]
        else:
            value = fn(*args, **kwargs)
        if watch.changed() is not None:
            raise NotSeparable("a call that changes what it is given")
        if first is not None:
            first.gave(value)
        return list(value) if is_iterator(fn) else value, linear  # a list can be gone through in both halves

    def function(self, fn: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Linear]:
        """A Python function, compiled for tangents of all that may have one."""
        if inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn):
            raise NotSeparable("a generator changes as it is used")
        forwarding = self.forwarding
        lifted = forwarding.lifted.get(getattr(fn, "lifted", fn))
        signature = inspect.signature(fn, follow_wrapped=False)
        bound = bound_call(signature, fn, args, kwargs)
        names, values = tuple(bound.arguments), tuple(bound.arguments.values())
        kinds = tuple(map(kind_of, values))
        demand = tuple(p for p, k in zip(names, kinds) if may_have_tangent(k))
        target, owner = (fn, fn) if lifted is None else lifted
        with forwarding.world.lock:
            summary = forwarding.summary_for(target, owner, kinds)
            if any(p in summary.mutated for p in names):
                raise NotSeparable("a function found when the code runs changes what it is given")
            primal, second = forwarding.halves_for(target, owner, kinds, demand, volatile=names)
        value, saved = primal.cell.cell_contents(*values)
        wanted = [(p, v) for p, v in zip(names, values) if p in demand]

        def linear(fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs) -> Any:
            dots = signature.bind_partial(*arg_dots, **{k: kwarg_dots.get(k, ZERO) for k in kwargs}).arguments
            dots = {**defaults_dot(fn_dot), **dots}
            return second.cell.cell_contents(saved, *(_given(dots.get(p, ZERO), v) for p, v in wanted))

        return value, linear


def is_dispatch(fn: Any) -> bool:
    """Whether ``fn`` decides at run time which derivative is meant."""
    return isinstance(fn, types.MethodType) and isinstance(fn.__self__, (Pull, Push))


def _given(dot: Any, value: Any) -> Any:
    dot = unthunk(dot)
    if isinstance(value, (float, int, complex, np.ndarray, np.generic)):
        return dense(dot, value)
    return tangent_buffer(dot, value) if isinstance(dot, AbstractZero) else dot
