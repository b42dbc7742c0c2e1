"""Cotangents of what is a key of a dict that is changed in place.

Objects have their own memory.  A number has a slot of its own in the shadow of the dict, and is the same key as every
number that equals it.
"""

from __future__ import annotations

import functools
import types
from collections import defaultdict
from collections.abc import Callable, KeysView
from typing import Any

from thunkad.runtime.array_shadows import ArrayShadows
from thunkad.runtime.chosen import METHODS
from thunkad.runtime.key_bars import NUMBERS, KeyBars, OfKey, dict_bar_of, of_keys_in, place_of_key
from thunkad.runtime.walks import is_moving
from thunkad.tangents import ZERO

#: Keys that are constants, and numbers, which have slots.
PLAIN = (str, bytes, int, type(None), type, *NUMBERS)


class KeyShadows(ArrayShadows):
    """The part of :class:`thunkad.runtime.shadows.Shadows` that knows keys."""

    of: Any
    add: Any
    add_entry: Any
    add_slot: Any

    def add_keys(self, x: Any, bars: Any) -> None:
        """Add the cotangents of the keys of the dict ``x``, or of a view of them; whole numbers are constants."""
        if not isinstance(bars, KeyBars):
            return
        for key, key_bar in bars.of_keys.values():
            if isinstance(key, (functools.partial, types.FunctionType, *METHODS)):
                bars.demand()
            if isinstance(key, NUMBERS):
                self.add_slot(x, OfKey(key), key_bar)
            else:
                self.add_entry(frozenset(), None, key, key_bar)

    def add_item(self, x: Any, position: int, item: Any, item_bar: Any) -> None:
        """Add the cotangent of what a loop over ``x`` binds: an entry, or a key of a dict."""
        if isinstance(x, (dict, KeysView)):
            self.add_keys(x, dict_bar_of((item,), (item_bar,), {}))
        else:
            self.add_entry(x, position, item, item_bar)

    def take_key(self, x: Any, key: Any) -> Any:
        """The cotangent of the number ``key``, under which something was put into ``x``; leaves zero."""
        return self.of(x).pop(OfKey(key), ZERO) if isinstance(x, dict) and isinstance(key, NUMBERS) else ZERO

    def take_default_key(self, x: Any, key: Any) -> Any:
        """The same where an entry was read, which a ``defaultdict`` may have made."""
        return self.take_key(x, key) if isinstance(x, defaultdict) else ZERO

    def taken_keys(self, x: Any) -> list[Any]:
        """The cotangents of the numbers in a view of keys; leaves zero."""
        slots = self.of(x)
        return [slots.pop(OfKey(key), ZERO) if isinstance(key, NUMBERS) else ZERO for key in x]

    def with_keys(self, x: Any, found: Any) -> Any:
        """``found``, the cotangent of the values of ``x``, and those of numbers among its keys."""
        if not isinstance(x, dict):
            return found
        of_keys = of_keys_in(self.of(x))
        return KeyBars(of_keys, found) if of_keys else found

    def with_objects(self, x: dict[Any, Any], found: Any, bar_of: Callable[[Any], Any]) -> Any:
        """The same with the cotangents of objects and tuples among the keys, which ``bar_of`` gives."""
        others = [key for key in x if not isinstance(key, PLAIN)]
        pairs = [(key, bar_of(key)) for key in others]
        moving = {place_of_key(key): (key, bar) for key, bar in pairs if is_moving(bar)}
        return KeyBars({**of_keys_in(found), **moving}, getattr(found, "of_values", found)) if moving else found
