"""Cotangents and tangents of functions that pass one of their arguments on.

Decided values where there is no derivative: half each where the two operands of ``maximum`` and its like are equal, one
at the bounds of ``clip`` and zero where these are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.complex import real_part
from thunkad.runtime.ducks import as_array, is_duck
from thunkad.tangents import ZERO, AbstractZero


def chosen(t: Any, y: Any, x: Any, other: Any) -> Any:
    """``t`` where ``y``, the larger or smaller of ``x`` and ``other``, is ``x``; half of it where both are; else zero.

    A NaN in ``y`` comes from the operand that is NaN.
    """
    if isinstance(t, AbstractZero):
        return t
    if isinstance(y, float):
        if x == y or (x != x and y != y):
            return t * 0.5 if x == other else t
        return 0.0
    mine = x == y
    lost = y != y
    if np.any(lost):
        mine = mine | (lost & (x != x))
    taken = np.where(mine, t, as_array(y).dtype.type(0))
    half = mine & (x == other)
    return np.where(half, taken * 0.5, taken) if np.any(half) else taken


def clip_bar(y_bar: Any, a: Any, low: Any, high: Any) -> Any:
    """The cotangent of what ``np.clip`` clips: ``y_bar`` between the bounds and on them, zero where they are equal."""
    return unbroadcast(np.where(clip_inside(a, low, high), y_bar, 0), a)


def clip_low_bar(y_bar: Any, a: Any, low: Any, high: Any) -> Any:
    """The cotangent of the lower bound of ``np.clip``."""
    return ZERO if low is None else unbroadcast(clip_low_part(y_bar, a, low, high), low)


def clip_high_bar(y_bar: Any, a: Any, low: Any, high: Any) -> Any:
    """The cotangent of the upper bound of ``np.clip``."""
    return ZERO if high is None else unbroadcast(clip_high_part(y_bar, a, low, high), high)


def clip_dot(a: Any, low: Any, high: Any, a_dot: Any, low_dot: Any, high_dot: Any) -> Any:
    """The tangent of ``np.clip``."""
    total: Any = ZERO
    if not isinstance(a_dot, AbstractZero):
        total = total + np.where(clip_inside(a, low, high), a_dot, 0)
    if low is not None and not isinstance(low_dot, AbstractZero):
        total = total + clip_low_part(low_dot, a, low, high)
    if high is not None and not isinstance(high_dot, AbstractZero):
        total = total + clip_high_part(high_dot, a, low, high)
    if isinstance(total, AbstractZero):
        return total
    given = [x for x in (a, low, high) if x is not None]
    dtype = np.result_type(*[np.asarray(x) if isinstance(x, (list, tuple)) else x for x in given])
    if dtype.kind != "f" or is_duck(type(total)):
        return total
    return np.asarray(total, dtype)[()]


def clip_inside(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip`` returns ``a`` itself; NaN counts as inside."""
    if low is None and high is None:
        return True
    if low is None or high is None:
        return ~np.greater(a, high) if low is None else ~np.less(a, low)
    return ~(np.less(a, low) | np.greater(a, high)) & np.less(low, high)


def clip_low_part(t: Any, a: Any, low: Any, high: Any) -> Any:
    """``t`` where ``np.clip`` returns its lower bound, half of it where the bounds are equal."""
    below = np.less(a, low)
    if high is None:
        return np.where(below, t, 0)
    return np.where(below & np.less(low, high), t, np.where(below & np.equal(low, high), t * 0.5, 0))


def clip_high_part(t: Any, a: Any, low: Any, high: Any) -> Any:
    """``t`` where ``np.clip`` returns its upper bound, half where the bounds are equal and ``a`` is below."""
    above = np.greater(a, high)
    if low is None:
        return np.where(above, t, 0)
    tied = np.equal(low, high) & np.less(a, low)
    return np.where(above | np.greater(low, high), t, np.where(tied, t * 0.5, 0))


# Selection


def where_dot(condition: Any, x_dot: Any, y_dot: Any) -> Any:
    """The tangent of ``np.where``."""
    return np.where(
        condition,
        0 if isinstance(x_dot, AbstractZero) else x_dot,
        0 if isinstance(y_dot, AbstractZero) else y_dot,
    )


def select_bars(y_bar: Any, condlist: Any, choicelist: Any) -> list[Any]:
    """The cotangents of the choices of ``np.select``: ``y_bar`` where the condition is the first that holds."""
    bars, free = [], np.array(True)
    for condition, choice in zip(condlist, choicelist):
        bars.append(unbroadcast(np.where(free & condition, y_bar, 0), choice))
        free = free & ~np.asarray(condition)
    return bars


def select_default_bar(y_bar: Any, condlist: Any, default: Any) -> Any:
    """The cotangent of the default of ``np.select``: ``y_bar`` where no condition holds."""
    free = np.array(True)
    for condition in condlist:
        free = free & ~np.asarray(condition)
    return unbroadcast(np.where(free, y_bar, 0), default)


def select_dot(condlist: Any, choicelist_dot: Any, default_dot: Any) -> Any:
    """The tangent of ``np.select``."""
    default = 0 if isinstance(default_dot, AbstractZero) else default_dot
    if isinstance(choicelist_dot, AbstractZero):
        choicelist_dot = [choicelist_dot] * len(condlist)
    return np.select(condlist, [np.asarray(0.0 if isinstance(t, AbstractZero) else t) for t in choicelist_dot], default)


def choose_bars(y_bar: Any, a: Any, choices: Any, mode: Any = "raise") -> Any:
    """The cotangents of the choices of ``np.choose``: a list, or an array if the choices are one."""
    a = _in_range(a, len(choices), mode)
    bars = [unbroadcast(np.where(np.equal(a, k), y_bar, 0), choice) for k, choice in enumerate(choices)]
    return np.stack(bars) if isinstance(choices, np.ndarray) else type(choices)(bars)


def choose_dot(a: Any, choices: Any, choices_dot: Any, mode: Any = "raise") -> Any:
    """The tangent of ``np.choose``."""
    if isinstance(choices_dot, np.ndarray):
        return np.choose(a, choices_dot, mode=mode)
    zeros = [np.zeros_like(choice) for choice in choices]
    return np.choose(a, [z if isinstance(t, AbstractZero) else t for t, z in zip(choices_dot, zeros)], mode=mode)


def _in_range(a: Any, count: int, mode: Any) -> Any:
    """Which choice is taken, given how ``np.choose`` treats numbers out of range."""
    return np.asarray(a) % count if mode == "wrap" else np.clip(a, 0, count - 1) if mode == "clip" else a


def finite_part(t: Any, x: Any) -> Any:
    """``t`` where ``x`` is finite, else zero, for real and imaginary part by itself."""
    if np.iscomplexobj(x):
        return np.where(np.isfinite(np.real(x)), np.real(t), 0) + 1j * np.where(np.isfinite(np.imag(x)), np.imag(t), 0)
    return np.where(np.isfinite(x), real_part(t), 0)
