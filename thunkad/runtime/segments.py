"""Loops in segments: what a checkpointed loop goes through."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from thunkad.runtime.elements import elements_bar, elements_dot


def checkpointed(iterable: Iterable[Any], every: int | None = None) -> Any:
    """Mark the loop ``for x in checkpointed(iterable)``: few of its states are kept, the others are computed again.

    Of ``n`` iterations about ``2 * sqrt(n)`` states are held at a time, and each is run twice; the derivative is that
    of the plain loop to the last bit.  Outside of differentiated code it is a plain loop.

    Parameters
    ----------
    iterable : iterable
        Made into a list, unless it is a list, tuple, range or array.
    every : int, optional
        How many iterations apart states are kept; the square root of the number of iterations by default.
    """
    return iterable if isinstance(iterable, (range, list, tuple, np.ndarray)) else list(iterable)


def segments(xs: Sequence[Any], every: int | None = None) -> list[tuple[int, int]]:
    """Where each segment of a checkpointed loop over ``xs`` begins and ends."""
    count = len(xs)
    if every is not None and every < 1:
        raise ValueError(f"checkpointed: every is at least 1, not {every}")
    size = every or math.isqrt(max(count - 1, 0)) + 1
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def listed_bar(y_bar: Any, y: Any, iterable: Any) -> Any:
    """The cotangent of an iterable from that of the sequence ``y`` that was made of it."""
    return y_bar if y is iterable else elements_bar(y_bar, iterable)


def listed_dot(iterable_dot: Any, y: Any, iterable: Any) -> Any:
    """The tangent of that sequence."""
    return iterable_dot if y is iterable else elements_dot(iterable_dot, y)
