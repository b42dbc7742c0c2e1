"""Adding, indexing and materialising cotangents of any structure: what generated code calls on unknown kinds."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np

from thunkad.errors import CotangentError, NonScalarOutputError, NotImplementedDerivativeError, UnsupportedSyntaxError
from thunkad.runtime.accumulate import fit
from thunkad.runtime.arrays import shape_only, zeros
from thunkad.runtime.attributes import check_read, is_class_of_results
from thunkad.runtime.chosen import is_function
from thunkad.runtime.complex import real_part
from thunkad.runtime.containers import CONTAINERS, LISTS, SEQUENCES, SETS, AsItWas, remade
from thunkad.runtime.ducks import as_duck, is_duck, refuse_field
from thunkad.runtime.walks import Left, complete
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, NotImplementedTangent, Tangent, unthunk


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one value; neither operand is changed."""
    a, b = unthunk(a), unthunk(b)
    if isinstance(a, AbstractZero):
        return b
    if isinstance(b, AbstractZero):
        return a
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple, np.ndarray)):
        if len(a) != len(b):
            raise CotangentError(f"two cotangents of one sequence have {len(a)} and {len(b)} entries")
        return [add(x, y) for x, y in zip(a, b)] if isinstance(a, list) else tuple(add(x, y) for x, y in zip(a, b))
    if isinstance(b, (list, tuple)):
        return add(b, a)
    if isinstance(a, dict) and isinstance(b, dict):
        return {**a, **{k: add(a[k], v) if k in a else v for k, v in b.items()}}
    if isinstance(a, Tangent) and isinstance(b, Tangent):
        return Tangent(a.cls, add(a.fields, b.fields))
    if isinstance(a, Tangent) and isinstance(b, dict) and is_class_of_results(a.cls):
        return Tangent(a.cls, add(a.fields, b))
    if isinstance(a, dict) and isinstance(b, Tangent) and is_class_of_results(b.cls):
        return add(b, a)
    return a + b


def own(x_bar: Any, x: Any) -> Any:
    """A copy of the cotangent of ``x`` that may be written in place."""
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, AbstractZero):
        return zeros(x)
    if isinstance(x, LISTS):
        return list(x_bar)
    if isinstance(x_bar, np.ndarray):
        if isinstance(x, np.ndarray) and x_bar.shape != x.shape:
            x_bar = np.broadcast_to(x_bar, x.shape)
        return np.array(x_bar, dtype=np.result_type(x_bar, np.float16))
    if isinstance(x, np.ndarray):
        return np.full(x.shape, x_bar)
    if is_duck(type(x)):
        return as_duck(x_bar, x)
    return dict(x_bar) if isinstance(x_bar, dict) else x_bar


@shape_only("x")
def dense(x_bar: Any, x: Any) -> Any:
    """``x_bar``, or zeros like ``x`` where it is a structural zero."""
    if type(x_bar) is np.float64 and type(x) in (float, np.float64):
        return x_bar
    x_bar = unthunk(x_bar)
    return zeros(x) if isinstance(x_bar, AbstractZero) else fit(x_bar, x)


def index_add(x_bar: Any, index: Any, v: Any) -> Any:
    """Add ``v`` at ``index`` of the buffer ``x_bar`` (in place where it can be changed) and return it."""
    v = unthunk(v)
    if isinstance(v, AbstractZero):
        return x_bar
    if isinstance(x_bar, AbstractZero):
        raise UnsupportedSyntaxError(
            "items of an object that is neither an array nor a list, tuple or dict are differentiated",
            hint="give the class a method that returns a list of its items, and iterate over that",
        )
    if isinstance(x_bar, NotImplementedTangent):
        return x_bar + {index: v}
    if is_duck(type(x_bar)) and all(map(_takes_all, _parts(index))):
        return x_bar + np.reshape(v, x_bar.shape)
    if isinstance(x_bar, np.ndarray) or is_duck(type(x_bar)):
        v = v if np.iscomplexobj(x_bar) else real_part(v)
        if _gathers(index):
            np.add.at(x_bar, index, v)
        else:
            x_bar[index] += v
        return x_bar
    if isinstance(x_bar, dict):
        x_bar[index] = add(x_bar[index], v) if index in x_bar else v
        return x_bar
    if isinstance(x_bar, Tangent) and is_class_of_results(x_bar.cls):  # whose attributes are its items
        return Tangent(x_bar.cls, index_add(dict(x_bar.fields), index, v))
    if isinstance(x_bar, list):
        if isinstance(index, slice):
            for k, part in zip(range(*index.indices(len(x_bar))), v):
                x_bar[k] = add(x_bar[k], part)
        else:
            x_bar[index] = add(x_bar[index], v)
        return x_bar
    if isinstance(x_bar, tuple):
        x_bar[index]  # raises as it does in the user's function
        return tuple(index_add(list(x_bar), index, v))
    return x_bar + np.sum(v)  # a number that was indexed with (), ... or None


