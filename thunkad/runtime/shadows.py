"""Cotangents of memory that is written in place: they follow the memory, not the names.

One :class:`Shadows` belongs to one run of a pullback.  An array's shadow is a buffer of the allocation that it lives
in, seen through the same address and strides, so every view of one array has the same view of one shadow.  A list, dict
or object has a container of slots for the numbers in it; arrays in it are found by their own memory.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Iterable, KeysView
from typing import Any

import numpy as np

from thunkad.errors import CotangentError, UnsupportedSyntaxError
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.attributes import Holding, check_items, check_read, check_write, gone_through
from thunkad.runtime.chosen import METHODS, is_function, owner_of
from thunkad.runtime.containers import CONTAINERS, DICTS, SEQUENCES, SETS, SetAsItWas, remade, remade_dict
from thunkad.runtime.cotangents import add, entry
from thunkad.runtime.dict_fields import slot_of_read, slot_of_write
from thunkad.runtime.held_cotangents import of_function
from thunkad.runtime.indexing import assigned_last
from thunkad.runtime.key_bars import KeyBars, dict_bar_of
from thunkad.runtime.key_shadows import KeyShadows
from thunkad.runtime.parts import fields_of
from thunkad.runtime.subclasses import check_contents
from thunkad.runtime.walks import Left, complete
from thunkad.tangents import ZERO, AbstractZero, Tangent, unthunk

#: Classes whose instances are values: numbers, and functions (a closure's cotangent is that of what it holds).
FUNCTIONS = (functools.partial, types.FunctionType, *METHODS)
VALUES = (float, int, complex, np.generic, Holding, *FUNCTIONS)


class Shadows(KeyShadows):
    """See the module's docstring.  What is shadowed is kept alive, so that its identity can't be reused meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._containers: dict[int, tuple[Any, Any]] = {}
        self._left: list[tuple[Any, Any]] | None = None  # what is to be added, of a structure that is being added

    # ------------------------------------------------------------ arrays

    def of(self, x: Any) -> Any:
        """The shadow of ``x``: a zeroed array of its layout, or a list or dict of slots; a zero tangent for anything
        else."""
        if isinstance(x, np.ndarray):
            return self._whole(x)
        if isinstance(x, SEQUENCES):
            return self._container(x, lambda: [ZERO] * len(x))
        if (
            isinstance(x, (dict, KeysView))
            or (hasattr(x, "__dict__") and not isinstance(x, type))
            or hasattr(type(x), "__slots__")
        ):
            return self._container(x, dict) if not isinstance(x, (tuple, float, int, complex, np.generic)) else ZERO
        return ZERO

    def _container(self, x: Any, make: Any) -> Any:
        found = self._containers.get(id(x))
        if found is None:
            check_contents(x)
            found = self._containers[id(x)] = x, make()
        return found[1]

    def expect(self, x: Any) -> None:
        """Make the slots of a container as it was, and of those in it, before anyone asks for them."""
        left = [x] if isinstance(x, Then) else []
        while left:
            x = left.pop()
            named = isinstance(x.entries, dict)
            self._container(x.x, dict if named else functools.partial(list, [ZERO] * len(x.entries)))
            items = x.entries.values() if named else x.entries
            left += [v for v in items if isinstance(v, Then) and id(v.x) not in self._containers]

    # ------------------------------------------------------------ building up

    def add(self, x: Any, x_bar: Any) -> None:
        """Add a cotangent of ``x``, of whatever structure, into shadows."""
        x_bar = unthunk(x_bar)
        if isinstance(x_bar, AbstractZero):
            return
        if isinstance(x_bar, KeyBars):
            self.add_keys(x.x if isinstance(x, Then) else x, x_bar)
            x_bar = x_bar.of_values
        elif isinstance(x, KeysView):
            return self.add_keys(x, dict_bar_of(x, x_bar, {}))
        if isinstance(x, np.ndarray):
            self._add_array(x, x_bar)
        elif self._left is not None:  # it is in what is being added
            self._left.append((x, x_bar))
        else:
            self._left = [(x, x_bar)]
            try:
                while self._left:
                    self._add_parts(*self._left.pop())
            finally:
                self._left = None

    def _add_parts(self, x: Any, x_bar: Any) -> None:
        """Add the cotangents of what a container or an object holds."""
        if isinstance(x, Then):
            self._add_then(x, x_bar)
        elif isinstance(x, SEQUENCES):
            check_contents(x)
            if len(x) != len(x_bar):
                raise CotangentError(f"a cotangent with {len(x_bar)} entries was made for a sequence of {len(x)}")
            for k, item in enumerate(x):
                self.add_entry(x, k, item, x_bar[k])
        elif isinstance(x, dict):
            check_contents(x)
            for k in x_bar:
                self.add_entry(x, k, x[k], x_bar[k])
        elif isinstance(x, SETS):
            for item, item_bar in zip(x, x_bar):
                self.add_entry(x, None, item, item_bar)
        elif isinstance(x_bar, Tangent):
            for name in x_bar:
                self.add_entry(x, name, getattr(x, name, None), x_bar[name])
        elif isinstance(x_bar, (list, tuple)):
            raise gone_through(x)
        else:
            raise CotangentError(f"a cotangent of a {type(x).__name__} is of type {type(x_bar).__name__}")

    def _add_then(self, x: Then, x_bar: Any) -> None:
        """Add a cotangent of a container as it was when it was read."""
        if isinstance(x.entries, dict):
            for k in x_bar:
                self.add_entry(x.x, k, x.entries.get(k), x_bar[k])
            return
        if len(x.entries) != len(x_bar):
            raise CotangentError(f"a cotangent with {len(x_bar)} entries was made for a sequence of {len(x.entries)}")
        for k, item in enumerate(x.entries):
            self.add_entry(x.x, k, item, x_bar[k])

    def add_entry(self, x: Any, key: Any, item: Any, item_bar: Any) -> None:
        """Add the cotangent of an entry that was read from a container: by memory if it has some, or into its slot."""
        item_bar = unthunk(item_bar)
        if isinstance(key, slice) and isinstance(x, (list, tuple)):
            return self.add_slice(x, key, item)
        if isinstance(x, np.generic) and isinstance(item, np.ndarray):  # x[None]: a number has no shadow
            message = f"an array made of the number x by x[{key!r}], beside structures that are changed in place,"
            raise UnsupportedSyntaxError(message, hint="use np.reshape(x, 1) or np.array([x])")
        if isinstance(item_bar, AbstractZero) or (isinstance(x, SETS) and isinstance(item, VALUES)):
            return  # of what is in a set, only objects are differentiated
        check_contents(x)
        if isinstance(x, super):
            check_read(x, key)
        if isinstance(x, np.ndarray):
            plain = isinstance(key, str) and isinstance(item, (int, tuple))  # its size, or shape
            if not plain and not (isinstance(item, np.ndarray) and np.may_share_memory(x, item)):  # a gathered copy
                self._add_gathered(x, key, item_bar)
            return
        if owner_of(item) is x:  # the cotangent of a bound method is that of its owner
            self.add(x, item_bar)
            return
        if isinstance(item, FUNCTIONS):
            item_bar = self._numbers_held(item, item_bar)
        if not isinstance(item, VALUES) and (
            isinstance(item, (np.ndarray, *CONTAINERS, *SETS, Then)) or isinstance(item_bar, Tangent)
        ):
            self.add(item, item_bar)
            return
        if isinstance(key, int) and not isinstance(x, (*CONTAINERS, Then)):
            if isinstance(x, np.flatiter):
                raise UnsupportedSyntaxError("items of x.flat are differentiated", hint="use x.ravel()")
            raise UnsupportedSyntaxError(
                f"items of an object of class {type(x).__name__}, which is no container or array, are differentiated",
                hint="give the class a method that returns a list of its items, and iterate over that",
            )
        if isinstance(key, str) and not isinstance(x, (dict, Then)):
            if isinstance(x, deque):
                return  # its greatest length
            if key in getattr(type(x), "_fields", ()):
                key = type(x)._fields.index(key)  # type: ignore[attr-defined]
            else:
                check_read(x, key)
        self.add_slot(x, key, item_bar)

    def add_field(self, x: Any, key: Any, item: Any, item_bar: Any) -> None:
        """The same for ``item = x.key`` on an ``x`` that may be anything; ``item_bar`` is that of a number."""
        self._add_part(x, slot_of_read(x, key, item) if isinstance(x, dict) else key, item, item_bar)

    def add_read(self, x: Any, key: Any, item: Any, item_bar: Any) -> None:
        """The same for ``item = x[key]``."""
        check_items(x, "__getitem__")
        self._add_part(x, key, item, item_bar)

    def _add_part(self, x: Any, key: Any, item: Any, item_bar: Any) -> None:
        if isinstance(x, np.ndarray) and isinstance(item, np.ndarray):
            if not np.may_share_memory(x, item):  # a gathered copy
                self._add_gathered(x, key, self._array(item))
            return
        self.add_entry(x, key, item, item_bar)

    def add_slot(self, x: Any, key: Any, item_bar: Any) -> None:
        """Add the cotangent of a number in a list, dict or object."""
        if isinstance(unthunk(item_bar), AbstractZero):
            return
        slots = self.of(x)
        if isinstance(slots, AbstractZero):
            raise UnsupportedSyntaxError(
                f"an entry of an immutable {type(x).__name__} in a structure that is changed in place",
                hint="use a list or a dict instead",
            )
        if isinstance(slots, dict):
            slots[key] = add(slots.get(key, ZERO), item_bar)
        else:
            slots[key] = add(slots[key], item_bar)

    def add_slice(self, x: Any, key: slice, part: Any) -> None:
        """Add the slots of ``part``, which ``x[key]`` was, to those of ``x``; a slice of an array is a view."""
        if isinstance(x, np.ndarray):
            return
        slots, more = self.of(x), self.of(part)
        for k, place in enumerate(range(*key.indices(len(slots)))):
            slots[place] = add(slots[place], more[k])

    def accumulate(self, x: Any, x_bar: Any, more: Any) -> Any:
        """``x_bar + more`` for a number; what has memory takes ``more`` into its shadow and leaves ``x_bar`` alone."""
        if not isinstance(x, VALUES):
            self.add(x, more)
            return x_bar
        return add(x_bar, self._numbers_held(x, unthunk(more)) if isinstance(x, FUNCTIONS) else more)

    def _numbers_held(self, f: Any, f_bar: Any) -> Any:
        """The cotangent of a function without that of memory it holds, which is added to shadows here.

        What a function reads from memory it reads when it is called; a recursive one is in memory that it holds itself.
        """
        if isinstance(f_bar, AbstractZero):
            return f_bar
        while isinstance(f, types.FunctionType) and hasattr(f, "__thunkad_derivative__"):
            f = f.__thunkad_derivative__.f  # its cotangent is that of the function
        owner = owner_of(f)
        if owner is not None:
            if isinstance(owner, (*VALUES, types.ModuleType)):
                return f_bar
            self.add(owner, f_bar)
            return ZERO
        if not isinstance(f, functools.partial) or not isinstance(f_bar, Tangent):
            return f_bar
        held, named = f_bar["args"], f_bar["keywords"]
        fields = {
            "func": self._numbers_held(f.func, f_bar["func"]),
            "args": held if isinstance(held, AbstractZero) else tuple(map(self._number_held, f.args, held)),
            "keywords": named
            if isinstance(named, AbstractZero)
            else {k: self._number_held(v, named.get(k, ZERO)) for k, v in f.keywords.items()},
        }
        return Tangent(f_bar.cls, fields)

    def _number_held(self, x: Any, x_bar: Any) -> Any:
        return self.accumulate(x, ZERO, x_bar)

    # ------------------------------------------------------------ taking

    def take(self, x: Any, x_bar: Any) -> Any:
        """The cotangent of ``x`` where ``x`` is made: what its shadow holds, or ``x_bar`` for a number; leaves zero.

        Whoever made ``x`` may have found it in a container, and then gives it back.
        """
        if isinstance(x, np.ndarray):
            return self._taken_array(x)
        if isinstance(x, (*CONTAINERS, Then)):
            return add(x_bar, self._moved(x))
        if isinstance(x, KeysView):
            return add(x_bar, self.taken_keys(x))
        if isinstance(x, functools.partial):
            func, named, slots = self.of(x), self.of(x.keywords), self.of(x.args)
            held = tuple(map(self._number_taken, x.args, slots))  # what has memory keeps its shadow
            fields = {"func": func.pop("func", ZERO), "args": held, "keywords": dict(named)}
            named.clear()
            slots[:] = [ZERO] * len(slots)
            return add(x_bar, Tangent(functools.partial, fields))
        if not isinstance(x, VALUES) and fields_of(x):
            return add(x_bar, self._moved(x))
        return x_bar

    def received(self, x: Any, x_bar: Any) -> Any:
        """``x_bar`` and what a callee put into the shadow of ``x``, whose cotangent is no shadow for the caller."""
        return add(x_bar, self._moved_item(x, ZERO)) if isinstance(x, np.ndarray) else self.take(x, x_bar)

    def _number_taken(self, x: Any, slot: Any) -> Any:
        return self.take(x, slot) if isinstance(x, VALUES) else ZERO

    def _moved(self, x: Any, within: tuple[Any, ...] = ()) -> Any:
        """What the shadows of a container and of all in it hold, which is zero after that: its maker passes it on.

        ``within``: the containers that ``x`` was found in, which an object may know.
        """
        if isinstance(x, Then):
            owner, entries = x.x, x.entries
        else:
            owner, entries = x, x if isinstance(x, (*CONTAINERS, *SETS)) else fields_of(x)
        if any(owner is y for y in within):
            return ZERO
        if isinstance(owner, SETS):
            return self._moved_elements(entries, (*within, owner))
        slots, within = self.of(owner), (*within, owner)
        if isinstance(slots, dict):
            taken = {k: self._moved_item(item, slots.get(k, ZERO), within) for k, item in entries.items()}
            taken = self.with_keys(owner, taken)
            slots.clear()
            return taken if isinstance(owner, dict) else Tangent(type(owner), taken)
        found = [self._moved_item(item, slot, within) for item, slot in zip(entries, slots)]
        slots[:] = [ZERO] * len(found)
        return tuple(found) if isinstance(owner, tuple) else found

    def _moved_elements(self, elements: Iterable[Any], within: tuple[Any, ...]) -> Any:
        """The same for those of a set."""
        found = [self._moved_item(item, ZERO, within) for item in elements]
        return found if any(not isinstance(bar, AbstractZero) for bar in found) else ZERO

    def numbers(self, x: Any, x_bar: Any) -> Any:
        """The cotangents of a fresh tuple's or dict's numbers (what has memory keeps its shadow), or of a number."""
        if isinstance(x, dict):
            named = dict(self.of(x))
            self.of(x).clear()
            return named
        if isinstance(x, tuple):
            slots = self.of(x)
            found, slots[:] = tuple(slots), [ZERO] * len(x)
            return found
        return self.number_part(x, x_bar)

    def _moved_item(self, item: Any, slot: Any, within: tuple[Any, ...] = ()) -> Any:
        if isinstance(item, (*CONTAINERS, *SETS, Then)) or (id(item) in self._containers and not is_function(item)):
            return self._moved(item, within)
        if not isinstance(item, np.ndarray) or item.dtype.kind not in "fc":
            return slot
        return self._taken_array(item) if self._has(item) else ZERO

    def number_part(self, x: Any, x_bar: Any) -> Any:
        """``x_bar`` where ``x`` is a number; nothing where its cotangent is in its shadow."""
        return x_bar if isinstance(x, VALUES) else ZERO

    def take_field(self, x: Any, name: str, value: Any, past: bool = False) -> Any:
        """:meth:`take_entry` for ``x.name = value`` on an ``x`` that may be anything."""
        if isinstance(x, dict):
            return self.of(x).pop(slot_of_write(x, name, past), ZERO)
        return self.take_entry(x, name, value, past)

    def take_item(self, x: Any, key: Any, value: Any) -> Any:
        """:meth:`take_entry` for ``x[key] = value`` on an ``x`` that may be anything."""
        check_items(x, "__setitem__")
        return self.take_entry(x, key, value)

    def take_entry(self, x: Any, key: Any, value: Any = None, past: bool = False) -> Any:
        """The cotangent of the number ``value`` stored at ``key``, ``past`` what the class does; leaves zero."""
        if isinstance(x, np.ndarray):  # takes a copy of what is stored
            return unless_cut(unbroadcast(take_stored(self._whole(x), key), value), x, value)
        if isinstance(key, str) and not isinstance(x, dict) and not past:
            check_write(x, key)
        slots = self.of(x)
        if isinstance(slots, AbstractZero):
            what = f"a value that is differentiated, stored into a {type(x).__name__}"
            raise UnsupportedSyntaxError(what, hint="use an array, a list or a dict")
        if isinstance(slots, dict):
            return slots.pop(key, ZERO)
        found, slots[key] = slots[key], ZERO
        return found

    def collect(self, x: Any) -> Any:
        """The whole cotangent of ``x`` in its structure."""
        if isinstance(x, np.ndarray):
            return self._whole(x).copy()
        left: Left = []
        return complete(left, self._collect(x, left))

    def _collect(self, x: Any, left: Left) -> Any:
        """The same; what is in lists, dicts and objects is left for later."""
        if isinstance(x, np.ndarray):
            return self._whole(x).copy()
        whole, entries = (x.x, x.entries) if isinstance(x, Then) else (x, x)
        slots = self.of(whole)
        if isinstance(whole, SETS):
            return [self._collected(x, ZERO, None, v, left) for v in entries]
        if type(whole) is list:
            made: list[Any] = []
            left.append(lambda: made.extend([self._collected(whole, slots, k, v, left) for k, v in enumerate(entries)]))
            return made
        if isinstance(entries, list) or isinstance(x, SEQUENCES):
            return remade(whole, [self._collected(whole, slots, k, v, left) for k, v in enumerate(entries)])
        if not isinstance(whole, dict) and not isinstance(slots, dict):
            return ZERO
        found: Any = {} if isinstance(whole, dict) else Tangent(type(whole))
        named = found if isinstance(whole, dict) else found.fields
        fields = entries if isinstance(entries, dict) else fields_of(entries)
        left.append(lambda: named.update([(k, self._collected(whole, slots, k, v, left)) for k, v in fields.items()]))
        return self.with_keys(whole, found)

    def whole(self, x: Any, x_bar: Any) -> Any:
        """The whole cotangent of ``x``, which may be a number (then ``x_bar``)."""
        if isinstance(x, FUNCTIONS):
            return of_function(self, x, x_bar)
        return x_bar if isinstance(x, (float, int, complex, np.generic)) else self.collect(x)

    def _collected(self, x: Any, slots: Any, key: Any, value: Any, left: Left) -> Any:
        if isinstance(value, (np.ndarray, *CONTAINERS, *SETS, Then)) or (
            hasattr(value, "__dict__") and not is_function(value)
        ):
            return self._collect(value, left)
        return entry(slots, key) if isinstance(slots, dict) else slots[key] if isinstance(slots, list) else ZERO


