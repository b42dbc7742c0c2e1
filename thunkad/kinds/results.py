"""The kind of a result from the kinds of the operands."""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from thunkad.kinds.casts import real_type
from thunkad.kinds.lattice import (
    ARRAY,
    NUMERIC,
    PY_BOOL,
    PY_COMPLEX,
    PY_INT,
    PY_REAL,
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Mapping,
    Num,
    Opaque,
    Sequence,
    Tuple,
    is_hashable,
    item_of,
    join,
    join_fields,
    shaped,
    value_of,
)

_COMPLEX_RESULTS = {np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.rfft,
                    np.fft.rfft2, np.fft.rfftn, np.fft.ihfft}  # fmt: skip
_REAL_RESULTS = {np.real, np.imag, np.angle, np.fft.irfft, np.fft.irfft2, np.fft.irfftn, np.fft.hfft, np.linalg.norm,
                 np.linalg.vector_norm, np.linalg.matrix_norm, np.linalg.cond, np.linalg.svdvals, np.linalg.eigvalsh,
                 np.var, np.std, np.nanvar, np.nanstd}  # fmt: skip
_PARTLY_REAL_RESULTS = {np.linalg.eigh, np.linalg.svd, np.linalg.slogdet, np.linalg.lstsq}
_REDUCTIONS = {np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.std, np.var, np.median, np.ptp,
               np.nansum, np.nanmean, np.nanmax, np.nanmin, np.linalg.norm, np.average, np.any, np.all, np.argmax,
               np.argmin}  # fmt: skip
_INT_RESULTS = {np.argmax, np.argmin, np.argsort, np.size, np.ndim, np.count_nonzero, np.searchsorted, np.digitize,
                np.arange}  # fmt: skip
_KEEP_INTEGERS = (np.arange, np.reshape, np.concatenate, np.stack, np.max, np.min, np.sum, np.array)


def binary(op: str, a: Kind, b: Kind) -> Kind:
    """The kind of ``a op b``."""
    if isinstance(a, Num) and isinstance(b, Num):
        form = _form(a, b)
        if op in ("/",) and form == "python" and "complex" not in (a.field, b.field):
            return PY_REAL
        field = join_fields(a.field, b.field)
        if op == "/" and field in ("int", "bool"):
            field = "real"
        if op == "**":
            if form == "python" and field == "int":
                field = "any"
            elif form == "python" and field == "real":
                field = "any"  # a negative Python float to a fraction is complex
        if op in ("+", "-", "*", "**", "//", "%") and field == "bool":
            field = "int"
        if form == "array":
            return shaped(field, matmul_axes(a, b) if op == "@" else most_axes((a, b)), array=True)
        return Num(form, field)
    if op == "+" and isinstance(a, Sequence) and isinstance(b, Sequence) and a.cls is b.cls:
        return Sequence(join(a.item, b.item), a.cls)
    if op == "+" and isinstance(a, Tuple) and isinstance(b, Tuple):
        return Tuple(a.items + b.items)
    if op == "*" and isinstance(a, (Sequence, Tuple)) and isinstance(b, Num):
        return Sequence(item_of(a), list if isinstance(a, Sequence) and a.cls is list else tuple)
    if isinstance(a, Opaque) and a.cls is str:
        return a
    return UNKNOWN


def most_axes(kinds: Iterable[Kind]) -> int | None:
    """The number of axes of an elementwise result, None if it is not known."""
    most = 0
    for k in kinds:
        if isinstance(k, Num) and k.is_scalar:
            continue
        if not isinstance(k, Num) or k.ndim is None:
            return None
        most = max(most, k.ndim)
    return most


def matmul_axes(a: Kind, b: Kind) -> int | None:
    if not (isinstance(a, Num) and isinstance(b, Num)) or not a.ndim or not b.ndim:
        return None
    if a.ndim == 1 or b.ndim == 1:
        return max(a.ndim, b.ndim) - (2 if a.ndim == b.ndim == 1 else 1)
    return max(a.ndim, b.ndim)


def _form(a: Num, b: Num) -> str:
    forms = {a.form, b.form}
    if "array" in forms:
        return "array"
    if "any" in forms:
        return "any"
    if "number" in forms:
        return "number" if forms <= {"number", "python"} else "scalar"
    return "scalar" if "scalar" in forms else "python"


