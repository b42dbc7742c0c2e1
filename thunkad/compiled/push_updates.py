"""In-place operators and methods on what is known only when the code runs, in forward mode of any order.

Each function does to the first of the bundle ``x`` (see :mod:`thunkad.compiled.bundles`) what the statement does, and
the same to each of its tangents, which are changed in place if it is.  ``push`` is the dispatch on bundles,
:class:`thunkad.compiled.push_again.PushAgain`.
"""

from __future__ import annotations

import itertools
import operator
import types
from collections import deque
from typing import Any

import numpy as np

from thunkad.compiled.bundles import Args, Bundle, Kwargs, constant, named_values, values
from thunkad.compiled.updates import OUT_OF_PLACE
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS, SetDots
from thunkad.runtime.cotangents import dense, describe
from thunkad.runtime.dot_changes import change_array, change_dot, set_entry, set_field
from thunkad.runtime.dots import entry_dot, field_dot, spread
from thunkad.runtime.sets import change_set, check_elements
from thunkad.runtime.subclasses import check_contents
from thunkad.tangents import ZERO, AbstractZero


def update(push: Any, fn: Any, x: Bundle, v: Bundle) -> Bundle:
    """``x op= v``: the new ``x``."""
    old = x[0]
    out_of_place = constant(OUT_OF_PLACE[fn], x)
    if isinstance(old, np.ndarray):
        found = push.whole(out_of_place, ((old.copy(), *x[1:]), v), {})
        new = fn(old, v[0])
        for t, dot in zip(x[1:], found[1:]):
            if isinstance(t, np.ndarray):
                t[...] = 0.0 if isinstance(dot, AbstractZero) else dot
            elif not isinstance(dot, AbstractZero):
                raise _without_tangent(old)
        return (new, *x[1:])
    if isinstance(old, set):
        for t, dot in zip(x[1:], v[1:]):
            if fn is operator.ior and isinstance(t, SetDots):
                change_set(t, old, "update", (v[0],), (dot,))
        check_elements(v[0])
        return (fn(old, v[0]), *x[1:])
    if isinstance(old, (*LISTS, dict)):
        more = v[0] if hasattr(v[0], "__len__") or isinstance(v[0], int) else list(v[0])
        more = list(more) if more is old else more
        dots = [update_of_tangent(fn, old, t, more, dot) for t, dot in zip(x[1:], v[1:])]
        return (fn(old, more), *dots)
    method = getattr(type(old), f"__{fn.__name__}__", None)
    if isinstance(method, types.FunctionType):
        found = push.whole(constant(method, x), (x, v), {})
        if found[0] is not NotImplemented:
            return found  # type: ignore[no-any-return]
    return push.whole(out_of_place, (x, v), {})  # type: ignore[no-any-return]


def update_of_tangent(fn: Any, x: Any, x_dot: Any, v: Any, v_dot: Any) -> Any:
    """``x op= v`` on the tangent of a list or dict, before it is done to ``x``."""
    if not isinstance(x_dot, (list, dict)):
        if not isinstance(v_dot, AbstractZero):
            raise _without_tangent(x)
        return x_dot
    if isinstance(x, dict):
        change_dot(x_dot, x, "update", (v,), (v_dot,), {}, {})
        return x_dot
    if isinstance(x, deque):
        change_dot(x_dot, x, "extend", (v,), (v_dot,), {}, {})
        return x_dot
    return fn(x_dot, v if fn is operator.imul else spread(v_dot, v))


def update_entry(push: Any, fn: Any, x: Bundle, key: Any, v: Bundle) -> None:
    """``x[key] op= v``"""
    owner = x[0]
    getter = getattr(type(owner), "__getitem__", None)
    if isinstance(getter, types.FunctionType):
        old = push.whole(constant(getter, x), (x, constant(key, x)), {})
    else:
        value = owner[key]
        old = (value, *(entry_dot(t, key, value) for t in x[1:]))
    new = update(push, fn, old, v)
    setter = getattr(type(owner), "__setitem__", None)
    if isinstance(setter, types.FunctionType):
        push.whole(constant(setter, x), (x, constant(key, x), new), {})
        return
    part = old[0]
    in_memory = isinstance(part, np.ndarray) and new[0] is part and isinstance(owner, np.ndarray)
    if not (in_memory and np.may_share_memory(part, owner)):
        for t, dot in zip(x[1:], new[1:]):
            set_entry(t, key, dot, owner, new[0])
    owner[key] = new[0]


def update_attribute(push: Any, fn: Any, x: Bundle, name: str, v: Bundle) -> None:
    """``x.name op= v``"""
    owner = x[0]
    place = getattr(type(owner), name, None)
    if isinstance(place, property):
        old = push.whole(constant(place.fget, x), (x,), {})
        push.whole(constant(place.fset, x), (x, update(push, fn, old, v)), {})
        return
    value = getattr(owner, name)
    new = update(push, fn, (value, *(field_dot(t, name, owner, value) for t in x[1:])), v)
    if not isinstance(owner, np.ndarray):  # the parts of an array are views
        if isinstance(type(owner).__setattr__, types.FunctionType):
            raise UnsupportedSyntaxError(
                f"{type(owner).__qualname__}.{name} is updated in place, and setting it runs code of the class's own",
                hint=f"write x.{name} = x.{name} + y instead of x.{name} += y",
            )
        for t, dot in zip(x[1:], new[1:]):
            set_field(t, name, dot, owner, new[0])
    setattr(owner, name, new[0])


def change(push: Any, x: Bundle, name: str, args: Args, kwargs: Kwargs) -> Bundle:
    """``x.name(*args, **kwargs)``, which may change ``x``."""
    method = getattr(type(x[0]), name, None)
    if isinstance(method, types.FunctionType):
        return push.whole(constant(method, x), (x, *args), kwargs)  # type: ignore[no-any-return]
    if name == "pop" and isinstance(x[0], set):
        taken = x[0].pop()
        return (taken, *(t.pop(id(taken), ZERO) if isinstance(t, SetDots) else ZERO for t in x[1:]))
    dots = changes_of_tangents(x, name, args, kwargs)
    value = getattr(x[0], name)(*values(args), **named_values(kwargs))
    return (value, *(as_dense(t, value) for t in dots))


def changes_of_tangents(x: Bundle, name: str, args: Args, kwargs: Kwargs) -> list[Any]:
    """The same change on each tangent of ``x``, before it is done to ``x``; the tangents of its result."""
    given, named = values(args), named_values(kwargs)
    return [
        change_of_tangent(
            x[0], x[i], name, given, tuple(a[i] for a in args), named, {k: v[i] for k, v in kwargs.items()}
        )
        for i in range(1, len(x))
    ]


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
    if isinstance(x, (*LISTS, dict)) or isinstance(x_dot, SetDots):
        check_contents(x)
        return change_dot(x_dot, x, name, args, arg_dots, kwargs, kwarg_dots)
    if isinstance(x, set) and (name in ("add", "discard", "remove") or all(hasattr(a, "__len__") for a in args)):
        check_elements(args if name in ("add", "discard", "remove") else itertools.chain(*args))
        return ZERO
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
