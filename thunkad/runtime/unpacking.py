"""Unpacking with a starred target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def split_starred(value: Iterable[Any], before: int, after: int) -> tuple[Any, ...]:
    """``(*first, rest, *last)`` with ``before`` first and ``after`` last elements and a list of those between.

    >>> split_starred("abcde", 1, 2)
    ('a', ['b', 'c'], 'd', 'e')
    """
    try:
        items = list(iter(value))
    except TypeError:
        if hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__"):
            raise
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])