def unary(op: str, a: Kind) -> Kind:
    if op == "not":
        return PY_BOOL
    if isinstance(a, Num):
        field = "int" if a.field == "bool" and a.form == "python" else a.field
        return shaped(field, a.ndim, True) if a.form == "array" else Num(a.form, field)
    return UNKNOWN


def compare(op: str, a: Kind, b: Kind) -> Kind:
    if op in ("is", "is not", "in", "not in"):
        return PY_BOOL
    if isinstance(a, Num) and isinstance(b, Num):
        form = _form(a, b)
        if form == "array":
            return shaped("bool", most_axes((a, b)), True)
        return PY_BOOL if form == "python" else Num(form, "bool")
    return PY_BOOL if isinstance(a, (Opaque, Known)) else UNKNOWN


def is_basic_index(k: Kind) -> bool:
    """Whether an index of kind ``k`` gives a view or an element (never a gather)."""
    if isinstance(k, Num):
        return k.is_scalar and k.field == "int"
    if isinstance(k, Tuple):
        return all(map(is_basic_index, k.items))
    return (isinstance(k, Opaque) and k.cls is slice) or (isinstance(k, Known) and k.value in (None, Ellipsis))


def indexed_axes(container: Num, index: Kind) -> int | None:
    """The number of axes of ``container[index]``, None if it is not known."""
    if container.ndim is None:
        return None
    parts = index.items if isinstance(index, Tuple) else (index,)
    left = container.ndim
    gathered: list[int] = []
    for p in parts:
        if isinstance(p, Known) and p.value is None:
            left += 1
        elif isinstance(p, Num) and p.is_scalar and p.field == "int":
            left -= 1
        elif isinstance(p, Num) and p.form == "array" and p.ndim is not None and p.field in ("int", "bool"):
            left -= p.ndim if p.field == "bool" else 1
            gathered.append(1 if p.field == "bool" else p.ndim)
        elif isinstance(p, Sequence) and isinstance(p.item, Num) and p.item.form == "python" and p.item.field == "int":
            left -= 1
            gathered.append(1)
        elif not ((isinstance(p, Opaque) and p.cls is slice) or (isinstance(p, Known) and p.value is Ellipsis)):
            return None
    return left + max(gathered) if gathered else left


def element(container: Kind, index: Kind, constant: Any = None) -> Kind:
    """The kind of ``container[index]``; ``constant`` is a one-tuple of the index when it is a literal."""
    if isinstance(container, Num):
        axes = indexed_axes(container, index)
        parts = index.items if isinstance(index, Tuple) else (index,)
        dots = [k for k in parts if (isinstance(k, Known) and k.value is Ellipsis) or k == Opaque(type(Ellipsis))]
        if axes == 0 and dots:
            return Num("array", container.field, 0)  # a view, even of one element
        return shaped(container.field, axes)
    if isinstance(container, Tuple):
        length = len(container.items)
        if constant is not None and type(constant[0]) is int and -length <= constant[0] < length:
            return container.items[constant[0]]
    if isinstance(container, (Tuple, Sequence)):
        if index == Opaque(slice) and container != Tuple(()):
            return container if isinstance(container, Sequence) else Sequence(item_of(container), tuple)
        return UNKNOWN if index is UNKNOWN else item_of(container)  # it may be a slice
    if isinstance(container, Mapping):
        if constant is not None and container.entries is not None:
            return dict(container.entries).get(constant[0], UNKNOWN)
        return value_of(container) or UNKNOWN
    if isinstance(container, Opaque) and container.cls in (str, range):
        return container if container.cls is str or index == Opaque(slice) else PY_INT
    return UNKNOWN


_SHAPE = Sequence(PY_INT, tuple)
_ARRAY_ATTRIBUTES: dict[str, Kind] = {
    "shape": _SHAPE, "strides": _SHAPE, "ndim": PY_INT, "size": PY_INT, "itemsize": PY_INT, "nbytes": PY_INT,
    "dtype": Opaque(np.dtype),
}  # fmt: skip


def array_attribute(owner: Num, name: str) -> Kind | None:
    """The kind of an attribute of a number or array, None if it has no such data attribute."""
    if name in _ARRAY_ATTRIBUTES and owner.form != "python":
        return _ARRAY_ATTRIBUTES[name]
    if name in ("real", "imag"):
        return Num(owner.form, "real" if not owner.is_real else owner.field, owner.ndim)
    if name in ("T", "mT") and owner.form != "python":
        return owner
    return None


