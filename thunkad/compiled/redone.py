"""Run-time dispatch differentiated again: forward mode over calls of ``pull``, of its pullbacks, and of ``push``.

What such a call does is known, and the dispatcher's own code is never looked at: forward mode over ``push`` is forward
mode of one order more over what ``push`` is given.  So the layers of ``push`` are taken off first; what is inside them
is called on bundles (see :mod:`thunkad.compiled.bundles`).
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from thunkad.compiled import push_updates, updates_redone
from thunkad.compiled.bundles import Args, Bundle, Kwargs, constant, unpacked, unpacked_named
from thunkad.compiled.dynamic import Pull
from thunkad.compiled.pull_again import Handed
from thunkad.compiled.push import Push
from thunkad.compiled.shared import NotingPull
from thunkad.runtime.cotangents import entry
from thunkad.tangents import ZERO, AbstractZero, unthunk

#: The code of what ``Pull.call`` and ``Pull.packed`` return.
_PULLBACKS = {
    code
    for made_by in (Pull.call, Pull.packed)
    for code in made_by.__code__.co_consts
    if isinstance(code, types.CodeType) and code.co_name == "pullback"
}


class Redone:
    """See the module's docstring; one for each world."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def push(self, fn: Any, fn_dot: Any, args: Any, arg_dots: Any, kwargs: Any, kwarg_dots: Any) -> Any:
        """Forward mode over a method of a dispatcher, or over what one returned: the value and its tangent."""
        bundles = tuple(zip(args, arg_dots))
        named = {k: (v, kwarg_dots.get(k, ZERO)) for k, v in kwargs.items()}
        found = self.run((fn, fn_dot), bundles, named)
        return found[0], found[1]

    def knows(self, fn: Any) -> bool:
        """Whether ``fn`` is a part of the run-time dispatch."""
        if isinstance(fn, types.FunctionType):
            return fn.__code__ in _PULLBACKS
        return isinstance(fn, Handed) or (isinstance(fn, types.MethodType) and isinstance(fn.__self__, (Pull, Push)))

    def run(self, fn: Bundle, args: Args, kwargs: Kwargs) -> Bundle:
        """The same on bundles of any order."""
        f, forwarding = fn[0], self.world.forwarding
        if isinstance(f, Handed):
            return f.run(*args) if len(args) > 1 else where_it_moves(fn, f.run, *args)
        if isinstance(f, types.FunctionType):  # of a call in which nothing moved
            return where_it_moves(fn, lambda bars: (f(bars[0]),), *args)
        where, what = f.__func__.__qualname__.split(".")
        if where in ("Push", "SharedPush"):
            if what == "call":
                again = forwarding.pushed_again_shared if where == "SharedPush" else forwarding.pushed_again
                return paired(again.whole(*layer(*args, kwargs=kwargs)), len(fn))
            return self.push_change(what, args)
        if what.startswith("noting"):
            noting, packed = NotingPull(self.world, args[0][0]), what == "noting_packed"
            return self.pulled(noting.packed if packed else noting.call, args[1:], kwargs)
        if what in ("call", "packed"):
            return self.pulled(f, args, kwargs)
        again = forwarding.pulled_again
        if what == "change":
            x, name, given, named = args
            return updates_redone.change(again, x, name[0], unpacked(given), unpacked_named(named))
        if what == "update":
            return updates_redone.update(again, args[0][0], *args[1:])
        op, x, key, v = args
        return getattr(updates_redone, what)(again, op[0], x, key[0], v)  # type: ignore[no-any-return]

    def push_change(self, what: str, args: Args) -> Bundle:
        """A change that ``push`` makes, whose own direction is the first."""
        push, count = self.world.forwarding.pushed_again, len(args[0])
        if what == "change":
            x, x_dot, name, given, given_dots, named, named_dots = args
            own, by_name = unpacked(given), unpacked_named(named)
            dots = tuple(part_of(given_dots, k) for k in range(len(own)))
            found = push_updates.change(
                push, interleaved(x, x_dot), name[0], tuple(map(interleaved, own, dots)),
                {k: interleaved(v, part_of(named_dots, k)) for k, v in by_name.items()},
            )  # fmt: skip
            return paired(found, count)
        if what == "update":
            op, x, x_dot, v, v_dot = args
            found = push_updates.update(push, op[0], interleaved(x, x_dot), interleaved(v, v_dot))
            return paired(found, count)
        op, x, x_dot, key, v, v_dot = args
        getattr(push_updates, what)(push, op[0], interleaved(x, x_dot), key[0], interleaved(v, v_dot))
        return constant(None, args[0])

    def pulled(self, f: Any, args: Args, kwargs: Kwargs) -> Bundle:
        """A call of ``pull``."""
        pull, again = f.__self__.within(self.world), self.world.forwarding.pulled_again
        if f.__func__.__name__ == "packed":
            return again.packed(pull, *args)  # type: ignore[no-any-return]
        return again.call(pull, args[0], args[1][0], args[2:], kwargs)  # type: ignore[no-any-return]


def where_it_moves(fn: Bundle, run: Callable[[Bundle], Bundle], bars: Bundle) -> Bundle:
    """A pullback on a bundle of cotangents: it is linear, so a direction in which it does not move goes through it."""
    directions = [2**k for k in range(len(fn).bit_length() - 1)]
    still = [d for d in directions if isinstance(fn[d], AbstractZero)]
    if not still:
        return run(bars)
    out: list[Any] = [ZERO] * len(fn)
    aside = [p for p in range(len(fn)) if not p & sum(still)]
    for base in (p for p in range(len(fn)) if not p & ~sum(still)):
        places = [base | p for p in aside]
        given = tuple(unthunk(bars[p]) for p in places)
        if base == 0 or not all(isinstance(b, AbstractZero) for b in given):
            for p, found in zip(places, run(given)):
                out[p] = found
    return tuple(out)


def layer(fn: Bundle, fn_dot: Bundle, dots: Bundle, named_dots: Bundle, *given: Bundle, kwargs: Kwargs) -> Any:
    """What ``push`` is given, as bundles of one order more: its own direction is the first."""
    found = tuple(interleaved(x, part_of(dots, k)) for k, x in enumerate(given))
    return interleaved(fn, fn_dot), found, {k: interleaved(v, part_of(named_dots, k)) for k, v in kwargs.items()}


def part_of(dots: Bundle, key: Any) -> Bundle:
    """The entry ``key`` of a tuple or a dict of tangents, in which it may be missing."""
    first = dots[0].get(key, ZERO) if isinstance(dots[0], dict) else entry(dots[0], key)
    return (first, *(entry(t, key) for t in dots[1:]))


def interleaved(x: Bundle, dot: Bundle) -> Bundle:
    """The bundle of a value and of its tangent as one: the lowest digit of a place is the direction of the tangent."""
    return tuple(t for both in zip(x, dot) for t in both)


def paired(found: Bundle, count: int) -> Bundle:
    """The bundle of a pair (value, tangent) from that of the value, in which the tangent is the lowest digit."""
    return tuple((found[2 * i], found[2 * i + 1]) for i in range(count))
