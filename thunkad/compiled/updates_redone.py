"""Forward mode over :mod:`thunkad.compiled.updates`: changes of what is known only at run time, and their undoing.

A change is made to each tangent of ``x`` as it is to ``x``.  What undoes it in the reverse sweep moves cotangents from
place to place, which is the same for their tangents, or is the pullback of an operator, which has a derivative itself.
All is done on bundles, see :mod:`thunkad.compiled.bundles`.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from thunkad.compiled.bundles import Args, Bundle, Kwargs, constant, copied, named_values, values
from thunkad.compiled.own_classes import operator_methods
from thunkad.compiled.pull_again import Handed, PullAgain
from thunkad.compiled.push_updates import as_dense, changes_of_tangents, update_of_tangent
from thunkad.compiled.updates import OUT_OF_PLACE, PLAIN_SETTERS
from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import entry, index_add
from thunkad.runtime.dot_changes import set_entry, set_field
from thunkad.runtime.dots import entry_dot, field_dot
from thunkad.runtime.half_done import note_half_done
from thunkad.runtime.shadows import keep, take_stored, unless_cut
from thunkad.tangents import ZERO, AbstractZero, Tangent, unthunk


def undone(found: Bundle, run: Any) -> Bundle:
    """The bundle of the pair of what a change gives and what undoes it."""
    return tuple((v, Tangent(Handed, {"run": True}) if i else Handed(run)) for i, v in enumerate(found))


def update(again: PullAgain, op: Any, x: Bundle, v: Bundle) -> Bundle:
    """``x op= v``: the new ``x`` and what undoes it, ``undo(shadows, x_bar) -> (bar of the old x, bar of v)``."""
    found, run = _update(again, op, tuple(map(unthunk, x)), tuple(map(unthunk, v)))
    return undone(found, run)


def _update(again: PullAgain, op: Any, x: Bundle, v: Bundle) -> tuple[Bundle, Any]:
    before, pull = x[0], again.world.puller
    if isinstance(before, (*LISTS, dict)):
        more = v[0] if hasattr(v[0], "__len__") or isinstance(v[0], int) else list(v[0])
        more = list(more) if more is before else more
        dots = [update_of_tangent(op, before, t, more, dot) for t, dot in zip(x[1:], v[1:])]
        new, undo = pull.update(op, before, more)
        return (new, *dots), lambda shadows, bars: tuple(map(undo, shadows, bars))
    method = getattr(type(before), f"__{op.__name__}__", None)
    if isinstance(method, types.FunctionType):
        found, run_method = _by_own_operator(again, method, x, v)
        if found[0] is not NotImplemented:
            return found, run_method
    if operator_methods(OUT_OF_PLACE[op], (before, v[0])) != (None, None):
        return _by_own_operator(again, OUT_OF_PLACE[op], x, v)
    if not isinstance(before, (float, int, complex, np.ndarray, np.generic)):
        raise _refused(before)
    found, made = _operate(again, op, copied(x), copied(v))
    if isinstance(before, np.ndarray):
        new = op(before, v[0])
        for t, dot in zip(x[1:], found[1:]):
            if isinstance(t, np.ndarray):
                t[...] = _number(dot)
            elif not isinstance(dot, AbstractZero):
                raise _refused(before)
        found = (new, *x[1:])

    def run(shadows: Bundle, bars: Bundle) -> Bundle:
        if isinstance(found[0], np.ndarray):
            bars = tuple(s.of(found[0]).copy() for s in shadows)
        parts = _pulled(made, bars)
        if not isinstance(before, np.ndarray):
            return parts
        for s, (bar, _) in zip(shadows, parts):
            s.of(before)[...] = _number(bar)
        return tuple((ZERO, bar) for _, bar in parts)

    return found, run


def _by_own_operator(again: PullAgain, method: Any, x: Bundle, v: Bundle) -> tuple[Bundle, Any]:
    """An operator of the user's, which may keep, return or change what it is given."""
    found, inner = called(again, method, (x, v), {})
    return found, lambda shadows, bars: tuple(tuple(own) for own, _ in inner(shadows, bars))


def update_entry(again: PullAgain, op: Any, x: Bundle, key: Any, v: Bundle) -> Bundle:
    """``x[key] op= v``: what undoes it, ``undo(shadows) -> bar of v``."""
    owner = x[0]
    if isinstance(owner, np.ndarray):
        return _element(again, op, x, keep(key), v)
    _refuse_own_code(owner, "__setitem__", PLAIN_SETTERS)
    old = owner[key]
    new, undo = _update(again, op, (old, *(entry_dot(t, key, old) for t in x[1:])), v)
    for t, dot in zip(x[1:], new[1:]):
        set_entry(t, key, dot, owner, new[0])
    owner[key] = new[0]
    return _at(owner, key + len(owner) if isinstance(owner, LISTS) and key < 0 else key, undo, len(x))