def _field_of(k: Kind) -> str:
    if isinstance(k, Num):
        return k.field
    if isinstance(k, (Tuple, Sequence)):
        inner = item_of(k)
        return _field_of(inner) if inner is not UNKNOWN else "any"
    return "any"


def _numeric_fields(args: list[Kind]) -> str:
    field = "int"
    seen = False
    for a in args:
        if isinstance(a, (Num, Tuple, Sequence)):
            field, seen = join_fields(field, _field_of(a)), True
    return field if seen else "any"


#: What the helpers of generated code return; filled by :mod:`thunkad.kinds.helpers`.
RESULT_OF_HELPER: dict[Any, Any] = {}


def call(fn: Any, args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    """The kind of ``fn(*args, **kwargs)`` for a library function; ``Unknown`` for any other."""
    if fn is type:
        return Known(args[0].cls) if len(args) == 1 and isinstance(args[0], Instance) else UNKNOWN
    if isinstance(fn, np.ufunc):
        return _ufunc(fn, args, kwargs) if any("O" not in t for t in fn.types) else UNKNOWN  # np.frompyfunc
    simple = (RESULT_KINDS.get(fn) or RESULT_OF_HELPER.get(fn)) if is_hashable(fn) else None
    if simple is not None:
        return simple(args, kwargs)
    module = getattr(fn, "__module__", None) or ""
    if module.startswith("thunkad.runtime.") and args and all(isinstance(a, Num) for a in args[:2]):
        return UNKNOWN if fn.__name__.endswith(("_bars", "_dots")) else NUMERIC
    if module in ("math", "cmath"):
        return PY_COMPLEX if module == "cmath" else PY_INT if fn in _MATH_INTS else PY_REAL
    if module.startswith(("numpy.ma", "numpy.matrixlib")) or fn in (np.matrix, np.asmatrix, np.bmat):
        return UNKNOWN  # which operators mean something else on: refused when the code runs
    if module.startswith("numpy.random") and (isinstance(fn, type) or fn is np.random.default_rng):
        return Opaque(fn if isinstance(fn, type) else np.random.Generator)
    if module == "numpy" or module.startswith("numpy."):
        return _numpy(fn, args, kwargs)
    owner = getattr(fn, "__objclass__", None)
    if owner is not None and issubclass(owner, np.ndarray):
        return _array_method(fn.__name__, args, kwargs)
    return Opaque(owner) if owner in (str, bytes) else UNKNOWN


_MATH_INTS = {math.floor, math.ceil, math.trunc, math.factorial, math.gcd, math.comb, math.perm, math.isqrt}


def _ufunc(fn: Any, args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    field = _numeric_fields(args)
    if fn is np.absolute or fn in (np.fabs, np.arctan2, np.hypot):
        field = "real" if field != "int" or fn is not np.absolute else "int"
    elif fn.nout == 1 and all(t.endswith("?") for t in fn.types if "O" not in t):
        field = "bool"
    elif field in ("int", "bool") and not any(t.endswith("->l") for t in fn.types):
        field = "real"
    forms = {a.form if isinstance(a, Num) else "any" if a is UNKNOWN else "array" for a in args}
    form = "array" if "array" in forms else "any" if "any" in forms else "scalar"
    if "out" in kwargs or "where" in kwargs:
        form = "any"
    if form == "array":
        axes = matmul_axes(args[0], args[1]) if fn is np.matmul else None if fn.signature else most_axes(args)
        one = shaped(field, axes, True)
    else:
        one = Num(form, field)
    return one if fn.nout == 1 else Tuple((one,) * fn.nout)


def _numpy(fn: Any, args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    field = _numeric_fields(args[:1] if fn in _REDUCTIONS else args)
    if fn in _COMPLEX_RESULTS:
        field = "complex"
    elif fn in _REAL_RESULTS:
        field = "real"
    elif fn in (np.linalg.eig, np.linalg.eigvals, np.roots) or (fn in _PARTLY_REAL_RESULTS and field == "complex"):
        field = "any"
    elif fn in _INT_RESULTS and fn is not np.arange:
        return Num("any", "int")
    elif fn is np.shape:
        return _SHAPE
    elif fn in (np.zeros, np.ones, np.empty, np.eye, np.identity) or fn is np.linspace:
        real = fn is np.linspace and field != "complex"
        field = "real" if real or ("dtype" not in kwargs and len(args) < 2) else "any"
        axes = allocated_axes(fn, args)
        return Num("array", field, 0) if axes == 0 else shaped(field, axes, array=True)
    elif fn in (np.isclose, np.iscomplexobj, np.allclose, np.array_equal):
        field = "bool"
    elif field in ("int", "bool") and fn not in _KEEP_INTEGERS:
        field = "any"
    if "dtype" in kwargs:
        field = "any"
    if fn in _REDUCTIONS:
        whole = "axis" not in kwargs and (fn is np.average or (len(args) < 2 and "keepdims" not in kwargs))
        return Num("scalar", field) if whole else shaped(field, reduced_axes(args, kwargs))
    axes = _AXES.get(fn) if is_hashable(fn) else None
    if axes is not None:
        count = axes(args, kwargs)
        if count == 0 and fn in _KEEP_ARRAYS:
            return Num("any", field)  # an array without axes
        return shaped(field, count, array=fn not in (np.dot, np.inner))
    return Num("any", field)


def allocated_axes(fn: Any, args: list[Kind]) -> int | None:
    if fn in (np.eye, np.identity):
        return 2
    if fn is np.linspace:
        return most_axes(args[:2]) + 1 if most_axes(args[:2]) is not None else None  # type: ignore[operator]
    return shape_length(args[0]) if args else None


def shape_length(k: Kind) -> int | None:
    """How many axes a shape argument of this kind names."""
    if isinstance(k, Tuple):
        return len(k.items)
    return 1 if isinstance(k, Num) and k.is_scalar else None


def reduced_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    """Axes left by a reduction over one axis (``axis`` an int)."""
    array = args[0] if args else None
    axis = args[1] if len(args) == 2 else kwargs.get("axis")
    if not isinstance(array, Num) or array.ndim is None or len(args) > 2 or set(kwargs) - {"axis", "ddof"}:
        return None
    return array.ndim - 1 if isinstance(axis, Num) and axis.is_scalar else None


def reshaped_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    if len(args) == 2:
        return shape_length(args[1])
    return len(args) - 1 if len(args) > 2 else None


def _same_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    return args[0].ndim if args and isinstance(args[0], Num) else None


def _like_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    return None if "shape" in kwargs or len(args) > 3 else _same_axes(args, kwargs)


def _dot_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    a, b = (*args, None, None)[:2]
    if not (isinstance(a, Num) and isinstance(b, Num)):
        return None
    if a.is_scalar or b.is_scalar:
        return b.ndim if a.is_scalar else a.ndim
    if not a.ndim or not b.ndim:
        return None
    return a.ndim + b.ndim - 2


def _one(args: list[Kind], kwargs: dict[str, Kind]) -> int:
    return 1


def _stack_axes(args: list[Kind], kwargs: dict[str, Kind]) -> int | None:
    found = _item_axes(args)
    return None if found is None else found + 1


def _item_axes(args: list[Kind]) -> int | None:
    items = args[0] if args else None
    if isinstance(items, Tuple):
        kinds: list[Kind] = list(items.items)
    elif isinstance(items, Sequence) and items.item is not None:
        kinds = [items.item]
    else:
        return None
    found = {0 if isinstance(k, Num) and k.is_scalar else k.ndim if isinstance(k, Num) else None for k in kinds}
    return found.pop() if len(found) == 1 else None


_AXES: dict[Any, Any] = {
    np.copy: _same_axes, np.zeros_like: _like_axes, np.ones_like: _like_axes, np.empty_like: _like_axes,
    np.full_like: _like_axes, np.sort: _same_axes, np.cumsum: lambda a, k: _same_axes(a, k) if len(a) > 1 or k else 1,
    np.flip: _same_axes, np.roll: _same_axes, np.transpose: _same_axes, np.dot: _dot_axes, np.outer: lambda a, k: 2,
    np.stack: _stack_axes, np.concatenate: lambda a, k: _item_axes(a) if "axis" not in k or True else None,
    np.full: lambda a, k: shape_length(a[0]) if a else None, np.ravel: _one, np.arange: _one, np.diff: _same_axes,
    np.tril: _same_axes, np.triu: _same_axes, np.where: lambda a, k: most_axes(a) if len(a) == 3 else None,
    np.clip: lambda a, k: most_axes(a), np.reshape: lambda a, k: shape_length(a[1]) if len(a) > 1 else None,
    np.nan_to_num: _same_axes, np.linalg.inv: _same_axes, np.linalg.cholesky: _same_axes,
}  # fmt: skip

_KEEP_ARRAYS = (np.copy, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.full, np.reshape, np.transpose,
                np.where)  # fmt: skip


def _array_method(name: str, args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    function = getattr(np, name, None)
    if name in ("item", "tolist"):
        return Num("python", _field_of(args[0])) if name == "item" else UNKNOWN
    if name == "astype" or (name == "view" and (kwargs or len(args) > 1)):
        return NUMERIC if isinstance(args[0], Num) and args[0].form == "any" else ARRAY
    if name in ("copy", "transpose", "swapaxes", "view", "__copy__", "conj", "conjugate", "round"):
        return args[0]
    if name in ("flatten", "ravel"):
        return Num("array", _field_of(args[0]), 1)
    if name == "reshape":
        return shaped(_field_of(args[0]), reshaped_axes(args, kwargs), array=True)
    if name in ("squeeze", "diagonal"):
        return Num("array", _field_of(args[0]))
    if function is not None and not isinstance(function, np.ufunc):
        return _numpy(function, args, kwargs)
    return Num("any", _field_of(args[0]))


def _first(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return args[0] if args else UNKNOWN


def _number(k: Kind) -> Any:
    return lambda args, kwargs: k


def _min_max(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    if len(args) == 1:
        return item_of(args[0])
    out: Kind | None = None
    for a in args:
        out = join(out, a)
    return out or UNKNOWN


def _sum(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    item = item_of(args[0]) if args else UNKNOWN
    start = args[1] if len(args) > 1 else kwargs.get("start", PY_INT)
    return join(binary("+", start, item), start) or UNKNOWN


def _zip(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Sequence(Tuple(tuple(map(item_of, args))))


def _enumerate(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    return Sequence(Tuple((PY_INT, item_of(args[0])))) if args else UNKNOWN


def _list(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    if not args:
        return Sequence(None)
    item = item_of(args[0])
    return Sequence(None if isinstance(args[0], Sequence) and args[0].item is None else item)


def _tuple(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    if args and isinstance(args[0], Tuple):
        return Tuple(args[0].items)
    found = _list(args, kwargs)
    return Sequence(found.item, tuple) if isinstance(found, Sequence) else UNKNOWN


def _abs(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    a = args[0] if args else UNKNOWN
    if not isinstance(a, Num):
        return UNKNOWN
    return Num(a.form, "real" if a.field in ("complex", "any") else "int" if a.field == "bool" else a.field)


def _items(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    value = value_of(args[0]) if args and isinstance(args[0], Mapping) else None
    return Sequence(Tuple((UNKNOWN, value or UNKNOWN)))


def _values(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    value = value_of(args[0]) if args and isinstance(args[0], Mapping) else None
    return Sequence(value or UNKNOWN)


def _get(args: list[Kind], kwargs: dict[str, Kind]) -> Kind:
    value = value_of(args[0]) if args and isinstance(args[0], Mapping) else UNKNOWN
    default: Kind = args[2] if len(args) > 2 else Known(None)
    return join(value, default) or UNKNOWN


RESULT_KINDS: dict[Any, Any] = {
    builtins.len: _number(PY_INT), builtins.float: _number(PY_REAL), builtins.int: _number(PY_INT),
    builtins.bool: _number(PY_BOOL), builtins.complex: _number(PY_COMPLEX), builtins.isinstance: _number(PY_BOOL),
    builtins.hasattr: _number(PY_BOOL), builtins.callable: _number(PY_BOOL), builtins.any: _number(PY_BOOL),
    builtins.all: _number(PY_BOOL), builtins.range: _number(Opaque(range)), builtins.str: _number(Opaque(str)),
    builtins.repr: _number(Opaque(str)), builtins.print: _number(Known(None)), builtins.hash: _number(PY_INT),
    builtins.id: _number(PY_INT), builtins.abs: _abs, builtins.min: _min_max, builtins.max: _min_max,
    builtins.sum: _sum, builtins.zip: _zip, builtins.enumerate: _enumerate, builtins.list: _list,
    builtins.tuple: _tuple, builtins.reversed: _list, builtins.sorted: _list, dict.items: _items,
    dict.values: _values, dict.get: _get, dict.copy: _first, list.copy: _first, np.float32: real_type,
    list.pop: lambda args, kwargs: item_of(args[0]), np.float64: real_type,
    math.frexp: _number(Tuple((PY_REAL, PY_INT))), builtins.slice: _number(Opaque(slice)),
    **dict.fromkeys((math.modf, cmath.polar), _number(Tuple((PY_REAL,) * 2))),
}  # fmt: skip
