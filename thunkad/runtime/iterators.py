"""Iterators as objects of Python classes, which the compiler looks into."""

from __future__ import annotations

from typing import Any


class Exhausted:
    """What :func:`drawn` gives when there is nothing left."""


EXHAUSTED = Exhausted()


def drawn(it: Any) -> Any:
    """The next item of an iterator, or ``EXHAUSTED``."""
    try:
        return it.__next__()
    except StopIteration:
        return EXHAUSTED


def drawn_or(it: Any, default: Any) -> Any:
    """``next(it, default)``"""
    try:
        return it.__next__()
    except StopIteration:
        return default


def listed(items: Any) -> Any:
    """All items of an object that can be iterated over."""
    out = []
    for item in items:
        out.append(item)
    return out


def joined(*parts: Any, **named: Any) -> Any:
    """``dict(*parts, **named)``"""
    return {**dict(*parts), **named}


class Items:
    """An iterator over a list, a tuple or an array, as ``iter`` makes it."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.at = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.items):
            raise StopIteration
        item = self.items[self.at]
        self.at += 1  # last, so that nothing is raised once something has changed
        return item


def items_of(items: Any) -> Any:
    """``iter(items)`` of a list, a tuple or an array."""
    return Items(items)
