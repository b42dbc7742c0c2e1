"""What calls such as ``np.put`` and ``np.fill_diagonal`` moved where, and its reverse.

A *move* is a pair: a mask of the elements that were written, and for each of them the place in the values that it came
from.  It is found by running the function itself on numbers of places instead of values, so it knows repeated indices,
values that are used again, and every keyword just as the function does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.shadows import unless_cut

Move = tuple[Any, Any]


def moves(write: Callable[..., Any], y: Any, values: Any, *args: Any, **kwargs: Any) -> Move:
    """The move that ``write(y, *args, values, **kwargs)`` will make."""
    labels = np.full(np.shape(y), -1)
    write(labels, *args, np.arange(np.size(values)).reshape(np.shape(values)), **kwargs)
    mask = labels >= 0
    return mask, labels[mask]


def put_moves(y: Any, values: Any, places: Any, mode: str = "raise") -> Move:
    """The same for ``np.put``, at the cost of what it writes."""
    places, size = np.ravel(places), np.size(y)
    if mode == "wrap":
        places = places % size
    elif mode == "clip":
        places = np.clip(places, 0, size - 1)
    elif np.any((places < -size) | (places >= size)):
        np.put(np.zeros(size), places, 0.0)  # raises
    last = dict(zip((places % size).tolist() if size else [], range(len(places)), strict=False))
    where = np.fromiter(last, int, len(last))
    return np.unravel_index(where, np.shape(y)), np.fromiter(last.values(), int, len(last)) % max(np.size(values), 1)


def take_moved(y_bar: Any, y: Any, move: Move, values: Any) -> Any:
    """The cotangent of the values of a move; what was overwritten has none."""
    where, sources = move
    v_bar = np.zeros(np.size(values), y_bar.dtype)
    np.add.at(v_bar, sources, y_bar[where])
    y_bar[where] = 0.0
    return unless_cut(v_bar.reshape(np.shape(values))[()], y, values)


def chosen(x: Any, like: Any, where: Any) -> Any:
    """The elements of ``x``, broadcast to the shape of ``like``, that a ``where=`` lets through."""
    return np.broadcast_to(x, np.shape(like))[spread(where, like)]


def spread(where: Any, like: Any) -> Any:
    """A ``where=`` in full."""
    return np.broadcast_to(where, np.shape(like)).copy()


def scattered(chosen_bar: Any, x: Any, like: Any, where: Any) -> Any:
    """The reverse of :func:`chosen`."""
    whole = np.zeros(np.shape(like), np.asarray(chosen_bar).dtype)
    whole[spread(where, like)] = chosen_bar
    return unbroadcast(whole, x)


def the_array(x: Any) -> Any:
    """What a library function writes into where it is given ``x``, which may be a tuple of one array (``out=(y,)``)."""
    if isinstance(x, tuple) and len(x) == 1:
        return x[0]
    if isinstance(x, tuple):
        raise UnsupportedSyntaxError("out= with several arrays, of which one is differentiated", hint="write out=y")
    return x