def _gathers(index: Any) -> bool:
    """Whether an index may name an element twice: it holds an integer array or a list."""
    gathering = (p for p in _parts(index) if isinstance(p, (list, np.ndarray)))
    return any(np.asarray(p).dtype.kind != "b" and np.ndim(p) for p in gathering)


def _takes_all(part: Any) -> bool:
    return part is None or part is ... or (isinstance(part, slice) and part == slice(None))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def entry(t_bar: Any, key: Any) -> Any:
    """The cotangent of one entry of a container, a zero tangent where there is none."""
    t_bar = unthunk(t_bar)
    if isinstance(t_bar, AbstractZero):
        return ZERO
    if isinstance(t_bar, (dict, Tangent)):
        return t_bar.get(key, ZERO) if isinstance(t_bar, dict) else t_bar[key]
    return unthunk(t_bar[key])


def gather(parts: tuple[Any, ...], x: Any) -> Any:
    """The cotangent of ``x`` from the cotangents of its items, as unpacking ``x`` gave them."""
    if isinstance(x, np.ndarray):
        x_bar = zeros(x)
        if isinstance(x_bar, AbstractZero):
            return ZERO
        parts = tuple(map(unthunk, parts))
        if any(np.iscomplexobj(p) for p in parts) and not np.iscomplexobj(x_bar):
            parts = tuple(np.real(p) for p in parts)
        for k, part in enumerate(parts):
            if not isinstance(part, AbstractZero):
                x_bar[k] = part
        return x_bar
    if isinstance(x, dict) and not all(isinstance(unthunk(p), AbstractZero) for p in parts):
        raise UnsupportedSyntaxError(
            "keys of a dict that are differentiated are taken apart (a, b = d)", hint="use list(d)"
        )
    return list(parts) if isinstance(x, LISTS) else tuple(parts)


def split(t_bar: Any, stars: tuple[int, ...], lengths: tuple[int, ...]) -> tuple[Any, ...]:
    """Cut the cotangent of a display with starred items: one part per item, a sequence for each starred one."""
    total = sum(lengths)
    t_bar = unthunk(t_bar)
    items = [ZERO] * total if isinstance(t_bar, AbstractZero) else list(t_bar)
    out, at = [], 0
    for k, length in enumerate(lengths):
        out.append(items[at : at + length] if k in stars else items[at])
        at += length
    return tuple(out)


def like(parts: Any, x: Any) -> Any:
    """A list of item cotangents as the cotangent of the sequence ``x``."""
    if isinstance(parts, AbstractZero):
        return parts
    return gather(tuple(parts), x)


#: What is found in a class where its objects have methods.
_UNBOUND = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def field_tangent(x: Any, name: str, y_bar: Any) -> Any:
    """The cotangent of ``x`` when that of ``x.name`` is ``y_bar``."""
    y_bar = unthunk(y_bar)
    if isinstance(y_bar, AbstractZero):
        return ZERO
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        if name in ("T", "mT"):
            return getattr(y_bar, name)
        if name == "real":
            return y_bar if not np.iscomplexobj(x) else y_bar + 0j
        if name == "imag":
            return 1j * y_bar if np.iscomplexobj(x) else ZERO
        if callable(getattr(x, name)):
            return y_bar  # the cotangent of a bound method is that of its owner
        if name in ("flat", "base", "data"):
            raise NotImplementedDerivativeError(f"the attribute .{name} of an array has no derivative")
        return ZERO
    if isinstance(x, super):
        check_read(x, name)
        return y_bar  # of a method, that of the object
    if isinstance(getattr(type(x), name, None), _UNBOUND) and name not in getattr(x, "__dict__", ()):
        return y_bar
    if isinstance(x, CONTAINERS) and name == "maxlen":
        return ZERO  # of a deque
    if isinstance(x, (float, int)):
        return y_bar if name == "real" else ZERO
    if isinstance(x, complex):
        return y_bar + 0j if name == "real" else 1j * y_bar
    if isinstance(x, tuple) and name in getattr(type(x), "_fields", ()):
        parts = [ZERO] * len(x)
        parts[type(x)._fields.index(name)] = y_bar  # type: ignore[attr-defined]
        return tuple(parts)
    check_read(x, name)
    if is_duck(type(x)):
        refuse_field(x, name, y_bar)
        return ZERO
    return Tangent(type(x), {name: y_bar})


