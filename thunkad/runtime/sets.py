"""Sets: they hold their elements by their values, so what is differentiated can't be among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.shadows import fields_of

_PLAIN = (str, bytes, int, np.integer, np.bool_, type(None), type, range)


def set_of(cls: type, iterable: Iterable[Any] = ()) -> Any:
    """``cls(iterable)``, a set whose elements are no numbers that could be differentiated."""
    made = cls(iterable)
    check_elements(made)
    return made


def check_elements(elements: Iterable[Any]) -> None:
    """Refuse numbers, and objects that hold some, as elements of a set."""
    for x in elements:
        if holds_numbers(x):
            raise UnsupportedSyntaxError(
                f"an element of type {type(x).__name__} in a set, where it may be differentiated",
                hint="use a list, a tuple or a dict: a set holds its elements by their values",
            )


def holds_numbers(x: Any) -> bool:
    """Whether ``x`` is, or holds, something that could be differentiated; whole numbers in sets are indices."""
    if isinstance(x, _PLAIN) or callable(x):
        return False
    if isinstance(x, (tuple, frozenset)):
        return any(map(holds_numbers, x))
    if isinstance(x, (float, complex, np.inexact)):
        return True
    return any(holds_numbers(v) or isinstance(v, (np.ndarray, list, dict)) for v in fields_of(x).values())
