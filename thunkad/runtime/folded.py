"""What built-in functions do with objects of a user's classes, as Python functions, which the compiler looks into."""

from __future__ import annotations

from typing import Any


def added_up(iterable: Any, /, start: Any = 0) -> Any:
    """``sum(iterable, start)`` by the operators of what is added."""
    total = start
    for x in iterable:
        total = total + x
    return total


def multiplied(iterable: Any, /, *, start: Any = 1) -> Any:
    """``math.prod(iterable, start=start)`` by the operators of what is multiplied."""
    total = start
    for x in iterable:
        total = total * x
    return total
