"""In-place operators on what is known only when the code runs: ``x += v``, ``x[k] += v``, ``x.name += v``.

What is updated may be an array (written in place), a list (extended) or a number (rebound).  Each function does what
the statement does and returns a function ``undo`` for the reverse sweep, which takes that run's shadows.
"""

from __future__ import annotations

import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.compiled.own_classes import operator_methods
from thunkad.compiled.running import run
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime import changes
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import add, index_add, like
from thunkad.runtime.half_done import note_half_done
from thunkad.runtime.sets import check_elements
from thunkad.runtime.shadows import VALUES, keep, take_stored, unless_cut
from thunkad.tangents import ZERO, AbstractZero, unthunk

#: How an item is set where that is no code of a class of the user's.
PLAIN_SETTERS = (list.__setitem__, dict.__setitem__, deque.__setitem__)
#: Operators in place → the operator that makes a new value.
OUT_OF_PLACE = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.imatmul: operator.matmul, operator.ior: operator.or_,
    operator.iand: operator.and_, operator.ixor: operator.xor, operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
}  # fmt: skip

Undo = Callable[[Any, Any], tuple[Any, Any]]


def update(pull: Any, fn: Any, x: Any, v: Any) -> tuple[Any, Undo]:
    """``x op= v``: the new ``x``, and ``undo(shadows, x_bar) -> (bar of the old x, bar of v)``.

    ``x_bar`` is the cotangent of a new number; that of an array or list is in its shadow.
    """
    if isinstance(x, np.ndarray):
        return _array(pull, fn, x, v)
    if isinstance(x, LISTS):
        return _list(fn, x, v)
    if isinstance(x, set):
        check_elements(v)
        return fn(x, v), lambda shadows, x_bar: (ZERO, ZERO)
    if isinstance(x, dict) and fn is operator.ior:
        _, back = changes.change(x, "update", (v,), {})
        return x, lambda shadows, x_bar: (ZERO, back(shadows, ZERO)[0][0])
    method = getattr(type(x), f"__{fn.__name__}__", None)
    if isinstance(method, types.FunctionType):
        value, undo_method = _by_own_operator(pull, method, x, v)
        if value is not NotImplemented:
            return value, undo_method
    if operator_methods(OUT_OF_PLACE[fn], (x, v)) != (None, None):
        return _by_own_operator(pull, OUT_OF_PLACE[fn], x, v)
    value, back = pull.whole(OUT_OF_PLACE[fn], (x, keep(v)), {})

    def undo(shadows: Any, x_bar: Any) -> tuple[Any, Any]:
        if isinstance(unthunk(x_bar), AbstractZero) and isinstance(value, np.ndarray):
            x_bar = shadows.of(value).copy()  # a number that became an array
        elif not isinstance(value, (np.ndarray, *VALUES)):
            x_bar = shadows.take(value, x_bar)
        return _two(back, x_bar)

    return value, undo


def _by_own_operator(pull: Any, method: Any, x: Any, v: Any) -> tuple[Any, Undo]:
    """An operator of the user's, which may keep, return or change what it is given."""
    value, undo_call = _called(pull, method, (x, v), {})

    def undo(shadows: Any, x_bar: Any) -> tuple[Any, Any]:
        bars, _ = undo_call(shadows, x_bar)
        return bars[0], bars[1]

    return value, undo


def _array(pull: Any, fn: Any, x: Any, v: Any) -> tuple[Any, Undo]:
    old, other = x.copy(), keep(v)
    fn(x, v)  # first, so that what it raises is what the statement raises
    _, back = pull.whole(OUT_OF_PLACE[fn], (old, other), {})

    def undo(shadows: Any, x_bar: Any) -> tuple[Any, Any]:
        shadow = shadows.of(x)
        old_bar, v_bar = _two(back, shadow.copy())
        shadow[...] = 0.0 if isinstance(old_bar, AbstractZero) else old_bar
        return ZERO, v_bar

    return x, undo


def _list(fn: Any, x: Any, v: Any) -> tuple[Any, Undo]:
    if isinstance(x, deque) and fn is operator.iadd:
        _, back = changes.change(x, "extend", (v,), {})
        return x, lambda shadows, x_bar: (ZERO, back(shadows, ZERO)[0][0])
    if fn is operator.imul and isinstance(v, int) and isinstance(x, list):
        return _repeated(x, v)
    if fn is operator.iadd and isinstance(v, (range, str)):
        x += v
        return x, functools.partial(_shortened, x, len(v))
    if fn is not operator.iadd or not isinstance(v, (list, tuple, np.ndarray)):
        raise UnsupportedSyntaxError(
            f"{fn.__name__} of a {type(x).__name__} and a value of type {type(v).__name__} is not supported",
            hint="extend a list by a list, a tuple or an array",
        )
    count, given = len(v), list(v) if isinstance(v, list) else v
    x += v

    def undo(shadows: Any, x_bar: Any) -> tuple[Any, Any]:
        slots = shadows.of(x)
        start = len(slots) - count
        taken = slots[start:]
        del slots[start:]
        return ZERO, like(taken, given)

    return x, undo


def _shortened(x: list[Any], count: int, shadows: Any, x_bar: Any) -> tuple[Any, Any]:
    """Back from a list that was extended by what is not differentiated."""
    slots = shadows.of(x)
    del slots[len(slots) - count :]
    return ZERO, ZERO


