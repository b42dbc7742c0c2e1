"""Linear maps on bundles: each tangent goes through the map as the value does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from thunkad.compiled.bundles import Args, Bundle, Found, Kwargs, linear, still, values
from thunkad.runtime.maps import applied, taken_back
from thunkad.tangents import NO_TANGENT, ZERO

F = TypeVar("F", bound=Callable[..., Any])


def push_map(push: Any, args: Args, kwargs: Kwargs) -> Bundle:
    (fn, *_), *given = args
    places = zip(*given)
    return tuple(ZERO if i and all(map(still, place)) else applied(fn, *place) for i, place in enumerate(places))


def pull_map(again: Any, args: Args, kwargs: Kwargs) -> Found:
    fn, *_ = values(args)
    return push_map(again, args, kwargs), linear(lambda bar: (NO_TANGENT, [NO_TANGENT, *taken_back(fn, bar)], {}))


def by_itself(on_bundles: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a rule that says what it is on bundles, see :mod:`thunkad.compiled.rules_again`."""

    def mark(rule: F) -> F:
        setattr(rule, "on_bundles", on_bundles)
        return rule

    return mark
