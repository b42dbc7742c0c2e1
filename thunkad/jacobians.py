"""Jacobians, row by row from pullbacks or column by column from pushforwards."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.api import jvp, vjp
from thunkad.errors import ArgumentError
from thunkad.runtime.columns import directions, side_by_side


def reverse_jacobian(f: Callable[..., Any], argnums: int | tuple[int, ...], mode: str | None) -> Callable[..., Any]:
    """See :func:`thunkad.jacobian`."""
    if mode not in (None, "reverse"):
        raise ArgumentError(f"mode is None or 'reverse', not {mode!r}")

    def derivative(*args: Any, **kwargs: Any) -> Any:
        value, pullback = vjp(f, *args, **kwargs)
        single = isinstance(argnums, int)
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise ArgumentError(
                    f"argnums: {number} is out of range; the function was called with {len(args)} arguments"
                )
        found = tuple(_of_output(value, pullback, args[number], number) for number in numbers)
        return found[0] if single else found

    return derivative


def _of_output(value: Any, pullback: Any, argument: Any, number: int) -> Any:
    if isinstance(value, (list, tuple)):
        rows = []
        for k, part in enumerate(value):

            def through(seed: Any, k: int = k) -> Any:
                seeds = [np.zeros(np.shape(v)) if j != k else seed for j, v in enumerate(value)]
                return pullback(type(value)(seeds) if type(value) in (list, tuple) else tuple(seeds))

            rows.append(_of_output(part, through, argument, number))
        return type(value)(rows) if type(value) in (list, tuple) else tuple(rows)
    return _rows(value, pullback, argument, number)


def _rows(value: Any, pullback: Any, argument: Any, number: int) -> Any:
    """One pullback for each element of ``value``; real and imaginary parts of a complex one together."""
    shape = np.shape(value)
    dtype = np.result_type(np.asarray(value).dtype, np.float16)
    seed = np.zeros(shape, dtype)
    rows = []
    for at in np.ndindex(*shape):
        seed[at] = 1
        rows.append(pullback(seed.copy() if shape else seed[()])[number])
        seed[at] = 0
    return _stacked(rows, shape, argument)


def _stacked(rows: list[Any], shape: tuple[int, ...], argument: Any) -> Any:
    if isinstance(argument, dict):
        return {k: _stacked([r[k] for r in rows], shape, v) for k, v in argument.items()}
    if isinstance(argument, (list, tuple)):
        parts = [_stacked([r[k] for r in rows], shape, v) for k, v in enumerate(argument)]
        return type(argument)(*parts) if hasattr(argument, "_fields") else type(argument)(parts)
    inner = np.shape(argument)
    if not rows:
        return np.zeros(shape + inner)
    return np.reshape(np.stack([np.asarray(r) for r in rows]), shape + inner) if shape or inner else rows[0]


def columns(f: Callable[..., Any], args: tuple[Any, ...], number: int, kwargs: dict[str, Any]) -> Any:
    """The Jacobian for argument ``number``, one pushforward for each of its elements; its axes come last."""
    if kwargs:
        f = functools.partial(f, **kwargs)
    shape = np.shape(args[number])
    found = [jvp(f, args, dots)[1] for dots in directions(args, number)]
    return side_by_side(found or [_zeros_like(f(*args))], shape)


def _zeros_like(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_zeros_like, value))
    return np.zeros(np.shape(value))
