"""What a printed module imports in place of things that belong to one compiled world."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from thunkad.compiled.dynamic import Pull
from thunkad.compiled.world import World
from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE


@functools.cache
def _world(version: int) -> World:
    return World(TABLE.snapshot, "printed modules")


def _pull() -> Pull:
    load_library()
    return Pull(_world(TABLE.snapshot.version))


def pull(fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A call whose callee is known only now: its value and its pullback for the places in ``wrt``."""
    return _pull().call(fn, wrt, *args, **kwargs)


def pull_kept(fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], Any]]:
    """:func:`pull` of arguments that may be written later."""
    load_library()
    return Pull(_world(TABLE.snapshot.version), kept=True).call(fn, wrt, *args, **kwargs)


def pull_packed(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """The same for collected arguments: the pullback returns the cotangents of the callee, ``args`` and ``kwargs``."""
    return _pull().packed(fn, args, kwargs)


def pull_kept_packed(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """:func:`pull_packed` of arguments that may be written later."""
    load_library()
    return Pull(_world(TABLE.snapshot.version), kept=True).packed(fn, args, kwargs)


def pull_shared(fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
    """:func:`pull` of a callee that may change its arguments: the pullback takes the shadows of the run."""
    load_library()
    return _world(TABLE.snapshot.version).dispatch_shared.call(fn, wrt, *args, **kwargs)


def pull_shared_packed(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
    """The same for collected arguments."""
    load_library()
    return _world(TABLE.snapshot.version).dispatch_shared.packed(fn, args, kwargs)


def pull_noting(raised: list[Any], fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """:func:`pull_shared` in a ``try``: what the callee raises once it has changed something is put into ``raised``."""
    load_library()
    return _world(TABLE.snapshot.version).dispatch_shared.noting(raised, fn, wrt, *args, **kwargs)  # type: ignore[no-any-return]


def pull_noting_packed(raised: list[Any], fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The same for collected arguments."""
    load_library()
    return _world(TABLE.snapshot.version).dispatch_shared.noting_packed(raised, fn, args, kwargs)  # type: ignore[no-any-return]


def update(fn: Any, x: Any, v: Any) -> tuple[Any, Any]:
    """``x op= v`` on what is known only now: the new ``x`` and what undoes it in reverse."""
    return _pull().update(fn, x, v)


def update_entry(fn: Any, x: Any, key: Any, v: Any) -> Any:
    """The same for ``x[key] op= v``."""
    return _pull().update_entry(fn, x, key, v)


def update_attribute(fn: Any, x: Any, name: str, v: Any) -> Any:
    """The same for ``x.name op= v``."""
    return _pull().update_attribute(fn, x, name, v)


def change(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """``x.name(*args, **kwargs)`` on a list, a dict or an object that it changes."""
    return _pull().change(x, name, args, kwargs)


def _push() -> Any:
    load_library()
    return _world(TABLE.snapshot.version).forwarding.pusher


def push(*args: Any, **kwargs: Any) -> Any:
    """The same for tangents: what the forward-mode code of a callee known only now returns."""
    return _push().call(*args, **kwargs)


def push_shared(*args: Any, **kwargs: Any) -> Any:
    """:func:`push` of a callee that may change arrays that it is given, and their tangents with them."""
    load_library()
    return _world(TABLE.snapshot.version).forwarding.dispatch_shared.call(*args, **kwargs)


def push_update(*args: Any) -> Any:
    """``x op= v`` on what is known only now, for a value and its tangent."""
    return _push().update(*args)


def push_update_entry(*args: Any) -> None:
    """The same for ``x[key] op= v``."""
    _push().update_entry(*args)


def push_update_attribute(*args: Any) -> None:
    """The same for ``x.name op= v``."""
    _push().update_attribute(*args)


def push_change(*args: Any) -> Any:
    """The same for ``x.name(*args, **kwargs)``, which may change ``x``."""
    return _push().change(*args)


def rule_function(fn: Any, place: int = 0) -> Callable[..., Any]:
    """One of the rules that are registered for ``fn``, as it was written."""
    load_library()
    entries = TABLE.snapshot.entries(fn)
    if place >= len(entries) or entries[place].function is None:
        raise LookupError(f"the rules for {fn!r} are not those with which this module was generated")
    return entries[place].function  # type: ignore[return-value]
