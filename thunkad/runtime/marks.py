"""Marks by which functions that make derivatives, and derivative functions, are known in differentiated code."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

from thunkad.records import record, replace
from thunkad.runtime.cotangents import entry

MARK = "__thunkad_derivative__"
NESTED = "__thunkad_nested__"
PUBLIC: dict[str, Any] = {}  # those functions, by what they do
MAP = "__thunkad_map__"  # of what linearize and vjp returned, see thunkad.runtime.maps
F = TypeVar("F", bound=Callable[..., Any])


@record(frozen=True)
class Derivative:
    """What a derivative function that was handed out is the derivative of."""

    f: Any
    product: str
    argnums: Any = 0
    argnames: Any = None
    has_aux: bool = False

    def each(self) -> list[Derivative]:
        """The derivatives by one argument each that one by several arguments consists of."""
        return [replace(self, product="columns", argnums=k) for k in self.argnums]

    def turned(self, parts: Any) -> Any:
        """Between these, in a tuple, and the whole: of a Hessian the blocks ``[i][k]`` are those of argument ``k``."""
        if self.product != "blocks":
            return tuple(parts)
        places = range(len(self.argnums))
        return tuple(tuple(entry(entry(parts, k), i) for k in places) for i in places)


def marked(fn: F, derivative: Derivative) -> F:
    """``fn``, known as this derivative wherever it is called in differentiated code."""
    setattr(fn, MARK, derivative)
    return fn


def nests(what: str) -> Callable[[Any], Any]:
    """Mark a function of the public interface that takes a derivative when it is called."""

    def mark(fn: Any) -> Any:
        setattr(fn, NESTED, what)
        PUBLIC[what] = fn
        return fn

    return mark


def derivative_of(fn: Any) -> Derivative | None:
    return getattr(fn, MARK, None) if isinstance(fn, types.FunctionType) else None
