"""What classes of the user's have under a name.  Whoever compiles for an answer is told what was asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

_asking = threading.local()
_ABSENT: Any = object()


def member(cls: type, name: str, after: type | None = None) -> Any:
    """What objects of ``cls`` find in it under ``name``, descriptors unbound; None if there is nothing.

    ``after``: only classes behind that one are looked at, as ``super()`` does.
    """
    note = getattr(_asking, "note", None)
    if note is not None:
        note(cls, name, after)
    found = found_in(cls, name, after)[1]
    return None if found is _ABSENT else found


def found_in(cls: type, name: str, after: type | None = None) -> tuple[type | None, Any]:
    """The class that has it, and what that is."""
    mro = cls.__mro__
    for c in mro if after is None else mro[mro.index(after) + 1 :]:
        found = c.__dict__.get(name, _ABSENT)
        if found is not _ABSENT:
            return c, found
    return None, _ABSENT


@contextlib.contextmanager
def noted_by(note: Callable[[type, str, type | None], None]) -> Iterator[None]:
    """``note`` is told of every question in this thread."""
    before = getattr(_asking, "note", None)
    _asking.note = note
    try:
        yield
    finally:
        _asking.note = before
