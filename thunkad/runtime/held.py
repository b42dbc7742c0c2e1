"""What a derivative inside differentiated code is called with, as it is now: it is taken again in the reverse sweep."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import numpy as np

from thunkad.records import replace
from thunkad.runtime.attributes import Holding
from thunkad.runtime.cells import Cell
from thunkad.runtime.chosen import built_in_owner
from thunkad.runtime.containers import DICTS, remade_dict
from thunkad.runtime.dots import has_fields
from thunkad.runtime.marks import MARK, derivative_of
from thunkad.runtime.parts import fields_of
from thunkad.tangents import Tangent

_LIBRARIES = {"numpy", "scipy", "thunkad", *sys.stdlib_module_names} - {"__main__"}


def held(x: Any, seen: dict[int, Any] | None = None) -> Any:
    """A copy of arrays, containers, objects, and of what closures, partials and methods hold; all else is ``x``."""
    seen = {} if seen is None else seen
    if id(x) not in seen:
        seen[id(x)] = x  # where it leads back to itself
        seen[id(x)] = _copied(x, seen)
    return seen[id(x)]


def _copied(x: Any, seen: dict[int, Any]) -> Any:
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    if type(x) in (list, tuple):
        return type(x)(held(v, seen) for v in x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(held(v, seen) for v in x))
    if type(x) in DICTS:
        return remade_dict(x, [held(v, seen) for v in x.values()])
    if isinstance(x, Tangent):
        return Tangent(x.cls, {k: held(v, seen) for k, v in x.fields.items()})
    if type(x) is functools.partial:
        named = {k: held(v, seen) for k, v in x.keywords.items()}
        return functools.partial(held(x.func, seen), *(held(v, seen) for v in x.args), **named)
    if isinstance(x, types.MethodType):
        return types.MethodType(x.__func__, held(x.__self__, seen))
    owner = built_in_owner(x)
    if owner is not None:
        own = held(owner, seen)
        return x if own is owner else getattr(own, x.__name__)
    spec = derivative_of(x)
    if spec is not None:
        inner = held(spec.f, seen)
        return x if inner is spec.f else _derivative(replace(spec, f=inner))
    if isinstance(x, Holding):
        return x.holding(lambda v: held(v, seen))
    if has_fields(x) and _is_of_the_user(x):
        return _object(x, seen)
    return x


def _derivative(spec: Any) -> Any:
    """A function that is this derivative to whoever takes derivatives of it."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("it stands for a derivative, and is not called itself")

    setattr(derivative, MARK, spec)
    return derivative


def _is_of_the_user(x: Any) -> bool:
    """Whether ``x`` is an object of a class of the user's, or a variable of one of their functions."""
    library = type(x).__module__.partition(".")[0]
    if isinstance(getattr(x, "__dict__", None), dict):
        return library not in ("builtins", "thunkad")
    return isinstance(x, Cell) or library not in _LIBRARIES


def _object(x: Any, seen: dict[int, Any]) -> Any:
    try:
        made = object.__new__(type(x))
    except TypeError:
        return x
    own = getattr(x, "__dict__", {})
    for name, value in fields_of(x).items():
        if name in own:
            made.__dict__[name] = held(value, seen)
        elif not name.startswith("__"):
            object.__setattr__(made, name, held(value, seen))
    return made
