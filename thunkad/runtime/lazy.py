"""Python's lazy functions as generator functions, for what can't be made a list: generators and other iterators."""

from __future__ import annotations

import itertools
from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.iterators import EXHAUSTED, drawn


def zipped(*iterables: Any, strict: Any = False) -> Any:
    its = [iter(x) for x in iterables]
    while its:
        items = []
        for k in range(len(its)):
            item = drawn(its[k])
            if item is EXHAUSTED:
                if strict:
                    check_ends(its, k)
                return
            items.append(item)
        yield tuple(items)


def zip_together(iterables: Any, strict: Any = False) -> Any:
    """``zip(*iterables, strict=strict)``"""
    return zipped_together([iter(x) for x in iterables], strict)


def zipped_together(its: Any, strict: Any) -> Any:
    while its:
        items = []
        for k in range(len(its)):
            item = drawn(its[k])
            if item is EXHAUSTED:
                if strict:
                    check_ends(its, k)
                return
            items.append(item)
        yield tuple(items)


def map_together(function: Any, iterables: Any) -> Any:
    """``map(function, *iterables)``"""
    return mapped_together(function, zip_together(iterables))


def mapped_together(function: Any, rows: Any) -> Any:
    for items in rows:
        yield function(*items)


def check_ends(its: list[Any], k: int) -> None:
    """For ``zip(strict=True)``: raise unless all end; the one of number ``k`` is the first that has."""
    if k > 0:
        refuse_lengths(k, True)
    for j in range(1, len(its)):
        if drawn(its[j]) is not EXHAUSTED:
            refuse_lengths(j, False)


def refuse_lengths(k: int, shorter: bool) -> None:
    """Raise what ``zip(strict=True)`` raises where argument ``k``, counted from 0, is shorter than those before it."""
    length, before = "shorter" if shorter else "longer", "argument " if k == 1 else "arguments 1-"
    raise ValueError(f"zip() argument {k + 1} is {length} than {before}{k}")


def check_lengths(*iterables: Any, strict: Any) -> None:
    """Raise what ``zip(strict=True)`` raises at its end."""
    if strict and not all(hasattr(x, "__len__") for x in iterables):
        raise UnsupportedSyntaxError(
            "zip(strict=True) of iterators, in a 'try' whose handler sees what the loop has done",
            hint="zip lists of them",
        )
    if strict and len(set(map(len, iterables))) > 1:
        list(zip(*map(range, map(len, iterables)), strict=True))


def enumerated(iterable: Any, start: Any = 0) -> Any:
    k = start
    for item in iterable:
        yield k, item
        k = k + 1


def mapped(function: Any, *iterables: Any) -> Any:
    its = [iter(x) for x in iterables]
    while its:  # not a loop over zipped(...), whose items could be drawn ahead
        items = []
        for k in range(len(its)):
            item = drawn(its[k])
            if item is EXHAUSTED:
                return
            items.append(item)
        yield function(*items)


def filtered(function: Any, iterable: Any) -> Any:
    for item in iterable:
        if item if function is None else function(item):
            yield item


def backwards(sequence: Any) -> Any:
    """``reversed`` of a list, a tuple or an array."""
    k = len(sequence)
    while k > 0:
        k = k - 1
        yield sequence[k]


def until(function: Any, sentinel: Any) -> Any:
    """``iter(function, sentinel)``"""
    while True:
        try:
            item = function()
        except StopIteration:
            return
        if item is sentinel or item == sentinel:
            return
        yield item


# ---------------------------------------------------------------- itertools


def sliced(iterable: Any, *bounds: Any) -> Any:
    """``itertools.islice``"""
    if len(bounds) == 1:
        bounds = 0, bounds[0], 1
    start = 0 if bounds[0] is None else bounds[0]
    stop = bounds[1]
    step = 1 if len(bounds) < 3 or bounds[2] is None else bounds[2]
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    it, k = iter(iterable), 0
    while stop is None or k < stop:
        item = drawn(it)
        if item is EXHAUSTED:
            return
        if k >= start and (k - start) % step == 0:
            yield item
        k = k + 1


