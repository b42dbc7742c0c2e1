"""The kind of a value that exists: what specializations are keyed by."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.kinds.lattice import (
    PY_BOOL,
    PY_COMPLEX,
    PY_INT,
    PY_REAL,
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Mapping,
    Method,
    Num,
    Opaque,
    Partial,
    Sequence,
    Tuple,
    join,
)
from thunkad.runtime.ducks import is_duck
from thunkad.runtime.subclasses import check_class
from thunkad.source.origin import is_foreign, library_of
from thunkad.source.wrapped import python_function

_FIELD_OF = {"b": "bool", "i": "int", "u": "int", "f": "real", "c": "complex"}
_MOST_ITEMS, _MOST_FIELDS, _MOST_LOOKED_AT, _DEEPEST = 64, 64, 1000, 6

_ARRAYS = {(code, ndim): Num("array", field, ndim) for code, field in _FIELD_OF.items() for ndim in range(33)}
_SCALARS = {code: Num("scalar", field) for code, field in _FIELD_OF.items()}
#: Libraries whose objects hold data that are not differentiated.
_DATA = ("pandas", "polars", "xarray")
_OPAQUE = (str, bytes, slice, range, type(Ellipsis), type(NotImplemented), np.dtype, bytearray)
_ELEMENTS = (float, int, complex, np.generic, str, bytes, type(None))
_CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, type,
             types.MethodDescriptorType, types.WrapperDescriptorType)  # fmt: skip


def kind_of(value: Any, depth: int = 0) -> Kind:
    """The kind of ``value``, looking into containers and attributes down to a fixed depth."""
    quick = _QUICK.get(type(value))
    if quick is not None:
        return quick(value, depth)
    if isinstance(value, np.generic):
        return _SCALARS.get(value.dtype.kind) or Opaque(type(value))
    if isinstance(value, np.ndarray):
        check_class(type(value))
        return _array(value, depth)
    if isinstance(value, _CALLABLE) or value is np.matmul or _is_bare(value):
        return Known(value)
    if isinstance(value, _OPAQUE):
        return Opaque(type(value))
    if isinstance(value, tuple):
        return _tuple(value, depth)
    if isinstance(value, dict) and type(value).__module__ in ("builtins", "collections"):
        return _dict(value, depth)
    if type(value).__module__ == "numpy" or type(value).__name__ == "_ArrayFunctionDispatcher":
        return Known(value) if callable(value) else Opaque(type(value))
    if is_duck(type(value)):
        return Num("any", _FIELD_OF.get(getattr(getattr(value, "dtype", None), "kind", ""), "any"))
    library = library_of(type(value))
    if library == "numba" and callable(value):
        return Known(python_function(value) or value)
    return Opaque(type(value)) if library in _DATA else _instance(value, depth)


def _is_bare(value: Any) -> bool:
    """Whether ``value`` is a callable of a built-in class, or of the compiler's, without attributes of the user's."""
    if type(value).__name__ == "cython_function_or_method":
        return True
    call = getattr(type(value), "__call__", None)  # noqa: B004 - the method itself is looked at
    written = isinstance(call, types.FunctionType) and not type(value).__module__.startswith("thunkad.")
    return callable(value) and not written and (not hasattr(value, "__dict__") or is_foreign(value))


def _array(value: Any, depth: int) -> Kind:
    return _ARRAYS.get((value.dtype.kind, value.ndim)) or Opaque(type(value))


def _tuple(value: Any, depth: int) -> Kind:
    if depth >= _DEEPEST:
        return UNKNOWN
    if len(value) > _MOST_ITEMS:
        return Sequence(_items(value, depth), tuple)
    return Tuple(tuple(kind_of(v, depth + 1) for v in value), type(value))


def _list(value: Any, depth: int) -> Kind:
    return UNKNOWN if depth >= _DEEPEST else Sequence(_items(value, depth))


def _items(values: Any, depth: int) -> Kind | None:
    types_seen = set(map(type, values))
    if len(types_seen) == 1 and next(iter(types_seen)) in ONE_KIND:
        return kind_of(next(iter(values)), depth + 1)
    if types_seen == {np.ndarray}:
        values = {(v.dtype.kind, v.ndim): v for v in values}.values()
    elif len(values) > _MOST_LOOKED_AT:
        return UNKNOWN  # a cache of a library's, say
    out: Kind | None = None
    for v in values:
        out = join(out, kind_of(v, depth + 1))
    return out


def _dict(value: Any, depth: int) -> Kind:
    if depth >= _DEEPEST:
        return UNKNOWN
    if len(value) > _MOST_ITEMS or not all(type(k) in (str, int, tuple) for k in value):
        return Mapping(None, _items(value.values(), depth))
    return Mapping(tuple((k, kind_of(v, depth + 1)) for k, v in value.items()))


def _method(value: Any, depth: int) -> Kind:
    owner = value.__self__
    if type(owner).__module__.startswith("thunkad.compiled."):  # of the compiler, which holds all that it knows
        return Method(value.__func__, Instance(type(owner)))
    return Method(value.__func__, kind_of(owner, depth + 1))


def _builtin(value: Any, depth: int) -> Kind:
    owner = getattr(value, "__self__", None)
    if owner is None or isinstance(owner, (types.ModuleType, np.ufunc)):
        return Known(value)
    descriptor = getattr(type(owner), value.__name__, None)
    return (
        Known(value) if descriptor is None or isinstance(owner, type) else Method(descriptor, kind_of(owner, depth + 1))
    )


def _set(value: Any, depth: int) -> Kind:
    """A set: of objects in it nothing is known; one of numbers and the like has no derivative."""
    return _instance(value, depth) if all(isinstance(x, _ELEMENTS) for x in value) else UNKNOWN


def _partial(value: Any, depth: int) -> Kind:
    if depth >= _DEEPEST:
        return UNKNOWN
    return Partial(
        kind_of(value.func, depth + 1),
        tuple(kind_of(v, depth + 1) for v in value.args),
        tuple((k, kind_of(v, depth + 1)) for k, v in value.keywords.items()),
    )


def _function(value: Any, depth: int) -> Kind:
    """A function; nothing is known of one that holds values which may be differentiated, as the defaults of a function
    that generated code made, a derivative or a linear map."""
    marks = value.__dict__
    if marks and (
        "lifted" in marks
        or "__thunkad_map__" in marks
        or _holds(getattr(marks.get("__thunkad_derivative__"), "f", None))
    ):
        return UNKNOWN
    return Known(value)


def _holds(f: Any) -> bool:
    """Whether a function of which a derivative is taken holds values: a closure, a partial, a method."""
    if isinstance(f, functools.partial):
        return bool(f.args or f.keywords) or _holds(f.func)
    if isinstance(f, types.FunctionType):
        return _holds(getattr(f.__dict__.get("__thunkad_derivative__"), "f", None))
    return isinstance(f, types.MethodType)


def _instance(value: Any, depth: int) -> Kind:
    fields = getattr(value, "__dict__", None)
    if depth >= 3 or not isinstance(fields, dict) or len(fields) > _MOST_FIELDS:
        return Instance(type(value))
    return Instance(type(value), tuple((k, kind_of(v, depth + 1)) for k, v in fields.items()))


_QUICK: dict[type, Callable[[Any, int], Kind]] = {
    float: lambda v, d: PY_REAL,
    int: lambda v, d: PY_INT,
    bool: lambda v, d: PY_BOOL,
    complex: lambda v, d: PY_COMPLEX,
    np.ndarray: _array,
    np.float64: lambda v, d: _SCALARS["f"],
    type(None): lambda v, d: Known(None),
    str: lambda v, d: Opaque(str),
    list: _list,
    tuple: _tuple,
    dict: _dict,
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinMethodType: _builtin,
    functools.partial: _partial,
    **dict.fromkeys((set, frozenset), _set),
    collections.deque: lambda v, d: UNKNOWN,  # a list to its cotangents, but a list of its own to every method
}
ONE_KIND = {float, int, bool, complex, np.float64}
