"""The cotangent of a function from those of what it holds, which may be in shadows."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from thunkad.runtime.chosen import owner_of
from thunkad.runtime.cotangents import entry
from thunkad.runtime.marks import derivative_of
from thunkad.tangents import Tangent


def of_function(shadows: Any, f: Any, f_bar: Any) -> Any:
    """The whole cotangent of a closure, a method, or a derivative of one; ``f_bar`` is that of the numbers it holds.

    Memory that it holds at two places is taken from the shadows once.
    """
    spec = derivative_of(f)
    if spec is not None:
        return of_function(shadows, spec.f, f_bar)
    owner = owner_of(f)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return _of_part(shadows, owner, f_bar)
    if not isinstance(f, functools.partial):
        return f_bar
    f_bar = shadows.take(f, f_bar)
    args, named = entry(f_bar, "args"), entry(f_bar, "keywords")
    fields = {
        "func": of_function(shadows, f.func, entry(f_bar, "func")),
        "args": tuple(_of_part(shadows, v, entry(args, k)) for k, v in enumerate(f.args)),
        "keywords": {k: _of_part(shadows, v, entry(named, k)) for k, v in f.keywords.items()},
    }
    return Tangent(functools.partial, fields)


def _of_part(shadows: Any, x: Any, x_bar: Any) -> Any:
    if callable(x) and (isinstance(x, functools.partial) or owner_of(x) is not None or derivative_of(x) is not None):
        return of_function(shadows, x, x_bar)
    return x_bar if isinstance(x, (float, int, complex, np.generic)) else shadows.take(x, x_bar)
