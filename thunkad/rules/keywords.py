"""Keywords for which NumPy has two names: what a call says, and what the rule's parameter is called."""

from __future__ import annotations

from typing import Any

import numpy as np

ALIASES: dict[Any, dict[str, str]] = {
    np.clip: {"min": "a_min", "max": "a_max"},
    np.var: {"correction": "ddof"},
    np.std: {"correction": "ddof"},
    np.nanvar: {"correction": "ddof"},
    np.nanstd: {"correction": "ddof"},
}


def renamed(fn: Any, kwargs: tuple[tuple[str | None, Any], ...]) -> tuple[tuple[str | None, Any], ...]:
    """The keyword arguments of a call of ``fn`` by the names that its rule has for them."""
    try:
        names = ALIASES.get(fn)
    except TypeError:  # unhashable
        return kwargs
    return kwargs if names is None else tuple((names.get(k, k) if k is not None else None, v) for k, v in kwargs)
