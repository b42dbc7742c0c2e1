"""Forward mode over :mod:`thunkad.compiled.updates`: changes of what is known only at run time, and their undoing.

A change is made to the tangent of ``x`` as it is to ``x``.  What undoes it in the reverse sweep moves cotangents from
place to place, which is the same for their tangents, or is the pullback of an operator, which has a derivative itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.compiled import push_updates
from thunkad.compiled.updates import OUT_OF_PLACE, PLAIN_SETTERS
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import entry, index_add
from thunkad.runtime.dot_changes import set_entry, set_field
from thunkad.runtime.dots import entry_dot, field_dot
from thunkad.runtime.shadows import keep, take_stored, unless_cut
from thunkad.tangents import ZERO, AbstractZero, unthunk

#: From shadows, their tangents, cotangents and their tangents to what undoing returns and its tangent.
Both = Callable[..., tuple[Any, Any]]


class Undone:
    """What undoes a change, with the function that does so for cotangents and for their tangents."""

    def __init__(self, undo: Any, both: Both | None = None) -> None:
        self.undo = undo
        self.both = both if both is not None else self.linear

    def __call__(self, *args: Any) -> Any:
        return self.undo(*args)

    def linear(self, *args: Any) -> tuple[Any, Any]:
        half = len(args) // 2
        return self.undo(*args[:half]), self.undo(*args[half:])

    def push(self, args: Any, dots: Any) -> tuple[Any, Any]:
        return self.both(*args, *dots)


def again(redone: Any, what: str, fn: Any, args: Any, dots: Any) -> tuple[Any, Any]:
    """``fn``, the method ``what`` of a dispatcher, with the tangents ``dots`` of its arguments."""
    if what == "Pull.change":
        return _change(redone, fn, args, dots)
    op, x, *rest = args
    if what == "Pull.update":
        return update(redone, op, x, rest[0], dots[1], dots[2])
    key, v = rest
    if what == "Pull.update_entry":
        if isinstance(x, np.ndarray):
            return _element(redone, op, x, key, v, dots[1], dots[3])
        _refuse_own_code(x, "__setitem__", PLAIN_SETTERS)
        old = x[key]
        (new, undo), (new_dot, _) = update(redone, op, old, v, entry_dot(dots[1], key, old), dots[3])
        set_entry(dots[1], key, new_dot, x, new)
        x[key] = new
        place = key + len(x) if isinstance(x, LISTS) and key < 0 else key
    else:
        _refuse_own_code(x, "__setattr__", (object.__setattr__,))
        if isinstance(x, np.ndarray) or isinstance(getattr(type(x), key, None), property):
            raise _refused(x)
        old, place = getattr(x, key), key
        (new, undo), (new_dot, _) = update(redone, op, old, v, field_dot(dots[1], key, x, old), dots[3])
        set_field(dots[1], key, new_dot, x, new)
        setattr(x, key, new)

    def both(shadows: Any, shadows_dot: Any) -> tuple[Any, Any]:
        bar, bar_dot = shadows.take_entry(x, place), shadows_dot.take_entry(x, place)
        (old_bar, v_bar), (old_dot, v_dot) = undo.both(shadows, bar, shadows_dot, bar_dot)
        shadows.add_slot(x, place, old_bar)
        shadows_dot.add_slot(x, place, old_dot)
        return v_bar, v_dot

    return Undone(None, both), ZERO


def update(redone: Any, op: Any, x: Any, v: Any, x_dot: Any, v_dot: Any) -> tuple[Any, Any]:
    """``x op= v``: the new ``x`` and what undoes it; the tangent of the new ``x``."""
    pull = redone.world.puller
    x_dot, v_dot = unthunk(x_dot), unthunk(v_dot)
    if isinstance(x, (*LISTS, dict)):
        given = v if hasattr(v, "__len__") or isinstance(v, int) else list(v)
        dot = push_updates.update_of_tangent(op, x, x_dot, list(given) if given is x else given, v_dot)
        new, undo = pull.update(op, x, given)
        return (new, Undone(undo)), (dot, ZERO)
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)):
        raise _refused(x)
    old, old_dot = keep(x), keep(x_dot)
    (value, made), (dot, made_dot) = _operate(redone, op, old, keep(v), old_dot, keep(v_dot))
    if isinstance(x, np.ndarray):
        x = op(x, v)
        if isinstance(x_dot, np.ndarray):
            x_dot[...] = _number(dot)
        elif not isinstance(dot, AbstractZero):
            raise _refused(x)
        value, dot = x, x_dot

    def both(shadows: Any, bar: Any, shadows_dot: Any, bar_dot: Any) -> tuple[Any, Any]:
        in_memory = isinstance(value, np.ndarray)
        if in_memory:
            bar, bar_dot = shadows.of(value).copy(), shadows_dot.of(value).copy()
        bars, bars_dot = _pulled(redone, made, made_dot, bar, bar_dot)
        if isinstance(x, np.ndarray):
            shadows.of(x)[...] = _number(bars[0])
            shadows_dot.of(x)[...] = _number(bars_dot[0])
            return (ZERO, bars[1]), (ZERO, bars_dot[1])
        return bars, bars_dot

    return (value, Undone(None, both)), (dot, ZERO)


def _element(redone: Any, op: Any, x: Any, key: Any, v: Any, x_dot: Any, v_dot: Any) -> tuple[Any, Any]:
    key = keep(key)
    old, other = keep(x[key]), keep(v)
    old_dot = keep(entry_dot(x_dot, key, old))
    (_, made), (dot, made_dot) = _operate(redone, op, old, other, old_dot, keep(v_dot))
    x[key] = op(x[key], v)
    set_entry(x_dot, key, dot, x, old)

    def both(shadows: Any, shadows_dot: Any) -> tuple[Any, Any]:
        taken = [unless_cut(take_stored(s.of(x), key), x, other) for s in (shadows, shadows_dot)]
        bars, bars_dot = _pulled(redone, made, made_dot, *taken)
        for s, bar in ((shadows, bars[0]), (shadows_dot, bars_dot[0])):
            if not isinstance(bar, AbstractZero):
                index_add(s.of(x), key, bar)
        return bars[1], bars_dot[1]

    return Undone(None, both), ZERO


def _operate(redone: Any, op: Any, x: Any, v: Any, x_dot: Any, v_dot: Any) -> tuple[Any, Any]:
    """``x op v`` and its pullback, and the tangents of both."""
    found: tuple[Any, Any] = redone.push(
        redone.world.puller.call, (OUT_OF_PLACE[op], (0, 1), x, v), (ZERO, ZERO, x_dot, v_dot), {}, {}
    )
    return found


def _pulled(redone: Any, made: Any, made_dot: Any, bar: Any, bar_dot: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    bars, dots = redone.push_pulled(made, made_dot, unthunk(bar), unthunk(bar_dot))
    return (entry(bars, 0), entry(bars, 1)), (entry(dots, 0), entry(dots, 1))


def _change(redone: Any, fn: Any, args: Any, dots: Any) -> tuple[Any, Any]:
    x, name, given, named = args
    if isinstance(getattr(type(x), name, None), types.FunctionType):
        raise UnsupportedSyntaxError(
            f"a second derivative through the method {name} of a {type(x).__name__}, found only when the code runs, "
            "is not supported",
            hint="call the method on an object that is made in the same function",
        )
    steps = tuple(entry(dots[2], k) for k in range(len(given)))
    by_name = {k: entry(dots[3], k) for k in named}
    x_dot = unthunk(dots[0])
    dot = push_updates.change_of_tangent(x, x_dot, name, given, steps, named, by_name)
    value, undo = fn(*args)
    return (value, Undone(undo)), (push_updates.as_dense(dot, value), ZERO)


def _number(bar: Any) -> Any:
    return 0.0 if isinstance(bar, AbstractZero) else bar


def _refuse_own_code(x: Any, method: str, plain: tuple[Any, ...]) -> None:
    if getattr(type(x), method, None) not in plain:
        raise _refused(x)


def _refused(x: Any) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a second derivative through an update in place of a {type(x).__name__} that is known only when the code runs "
        "is not supported",
        hint="write x = x + y instead of x += y",
    )
