"""Methods of dicts, lists, tuples and strings, and unpacking with a starred target."""

from __future__ import annotations

import operator
from typing import Any

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.elements import (
    default_bar,
    found_bar,
    found_dot,
    items_bar,
    items_dot,
    split_starred_bar,
    split_starred_dot,
    values_bar,
    values_dot,
)
from thunkad.runtime.unpacking import split_starred
from thunkad.tangents import NoTangent, thunk

linear(default_bar, found_bar, items_bar, split_starred_bar, values_bar)
non_differentiable(*(getattr(owner, name) for owner in (str, bytes) for name in dir(owner) if not name.startswith("_")))
non_differentiable(dict.keys, list.index, list.count, tuple.index, tuple.count, range.index, range.count)
non_differentiable(*(owner.__contains__ for owner in (dict, list, tuple, set, frozenset, range, str)))
non_differentiable(*(owner.__len__ for owner in (dict, list, tuple, set, frozenset, range, str)))


@alternative(operator.or_, types=(dict, dict))
def merged(a: Any, b: Any) -> Any:
    """``a | b`` of dicts."""
    return {**a, **b}


@rrule(dict.get)
def _(self, key, default=None):
    y = dict.get(self, key, default)

    def pullback(y_bar):
        return thunk(lambda: found_bar(y_bar, self, key)), NoTangent(), thunk(lambda: default_bar(y_bar, self, key))

    return y, pullback


@frule(dict.get)
def _(self, key, default=None, *, self_dot, default_dot):
    return dict.get(self, key, default), found_dot(self, key, self_dot, default_dot)


@rrule(dict.items)
def _(self):
    y = list(dict.items(self))

    def pullback(y_bar):
        return (thunk(lambda: items_bar(y_bar, self)),)

    return y, pullback


@frule(dict.items)
def _(self, *, self_dot):
    return list(dict.items(self)), items_dot(self_dot, self)


@rrule(dict.values)
def _(self):
    y = list(dict.values(self))

    def pullback(y_bar):
        return (thunk(lambda: values_bar(y_bar, self)),)

    return y, pullback


@frule(dict.values)
def _(self, *, self_dot):
    return list(dict.values(self)), values_dot(self_dot, self)


@rrule(dict.copy)
def _(self):
    y = dict.copy(self)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(dict.copy)
def _(self, *, self_dot):
    return dict.copy(self), self_dot


@rrule(list.copy)
def _(self):
    y = list.copy(self)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(list.copy)
def _(self, *, self_dot):
    return list.copy(self), self_dot


@rrule(split_starred)
def _(value, before, after):
    y = split_starred(value, before, after)

    def pullback(y_bar):
        return thunk(lambda: split_starred_bar(y_bar, y, value, before)), NoTangent(), NoTangent()

    return y, pullback


@frule(split_starred)
def _(value, before, after, *, value_dot):
    y = split_starred(value, before, after)
    return y, split_starred_dot(y, value_dot, value, before)
