"""Tangents of any structure: what generated forward-mode code calls where kinds don't say enough.

A tangent has the structure of its value: a number or an array for a number or array, a list, tuple or dict of tangents
for a container (an entry may be a structural zero), a :class:`Tangent` for an object or a function.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, CotangentError, NoRuleError, UnsupportedSyntaxError
from thunkad.runtime.allocations import allocation_of, may_be_shared, same_view
from thunkad.runtime.arrays import zeros
from thunkad.runtime.attributes import (
    another_dictionary,
    behind,
    check_read,
    is_own_dictionary,
    is_result,
    shares_dictionary,
)
from thunkad.runtime.chosen import is_function, owner_of
from thunkad.runtime.containers import CONTAINERS, LISTS, SEQUENCES, SETS, DefaultDots, SetDots, remade
from thunkad.runtime.cotangents import dense, describe, entry, structure_of
from thunkad.runtime.ducks import as_duck, is_duck, refuse_field
from thunkad.runtime.key_dots import key_dots
from thunkad.runtime.parts import fields_of
from thunkad.runtime.sets import dots_of_keys, dots_of_set
from thunkad.runtime.shadows import shares
from thunkad.runtime.walks import Left, complete, is_moving
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, Thunk, unthunk


def spread(x_dot: Any, x: Iterable[Any]) -> tuple[Any, ...]:
    """The tangents of the items of ``x``, one for each; those of numbers and arrays are never structural zeros."""
    x_dot = unthunk(x_dot)
    if isinstance(x, dict):
        return (ZERO,) * len(x) if isinstance(x_dot, AbstractZero) else tuple(dots_of_keys(x_dot, x))
    if isinstance(x_dot, SetDots):
        return tuple(dots_of_set(x_dot, x))
    if isinstance(x_dot, AbstractZero):
        if is_iterator(x):
            raise UnsupportedSyntaxError(
                f"taking a {type(x).__name__}, which can be gone through once, apart in forward mode",
                hint="make a list of it first: list(...)",
            )
        return tuple(zeros(item) for item in x)
    if isinstance(x_dot, (list, tuple, np.ndarray)):
        return tuple(dense(entry(x_dot, k), item) if numeric(item) else entry(x_dot, k) for k, item in enumerate(x))
    if isinstance(x, np.flatiter):
        raise UnsupportedSyntaxError("items of x.flat are differentiated", hint="use x.ravel()")
    iter(x)  # raises in Python's own words
    raise CotangentError(f"the tangent of a sequence is {describe(x_dot)}")


def item_dots(x_dot: Any, x: Iterable[Any]) -> Any:
    """The tangents of what a loop over ``x`` gives, by its number; an iterator is left to the loop."""
    return Still() if isinstance(unthunk(x_dot), AbstractZero) and is_iterator(x) else spread(x_dot, x)


class Still:
    """The tangents of the items of an iterator that nothing moves."""

    def __getitem__(self, k: int) -> Any:
        return ZERO


def is_iterator(x: Any) -> bool:
    """Whether ``x`` can be gone through only once."""
    return hasattr(type(x), "__next__")


def spread_named(x_dot: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    """The tangents of the entries of a dict, one for each of its keys."""
    return {**{k: entry(x_dot, k) for k in x}, **key_dots(x_dot)}


def numeric(x: Any) -> bool:
    numbers = isinstance(x, (float, int, complex, np.ndarray, np.generic)) and not isinstance(x, bool)
    return numbers or is_duck(type(x))


def entry_dot(x_dot: Any, key: Any, y: Any) -> Any:
    """The tangent of ``y``, the entry or slice ``key`` of a container; of a number or array never a structural zero."""
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero):
        return zeros(y) if numeric(y) else ZERO
    if type(x_dot) is DefaultDots and key not in x_dot:
        x_dot[key] = tangent_buffer(ZERO, y)
    if isinstance(x_dot, Tangent) and not isinstance(y, (str, bytes, bool, type(None))):
        raise UnsupportedSyntaxError(
            f"an item of an object of the class {x_dot.cls.__qualname__}, which is differentiated, is read where "
            "the class is known only when the code runs",
            hint="make the object by the name of its class there",
        )
    found = ZERO if isinstance(x_dot, Tangent) else entry(x_dot, key)
    return dense(found, y) if numeric(y) else found


def field_dot(x_dot: Any, name: str, x: Any, y: Any) -> Any:
    """The tangent of ``y``, the attribute ``name`` of ``x``."""
    x_dot = unthunk(x_dot)
    if isinstance(x_dot, AbstractZero):
        return zeros(y) if numeric(y) else ZERO
    if owner_of(y) is x or isinstance(x_dot, NotImplementedTangent):
        return x_dot  # the tangent of a bound method is that of its owner
    if isinstance(x, super):
        return behind_dot(x_dot, name, x, y)
    if type(y) is functools.partial and getattr(y.func, "__self__", None) is x and name not in fields_of(x):
        return Tangent(functools.partial, {"func": x_dot})  # made by functools.partialmethod
    if isinstance(x_dot, Tangent):
        check_read(x, name)
        found = x_dot[name]
    elif type(x_dot) is type(x) and has_fields(x) and not is_duck(type(x)):
        found = getattr(x_dot, name)  # of a gradient, which is an object of the class itself
    elif isinstance(x, (np.ndarray, np.generic, float, int, complex)):
        moves = name in ("T", "mT", "real", "imag", "flat")
        found = getattr(x_dot, name) if moves else x_dot if callable(y) else ZERO  # of a method, though x is a copy
    elif isinstance(x, tuple) and name in getattr(type(x), "_fields", ()):
        found = entry(x_dot, type(x)._fields.index(name))  # type: ignore[attr-defined]
    elif is_own_dictionary(x) or (is_result(x) and name in x):
        found = entry(x_dot, name)
    else:
        check_read(x, name)
        if is_duck(type(x)):
            refuse_field(x, name, y)
        found = ZERO if not callable(y) else x_dot
    return dense(found, y) if numeric(y) else found


def behind_dot(x_dot: Any, name: str, x: super, y: Any) -> Any:
    """The tangent of ``y``, which ``super()`` has found: that of the object, for a method of it."""
    if owner_of(y) is not x.__self__ and not isinstance(y, (types.FunctionType, types.MethodType, type)):
        raise behind(name)
    return x_dot if owner_of(y) is x.__self__ else ZERO


def view_like(result_dot: Any, result: Any, x: Any, x_dot: Any) -> Any:
    """The tangent of a result that may be a view of ``x``: a view of ``x_dot`` just if the result is a view of ``x``.

    ``x_dot`` is laid out like ``x``.  The same holds for containers: a new one has a new one of tangents.
    """
    result_dot = unthunk(result_dot)
    if isinstance(result, np.ndarray) and isinstance(x, np.ndarray) and isinstance(x_dot, np.ndarray):
        if not isinstance(result_dot, np.ndarray):
            result_dot = tangent_buffer(result_dot, result)
        shares, have = np.may_share_memory(result, x), np.may_share_memory(result_dot, x_dot)
        if shares and not have:
            return same_view(result, x, x_dot)
        return result_dot.copy() if have and not shares else result_dot
    if isinstance(result, (*LISTS, dict)) and result is not x and result_dot is x_dot:
        return type(result_dot)(result_dot)
    return result_dot


def unshared(result_dot: Any, result: Any, args: tuple[Any, ...], arg_dots: tuple[Any, ...]) -> Any:
    """The tangent of a result: in memory of its own where the result is, since both may be changed in place."""
    for x, x_dot in zip(args, arg_dots):
        if isinstance(result, (*LISTS, dict)):
            if result_dot is x_dot and result is not x and isinstance(result_dot, (*LISTS, dict)):
                return type(result_dot)(result_dot)
        elif isinstance(result_dot, np.ndarray) and isinstance(x_dot, np.ndarray) and isinstance(x, np.ndarray):
            if np.may_share_memory(result_dot, x_dot) and not np.may_share_memory(result, x):
                return result_dot.copy()
    return result_dot


def tangent_buffer(x_dot: Any, x: Any, seen: dict[Any, Any] | None = None) -> Any:
    """A tangent of ``x`` in memory of its own, laid out like ``x``, that may be changed in place as ``x`` is.

    ``seen``: the tangents of what other values hold as well.
    """
    if isinstance(x, np.ndarray) and seen is None:
        return _filled(zeros(x), unthunk(x_dot), x)
    left: Left = []
    return complete(left, _buffer(x_dot, x, {} if seen is None else seen, left))


def _filled(made: Any, x_dot: Any, x: np.ndarray) -> Any:
    """``made``, a buffer for the tangent of ``x``, with ``x_dot`` in it."""
    if not isinstance(x_dot, AbstractZero) and not isinstance(made, AbstractZero):
        if np.iscomplexobj(x_dot) and not np.iscomplexobj(made):
            made = np.zeros_like(x, dtype=np.result_type(made, x_dot), subok=False)
        made[...] = x_dot
    return made


def _buffer(x_dot: Any, x: Any, seen: dict[Any, Any], left: Left) -> Any:
    """The same for a part of a value; what containers hold is left for later."""
    x_dot = unthunk(x_dot)
    found = seen.get(id(x))
    if found is not None:
        return found

    def inner(dot: Any, part: Any) -> Any:
        return _buffer(dot, part, seen, left)

    if isinstance(x, np.ndarray):
        made = _filled(_memory_for(x, seen), x_dot, x)
    elif isinstance(x, LISTS):
        made = []
        left.append(lambda: made.extend([inner(entry(x_dot, k), v) for k, v in enumerate(x)]))
    elif isinstance(x, tuple):
        made = tuple(inner(entry(x_dot, k), v) for k, v in enumerate(x))
    elif isinstance(x, dict):
        made = DefaultDots() if isinstance(x, defaultdict) else {}
        made.update(key_dots(x_dot))
        left.append(lambda: made.update([(k, inner(entry(x_dot, k), v)) for k, v in x.items()]))
    elif isinstance(x, SETS):
        made = SetDots()
        left.append(lambda: made.update([(id(v), inner(dot, v)) for v, dot in zip(x, dots_of_set(x_dot, x))]))
    elif isinstance(x, functools.partial):  # a closure, which holds what it captures
        made = Tangent(functools.partial)
        left.append(lambda: made.fields.update(_of_partial(x_dot, x, inner)))
    elif isinstance(x, Tangent):
        made = Tangent(x.cls)
        left.append(lambda: made.fields.update([(k, inner(entry(x_dot, k), v)) for k, v in x.fields.items()]))
    elif has_fields(x):
        if shares_dictionary(type(x)):
            raise another_dictionary(type(x))
        made = Tangent(type(x))
        left.append(lambda: made.fields.update([(k, inner(entry(x_dot, k), v)) for k, v in fields_of(x).items()]))
    else:
        return zeros(x) if isinstance(x_dot, AbstractZero) and numeric(x) else x_dot
    seen[id(x)] = made
    return made


def _memory_for(x: np.ndarray, seen: dict[Any, Any]) -> Any:
    """A buffer for the tangent of an array: a view of the one of its root, if that is an array like it."""
    root = allocation_of(x)
    if not may_be_shared(x, root):
        return zeros(x)
    key = "root", id(root)
    if key not in seen:
        order: Any = "F" if root.flags.f_contiguous and not root.flags.c_contiguous else "C"
        seen[key] = np.zeros(root.shape, root.dtype, order)
    return seen[key] if x is root else same_view(x, root, seen[key])


def _of_partial(x_dot: Any, x: functools.partial[Any], inner: Callable[[Any, Any], Any]) -> dict[str, Any]:
    held, named = entry(x_dot, "args"), entry(x_dot, "keywords")
    return {
        "func": entry(x_dot, "func"),
        "args": tuple(inner(entry(held, k), v) for k, v in enumerate(x.args)),
        "keywords": {k: inner(entry(named, k), v) for k, v in x.keywords.items()},
    }


def changeable(x_dot: Any, x: Any) -> Any:
    """A tangent of ``x`` that can be changed in place as ``x`` is."""
    return tangent_buffer(x_dot, x) if isinstance(x_dot, AbstractZero) else x_dot


def apart_from(x_dot: Any, shared: int, *given: Any) -> Any:
    """``x_dot`` in memory of its own, unless ``x`` shares that of an operand: of number ``shared``, if that is not 0.

    ``given`` are the tangents of the operands.
    """
    if not shared:
        return x_dot.copy() if isinstance(x_dot, np.ndarray) and shares(x_dot, *given) else x_dot
    return (
        given[shared - 1] if isinstance(x_dot, AbstractZero) and isinstance(given[shared - 1], (list, dict)) else x_dot
    )


def has_fields(x: Any) -> bool:
    """Whether ``x`` is an object whose attributes may be changed."""
    named = isinstance(getattr(x, "__dict__", None), dict) or any(
        "__slots__" in cls.__dict__ for cls in type(x).__mro__
    )
    values = (
        type,
        types.ModuleType,
        np.generic,
        float,
        int,
        complex,
        AbstractZero,
        NotImplementedTangent,
        Tangent,
        Thunk,
    )
    return named and not is_function(x) and not isinstance(x, values)


def closure_dot(*captures: Any, defaults: dict[str, Any] | None = None) -> Any:
    """The tangent of a function made inside another one: that of what it captured and of its default values."""
    if defaults is None:
        return Tangent(functools.partial, {"args": captures})
    return Tangent(functools.partial, {"args": captures, "func": Tangent(types.FunctionType, {"defaults": defaults})})


def defaults_dot(f_dot: Any) -> dict[str, Any]:
    """The tangents of default values in the tangent of a function, by parameter."""
    if not isinstance(f_dot, Tangent):
        return {}
    found = f_dot["defaults"] if f_dot.cls is types.FunctionType else entry(f_dot["func"], "defaults")
    return found if isinstance(found, dict) else {}


def check_directions(primals: Any, tangents: Any, what: str, called: str) -> None:
    """``primals`` and ``tangents`` are sequences with one entry for each argument."""
    for name, given in (("primals", primals), (called, tangents)):
        if not isinstance(given, (tuple, list)):
            raise ArgumentError(
                f"{what}(f, primals, {called}): {name} is {structure_of(given)}, not a tuple",
                hint="pass tuples with one entry for each argument of f, for one argument (x,)",
            )
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{what}(f, primals, {called}): there are {len(primals)} primals and {len(tangents)} {called}",
            hint="pass one for each argument; None for an argument that does not move",
        )


def tangent_for(x_dot: Any, x: Any, what: str) -> Any:
    """The tangent that a user passed for ``x``, checked, in the form that generated code takes."""
    x_dot = unthunk(x_dot)
    if x_dot is None or isinstance(x_dot, AbstractZero):
        return ZERO
    if isinstance(x, (np.ndarray, float, int, np.generic)) and np.iscomplexobj(x_dot) and not np.iscomplexobj(x):
        raise CotangentError(f"the tangent for {what} is complex and the value real")
    if isinstance(x, np.ndarray):
        if np.shape(x_dot) != x.shape:
            raise CotangentError(f"the tangent for {what} has shape {np.shape(x_dot)} and the value {x.shape}")
        return laid_out(np.asarray(x_dot, dtype=np.result_type(np.asarray(x_dot).dtype, np.float16)), x)
    if is_duck(type(x)):
        if np.shape(x_dot) != x.shape:
            raise CotangentError(f"the tangent for {what} has shape {np.shape(x_dot)} and the value {x.shape}")
        return as_duck(x_dot, x)
    if isinstance(x, (float, int, complex, np.generic)):
        if np.ndim(x_dot) or not isinstance(x_dot, (float, int, complex, np.generic, np.ndarray)):
            raise CotangentError(f"the tangent for {what} must be a number, not {describe(x_dot)}")
        x_dot = x_dot[()] if isinstance(x_dot, np.ndarray) else x_dot
        return x_dot if isinstance(x_dot, (complex, np.inexact)) else float(x_dot)
    if isinstance(x, dict):
        if not isinstance(x_dot, dict) or not set(x_dot) <= set(x):
            raise CotangentError(f"the tangent for {what} must be a dict with keys of the value")
        return {k: tangent_for(v, x[k], f"{what}[{k!r}]") for k, v in x_dot.items()}
    if isinstance(x, SEQUENCES):
        if not isinstance(x_dot, SEQUENCES) or len(x_dot) != len(x):
            raise CotangentError(f"the tangent for {what} must be a sequence of {len(x)} tangents")
        parts = [tangent_for(d, v, f"{what}[{k}]") for k, (d, v) in enumerate(zip(x_dot, x))]
        return parts if isinstance(x, LISTS) else tuple(parts)
    if isinstance(x_dot, Tangent):
        return x_dot
    if type(x_dot) is type(x) and has_fields(x):
        fields = {k: tangent_for(d, getattr(x, k), f"{what}.{k}") for k, d in fields_of(x_dot).items()}
        return Tangent(type(x), fields)
    raise CotangentError(f"{what} has no tangent: it is {describe(x)}")


def laid_out(x_dot: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A tangent in the memory layout of ``x``: what shares memory with ``x`` is found at the same place of both."""
    if x.flags.c_contiguous or not x_dot.flags.c_contiguous:
        return x_dot
    made = np.empty_like(x, dtype=x_dot.dtype, subok=False)
    made[...] = x_dot
    return made


