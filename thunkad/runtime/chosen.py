"""What a generic function of ``functools.singledispatch`` calls."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_NO_OWNERS = (types.ModuleType, type, np.ufunc, type(None))
_BOUND = functools.singledispatchmethod(lambda self, x: x).__get__(0).__code__


def implementation(dispatcher: Any, x: Any) -> Any:
    """The function that ``dispatcher(x)`` calls."""
    return dispatcher.dispatch(x.__class__)


def owner_of(f: Any) -> Any:
    """The object that a bound method belongs to, one of ``functools.singledispatchmethod`` too; else None."""
    if isinstance(f, METHODS):
        return f.__self__
    if isinstance(f, types.FunctionType) and f.__code__ is _BOUND:
        return held(f)["obj"]
    return None


def built_in_owner(f: Any) -> Any:
    """The object that a method of a built-in class, such as ``x.conjugate`` or ``x.__abs__``, belongs to; else None."""
    if isinstance(f, types.BuiltinMethodType) and not isinstance(f.__self__, _NO_OWNERS):
        return f.__self__
    return f.__self__ if isinstance(f, types.MethodWrapperType) and not callable(f.__self__) else None


def is_function(x: Any) -> bool:
    """Whether ``x`` is something to call, and no object of a user's class with a ``__call__``, which holds numbers."""
    if not callable(x):
        return False
    call = getattr(type(x), "__call__", None)  # noqa: B004 - the method itself is looked at
    return not isinstance(call, types.FunctionType) or type(x).__module__.split(".")[0] in ("numpy", "thunkad")


def bound_choice(f: Any) -> Any:
    """What chooses for a bound method of ``functools.singledispatchmethod`` by the class of its argument, and its
    object; None for anything else."""
    if not isinstance(f, types.FunctionType) or f.__code__ is not _BOUND:
        return None
    found = held(f)
    if found["obj"] is None:
        return None  # read from the class
    return found["dispatch"] if "dispatch" in found else found["self"].dispatcher.dispatch, found["obj"]


def held(f: Any) -> dict[str, Any]:
    """What a function captures, by name."""
    return {name: cell.cell_contents for name, cell in zip(f.__code__.co_freevars, f.__closure__)}
