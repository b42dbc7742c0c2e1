"""Objects of the user's classes in run-time dispatch: computed attributes, operators, copies with other fields.

Each function for reverse mode returns a value and its pullback, as :mod:`thunkad.compiled.dynamic` has them, each for
forward mode a value and its tangent; None where the callee is no such thing.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.analysis.remembered import refuse_stale
from thunkad.analysis.special import BY_METHOD, is_by_fields, makes_itself
from thunkad.analysis.stand_ins import is_made_anew, made_anew
from thunkad.errors import UnsupportedSyntaxError
from thunkad.kinds.lattice import is_hashable
from thunkad.rules.entry import name_of
from thunkad.runtime.attributes import check_write, is_descriptor
from thunkad.runtime.cotangents import entry, field_tangent
from thunkad.runtime.dot_changes import set_field
from thunkad.runtime.dots import field_dot
from thunkad.runtime.elements import elements_bar, elements_dot
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent, unthunk

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


# ---------------------------------------------------------------- operators


def is_operator_of_own(fn: Any, args: Args) -> bool:
    """Whether ``fn`` is an operator on a tuple, list or dict of a class of the user's, whose own methods go first."""
    return getattr(fn, "__module__", None) == "_operator" and any(
        isinstance(a, (tuple, list, dict)) and type(a).__module__ not in ("builtins", "collections") for a in args
    )


def operator_methods(fn: Any, args: Args) -> tuple[Any, Any]:
    """The method of the left operand that is tried first, then that of the right one; None for what isn't Python."""
    known = BY_METHOD.get(fn) if is_hashable(fn) else None
    if not args or (known is None and getattr(fn, "__module__", None) not in ("_operator", "operator")):
        return None, None
    name = (known or getattr(fn, "__name__", "")).strip("_")
    direct = _missing(name, args) or _python(type(args[0]), f"__{name}__")
    reflected = _python(type(args[-1]), f"__r{name}__") if len(args) == 2 else None
    left, right = type(args[0]), type(args[-1])
    if reflected is not None and left is not right and issubclass(right, left):
        direct = None  # Python asks an operand first that is of a class derived from the other one's
    return direct, reflected


def pull_operator(pull: Any, fn: Any, args: Args) -> tuple[Any, Callable[[Any], Any]] | None:
    """An operator, or a built-in function that is one method, on objects of a user's class."""
    direct, reflected = operator_methods(fn, args)
    if direct is not None:
        value, back = pull.whole(direct, args, {})
        if value is not NotImplemented:
            return value, back
    if reflected is None:
        return None
    value, inner = pull.whole(reflected, args[::-1], {})

    def swapped(value_bar: Any) -> Any:
        of_callee, of_args, of_kwargs = inner(value_bar)
        return of_callee, of_args[::-1], of_kwargs

    return value, swapped


def _python(cls: type, name: str) -> Any:
    found = getattr(cls, name, None)
    return found if isinstance(found, types.FunctionType) else None


def _missing(name: str, args: Args) -> Any:
    """What answers for a key that a dict does not have, if its class says so."""
    if name != "getitem" or not isinstance(args[0], dict) or args[1] in args[0]:
        return None
    return _python(type(args[0]), "__missing__")


# ---------------------------------------------------------------- attributes


def attribute_call(args: Args, stale: frozenset[Any] = frozenset()) -> tuple[Any, Args, int] | None:
    """The function that computes ``getattr(*args)``, its arguments and the place of the object among them."""
    x, name = args[:2]
    cls = type(x)
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, property):
        return found.fget, (x,), 0
    if isinstance(found, functools.cached_property):
        if found.func in stale:
            raise refuse_stale(found.func)
        return found.func, (x,), 0
    if is_descriptor(found) and not (name in getattr(x, "__dict__", ()) and not hasattr(type(found), "__set__")):
        return type(found).__get__, (found, x, cls), 1
    if _python(cls, "__getattribute__") is not None or name == "__dict__":
        raise UnsupportedSyntaxError(
            f"reading the attribute {name!r} of an object of the class {name_of(cls)} that is differentiated, which "
            "runs code of the class,",
            hint="write a property, or a method that is called",
        )
    if _python(cls, "__getattr__") is not None and found is None and name not in getattr(x, "__dict__", ()):
        return cls.__getattr__, (x, name), 0
    return None


