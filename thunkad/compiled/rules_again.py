"""Rules in run-time dispatch of reverse mode, on bundles.

The pullback of a rule of the library is the derivation of its function; a rule of the user's that can't be pasted is
differentiated itself.  A rule that takes derivatives may say what it is on bundles: its attribute ``on_bundles``
(``root`` has such rules).  ``again`` is :class:`thunkad.compiled.pull_again.PullAgain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.compiled.bundles import (
    Args,
    Bundle,
    Found,
    Kwargs,
    constant,
    copied,
    dense_in,
    linear,
    moves,
    values,
)
from thunkad.compiled.own_classes import operator_methods
from thunkad.errors import UnsupportedSyntaxError
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.results import cotangents, value_and_pullback
from thunkad.rules.template import template_of
from thunkad.runtime.cotangents import entry
from thunkad.runtime.dots import view_like
from thunkad.runtime.shadows import shares
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, unthunk


def rule_of_library(
    again: Any, pull: Any, rule: Entry, fn: Bundle, args: Args, kwargs: Kwargs, value: Any, back: Any
) -> Found:
    """A rule whose pullback is the derivation of its function."""
    if not any(map(moves, (*args, *kwargs.values()))):
        return constant(value, fn), linear(back)
    given = values(args)
    dots = list(again.world.forwarding.pushed_again.whole(fn, args, kwargs)[1:])
    for a in args:
        if shares(value, a[0]) and isinstance(value, np.ndarray):
            dots = [view_like(t, value, a[0], own) for t, own in zip(dots, a[1:])]
            break
    if joins(fn[0], given):
        return (value, *dots), linear(back)
    if pull.kept:
        held, held_named = tuple(map(copied, args)), {k: copied(v) for k, v in kwargs.items()}
    else:
        held, held_named = args, kwargs

    def pullback(bars: Bundle, _: Any) -> list[Any]:
        bars = (dense_in(bars[0], value), *bars[1:])
        return again.nested.cotangents(fn, held, held_named, bars)

    return (value, *dots), pullback


def rule_itself(again: Any, pull: Any, rule: Entry, fn: Bundle, args: Args, kwargs: Kwargs) -> Found:
    """A rule that is called as it stands: forward mode over its value, and later over its pullback."""
    name = name_of(rule.target)
    on_bundles = getattr(rule.function, "on_bundles", None)
    if on_bundles is not None:
        return on_bundles(again, tuple(map(copied, args)) if pull.kept else args, kwargs)  # type: ignore[no-any-return]
    if getattr(rule.function, "first_order_only", False):
        raise UnsupportedSyntaxError(
            f"a second derivative through {name}, whose rule is numerical, is not supported",
            hint="write a rule for it with thunkad.rrule",
        )
    if rule.wants_ad():
        raise UnsupportedSyntaxError(
            f"a second derivative through {name}, whose rule takes derivatives itself, is not supported",
            hint="opt out of the rule (thunkad.opt_out), so that the function itself is looked into",
        )
    if kwargs:
        raise UnsupportedSyntaxError(
            f"a second derivative through {name}, whose rule is called when the code runs, is not supported",
            hint="call the function by its name, with positional arguments",
        )
    if pull.kept:
        args = tuple(map(copied, args))
    push = again.world.forwarding.pushed_again
    both = push.function(constant(rule.function, fn), args, {})
    if both[0] is None:
        raise UnsupportedSyntaxError(f"a second derivative through {name}, whose rule says None")
    value, inner = value_and_pullback(rule, both[0])
    found = (value, *(dense_in(entry(t, 0), value) for t in both[1:]))
    pullback = (inner, *(entry(t, 1) for t in both[1:]))

    def back(bars: Bundle, shadows: Any) -> list[Any]:
        bars = (dense_in(bars[0], value), *bars[1:])
        return [by_place(rule, values(args), p) for p in push.whole(pullback, (bars,), {})]

    return found, back


def joins(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn`` is an operator on sequences: it puts their entries together."""
    return (
        getattr(fn, "__module__", None) == "_operator"
        and any(isinstance(a, (list, tuple)) for a in args)
        and operator_methods(fn, args) == (None, None)
    )


def is_as_it_stands(rule: Entry) -> bool:
    """Whether a rule is differentiated itself: one of the user's, or one that takes derivatives, that isn't pasted."""
    if hasattr(rule.function, "on_bundles"):
        return True
    return (rule.layer == "user" or rule.wants_ad()) and template_of(rule) is None


def by_place(rule: Entry, args: tuple[Any, ...], parts: Any) -> Any:
    """What the pullback of a rule gave, by the places of the call."""
    if isinstance(parts, AbstractZero):
        return ZERO
    flat: list[Any] = []
    positional = [p for p in rule.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
    for p, found in zip(positional, cotangents(rule, parts)):
        flat.extend(unthunk(found)) if p.kind is p.VAR_POSITIONAL else flat.append(found)
    flat += [NO_TANGENT] * (len(args) - len(flat))
    return NO_TANGENT, flat[: len(args)], {}
