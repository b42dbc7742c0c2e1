"""Cotangents and tangents of what Python's built-in functions do with the elements of iterables.

The cotangent of an iterable has an entry for each element: a list for a list, a tuple for a tuple, an array for an
array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError, UnsupportedSyntaxError
from thunkad.runtime.arrays import is_zero, shape_only, stretch, unbroadcast, zeros
from thunkad.runtime.attributes import gone_through
from thunkad.runtime.complex import in_field_of
from thunkad.runtime.containers import LISTS, SEQUENCES, SETS, DefaultDots
from thunkad.runtime.cotangents import add, entry, like
from thunkad.runtime.ducks import is_duck
from thunkad.runtime.key_bars import KeyBars, dict_bar_of, key_bars
from thunkad.runtime.key_dots import add_key
from thunkad.runtime.sets import dots_of_keys, dots_of_set, elements_of
from thunkad.tangents import NO_TANGENT, ZERO, Tangent

_NUMBERS = (float, int, complex, np.number)


def elements_bar(parts: Any, x: Any) -> Any:
    """The cotangent of the iterable ``x`` from those of its elements, in order (``parts`` may end early)."""
    if is_zero(parts):
        return parts
    if isinstance(x, (str, bytes, range)):
        return NO_TANGENT  # what these yield can't be perturbed
    if isinstance(x, (dict, *SETS)):
        return elements_of(x, list(parts))
    missing = len(x) - len(parts) if hasattr(x, "__len__") else 0
    parts = [*parts, *[ZERO] * missing]
    return like(parts, x) if isinstance(x, (*SEQUENCES, np.ndarray)) else parts


def elements_dot(x_dot: Any, x: Any, drawn: Sequence[Any] = ()) -> list[Any]:
    """The tangents of the elements of ``x``; of an iterator, which has none, they were ``drawn``."""
    if is_zero(x_dot):
        return [ZERO] * len(x if hasattr(x, "__len__") else drawn)
    if isinstance(x, dict):
        return dots_of_keys(x_dot, x)
    if isinstance(x, SETS):
        return dots_of_set(x_dot, x)
    if isinstance(x_dot, Tangent):
        raise gone_through(x)
    return list(x_dot)


def last_bar(y_bar: Any, x: Any, y: Any) -> Any:
    """The cotangents of all items of ``x``, of which ``y`` has only the last ones."""
    return y_bar if is_zero(y_bar) else [*[ZERO] * (len(x) - len(y)), *y_bar]


def last_of(dots: list[Any], count: int | None) -> list[Any]:
    """The last ``count`` of some tangents."""
    return dots if count is None else dots[max(len(dots) - count, 0) :]


def _seconds(pairs: Any) -> Any:
    """The second entries of a list of (co)tangents of pairs."""
    return pairs if is_zero(pairs) else [entry(pair, 1) for pair in pairs]


# ---------------------------------------------------------------- numbers


@shape_only("x")
def shaped_like(y_bar: Any, x: Any) -> Any:
    """The cotangent of an array of one element, or a number, when that of its value is the number ``y_bar``."""
    if isinstance(x, (str, bytes, bool, np.bool_)):
        return NO_TANGENT
    if not isinstance(x, (*_NUMBERS, np.ndarray)) and not hasattr(x, "shape"):
        raise NotImplementedDerivativeError(
            f"float() or complex() of a {type(x).__name__} has no derivative; use its numbers"
        )
    if not np.iscomplexobj(x):
        y_bar = y_bar.real
    return np.full(np.shape(x), y_bar, x.dtype if x.dtype.kind in "fc" else None) if hasattr(x, "dtype") else y_bar


def number_dot(x_dot: Any, y: Any) -> Any:
    """The tangent of a number ``y`` that was made from ``x``: its tangent as a Python number."""
    return x_dot if is_zero(x_dot) else type(y)(np.reshape(x_dot, ())[()])


def complex_dot(real_dot: Any, imag_dot: Any) -> Any:
    """The tangent of ``complex(real, imag)``."""
    return number_dot(real_dot, 0j) + (imag_dot if is_zero(imag_dot) else 1j * number_dot(imag_dot, 0j))


# ---------------------------------------------------------------- sum


def _is_flag(x: Any) -> bool:
    return isinstance(x, (bool, np.bool_)) or (isinstance(x, np.ndarray) and x.dtype.kind == "b")


def sum_bar(y_bar: Any, iterable: Any, start: Any = 0) -> Any:
    """The cotangent of ``iterable`` in ``y = sum(iterable, start)``."""
    if isinstance(iterable, np.ndarray):
        return (
            np.broadcast_to(unbroadcast(y_bar, iterable[0]), iterable.shape)
            if len(iterable)
            else np.zeros(iterable.shape)
        )
    if isinstance(iterable, (set, frozenset)):
        return NO_TANGENT  # nothing in it is differentiated
    if isinstance(start, (list, tuple)):  # concatenation
        parts, at = [], len(start)
        for x in iterable:
            parts.append(y_bar[at : at + len(x)])
            at += len(x)
        return elements_bar(parts, iterable)
    return elements_bar([_term_bar(y_bar, x) for x in iterable], iterable)


def _term_bar(y_bar: Any, x: Any) -> Any:
    if _is_flag(x):
        return NO_TANGENT
    if not (isinstance(x, (*_NUMBERS, np.ndarray)) or is_duck(type(x))):
        raise NotImplementedDerivativeError(
            f"sum() of {type(x).__name__} objects has no derivative; write the loop out"
        )
    return unbroadcast(y_bar, x)


def sum_start_bar(y_bar: Any, start: Any) -> Any:
    """The cotangent of ``start`` in ``y = sum(iterable, start)``."""
    return y_bar[: len(start)] if isinstance(start, (list, tuple)) else unbroadcast(y_bar, start)


def sum_dot(y: Any, iterable: Any, start: Any, iterable_dot: Any, start_dot: Any) -> Any:
    """The tangent of ``y = sum(iterable, start)``."""
    if isinstance(start, (list, tuple)):
        more = elements_dot(iterable_dot, iterable)
        if not more:
            return start_dot  # `y` is the start itself
        parts = list(elements_dot(start_dot, start))
        for x, x_dot in zip(iterable, more):
            parts += elements_dot(x_dot, x)
        return type(y)(parts)
    if not (isinstance(y, (*_NUMBERS, np.ndarray)) or is_duck(type(y))):
        raise NotImplementedDerivativeError(
            f"sum() of {type(y).__name__} objects has no derivative; write the loop out"
        )
    total: Any = start_dot
    for x_dot in elements_dot(iterable_dot, iterable):
        total = total + x_dot
    return total if is_zero(total) else stretch(total, y)


# ---------------------------------------------------------------- min and max


def position_of(y: Any, elements: Iterable[Any]) -> int:
    """Where ``y`` was taken from: the first of the ``elements`` that is it, else the first that equals it."""
    equal = None
    for k, x in enumerate(elements):
        if x is y or (type(x) is type(y) is tuple and len(x) == len(y) and all(map(operator.is_, x, y))):
            return k  # the items of a dict are made anew each time
        if equal is None and not isinstance(x, (list, tuple, dict)) and np.array_equal(x, y):
            equal = k
    return equal or 0  # NaN: it won because it came first


def place_by(chosen: Callable[..., int], elements: Sequence[Any], key: Callable[[Any], Any] | None) -> int:
    """The position of ``chosen(elements, key=key)``, with ``max`` or ``min``."""
    return chosen(range(len(elements)), key=list(elements if key is None else map(key, elements)).__getitem__)


def extremum_bars(y_bar: Any, y: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The cotangents of the arguments of ``y = max(*args)`` or ``min(*args)``: the first of those that tie has it."""
    if len(args) > 1:
        return _one_hot(y_bar, position_of(y, args), len(args))
    (iterable,) = args
    if isinstance(iterable, np.ndarray):
        x_bar = zeros(iterable)
        x_bar[position_of(y, iterable)] = in_field_of(y_bar, x_bar)
        return (x_bar,)
    return (elements_bar(_one_hot(y_bar, position_of(y, iterable), len(iterable)), iterable),)


