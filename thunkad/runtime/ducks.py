"""Duck arrays: objects of other libraries that NumPy's functions and operators hand their work to."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NotImplementedDerivativeError
from thunkad.lifetimes import remembered
from thunkad.tangents import AbstractZero, NotImplementedTangent, Thunk


def is_duck(cls: type) -> bool:
    """Whether ``cls`` takes part in NumPy's dispatch of functions and ufuncs as an array of its own."""
    return cls not in _USUAL and _is_duck(cls)


_USUAL = frozenset((np.ndarray, float, np.float64, np.float32, int, complex, bool, list, tuple, dict))


@remembered
def _is_duck(cls: type) -> bool:
    own = issubclass(cls, (np.ndarray, np.generic, AbstractZero, NotImplementedTangent, Thunk))
    return not own and getattr(cls, "__array_ufunc__", None) is not None and hasattr(cls, "__array_function__")


def as_array(x: Any) -> Any:
    """``x`` as an array; a duck array stays what it is."""
    return x if hasattr(x, "dtype") else np.asarray(x)


def zeros_like(x: Any) -> Any:
    """A zero cotangent for the duck array ``x``."""
    return np.zeros_like(x, dtype=x.dtype if x.dtype.kind in "fc" else float)


def as_duck(x_bar: Any, x: Any) -> Any:
    """The cotangent ``x_bar`` as an array of the class, the shape and the field of the duck array ``x``."""
    if isinstance(x_bar, AbstractZero):
        return zeros_like(x)
    if x.dtype.kind != "c" and np.iscomplexobj(x_bar):
        x_bar = np.real(x_bar)
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(float)
    found = np.positive(x_bar) if type(x_bar) is type(x) and x_bar.shape == x.shape else zeros_like(x) + x_bar
    return found if found.dtype == dtype or not hasattr(found, "astype") else found.astype(dtype)


def refuse_field(x: Any, name: str, value: Any) -> None:
    """Refuse to follow an array ``x.name`` as a part of the duck array ``x``, whose cotangent is such an array, too."""
    if np.ndim(value):
        raise NotImplementedDerivativeError(
            f"{type(x).__qualname__}.{name}, an attribute that arrays do not have, has no derivative: "
            "use NumPy's functions"
        )
