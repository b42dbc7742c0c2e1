"""Shapes of results that are not computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.shaped import Shaped, shape_only


@shape_only("a", "b", "c")
def broadcast(a: Any, b: Any, c: Any = None) -> Any:
    """Something of the shape that operands broadcast to; raises NumPy's error if they don't."""
    if c is not None:
        return broadcast(broadcast(a, b), c)
    s, t = shape_of(a), shape_of(b)
    if s == t or not t:
        return a
    return b if not s else Shaped(np.broadcast_shapes(s, t) if _fits(s, t) else _mismatch(s, t))


def shape_of(x: Any) -> tuple[int, ...]:
    """``np.shape(x)``, without its price for an array."""
    return x.shape if type(x) in (np.ndarray, Shaped) else np.shape(x)


def _fits(s: tuple[int, ...], t: tuple[int, ...]) -> bool:
    return all(m == n or m == 1 or n == 1 for m, n in zip(reversed(s), reversed(t)))


def _mismatch(s: tuple[int, ...], t: tuple[int, ...]) -> tuple[int, ...]:
    shapes = " ".join(str(x).replace(" ", "") for x in (s, t))
    raise ValueError(f"operands could not be broadcast together with shapes {shapes} ")


@shape_only("a", "b")
def matmul_shape(a: Any, b: Any) -> Any:
    """Something of the shape of ``a @ b``; raises NumPy's error if they don't fit."""
    s, t = shape_of(a), shape_of(b)
    if len(s) == 2 and len(t) == 2 and s[1] == t[0]:
        return Shaped((s[0], t[1]))
    return np.matmul(np.broadcast_to(0.0, s), np.broadcast_to(0.0, t))