def pull_attribute(pull: Any, args: Args) -> tuple[Any, Callable[[Any], Any]]:
    """``getattr(x, name)`` or ``getattr(x, name, default)``"""
    x, name, *default = args
    rest = [NO_TANGENT] * (len(args) - 1)
    if isinstance(x, (np.ndarray, np.generic)) and pull.world.array_attribute(name) is not None:
        value, inner = pull.whole(pull.world.array_attribute(name), (x,), {})
        return value, lambda bar: (NO_TANGENT, [inner(bar)[1][0], *rest], {})
    call = attribute_call(args, pull.world.stale)
    if call is not None:
        function, given, place = call
        try:
            value, inner = pull.whole(function, given, {})
            return value, lambda bar: (NO_TANGENT, [inner(bar)[1][place], *rest], {})
        except AttributeError:
            if not default:
                raise
    elif not default or hasattr(x, name):
        return getattr(x, name), lambda bar: (NO_TANGENT, [field_tangent(x, name, bar), *rest], {})
    return default[0], lambda bar: (NO_TANGENT, [ZERO, NO_TANGENT, bar], {})


def pull_setting(pull: Any, args: Args) -> tuple[Any, Callable[[Any], Any]]:
    """``setattr(x, name, v)`` where that runs code of a class."""
    x, name, v = args
    found = inspect.getattr_static(type(x), name, None)
    if not isinstance(found, property) or found.fset is None:
        check_write(x, name)
        raise UnsupportedSyntaxError(
            f"setting .{name} of an object of the class {name_of(type(x))}, which is known only when the code runs",
            hint="make the object by the name of its class where the attribute is set",
        )
    value, inner = pull.whole(found.fset, (x, v), {})

    def back(bar: Any) -> Any:
        _, (x_bar, v_bar), _ = inner(bar)
        return NO_TANGENT, [x_bar, NO_TANGENT, v_bar], {}

    return value, back


def push_attribute(push: Any, args: Args, arg_dots: Args) -> tuple[Any, Any]:
    """The same in forward mode."""
    x, name, *default = args
    if isinstance(x, (np.ndarray, np.generic)) and push.forwarding.array_attribute(name) is not None:
        return push.whole(push.forwarding.array_attribute(name), ZERO, (x,), arg_dots[:1], {}, {})  # type: ignore[no-any-return]
    call = attribute_call(args, push.forwarding.world.stale)
    if call is not None:
        function, given, place = call
        dots = tuple(arg_dots[0] if k == place else ZERO for k in range(len(given)))
        try:
            return push.whole(function, ZERO, given, dots, {}, {})  # type: ignore[no-any-return]
        except AttributeError:
            if not default:
                raise
    elif not default or hasattr(x, name):
        value = getattr(x, name)
        return value, field_dot(arg_dots[0], name, x, value)
    return default[0], arg_dots[2]


def push_setting(push: Any, args: Args, arg_dots: Args) -> tuple[Any, Any]:
    """``setattr(x, name, v)`` in forward mode."""
    x, name, v = args
    found = inspect.getattr_static(type(x), name, None)
    if isinstance(found, property) and found.fset is not None:
        return push.whole(found.fset, ZERO, (x, v), (arg_dots[0], arg_dots[2]), {}, {})  # type: ignore[no-any-return]
    set_field(arg_dots[0], name, arg_dots[2], x, v)
    setattr(x, name, v)
    return None, ZERO


# ---------------------------------------------------------------- partials


def construct_partial(args: Args, kwargs: Kwargs) -> tuple[Any, Callable[[Any], Any]]:
    """``functools.partial(…)``; one of a partial holds what that one holds, and then its own."""
    value: Any = functools.partial(*args, **kwargs)  # type: ignore[misc]  # the first of them is a function
    inner = args[0] if isinstance(args[0], functools.partial) and value.func is args[0].func else None

    def back(value_bar: Any) -> Any:
        value_bar = unthunk(value_bar)
        func, held, named = (entry(value_bar, name) for name in ("func", "args", "keywords"))
        count = 0 if inner is None else len(inner.args)
        if inner is not None:
            own = {k: entry(named, k) for k in inner.keywords if k not in kwargs}
            func = Tangent(
                functools.partial, {"func": func, "args": tuple(entry(held, k) for k in range(count)), "keywords": own}
            )
        positional = [entry(held, count + k) for k in range(len(args) - 1)]
        return NO_TANGENT, [func, *positional], {k: entry(named, k) for k in kwargs}

    return value, back


# ---------------------------------------------------------------- fields


def refuse_own_new(cls: type) -> None:
    """A named tuple or dataclass that is not made of its fields as they are given is not followed."""
    if not makes_itself(cls):
        raise UnsupportedSyntaxError(
            f"making an object of the class {name_of(cls)}, which makes or iterates over them in its own way, "
            "from values that are differentiated is not supported",
            hint="write a function that computes the fields and then makes the object",
        )


def _fields(cls: Any) -> tuple[str, ...]:
    return getattr(cls, "_fields", None) or tuple(f.name for f in dataclasses.fields(cls))


def _of_fields(x: Any, parts: dict[str, Any]) -> Any:
    """A cotangent or tangent of ``x`` with these fields."""
    if isinstance(x, tuple):
        return tuple(parts.get(f, ZERO) for f in _fields(type(x)))
    return Tangent(type(x), parts)


