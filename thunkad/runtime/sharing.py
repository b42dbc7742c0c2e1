"""Values that share memory where they must not, refused when the code runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, UnsupportedSyntaxError
from thunkad.runtime.shadows import shares


def must_differ(*args: Any) -> None:
    """Refuse arguments that are one object or share memory, where cotangents follow memory: they would share those,
    too."""
    for k, a in enumerate(args):
        if shares(a, *args[:k]):
            raise ArgumentError(
                "two arguments to differentiate for share memory, and the function changes memory in place: "
                "pass a copy of one of them"
            )


def check_fresh(value: Any, *args: Any) -> None:
    """Refuse a call whose result shares memory with an argument where that memory is written in place."""
    for a in args:
        if shares(value, a):
            raise UnsupportedSyntaxError(
                "a function returns a view of its argument (or the argument itself), "
                "and that memory is written in place",
                hint="return a copy, or write the operation out where the memory is changed",
            )


def must_be_array(x: Any) -> None:
    """Refuse an in-place update of what was taken for an array and is a number."""
    if not isinstance(x, np.ndarray):
        raise UnsupportedSyntaxError(
            f"an in-place update of a value of type {type(x).__name__} that was taken for an array",
            hint="write x = x + y instead of x += y",
        )
