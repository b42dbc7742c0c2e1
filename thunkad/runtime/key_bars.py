"""Cotangents of dicts, and of objects and numbers that are their keys."""

from __future__ import annotations

from collections.abc import Iterable, KeysView
from typing import Any

import numpy as np

from thunkad.errors import Place
from thunkad.runtime.cotangents import add, entry, index_add
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, unthunk

#: Why these can't be told in general.
KEYS = (
    "an object that is a key of a dict is differentiated where the keys are gone through: "
    "keep the objects in a list, or as values of the dict"
)
#: Classes of numbers, which are the same key where they are equal; other keys are told apart by their identity.
NUMBERS = (float, complex, np.inexact)


class OfKey:
    """The place, in the shadow or the tangent of a dict, of the number ``key`` that is a key of it."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __hash__(self) -> int:
        return hash((OfKey, self.key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfKey) and (self.key,) == (other.key,)


def place_of_key(key: Any) -> Any:
    """What finds the cotangent of a key again."""
    return OfKey(key) if isinstance(key, NUMBERS) else id(key)


class KeyBars(NotImplementedTangent):
    """The cotangent of a dict of which keys have one: those of its keys, and of its values by key.

    What knows nothing of keys can't use it: that is an error.
    """

    __slots__ = ("of_keys", "of_values")

    def __init__(self, of_keys: dict[Any, tuple[Any, Any]], of_values: dict[Any, Any]) -> None:
        super().__init__(KEYS, Place())
        self.of_keys, self.of_values = of_keys, of_values

    def demand(self) -> Any:
        """The cotangent of what is given as an argument, whose numbers that are keys are constants."""
        if all(isinstance(key, (int, float, complex, np.generic)) for key, _ in self.of_keys.values()):
            return self.of_values
        return super().demand()

    def __getitem__(self, key: Any) -> Any:
        return self.of_values.get(key, ZERO)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, KeyBars):
            return KeyBars(self.of_keys, add(self.of_values, other))
        keys = dict(self.of_keys)
        for place, (key, bar) in other.of_keys.items():
            keys[place] = key, add(keys[place][1], bar) if place in keys else bar
        return KeyBars(keys, add(self.of_values, other.of_values))

    __radd__ = __add__


def dict_bar_of(keys: Iterable[Any], parts: Iterable[Any], of_values: dict[Any, Any]) -> Any:
    """The cotangent of a dict from those of its keys, in order, and those of its values."""
    pairs = ((key, unthunk(bar)) for key, bar in zip(keys, parts))
    of_keys = {place_of_key(key): (key, bar) for key, bar in pairs if not isinstance(bar, AbstractZero)}
    return KeyBars(of_keys, of_values) if of_keys else of_values


def item_add(x_bar: Any, position: int, v: Any, x: Any, item: Any) -> Any:
    """Add ``v``, the cotangent of the ``item`` that a loop over ``x`` has come to, to the cotangent of ``x``."""
    if isinstance(x, dict):
        return add(x_bar, dict_bar_of((item,), (v,), {}))
    if isinstance(x, KeysView) and not isinstance(x_bar, list):
        x_bar = [ZERO] * len(x)
    return index_add(x_bar, position, v)


def key_bars(t_bar: Any, keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the keys of a dict display."""
    t_bar = unthunk(t_bar)
    found = of_keys_in(t_bar)
    return tuple(found.pop(place_of_key(key), (key, ZERO))[1] for key in keys)


def of_keys_in(t_bar: Any) -> dict[Any, tuple[Any, Any]]:
    """The cotangents of keys in that of a dict, or in its shadow, each with the key."""
    if isinstance(t_bar, KeyBars):
        return dict(t_bar.of_keys)
    slots = t_bar if isinstance(t_bar, dict) else {}
    return {place: (place.key, bar) for place, bar in slots.items() if isinstance(place, OfKey)}


def split_named(t_bar: Any, spread: tuple[int, ...], places: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cut the cotangent of a dict display: one part per item, a dict for each that was spread (``**``).

    ``places`` has the key of an item, or the dict that was spread; of equal keys the last one counts.
    """
    t_bar = unthunk(t_bar)
    of_keys = of_keys_in(t_bar)
    seen: set[Any] = set()
    parts: list[Any] = []
    for j in reversed(range(len(places))):
        keys = tuple(places[j]) if j in spread else (places[j],)
        found = {key: ZERO if key in seen else entry(t_bar, key) for key in keys}
        seen.update(keys)
        own = [of_keys.pop(place_of_key(key), (key, ZERO))[1] for key in keys] if j in spread else []
        parts.append(dict_bar_of(keys, own, found) if j in spread else found[places[j]])
    return tuple(reversed(parts))