def scalar_seed(value: Any) -> Any:
    """The cotangent with which the gradient of ``value`` starts: one, if ``value`` is one real number."""
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        return 1.0
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        kind = value.dtype.kind
        if kind in "fiu":
            return 1.0 if value.ndim == 0 else np.ones(value.shape, value.dtype if kind == "f" else float)
        if kind == "c":
            raise NonScalarOutputError(
                "grad needs a real result, but the function returned a complex number",
                hint="take the real part or the absolute value, or use vjp or, of a holomorphic function, jacobian",
            )
    if is_duck(type(value)) and value.size == 1 and value.dtype.kind in "fiu":
        return np.ones_like(value, dtype=value.dtype if value.dtype.kind == "f" else float)
    if isinstance(value, complex):
        raise NonScalarOutputError(
            "grad needs a real result, but the function returned a complex number",
            hint="take the real part or the absolute value, or use vjp or, of a holomorphic function, jacobian",
        )
    raise NonScalarOutputError(
        f"grad needs a function that returns one real number (a scalar), but the output is {describe(value)}",
        hint="return a number, for example np.sum(…); for larger outputs use jacobian or vjp; "
        "does a return statement miss?"
        if value is None
        else "for larger outputs use jacobian or vjp, for functions of each element elementwise_grad",
    )


def check_result(value: Any, what: str) -> None:
    """Refuse a result that as a whole has no derivative: None, a string."""
    if value is None or isinstance(value, (str, bytes)):
        raise NonScalarOutputError(
            f"{what} needs a function that returns numbers or arrays, but the output is {describe(value)}",
            hint="does a return statement miss?" if value is None else "return the numbers that it was made from",
        )


def describe(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"an array of shape {value.shape} and type {value.dtype}"
    return f"of type {type(value).__name__}"


def project(x_bar: Any, x: Any) -> Any:
    """``x_bar`` as the gradient of ``x``: its dtype (real for a real ``x``), shape, structure; zeros made explicit."""
    if type(x_bar) is type(x) is np.ndarray and x_bar.dtype is x.dtype and x_bar.shape == x.shape:
        if x.dtype.kind in "fc":
            return x_bar
    left: Left = []
    return complete(left, _project(x_bar, x, left))


def _project(x_bar: Any, x: Any, left: Left) -> Any:
    """The same for a part of a value; what lists, dicts and objects hold is left for later."""
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, NotImplementedTangent):
        x_bar = x_bar.demand()
    if isinstance(x, np.ndarray):
        return _project_array(x_bar, x)
    if isinstance(x, np.generic):
        found = _project_array(x_bar, np.asarray(x))
        return found[()] if isinstance(found, np.ndarray) else found
    if isinstance(x, bool) or x is None or isinstance(x, (str, bytes)):
        return ZERO if not isinstance(x_bar, AbstractZero) else x_bar
    if isinstance(x, (float, int)):
        return _project_number(x_bar)
    if isinstance(x, complex):
        return 0j if isinstance(x_bar, AbstractZero) else complex(_item(x_bar))
    if is_duck(type(x)):
        return as_duck(x_bar, x)
    return _project_structure(x_bar, x, left)


def _project_structure(x_bar: Any, x: Any, left: Left) -> Any:
    """The gradient of a container or object in its structure, in fresh memory; ``NoTangent`` for leaves without one."""
    made: Any
    if isinstance(x, dict):
        made = {}
        left.append(lambda: made.update([(k, _leaf(_of_key(x_bar, k), v, left)) for k, v in x.items()]))
        return made
    if isinstance(x, SETS):  # numbers in a set are none that were differentiated
        if all(isinstance(v, (float, int, complex, np.generic)) for v in x):
            return NO_TANGENT
        return [_leaf(entry(x_bar, k), v, left) for k, v in enumerate(x)]
    if type(x) is list:
        made = []
        left.append(lambda: made.extend([_leaf(entry(x_bar, k), v, left) for k, v in enumerate(x)]))
        return made
    if isinstance(x, SEQUENCES):
        return remade(x, [_leaf(entry(x_bar, k), v, left) for k, v in enumerate(x)])
    cls = x.cls if isinstance(x, AsItWas) else type(x)
    if dataclasses.is_dataclass(cls):
        made = object.__new__(cls)
        left.append(lambda: _project_fields(made, x_bar, x, left))
        return made
    if isinstance(x_bar, Tangent):
        while isinstance(x, types.FunctionType) and hasattr(x, "__thunkad_derivative__"):
            x = x.__thunkad_derivative__.f  # its cotangent is that of the function
        if isinstance(x, types.FunctionType):
            return x_bar  # of default values
        now = x.fields if isinstance(x, AsItWas) else fields_now(x, x_bar)
        made = Tangent(x_bar.cls)
        left.append(lambda: made.fields.update([(k, _leaf(v, now.get(k), left)) for k, v in x_bar.fields.items()]))
        return made
    return NO_TANGENT if isinstance(x_bar, AbstractZero) else x_bar


