"""Walks through containers and objects that may hold each other to any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.tangents import AbstractZero, Tangent, unthunk

#: What is left to do: the inside of each container is gone through after what is around it, not within.
Left = list[Callable[[], Any]]


def complete(left: Left, made: Any) -> Any:
    """``made``, when all that is left has been done, and what that leaves."""
    while left:
        left.pop()()
    return made


def is_moving(dot: Any) -> bool:
    """Whether a nested tangent or cotangent has an entry that is not zero."""
    left = [dot]
    while left:
        part = unthunk(left.pop())
        part = part.fields if isinstance(part, Tangent) else part
        if isinstance(part, (list, tuple, dict)):
            left += part.values() if isinstance(part, dict) else part
        elif not isinstance(part, AbstractZero) and np.any(part):
            return True
    return False
