"""Attributes and fields of objects in run-time dispatch of reverse mode, on bundles.

See :mod:`thunkad.compiled.own_classes`; ``again`` is :class:`thunkad.compiled.pull_again.PullAgain`.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from thunkad.analysis.stand_ins import is_made_anew
from thunkad.compiled.bundles import (
    Args,
    Bundle,
    Found,
    Kwargs,
    at_places,
    constant,
    linear,
    named_values,
    rearranged,
    values,
)
from thunkad.compiled.own_classes import attribute_call, pull_fields, push_fields
from thunkad.compiled.shared import is_plain_attribute
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.cotangents import field_tangent
from thunkad.runtime.dot_changes import set_field
from thunkad.runtime.dots import field_dot
from thunkad.runtime.shadows import VALUES
from thunkad.tangents import NO_TANGENT, ZERO


def attribute(again: Any, pull: Any, shared: bool, fn: Bundle, args: Args) -> Found:
    """``getattr`` and ``setattr``"""
    x, name, *rest = args
    others = [NO_TANGENT] * (len(args) - 1)
    if shared and is_plain_attribute(x[0], name[0], fn[0] is setattr):
        return plain_attribute(fn, x, name[0], rest)
    if fn[0] is setattr:
        found = inspect.getattr_static(type(x[0]), name[0], None)
        if not isinstance(found, property) or found.fset is None:
            pull.by_kind(setattr, values(args), {})  # raises
        value, inner = again.whole(pull, constant(found.fset, fn), (x, rest[0]), {})  # type: ignore[union-attr]
        return value, rearranged(inner, lambda parts: (NO_TANGENT, [parts[1][0], NO_TANGENT, parts[1][1]], {}))
    if isinstance(x[0], (np.ndarray, np.generic)) and again.world.array_attribute(name[0]) is not None:
        found, back = again.whole(pull, constant(again.world.array_attribute(name[0]), fn), (x,), {})
        return found, rearranged(back, lambda parts: (NO_TANGENT, [parts[1][0], *others], {}))
    computed = attribute_call(values(args))
    if computed is not None:
        function, given, place = computed
        passed = tuple(x if k == place else constant(v, x) for k, v in enumerate(given))
        try:
            found, back = again.whole(pull, constant(function, fn), passed, {})
            return found, rearranged(back, lambda parts: (NO_TANGENT, [parts[1][place], *others], {}))
        except AttributeError:
            if not rest:
                raise
    elif not rest or hasattr(x[0], name[0]):
        value = getattr(x[0], name[0])
        dots = (field_dot(t, name[0], x[0], value) for t in x[1:])
        return (value, *dots), linear(lambda bar: (NO_TANGENT, [field_tangent(x[0], name[0], bar), *others], {}))
    return rest[0], linear(lambda bar: (NO_TANGENT, [ZERO, NO_TANGENT, bar], {}))


def plain_attribute(fn: Bundle, x: Bundle, name: str, rest: list[Bundle]) -> Found:
    owner = x[0]
    if fn[0] is getattr:
        value = getattr(owner, name)
        dots = tuple(field_dot(t, name, owner, value) for t in x[1:])
        others = [NO_TANGENT] * (1 + len(rest))

        def back(bars: Bundle, shadows: Any) -> list[Any]:
            for bar, s in zip(bars, shadows):
                s.add_entry(owner, name, value, bar)
            return [(NO_TANGENT, [ZERO, *others], {})] * len(bars)

        return (value, *dots), back
    for t, dot in zip(x[1:], rest[0][1:]):
        set_field(t, name, dot, owner, rest[0][0])
    setattr(owner, name, rest[0][0])
    number = isinstance(rest[0][0], VALUES)

    def undo(bars: Bundle, shadows: Any) -> list[Any]:
        taken = [s.take_entry(owner, name) for s in shadows]
        return [(NO_TANGENT, [ZERO, NO_TANGENT, t if number else ZERO], {}) for t in taken]

    return constant(None, fn), undo


def by_fields(again: Any, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
    given, named = values(args), named_values(kwargs)
    if is_made_anew(fn[0], given):
        raise UnsupportedSyntaxError(
            f"a second derivative through {fn[0].__name__}(), which runs code of the class,",
            hint="make the object by its class",
        )
    found = pull_fields(again.world.puller, fn[0], given, named)
    assert found is not None
    value, back = found
    dots = []
    for own, own_named in at_places(args, kwargs, len(fn)):
        both = push_fields(again.world.forwarding.pusher, fn[0], given, own, named, own_named)
        assert both is not None
        dots.append(both[1])
    return (value, *dots), linear(back)
