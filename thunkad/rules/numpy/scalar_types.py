"""Calls of NumPy's scalar types, ``np.float64(x)``: like ``np.array(x, dtype)``, a number from a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.runtime.joining import nested_bar, nested_dot
from thunkad.tangents import thunk

_SCALARS = {t for t in vars(np).values() if isinstance(t, type) and issubclass(t, np.generic)}


def inexact(kind: Any) -> None:
    """The rules of calling a float or complex type."""

    @rrule(kind)
    def _(x=0):
        y = kind(x)

        def pullback(y_bar):
            return (thunk(lambda: nested_bar(y_bar, x, kind)),)

        return y, pullback

    @frule(kind)
    def _(x=0, *, x_dot):
        y = kind(x)
        return y, nested_dot(x_dot, x, y)[()]


for _kind in _SCALARS:
    if issubclass(_kind, np.inexact) and _kind not in (np.inexact, np.floating, np.complexfloating):
        inexact(_kind)
    else:
        non_differentiable(_kind)
