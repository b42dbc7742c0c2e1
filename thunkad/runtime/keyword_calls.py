"""Pieces of calls with keywords that the rules do without: types, orders in memory, axes, positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.arrays import shape_only
from thunkad.runtime.ducks import as_array


def converted(x: Any, dtype: Any, casting: Any = "same_kind") -> Any:
    """``x`` as a universal function with ``dtype=`` takes it; ``x`` itself if that is None."""
    return x if dtype is None else as_array(x).astype(dtype, casting=casting)[()]


def laid_out(y: Any, order: Any) -> Any:
    """``y`` in memory as ``order=`` says."""
    return np.asarray(y, order=order) if order in ("C", "F") and np.ndim(y) > 1 else y


# Axes of products


def axes_of(function: Any, axes: Any, axis: Any, left: int, right: int, keepdims: Any) -> list[tuple[int, ...]]:
    """The axes of the two operands and of the result of a product, each as a tuple counted from the end."""
    count = {np.matmul: (min(left, 2), min(right, 2))}.get(function) or _core(function)
    result = {np.matmul: count[0] + count[1] - 2}.get(function, abs(count[0] - count[1]))
    if axes is None:
        last = -1 if axis is None else axis
        own = [(last,) if n == 1 and axis is not None else tuple(range(-n, 0)) for n in count]
        return [*own, (last,) if keepdims else tuple(range(-result, 0))]
    given = [tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in axes]
    return given if len(given) == 3 else [*given, given[0] if keepdims else ()]


def _core(function: Any) -> tuple[int, int]:
    """How many axes each operand of a product of this signature has."""
    left, right = function.signature.split("->")[0].replace("(", "").rstrip(")").split("),")
    return left.count(",") + 1, right.count(",") + 1


def last_axes(axes: tuple[int, ...]) -> tuple[int, ...]:
    """As many axes, the last ones."""
    return tuple(range(-len(axes), 0))


# Statistics


@shape_only("a")
def degrees_of_freedom(a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any) -> Any:
    """What a sum of squares is divided by for a variance."""
    counted = np.broadcast_to(where, np.shape(a))
    return np.maximum(np.sum(counted, axis=axis, keepdims=keepdims) - ddof, 0)


def weight_form(a: Any, axis: Any, weights: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The order of axes and the shape in which the weights of ``np.average`` broadcast against ``a``."""
    own, shape = np.ndim(weights), np.shape(a)
    if np.shape(weights) == shape:
        return tuple(range(own)), shape
    axes = [k % len(shape) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    order = tuple(int(k) for k in np.argsort(axes))
    return order, tuple(n if k in axes else 1 for k, n in enumerate(shape))


def weighted_position(quantiles: Any, a: Any, q: Any, axis: Any, method: Any, keepdims: Any, weights: Any) -> Any:
    """Which entries of ``a``, counted in its order, ``quantiles`` with weights finds."""
    y = np.asarray(quantiles(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights))
    shape = np.shape(a)
    axes = range(len(shape)) if axis is None else [k % len(shape) for k in np.ravel(axis)]
    order = [*(k for k in range(len(shape)) if k not in axes), *axes]
    length = int(np.prod([shape[k] for k in axes], dtype=int))

    def rows(x: Any) -> Any:
        return np.reshape(np.transpose(x, order), (-1, length))

    turned, form = weight_form(a, axis, weights)
    counted = rows(np.broadcast_to(np.reshape(np.transpose(weights, turned), form), shape)) > 0
    entries, numbers = rows(np.asarray(a)), rows(np.reshape(np.arange(np.size(a)), shape))
    found = []
    for wanted in np.reshape(y, (-1, len(entries))):
        hit = (entries == wanted[:, None]) | ((entries != entries) & (wanted != wanted)[:, None])
        hit = np.where(np.any(hit & counted, axis=1, keepdims=True), hit & counted, hit)
        found.append(numbers[np.arange(len(entries)), np.argmax(hit, axis=1)])
    return np.reshape(np.array(found), np.shape(y))[()]


# Sets


def first_positions(ar: Any, sorted: Any, equal_nan: Any) -> Any:
    """Where each of the values that ``np.unique`` finds stands first, in the order in which it gives them."""
    first = np.unique(ar, return_index=True, equal_nan=equal_nan)[1]
    values = np.unique(ar, sorted=sorted, equal_nan=equal_nan)
    return first[np.argsort(np.argsort(values, kind="stable"), kind="stable")]


def unique_rest(ar: Any, which: tuple[Any, ...], equal_nan: Any, sorted: Any) -> tuple[Any, ...]:
    """What ``np.unique`` gives besides the values."""
    found = np.unique(ar, *which, equal_nan=equal_nan, sorted=sorted)
    return found[1:] if isinstance(found, tuple) else ()


# Updates at indices


def positions(a: Any, indices: Any) -> Any:
    """The places that ``a[indices]`` reads, counted in the order of ``a``."""
    return np.atleast_1d(np.reshape(np.arange(np.size(a)), np.shape(a))[indices])


def at_rounds(places: Any) -> list[Any]:
    """The indices of the updates at these places in rounds, none of which has a place twice, in their order."""
    shape, places = np.shape(places), np.ravel(places)
    order = np.argsort(places, kind="stable")
    new = np.diff(places[order], prepend=-1) != 0
    start = np.maximum.accumulate(np.where(new, np.arange(len(places)), 0))
    turn = np.empty(len(places), int)
    turn[order] = np.arange(len(places)) - start
    rounds = range(int(np.max(turn, initial=-1)) + 1)
    return [np.unravel_index(np.flatnonzero(turn == k), shape) for k in rounds]