def _one_hot(part: Any, position: int, length: int) -> tuple[Any, ...]:
    return (ZERO,) * position + (part,) + (ZERO,) * (length - position - 1)


def extremum_dot(y: Any, args: Sequence[Any], args_dot: Any) -> Any:
    """The tangent of ``y = max(*args)`` or ``min(*args)``."""
    if len(args) > 1:
        return entry(args_dot, position_of(y, args))
    x_dot, place = entry(args_dot, 0), position_of(y, args[0])
    return elements_dot(x_dot, args[0])[place] if isinstance(args[0], (dict, *SETS)) else entry(x_dot, place)


# ---------------------------------------------------------------- rearranging


def enumerate_bar(y_bar: Any, iterable: Any) -> Any:
    """The cotangent of ``iterable`` in ``y = list(enumerate(iterable))``."""
    return elements_bar(_seconds(y_bar), iterable)


def enumerate_dot(iterable_dot: Any, iterable: Any) -> Any:
    """The tangent of ``list(enumerate(iterable))``."""
    if is_zero(iterable_dot):
        return ZERO
    return [(NO_TANGENT, x_dot) for x_dot in elements_dot(iterable_dot, iterable)]


def zip_bars(y_bar: Any, iterables: Sequence[Any]) -> tuple[Any, ...]:
    """The cotangents of the iterables in ``y = list(zip(*iterables))``."""
    return tuple(elements_bar([entry(item, k) for item in y_bar], x) for k, x in enumerate(iterables))


