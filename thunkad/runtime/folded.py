"""What built-in functions do with objects and generators, as Python functions, which the compiler looks into."""

from __future__ import annotations

from typing import Any

from thunkad.runtime.iterators import listed


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


def tupled(items: Any, /) -> Any:
    """``tuple(items)`` of a generator."""
    return tuple(listed(items))


def mapped(items: Any, /, **more: Any) -> Any:
    """``dict(items, …)`` of a generator."""
    return dict(listed(items), **more)


def ordered(items: Any, /, **how: Any) -> Any:
    """``sorted(items, …)`` of a generator."""
    return sorted(listed(items), **how)


def largest(items: Any, /, **how: Any) -> Any:
    """``max(items, …)`` of a generator."""
    return max(listed(items), **how)


def smallest(items: Any, /, **how: Any) -> Any:
    """``min(items, …)`` of a generator."""
    return min(listed(items), **how)
