"""Pieces of which the methods of universal functions are made: axes brought to the front and back."""

from __future__ import annotations

from typing import Any

import numpy as np


def reduced_axes(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes that ``axis`` (an int, a tuple, None for all) means, counted from the front."""
    ndim = np.ndim(x)
    chosen = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted(k % ndim for k in chosen)) if ndim else ()


def front_order(x: Any, axis: Any) -> tuple[int, ...]:
    """The order of axes that has those that ``axis`` means first."""
    first = reduced_axes(x, axis)
    return (*first, *(k for k in range(np.ndim(x)) if k not in first))


def front_shape(x: Any, axis: Any) -> tuple[int, ...]:
    """The shape with the axes that ``axis`` means first, as one."""
    first = reduced_axes(x, axis)
    shape = np.shape(x)
    return (int(np.prod([shape[k] for k in first], dtype=int)), *(n for k, n in enumerate(shape) if k not in first))


def front_rows(where: Any, x: Any, axis: Any) -> Any:
    """The mask ``where`` of ``x``, with the axes that ``axis`` means first, as one."""
    mask = np.broadcast_to(where, np.shape(x))
    return np.reshape(np.transpose(mask, front_order(x, axis)), front_shape(x, axis))


def start_of(function: np.ufunc, initial: Any) -> Any:
    """What ``function.reduce`` with a mask starts from."""
    if initial is np._NoValue and function.identity is not None:  # type: ignore[attr-defined]
        return function.identity
    if initial is np._NoValue or initial is None:  # type: ignore[attr-defined]
        function.reduce(np.ones(1), initial=None, where=np.ones(1, bool))  # raises
    return initial


def segments(indices: Any, length: int) -> list[tuple[int, int]]:
    """Where each segment of ``ufunc.reduceat`` starts and ends."""
    starts = [int(k) for k in indices]
    ends = [*starts[1:], length]
    return [(a, b if a < b else a + 1) for a, b in zip(starts, ends)]
