"""``np.pad`` with its keywords spelled out, its cotangent and its tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import shape_only
from thunkad.runtime.indexing import numbered, selection_bar


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
    if mode in ("maximum", "minimum", "median") or callable(mode):
        raise NotImplementedDerivativeError(f"np.pad with mode={mode!r} has no derivative rule yet")


@shape_only("array")
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
    pairs = _pairs(pad_width, np.ndim(array))
    if mode in ("constant", "empty"):
        return y_bar[tuple(slice(before, before + n) for (before, _), n in zip(pairs, np.shape(array)))]
    if _is_selection(mode, keywords):
        return selection_bar(y_bar, array, np.pad(numbered(array), pairs, mode, **_given(keywords)))
    for axis in reversed(range(np.ndim(array))):
        matrix = _axis_matrix(np.shape(array)[axis], pairs[axis], mode, keywords, axis, np.ndim(array))
        y_bar = np.moveaxis(np.moveaxis(y_bar, axis, -1) @ matrix.astype(y_bar.dtype), -1, axis)
    return y_bar


def pad_dot(
    array_dot: Any,
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    reflect_type: Any = None,
    stat_length: Any = None,
) -> Any:
    """The tangent of ``np.pad``: what is put at the margin from outside doesn't move."""
    _check(mode)
    return padded(array_dot, pad_width, mode, reflect_type=reflect_type, stat_length=stat_length)
