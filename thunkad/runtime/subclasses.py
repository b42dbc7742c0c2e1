"""Classes derived from arrays, lists, dicts and tuples that have their own way to what they hold.

To the compiler ``x[k]`` of a list or an array is a read of memory.  A class whose ``__getitem__``, ``sum`` or
``append`` does something else is refused where a derivative would pass it by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import NoRuleError, UnsupportedSyntaxError
from thunkad.lifetimes import remembered

#: The methods by which the contents of a built-in container are read and changed.
_CONTENTS = frozenset(
    """__getitem__ __missing__ __setitem__ __delitem__ __iter__ __reversed__ __len__ append extend insert pop remove
    sort reverse clear get items keys values setdefault update popitem""".split()
)
#: What a class derived from an array may define and still compute as an array does.
_HARMLESS = frozenset(
    """__new__ __init__ __array_finalize__ __array_wrap__ __array_prepare__ __array_priority__ __repr__ __str__
    __format__ __reduce__ __reduce_ex__ __setstate__ __hash__ __doc__ __class_getitem__ __init_subclass__ __dir__
    __sizeof__ __copy__ __deepcopy__ tofile tolist dump dumps""".split()
)


@remembered
def check_class(cls: type) -> None:
    """Refuse arrays of the classes for which operators and functions mean something else."""
    if issubclass(cls, np.matrix):
        reason, hint = "np.matrix changes what * and ** mean", "use an ordinary two-dimensional array and @"
    elif any(f"{c.__module__}.".startswith("numpy.ma.") for c in cls.__mro__):
        reason = "masked arrays hold their mask beside the numbers"
        hint = "use an ordinary array and np.where, or pass x.filled(…)"
    elif (name := _own(cls, np.ndarray, frozenset(dir(np.ndarray)) - _HARMLESS)) is not None:
        reason, hint = f"it has a {name} of its own", "pass np.asarray(x)"
    else:
        return
    raise NoRuleError(f"an array of class {cls.__qualname__} is not differentiated: {reason}", hint=hint)


def check_contents(x: Any) -> None:
    """Refuse to follow what ``x``, a list, dict or tuple, holds, where its class has its own way to it."""
    if type(x) not in (list, dict, tuple):
        _check_container(type(x))


@remembered
def _check_container(cls: type) -> None:
    for base in (list, dict, tuple):
        if issubclass(cls, base) and not hasattr(cls, "_fields"):
            name = _own(cls, base, _CONTENTS)
            if name is not None:
                raise UnsupportedSyntaxError(
                    f"{cls.__qualname__}, a class derived from {base.__name__}, has a {name} of its own, and what it "
                    "holds is differentiated",
                    hint=f"derive the class from nothing, and keep a {base.__name__} in an attribute",
                )


def _own(cls: type, base: type, names: frozenset[str]) -> str | None:
    """One of ``names`` that ``cls`` has from a class behind ``base`` which isn't part of Python or NumPy."""
    for part in cls.__mro__:
        if part is base:
            return None
        if str(part.__module__).split(".")[0] not in ("builtins", "collections", "numpy"):
            for name in vars(part):
                if name in names:
                    return name
    return None