def _field(bar: Any, x: Any, name: str) -> Any:
    return entry(bar, _fields(type(x)).index(name) if isinstance(bar, (tuple, list)) else name)


def pull_fields(pull: Any, fn: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Callable[[Any], Any]] | None:
    """``dataclasses.replace``, ``dataclasses.asdict``; ``_replace``, ``_asdict`` and ``_make`` of a named tuple."""
    if not is_by_fields(fn):
        return None
    if is_made_anew(fn, args):
        value, inner = pull.whole(made_anew(type(args[0]), tuple(kwargs)), (args[0], *kwargs.values()), {})

        def back_anew(bar: Any) -> Any:
            _, bars, _ = inner(bar)
            return NO_TANGENT, bars[:1], dict(zip(kwargs, bars[1:]))

        return value, back_anew
    value, x = _made(fn, args, kwargs), args[0]
    if isinstance(x, type):
        return value, lambda bar: (NO_TANGENT, [NO_TANGENT, elements_bar(list(unthunk(bar)), args[1])], {})
    rest = [NO_TANGENT] * (len(args) - 1)
    if fn.__name__.strip("_") in ("asdict", "astuple"):
        return value, lambda bar: (NO_TANGENT, [_whole(x, unthunk(bar)), *rest], {})

    def back(bar: Any) -> Any:
        bar = unthunk(bar)
        own = {f: _field(bar, x, f) for f in _fields(type(x)) if f not in kwargs}
        return NO_TANGENT, [_of_fields(x, own)], {f: _field(bar, x, f) for f in kwargs}

    return value, back


def push_fields(
    push: Any, fn: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs
) -> tuple[Any, Any] | None:
    """The same in forward mode."""
    if not is_by_fields(fn):
        return None
    if is_made_anew(fn, args):
        made, dots = made_anew(type(args[0]), tuple(kwargs)), (arg_dots[0], *(kwarg_dots.get(k, ZERO) for k in kwargs))
        return push.whole(made, ZERO, (args[0], *kwargs.values()), dots, {}, {})  # type: ignore[no-any-return]
    value, x = _made(fn, args, kwargs), args[0]
    if isinstance(x, type):
        return value, tuple(elements_dot(arg_dots[1], args[1]))
    dot = unthunk(arg_dots[0])
    if fn.__name__.strip("_") in ("asdict", "astuple"):
        return value, _spelled(x, dot, fn is dataclasses.astuple)
    own = {f: _field(dot, x, f) for f in _fields(type(x)) if f not in kwargs}
    parts = {f: kwarg_dots.get(f, ZERO) if f in kwargs else own[f] for f in _fields(type(x))}
    return value, _of_fields(x, {f: d for f, d in parts.items() if not isinstance(d, AbstractZero)})


def _made(fn: Any, args: Args, kwargs: Kwargs) -> Any:
    cls = args[0] if isinstance(args[0], type) else type(args[0])
    if fn not in (dataclasses.asdict, dataclasses.astuple):
        refuse_own_new(cls)
    elif len(args) + len(kwargs) > 1:
        raise UnsupportedSyntaxError(f"{fn.__name__} with a factory, of values that are differentiated,")
    return fn(*args, **kwargs)


def _whole(x: Any, bar: Any) -> Any:
    """The cotangent of ``x`` from that of ``dataclasses.asdict(x)`` or ``x._asdict()``."""
    if isinstance(bar, AbstractZero) or not (dataclasses.is_dataclass(x) or isinstance(x, (tuple, list, dict))):
        return bar
    if isinstance(bar, dict) and not isinstance(x, dict):
        return _of_fields(x, {f: _whole(getattr(x, f), unthunk(entry(bar, f))) for f in _fields(type(x))})
    if dataclasses.is_dataclass(x):
        return _of_fields(x, {f: _whole(getattr(x, f), unthunk(entry(bar, k))) for k, f in enumerate(_fields(type(x)))})
    if isinstance(x, dict):
        return {k: _whole(v, unthunk(entry(bar, k))) for k, v in x.items()}
    return type(bar)([_whole(v, unthunk(entry(bar, k))) for k, v in enumerate(x)])


def _spelled(x: Any, dot: Any, as_tuple: bool = False) -> Any:
    """The tangent of ``dataclasses.asdict(x)``, ``astuple(x)`` or ``x._asdict()`` from that of ``x``."""
    if isinstance(dot, AbstractZero):
        return dot
    if dataclasses.is_dataclass(x) or hasattr(type(x), "_fields"):
        parts = {f: _spelled(getattr(x, f), unthunk(_field(dot, x, f)), as_tuple) for f in _fields(type(x))}
        return tuple(parts.values()) if as_tuple else parts
    if isinstance(x, dict):
        return {k: _spelled(v, unthunk(entry(dot, k)), as_tuple) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)([_spelled(v, unthunk(entry(dot, k)), as_tuple) for k, v in enumerate(x)])
    return dot
