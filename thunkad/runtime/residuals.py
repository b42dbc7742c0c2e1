"""Values as they are now, for code that reads them later."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.allocations import allocation_of, may_be_shared, same_view, shared_roots
from thunkad.runtime.containers import DICTS, LISTS, VIEWS, remade, remade_dict
from thunkad.runtime.walks import Left, complete

_CONTAINERS = frozenset((tuple, *LISTS, *DICTS))


def snapshot(x: Any) -> Any:
    """A copy of arrays and of containers, laid out alike and sharing what ``x`` shares; all else is ``x`` itself."""
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    if type(x) in VIEWS:
        x = list(x)
    if not _is_container(x):
        return x
    left: Left = []
    return complete(left, _copied(x, {}, shared_roots(x), left))


def _is_container(x: Any) -> bool:
    return type(x) in _CONTAINERS or (isinstance(x, tuple) and hasattr(x, "_fields"))


def _copied(x: Any, seen: dict[int, Any], shared: set[int], left: Left) -> Any:
    """The same for a part of a value; what lists and dicts hold is left for later."""
    found = seen.get(id(x))
    if found is not None:
        return found
    if isinstance(x, np.ndarray):
        root = allocation_of(x)
        if x is root or id(root) not in shared or not may_be_shared(x, root):
            made: Any = x.copy(order="K")
        else:
            made = same_view(x, root, _copied(root, seen, shared, left))
    elif not _is_container(x):
        return x
    elif type(x) in LISTS:
        made = remade(x, ())
        left.append(lambda: made.extend([_copied(v, seen, shared, left) for v in x]))
    elif type(x) in DICTS:
        made = remade_dict(x, x.values())
        left.append(lambda: dict.update(made, [(k, _copied(v, seen, shared, left)) for k, v in x.items()]))
    else:
        parts = (_copied(v, seen, shared, left) for v in x)
        made = type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
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
