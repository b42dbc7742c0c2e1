"""Objects that outlive the call, and are written into and read by it: followed as if they were arguments.

A derivative is compiled as if there were none.  Where it turns out that what is differentiated is put into such an
object, and read again, or may be by what is found only when the code runs, it is compiled once more: the names that
lead to the object are attributes of one that functions share (:class:`thunkad.runtime.variables.Outside`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from thunkad.analysis.outside_spots import within
from thunkad.compiled.build import Key, Specialization, build
from thunkad.compiled.dynamic import is_nested
from thunkad.compiled.outside import Caution, OutlivesError
from thunkad.compiled.variables import found_changing
from thunkad.compiled.world import World
from thunkad.errors import ThunkadError, UnsupportedSyntaxError
from thunkad.runtime.marks import derivative_of

#: A derivative that follows these objects; the second argument: because of what may be found when the code runs.
Build = Callable[[tuple[Any, ...] | None, bool], Specialization]


def built(fn: Any, key: Key, world_of: Callable[[], World]) -> Specialization:
    """One derivative, compiled in a world that ``world_of`` makes, perhaps in several attempts."""
    worlds: list[World] = []

    def attempt(followed: tuple[Any, ...] | None, cautious: bool = False) -> Specialization:
        worlds.append(world_of())
        worlds[-1].followed, worlds[-1].outside.follows = followed, followed is not None and not cautious
        worlds[-1].outside.caution = Caution() if cautious else None
        with worlds[-1].lock:
            return build(fn, worlds[-1], key)

    try:
        made = attempt(None)
    except OutlivesError as error:
        if not can_be(error.objects):
            raise
        return following(attempt, error.objects)
    except UnsupportedSyntaxError:
        written = worlds[-1].outside.written()
        if not written or key.places is not None or not can_be(written):
            raise
        try:
            return following(attempt, written)
        except ThunkadError:
            pass
        raise
    world = made.world
    late = (world.is_dynamic or world.outside.undecided) and not takes_derivatives(world)
    if late and world.keeps and world.began_with is not None and key.places is None:
        objects = found_changing(*world.began_with, world.keeping.may_change)
        if objects and can_be(objects):
            try:
                return following(attempt, objects, True)
            except ThunkadError:
                pass  # it can't be followed: what is left there is warned of
    return made


def takes_derivatives(world: World) -> bool:
    """Whether the program takes derivatives itself: those run functions anew, without what others share.

    The derivative that is differentiated here is none of these.
    """
    begun = None if world.began_with is None else world.began_with[0]
    found = (question.fn for record in world.records for question in record if is_nested(question.fn))
    return any(begun is None or getattr(derivative_of(fn), "f", None) is not begun for fn in found)


def can_be(objects: tuple[Any, ...]) -> bool:
    """Whether ``objects`` can be followed.

    That is not so where properties remember in them what they have given, which generated code computes each time,
    and where two of them share the dictionary of their attributes.
    """
    parts = {id(x): x for held in objects for x in within(held, True)}.values()
    members = (v for cls in set(map(type, parts)) for base in cls.__mro__ for v in vars(base).values())
    dictionaries = [id(x.__dict__) for x in parts if isinstance(getattr(x, "__dict__", None), dict)]
    remember = any(isinstance(v, functools.cached_property) for v in members)
    return not remember and len(dictionaries) == len(set(dictionaries))


def following(attempt: Build, objects: tuple[Any, ...], cautious: bool = False) -> Specialization:
    """The derivative that follows ``objects``, and those that turn out to belong to them."""
    while True:
        try:
            return attempt(objects, cautious)
        except OutlivesError as error:
            known = set(map(id, objects))
            new = tuple(x for x in error.objects if x is not None and id(x) not in known)
            if not new:
                raise
            objects += new
