"""What values hold, to any depth."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from thunkad.runtime.containers import SEQUENCES
from thunkad.runtime.exceptions import held_by
from thunkad.runtime.variables import Variable

#: Classes of what holds nothing, numbers most of all.
ATOMS = (float, int, complex, str, bytes, type(None), type, np.generic, np.dtype, types.ModuleType)


def within(x: Any) -> Iterator[Any]:
    """``x`` and what it holds, to any depth, numbers and the like aside."""
    left, seen = [x], set()
    while left:
        x = left.pop()
        if not isinstance(x, ATOMS) and id(x) not in seen:
            seen.add(id(x))
            yield x
            left += parts_of(x)


def parts_of(x: Any) -> tuple[Any, ...]:
    """What ``x`` holds, in an order that is always the same."""
    if isinstance(x, SEQUENCES):
        return tuple(x)
    if isinstance(x, dict):
        return (*x.keys(), *x.values())
    if isinstance(x, (set, frozenset)):
        return tuple(x)
    if isinstance(x, functools.partial):
        return (x.func, *x.args, *x.keywords, *x.keywords.values())
    if isinstance(x, (types.MethodType, types.BuiltinMethodType)):
        return (x.__self__,)
    if isinstance(x, types.FunctionType):
        return (*(x.__closure__ or ()), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    if isinstance(x, types.CellType):
        try:
            return (x.cell_contents,)
        except ValueError:
            return ()  # it is empty
    if isinstance(x, np.ndarray):
        return tuple(x.flat) if x.dtype.hasobject else ()
    fields = fields_of(x)
    return (*fields, *fields.values())


def fields_of(x: Any) -> dict[str, Any]:
    """The attributes of an object, those in slots too; none of a class or a module."""
    if isinstance(x, (type, types.ModuleType)):
        return {}
    if isinstance(x, Variable):
        return x.fields()
    own = {**getattr(x, "__dict__", {}), **(held_by(x) if isinstance(x, BaseException) else {})}
    for cls in type(x).__mro__:
        for name in getattr(cls, "__slots__", ()):
            try:
                own.setdefault(name, getattr(x, name))
            except (AttributeError, NameError):
                pass  # not set; of a cell that is a NameError, as of the variable that it stands for
    return own
