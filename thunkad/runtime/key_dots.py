"""Tangents of the keys of dicts: the tangent of a dict holds those of numbers, and of tuples of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import DefaultDots
from thunkad.runtime.key_bars import NUMBERS, OfKey
from thunkad.tangents import AbstractZero, unthunk

_BY_VALUE = (*NUMBERS, tuple)


def add_key(x_dot: Any, key: Any, key_dot: Any) -> None:
    """``key`` is a key of a dict with the tangent ``x_dot``; of equal ones the first is."""
    if isinstance(x_dot, dict) and isinstance(key, _BY_VALUE) and not isinstance(unthunk(key_dot), AbstractZero):
        x_dot.setdefault(OfKey(key), key_dot)


def add_default_key(x_dot: Any, key: Any, key_dot: Any) -> None:
    """The same where an entry was read, which a ``defaultdict`` may have made."""
    if type(x_dot) is DefaultDots:
        add_key(x_dot, key, key_dot)


def noted(key: Any, x: Any) -> Any:
    """``key``, by which something is about to be put into ``x``: what differentiates that notes its tangent."""
    return key


def drop_key(x_dot: Any, key: Any) -> None:
    """``key`` is a key no longer."""
    x_dot.pop(OfKey(key), None)


def dots_by_key(dots: Iterable[Any], keys: Iterable[Any]) -> dict[Any, Any]:
    """The tangent of a dict with these keys, whose values are constants."""
    made: dict[Any, Any] = {}
    for key, dot in zip(keys, dots):
        add_key(made, key, dot)
    return made


def key_dots(x_dot: Any) -> dict[Any, Any]:
    """The tangents of keys that the tangent of a dict holds."""
    return {place: dot for place, dot in x_dot.items() if type(place) is OfKey} if isinstance(x_dot, dict) else {}


def check_keys_still(dots: Iterable[Any]) -> None:
    """Refuse second derivatives of what goes through keys that move, by calls that are known when the code runs."""
    for dot in dots:
        if isinstance(dot, (list, tuple)):
            check_keys_still(dot)
        elif key_dots(dot):
            raise UnsupportedSyntaxError(
                "a second derivative of numbers that are keys of a dict, by a call that is known only at run time",
                hint="keep pairs in a list: pairs.append((key, value))",
            )