def _of_key(x_bar: Any, key: Any) -> Any:
    return x_bar.get(key, ZERO) if type(x_bar) is dict else entry(x_bar, key)


def _project_fields(made: Any, x_bar: Any, x: Any, left: Left) -> None:
    """Set the fields of ``made``, the gradient of a dataclass."""
    for f in dataclasses.fields(made):
        value = x.fields.get(f.name) if isinstance(x, AsItWas) else getattr(x, f.name)
        object.__setattr__(made, f.name, _leaf(entry(x_bar, f.name), value, left))


def fields_now(x: Any, x_bar: Tangent) -> dict[str, Any]:
    """The attributes of ``x`` that a cotangent of it has."""
    return {k: getattr(x, k, None) for k in x_bar.fields}


def _leaf(x_bar: Any, x: Any, left: Left) -> Any:
    if type(x_bar) is type(x) is float:
        return x_bar
    found = _own(project(x_bar, x) if isinstance(x, np.ndarray) else _project(x_bar, x, left), x_bar)
    return NO_TANGENT if isinstance(found, AbstractZero) else found


def _item(x_bar: Any) -> Any:
    return x_bar.item() if isinstance(x_bar, (np.ndarray, np.generic)) else x_bar


def _project_number(x_bar: Any) -> Any:
    if isinstance(x_bar, AbstractZero):
        return 0.0
    if type(x_bar) in (float, np.float64):
        return x_bar
    if isinstance(x_bar, np.ndarray) and x_bar.size != 1:
        raise CotangentError(f"the cotangent of a number has shape {x_bar.shape}")
    x_bar = _item(x_bar)
    if x_bar is None or isinstance(x_bar, (str, bytes, list, tuple, dict)):
        raise CotangentError(f"the cotangent of a number is {describe(x_bar)}")
    return float(x_bar.real if isinstance(x_bar, complex) else x_bar)


def _project_array(x_bar: Any, x: Any) -> Any:
    kind = x.dtype.kind
    if kind not in "fciu":
        return ZERO
    dtype = x.dtype if kind in "fc" else np.dtype(float)
    if isinstance(x_bar, AbstractZero):
        return np.zeros(x.shape, dtype)
    if not _is_numeric(x_bar):
        raise CotangentError(
            f"the cotangent of an array is {describe(x_bar)}, which is no number and no array of numbers"
        )
    if kind != "c" and np.iscomplexobj(x_bar):
        x_bar = np.real(x_bar)
    if np.shape(x_bar) != x.shape:
        if np.ndim(x_bar) and [k for k in np.shape(x_bar) if k != 1] != [k for k in x.shape if k != 1]:
            raise CotangentError(f"a cotangent of shape {np.shape(x_bar)} was made for an array of shape {x.shape}")
        x_bar = np.broadcast_to(x_bar, x.shape) if np.ndim(x_bar) == 0 else np.reshape(x_bar, x.shape)
    if is_duck(type(x_bar)) and not hasattr(x_bar, "__array__"):
        raise CotangentError(
            f"the cotangent of an array is a {type(x_bar).__name__}, which can't be made an array",
            hint="give the class __array__, or pass an array of that class instead",
        )
    return np.asarray(x_bar, dtype)


def _is_numeric(x_bar: Any) -> bool:
    if is_duck(type(x_bar)):
        return True
    found = np.asarray(x_bar)
    return found.dtype.kind in "biufc" or (found.dtype.kind == "O" and not any(v is None for v in found.flat))


def project_copy(x_bar: Any, x: Any) -> Any:
    """:func:`project`, into memory of its own: what is handed out must not be a user's array, residual or seed."""
    return _own(project(x_bar, x), x_bar)


