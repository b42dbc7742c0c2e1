"""What SciPy has found with plain numbers, as a value with a derivative."""

from __future__ import annotations

import copy
from typing import Any

from thunkad.rules.library import frule, rrule
from thunkad.runtime.cotangents import entry
from thunkad.tangents import NoTangent, thunk


def same_value(found: Any, computed: Any) -> Any:
    """``found``, with the derivative of ``computed``, which differs from it by rounding alone."""
    return found


@rrule(same_value)
def _(found, computed):
    y = same_value(found, computed)

    def pullback(y_bar):
        return NoTangent(), y_bar

    return y, pullback


@frule(same_value)
def _(found, computed, *, computed_dot):
    return same_value(found, computed), computed_dot


def completed(found: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A result of SciPy's, which is a dict, with these values under these names."""
    made = copy.copy(found)
    for name, value in zip(names, values):
        made[name] = value
    return made


@rrule(completed)
def _(found, names, values):
    made = completed(found, names, values)

    def pullback(made_bar):
        return NoTangent(), NoTangent(), thunk(lambda: entries(made_bar, names))

    return made, pullback


@frule(completed)
def _(found, names, values, *, values_dot):
    return completed(found, names, values), tangent_of(names, values_dot)


def entries(made_bar: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(entry(made_bar, name) for name in names)


def tangent_of(names: tuple[str, ...], values_dot: Any) -> dict[str, Any]:
    return {name: entry(values_dot, k) for k, name in enumerate(names)}