def taken_while(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropped_while(predicate: Any, iterable: Any) -> Any:
    begun = False
    for item in iterable:
        begun = begun or not predicate(item)
        if begun:
            yield item


def filtered_false(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def chained(*iterables: Any) -> Any:
    for part in iterables:
        yield from part


def chained_from(iterables: Any) -> Any:
    for part in iterables:
        yield from part


def counted(start: Any = 0, step: Any = 1) -> Any:
    k = start
    while True:
        yield k
        k = k + step


def repeated(value: Any, times: Any = None) -> Any:
    k = 0
    while times is None or k < times:
        yield value
        k = k + 1


def cycled(iterable: Any) -> Any:
    kept = []
    for item in iterable:
        kept.append(item)
        yield item
    while kept:
        k = 0
        while k < len(kept):
            yield kept[k]
            k = k + 1


def accumulated(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    it, total = iter(iterable), initial
    if initial is None:
        total = drawn(it)
        if total is EXHAUSTED:
            return
    yield total
    for item in it:
        total = total + item if func is None else func(total, item)
        yield total


def starmapped(function: Any, iterable: Any) -> Any:
    for args in iterable:
        yield function(*args)


def in_pairs(iterable: Any) -> Any:
    it = iter(iterable)
    before = drawn(it)
    for item in it:
        yield before, item
        before = item


class Groups:
    """What ``itertools.groupby`` and its groups share: where the iterator is, and the number of the group.

    ``value`` is the item that was drawn last, ``key`` its key.
    """

    def __init__(self, iterable: Any, by: Any) -> None:
        self.it, self.by = iter(iterable), by
        self.number, self.over = 0, False
        self.value = self.key = None

    def draw(self) -> None:
        item = drawn(self.it)
        if item is EXHAUSTED:
            self.over = True
        else:
            self.value = item
            self.key = item if self.by is None else self.by(item)


def grouped(iterable: Any, key: Any = None) -> Any:
    groups = Groups(iterable, key)
    groups.draw()
    while not groups.over:
        groups.number = groups.number + 1
        wanted = groups.key
        yield wanted, members(groups, wanted, groups.number)
        while not groups.over and groups.key == wanted:
            groups.draw()


def members(groups: Groups, key: Any, number: int) -> Any:
    """The items of one group; there are no more once the next one has begun."""
    while not groups.over and groups.number == number and groups.key == key:
        yield groups.value
        groups.draw()


def split_up(iterable: Any, n: int = 2) -> Any:
    """``itertools.tee``"""
    it = iter(iterable)
    kept: list[Any] = []
    copies = []
    for _ in range(n):
        copies.append(followed(it, kept))
    return tuple(copies)


def followed(it: Any, kept: list[Any]) -> Any:
    """The items of ``it``, of which ``kept`` has those that were drawn before."""
    k = 0
    while True:
        if k == len(kept):
            item = drawn(it)
            if item is EXHAUSTED:
                return
            kept.append(item)
        yield kept[k]
        k = k + 1


#: The lazy functions of Python by the generator functions that do the same.
OF_BUILTINS: dict[str, Any] = {"enumerate": enumerated, "zip": zipped, "map": mapped, "filter": filtered}
OF_ITERTOOLS: dict[Any, Any] = {
    itertools.islice: sliced, itertools.takewhile: taken_while, itertools.dropwhile: dropped_while,
    itertools.filterfalse: filtered_false, itertools.chain: chained, itertools.chain.from_iterable: chained_from,
    itertools.count: counted, itertools.repeat: repeated, itertools.cycle: cycled, itertools.accumulate: accumulated,
    itertools.starmap: starmapped, itertools.pairwise: in_pairs, itertools.groupby: grouped,
    itertools.tee: split_up,
}  # fmt: skip
