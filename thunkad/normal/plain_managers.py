"""Context managers that are known by their spelling."""

from __future__ import annotations

from typing import Any

_PLAIN = (
    "errstate", "printoptions", "catch_warnings", "redirect_stdout", "redirect_stderr", "open", "Lock", "RLock",
    "localcontext",
)  # fmt: skip


def swallows_nothing(node: Any) -> bool:
    """Whether the manager is spelled like one of the library's that swallows nothing and has no value to follow."""
    if type(node).__name__ != "Call":
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", None)) in _PLAIN
