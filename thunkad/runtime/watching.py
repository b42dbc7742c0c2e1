"""Whether a call has changed what it was given: looked at when the code runs, where its text does not say so."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad.errors import ArgumentError, ThunkadError, UnsupportedSyntaxError
from thunkad.runtime.allocations import allocation_of
from thunkad.runtime.half_done import note_half_done
from thunkad.runtime.held import held
from thunkad.runtime.parts import ATOMS, parts_of, within

_FIXED = (tuple, types.FunctionType, types.MethodType, functools.partial)


class Watch:
    """What values hold, to any depth: arrays by their numbers, all else by its parts."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.held: list[tuple[str, Any, Any]] = []
        for name, x in given.items():
            for part in within(x):
                before = part.copy() if isinstance(part, np.ndarray) else parts_of(part)
                self.held.append((name, part, before))

    def check(self, label: str) -> None:
        """Refuse a change by a function of this name that is run again in the reverse sweep."""
        changed = self.changed()
        if changed is not None:
            raise UnsupportedSyntaxError(
                f"a derivative of {label} inside a differentiated function, which runs it again in the reverse sweep: "
                f"it changes its argument, or captured variable, {changed!r} in place",
                hint="build new values instead",
            )

    def changed(self) -> str | None:
        """The name of a value that is not what it was; arrays are made what they were."""
        found = None
        for name, x, before in self.held:
            if isinstance(x, np.ndarray):
                if x.tobytes() != before.tobytes():
                    x[...] = before
                    found = found or name
                continue
            now = parts_of(x)
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before)):
                found = found or name
        return found


def memory(x: Any) -> set[int]:
    """The identities of the arrays, containers and objects in ``x``."""
    return {id(allocation_of(part)) for part in within(x) if not isinstance(part, _FIXED)}


def separate(x: Any, *others: Any) -> Any:
    """``x``, or a copy where it holds an array, a container or an object that one of the others holds."""
    own = memory(x)
    return x if all(own.isdisjoint(memory(other)) for other in others) else held(x)


class WatchCopies(Watch):
    """Several arguments that share memory, or copies of them."""

    def check(self) -> None:  # type: ignore[override]
        if self.changed() is not None:
            refuse_sharing()


def watch_copies(*given: tuple[Any, Any]) -> WatchCopies:
    """A watch over arguments, of which there are originals and what :func:`separate` made of them: where it copied."""
    copied = any(x is not made for x, made in given)
    return WatchCopies({str(k): made for k, (_, made) in enumerate(given)} if copied else {})


def refuse_sharing() -> None:
    """Refuse arguments of which two are, or hold, the same memory."""
    raise ArgumentError(
        "two arguments share memory, and the function changes memory in place: pass a copy of one of them"
    )


def refuse_shared(x: Any, *others: Any) -> None:
    """The same if ``x`` shares memory with one of the others."""
    if any(overlap(x, other) for other in others):
        refuse_sharing()


def refuse_shared_in(several: Any) -> None:
    """The same for what is in a ``*args`` or ``**kwargs``."""
    for x, y in itertools.combinations(several.values() if isinstance(several, dict) else several, 2):
        refuse_shared(x, y)


def watch_shared(*given: Any) -> WatchCopies:
    """A watch over arguments of which none was copied, where two of them share memory."""
    shared = any(overlap(x, y) for x, y in itertools.combinations(given, 2))
    return WatchCopies({str(k): x for k, x in enumerate(given)} if shared else {})


def overlap(x: Any, y: Any) -> bool:
    """Whether an array, a container, an object or the dictionary of its attributes is in both."""
    if type(x) is type(y) is np.ndarray and x.dtype != object and y.dtype != object:
        return x is y or _overlap(x, y)
    if isinstance(x, ATOMS) or isinstance(y, ATOMS):
        return False
    (ids, arrays), (others, other_arrays) = _parts(x), _parts(y)
    return not ids.isdisjoint(others) or any(_overlap(a, b) for a in arrays for b in other_arrays)


def _overlap(a: Any, b: Any) -> bool:
    try:
        return np.shares_memory(a, b, max_work=1000)
    except RuntimeError:  # too hard to tell
        return True


def _parts(x: Any) -> tuple[set[int], list[Any]]:
    ids: set[int] = set()
    arrays: list[Any] = []
    for part in within(x):
        if isinstance(part, np.ndarray):
            arrays.append(part)
        elif not isinstance(part, _FIXED):
            ids.add(id(part))
            fields = getattr(part, "__dict__", None)
            if isinstance(fields, dict):
                ids.add(id(fields))
    return ids, arrays


def apart(given: Iterable[Any]) -> list[Any]:
    """Values of which no two hold the same array, container or object: a later one is a copy where they do."""
    out: list[Any] = []
    for x in given:
        out.append(separate(x, *out))
    return out


def parted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with shadows of its own, by which what they share could not be told apart."""
    values = apart((*args, *kwargs.values()))
    return tuple(values[: len(args)]), dict(zip(kwargs, values[len(args) :]))


def unchanged(names: Any, given: dict[str, Any], call: Callable[[], Any], refuse: Callable[[str], Exception]) -> Any:
    """``call()``, which has to leave those of what is ``given`` that have these ``names`` as they are."""
    if not names:
        return call()
    watch = Watch({p: given[p] for p in names if p in given})
    try:
        found = call()
    except ThunkadError:
        raise
    except BaseException as error:
        if watch.changed() is not None:
            note_half_done("an operator or attribute", error)
        raise
    changed = watch.changed()
    if changed is not None:
        raise refuse(changed)
    return found
