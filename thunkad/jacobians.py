"""Jacobians, row by row from pullbacks or column by column from pushforwards."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.api import vjp
from thunkad.compiled.entry import check_asked, is_derivative
from thunkad.compiled.forward import both, linearize, once, rows
from thunkad.errors import ArgumentError, NoRuleError, UnsupportedSyntaxError
from thunkad.runtime.columns import (
    as_object,
    by_complex,
    check_columns,
    check_holomorphic,
    directions,
    inside,
    is_dataclass,
    is_number,
    joined,
    like,
    mapped,
    parts_of,
    side_by_side,
    size_of,
    units,
)
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent

#: Of a linear map for many directions at once: directions, and elements that they have together.
MOST_LANES, MOST_ELEMENTS = 256, 4_000_000

#: Up to so many elements of the arguments all directions go at once, whatever the size of the result is.
FEW = 32

#: Of so many elements of the result or more, pullbacks go many at once.
MANY = 8

#: Modes by which ``jacobian(f, mode=None)`` decides, told by the shapes of one call to the next.
_Modes = dict[Any, str]


def jacobian_of(f: Callable[..., Any], argnums: int | tuple[int, ...], mode: str | None) -> Callable[..., Any]:
    """See :func:`thunkad.jacobian`."""
    if mode not in (None, "reverse", "forward"):
        raise ArgumentError(f"mode is None, 'reverse' or 'forward', not {mode!r}")
    check_asked(argnums, None)
    modes: _Modes = {}

    def derivative(*args: Any, **kwargs: Any) -> Any:
        single = isinstance(argnums, int)
        asked = (argnums,) if isinstance(argnums, int) else argnums
        numbers = tuple(_place(number, args) for number in asked)
        g = functools.partial(f, **kwargs) if kwargs else f
        found = _by(g, mode, numbers, args, modes)
        return found[0] if single else found

    return derivative


def _place(number: int, args: tuple[Any, ...]) -> int:
    if not -len(args) <= number < len(args):
        raise ArgumentError(f"argnums: {number} is out of range; the function was called with {len(args)} arguments")
    return number % len(args)


def _by(f: Any, mode: str | None, numbers: tuple[int, ...], args: tuple[Any, ...], modes: _Modes) -> tuple[Any, ...]:
    if mode == "forward":
        return _by_columns(f, numbers, args)
    if mode == "reverse" or not all(_is_real_array(args[number]) for number in numbers):
        return _by_rows(f, numbers, args)
    shapes = tuple(np.shape(args[number]) for number in numbers)
    size = sum(np.size(args[number]) for number in numbers)
    if modes.get(shapes) == "forward":
        return _by_columns(f, numbers, args)
    if shapes not in modes and 0 < size <= FEW:
        found = _at_once(f, numbers, args)
        modes[shapes] = "reverse" if found is None or 8 * found[0] < size else "forward"
        if found is not None:
            return found[1]
    if shapes not in modes:
        run = both(f, args, numbers)
        if run is not None:
            return _by_fewer(run, numbers, args, shapes, modes)
        modes[shapes] = "reverse"
    return _by_rows(f, numbers, args)


def _by_fewer(
    run: tuple[Any, Any, Any], numbers: tuple[int, ...], args: tuple[Any, ...], shapes: Any, modes: _Modes
) -> tuple[Any, ...]:
    """Rows or columns, whichever are fewer, when ``f`` has run for both."""
    value, pullback, pushforward = run
    if sum(np.size(args[number]) for number in numbers) < _size(value):
        modes[shapes] = "forward"
        return tuple(_columns(pushforward, value, args, number, 1) for number in numbers)
    modes[shapes] = "reverse"
    return tuple(_of_output(value, pullback, args[number], number) for number in numbers)


def _at_once(f: Any, numbers: tuple[int, ...], args: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]] | None:
    """The size of the result and the columns by forward mode; None if that would run ``f`` for each of them."""
    try:
        both_halves = once(f, args, numbers)
        if both_halves is None or getattr(both_halves[1], "columns", None) is None:
            return None
        value, pushforward = both_halves
        found = tuple(_columns(pushforward, value, args, number, 1) for number in numbers)
    except (NoRuleError, UnsupportedSyntaxError):
        return None
    return _size(value), found


def _by_rows(f: Any, numbers: tuple[int, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """One run of ``f`` and one pullback for each element of its result; of real arrays for many at once."""
    plain = all(_is_real_array(args[number]) for number in numbers) and not is_derivative(f)
    value, pullback = (rows(f, args, numbers) if plain else None) or vjp(f, *args)
    return tuple(_of_output(value, pullback, args[number], number) for number in numbers)


def _by_columns(f: Any, numbers: tuple[int, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """One run of ``f`` and one pushforward for each element of the arguments; their axes come last."""
    for number in numbers:
        check_columns(args[number])
    halves = once(f, args, numbers)
    if halves is None and not is_derivative(f):  # whose pullback would run its function again
        try:
            return _by_rows(f, numbers, args)
        except (NoRuleError, UnsupportedSyntaxError):
            pass  # what has no reverse mode
    value, pushforward = linearize(f, args, numbers) if halves is None else halves
    found = []
    for number in numbers:
        parts = [_columns(pushforward, value, args, number, unit) for unit in units(args[number])]
        found.append(parts[0] if len(parts) == 1 else by_complex(*parts))
    return tuple(found)


def _columns(pushforward: Any, value: Any, args: tuple[Any, ...], number: int, unit: complex) -> Any:
    """The derivatives by one argument: many directions at once where the code of the map allows, else one by one."""
    size = size_of(args[number])
    stacked = getattr(pushforward, "columns", None)
    if size > 1 and stacked is not None and is_number(args[number]):
        try:
            return _in_stacks(stacked, value, args[number], number, unit)
        except Exception:
            pass
    return side_by_side([pushforward(*dots) for dots in directions(args, number, unit)], args[number])


def _in_stacks(stacked: Any, value: Any, x: Any, number: int, unit: complex) -> Any:
    size = np.size(x)
    lanes = max(1, min(MOST_LANES, MOST_ELEMENTS // max(size, _size(value), 1)))
    parts = []
    for start in range(0, size, lanes):
        count = min(lanes, size - start)
        basis = np.zeros((count, size), np.result_type(np.asarray(x).dtype, np.complex64 if unit == 1j else np.float16))
        basis[np.arange(count), np.arange(start, start + count)] = unit
        parts.append(stacked(number, basis.reshape(count, *np.shape(x))))
    return joined(parts, x)


def _is_real_array(x: Any) -> bool:
    return isinstance(x, (float, np.ndarray, np.floating)) and not np.iscomplexobj(x)


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    return int(np.size(value))


def _of_output(value: Any, pullback: Any, argument: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {k: _of_output(value[k], _through(value, pullback, k), argument, number) for k in value}
    if isinstance(value, (list, tuple)):
        return like(value, [_of_output(v, _through(value, pullback, k), argument, number) for k, v in enumerate(value)])
    if is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
        parts = (_of_output(getattr(value, k), _through(value, pullback, k), argument, number) for k in names)
        return as_object(type(value), dict(zip(names, parts)))
    return _rows(value, pullback, argument, number) if is_number(value) else NO_TANGENT


def _through(value: Any, pullback: Any, k: Any) -> Callable[[Any], Any]:
    """The pullback of entry ``k`` of a result of several parts."""
    if isinstance(value, dict):
        return lambda seed: pullback({j: seed if j == k else ZERO for j in value})
    if is_dataclass(value):
        return lambda seed: pullback(Tangent(type(value), {k: seed}))
    return lambda seed: pullback(tuple(seed if j == k else ZERO for j in range(len(value))))


def _rows(value: Any, pullback: Any, argument: Any, number: int) -> Any:
    """One pullback for each element of ``value``; for a complex one two, in the directions 1 and i."""
    shape = np.shape(value)
    many = getattr(pullback, "rows", None)
    if many is not None and np.size(value) >= MANY and isinstance(value, np.ndarray) and value.dtype.kind == "f":
        try:
            return _rows_in_stacks(many, value, argument, number)
        except Exception:
            pass  # what is wrong with it, if there is, is said by one pullback
    seed = np.zeros(shape, np.result_type(np.asarray(value).dtype, np.float16))

    def rows(unit: complex) -> list[Any]:
        found = []
        for at in np.ndindex(*shape):
            seed[at] = unit
            found.append(pullback(seed.copy() if shape else seed[()])[number])
            seed[at] = 0
        return found

    ones = _stacked(rows(1), shape, argument)
    return _of_complex(ones, _stacked(rows(1j), shape, argument), argument) if np.iscomplexobj(value) else ones


def _rows_in_stacks(many: Callable[..., Any], value: np.ndarray, argument: Any, number: int) -> Any:
    lanes = max(1, min(MOST_LANES, MOST_ELEMENTS // max(np.size(argument), value.size)))
    parts = []
    for start in range(0, value.size, lanes):
        count = min(lanes, value.size - start)
        seeds = np.zeros((count, value.size), value.dtype)
        seeds[np.arange(count), np.arange(start, start + count)] = 1
        parts.append(many(seeds.reshape(count, *value.shape))[number])
    return np.concatenate(parts).reshape(value.shape + np.shape(argument))


def _of_complex(one: Any, turned: Any, argument: Any) -> Any:
    """The Jacobian of a complex result, from the cotangents of the arguments for 1 and for i."""
    if isinstance(one, AbstractZero):
        return one
    if not is_number(argument):
        halves = zip(parts_of(argument), inside(one, argument), inside(turned, argument))
        found = [_of_complex(first, second, v) for v, first, second in halves]
        return mapped(argument, lambda _: found.pop(0))
    if not np.iscomplexobj(argument):
        return one + 1j * turned
    check_holomorphic(one, turned)
    return np.conj(one)


def _stacked(rows: list[Any], shape: tuple[int, ...], argument: Any) -> Any:
    if not is_number(argument):
        parts = zip(*(inside(r, argument) for r in rows)) if rows else ([] for _ in parts_of(argument))
        found = [_stacked(list(part), shape, v) for part, v in zip(parts, parts_of(argument))]
        return mapped(argument, lambda _: found.pop(0))
    inner = np.shape(argument)
    if any(isinstance(r, AbstractZero) for r in rows):
        return NO_TANGENT  # by a part of the argument that has no derivative
    if not rows:
        return np.zeros(shape + inner)
    return np.reshape(np.stack([np.asarray(r) for r in rows]), shape + inner) if shape or inner else rows[0]
