"""Slices as numbers, with their derivatives: ``np.mgrid[a:b:h]``, ``np.ogrid[a:b:5j]``, ``np.r_[a:b, x]``, ``np.c_``.

A span ``start:stop:step`` stands for ``start + k * step``; with an imaginary step ``n * 1j`` for ``n`` numbers from
``start`` to ``stop``, both included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.cotangents import entry
from thunkad.tangents import ZERO, AbstractZero, unthunk

#: The classes of the objects of NumPy that take slices for numbers, those of grids first.
GRIDS = (type(np.mgrid), type(np.ogrid))
JOINERS = (type(np.r_), type(np.c_))


def spanned(brackets: Any, single: bool, bounds: tuple[Any, ...]) -> Any:
    """``brackets[a:b:c, d:e:f, …]`` of the ``bounds`` ``a, b, c, d, e, f, …``; ``single``: without a comma."""
    key = tuple(slice(*bounds[k : k + 3]) for k in range(0, len(bounds), 3))
    return brackets[key[0] if single else key]


def spanned_bars(y_bar: Any, single: bool, bounds: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the ``bounds``."""
    bars: list[Any] = []
    for k in range(len(bounds) // 3):
        part = _along(y_bar, k, single)
        for rate in _rates(*bounds[3 * k : 3 * k + 3], part):
            bars.append(ZERO if rate is None or isinstance(part, AbstractZero) else np.sum(part * rate))
    return tuple(bars)


def spanned_dot(y: Any, single: bool, bounds: tuple[Any, ...], bounds_dot: Any) -> Any:
    """The tangent of ``y``, spanned by ``bounds``."""
    dots = [entry(bounds_dot, k) for k in range(len(bounds))]
    axes = []
    for k in range(len(bounds) // 3):
        part = y if single else np.moveaxis(y[k], k, -1)
        axis = np.zeros(part.shape)
        for rate, dot in zip(_rates(*bounds[3 * k : 3 * k + 3], part), dots[3 * k : 3 * k + 3]):
            dot = unthunk(dot)
            if rate is not None and not isinstance(dot, AbstractZero):
                axis = axis + rate * dot
        axes.append(axis if single else np.moveaxis(axis, -1, k))
    return axes[0] if single else np.array(axes) if isinstance(y, np.ndarray) else type(y)(axes)


def _along(y_bar: Any, k: int, single: bool) -> Any:
    """The cotangent of the numbers of span ``k``, along the last axis."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero) or single:
        return y_bar
    part = unthunk(y_bar[k])
    return part if isinstance(part, AbstractZero) else np.moveaxis(part, k, -1)


def _rates(start: Any, stop: Any, step: Any, part: Any) -> tuple[Any, Any, Any]:
    """How the numbers of a span change with its bounds; None where they do not."""
    if isinstance(part, AbstractZero):
        return None, None, None
    size = part.shape[-1]
    order = np.arange(size, dtype=float)
    if isinstance(step, (complex, np.complexfloating)):
        share = order / max(size - 1, 1)
        return (None if start is None else 1.0 - share), share, None
    return (None if start is None else np.ones(size)), None, (None if step is None else order)
