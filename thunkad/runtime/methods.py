"""Cotangents and tangents of array methods that have no function of the same signature."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.runtime.arrays import is_zero, shape_only, zeros
from thunkad.runtime.complex import real_part
from thunkad.runtime.subclasses import check_class
from thunkad.tangents import ZERO


def method_axes(axes: tuple[Any, ...]) -> Any:
    """What ``x.transpose(*axes)`` means as one argument of ``np.transpose``."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return axes[0]
    return axes or None


@shape_only("a")
def item_bar(y_bar: Any, a: Any, args: tuple[Any, ...]) -> Any:
    """The cotangent of ``a`` for ``a.item(*args)``."""
    a_bar = zeros(a)
    if is_zero(a_bar) or not isinstance(a_bar, np.ndarray):
        return a_bar if is_zero(a_bar) else y_bar
    y_bar = np.real(y_bar) if a_bar.dtype.kind == "f" else y_bar
    if not args:
        a_bar[...] = y_bar
    elif len(args) == 1 and not isinstance(args[0], tuple):
        a_bar.flat[args[0]] = y_bar
    else:
        a_bar[args[0] if len(args) == 1 else args] = y_bar
    return a_bar


def item_dot(a_dot: Any, args: tuple[Any, ...]) -> Any:
    """The tangent of ``a.item(*args)``."""
    return np.asarray(a_dot).item(*args)


@shape_only("a")
def tolist_bar(y_bar: Any, a: Any) -> Any:
    """The cotangent of ``a`` for ``a.tolist()``."""
    a_bar = zeros(a)
    if not isinstance(a_bar, np.ndarray):
        return a_bar if is_zero(a_bar) else y_bar
    _fill(a_bar, y_bar)
    return a_bar


def _fill(a_bar: Any, nested: Any) -> None:
    if is_zero(nested):
        return
    if isinstance(nested, (list, tuple)):
        for k, entry in enumerate(nested):
            _fill(a_bar[k, ...], entry)
    else:
        a_bar[...] = np.real(nested) if a_bar.dtype.kind == "f" else nested


def tolist_dot(a_dot: Any) -> Any:
    """The tangent of ``a.tolist()``."""
    return ZERO if is_zero(a_dot) else np.asarray(a_dot).tolist()


@shape_only("a")
def view_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of ``a`` for ``y = a.view(dtype)``: complex numbers are pairs of real ones."""
    _same_memory_as_numbers(a, y)
    if np.iscomplexobj(a) == np.iscomplexobj(y):
        return y_bar
    if np.iscomplexobj(a):
        return real_part(y_bar[..., ::2]) + 1j * real_part(y_bar[..., 1::2])
    return np.reshape(np.stack([np.real(y_bar), np.imag(y_bar)], axis=-1), np.shape(a))


def view_dot(a_dot: Any, a: Any, y: Any) -> Any:
    """The tangent of ``y = a.view(dtype)``."""
    _same_memory_as_numbers(a, y)
    if np.iscomplexobj(a) == np.iscomplexobj(y):
        return a_dot
    return np.ascontiguousarray(a_dot).view(y.dtype)


def _same_memory_as_numbers(a: Any, y: Any) -> None:
    check_class(type(y))
    if a.dtype.kind not in "fc" or y.dtype.kind not in "fc" or np.real(a).dtype != np.real(y).dtype:
        raise NotImplementedDerivativeError(f"x.view() of {a.dtype} as {y.dtype} has no derivative; use x.astype()")