def zip_dot(iterables_dot: Any, iterables: Sequence[Any]) -> Any:
    """The tangent of ``list(zip(*iterables))``."""
    dots = [entry(iterables_dot, k) for k in range(len(iterables))]
    if all(map(is_zero, dots)):
        return ZERO
    still = repeat(ZERO)
    return list(zip(*[still if is_zero(x_dot) else elements_dot(x_dot, x) for x_dot, x in zip(dots, iterables)]))


def sorted_order(iterable: Iterable[Any], key: Callable[[Any], Any] | None, reverse: bool) -> list[int]:
    """The positions in ``iterable`` of the elements of ``sorted(iterable, key=key, reverse=reverse)``."""
    elements = list(iterable)
    keys = elements if key is None else [key(x) for x in elements]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def place_of(x: list[Any], item: Any) -> int:
    """The position of what ``x.remove(item)`` takes out."""
    try:
        return x.index(item)
    except ValueError:
        raise ValueError("list.remove(x): x not in list") from None


def ordered(iterable: Iterable[Any], order: list[int]) -> list[Any]:
    """The elements at these positions."""
    elements = list(iterable)
    return [elements[k] for k in order]


def sorted_bar(y_bar: Any, iterable: Any, order: list[int]) -> Any:
    """The cotangent of ``iterable`` in ``y = ordered(iterable, order)``."""
    parts: list[Any] = [ZERO] * len(order)
    for part, position in zip(y_bar, order):
        parts[position] = part
    return elements_bar(parts, iterable)


# ---------------------------------------------------------------- dictionaries and unpacking


def dict_bar(y_bar: Any, mapping: Any) -> Any:
    """The cotangent of the argument of ``y = dict(mapping)``, a mapping or an iterable of pairs."""
    if isinstance(mapping, dict):
        return y_bar
    last = {key: k for k, (key, _) in enumerate(mapping)}  # of equal keys the last one counts
    of_keys = key_bars(y_bar, tuple(key for key, _ in mapping))
    parts = [(of_keys[k], entry(y_bar, key) if last[key] == k else ZERO) for k, (key, _) in enumerate(mapping)]
    return elements_bar(parts, mapping)


def dict_dot(mapping_dot: Any, mapping: Any) -> Any:
    """The tangent of ``dict(mapping)``."""
    if isinstance(mapping, dict) or is_zero(mapping_dot):
        return mapping_dot
    made = {key: entry(pair_dot, 1) for (key, _), pair_dot in zip(mapping, mapping_dot)}
    for (key, _), pair_dot in zip(mapping, mapping_dot):
        add_key(made, key, entry(pair_dot, 0))
    return made


def initial_bar(y_bar: Any, mapping: Any) -> Any:
    """The cotangent of what a ``defaultdict`` begins with."""
    if isinstance(y_bar, KeyBars) and any(key not in mapping for key, _ in y_bar.of_keys.values()):
        what = "a number that is differentiated and was made a key of a defaultdict by reading"
        raise UnsupportedSyntaxError(what, hint="use d.setdefault(key, …), or put the value there: d[key] = …")
    return y_bar if is_zero(y_bar) else {key: y_bar[key] for key in mapping if key in y_bar}


