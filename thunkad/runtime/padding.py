"""``np.pad`` with its keywords spelled out, its cotangent and its tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import is_zero, rounds, unbroadcast
from thunkad.runtime.indexing import numbered, selection_bar
from thunkad.runtime.joining import nested_bar, nested_dot
from thunkad.runtime.precision import float_type
from thunkad.runtime.reductions import extreme_bar, extreme_dot
from thunkad.runtime.sorting import median_rank, quantile_bar, quantile_dot
from thunkad.tangents import ZERO

_STATISTICS = ("maximum", "minimum", "median")


def _given(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


def _pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = tuple(np.broadcast_to(width, 2).tolist())
        return pairs
    return [tuple(pair) for pair in np.broadcast_to(pad_width, (ndim, 2)).tolist()]


def padded(array: Any, pad_width: Any, mode: Any = "constant", **keywords: Any) -> Any:
    """``np.pad`` with the keywords that are not None."""
    return np.pad(array, pad_width, mode, **_given(keywords))


def _axis_matrix(size: int, pair: tuple[int, int], mode: Any, keywords: dict[str, Any], axis: int, ndim: int) -> Any:
    """The matrix of a linear padding mode along one axis."""
    keywords = dict(keywords)
    keywords.pop("end_values", None)
    if keywords.get("stat_length") is not None:
        stat = np.broadcast_to(keywords["stat_length"], (ndim, 2))[axis]
        keywords["stat_length"] = (tuple(int(n) for n in stat), (size, size))
    return np.pad(np.eye(size), (pair, (0, 0)), mode, **_given(keywords))


def _is_selection(mode: Any, keywords: dict[str, Any]) -> bool:
    return mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and keywords.get("reflect_type") != "odd")


def _check(mode: Any) -> None:
    if callable(mode):
        raise NotImplementedDerivativeError("np.pad with a function as mode has no derivative rule")


class _Margin:
    """One side of one axis that is filled with the maximum, minimum or median of the entries next to it."""

    def __init__(self, mode: Any, axis: int, region: slice, margin: slice) -> None:
        self.mode, self.axis, self.region, self.margin = mode, axis, region, margin

    def along(self, t: Any, part: slice) -> Any:
        return t[(slice(None),) * self.axis + (part,)]

    def bar(self, margin_bar: Any, x: Any) -> Any:
        y_bar = np.sum(margin_bar, axis=self.axis, keepdims=True)
        if self.mode == "median":
            return quantile_bar(y_bar, x, self.axis, median_rank)
        y = (np.max if self.mode == "maximum" else np.min)(x, axis=self.axis, keepdims=True)
        return extreme_bar(y_bar, y, x, self.axis, True)

    def dot(self, x_dot: Any, x: Any) -> Any:
        if self.mode == "median":
            y = np.median(x, axis=self.axis, keepdims=True)
            return quantile_dot(x_dot, y, x, self.axis, median_rank)
        y = (np.max if self.mode == "maximum" else np.min)(x, axis=self.axis, keepdims=True)
        return extreme_dot(x_dot, y, x, self.axis, True)


def _stages(array: Any, pad_width: Any, mode: Any, stat_length: Any) -> list[tuple[Any, slice, list[_Margin]]]:
    """The axes as ``np.pad`` fills them, one after the other: what is padded, where it goes, what the margins read."""
    x, stages = np.asarray(array), []
    lengths = np.broadcast_to(np.iinfo(np.intp).max if stat_length is None else stat_length, (x.ndim, 2))
    for axis, (before, after) in enumerate(_pairs(pad_width, x.ndim)):
        size = x.shape[axis]
        left, right = (min(int(n), size) for n in lengths[axis])
        sides = [
            _Margin(mode, axis, slice(0, left), slice(0, before)),
            _Margin(mode, axis, slice(size - right, size), slice(before + size, before + size + after)),
        ]
        stages.append((x, slice(before, before + size), sides))
        pairs = [(0, 0)] * x.ndim
        pairs[axis] = (before, after)
        x = padded(x, pairs, mode, stat_length=stat_length)
    return stages


def _statistic_bar(y_bar: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any) -> Any:
    for x, center, sides in reversed(_stages(array, pad_width, mode, stat_length)):
        x_bar = np.array(sides[0].along(y_bar, center))
        for side in sides:
            region_bar = side.bar(side.along(y_bar, side.margin), side.along(x, side.region))
            into = side.along(x_bar, side.region)
            into += region_bar
        y_bar = x_bar
    return y_bar


def _statistic_dot(array_dot: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any) -> Any:
    for x, center, sides in _stages(array, pad_width, mode, stat_length):
        shape = list(np.shape(array_dot))
        shape[sides[0].axis] = sides[1].margin.stop
        y_dot = np.zeros(shape, array_dot.dtype)
        sides[0].along(y_dot, center)[...] = array_dot
        for side in sides:
            side.along(y_dot, side.margin)[...] = side.dot(
                side.along(array_dot, side.region), side.along(x, side.region)
            )
        array_dot = y_dot
    return array_dot


def pad_bar(
    y_bar: Any,
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    reflect_type: Any = None,
    stat_length: Any = None,
) -> Any:
    """The cotangent of ``array`` for ``np.pad``."""
    keywords = {"reflect_type": reflect_type, "stat_length": stat_length}
    _check(mode)
    if np.ndim(array) == 0:
        return y_bar
    pairs = _pairs(pad_width, np.ndim(array))
    if mode in ("constant", "empty"):
        return y_bar[tuple(slice(before, before + n) for (before, _), n in zip(pairs, np.shape(array)))]
    if _is_selection(mode, keywords):
        return selection_bar(y_bar, array, np.pad(numbered(array), pairs, mode, **_given(keywords)))
    if mode in _STATISTICS:
        return _statistic_bar(y_bar, array, pad_width, mode, stat_length)
    for axis in reversed(range(np.ndim(array))):
        matrix = _axis_matrix(np.shape(array)[axis], pairs[axis], mode, keywords, axis, np.ndim(array))
        y_bar = np.moveaxis(np.moveaxis(y_bar, axis, -1) @ matrix.astype(y_bar.dtype), -1, axis)
    return y_bar


def margin_bar(y_bar: Any, values: Any, array: Any, pad_width: Any, mode: Any) -> Any:
    """The cotangent of ``constant_values`` or ``end_values`` of ``np.pad``, which fill the axes one after the other."""
    ndim = np.ndim(array)
    if values is None or rounds(values, np.asarray(array).dtype):
        return ZERO if values is None else nested_bar(np.zeros(np.shape(values)), values)
    found = np.zeros((ndim, 2), np.asarray(y_bar).dtype)
    pairs = _pairs(pad_width, ndim)
    for axis in reversed(range(ndim)):
        for side, width in enumerate(pairs[axis]):
            outwards = np.moveaxis(y_bar, axis, 0)[:: 1 if side == 0 else -1][:width]
            shares = 1 - np.arange(width) / max(width, 1) if mode == "linear_ramp" else np.ones(width)
            found[axis, side] = np.sum(np.tensordot(shares.astype(float_type(y_bar)), outwards, 1))
        only = [(0, 0)] * ndim
        only[axis] = pairs[axis]
        y_bar = pad_bar(y_bar, _of_shape(np.shape(array), pairs, axis), only, mode)
    return nested_bar(unbroadcast(found, np.asarray(values)), values)


def _of_shape(shape: Any, pairs: Any, axis: int) -> Any:
    """Something of the shape that an array has when its axes before ``axis`` are padded."""
    sizes = [n + (sum(pairs[k]) if k < axis else 0) for k, n in enumerate(shape)]
    return np.broadcast_to(0.0, sizes)


def margin_dot(values_dot: Any, values: Any, array: Any, pad_width: Any, mode: Any) -> Any:
    """The tangent of ``np.pad`` from that of ``constant_values`` or ``end_values``."""
    if is_zero(values_dot) or rounds(values, np.asarray(array).dtype):
        return ZERO
    name = "constant_values" if mode == "constant" else "end_values"
    moving = nested_dot(values_dot, values, np.asarray(values, np.result_type(np.asarray(array).dtype)))
    zeros = np.zeros(np.shape(array), np.result_type(np.asarray(array).dtype, np.float16))
    return np.pad(zeros, pad_width, mode, **{name: moving})  # type: ignore[call-overload]


def pad_dot(
    array_dot: Any,
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    reflect_type: Any = None,
    stat_length: Any = None,
) -> Any:
    """The tangent of ``np.pad`` from that of the array."""
    _check(mode)
    if is_zero(array_dot):
        return array_dot
    if mode in _STATISTICS:
        return _statistic_dot(array_dot, array, pad_width, mode, stat_length)
    return padded(array_dot, pad_width, mode, reflect_type=reflect_type, stat_length=stat_length)