def _repeated(x: list[Any], times: int) -> tuple[Any, Undo]:
    count = len(x)
    x *= times

    def undo(shadows: Any, x_bar: Any) -> tuple[Any, Any]:
        slots = shadows.of(x)
        copies = [slots[k : k + count] for k in range(0, len(slots), count or 1)]
        slots[:] = [functools.reduce(add, column) for column in zip(*copies)] if copies else [ZERO] * count
        return ZERO, ZERO

    return x, undo


def _two(back: Any, x_bar: Any) -> tuple[Any, Any]:
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, AbstractZero):
        return ZERO, ZERO
    _, bars, _ = back(x_bar)
    return unthunk(bars[0]), unthunk(bars[1])


def update_entry(pull: Any, fn: Any, x: Any, key: Any, v: Any) -> Callable[[Any], Any]:
    """``x[key] op= v``; ``undo(shadows)`` gives the cotangent of ``v``."""
    if isinstance(x, np.ndarray):
        return _element(pull, fn, x, keep(key), v)
    if type(x).__setitem__ not in PLAIN_SETTERS:
        raise UnsupportedSyntaxError(
            f"an item of an object of the class {type(x).__qualname__} is updated in place",
            hint="write x[k] = x[k] + y instead of x[k] += y",
        )
    if isinstance(x, list) and isinstance(key, slice):
        raise UnsupportedSyntaxError(
            "a slice of a list is updated in place", hint="use list.extend or a loop over the items"
        )
    new, undo = update(pull, fn, x[key], v)
    x[key] = new
    position = key + len(x) if isinstance(x, LISTS) and key < 0 else key

    def back(shadows: Any) -> Any:
        old_bar, v_bar = undo(shadows, shadows.take_entry(x, position))
        shadows.add_slot(x, position, old_bar)
        return v_bar

    return back


def _element(pull: Any, fn: Any, x: Any, key: Any, v: Any) -> Callable[[Any], Any]:
    old, other = keep(x[key]), keep(v)
    x[key] = fn(x[key], v)
    _, back = pull.whole(OUT_OF_PLACE[fn], (old, other), {})

    def undo(shadows: Any) -> Any:
        shadow = shadows.of(x)
        old_bar, v_bar = _two(back, unless_cut(take_stored(shadow, key), x, other))
        if not isinstance(old_bar, AbstractZero):
            index_add(shadow, key, old_bar)
        return v_bar

    return undo


def update_attribute(pull: Any, fn: Any, x: Any, name: str, v: Any) -> Callable[[Any], Any]:
    """``x.name op= v``; ``undo(shadows)`` gives the cotangent of ``v``."""
    if isinstance(x, np.ndarray) and name in ("real", "imag"):
        _, array = update(pull, fn, getattr(x, name), v)
        return lambda shadows: array(shadows, ZERO)[1]
    cls: Any = type(x)
    if (
        isinstance(x, np.ndarray)
        or isinstance(getattr(cls, name, None), property)
        or (cls.__setattr__ is not object.__setattr__ and cls is not types.SimpleNamespace)
    ):
        raise UnsupportedSyntaxError(
            f"{cls.__qualname__}.{name} is updated in place, and setting it runs code that is known only at run time",
            hint=f"write x.{name} = x.{name} + y instead of x.{name} += y",
        )
    new, undo = update(pull, fn, getattr(x, name), v)
    setattr(x, name, new)

    def back(shadows: Any) -> Any:
        old_bar, v_bar = undo(shadows, shadows.take_entry(x, name))
        shadows.add_slot(x, name, old_bar)
        return v_bar

    return back


def change(pull: Any, x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """``x.name(*args, **kwargs)``, which may change ``x``; ``undo(shadows, result_bar)`` gives the cotangents of the
    arguments."""
    if isinstance(x, np.ndarray):
        return _change_array(x, name, *args, **kwargs)
    method = getattr(type(x), name, None)
    if not isinstance(method, types.FunctionType):
        return changes.change(x, name, args, kwargs)
    value, undo_call = _called(pull, method, (x, *args), kwargs)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        bars, named = undo_call(shadows, bar)
        shadows.add(x, bars[0])
        return bars[1:], named

    return value, undo


def _called(pull: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """A method of the user's that may change what it is given; ``undo(shadows, bar)`` gives the cotangents of that."""
    raised: list[BaseException] = []
    value, back = pull.world.late_now().dispatch_shared.taking_note(raised).whole(method, args, kwargs)
    for error in raised:
        note_half_done(method.__qualname__, error)
        raise error

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        _, bars, named = run(shadows, back, shadows.number_part(value, bar))
        return bars, named

    return value, undo


def _change_array(x: np.ndarray, name: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if name == "__setitem__" and len(args) == 2:
        key, v = keep(args[0]), args[1]
        x[args[0]] = v
        return None, lambda shadows, bar: ([ZERO, shadows.take_entry(x, key, v)], {})
    if name == "fill" and len(args) == 1:
        x.fill(args[0])
        return None, lambda shadows, bar: ([shadows.take_entry(x, ..., args[0])], {})
    if name == "sort" and not kwargs and len(args) < 2:
        axis = args[0] if args else -1
        order = np.argsort(x, axis=axis, kind="stable")
        x.sort(*args)

        def unsorted(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
            shadow = shadows.of(x)
            np.put_along_axis(shadow, order, shadow.copy(), axis)
            return [ZERO] * len(args), {}

        return None, unsorted
    raise UnsupportedSyntaxError(
        f"the in-place method .{name}() on an array that is known only at run time",
        hint="make the array where it is changed, or build a new one",
    )
