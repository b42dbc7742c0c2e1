"""The dicts of ``collections``."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping

from thunkad.rules.library import alternative, frule, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.containers import counted, counter, default_dict, ordered_dict
from thunkad.runtime.elements import default_dot, dict_bar, elements_bar, elements_dot, initial_bar
from thunkad.runtime.key_bars import key_bars
from thunkad.runtime.key_dots import dots_by_key
from thunkad.tangents import NoTangent, thunk

linear(initial_bar, default_dot)


@alternative(OrderedDict)
def ordered(given=(), /, **named):
    return ordered_dict({**dict(given), **named})


@alternative(defaultdict)
def with_default(factory=None, given=(), /, **named):
    return default_dict({**dict(given), **named}, factory)


@alternative(Counter)
def counts(given=None, /, **named):
    made = counter(dict(given)) if isinstance(given, Mapping) else counted(() if given is None else given)
    for key, count in named.items():
        made[key] = count + made.get(key, 0)
    return made


@alternative(Counter.update)
def update(self, given=None, /, **named):
    for key, count in ({} if given is None else given if isinstance(given, Mapping) else counted(given)).items():
        self[key] = count + self.get(key, 0)
    for key, count in named.items():
        self[key] = count + self.get(key, 0)


@alternative(Counter.most_common)
def most_common(self, n=None):
    pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
    return pairs if n is None else pairs[: max(n, 0)]


@alternative(Counter.total)
def total(self):
    return sum(self.values())


def copied(make):
    """The rules of a dict of another class with the same items."""

    @rrule(make)
    def _(mapping):
        y = make(mapping)

        def pullback(y_bar):
            return (thunk(lambda: dict_bar(y_bar, mapping)),)

        return y, pullback

    @frule(make)
    def _(mapping, *, mapping_dot):
        return make(mapping), mapping_dot if is_zero(mapping_dot) else dict(mapping_dot)


copied(ordered_dict)
copied(counter)


@rrule(counted)
def _(items):
    y = counted(items)

    def pullback(y_bar):
        return (thunk(lambda: elements_bar(key_bars(y_bar, tuple(items)), items)),)

    return y, pullback


@frule(counted)
def _(items, *, items_dot):
    return counted(items), dots_by_key(elements_dot(items_dot, items), items)


@rrule(default_dict)
def _(mapping, factory):
    y = default_dict(mapping, factory)

    def pullback(y_bar):
        return thunk(lambda: initial_bar(y_bar, mapping)), NoTangent()

    return y, pullback


@frule(default_dict)
def _(mapping, factory, *, mapping_dot):
    return default_dict(mapping, factory), default_dot(mapping_dot)
