"""Variables that functions share: what the compiler makes of a captured variable that is rebound."""

from __future__ import annotations

from typing import Any


class Cell:
    """Holds the value of a variable; reading it before it has one raises ``NameError``, as Python does.

    Parameters
    ----------
    value : optional
        The first value.
    """

    __slots__ = ("__weakref__", "value")

    def __init__(self, *value: Any) -> None:
        if value:
            (self.value,) = value

    def __getattr__(self, name: str) -> Any:
        if name == "value":
            raise NameError("a variable of the enclosing function is used before it has a value")
        raise AttributeError(f"'Cell' object has no attribute {name!r}")
