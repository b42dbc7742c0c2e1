"""Cotangents and tangents of the linear filters of ``scipy.ndimage``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from thunkad.rules.scipy.linalg_helpers import real_if
from thunkad.rules.scipy.ndimage_output import at
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.shaped import shape_only
from thunkad.tangents import ZERO

#: What ``np.pad`` calls the modes of SciPy in which the border is made of the array.
PADDED = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}

#: Below this length what SciPy computes of a line that is reflected is not symmetric up to rounding.
SHORT = 32


def _margins(width: int, origin: int) -> tuple[int, int]:
    """How many places before and after a line its filter of ``width`` reads."""
    before = width // 2 + origin
    return before, width - 1 - before


def _sources(n: int, before: int, after: int, mode: str) -> Any:
    """Which place of a line of ``n`` each place around it is read from."""
    return np.pad(np.arange(n), (before, after), mode=PADDED[mode])  # type: ignore[call-overload]


def folded(padded_bar: Any, n: int, before: int, after: int, axis: int, mode: str) -> Any:
    """The cotangent of a line for that of the line with its border: the border goes back to where it came from."""
    rows = np.moveaxis(padded_bar, axis, 0)
    out = rows[before : before + n].copy()
    if mode in PADDED and n:
        source = _sources(n, before, after, mode)
        for k in (*range(before), *range(before + n, n + before + after)):
            out[source[k]] += rows[k]
    return np.moveaxis(out, 0, axis)


def bordered(x: Any, margins: Sequence[tuple[int, int]], mode: str, cval: Any) -> Any:
    """``x`` with the border that a filter reads."""
    if mode in PADDED:
        return np.pad(x, margins, mode=PADDED[mode])  # type: ignore[call-overload]
    return np.pad(x, margins, mode="constant", constant_values=cval)


def _with_zeros(y_bar: Any, axis: int, before: int, after: int) -> Any:
    margins = [(0, 0)] * np.ndim(y_bar)
    margins[axis] = before, after
    return np.pad(y_bar, margins)


def _part(a: Any, axis: int, start: int, length: int) -> Any:
    place = [slice(None)] * np.ndim(a)
    place[axis] = slice(start, start + length)
    return a[tuple(place)]


@shape_only("input")
def correlate1d_bar(y_bar: Any, weights: Any, input: Any, axis: Any, mode: Any, origin: Any) -> Any:
    """The cotangent of ``input`` for ``ndimage.correlate1d``."""
    axis, width = axis % np.ndim(y_bar), np.size(weights)
    n, margins = np.shape(input)[axis], _margins(width, origin)
    wide = _with_zeros(y_bar, axis, width - 1, width - 1)
    spread = ndimage.correlate1d(wide, np.conjugate(weights)[::-1], axis, mode="constant")
    spread = _part(spread, axis, width // 2, n + width - 1)
    return real_if(folded(spread, n, *margins, axis, mode), input)


@shape_only("weights")
def line_weights_bar(
    y_bar: Any, input: Any, weights: Any, axis: Any, mode: Any, cval: Any, origin: Any
) -> Any:
    """The cotangent of ``weights`` for ``ndimage.correlate1d``."""
    axis, width = axis % np.ndim(y_bar), np.size(weights)
    margins = [(0, 0)] * np.ndim(y_bar)
    margins[axis] = _margins(width, origin)
    n, wide = np.shape(input)[axis], bordered(input, margins, mode, cval)
    each = [np.sum(np.conjugate(y_bar) * _part(wide, axis, k, n)) for k in range(width)]
    return real_if(np.array(each), weights)


@shape_only("input")
def correlate_bar(y_bar: Any, weights: Any, input: Any, mode: Any, origin: Any) -> Any:
    """The cotangent of ``input`` for ``ndimage.correlate``."""
    widths, shape = np.shape(weights), np.shape(input)
    wide = np.pad(y_bar, [(w - 1, w - 1) for w in widths])
    spread = ndimage.correlate(wide, np.conjugate(np.flip(weights)), mode="constant")
    for axis, width in enumerate(widths):
        spread = _part(spread, axis, width // 2, shape[axis] + width - 1)
        spread = folded(spread, shape[axis], *_margins(width, at(origin, axis)), axis, mode)
    return real_if(spread, input)


@shape_only("weights")
def weights_bar(y_bar: Any, input: Any, weights: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """The cotangent of ``weights`` for ``ndimage.correlate``."""
    widths = np.shape(weights)
    wide = bordered(input, [_margins(w, at(origin, axis)) for axis, w in enumerate(widths)], mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(wide, np.shape(input))
    return real_if(np.tensordot(windows, np.conjugate(y_bar), np.ndim(y_bar)), weights)


def correlated_dot(correlate: Any, input: Any, weights: Any, input_dot: Any, weights_dot: Any, cval: Any, **how: Any) -> Any:
    """The tangent of ``correlate(input, weights)``: the constant around the input doesn't move."""
    total = ZERO if is_zero(input_dot) else correlate(input_dot, weights, cval=0.0, **how)
    return total if is_zero(weights_dot) else total + correlate(input, weights_dot, cval=cval, **how)


def weights_bar_dot(bar: Any, y_bar: Any, input: Any, y_bar_dot: Any, input_dot: Any, *how: Any) -> Any:
    """The tangent of the cotangent of weights, ``bar(y_bar, input, weights, …, cval, origin)``."""
    total = ZERO if is_zero(y_bar_dot) else bar(y_bar_dot, input, *how)
    return total if is_zero(input_dot) else total + bar(y_bar, input_dot, *how[:-2], 0.0, how[-1])


@shape_only("input")
def uniform1d_bar(y_bar: Any, input: Any, size: Any, axis: Any, mode: Any, origin: Any) -> Any:
    """The cotangent of ``input`` for ``ndimage.uniform_filter1d``."""
    axis = axis % np.ndim(y_bar)
    n, margins = np.shape(input)[axis], _margins(size, origin)
    wide = _with_zeros(y_bar, axis, size - 1, size - 1)
    spread = _part(ndimage.uniform_filter1d(wide, size, axis, mode="constant"), axis, size // 2, n + size - 1)
    return real_if(folded(spread, n, *margins, axis, mode), input)


@shape_only("input")
def spline1d_bar(y_bar: Any, input: Any, order: Any, axis: Any, mode: Any) -> Any:
    """The cotangent of ``input`` for ``ndimage.spline_filter1d``, whose matrix is symmetric but for the ends."""
    n, how = np.shape(input)[axis], {"order": order, "axis": axis, "mode": mode, "output": y_bar.dtype}
    if order < 2 or n < 2:
        return real_if(y_bar, input)
    if mode in ("nearest", "reflect", "grid-mirror"):
        if n >= SHORT:
            return real_if(ndimage.spline_filter1d(y_bar, **how), input)
        rows = ndimage.spline_filter1d(np.eye(n), order, 0, mode=mode)
        return real_if(np.moveaxis(np.tensordot(rows, y_bar, (0, axis)), 0, axis).astype(y_bar.dtype), input)
    if mode == "grid-wrap":
        return real_if(ndimage.spline_filter1d(y_bar, **how), input)
    ends = np.ones(n, np.real(y_bar).dtype)
    ends[0] = ends[-1] = 0.5
    ends = np.moveaxis(np.reshape(ends, ends.shape + (1,) * (np.ndim(y_bar) - 1)), 0, axis)
    return real_if(ends * ndimage.spline_filter1d(y_bar / ends, **how), input)
