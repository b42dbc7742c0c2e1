"""Methods that change a list or a dict, and their reverse on the container of slots that is its shadow.

``change(x, name, args, kwargs)`` does what ``x.name(*args, **kwargs)`` does and returns its result and a function
``undo(shadows, result_bar)`` that puts the slots back to where they were and returns the cotangents of the arguments.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.cotangents import add, entry, like
from thunkad.runtime.elements import sorted_order
from thunkad.runtime.key_bars import NUMBERS, dict_bar_of, key_bars
from thunkad.runtime.sets import check_elements
from thunkad.tangents import ZERO, AbstractZero, unthunk

Undo = Callable[[Any, Any], tuple[list[Any], dict[str, Any]]]


def change(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """See the module's docstring."""
    for kind, methods in ((list, _LIST), (dict, _DICT), (OrderedDict, _ORDERED), (deque, _DEQUE)):
        if isinstance(x, kind) and name in methods and getattr(type(x), name) is getattr(kind, name):
            return methods[name](x, *args, **kwargs)
    if name == "__setattr__":
        return _set_attribute(x, *args)
    if isinstance(x, (set, bytearray)):
        args = tuple(map(list, args)) if name.endswith("update") else args  # iterators can be read once
        check_elements([v for a in args for v in a] if name.endswith("update") else args)
        return getattr(x, name)(*args, **kwargs), lambda shadows, bar: ([ZERO] * len(args), {})
    raise UnsupportedSyntaxError(
        f"the in-place method .{name}() on a {type(x).__name__} with a value that is differentiated is not supported",
        hint="use a list or a dict",
    )


def _set_attribute(x: Any, name: str, value: Any) -> tuple[Any, Undo]:
    setattr(x, name, value)
    return None, lambda shadows, bar: ([ZERO, shadows.take_entry(x, name, value)], {})


def position_in(place: int, xs: list[Any]) -> int:
    """Where ``xs.pop(place)`` will take its entry from."""
    return place if place >= 0 else place + len(xs)


def inserted_at(place: int, xs: Any) -> int:
    """Where ``xs.insert(place, v)`` will put ``v``."""
    return slice(place, None).indices(len(xs))[0]


def _nothing(count: int) -> tuple[list[Any], dict[str, Any]]:
    return [ZERO] * count, {}


# ---------------------------------------------------------------- lists


def _relabelled(x: list[Any], labels: list[Any]) -> Callable[[Any], dict[Any, Any]]:
    """The reverse of a change after which the entries of ``x`` are those that ``labels`` names.

    A number is the place that an entry had before; the slots of all others are returned under their label.
    """
    size = 1 + max((label for label in labels if isinstance(label, int)), default=-1)

    def undo(shadows: Any, before: int = size) -> dict[Any, Any]:
        slots = shadows.of(x)
        after, slots[:] = list(slots), [ZERO] * before
        found = {}
        for slot, label in zip(after, labels):
            if isinstance(label, int):
                slots[label] = slot
            else:
                found[label] = slot
        return found

    return undo


def _as_list(values: Any) -> Any:
    """Values that a list is extended by, which are read once."""
    return values if isinstance(values, (list, tuple, np.ndarray, range, str, dict)) else list(values)


