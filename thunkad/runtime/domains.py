"""Questions about values that decide which function is meant, and positions that values decide."""

from __future__ import annotations

from typing import Any

import numpy as np


def any_below_zero(x: Any) -> bool:
    """Whether a real ``x`` has a negative entry."""
    return bool(np.isrealobj(np.asarray(x)) and np.any(np.less(x, 0)))


def any_outside_one(x: Any) -> bool:
    """Whether a real ``x`` has an entry of absolute value above one."""
    return bool(np.isrealobj(np.asarray(x)) and np.any(np.greater(np.abs(x), 1)))


def kept_range(x: Any, trim: str, axis: Any) -> Any:
    """The slice, or the tuple of slices, of ``x`` that ``np.trim_zeros`` keeps."""
    counting = np.arange(np.size(x)).reshape(np.shape(x))
    marked = np.where(np.not_equal(x, 0), counting + 1, 0)
    axes = range(np.ndim(x)) if axis is None else [k % np.ndim(x) for k in np.atleast_1d(axis)]
    out = [slice(None)] * np.ndim(x)
    for k in axes:
        used = np.flatnonzero(np.any(marked, axis=tuple(j for j in range(np.ndim(x)) if j != k)))
        start = int(used[0]) if len(used) else np.shape(x)[k]
        stop = int(used[-1]) + 1 if len(used) else np.shape(x)[k]
        out[k] = slice(start if "f" in trim.lower() else None, stop if "b" in trim.lower() else None)
    return out[0] if np.ndim(x) == 1 else tuple(out)


def set_positions(left: Any, right: Any, assume_unique: bool) -> tuple[Any, Any, Any]:
    """What ``np.intersect1d`` finds, and where in each operand."""
    return np.intersect1d(left, right, assume_unique=assume_unique, return_indices=True)


def complex_arccos(x: Any) -> Any:
    """``np.arccos`` of a complex number, maybe on the branch cut: its slope there has the sign of the result."""
    return np.arccos(x)


def complex_arcsin(x: Any) -> Any:
    """``np.arcsin`` of a complex number, which may lie on the branch cut."""
    return np.arcsin(x)


def all_indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The index of every entry of an array of this shape."""
    return list(np.ndindex(*shape))
