"""Walks through containers and objects that may hold each other to any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: What is left to do: the inside of each container is gone through after what is around it, not within.
Left = list[Callable[[], Any]]


def complete(left: Left, made: Any) -> Any:
    """``made``, when all that is left has been done, and what that leaves."""
    while left:
        left.pop()()
    return made