def outward(y_dot: Any, y: Any) -> Any:
    """A tangent as it leaves through the public interface: explicit zeros, the structure and the types of ``y``."""
    y_dot = unthunk(y_dot)
    if isinstance(y_dot, NotImplementedTangent):
        y_dot.demand()
    if isinstance(y, SEQUENCES):
        return remade(y, [outward(entry(y_dot, k), v) for k, v in enumerate(y)])
    if isinstance(y, SETS):
        return [outward(dot, v) for v, dot in zip(y, dots_of_set(y_dot, y))]
    if isinstance(y, dict):
        return {k: outward(entry(y_dot, k), v) for k, v in y.items()}
    if dataclasses.is_dataclass(y) and not isinstance(y, type) and isinstance(y_dot, (Tangent, AbstractZero)):
        return Tangent(
            type(y), {f.name: outward(entry(y_dot, f.name), getattr(y, f.name)) for f in dataclasses.fields(y)}
        )
    if isinstance(y, np.ndarray):
        y_dot = zeros(y) if isinstance(y_dot, AbstractZero) else y_dot
        return _typed(np.broadcast_to(y_dot, y.shape).copy(), y)
    y_dot = dense(y_dot, y)
    numbers = isinstance(y, np.generic) and isinstance(y_dot, (np.generic, float, complex))
    return _typed(y_dot, y)[()] if numbers else y_dot