def default_dot(mapping_dot: Any) -> Any:
    """The tangent of a ``defaultdict`` that begins as a copy of a dict."""
    return DefaultDots() if is_zero(mapping_dot) else DefaultDots(mapping_dot)


def values_bar(y_bar: Any, mapping: dict[Any, Any]) -> dict[Any, Any]:
    """The cotangent of ``mapping`` from those of its values, in order."""
    return dict(zip(mapping, y_bar))


def values_dot(mapping_dot: Any, mapping: dict[Any, Any]) -> list[Any]:
    """The tangents of the values of ``mapping``, in order."""
    return [entry(mapping_dot, key) for key in mapping]


def items_bar(y_bar: Any, mapping: dict[Any, Any]) -> dict[Any, Any]:
    """The cotangent of ``mapping`` from those of its items, in order."""
    found = dict(zip(mapping, _seconds(y_bar)))
    of_keys = [] if is_zero(y_bar) else [entry(pair, 0) for pair in y_bar]
    return dict_bar_of(mapping, of_keys, found)


def items_dot(mapping_dot: Any, mapping: dict[Any, Any]) -> list[Any]:
    """The tangents of the items of ``mapping``, in order."""
    keys = repeat(NO_TANGENT) if is_zero(mapping_dot) else dots_of_keys(mapping_dot, mapping)
    return [(dot, entry(mapping_dot, key)) for dot, key in zip(keys, mapping)]


def found_bar(y_bar: Any, mapping: dict[Any, Any], key: Any) -> dict[Any, Any]:
    """The cotangent of ``mapping`` in ``y = mapping.get(key, default)``."""
    return {key: y_bar} if key in mapping else {}


def default_bar(y_bar: Any, mapping: dict[Any, Any], key: Any) -> Any:
    """The cotangent of ``default`` in ``y = mapping.get(key, default)``."""
    return ZERO if key in mapping else y_bar


def found_dot(mapping: dict[Any, Any], key: Any, mapping_dot: Any, default_dot: Any) -> Any:
    """The tangent of ``mapping.get(key, default)``."""
    return entry(mapping_dot, key) if key in mapping else default_dot


def part_bar(y_bar: Any, x: Any, start: int) -> Any:
    """The cotangent of the sequence ``x`` that begins at ``start`` of the sequence with the cotangent ``y_bar``."""
    return y_bar if is_zero(y_bar) else _like_plain(x, list(y_bar)[start : start + len(x)])


def _like_plain(x: Any, parts: list[Any]) -> Any:
    return parts if isinstance(x, LISTS) else tuple(parts)


def concatenated_dot(a: Any, a_dot: Any, b: Any, b_dot: Any) -> Any:
    """The tangent of ``a + b`` for two sequences."""
    return _like_plain(a, [*_item_dots(a, a_dot), *_item_dots(b, b_dot)])


def _item_dots(x: Any, x_dot: Any) -> list[Any]:
    return [x_dot] * len(x) if is_zero(x_dot) else list(x_dot)


def repeated_bar(y_bar: Any, x: Any, times: int) -> Any:
    """The cotangent of the sequence ``x`` in ``x * times``."""
    if is_zero(y_bar):
        return y_bar
    parts: list[Any] = [ZERO] * len(x)
    for k, part in enumerate(y_bar):
        parts[k % len(x)] = add(parts[k % len(x)], part)
    return _like_plain(x, parts)


def repeated_dot(x: Any, x_dot: Any, times: int) -> Any:
    """The tangent of ``x * times`` for a sequence ``x``."""
    return _like_plain(x, _item_dots(x, x_dot) * times)


def split_starred_bar(y_bar: Any, y: tuple[Any, ...], value: Any, before: int) -> Any:
    """The cotangent of ``value`` in ``y = split_starred(value, before, after)``."""
    middle = entry(y_bar, before)
    middle = [ZERO] * len(y[before]) if is_zero(middle) else list(middle)
    return elements_bar([*y_bar[:before], *middle, *y_bar[before + 1 :]], value)


def split_starred_dot(y: tuple[Any, ...], value_dot: Any, value: Any, before: int) -> tuple[Any, ...]:
    """The tangent of ``y = split_starred(value, before, after)``."""
    parts = elements_dot(value_dot, value)
    end = before + len(y[before])
    return (*parts[:before], parts[before:end], *parts[end:])
