"""Callees that are found when the code runs, with the variables of others that they may use."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from thunkad.runtime.variables import Variable
from thunkad.tangents import ZERO


class Using:
    """What is called, and the variables that are handed to it."""

    __slots__ = ("callee", "variables")

    def __init__(self, callee: Any, variables: tuple[Variable, ...]) -> None:
        self.callee, self.variables = callee, variables


class UsingDot:
    """The tangent of that: one of the callee, and one of each variable."""

    __slots__ = ("callee", "variables")

    def __init__(self, callee: Any, variables: tuple[Any, ...]) -> None:
        self.callee, self.variables = callee, variables


def using(callee: Any, *variables: Variable) -> Using:
    """``callee``, with the variables that functions share."""
    return Using(callee, variables)


def using_dot(callee_dot: Any, variable_dots: tuple[Any, ...]) -> UsingDot:
    """The tangent of :func:`using`."""
    return UsingDot(callee_dot, variable_dots)


#: The tangents of each variable, by its identity, in the call that is running; None where nobody has foreseen any.
_running: contextvars.ContextVar[dict[int, tuple[Any, ...]] | None] = contextvars.ContextVar(
    "thunkad_using", default=None
)


@contextmanager
def handed(fn: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """While what is called is called: the bundle of the callee itself, from that of :class:`Using`."""
    bundles: dict[int, tuple[Any, ...]] | None = None
    if isinstance(fn[0], Using):
        dots = [t.variables if isinstance(t, UsingDot) else (ZERO,) * len(fn[0].variables) for t in fn[1:]]
        bundles = {id(v): tuple(d[k] for d in dots) for k, v in enumerate(fn[0].variables)}
        fn = (fn[0].callee, *(t.callee if isinstance(t, UsingDot) else ZERO for t in fn[1:]))
    token = _running.set(bundles)
    try:
        yield fn
    finally:
        _running.reset(token)


def tangents_of(variable: Variable, count: int) -> tuple[Any, ...] | None:
    """The ``count`` tangents of a variable in the call that is running; None if its caller knows of none."""
    found = (_running.get() or {}).get(id(variable))
    return found if found is not None and len(found) == count else None


def finds_some() -> bool:
    """Whether variables have been handed to the call that is running."""
    return bool(_running.get())
