"""Run-time dispatch for calls that hand over what they raise, see :mod:`thunkad.analysis.followed`.

Each function takes the arguments of ``attempt(f, *args, **kwargs)`` and returns the pair that this returns, with its
pullback or its tangent.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from typing import Any

from thunkad.analysis.constructors import is_made_by_init
from thunkad.analysis.makers import by_init, maker_of
from thunkad.analysis.stand_ins import stands_for
from thunkad.compiled.bundles import constant, named_values, nothing, rearranged, values
from thunkad.compiled.load import lifted_of
from thunkad.errors import ThunkadError
from thunkad.kinds.lattice import is_hashable
from thunkad.normal.outcomes import outcome_of
from thunkad.pipeline import outcome_form
from thunkad.rules.entry import FRULE
from thunkad.runtime.cotangents import entry
from thunkad.runtime.exceptions import attempt
from thunkad.source.wrapped import python_function
from thunkad.tangents import NO_TANGENT, ZERO

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
_RULED = ("rule", "constant", "alternative")
_lifted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def outcome_for(world: Any, fn: Any, count: int, names: tuple[str, ...]) -> Any:
    """What returns the outcome of calling ``fn`` with so many arguments, and these keywords.

    None for what raises nothing that holds values.
    """
    if isinstance(fn, functools.partial):
        inner = outcome_for(world, fn.func, len(fn.args) + count, (*fn.keywords, *names))
        return None if inner is None else functools.partial(inner, *fn.args, **fn.keywords)
    if isinstance(fn, types.MethodType):
        inner = outcome_for(world, fn.__func__, count + 1, names)
        return None if inner is None else types.MethodType(inner, fn.__self__)
    instead = stands_for(fn)[0]
    if instead is not fn:
        return outcome_for(world, instead, count, names)
    if isinstance(fn, types.FunctionType):
        if lifted_of(fn) in world.lifted:
            return _of_lifted(world, fn)
        if inspect.isgeneratorfunction(fn) or fn.__code__.co_filename.startswith("<thunkad "):
            return None
        return outcome_of(fn)
    wrapped = python_function(fn)
    if wrapped is not None:
        return outcome_for(world, wrapped, count, names)
    if isinstance(fn, type):
        maker = by_init(fn, count, names) if is_made_by_init(fn) else maker_of(fn, count, names)
        return None if maker is None else outcome_of(maker)
    call = getattr(type(fn), "__call__", None)  # noqa: B004 - the method itself is looked at
    return types.MethodType(outcome_of(call), fn) if isinstance(call, types.FunctionType) else None


def _of_lifted(world: Any, fn: Any) -> Any:
    """The same for a function that was made inside a compiled one."""
    found = _lifted.get(fn)
    if found is None:
        function, owner = world.lifted[lifted_of(fn)]

        def outcome(*args: Any, **kwargs: Any) -> Any:
            return attempt(fn, *args, **kwargs)

        outcome.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
        world.lifted[outcome] = outcome_form(function), owner
        found = _lifted[fn] = outcome
    return found


def pull_attempt(pull: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    """``attempt(f, *args, **kwargs)`` in reverse mode."""
    fn, *rest = args
    ruled = is_hashable(fn) and pull.world.late_lookup(fn, tuple(rest), kwargs).how in _RULED
    instead = None if ruled else outcome_for(pull.world, fn, len(rest), tuple(kwargs))
    if instead is not None:
        value, back = pull.whole(instead, tuple(rest), kwargs)
    else:
        try:
            result, inner = pull.whole(fn, tuple(rest), kwargs)
        except ThunkadError:
            raise
        except BaseException as error:
            return (None, error), lambda bar: (NO_TANGENT, [ZERO] * len(args), {})
        value, back = (result, None), lambda bar: inner(entry(bar, 0))

    def through(bar: Any) -> Any:
        of_callee, of_args, of_kwargs = back(bar)
        return NO_TANGENT, [of_callee, *of_args], of_kwargs

    return value, through


def push_attempt(push: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> tuple[Any, Any]:
    """The same in forward mode."""
    fn, *rest = args
    given = (tuple(rest), arg_dots[1:], kwargs, kwarg_dots)
    world = push.forwarding.world
    ruled = is_hashable(fn) and world.late_lookup(fn, tuple(rest), kwargs, FRULE).how in _RULED
    instead = None if ruled else outcome_for(world, fn, len(rest), tuple(kwargs))
    if instead is not None:
        return push.whole(instead, arg_dots[0], *given)  # type: ignore[no-any-return]
    try:
        result, dot = push.whole(fn, arg_dots[0], *given)
    except ThunkadError:
        raise
    except BaseException as error:
        return (None, error), ZERO
    return (result, None), (dot, ZERO)


def pull_attempt_again(again: Any, pull: Any, args: Any, kwargs: Any) -> Any:
    """The same in reverse mode on bundles."""
    (fn, *rest), world = args, again.world
    ruled = is_hashable(fn[0]) and world.late_lookup(fn[0], values(tuple(rest)), named_values(kwargs)).how in _RULED
    instead = None if ruled else outcome_for(world, fn[0], len(rest), tuple(kwargs))
    if instead is not None:
        found, back = again.whole(pull, (instead, *fn[1:]), tuple(rest), kwargs)
    else:
        try:
            inner, inner_back = again.whole(pull, fn, tuple(rest), kwargs)
        except ThunkadError:
            raise
        except BaseException as error:
            return constant((None, error), fn), nothing(args)
        found = ((inner[0], None), *((dot, ZERO) for dot in inner[1:]))

        def back(bars: Any, shadows: Any) -> Any:
            return inner_back(tuple(entry(bar, 0) for bar in bars), shadows)

    return found, rearranged(back, lambda p: (NO_TANGENT, [p[0], *p[1]], p[2]))


def push_attempt_again(again: Any, args: Any, kwargs: Any) -> Any:
    """The same in forward mode on bundles."""
    (fn, *rest), world = args, again.world
    ruled = (
        is_hashable(fn[0]) and world.late_lookup(fn[0], values(tuple(rest)), named_values(kwargs), FRULE).how in _RULED
    )
    instead = None if ruled else outcome_for(world, fn[0], len(rest), tuple(kwargs))
    if instead is not None:
        return again.whole((instead, *fn[1:]), tuple(rest), kwargs)
    try:
        found = again.whole(fn, tuple(rest), kwargs)
    except ThunkadError:
        raise
    except BaseException as error:
        return constant((None, error), fn)
    return ((found[0], None), *((dot, ZERO) for dot in found[1:]))
