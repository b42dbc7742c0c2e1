"""Values that a call of a derivative leaves in lists, dicts and objects: who reads them in a later call is warned.

There they count as constants.  What was left is remembered by the identities of the container and of the value, for as
long as somebody else holds the container; so however the container is found again, it is known.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad.errors import KeptValueWarning, UnsupportedSyntaxError
from thunkad.runtime.parts import fields_of, within
from thunkad.runtime.variables import level_of_user

_NUMBERS = (float, complex, np.generic, np.ndarray)
_ITEMS = (list, tuple, set, frozenset, deque)
_NOTHING: frozenset[str] = frozenset()
_SLACK = 64  # values of a container that are remembered although they may be gone from it


class _Left:
    """A container, and the call in which each value (by identity) was left in it."""

    __slots__ = ("calls", "container")

    def __init__(self, container: Any) -> None:
        try:
            self.container: Any = weakref.ref(container)
        except TypeError:
            self.container = container  # a list or dict, which :func:`_purge` lets go of
        self.calls: dict[int, tuple[int, Any]] = {}  # with what keeps a number's identity, or tells it of an array's

    def of(self) -> Any:
        return self.container() if type(self.container) is weakref.ref else self.container

    def call_of(self, value: Any) -> int | None:
        """The call in which ``value`` was left, if it was."""
        call, kept = self.calls.get(id(value), (None, None))
        return None if type(kept) is weakref.ref and kept() is not value else call

    def note(self, container: Any, value: Any, call: int) -> None:
        self.calls[id(value)] = call, weakref.ref(value) if isinstance(value, np.ndarray) else _held(value)
        if len(self.calls) > _SLACK:
            now = _contents(container)
            if len(self.calls) > _SLACK + 2 * len(now):
                self.calls = {k: self.calls[k] for k in {id(value), *map(id, now)} if k in self.calls}


class _State(threading.local):
    call = 0  # the number of the derivative's call that is running, which no other thread uses
    depth = 0
    told: frozenset[str] = frozenset()  # what the user was warned of in this call
    given: frozenset[int] = frozenset()  # the identities of the arguments that are differentiated
    found: dict[tuple[int, int], Any] = {}  # numbers that nobody has left where this call has found them


_state = _State()
_numbers = iter(range(1, sys.maxsize))
_left: dict[int, _Left] = {}
_limit = 256


def _store(container: Any) -> Any:
    """What two names of the same container have in common: the dictionary of an object's attributes, which others
    may have as well."""
    if isinstance(container, (dict, *_ITEMS)):
        return container
    fields = getattr(container, "__dict__", None)
    return fields if isinstance(fields, dict) else container


def _entry(container: Any) -> _Left | None:
    found = _left.get(id(container))
    return found if found is not None and found.of() is container else None


def _contents(container: Any) -> Any:
    if isinstance(container, dict):
        return container.values()
    return container if isinstance(container, _ITEMS) else fields_of(container).values()


def _purge() -> None:
    """Forget the containers that nobody else holds any more."""
    global _limit
    for key, entry in list(_left.items()):
        if entry.of() is None or sys.getrefcount(entry.container) <= 2:  # ours, and that of the count itself
            del _left[key]
    _limit = max(256, 2 * len(_left))


def note_left(container: Any, value: Any) -> None:
    """Remember that ``value``, which is differentiated, was put into ``container``."""
    if isinstance(container, np.ndarray) or not _is_number(value):
        return  # what an object holds was noted when it was put there
    container = _store(container)
    if (id(container), id(value)) in _state.found:
        return  # it was there before, and is put back
    entry = _entry(container)
    if entry is None:
        if len(_left) >= _limit:
            _purge()
        entry = _left[id(container)] = _Left(container)
    entry.note(container, value, _state.call)


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) or (isinstance(value, tuple) and any(map(_is_number, value)))


def _held(value: Any) -> Any:
    return None if isinstance(value, tuple) else value


def note_constant(container: Any, value: Any) -> None:
    """Remember that a number of the program's text was put into ``container``; another one may have been the same."""
    entry = _entry(_store(container))
    if entry is not None:
        entry.calls.pop(id(value), None)


def note_made(container: Any) -> None:
    """The same for all that is in a list, dict or tuple that was just made."""
    for value in _contents(container) if isinstance(container, (list, dict, tuple)) else ():
        note_made(value)
        if not isinstance(container, tuple):
            note_left(container, value)


