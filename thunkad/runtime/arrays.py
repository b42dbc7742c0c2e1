"""Helpers on arrays and numbers that rules and generated code call.  All are linear in the cotangent that they take."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError, UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS
from thunkad.runtime.ducks import is_duck, zeros_like
from thunkad.runtime.shaped import Shaped, shape_only
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent


@shape_only("x")
def unbroadcast(t_bar: Any, x: Any) -> Any:
    """Sum a cotangent of a broadcast result down to the shape of the operand ``x``, of which only that is read."""
    if type(t_bar) is np.ndarray and t_bar.shape == getattr(x, "shape", None):
        return t_bar
    shape = np.shape(x)
    if np.shape(t_bar) == shape or isinstance(t_bar, NotImplementedTangent):
        return t_bar
    lead = np.ndim(t_bar) - len(shape)
    if lead < 0:
        raise ValueError(f"a cotangent of shape {np.shape(t_bar)} does not fit an operand of shape {shape}")
    if lead:
        t_bar = sum_of(t_bar, axis=tuple(range(lead)))
        if np.shape(t_bar) == shape:
            return t_bar
    stretched = tuple(k for k, size in enumerate(shape) if size == 1 and t_bar.shape[k] != 1)
    return sum_of(t_bar, axis=stretched, keepdims=True)


def sum_of(t_bar: Any, **how: Any) -> Any:
    """``np.sum``, without its price for an array."""
    return np.add.reduce(t_bar, **how) if isinstance(t_bar, np.ndarray) else np.sum(t_bar, **how)


@shape_only("result")
def stretch(t_dot: Any, result: Any) -> Any:
    """Broadcast a tangent to the shape of ``result`` (only its shape is read)."""
    shape = np.shape(result)
    if np.shape(t_dot) == shape or isinstance(t_dot, (NotImplementedTangent, AbstractZero)):
        return t_dot
    return np.broadcast_to(t_dot, shape)


def conjugate(x: Any) -> Any:
    """The complex conjugate; a real ``x`` itself."""
    if isinstance(x, (float, int)):
        return x
    return np.conjugate(x) if np.iscomplexobj(x) else x


@shape_only("x")
def zeros(x: Any) -> Any:
    """A fresh zero cotangent for ``x``: 0.0 for a number, a buffer of its layout for an array, else a zero tangent."""
    if isinstance(x, np.ndarray):
        kind = x.dtype.kind
        if kind in "fc":
            return np.zeros(x.shape, x.dtype) if x.flags.c_contiguous else np.zeros_like(x, subok=False)
        if kind in "iu":
            return np.zeros_like(x, dtype=float, subok=False)
        if x.dtype.names:
            raise UnsupportedSyntaxError(
                "an array of records that holds differentiated values", hint="use a dict of arrays"
            )
        return ZERO
    if isinstance(x, (float, int, np.number)):
        return 0.0
    if isinstance(x, complex):
        return 0j
    if isinstance(x, np.flatiter):
        raise NotImplementedDerivativeError("the iterator x.flat has no derivative; use np.ravel(x)")
    if isinstance(x, (*LISTS, set, frozenset)):
        return [ZERO] * len(x)
    if isinstance(x, tuple):
        return (ZERO,) * len(x)
    if isinstance(x, dict):
        return {}
    if isinstance(x, Shaped):
        return np.zeros(x.shape)
    return zeros_like(x) if is_duck(type(x)) else ZERO


_SHORT = (np.dtype(np.float32), np.dtype(np.float16))


@shape_only("x")
def expand(t_bar: Any, x: Any, axis: Any = None, keepdims: Any = False, where: Any = True, dtype: Any = None) -> Any:
    """The cotangent of a reduction's result, put back on the reduced axes and broadcast (read-only) like ``x``.

    ``where`` and ``dtype`` are those of the reduction: entries left out get zero, and so does all of a reduction that
    rounds to integers.
    """
    shape = np.shape(x)
    if dtype is not None and rounds(x, dtype):
        return zeros(x)
    if type(t_bar) is float and getattr(x, "dtype", None) in _SHORT:
        t_bar = x.dtype.type(t_bar)  # a Python number has no precision of its own
    if axis is not None and not keepdims and len(shape):
        t_bar = np.expand_dims(t_bar, axis)
    elif axis is None and not keepdims and np.ndim(t_bar):
        t_bar = np.reshape(t_bar, (1,) * len(shape))
    t_bar = np.broadcast_to(t_bar, shape) if shape else t_bar
    return t_bar if where is True else np.where(where, t_bar, 0)


@shape_only("x")
def rounds(x: Any, dtype: Any) -> bool:
    """Whether converting ``x`` to ``dtype`` rounds it to integers, so that no derivative flows."""
    kind = x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind
    return kind in "fc" and np.dtype(dtype).kind not in "fcO"


def is_zero(t: Any) -> bool:
    """Whether ``t`` is a structural zero."""
    return isinstance(t, AbstractZero)