def update_attribute(again: PullAgain, op: Any, x: Bundle, name: str, v: Bundle) -> Bundle:
    """``x.name op= v``: what undoes it, ``undo(shadows) -> bar of v``."""
    owner = x[0]
    if type(owner) is not types.SimpleNamespace:
        _refuse_own_code(owner, "__setattr__", (object.__setattr__,))
    if isinstance(owner, np.ndarray) or isinstance(getattr(type(owner), name, None), property):
        raise _refused(owner)
    old = getattr(owner, name)
    new, undo = _update(again, op, (old, *(field_dot(t, name, owner, old) for t in x[1:])), v)
    for t, dot in zip(x[1:], new[1:]):
        set_field(t, name, dot, owner, new[0])
    setattr(owner, name, new[0])
    return _at(owner, name, undo, len(x))


def _at(owner: Any, place: Any, undo: Any, count: int) -> Bundle:
    """What undoes the update of what ``owner`` has at a place."""

    def run(shadows: Bundle) -> Bundle:
        parts = undo(shadows, tuple(s.take_entry(owner, place) for s in shadows))
        for s, (bar, _) in zip(shadows, parts):
            s.add_slot(owner, place, bar)
        return tuple(bar for _, bar in parts)

    return _handed(run, count)


def _element(again: PullAgain, op: Any, x: Bundle, key: Any, v: Bundle) -> Bundle:
    owner, other = x[0], copied(v)
    old = (owner[key], *(entry_dot(t, key, owner[key]) for t in x[1:]))
    found, made = _operate(again, op, copied(old), other)
    owner[key] = op(owner[key], v[0])
    for t, dot in zip(x[1:], found[1:]):
        set_entry(t, key, dot, owner, old[0])

    def run(shadows: Bundle) -> Bundle:
        parts = _pulled(made, tuple(unless_cut(take_stored(s.of(owner), key), owner, other[0]) for s in shadows))
        for s, (bar, _) in zip(shadows, parts):
            if not isinstance(bar, AbstractZero):
                index_add(s.of(owner), key, bar)
        return tuple(bar for _, bar in parts)

    return _handed(run, len(x))


def change(again: PullAgain, x: Bundle, name: str, args: Args, kwargs: Kwargs) -> Bundle:
    """``x.name(*args, **kwargs)``: its value and ``undo(shadows, bar) -> bars of the arguments, of the keywords``."""
    owner = x[0]
    method = getattr(type(owner), name, None)
    if not isinstance(method, types.FunctionType):
        dots = changes_of_tangents((owner, *map(unthunk, x[1:])), name, args, kwargs)
        value, undo = again.world.puller.change(owner, name, values(args), named_values(kwargs))
        found = (value, *(as_dense(t, value) for t in dots))
        return undone(found, lambda shadows, bars: tuple(map(undo, shadows, bars)))
    found, inner = called(again, method, (x, *args), kwargs)

    def run(shadows: Bundle, bars: Bundle) -> Bundle:
        out = []
        for s, (own, named) in zip(shadows, inner(shadows, bars)):
            s.add(owner, own[0])
            out.append((own[1:], named))
        return tuple(out)

    return undone(found, run)


def called(again: PullAgain, method: Any, args: Args, kwargs: Kwargs) -> tuple[Bundle, Any]:
    """A method of the user's that may change what it is given, and what undoes that."""
    raised: list[BaseException] = []
    shared = again.world.dispatch_shared.taking_note(raised)
    found, back = again.whole(shared, constant(method, args[0]), args, kwargs)
    for error in raised:
        note_half_done(method.__qualname__, error)
        raise error

    def run(shadows: Bundle, bars: Bundle) -> list[Any]:
        parts = back(tuple(s.number_part(found[0], bar) for s, bar in zip(shadows, bars)), shadows)
        none = [ZERO] * len(args), dict.fromkeys(kwargs, ZERO)
        return [none if isinstance(p, AbstractZero) else (p[1], p[2]) for p in parts]

    return found, run


def _handed(run: Any, count: int) -> Bundle:
    return (Handed(run), *(Tangent(Handed, {"run": True}) for _ in range(count - 1)))


def _operate(again: PullAgain, op: Any, x: Bundle, v: Bundle) -> tuple[Bundle, Handed]:
    """``x op v`` and its pullback."""
    found = again.call(again.world.puller, constant(OUT_OF_PLACE[op], x), (0, 1), (x, v), {})
    return tuple(value for value, _ in found), found[0][1]


def _pulled(made: Handed, bars: Bundle) -> Bundle:
    return tuple((entry(p, 0), entry(p, 1)) for p in made.run(tuple(map(unthunk, bars))))


def _number(bar: Any) -> Any:
    return 0.0 if isinstance(bar, AbstractZero) else bar


def _refuse_own_code(x: Any, method: str, plain: tuple[Any, ...]) -> None:
    if getattr(type(x), method, None) not in plain:
        raise _refused(x)


def _refused(x: Any) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"a second derivative through an update in place of a {type(x).__name__} that is known only when the code runs "
        "is not supported",
        hint="write x = x + y instead of x += y",
    )
