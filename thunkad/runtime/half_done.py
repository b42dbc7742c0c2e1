"""Code that changed something and then raised, where the derivative of what it has done is not kept.

That matters if the exception is caught and the call goes on; then it is refused where the call ends.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

from thunkad.errors import UnsupportedSyntaxError

_seen: contextvars.ContextVar[list[tuple[str, BaseException]] | None] = contextvars.ContextVar(
    "thunkad_half_done", default=None
)


def note_half_done(name: str, error: BaseException) -> None:
    """Remember that ``name`` raised ``error`` once it had changed something."""
    seen = _seen.get()
    if seen is not None:
        seen.append((name, error))


def whole(call: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """``call(*values)``; refused if it went on after such an exception."""
    seen: list[tuple[str, BaseException]] = []
    token = _seen.set(seen)
    try:
        found = call(*values)
    finally:
        _seen.reset(token)
    if seen:
        name, error = seen[0]
        raise UnsupportedSyntaxError(
            f"{name}, which is called unseen, raised {error!r} inside a 'try' after it had changed something",
            hint="raise before anything is changed, or call a method by its name instead of an operator",
        ) from error
    return found
