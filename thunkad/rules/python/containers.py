"""Methods of dicts, lists, tuples and strings, and unpacking with a starred target."""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from typing import Any

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.elements import (
    default_bar,
    elements_bar,
    elements_dot,
    found_bar,
    found_dot,
    items_bar,
    items_dot,
    split_starred_bar,
    split_starred_dot,
    values_bar,
    values_dot,
)
from thunkad.runtime.key_bars import key_bars
from thunkad.runtime.unpacking import split_starred
from thunkad.tangents import NoTangent, thunk

linear(default_bar, found_bar, items_bar, key_bars, split_starred_bar, values_bar)
non_differentiable(*(getattr(owner, name) for owner in (str, bytes) for name in dir(owner) if not name.startswith("_")))
non_differentiable(*(getattr(owner, name) for owner in (list, tuple, deque, range) for name in ("index", "count")))
non_differentiable(*(owner.__contains__ for owner in (dict, list, tuple, deque, set, frozenset, range, str)))
non_differentiable(*(owner.__len__ for owner in (dict, list, tuple, deque, set, frozenset, range, str)))


@alternative(operator.or_, types=(dict, dict))
def merged(a: Any, b: Any) -> Any:
    """``a | b`` of dicts."""
    return {**a, **b}


@alternative(dict.fromkeys)
def _(keys, value=None):
    return {key: value for key in keys}  # noqa: C420


@rrule(dict.get)
def _(self, key, default=None):
    y = dict.get(self, key, default)

    def pullback(y_bar):
        return thunk(lambda: found_bar(y_bar, self, key)), NoTangent(), thunk(lambda: default_bar(y_bar, self, key))

    return y, pullback


@frule(dict.get)
def _(self, key, default=None, *, self_dot, default_dot):
    return dict.get(self, key, default), found_dot(self, key, self_dot, default_dot)


@rrule(OrderedDict.items)
@rrule(dict.items)
def _(self):
    y = list(self.items())

    def pullback(y_bar):
        return (thunk(lambda: items_bar(y_bar, self)),)

    return y, pullback


@frule(OrderedDict.items)
@frule(dict.items)
def _(self, *, self_dot):
    return list(self.items()), items_dot(self_dot, self)


@rrule(OrderedDict.keys)
@rrule(dict.keys)
def _(self):
    y = self.keys()

    def pullback(y_bar):
        return (thunk(lambda: elements_bar(y_bar, self)),)

    return y, pullback


@frule(OrderedDict.keys)
@frule(dict.keys)
def _(self, *, self_dot):
    return self.keys(), elements_dot(self_dot, self)


@rrule(OrderedDict.values)
@rrule(dict.values)
def _(self):
    y = list(self.values())

    def pullback(y_bar):
        return (thunk(lambda: values_bar(y_bar, self)),)

    return y, pullback


@frule(OrderedDict.values)
@frule(dict.values)
def _(self, *, self_dot):
    return list(self.values()), values_dot(self_dot, self)


@rrule(OrderedDict.copy)
@rrule(dict.copy)
def _(self):
    y = self.copy()

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(OrderedDict.copy)
@frule(dict.copy)
def _(self, *, self_dot):
    return self.copy(), self_dot


@rrule(list.copy)
def _(self):
    y = list.copy(self)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(list.copy)
def _(self, *, self_dot):
    return list.copy(self), self_dot


@rrule(deque.copy)
def _(self):
    y = deque.copy(self)

    def pullback(y_bar):
        return (y_bar,)

    return y, pullback


@frule(deque.copy)
def _(self, *, self_dot):
    return deque.copy(self), self_dot


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