def _own(found: Any, x_bar: Any) -> Any:
    return found.copy() if isinstance(found, np.ndarray) and (found is x_bar or found.base is not None) else found


def aux_seed(result: Any) -> Any:
    """The cotangent of ``(value, aux)``: that of ``value``, and nothing for ``aux``."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise NonScalarOutputError(
            f"has_aux=True needs a function that returns (value, aux), but the output is {describe(result)}",
            hint="return a pair, or leave has_aux out",
        )
    return scalar_seed(result[0]), ZERO


def seed_of(value_bar: Any, value: Any, where: str = "") -> Any:
    """The user's cotangent as the adjoint may keep it: unthunked, checked against ``value``, copied.

    ``where``: the entry of the result that ``value`` is, as an index in Python.
    """
    value_bar = unthunk(value_bar)
    if isinstance(value_bar, AbstractZero):
        return value_bar if not isinstance(value, (np.ndarray, np.generic, float, int)) else zeros(value)
    if isinstance(value, (tuple, list)):
        if isinstance(value_bar, Tangent):
            return value_bar
        if not isinstance(value_bar, (tuple, list)) or len(value) != len(value_bar):
            raise _unfit(value_bar, value, where)
        made = type(value_bar) if type(value_bar) in (tuple, list) else tuple
        return made(seed_of(b, v, f"{where}[{k}]") for k, (b, v) in enumerate(zip(value_bar, value)))
    if isinstance(value, dict):
        if not isinstance(value_bar, dict) or not value_bar.keys() <= value.keys():
            raise _unfit(value_bar, value, where)
        return {k: seed_of(b, value[k], f"{where}[{k!r}]") for k, b in value_bar.items()}
    if isinstance(value, (np.ndarray, np.generic, float, int, complex)):
        return _numeric_seed(value_bar, value, where)
    if is_duck(type(value)):
        if np.shape(value_bar) != value.shape:
            raise _unfit(value_bar, value, where)
        return as_duck(value_bar, value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and type(value_bar) is type(value):
        value_bar = {f.name: getattr(value_bar, f.name) for f in dataclasses.fields(value)}
    if not isinstance(value_bar, (dict, Tangent)) and hasattr(value, "__dict__") and not is_function(value):
        raise _unfit(value_bar, value, where)
    return value_bar


def _numeric_seed(value_bar: Any, value: Any, where: str) -> Any:
    try:
        seed = np.array(value_bar)
    except ValueError:  # of rows that aren't as long as one another
        raise _unfit(value_bar, value, where) from None
    known = seed.dtype.kind in "biufc" or np.asarray(value).dtype.kind not in "biufc"
    if isinstance(value, np.ndarray):
        if not known or seed.shape != value.shape:
            raise _unfit(value_bar, value, where)
        return seed
    if not known or seed.size != 1 or isinstance(value_bar, (list, tuple)):
        raise _unfit(value_bar, value, where)
    return np.reshape(value_bar, ())[()] if isinstance(value_bar, np.ndarray) else value_bar


def _unfit(value_bar: Any, value: Any, where: str) -> CotangentError:
    at = f"entry {where} of the result" if where else "the result"
    return CotangentError(
        f"the cotangent of {at} is {structure_of(value_bar)}, and the value there is {structure_of(value)}",
        hint="a cotangent has the structure and the shapes of the result; ZeroTangent() stands for any part of it",
    )


def structure_of(x: Any, depth: int = 2) -> str:
    """What a value is made of, in words: ``a tuple (a number, an array of shape (3,))``."""
    if isinstance(x, (bool, np.bool_)):
        return "a bool"
    if isinstance(x, (int, float, complex, np.number)):
        return "a number"
    if isinstance(x, np.ndarray):
        return f"an array of shape {x.shape}" + ("" if x.dtype.kind in "biufc" else f" and type {x.dtype}")
    if x is None:
        return "None"
    name = type(x).__name__
    article = "an" if name[:1] in "aeiouAEIOU" else "a"
    if not isinstance(x, (tuple, list, dict)) or not depth:
        return f"{article} {name}"
    if len(x) > 6:
        return f"{article} {name} of {len(x)} entries"
    if isinstance(x, dict):
        inside = ", ".join(f"{k!r}: {structure_of(v, depth - 1)}" for k, v in x.items())
        return f"{article} {name} {{{inside}}}"
    inside = ", ".join(structure_of(v, depth - 1) for v in x)
    return f"{article} {name} " + (f"[{inside}]" if isinstance(x, list) else f"({inside})")
