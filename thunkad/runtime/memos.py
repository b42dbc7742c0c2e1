"""What ``functools.cache`` makes of a function inside differentiated code: a memo that lives as long as the call."""

from __future__ import annotations

from typing import Any


def remembered(function: Any) -> Any:
    """``function`` with a memo."""
    memo: dict[Any, Any] = {}

    def found(*args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(kwargs.items()))
        if key not in memo:
            memo[key] = function(*args, **kwargs)
        return memo[key]

    return found


def remembering(maxsize: Any = 128, typed: bool = False) -> Any:
    """``functools.lru_cache`` of a size."""
    return remembered
