"""Callables that hold the Python function that they stand for."""

from __future__ import annotations

from typing import Any

from thunkad.source.origin import library_of


def python_function(fn: Any) -> Any:
    """The Python function behind a cache of ``functools`` or a function that Numba compiled; None behind others."""
    cls = type(fn)
    if cls.__name__ == "_lru_cache_wrapper":
        return fn.__wrapped__
    return getattr(fn, "py_func", None) if library_of(cls) == "numba" else None