def take_stored(y_bar: Any, index: Any) -> Any:
    """The cotangent of what ``y[index] = v`` stored: a copy of that part of the shadow, which is set to zero.

    Where an index names an element twice, only the last write to it survived.
    """
    v_bar = np.array(y_bar[index])
    survives = assigned_last(index, y_bar.shape)
    if survives is not True:
        v_bar = v_bar * np.reshape(survives, np.shape(survives) + (1,) * (v_bar.ndim - np.ndim(survives)))
    y_bar[index] = 0.0
    return v_bar if v_bar.ndim else v_bar[()]


def keep(x: Any) -> Any:
    """A copy of a value that may be overwritten before the reverse sweep reads it."""
    if isinstance(x, np.ndarray):
        return x.copy("K")
    if type(x) in SEQUENCES:
        return remade(x, (keep(v) for v in x))
    if type(x) in DICTS:
        return remade_dict(x, [keep(v) for v in x.values()])
    return SetAsItWas(x) if type(x) is set else x


def unless_cut(v_bar: Any, y: Any, v: Any) -> Any:
    """The cotangent of ``v``, which was stored into ``y``: nothing where an array of integers cut off the fraction."""
    whole = isinstance(y, np.ndarray) and y.dtype.kind in "iub" and np.asarray(v).dtype.kind not in "iub"
    return v_bar * 0.0 if whole else v_bar


