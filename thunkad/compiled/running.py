"""The shadows of the pullback that is running."""

from __future__ import annotations

import contextvars
from typing import Any

from thunkad.runtime.shadows import Shadows
from thunkad.tangents import AbstractZero, resolved, unthunk

running: contextvars.ContextVar[Shadows] = contextvars.ContextVar("thunkad_shadows")


def run(shadows: Any, back: Any, value_bar: Any) -> Any:
    """``back`` in a run of a pullback that has these shadows."""
    token = running.set(shadows)
    try:
        value_bar = unthunk(value_bar)
        return back(value_bar if isinstance(value_bar, AbstractZero) else resolved(value_bar))
    finally:
        running.reset(token)
