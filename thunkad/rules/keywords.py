"""Keywords of calls: those for which NumPy has two names, and those that a rule takes for constants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from thunkad.rules.entry import Entry, name_of

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


def constants_of(rule: Entry, dots: Iterable[str] = ()) -> frozenset[str]:
    """The parameters that a rule takes for constants: the keyword-only ones without a tangent in ``dots``.

    By its ``key``, a value is only selected.
    """
    parameters = rule.signature().parameters.values()
    own = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    selected_by = {"key"} if rule.target in (max, min, sorted) else set()
    return frozenset(own.difference(dots, selected_by))


def no_derivative_by(keyword: str, rule: Entry) -> str:
    """What can't be done where a differentiated value is given to such a parameter."""
    return f"a differentiated value as {keyword}= of {name_of(rule.target)}"
