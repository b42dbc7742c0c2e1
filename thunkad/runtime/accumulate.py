"""Sums of cotangents by ownership: in place into a buffer that the adjoint owns, where that loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad import debugging
from thunkad.errors import CotangentError
from thunkad.runtime.arrays import zeros
from thunkad.runtime.ducks import is_duck
from thunkad.runtime.shaped import shape_only
from thunkad.tangents import AbstractZero, InplaceableThunk, NotImplementedTangent, unthunk


def accumulate(x_bar: Any, more: Any) -> Any:
    """``x_bar + more``, in place if ``x_bar`` can hold the sum; ``more`` is never changed."""
    if type(more) is np.ndarray and type(x_bar) is np.ndarray:
        if x_bar.dtype is more.dtype and x_bar.shape == more.shape and is_buffer(x_bar) and _apart(x_bar, more):
            x_bar += more
            return x_bar
    elif isinstance(more, InplaceableThunk) and not more.forced and is_buffer(x_bar):
        return _add(x_bar, more)
    more = unthunk(more)
    if isinstance(more, AbstractZero):
        return x_bar
    if isinstance(x_bar, AbstractZero):
        return np.array(more) if isinstance(more, np.ndarray) else more
    if isinstance(x_bar, NotImplementedTangent) or isinstance(more, NotImplementedTangent):
        return x_bar + more
    if np.ndim(more) and np.shape(more) != np.shape(x_bar):
        raise CotangentError(f"a cotangent of shape {np.shape(more)} was added to one of shape {np.shape(x_bar)}")
    if is_duck(type(more)):
        return x_bar + more
    if is_buffer(x_bar) and np.result_type(x_bar, more) == x_bar.dtype and _apart(x_bar, more):
        x_bar += more
        return x_bar
    return x_bar + more


@shape_only("x")
def summed(a: Any, b: Any, x: Any) -> Any:
    """The sum of two cotangents of ``x`` that may be thunks or structural zeros, in memory of its own."""
    if isinstance(a, InplaceableThunk) and not isinstance(b, InplaceableThunk):
        a, b = b, a
    a = unthunk(a)
    total = zeros(x) if isinstance(a, AbstractZero) else np.array(fit(a, x)) if isinstance(a, np.ndarray) else a
    if isinstance(total, AbstractZero):
        return unthunk(b)
    if isinstance(total, np.ndarray) and total.dtype.kind not in "fc":
        total = total.astype(float)
    return accumulate(total, b)


def _apart(x_bar: np.ndarray, more: Any) -> bool:
    """Whether two arrays surely share no memory: each has its own, or it is seen from where they lie."""
    if x_bar.base is None and getattr(more, "base", x_bar) is None:
        return x_bar is not more
    return not np.may_share_memory(x_bar, more)


def is_buffer(x_bar: Any) -> bool:
    """Whether ``x_bar`` is memory to add into: a plain writeable array none of whose elements share memory."""
    if type(x_bar) is not np.ndarray or x_bar.dtype.kind not in "fc":
        return False
    flags = x_bar.flags
    return flags.writeable and (flags.forc or 0 not in x_bar.strides or x_bar.size < 2)


def _add(x_bar: Any, more: InplaceableThunk) -> Any:
    found = more.add(x_bar)
    if found is not x_bar and debugging.enabled:
        raise CotangentError("the add of an InplaceableThunk returned another object than the buffer it was given")
    return found


@shape_only("x")
def fit(x_bar: Any, x: Any) -> Any:
    """``x_bar``, from a rule that the library did not write, checked: the cotangent of ``x`` has the shape of ``x``."""
    if isinstance(x_bar, (np.ndarray, np.generic, float)) and np.shape(x_bar) != np.shape(x) and hasattr(x, "shape"):
        if np.ndim(x_bar):
            raise CotangentError(
                f"a rule returned a cotangent of shape {np.shape(x_bar)} for an argument of shape {np.shape(x)}",
                hint="sum it over the axes that were broadcast",
            )
        return np.broadcast_to(x_bar, np.shape(x))
    return x_bar
