"""Iterators as objects of Python classes, which the compiler looks into."""

from __future__ import annotations

from typing import Any


class EXHAUSTED:
    """What :func:`drawn` gives when there is nothing left: the class itself, which is no memory."""


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


def following(it: Any) -> Any:
    """``next(it)`` inside a generator, which an end of ``it`` does not end silently."""
    item = drawn(it)
    if item is EXHAUSTED:
        raise RuntimeError("generator raised StopIteration")
    return item


def listed(items: Any) -> Any:
    """All items of an object that can be iterated over."""
    out = []
    for item in items:
        out.append(item)
    return out


def listed_by_index(items: Any, count: Any = None) -> Any:
    """All items of an object that has a ``__getitem__`` and no ``__iter__``."""
    out: list[Any] = []
    while True:
        try:
            item = items[len(out)]
        except IndexError:
            break
        out.append(item)
    return out


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


class Steps:
    """An iterator over a ``range``."""

    def __init__(self, steps: range) -> None:
        self.value, self.step, self.left = steps.start, steps.step, len(steps)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.left == 0:
            raise StopIteration
        value = self.value
        self.value = value + self.step
        self.left -= 1
        return value


def steps_of(steps: range) -> Any:
    """``iter(steps)`` of a range."""
    return Steps(steps)


def unpacked(items: Any, count: int) -> Any:
    """As many items of an object that can be iterated over as tell whether it has ``count`` of them."""
    it = iter(items)
    out = []
    for _ in range(count + 1):
        item = drawn(it)
        if item is EXHAUSTED:
            break
        out.append(item)
    return out


def everything(items: Any, count: Any = None) -> Any:
    """``items``; of an iterator of a Python class :func:`listed` or, with a ``count``, :func:`unpacked`."""
    return items


def found_in(items: Any, x: Any) -> bool:
    """``x in items`` of an object that can be iterated over: no more than it takes is drawn."""
    for item in items:
        if item is x or item == x:
            return True
    return False


def contained(items: Any, x: Any) -> bool:
    """``x in items``; of an iterator of a Python class :func:`found_in`."""
    return x in items


def keys_of(items: Any) -> Any:
    """``iter(items)`` of a dict, a view of one, or a string."""
    return Items(list(items))
