"""How the arguments of a call are bound to the parameters of a Python function, without building signatures."""

from __future__ import annotations

import inspect
import types
import weakref
from functools import cached_property
from typing import Any

from thunkad.errors import RuleError
from thunkad.records import record
from thunkad.runtime.cotangents import entry
from thunkad.source.origin import module_of
from thunkad.tangents import NO_TANGENT


@record(frozen=True)
class Shape:
    """The parameters that code declares; what their defaults are is asked of the function at each call."""

    positional: tuple[str, ...]
    only_positional: int  # how many of these can't be passed by name
    keyword: tuple[str, ...]
    var_positional: str | None
    var_keyword: str | None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All parameters, in the order of a signature."""
        var_positional = () if self.var_positional is None else (self.var_positional,)
        return (
            *self.positional,
            *var_positional,
            *self.keyword,
            *(() if self.var_keyword is None else (self.var_keyword,)),
        )

    @property
    def is_plain(self) -> bool:
        """Whether every argument has a parameter of its own."""
        return self.var_positional is None and self.var_keyword is None

    @cached_property
    def places(self) -> list[tuple[str, None]]:
        """For each positional parameter its name; the second half is for entries of ``*args``."""
        return [(name, None) for name in self.positional]

    @cached_property
    def keywords(self) -> dict[str, tuple[str, None]]:
        """The parameters that can be passed by name."""
        return {name: (name, None) for name in (*self.positional[self.only_positional :], *self.keyword)}


_shapes: weakref.WeakKeyDictionary[types.CodeType, Shape] = weakref.WeakKeyDictionary()


def signature_of(fn: types.FunctionType) -> inspect.Signature:
    """The parameters of ``fn`` as :mod:`inspect` describes them."""
    return inspect.signature(fn, follow_wrapped=False)


def shape_of(fn: types.FunctionType) -> Shape:
    """The parameters of ``fn``."""
    code = fn.__code__
    found = _shapes.get(code)
    if found is None:
        names, count = code.co_varnames, code.co_argcount
        keyword = names[count : count + code.co_kwonlyargcount]
        rest = list(names[count + code.co_kwonlyargcount :])
        var_positional = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
        var_keyword = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
        found = _shapes[code] = Shape(names[:count], code.co_posonlyargcount, keyword, var_positional, var_keyword)
    return found


class Absent(Exception):
    """A parameter has neither an argument nor a default."""


def default_of(fn: types.FunctionType, shape: Shape, name: str) -> Any:
    """The default of a parameter as it is now."""
    if name in shape.keyword:
        defaults = fn.__kwdefaults__ or {}
        if name in defaults:
            return defaults[name]
    else:
        values = fn.__defaults__ or ()
        at = shape.positional.index(name) - len(shape.positional) + len(values)
        if at >= 0:
            return values[at]
    raise Absent(name)


def bind(fn: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The values of the parameters of ``fn``, in the order of its signature.

    Raises
    ------
    TypeError
        As Python does it for a call of ``fn``.
    """
    shape = shape_of(fn)
    count = len(shape.positional)
    if len(args) == count and not kwargs and shape.is_plain and not shape.keyword:
        return args
    try:
        return _bound(fn, shape, args, dict(kwargs))
    except Absent as error:
        what = f"missing a required argument: {error.args[0]!r}" if error.args else "does not take these arguments"
    name = fn.__name__ if fn.__name__.isidentifier() else "function"
    try:
        signature_of(fn).bind(*args, **kwargs)
    except TypeError as error:
        what = str(error)
    raise TypeError(f"{name}() {what}")


def _bound(fn: types.FunctionType, shape: Shape, args: tuple[Any, ...], left: dict[str, Any]) -> tuple[Any, ...]:
    count = len(shape.positional)
    values = list(args[:count])
    for k in range(len(values), count):
        name = shape.positional[k]
        by_name = k >= shape.only_positional and name in left
        values.append(left.pop(name) if by_name else default_of(fn, shape, name))
    if shape.var_positional is not None:
        values.append(tuple(args[count:]))
    elif len(args) > count:
        raise Absent
    for name in shape.keyword:
        values.append(left.pop(name) if name in left else default_of(fn, shape, name))
    if shape.var_keyword is not None:
        for name in shape.positional[shape.only_positional : len(args)]:
            if name in left:  # given twice
                raise Absent
        values.append(left)
    elif left:
        raise Absent
    return tuple(values)


def bound_call(
    signature: inspect.Signature, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments of a call by parameter, defaults included; where they don't fit, what Python says of that."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        if module_of(fn).startswith("thunkad.rules."):
            message = (
                f"{fn.__name__}, as it is written out for derivatives, does not take this call's arguments ({error})"
            )
            raise RuleError(message, hint=f"it takes {signature}") from None
        fn(*args, **kwargs)  # raises in Python's own words
        raise
    bound.apply_defaults()
    return bound


def parameters_at(signature: Any, count: int, kwargs: dict[str, Any], wrt: frozenset[Any]) -> set[str]:
    """The parameters that receive the arguments at these places of a call with ``count`` positional arguments."""
    places = signature.bind(*range(count), **{k: k for k in kwargs}).arguments
    out: set[str] = set()
    for name, place in places.items():
        inside = place if isinstance(place, tuple) else place.values() if isinstance(place, dict) else (place,)
        if not wrt.isdisjoint(inside):
            out.add(name)
    return out


def places_given(args: tuple[Any, ...], kwargs: dict[str, Any], wrt: frozenset[Any] | None) -> frozenset[Any]:
    """``wrt``, or without it all places of a call: those of parameters that are left to their defaults are none."""
    return frozenset((*range(len(args)), *kwargs)) if wrt is None else wrt


def back_to_call(
    signature: Any, by_name: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Cotangents by parameter → cotangents by place in the call."""
    of_args: list[Any] = []
    of_kwargs: dict[str, Any] = {}
    for name, p in signature.parameters.items():
        part = by_name.get(name, NO_TANGENT)
        if p.kind is p.VAR_POSITIONAL:
            missing = len(args) - len(of_args)
            of_args.extend(entry(part, k) for k in range(missing))
        elif p.kind is p.VAR_KEYWORD:
            of_kwargs.update(
                {k: entry(part, k) for k in kwargs if k not in of_kwargs and k not in signature.parameters}
            )
        elif name in kwargs:
            of_kwargs[name] = part
        elif len(of_args) < len(args) and p.kind is not p.KEYWORD_ONLY:
            of_args.append(part)
    return of_args, of_kwargs
