"""Imports relative to the package of a function."""

from __future__ import annotations

import importlib
from typing import Any


def import_relative(package: str | None, level: int, name: str | None, *wanted: str) -> Any:
    """The module that ``from ..name import wanted`` takes its names from, with submodules among these imported."""
    if not package:
        raise ImportError("attempted relative import with no known parent package")
    module = importlib.import_module("." * level + (name or ""), package)
    for part in wanted:
        if not hasattr(module, part):
            try:
                importlib.import_module(f"{module.__name__}.{part}")
            except ModuleNotFoundError:
                where = getattr(module, "__file__", None) or "unknown location"
                raise ImportError(f"cannot import name {part!r} from {module.__name__!r} ({where})") from None
    return module
