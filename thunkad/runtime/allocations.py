"""The memory that arrays live in: what a view is a view of, and views in which one element shows at several places."""

from __future__ import annotations

from typing import Any

import numpy as np


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
