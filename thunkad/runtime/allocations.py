"""The memory that arrays live in: what a view is a view of, and views in which one element shows at several places."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError


def allocation_of(x: Any) -> Any:
    """The array whose memory ``x`` is a view of; ``x`` itself if that is no other, or no array."""
    while isinstance(x, np.ndarray):
        base = x.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # `as_strided` puts an object of its own in between
            if not isinstance(base, np.ndarray):
                break
        x = base
    return x


def repeats_memory(x: np.ndarray) -> bool:
    """Whether two elements of ``x`` may be one: broadcast or sliding views."""
    extent = x.itemsize
    for stride, size in sorted((abs(s), n) for s, n in zip(x.strides, x.shape) if n > 1):
        if stride < extent:
            return True
        extent += (size - 1) * stride
    return False


def may_be_shared(x: np.ndarray, root: np.ndarray) -> bool:
    """Whether a view of an array like ``root`` can stand for ``x``, which is a view of it."""
    return x.dtype == root.dtype and x.dtype.kind in "fc" and root.size > 0 and root.flags.forc


def shared_roots(x: Any) -> set[int]:
    """The identities of the arrays of which several are views, or which have views, among those in lists and dicts."""
    first: dict[int, np.ndarray] = {}
    shared: set[int] = set()
    left, seen = [x], set()
    while left:
        x = left.pop()
        if isinstance(x, np.ndarray):
            root = allocation_of(x)
            if first.setdefault(id(root), x) is not x and may_be_shared(x, root):
                shared.add(id(root))
        elif isinstance(x, (list, tuple, dict)) and id(x) not in seen:
            seen.add(id(x))
            left += x.values() if isinstance(x, dict) else x
    return shared


def same_view(result: np.ndarray, x: np.ndarray, like_x: np.ndarray) -> np.ndarray:
    """The view of ``like_x``, which is laid out like ``x``, that ``result`` is of ``x``."""
    if x.dtype != like_x.dtype or x.strides != like_x.strides or result.dtype != x.dtype:
        raise UnsupportedSyntaxError(
            "a view of an array that is changed in place, whose tangent is laid out in another way, is not supported",
            hint="take a copy of the array first",
        )
    root = allocation_of(like_x)
    low, high = np.lib.array_utils.byte_bounds(root)
    memory = np.lib.stride_tricks.as_strided(root.view(), (0,), (1,)) if root.size == 0 else root
    start = like_x.__array_interface__["data"][0] - low
    offset = start + result.__array_interface__["data"][0] - x.__array_interface__["data"][0]
    if offset < 0 or offset > high - low or root.size == 0 or not root.flags.forc:
        raise UnsupportedSyntaxError(
            "a view of an array that is changed in place is not supported in forward mode here"
        )
    return np.ndarray(result.shape, like_x.dtype, memory.reshape(-1, order="A").data, offset, result.strides)
