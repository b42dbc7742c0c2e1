"""The dicts of ``collections``."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict

from thunkad.rules.library import alternative, frule, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.containers import default_dict, ordered_dict
from thunkad.runtime.elements import default_dot, dict_bar, initial_bar
from thunkad.tangents import NoTangent, thunk

linear(initial_bar, default_dot)


@alternative(OrderedDict)
def ordered(given=(), /, **named):
    return ordered_dict({**dict(given), **named})


@alternative(defaultdict)
def with_default(factory=None, given=(), /, **named):
    return default_dict({**dict(given), **named}, factory)


@alternative(Counter.most_common)
def most_common(self, n=None):
    pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
    return pairs if n is None else pairs[: max(n, 0)]


@alternative(Counter.total)
def total(self):
    return sum(self.values())


@rrule(ordered_dict)
def _(mapping):
    y = ordered_dict(mapping)

    def pullback(y_bar):
        return (thunk(lambda: dict_bar(y_bar, mapping)),)

    return y, pullback


@frule(ordered_dict)
def _(mapping, *, mapping_dot):
    return ordered_dict(mapping), mapping_dot if is_zero(mapping_dot) else dict(mapping_dot)


@rrule(default_dict)
def _(mapping, factory):
    y = default_dict(mapping, factory)

    def pullback(y_bar):
        return thunk(lambda: initial_bar(y_bar, mapping)), NoTangent()

    return y, pullback


@frule(default_dict)
def _(mapping, factory, *, mapping_dot):
    return default_dict(mapping, factory), default_dot(mapping_dot)
