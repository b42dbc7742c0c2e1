"""Code that reads only shapes: the mark for helpers, and the stand-in for an array that is not computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def shape_only(*params: str) -> Callable[[F], F]:
    """Declare that a helper reads only the shape (and dtype) of these parameters, never their values."""

    def mark(f: F) -> F:
        f.shape_only = params  # type: ignore[attr-defined]
        return f

    return mark


class Shaped:
    """Stands for an array of which only the shape is needed."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for k in self.shape:
            size *= k
        return size
