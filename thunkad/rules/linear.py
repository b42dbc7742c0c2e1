"""Forward rules of runtime helpers that are linear in what they take.

The derivative of a reverse sweep (for second derivatives) is forward mode over its code, which calls these helpers; a
rule spares the compiler looking inside them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from thunkad.lifetimes import written
from thunkad.rules.library import frule
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.cotangents import add, entry


def linear(*helpers: Callable[..., Any]) -> None:
    """Register the forward rule of helpers that are linear in their first argument and constant in all others."""
    for helper in helpers:
        _register(helper, None)


def bilinear(other: int, *helpers: Callable[..., Any]) -> None:
    """Register the forward rule of helpers that are linear in their first argument and in argument number ``other``."""
    for helper in helpers:
        _register(helper, other - 1)


def _register(helper: Callable[..., Any], other: int | None) -> None:
    @frule(helper)
    def _(first: Any, *rest: Any, first_dot: Any, rest_dot: Any) -> Any:
        total = first_dot if is_zero(first_dot) else helper(first_dot, *rest)
        other_dot = None if other is None else entry(rest_dot, other)
        if other is not None and not is_zero(other_dot):
            total = add(total, helper(first, *rest[:other], other_dot, *rest[other + 1 :]))
        return helper(first, *rest), total

    # what the compiler needs to paste the rule
    _.linear_helper = helper  # type: ignore[attr-defined]
    _.linear_in = (0,) if other is None else (0, other + 1)  # type: ignore[attr-defined]


def jointly_linear(helper: Callable[..., Any], *params: str) -> None:
    """Register the forward rule of a helper: linear in these parameters taken together, constant in all others."""
    names = list(inspect.signature(helper).parameters)
    dots = [f"{p}_dot" for p in params]
    moved = [f"{p}_dot" if p in params else p for p in names]
    text = (
        f"def moved({', '.join(names)}, *, {', '.join(dots)}):\n"
        f"    if {' and '.join(f'is_zero({dot})' for dot in dots)}:\n"
        f"        return helper({', '.join(names)}), {dots[0]}\n"
        f"    return helper({', '.join(names)}), helper({', '.join(moved)})\n"
    )
    namespace = {"helper": helper, "is_zero": is_zero, "__name__": __name__}
    frule(helper)(written(text, "moved", namespace, f"forward rule of {helper.__name__}"))
