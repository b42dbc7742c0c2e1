"""The checks of debug mode: what generated code calls on each cotangent, with the line that it belongs to."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from thunkad.errors import CotangentError, Place
from thunkad.tangents import Thunk


def checked(x_bar: Any, x: Any, filename: str, line: int) -> Any:
    """``x_bar`` itself, after checking that it can be the cotangent of ``x`` and is finite."""
    if isinstance(x_bar, Thunk):
        if not x_bar.forced:
            return x_bar
        return checked(x_bar.force(), x, filename, line)
    if not isinstance(x_bar, (np.ndarray, np.generic, float, complex, int)):
        return x_bar
    kind = np.asarray(x_bar).dtype.kind
    if kind not in "fciu":
        raise _error(f"a cotangent has the dtype {np.asarray(x_bar).dtype}", filename, line)
    shape = np.shape(x_bar)
    if shape and hasattr(x, "shape") and shape != np.shape(x):
        raise _error(f"a cotangent has the shape {shape}, its value the shape {np.shape(x)}", filename, line)
    if kind == "c" and isinstance(x, np.ndarray) and x.dtype.kind == "f":
        raise _error("a real array has a complex cotangent", filename, line)
    if kind in "fc" and not np.all(np.isfinite(x_bar)):
        what = "NaN" if np.any(np.isnan(x_bar)) else "an infinity"
        also = ""
        if (
            isinstance(x, (np.ndarray, np.generic, float))
            and np.asarray(x).dtype.kind in "fc"
            and not np.all(np.isfinite(x))
        ):
            also = " (the value itself is not finite either)"
        raise _error(f"the first cotangent that is not finite has {what}{also}", filename, line)
    return x_bar


def read_only(x_bar: Any) -> Any:
    """``x_bar`` such that writing into it is an error: what a rule is given is not its own."""
    if type(x_bar) is np.ndarray:
        x_bar = x_bar.view()
        x_bar.flags.writeable = False
    return x_bar


def _error(message: str, filename: str, line: int) -> CotangentError:
    hint = "found by thunkad.debug(): this line is where it appeared in the reverse sweep"
    return CotangentError(message, Place(filename, line, linecache.getline(filename, line)), hint)
