"""Functions that choose by a ``key``, as Python functions: what the key raises is followed by way of them."""

from __future__ import annotations

from typing import Any

from thunkad.runtime.elements import ordered, place_by, sorted_order


def sorted_by(iterable: Any, *, key: Any, reverse: Any = False) -> Any:
    """``sorted(iterable, key=key, reverse=reverse)``"""
    items = list(iterable)
    keys = items if key is None else [key(x) for x in items]
    return ordered(items, sorted_order(keys, None, reverse))


def largest_by(*args: Any, key: Any) -> Any:
    """``max(…, key=key)``"""
    items = list(args[0]) if len(args) == 1 else args
    keys = items if key is None else [key(x) for x in items]
    return items[place_by(max, keys, None)]


def smallest_by(*args: Any, key: Any) -> Any:
    """``min(…, key=key)``"""
    items = list(args[0]) if len(args) == 1 else args
    keys = items if key is None else [key(x) for x in items]
    return items[place_by(min, keys, None)]


#: These functions, by the ones that they stand for.
KEYED: dict[Any, Any] = {sorted: sorted_by, list.sort: sorted_by, max: largest_by, min: smallest_by}
