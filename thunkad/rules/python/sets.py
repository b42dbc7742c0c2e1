"""Sets of objects: made of an iterable, and put together by methods and operators."""

from __future__ import annotations

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.elements import elements_dot
from thunkad.runtime.sets import set_bar, set_dots, set_of, without_objects
from thunkad.tangents import NoTangent, thunk

linear(set_bar)
for _set in (set, frozenset):
    non_differentiable(_set.issubset, _set.issuperset, _set.isdisjoint)


def _method(name):
    """A method that makes a set of sets and other iterables: of what is no object, which nothing is known of then."""

    def made(self, *others):
        return without_objects(getattr(self, name)(*others), name)

    for owner in (set, frozenset):

        @rrule(getattr(owner, name))
        def _(self, *others):
            y = made(self, *others)

            def pullback(y_bar):
                return (NoTangent(), *(NoTangent() for _ in others))

            return y, pullback

        @frule(getattr(owner, name))
        def _(self, *others, self_dot, others_dot):
            return made(self, *others), NoTangent()


for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
    _method(_name)


@rrule(set)
def _(iterable=()):
    y = set_of(set, iterable)

    def pullback(y_bar):
        return (thunk(lambda: set_bar(y_bar, y, iterable)),)

    return y, pullback


@frule(set)
def _(iterable=(), *, iterable_dot):
    return set_of(set, iterable), set_dots(iterable, elements_dot(iterable_dot, iterable))


@rrule(frozenset)
def _(iterable=()):
    y = set_of(frozenset, iterable)

    def pullback(y_bar):
        return (thunk(lambda: set_bar(y_bar, y, iterable)),)

    return y, pullback


@frule(frozenset)
def _(iterable=(), *, iterable_dot):
    return set_of(frozenset, iterable), set_dots(iterable, elements_dot(iterable_dot, iterable))
