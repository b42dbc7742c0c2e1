"""Changes of containers, objects and arrays, followed on their tangents: each is made before the primal's own.

A container of tangents has the structure of its container, so most methods do the same there; what chooses by value
(``sort``, ``remove``) looks at the values.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.attributes import check_delete, check_write, is_own_dictionary
from thunkad.runtime.containers import LISTS, SEQUENCES, SetDots
from thunkad.runtime.cotangents import dense, describe, entry
from thunkad.runtime.dots import has_fields, numeric, spread, tangent_buffer
from thunkad.runtime.elements import sorted_order
from thunkad.runtime.key_dots import add_key, drop_key
from thunkad.runtime.sets import change_set, dots_of_keys, dots_of_set
from thunkad.runtime.shadows import unless_cut
from thunkad.runtime.subclasses import check_contents
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, unthunk


def held(v_dot: Any, v: Any) -> Any:
    """The tangent of ``v`` as a container keeps it: of what may be changed later, one that can be changed with it."""
    v_dot = unthunk(v_dot)
    changeable = isinstance(v, (*LISTS, dict)) or (has_fields(v) and not isinstance(v, np.ndarray))
    return tangent_buffer(v_dot, v) if isinstance(v_dot, AbstractZero) and changeable else v_dot


def array_dot(v_dot: Any, v: Any) -> Any:
    """The tangent of what is written into an array, a number or (nested) sequence of numbers, as one array."""
    v_dot = unthunk(v_dot)
    if isinstance(v, SEQUENCES):
        parts = [
            np.zeros(x.shape) if isinstance(x, np.ndarray) and isinstance(d, AbstractZero) else array_dot(d, x)
            for d, x in zip(spread(v_dot, v), v)
        ]
        return np.array(parts, dtype=None if v else float)
    return 0.0 if isinstance(v_dot, AbstractZero) else v_dot


# ---------------------------------------------------------------- items and attributes


def set_entry(x_dot: Any, key: Any, y_dot: Any, x: Any, y: Any) -> None:
    """``x[key] = y`` on the tangent of ``x``."""
    if not isinstance(unthunk(y_dot), AbstractZero):
        check_contents(x)
    if isinstance(x_dot, np.ndarray):
        x_dot[key] = unless_cut(array_dot(y_dot, y), x, y)
    elif isinstance(x_dot, list) and isinstance(key, slice):
        x_dot[key] = spread(y_dot, y)
    elif isinstance(x_dot, (list, dict)):
        x_dot[key] = held(y_dot, y)
    elif isinstance(x, (tuple, float, int, complex, str)):
        return  # what the primal does raises
    elif isinstance(x, np.ndarray) and x.dtype.kind not in "iufcOV":
        return  # truths and texts have no tangent
    elif not (isinstance(x_dot, AbstractZero) and isinstance(unthunk(y_dot), AbstractZero)):
        raise _unfollowed(x_dot)


def set_field(x_dot: Any, name: str, y_dot: Any, x: Any, y: Any, past: bool = False) -> None:
    """``x.name = y`` on the tangent of ``x``; ``past``: by ``object.__setattr__``."""
    if not past:
        check_write(x, name)
    if isinstance(x_dot, Tangent):
        x_dot.fields[name] = held(y_dot, y)
    elif is_own_dictionary(x) and isinstance(x_dot, dict):
        x_dot[name] = held(y_dot, y)
    elif not (isinstance(x_dot, AbstractZero) and isinstance(unthunk(y_dot), AbstractZero)):
        raise _unfollowed(x_dot)


def del_field(x_dot: Any, name: str, x: Any) -> None:
    """``del x.name`` on the tangent of ``x``."""
    check_delete(x, name)
    if isinstance(x_dot, Tangent):
        x_dot.fields.pop(name, None)
    elif is_own_dictionary(x) and isinstance(x_dot, dict):
        x_dot.pop(name, None)


def _unfollowed(x_dot: Any) -> UnsupportedSyntaxError:
    if isinstance(x_dot, NotImplementedTangent):
        x_dot.demand()
    return UnsupportedSyntaxError(
        f"a change of a value whose tangent is {describe(x_dot)} can't be followed", hint="build a new value instead"
    )


# ---------------------------------------------------------------- methods

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def change_dot(x_dot: Any, x: Any, name: str, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> Any:
    """``x.name(*args, **kwargs)`` on the tangent of a list or a dict; returns the tangent of the result."""
    if isinstance(x_dot, AbstractZero):
        if all(isinstance(unthunk(d), AbstractZero) for d in (*arg_dots, *kwarg_dots.values())):
            return ZERO
        raise UnsupportedSyntaxError(
            f"changing a {type(x).__name__} that had no tangents when it was put where it is is not supported "
            "in forward mode",
            hint=f"make the {type(x).__name__} where it is changed, or build a new one",
        )
    if isinstance(x_dot, SetDots):
        return change_set(x_dot, x, name, args, arg_dots)
    methods = _LIST if isinstance(x, list) else _DEQUE if isinstance(x, deque) else _DICT
    if name not in methods:
        raise UnsupportedSyntaxError(f"the method .{name}() of a {type(x).__name__} with tangents is not supported")
    return methods[name](x_dot, x, args, arg_dots, kwargs, kwarg_dots)


def _insert(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> None:
    x_dot.insert(args[0], held(arg_dots[1], args[1]))


def _remove(x_dot: Any, x: Any, args: Args, *_: Any) -> None:
    if args[0] in x:
        del x_dot[x.index(args[0])]


def _sort(x_dot: Any, x: Any, args: Args, arg_dots: Args, kwargs: Kwargs, _: Any) -> None:
    order = args[0] if args else sorted_order(x, kwargs.get("key"), kwargs.get("reverse", False))
    x_dot[:] = [x_dot[k] for k in order]


def _setitem(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> None:
    set_entry(x_dot, args[0], arg_dots[1], x, args[1])


def _same(name: str) -> Callable[..., Any]:
    return lambda x_dot, x, args, *_: getattr(x_dot, name)(*args)


_LIST: dict[str, Callable[..., Any]] = {
    "append": lambda x_dot, x, args, arg_dots, *_: x_dot.append(held(arg_dots[0], args[0])),
    "insert": _insert,
    "extend": lambda x_dot, x, args, arg_dots, *_: x_dot.extend(spread(arg_dots[0], args[0])),
    "remove": _remove,
    "sort": _sort,
    "__setitem__": _setitem,
    **{name: _same(name) for name in ("pop", "reverse", "clear", "__delitem__")},
}


def _at_end(name: str) -> Callable[..., Any]:
    """``append``, ``appendleft``, ``pop`` and ``popleft`` of a deque."""
    first = name.endswith("left")

    def change(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> Any:
        if name.startswith("pop"):
            return x_dot.pop(0 if first else -1) if x_dot else ZERO
        if x.maxlen is not None and len(x) == x.maxlen:
            if not x_dot:
                return None
            x_dot.pop(-1 if first else 0)
        return x_dot.insert(0 if first else len(x_dot), held(arg_dots[0], args[0]))

    return change


def _of_deque(name: str) -> Callable[..., Any]:
    """A method of a deque, done to one of the tangents: what falls out at an end does so there, too."""

    def change(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> Any:
        dots: Any = deque(x_dot, x.maxlen)
        given = args
        if name in ("append", "appendleft"):
            given = (held(arg_dots[0], args[0]),)
        elif name in ("extend", "extendleft"):
            given = (spread(arg_dots[0], args[0]),)
        elif name == "insert":
            given = (args[0], held(arg_dots[1], args[1]))
        found = getattr(dots, name)(*given)
        x_dot[:] = dots
        return found

    return change


_DEQUE: dict[str, Callable[..., Any]] = {
    **{name: _of_deque(name) for name in ("extend", "extendleft", "rotate", "insert", "reverse", "clear")},
    **{name: _at_end(name) for name in ("append", "appendleft", "pop", "popleft")},
    "remove": _remove,
    "__setitem__": _setitem,
    "__delitem__": _same("__delitem__"),
}


def _update(x_dot: Any, x: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> None:
    if args and isinstance(args[0], dict):
        for key, dot in zip(args[0], spread(arg_dots[0], args[0])):
            add_key(x_dot, key, dot)
        x_dot.update({k: entry(arg_dots[0], k) for k in args[0]})
    elif args:
        for (key, v), dot in zip(args[0], spread(arg_dots[0], args[0])):
            add_key(x_dot, key, entry(dot, 0))
            x_dot[key] = held(entry(dot, 1), v)
    x_dot.update({k: held(kwarg_dots.get(k, ZERO), v) for k, v in kwargs.items()})


def _setdefault(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> Any:
    if args[0] not in x:
        add_key(x_dot, args[0], arg_dots[0])
        x_dot[args[0]] = held(arg_dots[1], args[1]) if len(args) > 1 else ZERO
    return x_dot.get(args[0], ZERO)


def _pop_key(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> Any:
    drop_key(x_dot, args[0])
    return x_dot.pop(args[0], ZERO) if args[0] in x else arg_dots[-1]


def _delete_key(x_dot: Any, x: Any, args: Args, *_: Any) -> None:
    drop_key(x_dot, args[0])
    x_dot.pop(args[0], None)


def _set_key(x_dot: Any, x: Any, args: Args, arg_dots: Args, *_: Any) -> None:
    add_key(x_dot, args[0], arg_dots[0])
    set_entry(x_dot, args[0], arg_dots[1], x, args[1])


def _popitem(x_dot: Any, x: Any, args: Args, arg_dots: Args, kwargs: Kwargs, _: Any) -> Any:
    if type(x) is OrderedDict and x:
        last = args[0] if args else kwargs.get("last", True)
        return _taken(x_dot, x, next(reversed(x) if last else iter(x)))
    if type(x) not in (dict, OrderedDict):
        raise UnsupportedSyntaxError(
            f"popitem() of a {type(x).__name__} with values that are differentiated", hint="name the key: d.pop(key)"
        )
    return _taken(x_dot, x, next(reversed(x))) if x else ZERO


def _taken(x_dot: Any, x: Any, key: Any) -> tuple[Any, Any]:
    """The tangents of an item that is taken out of ``x``."""
    key_dot = dots_of_keys(x_dot, {key: None})[0]
    drop_key(x_dot, key)
    return key_dot, x_dot.pop(key, ZERO)


_DICT: dict[str, Callable[..., Any]] = {
    "update": _update,
    "setdefault": _setdefault,
    "pop": _pop_key,
    "popitem": _popitem,
    "clear": _same("clear"),
    "move_to_end": lambda *_: ZERO,
    "__setitem__": _set_key,
    "__delitem__": _delete_key,
}


def change_array(x_dot: Any, x: Any, name: str, args: Args, arg_dots: Args, kwargs: Kwargs) -> None:
    """The same for an array whose tangent is an array of its layout."""
    if name == "fill":
        x_dot.fill(array_dot(arg_dots[0], args[0]))
    elif name == "sort":
        axis = args[0] if args else kwargs.get("axis", -1)
        x_dot[...] = np.take_along_axis(x_dot, np.argsort(x, axis=axis, kind="stable"), axis)
    elif name == "partition":
        axis = args[1] if len(args) > 1 else kwargs.get("axis", -1)
        x_dot[...] = np.take_along_axis(x_dot, np.argpartition(x, args[0], axis=axis), axis)
    elif name == "__setitem__":
        set_entry(x_dot, args[0], arg_dots[1], x, args[1])
    elif name == "put":
        x_dot.put(args[0], array_dot(arg_dots[1], args[1]), *args[2:], **kwargs)
    else:
        raise UnsupportedSyntaxError(f"the method .{name}() of an array with a tangent is not supported")


# ---------------------------------------------------------------- loops over what they change


def live_dots(dots: Args, how: Any, xs: Args) -> Iterator[Any]:
    """The tangents of the items of ``how(*xs)``, or of ``xs[0]``, each found when it is asked for."""
    if how is None:
        return _each(dots[0], xs[0])
    if how is enumerate:
        return ((ZERO, d) for d in _each(dots[0], xs[0]))
    if how is zip:
        return zip(*map(_each, dots, xs))
    if how is reversed:
        if isinstance(dots[0], AbstractZero):
            return repeat(ZERO)
        return reversed(list(_each(dots[0], xs[0])) if isinstance(xs[0], dict) else dots[0])
    if not isinstance(xs[0], dict):  # it has a method of that name
        what = f"a loop over .{how.__name__}() of {describe(xs[0])} that it changes is not supported in forward mode"
        raise UnsupportedSyntaxError(what, hint="iterate by index")
    paired = how is dict.items
    if not paired:
        return (entry(dots[0], key) for key in xs[0])
    return zip(_each(dots[0], xs[0]), (entry(dots[0], key) for key in xs[0]))


def _each(x_dot: Any, x: Any) -> Iterator[Any]:
    if isinstance(x_dot, AbstractZero):
        return repeat(ZERO)
    if isinstance(x_dot, SetDots):
        return iter(dots_of_set(x_dot, x))
    return iter(dots_of_keys(x_dot, x) if isinstance(x, dict) else x_dot)


def next_dot(dots: Iterator[Any], item: Any) -> Any:
    """The tangent of the item that a loop has come to."""
    found = next(dots, ZERO)
    return dense(found, item) if numeric(item) else found