def note_each(container: Any, values: Any) -> None:
    """The same for each of ``values``."""
    if isinstance(values, (dict, *_ITEMS)):
        for value in _contents(values):
            note_left(container, value)


def note_field(x: Any, name: str) -> None:
    """The same for what the attribute ``name`` of ``x`` has become."""
    _note_changed(x, getattr(x, name, None))


def note_item(x: Any, key: Any) -> None:
    """The same for what ``x[key]`` has become."""
    if not isinstance(x, np.ndarray):
        _note_changed(x, x[key])


def _note_changed(x: Any, value: Any) -> None:
    """The same for ``value``, which may be an array that was there before, and was changed in place."""
    _state.found.pop((id(_store(x)), id(value)), None)
    note_left(x, value)


def check_left(container: Any, value: Any, where: str, constant: bool = False) -> None:
    """Warn if ``value``, which was found in ``container``, was left there by an earlier call.

    ``constant``: no derivative is taken of it, so this call must not have put it there either.
    """
    store = _store(container)
    entry = _entry(store)
    call = entry.call_of(value) if entry is not None else None
    if call is None:
        if isinstance(value, _NUMBERS) and id(value) not in _state.given:
            _state.found[id(store), id(value)] = store, value
    elif constant or call != _state.call:
        _warn(where, "an earlier" if call != _state.call else "this")


def check_unchanged(container: Any, value: Any, where: str, constant: bool = False) -> None:
    """The same for a ``value`` that is changed in place: not where the change would be missed in this call."""
    entry = _entry(_store(container))
    if constant and isinstance(value, np.ndarray) and entry is not None and entry.call_of(value) == _state.call:
        raise UnsupportedSyntaxError(
            f"{where} changes an array that is differentiated and was put there under another name",
            hint="use one name for the list in the function: rows = LOG, then rows.append(y) and rows[-1][0] = 5.0",
        )
    check_left(container, value, where, constant)


def check_item(container: Any, key: Any, where: str, constant: bool = False) -> None:
    """The same for ``container[key]``."""
    with contextlib.suppress(LookupError, TypeError):
        value = container[key] if isinstance(container, (list, dict)) else None
        check_unchanged(container, value, where, constant)


def check_field(x: Any, name: str, where: str, constant: bool = False) -> None:
    """The same for the attribute ``name`` of ``x``."""
    check_left(x, getattr(x, name, None), where, constant)


def check_each(container: Any, where: str, constant: bool = False) -> None:
    """The same for everything in ``container``."""
    entry = _entry(_store(container)) if _left else None
    if entry is not None:
        for value in list(_contents(container)):
            check_left(container, value, where, constant)


def mark() -> int:
    """What tells the calls that have begun by now from later ones."""
    return next(_numbers)


def forget_since(time: int) -> None:
    """Forget what calls have left since ``time``: everything is as it was then."""
    for entry in _left.values():
        entry.calls = {k: v for k, v in entry.calls.items() if v[0] < time}


#: All that generated code calls for this.
NOTES = [note_left, note_constant, note_made, note_each, note_field, note_item, check_left, check_each, check_field,
         check_unchanged, check_item]  # fmt: skip


def _warn(where: str, which: str) -> None:
    if where not in _state.told:
        _state.told |= {where}
        advice = "For a memo use functools.cache, or clear it before the derivative is taken"
        if which == "this":
            advice = "It was put there under another name: use one name for it"
        warnings.warn(
            f"{where} reads what {which} call of the derivative has left there: it counts as a constant.  {advice}",
            KeptValueWarning,
            stacklevel=level_of_user(),
        )


def beginning(call: Callable[..., Any], places: Iterable[int]) -> Callable[..., Any]:
    """``call`` as a call of a derivative, in which what is in the arguments at ``places`` is given anew."""
    wanted = tuple(places)

    def begun(*values: Any) -> Any:
        state = _state.__dict__  # of this thread
        if state.get("depth"):
            return call(*values)
        given = frozenset(id(values[k]) for k in wanted)
        state.update(call=next(_numbers), told=_NOTHING, depth=1, given=given, found={})
        try:
            if _left:
                for k in wanted:
                    if not isinstance(values[k], (float, np.generic)):
                        for part in within(values[k]):
                            _left.pop(id(_store(part)), None)
            return call(*values)
        finally:
            state.update(depth=0, found={})

    return begun
