"""Calls that write into an array and are followed; of ``ufunc.at`` the function that returns what the array becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Universal functions other than sums and differences, each with ``updated(a, indices, b) -> a``.
UPDATED: dict[Any, Callable[..., Any]] = {}

#: Functions and methods that the compiler follows where it knows the array that they write into.
FOLLOWED = frozenset(
    (
        *(np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask),
        *(np.ndarray.fill, np.ndarray.partition, np.ndarray.put, np.ndarray.sort),
    )
)


def is_followed(target: Any) -> bool:
    """Whether the compiler follows calls of ``target``."""
    ufunc = getattr(target, "__self__", None)
    if isinstance(ufunc, np.ufunc):
        return target.__name__ == "at" and (ufunc in UPDATED or ufunc in (np.add, np.subtract))
    return target in FOLLOWED
