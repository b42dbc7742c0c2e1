"""The same as :mod:`thunkad.runtime.left_behind` for what is put into elements of arrays.

An array that a call has put values into is remembered for as long as it lives.  A later call may read those elements
that it has put something into itself; who reads others is warned.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from thunkad.runtime.left_behind import NOTES, _state, _warn

#: Arrays by their identities, with the last call that put something into them, and whether an earlier one did.
_arrays: dict[int, tuple[weakref.ref[np.ndarray], int, bool]] = {}


def note_element(x: Any, index: Any, varied: bool) -> None:
    """Remember that something, which is differentiated if ``varied``, was put into ``x[index]``; None: somewhere."""
    if not isinstance(x, np.ndarray):
        return
    whole = x if x.base is None else x.base
    if whole is not x or index is None:
        index = None if not isinstance(whole, np.ndarray) else index if whole is x else None
    if index is not None:
        _written(x)[index] = True
    if varied and isinstance(whole, np.ndarray):
        found = _found(whole)
        earlier = found is not None and (found[1] != _state.call or found[2])
        key = id(whole)
        _arrays[key] = weakref.ref(whole, lambda _: _arrays.pop(key, None)), _state.call, earlier


def check_element(x: Any, index: Any, where: str, constant: bool = False) -> None:
    """Warn if ``x[index]``, or anything in ``x`` if that is None, was put there by an earlier call."""
    found = _found(x) if isinstance(x, np.ndarray) else None
    if found is None or not (found[1] != _state.call or found[2]):
        return
    mask = _written(x)
    if not np.all(mask if index is None else mask[index]):
        _warn(where, "an earlier")


def forget_since(time: int) -> None:
    """Forget what calls have put there since ``time``."""
    for key, (ref, call, earlier) in list(_arrays.items()):
        if call > time and not earlier:
            del _arrays[key]
        elif call > time:
            _arrays[key] = ref, time, False


NOTES.extend((note_element, check_element))


def _found(x: np.ndarray) -> tuple[weakref.ref[np.ndarray], int, bool] | None:
    entry = _arrays.get(id(x))
    return entry if entry is not None and entry[0]() is x else None


def _written(x: np.ndarray) -> np.ndarray:
    """Which elements of ``x`` this call has put something into."""
    found = _state.found.get((id(x), 0))
    if found is None:
        found = _state.found[id(x), 0] = x, np.zeros(x.shape, bool)
    mask: np.ndarray = found[1]
    return mask
