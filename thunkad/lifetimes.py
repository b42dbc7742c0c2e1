"""What belongs to an object of the user's and goes with it, though it leads back to the object.

A dictionary with weak keys does not do: what it holds for an object keeps the object alive.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_ATTRIBUTE = "__thunkad_attached__"


def own_attribute(owner: Any, name: str) -> Any:
    """What a function or class itself carries under this name; None if there is nothing."""
    return owner.__dict__.get(name)


def carries(owner: Any) -> bool:
    """Whether attributes can be put on ``owner``: a Python function, or a class that is not built in."""
    if type(owner) is types.FunctionType:
        return True
    return isinstance(owner, type) and owner.__flags__ & (_ON_THE_HEAP | _IMMUTABLE) == _ON_THE_HEAP


_ON_THE_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of types in C


def carry(owner: Any, name: str, value: Any) -> None:
    """Put an attribute on a function or class for which :func:`carries` holds."""
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)  # whatever its metaclass makes of attributes
    else:
        owner.__dict__[name] = value


class _Attached:
    """A box on a function or class; copies of that (:func:`functools.wraps`, another process) have none."""

    __slots__ = ("owner", "things")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.things: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        return _nothing, ()


def _nothing() -> None:
    """What a box is unpickled as."""


def attached(owner: Any) -> dict[Any, Any]:
    """A dictionary that belongs to a Python function or a class of the user's, and goes with it."""
    found = own_attribute(owner, _ATTRIBUTE)
    if found is None or found.owner is not owner:
        found = _Attached(owner)
        carry(owner, _ATTRIBUTE, found)
    return found.things  # type: ignore[no-any-return]


def found_attached(owner: Any) -> dict[Any, Any]:
    """The same to look at: nothing is put on ``owner``."""
    found = own_attribute(owner, _ATTRIBUTE)
    return {} if found is None or found.owner is not owner else found.things


def remembered(find: Callable[[Any], T]) -> Callable[[Any], T]:
    """``find``, asked once for each object; what it finds may not lead back to the object."""
    known: dict[int, tuple[Any, T]] = {}

    @functools.wraps(find)
    def found(x: Any) -> T:
        key = id(x)
        entry = known.get(key)
        if entry is not None:  # the callback comes before the memory is used again
            return entry[1]
        answer = find(x)
        try:
            holds: Any = weakref.ref(x, lambda _: known.pop(key, None))
        except TypeError:
            holds = x  # built in
        known[key] = holds, answer
        return answer

    return found


def written(text: str, name: str, namespace: dict[str, Any], label: str) -> Any:
    """The function ``name`` of this text, which is found as its source for as long as its code is there."""
    filename = f"<{label} {next(_numbers)}>"
    exec(compile(text, filename, "exec"), namespace)
    made = namespace[name]
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    weakref.finalize(made.__code__, linecache.cache.pop, filename, None).atexit = False
    return made


_numbers = itertools.count()
