"""Sets, and the keys of dicts: found by their values, so no number that is differentiated is among them.

Objects of the user's are: a set holds them as a list does.  The cotangent of a set is a list in the order in which it
is gone through, its tangent a :class:`SetDots`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import numpy as np

from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.runtime.containers import SETS, SetDots
from thunkad.runtime.key_bars import KEYS, NUMBERS, OfKey, dict_bar_of
from thunkad.runtime.key_dots import key_dots
from thunkad.runtime.parts import parts_of, within
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, NotImplementedTangent, unthunk

_HOLDERS = (np.ndarray, list, dict)
_PLAIN = (str, bytes, int, np.integer, np.bool_, type(None), type, range, enum.Enum)


def set_of(cls: type, iterable: Iterable[Any] = ()) -> Any:
    """``cls(iterable)``, a set whose elements are no numbers that could be differentiated."""
    made = cls(iterable)
    check_elements(made)
    return made


def check_elements(elements: Iterable[Any]) -> None:
    """Refuse numbers as elements of a set; whole ones are indices."""
    for x in elements:
        if _is_number(x):
            raise UnsupportedSyntaxError(
                f"an element of type {type(x).__name__} in a set, where it may be differentiated",
                hint="use a list, a tuple or a dict: a set holds its elements by their values",
            )


def _is_number(x: Any) -> bool:
    return any(map(_is_number, x)) if isinstance(x, (tuple, frozenset)) else isinstance(x, NUMBERS)


def _holds_numbers(x: Any) -> bool:
    """Whether ``x`` is an object or a function, or holds one, of which something may be differentiated."""
    if isinstance(x, _PLAIN):
        return False
    found = (part for part in within(x) if not isinstance(part, (tuple, frozenset)))
    return any(isinstance(part, _HOLDERS) or any(isinstance(v, NUMBERS) for v in parts_of(part)) for part in found)


def without_objects(y: Any, name: str) -> Any:
    """``y``, which the method ``name`` of a set has made, if no object in it could be differentiated."""
    if any(map(_holds_numbers, y)):
        raise UnsupportedSyntaxError(
            f"the method .{name}() of a set of objects that are differentiated is not supported",
            hint="use an operator: s | t, s & t, s - t, s ^ t",
        )
    return y


def of_objects(x: Any) -> bool:
    """Whether a set holds objects that may be differentiated, and no numbers."""
    return any(map(_holds_numbers, x)) and not any(map(_is_number, x))


def set_bar(y_bar: Any, y: Any, x: Any) -> Any:
    """The cotangent of the iterable ``x``, of whose elements the set ``y`` holds some."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero):
        return y_bar
    found = dict(zip(map(id, y), y_bar))
    return elements_of(x, [found.pop(id(v), ZERO) for v in x])


def is_of_sets(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn`` is an operator between sets."""
    return getattr(fn, "__module__", None) == "_operator" and bool(args) and isinstance(args[0], SETS)


def operand_bars(y_bar: Any, y: Any, operands: tuple[Any, ...]) -> list[Any]:
    """The cotangents of sets from that of the set ``y``, which an operator has made of them."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero):
        return [NO_TANGENT] * len(operands)
    found = dict(zip(map(id, y), y_bar))
    return [elements_of(x, [found.pop(id(v), ZERO) for v in x]) for x in operands]


def elements_of(x: Any, parts: list[Any]) -> Any:
    """The cotangent of ``x``, an iterable that can be gone through again, from those of its elements."""
    if all(isinstance(unthunk(p), AbstractZero) for p in parts):
        return NO_TANGENT
    if isinstance(x, dict):
        return dict_bar_of(x, parts, {})
    return tuple(parts) if isinstance(x, tuple) else parts


def set_dots(elements: Any, dots: Any) -> SetDots:
    """The tangent of a set that holds these elements, with their tangents."""
    return SetDots(zip(map(id, elements), dots))


def dots_of_set(x_dot: Any, x: Any) -> list[Any]:
    """The tangents of the elements of the set ``x``, in the order in which it is gone through."""
    found = x_dot if isinstance(x_dot, SetDots) else SetDots()
    return [found.get(id(v), ZERO) for v in x]


def dots_of_keys(x_dot: Any, x: dict[Any, Any]) -> list[Any]:
    """The tangents of the keys of a dict; those of objects are not known: an error if one is needed."""
    found, unknown = key_dots(x_dot), NotImplementedTangent(KEYS, Place())
    if not found:
        return [unknown if _holds_numbers(k) else ZERO for k in x]
    return [found[OfKey(k)] if OfKey(k) in found else unknown if _holds_numbers(k) else ZERO for k in x]


def change_set(x_dot: Any, x: Any, name: str, args: tuple[Any, ...], arg_dots: tuple[Any, ...]) -> Any:
    """``x.name(*args)`` on the tangent of a set; returns the tangent of the result."""
    if name == "add":
        _put(x_dot, x, args, set_dots(args, arg_dots))
    elif name == "update":
        for given, dots in zip(args, arg_dots):
            _put(x_dot, x, given, _dots_of(given, dots))
    elif name not in ("discard", "remove", "clear", "difference_update", "intersection_update"):
        raise UnsupportedSyntaxError(f"the method .{name}() of a set with tangents is not supported")
    return ZERO


def _put(x_dot: Any, x: Any, elements: Iterable[Any], dots: SetDots) -> None:
    check_elements(elements)
    x_dot.update((id(v), dots.get(id(v), ZERO)) for v in elements if v not in x)


def _dots_of(x: Any, x_dot: Any) -> SetDots:
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero) or isinstance(x, dict):
        return set_dots(x, [ZERO] * len(x))
    return SetDots(x_dot) if isinstance(x_dot, SetDots) else set_dots(x, x_dot)


def merged_dots(y: Any, *operands: tuple[Any, Any]) -> Any:
    """The tangent of the set ``y``, whose elements come from these operands, with their tangents."""
    if not isinstance(y, SETS):
        return ZERO
    found = SetDots()
    for x, x_dot in reversed(operands):
        found.update(_dots_of(x, x_dot))
    return SetDots({id(v): found.get(id(v), ZERO) for v in y})
