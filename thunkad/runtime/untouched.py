"""Calls of library code that the compiler did not look into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError


def untouched(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, which must leave the arrays that it is given as they are."""
    arrays = [a for a in (*args, *kwargs.values()) if isinstance(a, np.ndarray)]
    before = [a.tobytes() for a in arrays]
    value = fn(*args, **kwargs)
    if any(a.tobytes() != old for a, old in zip(arrays, before)):
        name = getattr(fn, "__qualname__", repr(fn))
        raise UnsupportedSyntaxError(
            f"{name}, library code that reaches too far to be looked into, changes an array that it is given",
            hint="pass it a copy",
        )
    return value
