"""In-place operators and methods on what is known only when the code runs, in forward mode.

Each function does to ``x`` what the statement does, and the same to its tangent, which is changed in place if ``x`` is.
"""

from __future__ import annotations

import operator
import types
from collections import deque
from typing import Any

import numpy as np

from thunkad.compiled.updates import OUT_OF_PLACE
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import dense, describe
from thunkad.runtime.dot_changes import change_array, change_dot, set_entry, set_field
from thunkad.runtime.dots import entry_dot, field_dot, spread, spread_named
from thunkad.runtime.sets import check_elements
from thunkad.runtime.subclasses import check_contents
from thunkad.tangents import ZERO, AbstractZero

Both = tuple[Any, Any]


def update(push: Any, fn: Any, x: Any, x_dot: Any, v: Any, v_dot: Any) -> Both:
    """``x op= v``: the new ``x`` and its tangent."""
    if isinstance(x, np.ndarray):
        _, dot = push.whole(OUT_OF_PLACE[fn], ZERO, (x.copy(), v), (x_dot, v_dot), {}, {})
        x = fn(x, v)
        if isinstance(x_dot, np.ndarray):
            x_dot[...] = 0.0 if isinstance(dot, AbstractZero) else dot
        elif not isinstance(dot, AbstractZero):
            raise _without_tangent(x)
        return x, x_dot
    if isinstance(x, set):
        check_elements(v)
        return fn(x, v), ZERO
    if isinstance(x, (*LISTS, dict)):
        v = v if hasattr(v, "__len__") or isinstance(v, int) else list(v)
        x_dot = update_of_tangent(fn, x, x_dot, v, v_dot)
        return fn(x, v), x_dot
    method = getattr(type(x), f"__{fn.__name__}__", None)
    if isinstance(method, types.FunctionType):
        found = push.whole(method, ZERO, (x, v), (x_dot, v_dot), {}, {})
        if found[0] is not NotImplemented:
            return found  # type: ignore[no-any-return]
    return push.whole(OUT_OF_PLACE[fn], ZERO, (x, v), (x_dot, v_dot), {}, {})  # type: ignore[no-any-return]


def update_of_tangent(fn: Any, x: Any, x_dot: Any, v: Any, v_dot: Any) -> Any:
    """``x op= v`` on the tangent of a list or dict, before it is done to ``x``."""
    if not isinstance(x_dot, (list, dict)):
        if not isinstance(v_dot, AbstractZero):
            raise _without_tangent(x)
        return x_dot
    if isinstance(x, dict):
        v = v if isinstance(v, dict) else dict(v)
        x_dot.update(spread_named(v_dot, v))
        return x_dot
    if isinstance(x, deque):
        change_dot(x_dot, x, "extend", (v,), (v_dot,), {}, {})
        return x_dot
    return fn(x_dot, v if fn is operator.imul else spread(v_dot, v))


def update_entry(push: Any, fn: Any, x: Any, x_dot: Any, key: Any, v: Any, v_dot: Any) -> None:
    """``x[key] op= v``"""
    getter = getattr(type(x), "__getitem__", None)
    if isinstance(getter, types.FunctionType):
        old, old_dot = push.whole(getter, ZERO, (x, key), (x_dot, ZERO), {}, {})
    else:
        old = x[key]
        old_dot = entry_dot(x_dot, key, old)
    new, new_dot = update(push, fn, old, old_dot, v, v_dot)
    setter = getattr(type(x), "__setitem__", None)
    if isinstance(setter, types.FunctionType):
        push.whole(setter, ZERO, (x, key, new), (x_dot, ZERO, new_dot), {}, {})
        return
    if not (isinstance(old, np.ndarray) and new is old and isinstance(x, np.ndarray) and np.may_share_memory(old, x)):
        set_entry(x_dot, key, new_dot, x, new)
    x[key] = new


def update_attribute(push: Any, fn: Any, x: Any, x_dot: Any, name: str, v: Any, v_dot: Any) -> None:
    """``x.name op= v``"""
    place = getattr(type(x), name, None)
    if isinstance(place, property):
        old, old_dot = push.whole(place.fget, ZERO, (x,), (x_dot,), {}, {})
        new, new_dot = update(push, fn, old, old_dot, v, v_dot)
        push.whole(place.fset, ZERO, (x, new), (x_dot, new_dot), {}, {})
        return
    old = getattr(x, name)
    new, new_dot = update(push, fn, old, field_dot(x_dot, name, x, old), v, v_dot)
    if not isinstance(x, np.ndarray):  # the parts of an array are views
        if isinstance(type(x).__setattr__, types.FunctionType):
            raise UnsupportedSyntaxError(
                f"{type(x).__qualname__}.{name} is updated in place, and setting it runs code of the class's own",
                hint=f"write x.{name} = x.{name} + y instead of x.{name} += y",
            )
        set_field(x_dot, name, new_dot, x, new)
    setattr(x, name, new)


def change(push: Any, x: Any, x_dot: Any, name: str, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Both:
    """``x.name(*args, **kwargs)``, which may change ``x``."""
    method = getattr(type(x), name, None)
    if isinstance(method, types.FunctionType):
        return push.whole(method, ZERO, (x, *args), (x_dot, *arg_dots), kwargs, kwarg_dots)  # type: ignore[no-any-return]
    dot = change_of_tangent(x, x_dot, name, args, arg_dots, kwargs, kwarg_dots)
    value = getattr(x, name)(*args, **kwargs)
    return value, as_dense(dot, value)


def as_dense(dot: Any, value: Any) -> Any:
    """A tangent of ``value``; of a number or an array never a structural zero."""
    return dense(dot, value) if isinstance(value, (float, complex, np.ndarray, np.generic)) else dot


def change_of_tangent(x: Any, x_dot: Any, name: str, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
    """``x.name(*args, **kwargs)`` on the tangent of ``x``, before it is done to ``x``; the tangent of its result."""
    if isinstance(x, np.ndarray) and isinstance(x_dot, np.ndarray):
        change_array(x_dot, x, name, args, arg_dots, kwargs)
        return ZERO
    if name == "__setattr__":
        set_field(x_dot, args[0], arg_dots[1], x, args[1])
        return ZERO
    if isinstance(x, (*LISTS, dict)):
        check_contents(x)
        return change_dot(x_dot, x, name, args, arg_dots, kwargs, kwarg_dots)
    moves = not all(isinstance(d, AbstractZero) for d in (*arg_dots, *kwarg_dots.values()))
    if moves or not isinstance(x_dot, AbstractZero):
        raise UnsupportedSyntaxError(
            f"the method .{name}() of a {type(x).__name__} with a value that is differentiated is not supported",
            hint="use a list or a dict",
        )
    return ZERO


def _without_tangent(x: Any) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a change of a value that had no tangent when it was put where it is ({describe(x)}) can't be followed",
        hint="make it where it is changed, or build a new one",
    )
