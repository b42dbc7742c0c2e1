"""Functions of ``itertools`` that put items together in all ways; as those of ``zip``, their items are lists."""

from __future__ import annotations

import itertools
from typing import Any


def places_of_product(sizes: list[int]) -> Any:
    """The places of one item out of each of some lists, in all ways."""
    return list(itertools.product(*map(range, sizes)))


def places_of_combinations(size: int, r: int) -> Any:
    return list(itertools.combinations(range(size), r))


def places_of_repetitions(size: int, r: int) -> Any:
    return list(itertools.combinations_with_replacement(range(size), r))


def places_of_permutations(size: int, r: Any) -> Any:
    return list(itertools.permutations(range(size), r))


def multiplied(*iterables: Any, repeat: int = 1) -> Any:
    pools = [list(p) for p in iterables] * repeat
    return [
        tuple([pools[k][place] for k, place in enumerate(places)])
        for places in places_of_product([len(p) for p in pools])
    ]


def combined(iterable: Any, r: int) -> Any:
    pool = list(iterable)
    return [tuple([pool[place] for place in places]) for places in places_of_combinations(len(pool), r)]


def combined_with_replacement(iterable: Any, r: int) -> Any:
    pool = list(iterable)
    return [tuple([pool[place] for place in places]) for places in places_of_repetitions(len(pool), r)]


def permuted(iterable: Any, r: Any = None) -> Any:
    pool = list(iterable)
    return [tuple([pool[place] for place in places]) for places in places_of_permutations(len(pool), r)]


def zipped_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    lists = [list(p) for p in iterables]
    longest = max([len(p) for p in lists], default=0)
    return [tuple([p[k] if k < len(p) else fillvalue for p in lists]) for k in range(longest)]


def compressed(data: Any, selectors: Any) -> Any:
    return [item for item, keep in zip(data, selectors) if keep]


CHOICES: dict[Any, Any] = {
    itertools.product: multiplied, itertools.combinations: combined, itertools.permutations: permuted,
    itertools.combinations_with_replacement: combined_with_replacement, itertools.zip_longest: zipped_longest,
    itertools.compress: compressed,
}  # fmt: skip
