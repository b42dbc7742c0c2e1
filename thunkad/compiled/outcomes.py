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
from thunkad.compiled.own_classes import attribute_call, operator_methods
from thunkad.errors import ThunkadError, UnsupportedSyntaxError
from thunkad.kinds.lattice import is_hashable
from thunkad.normal.outcomes import outcome_of
from thunkad.pipeline import outcome_form
from thunkad.rules.entry import FRULE, RRULE, name_of
from thunkad.runtime.exceptions import attempt, got, operated, paired_for, put
from thunkad.runtime.keyed import KEYED
from thunkad.source.wrapped import python_function
from thunkad.tangents import NO_TANGENT, ZERO

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
_lifted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def outcome_for(world: Any, fn: Any, args: Args, kwargs: Kwargs, kind: str = RRULE) -> Any:
    """What returns the outcome of calling ``fn`` with these arguments.

    None for what raises nothing that holds values, and for what is not followed: see :func:`not_lost`.
    """
    if isinstance(fn, functools.partial):
        inner = outcome_for(world, fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}, kind)
        return None if inner is None else functools.partial(inner, *fn.args, **fn.keywords)
    if isinstance(fn, types.MethodType):
        inner = outcome_for(world, fn.__func__, (fn.__self__, *args), kwargs, kind)
        return None if inner is None else types.MethodType(inner, fn.__self__)
    own = operator_methods(fn, args) if fn is not getattr and fn is not setattr else (None, None)
    if not any(own) and getattr(fn, "__module__", None) in ("_operator", "operator"):
        return None
    if is_hashable(fn):
        if fn in KEYED and kwargs.get("key") is not None:
            return outcome_of(KEYED[fn])
        decision = world.late_lookup(fn, args, kwargs, kind)
        if decision.how == "alternative":
            return outcome_of(decision.entry.function)
        if decision.how in ("rule", "constant") and not (decision.entry is None or decision.entry.layer == "library"):
            return None
        if any(own):
            return functools.partial(operated, *own)
        if decision.how in ("rule", "constant"):
            return None
    if fn is getattr or fn is setattr:
        return _of_attribute(fn, args)
    instead = stands_for(fn)[0]
    if instead is not fn:
        return outcome_for(world, instead, args, kwargs, kind)
    if isinstance(fn, types.FunctionType):
        if lifted_of(fn) in world.lifted:
            return _of_lifted(world, fn)
        if inspect.isgeneratorfunction(fn) or fn.__code__.co_filename.startswith("<thunkad "):
            return None
        return outcome_of(fn)
    wrapped = python_function(fn)
    if wrapped is not None:
        return outcome_for(world, wrapped, args, kwargs, kind)
    if isinstance(fn, type):
        made = len(args), tuple(kwargs)
        maker = by_init(fn, *made) if is_made_by_init(fn) else maker_of(fn, *made)
        return None if maker is None else outcome_of(maker)
    call = getattr(type(fn), "__call__", None)  # noqa: B004 - the method itself is looked at
    return types.MethodType(outcome_of(call), fn) if isinstance(call, types.FunctionType) else None


def _of_attribute(fn: Any, args: Args) -> Any:
    """The same for ``getattr`` and ``setattr``, where a property or a method computes the attribute."""
    if fn is setattr:
        found = inspect.getattr_static(type(args[0]), args[1], None)
        return functools.partial(put, found.fset) if isinstance(found, property) and found.fset else None
    call = attribute_call(args) if len(args) == 2 else None
    return None if call is None else functools.partial(got, call[0], call[1][call[2] + 1 :])


def not_lost(error: BaseException, fn: Any, args: Args, kwargs: Kwargs) -> None:
    """Refuse an exception that holds numbers, which code of the user's has raised that ``fn`` calls unseen."""
    held = any(_holds_numbers(x) for x in (*vars(error).values(), *error.args))
    if held and any(map(_may_call, (fn, *args, *kwargs.values()))):
        raise UnsupportedSyntaxError(
            f"using what an exception holds that {name_of(fn)} has raised, or what it calls, is not supported",
            hint="call what raises it by its name, or keep the value in a variable instead of the exception",
        ) from error


def _holds_numbers(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_holds_numbers, x))
    return not isinstance(x, (str, bytes, int, type(None), type))


def _may_call(x: Any) -> bool:
    """Whether ``x`` is code of the user's, or may hold some."""
    if isinstance(x, (list, tuple)):
        return any(map(_may_call, x))
    if isinstance(x, dict):
        return any(map(_may_call, x.values()))
    own = type(x).__module__.split(".")[0] not in ("builtins", "numpy", "_operator")
    return own or isinstance(x, (types.FunctionType, types.MethodType)) or (isinstance(x, type) and _may_call_class(x))


def _may_call_class(cls: type) -> bool:
    return cls.__module__.split(".")[0] not in ("builtins", "numpy")


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
    instead = outcome_for(pull.world, fn, tuple(rest), kwargs)
    if instead is None:
        try:
            return pull.whole(paired_for(args, kwargs), args, kwargs)  # type: ignore[no-any-return]
        except ThunkadError:
            raise
        except BaseException as error:
            not_lost(error, fn, tuple(rest), kwargs)
            return (None, error), lambda bar: (NO_TANGENT, [ZERO] * len(args), {})
    value, back = pull.whole(instead, tuple(rest), kwargs)

    def through(bar: Any) -> Any:
        of_callee, of_args, of_kwargs = back(bar)
        return NO_TANGENT, [of_callee, *of_args], of_kwargs

    return value, through


def push_attempt(push: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> tuple[Any, Any]:
    """The same in forward mode."""
    fn, *rest = args
    instead = outcome_for(push.forwarding.world, fn, tuple(rest), kwargs, FRULE)
    if instead is not None:
        return push.whole(instead, arg_dots[0], tuple(rest), arg_dots[1:], kwargs, kwarg_dots)  # type: ignore[no-any-return]
    try:
        return push.whole(paired_for(args, kwargs), ZERO, args, arg_dots, kwargs, kwarg_dots)  # type: ignore[no-any-return]
    except ThunkadError:
        raise
    except BaseException as error:
        not_lost(error, fn, tuple(rest), kwargs)
        return (None, error), ZERO


def pull_attempt_again(again: Any, pull: Any, args: Any, kwargs: Any) -> Any:
    """The same in reverse mode on bundles."""
    fn, *rest = args
    given = values(tuple(rest)), named_values(kwargs)
    instead = outcome_for(again.world, fn[0], *given)
    if instead is None:
        try:
            return again.whole(pull, constant(paired_for(args, kwargs), fn), args, kwargs)
        except ThunkadError:
            raise
        except BaseException as error:
            not_lost(error, fn[0], *given)
            return constant((None, error), fn), nothing(args)
    found, back = again.whole(pull, (instead, *fn[1:]), tuple(rest), kwargs)
    return found, rearranged(back, lambda p: (NO_TANGENT, [p[0], *p[1]], p[2]))


def push_attempt_again(again: Any, args: Any, kwargs: Any) -> Any:
    """The same in forward mode on bundles."""
    fn, *rest = args
    given = values(tuple(rest)), named_values(kwargs)
    instead = outcome_for(again.world, fn[0], *given, FRULE)
    if instead is not None:
        return again.whole((instead, *fn[1:]), tuple(rest), kwargs)
    try:
        return again.whole(constant(paired_for(args, kwargs), fn), args, kwargs)
    except ThunkadError:
        raise
    except BaseException as error:
        not_lost(error, fn[0], *given)
        return constant((None, error), fn)