def _bar_of_values(values: Any, count: int, found: dict[Any, Any]) -> Any:
    """The cotangent of ``values``, of which there were ``count``."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        return ZERO
    parts = [found.get(("new", k), ZERO) for k in range(count)]
    if all(isinstance(unthunk(p), AbstractZero) for p in parts):
        return ZERO
    return like(parts, values)


def _by_labels(x: Any, name: str, args: tuple[Any, ...], values: Any = None) -> Undo:
    """A change of ``x``, a list or a deque, by a method that takes places, and values as its last argument."""
    before = len(x)
    labels: Any = deque(range(before), x.maxlen) if isinstance(x, deque) else list(range(before))
    given = None if values is None else list(values) if values is x else values
    new = () if given is None else ([("new", k) for k in range(len(given))],)
    getattr(labels, name)(*args, *new)
    getattr(x, name)(*args, *(() if given is None else (given,)))
    back = _relabelled(x, list(labels))
    count = 0 if given is None else len(given)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        found = back(shadows, before)
        return [*([ZERO] * len(args)), *(() if given is None else (_bar_of_values(given, count, found),))], {}

    return undo


def _append(x: list[Any], v: Any) -> tuple[None, Undo]:
    x.append(v)
    return None, lambda shadows, bar: ([shadows.of(x).pop()], {})


def _insert(x: Any, place: Any, v: Any) -> tuple[None, Undo]:
    where = inserted_at(place, x)
    x.insert(place, v)
    return None, lambda shadows, bar: ([ZERO, shadows.of(x).pop(where)], {})


def _pop(x: list[Any], place: Any = -1) -> tuple[Any, Undo]:
    where = range(len(x))[place] if -len(x) <= place < len(x) else 0
    found = x.pop(place)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        shadows.of(x).insert(where, bar)
        return _nothing(1)

    return found, undo


def _remove(x: Any, v: Any) -> tuple[None, Undo]:
    where = x.index(v) if v in x else 0
    x.remove(v)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        shadows.of(x).insert(where, ZERO)
        return _nothing(1)

    return None, undo


def _sort(x: list[Any], *, key: Any = None, reverse: bool = False) -> tuple[None, Undo]:
    before = list(x)
    labels = sorted_order(before, key, reverse)
    x[:] = [before[k] for k in labels]
    back = _relabelled(x, labels)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        back(shadows)
        return [], {}

    return None, undo


def _set(x: Any, key: Any, v: Any) -> tuple[None, Undo]:
    if isinstance(key, slice):
        return None, _by_labels(x, "__setitem__", (key,), _as_list(v))
    x[key] = v
    return None, lambda shadows, bar: ([ZERO, shadows.take_entry(x, key)], {})


_LIST: dict[str, Callable[..., tuple[Any, Undo]]] = {
    "append": _append,
    "insert": _insert,
    "pop": _pop,
    "remove": _remove,
    "sort": _sort,
    "reverse": lambda x: (None, _by_labels(x, "reverse", ())),
    "clear": lambda x: (None, _by_labels(x, "clear", ())),
    "extend": lambda x, values: (None, _by_labels(x, "extend", (), _as_list(values))),
    "__delitem__": lambda x, key: (None, _by_labels(x, "__delitem__", (key,))),
    "__setitem__": _set,
}


# ---------------------------------------------------------------- deques


def _append_at(x: deque[Any], v: Any, first: bool) -> tuple[None, Undo]:
    """``append`` and, at the ``first`` place, ``appendleft``: of a full deque an entry falls out at the other end."""
    full = x.maxlen is not None and len(x) == x.maxlen
    x.appendleft(v) if first else x.append(v)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        slots = shadows.of(x)
        if not slots:
            return _nothing(1)
        found = slots.pop(0 if first else -1)
        if full:
            slots.insert(len(slots) if first else 0, ZERO)
        return [found], {}

    return None, undo


def _pop_at(x: deque[Any], first: bool) -> tuple[Any, Undo]:
    found = x.popleft() if first else x.pop()

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        slots = shadows.of(x)
        slots.insert(0 if first else len(slots), bar)
        return [], {}

    return found, undo


def _of_values(name: str) -> Callable[..., tuple[Any, Undo]]:
    return lambda x, values: (None, _by_labels(x, name, (), _as_list(values)))


def _of_places(name: str) -> Callable[..., tuple[Any, Undo]]:
    return lambda x, *places: (None, _by_labels(x, name, places))


_DEQUE: dict[str, Callable[..., tuple[Any, Undo]]] = {
    "append": lambda x, v: _append_at(x, v, False),
    "appendleft": lambda x, v: _append_at(x, v, True),
    "pop": lambda x: _pop_at(x, False),
    "popleft": lambda x: _pop_at(x, True),
    "insert": _insert,
    "remove": _remove,
    "__setitem__": _set,
    **{name: _of_values(name) for name in ("extend", "extendleft")},
    **{name: _of_places(name) for name in ("rotate", "reverse", "clear", "__delitem__")},
}


# ---------------------------------------------------------------- dicts


def _put(x: dict[Any, Any], pairs: list[tuple[Any, Any]]) -> Callable[[Any], dict[Any, Any]]:
    """Write entries; in reverse, their slots are taken."""
    keys = list(dict.fromkeys(k for k, _ in pairs))
    new = [k for k in keys if isinstance(k, NUMBERS) and k not in x]
    for key, v in pairs:
        x[key] = v

    def undo(shadows: Any) -> Any:
        slots = shadows.of(x)
        found = {key: slots.pop(key, ZERO) for key in keys}
        return dict_bar_of(new, [shadows.take_key(x, key) for key in new], found)

    return undo


def _update(x: dict[Any, Any], other: Any = (), /, **more: Any) -> tuple[None, Undo]:
    if isinstance(other, dict):
        given = list(other.items())
        single = False
    else:
        other = other if isinstance(other, (list, tuple)) else list(other)
        given = [(k, v) for k, v in other]
        single = True
    back = _put(x, [*given, *more.items()])

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        found = back(shadows)
        named = {k: entry(found, k) for k in more}
        of_keys = key_bars(found, tuple(k for k, _ in given))
        if not single:
            of_values = {k: entry(found, k) for k, _ in given if k not in named}
            return [dict_bar_of([k for k, _ in given], of_keys, of_values)], named
        last = {k: place for place, (k, _) in enumerate(given)}
        last.update(dict.fromkeys(named, -1))
        parts = [(of_keys[j], entry(found, k) if last[k] == j else ZERO) for j, (k, _) in enumerate(given)]
        return [type(other)(parts) if type(other) in (list, tuple) else parts], named

    return None, undo


def _setdefault(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Undo]:
    had = key in x
    found = x.setdefault(key, default)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        slots = shadows.of(x)
        slots[key] = add(slots.get(key, ZERO), bar)
        return [ZERO, ZERO] if had else [shadows.take_key(x, key), slots.pop(key)], {}

    return found, undo


def _pop_key(x: dict[Any, Any], key: Any, *default: Any) -> tuple[Any, Undo]:
    had = key in x
    found = x.pop(key, *default)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        if had:
            shadows.of(x)[key] = bar
        return [ZERO, ZERO if had else bar], {}

    return found, undo


def _popitem(x: dict[Any, Any], *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    found = x.popitem(*args, **kwargs)

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        pair = shadows.of(found)
        shadows.of(x)[found[0]], pair[1] = pair[1], ZERO  # what has memory keeps its shadow
        shadows.add_keys(x, dict_bar_of(found[:1], pair[:1], {}))
        pair[0] = ZERO
        return [ZERO] * len(args), {}

    return found, undo


def _delete(x: dict[Any, Any], key: Any) -> tuple[None, Undo]:
    del x[key]

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        shadows.of(x).pop(key, None)
        return _nothing(1)

    return None, undo


def _clear(x: dict[Any, Any]) -> tuple[None, Undo]:
    x.clear()

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        shadows.of(x).clear()
        return [], {}

    return None, undo


_DICT: dict[str, Callable[..., tuple[Any, Undo]]] = {
    "update": _update,
    "setdefault": _setdefault,
    "pop": _pop_key,
    "popitem": _popitem,
    "clear": _clear,
    "__delitem__": _delete,
    "__setitem__": lambda x, key, v: (None, _set_key(x, key, v)),
}


def _set_key(x: dict[Any, Any], key: Any, v: Any) -> Undo:
    back = _put(x, [(key, v)])

    def undo(shadows: Any, bar: Any) -> tuple[list[Any], dict[str, Any]]:
        found = back(shadows)
        return [*key_bars(found, (key,)), found[key]], {}

    return undo


def _move_to_end(x: OrderedDict[Any, Any], *args: Any, **kwargs: Any) -> tuple[None, Undo]:
    x.move_to_end(*args, **kwargs)
    return None, lambda shadows, bar: _nothing(len(args))


_ORDERED = {**_DICT, "move_to_end": _move_to_end}
