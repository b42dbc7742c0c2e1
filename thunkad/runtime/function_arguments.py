"""Shapes and axes for functions that call a function on parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.arrays import is_zero
from thunkad.tangents import ZERO


def all_axes(first: int, count: int) -> tuple[int, ...]:
    """``count`` axes from ``first`` on."""
    return tuple(range(first, first + count))


def piece_conditions(x: Any, condlist: Any, functions: int) -> list[Any]:
    """The conditions of ``np.piecewise``, the one for "none of these" first where there is one more function."""
    if np.ndim(condlist) == 0 or (not isinstance(condlist[0], (list, np.ndarray)) and np.ndim(x) != 0):
        condlist = [condlist]
    conditions = [np.broadcast_to(np.asarray(c, bool), np.shape(x)) for c in condlist]
    if functions == len(conditions) + 1:
        conditions.append(~np.any(np.stack(conditions), axis=0))
    elif functions != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    return conditions


def placed(piece: Any, condition: Any) -> Any:
    """The values ``piece`` at the places where ``condition`` holds, zero elsewhere."""
    y = np.zeros_like(piece, shape=np.shape(condition))
    y[condition] = piece
    return y


def placed_dot(piece_dot: Any, condition: Any) -> Any:
    """The tangent of ``placed(piece, condition)``."""
    return ZERO if is_zero(piece_dot) else placed(piece_dot, condition)


def result_types(function: Any, otypes: Any, arrays: Any) -> tuple[Any, ...]:
    """The types of the results of a ``np.vectorize`` object: as given, or those of a call with the first elements."""
    if otypes is not None:
        return tuple(map(np.dtype, otypes))
    first = function(*(a.flat[0] for a in arrays))
    return tuple(np.asarray(part).dtype for part in (first if isinstance(first, tuple) else (first,)))


def check_elementwise(signature: Any, excluded: Any, args: Any, kwargs: Any) -> None:
    """Refuse calls of ``np.vectorize`` objects that are more than one call for each element."""
    if kwargs or not args or signature is not None or excluded:
        raise UnsupportedSyntaxError(
            "np.vectorize with signature=, excluded= or keyword arguments is not differentiated",
            hint="write the loop out",
        )
    if 0 in np.broadcast_shapes(*map(np.shape, args)):
        raise UnsupportedSyntaxError("np.vectorize of an empty array is not differentiated")
