"""Values as they are now, for code that reads them later."""

from __future__ import annotations

from typing import Any

import numpy as np


def snapshot(x: Any, seen: dict[int, Any] | None = None) -> Any:
    """A copy of arrays and of containers, laid out alike and sharing what ``x`` shares; all else is ``x`` itself."""
    if isinstance(x, np.ndarray):
        made: Any = x.copy(order="K")
    elif type(x) not in (list, tuple, dict) and not (isinstance(x, tuple) and hasattr(x, "_fields")):
        return x
    else:
        seen = {} if seen is None else seen
        found = seen.get(id(x))
        if found is not None:
            return found
        if type(x) is list:
            made = seen[id(x)] = []
            made.extend(snapshot(v, seen) for v in x)
        elif type(x) is dict:
            made = seen[id(x)] = {}
            made.update((k, snapshot(v, seen)) for k, v in x.items())
        else:
            parts = (snapshot(v, seen) for v in x)
            made = type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if seen is not None:
        seen[id(x)] = made
    return made


def same_numbers(a: Any, b: Any) -> bool:
    """Whether two values of one structure hold the same numbers, but for what rounding and solvers leave."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_numbers, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_numbers(v, b[k]) for k, v in a.items())
    if not isinstance(a, (np.ndarray, np.generic, float, int, complex)):
        return True
    if np.shape(a) != np.shape(b):
        return False
    same = (a == b) | ((a != a) & (b != b))
    if np.all(same):
        return True
    precision = max(
        (np.finfo(np.asarray(x).dtype).eps for x in (a, b) if np.asarray(x).dtype.kind in "fc"), default=0.0
    )
    finite = np.isfinite(a) & np.isfinite(b)
    size = np.max(np.abs(a), initial=0.0, where=finite)
    return bool(np.all(same | (finite & (np.abs(np.subtract(a, b)) <= precision**0.5 * size))))
