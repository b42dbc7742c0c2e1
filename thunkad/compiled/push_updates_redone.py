"""Forward mode over :mod:`thunkad.compiled.push_updates`: a value and its tangent are changed, and their tangents."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from thunkad.compiled.updates import OUT_OF_PLACE
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import dense, entry
from thunkad.runtime.dot_changes import change_array, change_dot, set_entry, set_field
from thunkad.runtime.dots import entry_dot, field_dot, spread
from thunkad.tangents import ZERO, AbstractZero


def again(redone: Any, what: str, fn: Any, args: Any, dots: Any) -> Any:
    """``fn``, the method ``what`` of a dispatcher, with the tangents ``dots`` of its arguments."""
    if what == "Push.change":
        return _change(fn, args, dots)
    if what == "Push.update":
        return _update(redone, *args, *dots[1:])
    op, x, x_dot, key, v, v_dot = args
    _, x_d, x_dot_d, _, v_d, v_dot_d = dots
    if what == "Push.update_entry":
        old = x[key]
        step = entry_dot(x_dot, key, old)
        found = _update(
            redone, op, old, step, v, v_dot, entry_dot(x_d, key, old), entry_dot(x_dot_d, key, old), v_d, v_dot_d
        )
        (new, new_dot), (new_d, new_dot_d) = found
        for t, t_d in ((x_dot, new_dot), (x_d, new_d), (x_dot_d, new_dot_d)):
            set_entry(t, key, t_d, x, new)
        x[key] = new
        return None, ZERO
    if what == "Push.update_attribute" and not isinstance(getattr(type(x), key, None), property):
        old = getattr(x, key)
        before = [field_dot(t, key, x, old) for t in (x_dot, x_d, x_dot_d)]
        found = _update(redone, op, old, before[0], v, v_dot, before[1], before[2], v_d, v_dot_d)
        (new, new_dot), (new_d, new_dot_d) = found
        for t, t_d in ((x_dot, new_dot), (x_d, new_d), (x_dot_d, new_dot_d)):
            set_field(t, key, t_d, x, new)
        setattr(x, key, new)
        return None, ZERO
    raise _refused(x)


def _change(fn: Any, args: Any, dots: Any) -> Any:
    x, _, name, given, _, named, _ = args
    x_d, x_dot_d, _, given_d, given_dots_d, named_d, named_dots_d = dots
    if not isinstance(x, (*LISTS, dict, np.ndarray)):
        raise _refused(x)
    found = []
    for t, parts, keys in ((x_d, given_d, named_d), (x_dot_d, given_dots_d, named_dots_d)):
        steps = tuple(entry(parts, k) for k in range(len(given)))
        by_name = {k: entry(keys, k) for k in named}
        if isinstance(x, np.ndarray):
            if isinstance(t, np.ndarray):
                change_array(t, x, name, given, steps, named)
            found.append(ZERO)
        else:
            found.append(change_dot(t, x, name, given, steps, named, by_name))
    value, dot = fn(*args)
    if isinstance(value, (float, complex, np.ndarray, np.generic)):
        found = [dense(t, value) for t in found]
    return (value, dot), tuple(found)


def _update(
    redone: Any, op: Any, x: Any, x_dot: Any, v: Any, v_dot: Any, x_d: Any, x_dot_d: Any, v_d: Any, v_dot_d: Any
) -> Any:
    if isinstance(x, list):
        for t, part in ((x_dot, v_dot), (x_d, v_d), (x_dot_d, v_dot_d)):
            if isinstance(t, list):
                op(t, v if op is operator.imul else spread(part, v))
            elif not isinstance(part, AbstractZero):
                raise _refused(x)
        return (op(x, v), x_dot), (x_d, x_dot_d)
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)):
        raise _refused(x)
    old = x.copy() if isinstance(x, np.ndarray) else x
    called: tuple[Any, ...] = (OUT_OF_PLACE[op], ZERO, (x_dot, v_dot), {}, old, v)
    moved = (ZERO, ZERO, (x_dot_d, v_dot_d), ZERO, x_d, v_d)
    (value, dot), both = redone.push_push(called, moved, {}, {})
    value_d, dot_d = entry(both, 0), entry(both, 1)
    if not isinstance(x, np.ndarray):
        return (value, dot), (value_d, dot_d)
    for t, new in ((x_dot, dot), (x_d, value_d), (x_dot_d, dot_d)):
        if isinstance(t, np.ndarray):
            t[...] = 0.0 if isinstance(new, AbstractZero) else new
        elif not isinstance(new, AbstractZero):
            raise _refused(x)
    return (op(x, v), x_dot), (x_d, x_dot_d)


def _refused(x: Any) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a third derivative through a change of a {type(x).__name__} that is known only when the code runs "
        "is not supported",
        hint="build a new value instead",
    )
