"""Precision of cotangents and tangents: single where the arguments are."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.runtime.ducks import as_array
from thunkad.tangents import AbstractZero


def float_type(x: Any) -> Any:
    """The type of real numbers of the precision of ``x``; double for integers."""
    dtype = as_array(x).dtype
    return dtype if dtype.kind == "f" else np.finfo(dtype).dtype if dtype.kind == "c" else np.dtype(float)


def as_precise_as(t: Any, x: Any) -> Any:
    """``t`` in the precision of ``x``, real or complex as it is; a structural zero itself."""
    if isinstance(t, AbstractZero):
        return t
    dtype = as_array(t).dtype
    wanted = np.result_type(float_type(x), np.complex64) if dtype.kind == "c" else float_type(x)
    return t if dtype == wanted and hasattr(t, "dtype") else as_array(t).astype(wanted)[()]


def unit_matrix(n: int, x: Any) -> Any:
    """The unit matrix of this size in the precision of ``x``."""
    return np.eye(n, dtype=float_type(x))


def unless_rounded(t: Any, dtype: Any) -> Any:
    """``t``, zero where a result of this type is rounded to whole numbers (None: it is not)."""
    return t if dtype is None or np.dtype(dtype).kind in "fc" else t * 0.0
