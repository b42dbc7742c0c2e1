"""The mark of a checkpointed loop, where it stands in differentiated code."""

from __future__ import annotations

from thunkad.rules.library import frule, non_differentiable, rrule
from thunkad.rules.linear import linear
from thunkad.runtime.segments import checkpointed, listed_bar, listed_dot, segments
from thunkad.tangents import NoTangent, thunk

non_differentiable(segments)
linear(listed_bar, listed_dot)


@rrule(checkpointed)
def _(iterable, every=None):
    y = checkpointed(iterable, every)

    def pullback(y_bar):
        return thunk(lambda: listed_bar(y_bar, y, iterable)), NoTangent()

    return y, pullback


@frule(checkpointed)
def _(iterable, every=None, *, iterable_dot):
    y = checkpointed(iterable, every)
    return y, listed_dot(iterable_dot, y, iterable)
