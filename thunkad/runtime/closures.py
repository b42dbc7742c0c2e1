"""Functions made inside compiled functions: plain functions of their captures, with defaults of their own."""

from __future__ import annotations

import types
from typing import Any


def with_defaults(
    function: types.FunctionType, defaults: tuple[Any, ...], kw_defaults: dict[str, Any] | None = None
) -> types.FunctionType:
    """A copy of ``function`` whose last parameters default to these values; ``lifted`` on it is the original."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, defaults or None, function.__closure__
    )
    copy.__kwdefaults__ = kw_defaults
    copy.lifted = function  # type: ignore[attr-defined]
    return copy
