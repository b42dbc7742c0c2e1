"""Values that share memory where they must not, refused when the code runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, UnsupportedSyntaxError
from thunkad.runtime.allocations import allocation_of
from thunkad.runtime.chosen import is_function
from thunkad.runtime.containers import CONTAINERS, DICTS
from thunkad.runtime.parts import fields_of
from thunkad.runtime.shadows import VALUES, shares


def must_differ(*args: Any) -> None:
    """Refuse arguments that are one object or share memory, where cotangents follow memory: they would share those,
    too."""
    seen: list[dict[int, list[Any]]] = []
    for a in args:
        own: dict[int, list[Any]] = {}
        _collect(a, own, set())
        for other in seen:
            for key in own.keys() & other.keys():
                if any(shares(x, *other[key]) for x in own[key]):
                    raise ArgumentError(
                        "two arguments share memory, and the function changes memory in place: "
                        "pass a copy of one of them"
                    )
        seen.append(own)


def _collect(x: Any, found: dict[int, list[Any]], seen: set[int]) -> None:
    """The arrays, lists, dicts and objects in ``x``, by the identity of what their memory belongs to."""
    if isinstance(x, VALUES) or x is None or isinstance(x, (str, type)) or id(x) in seen:
        return
    seen.add(id(x))
    root = allocation_of(x)
    found.setdefault(id(root), []).append(x)
    if isinstance(x, CONTAINERS):
        for part in x.values() if isinstance(x, dict) else x:
            _collect(part, found, seen)
    elif not isinstance(x, np.ndarray) and not is_function(x):
        for part in fields_of(x).values():
            _collect(part, found, seen)


def check_fresh(value: Any, *args: Any) -> None:
    """Refuse a call whose result shares memory with an argument where that memory is written in place."""
    for a in args:
        if shares(value, a):
            raise UnsupportedSyntaxError(
                "a function returns a view of its argument (or the argument itself), "
                "and that memory is written in place",
                hint="return a copy, or write the operation out where the memory is changed",
            )


def must_be_array(x: Any) -> None:
    """Refuse an in-place update of what was taken for an array and is a number."""
    if not isinstance(x, np.ndarray):
        raise UnsupportedSyntaxError(
            f"an in-place update of a value of type {type(x).__name__} that was taken for an array",
            hint="write x = x + y instead of x += y",
        )


def originals(value: Any, kept: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    """What a function selected from copies, ``kept``, as it would have selected it from what it was ``given``."""
    twins: dict[int, Any] = {}

    def note(copy: Any, own: Any) -> None:
        if copy is own:
            return
        twins[id(copy)] = own
        if type(copy) in (list, tuple):
            for c, o in zip(copy, own):
                note(c, o)
        elif type(copy) in DICTS:
            for key in copy:
                note(copy[key], own[key])

    for copy, own in zip(kept, given):
        note(copy, own)
    if type(value) is list and id(value) not in twins:
        return [twins.get(id(v), v) for v in value]
    return twins.get(id(value), value)