def _typed(y_dot: Any, y: Any) -> Any:
    """The tangent of an inexact ``y`` in its type."""
    y_dot = np.asarray(y_dot)
    if y_dot.dtype == y.dtype or y.dtype.kind not in "fc":
        return y_dot
    return (np.real(y_dot) if y.dtype.kind == "f" else y_dot).astype(y.dtype)


def originals_dot(value_dot: Any, value: Any, kept: tuple[Any, ...], given_dot: Any) -> Any:
    """The tangent of ``originals(value, kept, given)``: what was selected from copies has that of what was copied."""
    twins: dict[int, Any] = {}

    def note(copy: Any, own_dot: Any) -> None:
        if isinstance(copy, CONTAINERS):
            for key in copy if isinstance(copy, dict) else range(len(copy)):
                note(copy[key], entry(own_dot, key))
        if isinstance(copy, (*LISTS, dict, np.ndarray)):
            twins[id(copy)] = own_dot

    for k, copy in enumerate(kept):
        note(copy, entry(given_dot, k))
    if type(value) is list and id(value) not in twins:
        return [twins[id(v)] if id(v) in twins else entry(value_dot, k) for k, v in enumerate(value)]
    return twins[id(value)] if id(value) in twins else value_dot


def check_still(dots: Any, message: str, hint: str) -> None:
    """Raise the error of a function without a rule if anything that it is given moves."""
    if is_moving(dots):
        raise NoRuleError(message, hint=hint)