class Then:
    """A list, dict or object ``x`` with the entries that it had at some time; entries of such a sort are ``Then``
    themselves."""

    def __init__(self, x: Any, entries: Any) -> None:
        self.x, self.entries = x, entries

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Any:
        return iter(self.entries)


def then(x: Any) -> Any:
    """``x`` as it is now, so that its cotangent can be taken apart after it was changed."""
    left: Left = []
    return complete(left, _then(x, {}, left))


def _then(x: Any, seen: dict[int, Then], left: Left) -> Any:
    """The same for a part of a value; what is in it is left for later."""
    if isinstance(x, METHODS) and isinstance(x.__self__, CONTAINERS):
        return _then(x.__self__, seen, left)  # whose cotangent that of the method is
    if isinstance(x, (np.ndarray, *VALUES, str, bytes, type(None), type)):
        return x
    if id(x) in seen:
        return seen[id(x)]
    if isinstance(x, (*SEQUENCES, *SETS)):
        made = seen[id(x)] = Then(x, [])
        left.append(lambda: made.entries.extend([_then(v, seen, left) for v in x]))
        return made
    fields = x if isinstance(x, dict) else fields_of(x) if not is_function(x) else None
    if fields is None or (not fields and not isinstance(x, dict)):
        return x
    made = seen[id(x)] = Then(x, {})
    left.append(lambda: made.entries.update([(k, _then(v, seen, left)) for k, v in fields.items()]))
    return made


def shares(a: Any, *others: Any) -> bool:
    """Whether ``a`` and one of the others, or what it is a method of, are the same object or views of one memory."""
    if isinstance(a, np.ndarray):
        others = tuple(owner_of(b) if isinstance(b, METHODS) else b for b in others)
        return any(isinstance(b, np.ndarray) and np.may_share_memory(a, b) for b in others)
    return any(a is b for b in others) and not isinstance(a, (float, int, complex, str, tuple, np.generic, type(None)))


def shared_with(a: Any, *others: Any) -> int:
    """The number, from 1, of the first of the others that ``a`` shares with, see :func:`shares`; 0 if there is none."""
    return next((k + 1 for k, b in enumerate(others) if shares(a, b)), 0)
