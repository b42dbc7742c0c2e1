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


def segments(indices: Any, length: int) -> list[tuple[int, int]]:
    """Where each segment of ``ufunc.reduceat`` starts and ends."""
    starts = [int(k) for k in indices]
    ends = [*starts[1:], length]
    return [(a, b if a < b else a + 1) for a, b in zip(starts, ends)]
