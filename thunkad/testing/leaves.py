"""The numbers inside nested arguments and results: walking them, copying them, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, Thunk

Path = tuple[Any, ...]


def field_of(x: Any) -> str:
    """What kind of number a leaf is: ``"real"``, ``"complex"``, ``"int"``, or ``""`` for what can't be perturbed."""
    if isinstance(x, (bool, np.bool_)):
        return ""
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        return {"f": "real", "c": "complex", "i": "int", "u": "int"}.get(x.dtype.kind, "")
    if isinstance(x, float):
        return "real"
    if isinstance(x, complex):
        return "complex"
    return "int" if isinstance(x, int) else ""


def leaves(x: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The leaves of nested lists, tuples and dicts, with their paths."""
    if isinstance(x, (list, tuple)):
        for k, entry in enumerate(x):
            yield from leaves(entry, (*path, k))
    elif isinstance(x, dict):
        for k, entry in x.items():
            yield from leaves(entry, (*path, k))
    else:
        yield path, x


def map_leaves(change: Callable[[Path, Any], Any], x: Any, path: Path = ()) -> Any:
    """The same nesting with every leaf replaced."""
    if isinstance(x, (list, tuple)):
        entries = [map_leaves(change, entry, (*path, k)) for k, entry in enumerate(x)]
        if isinstance(x, list):
            return entries
        return type(x)(*entries) if hasattr(x, "_fields") else tuple(entries)
    if isinstance(x, dict):
        return {k: map_leaves(change, entry, (*path, k)) for k, entry in x.items()}
    return change(path, x)


def at(x: Any, path: Path) -> Any:
    """The part of a nested cotangent at a path; a structural zero or None stands for all that is below it."""
    x = unthunk_all(x)
    for step in path:
        if x is None or isinstance(x, AbstractZero):
            return x
        if isinstance(x, dict) and step not in x:
            return ZERO
        x = unthunk_all(x[step])
    return x


def unthunk_all(x: Any) -> Any:
    """Force every thunk, at any depth."""
    while isinstance(x, Thunk):
        x = x.force()
    if isinstance(x, Tangent):
        return {k: unthunk_all(x[k]) for k in x}
    if isinstance(x, (list, tuple, dict)):
        return map_leaves(lambda _, v: unthunk_all(v) if isinstance(v, (Thunk, Tangent)) else v, x)
    return x


def copied(x: Any) -> Any:
    """A copy in which no array shares memory with ``x``."""
    return map_leaves(lambda _, v: np.array(v, copy=True, subok=True) if isinstance(v, np.ndarray) else v, x)


def widened(x: Any) -> Any:
    """A leaf in double precision, so that differences of it are not drowned by rounding."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc":
        wide = np.result_type(x.dtype, np.float64)
        return x.astype(wide) if x.dtype != wide else x
    return x


def same(a: Any, b: Any) -> bool:
    """Whether two nested values are identical to the bit (NaN equals NaN)."""
    mine, others = list(leaves(a)), list(leaves(b))
    return len(mine) == len(others) and all(p == q and _same_leaf(x, y) for (p, x), (q, y) in zip(mine, others))


def _same_leaf(x: Any, y: Any) -> bool:
    if field_of(x) and field_of(y):
        return np.array_equal(x, y, equal_nan=True)
    if isinstance(x, np.ndarray):
        return np.array_equal(x, y)
    if isinstance(x, NotImplementedTangent):
        return isinstance(y, NotImplementedTangent) and x.reason == y.reason
    return x is y or (type(x) is type(y) and bool(np.all(x == y)))


def random_like(x: Any, rng: np.random.Generator) -> Any:
    """A random tangent or cotangent for a leaf: few digits, none zero; None if it has none."""
    kind = field_of(x)
    if kind not in ("real", "complex"):
        return None

    def draw() -> Any:
        return rng.choice([-1.0, 1.0], np.shape(x)) * rng.integers(2, 14, np.shape(x)) / 8

    values = draw() + 1j * draw() if kind == "complex" else draw()
    if isinstance(x, (np.ndarray, np.generic)):
        values = np.asarray(values).astype(x.dtype)
        return values if isinstance(x, np.ndarray) else values[()]
    return complex(values) if kind == "complex" else float(values)


def random_tangents(x: Any, rng: np.random.Generator) -> Any:
    """A random tangent for nested numbers, with ZeroTangent() at all that has none."""
    nested = map_leaves(lambda _, v: random_like(v, rng), x)
    return map_leaves(lambda _, v: ZERO if v is None else v, nested)


def shown_path(path: Path) -> str:
    """A path as it is written in Python."""
    return "".join(f"[{step!r}]" for step in path)
