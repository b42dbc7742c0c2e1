"""The rule table: what is registered for each callee, now and in every snapshot that somebody still holds.

The registrations of a function or a class live on it, so that both go when it goes; those of callees that can't carry
them (ufuncs, builtins) live in the table.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

from thunkad.errors import RuleError
from thunkad.lifetimes import carries, carry, own_attribute
from thunkad.rules.entry import ALTERNATIVE, FRULE, NON_DIFFERENTIABLE, OPT_OUT, RRULE, Entry, name_of
from thunkad.rules.signatures import signature_types

ATTRIBUTE = "__thunkad_rules__"
Entries = tuple[Entry, ...]


def _no_cell() -> None:
    """What a cell is unpickled as: another process has a table of its own."""


def is_own(target: Any, fn: Any) -> bool:
    """Whether what ``fn``, a function or class, carries for ``target`` is meant for ``fn``.

    :func:`functools.wraps` copies attributes, but not what they mean, and so does what makes a class anew.  Automatic
    reloading in notebooks makes an old function a likeness of the new one, and lets both have one dictionary of
    attributes: then it is meant for both.
    """
    return target is fn or (type(target) is types.FunctionType and target.__dict__ is fn.__dict__)


class Cell:
    """Everything that was registered for one callee: (version, entries), oldest first."""

    __slots__ = ("__weakref__", "history", "limit", "target")

    def __init__(self, target: Any) -> None:
        self.target = target
        self.history: tuple[tuple[int, Entries], ...] = ()
        self.limit = 8

    def at(self, version: int) -> Entries:
        """The entries in the snapshot of this version."""
        for since, entries in reversed(self.history):
            if since <= version:
                return entries
        return ()

    def __reduce__(self) -> Any:
        return _no_cell, ()


class Snapshot:
    """The table at one moment; never changes."""

    __slots__ = ("__weakref__", "table", "version")

    def __init__(self, table: Table, version: int) -> None:
        self.table, self.version = table, version

    def entries(self, fn: Any) -> Entries:
        """What is registered for ``fn``; the very same tuple for as long as nothing of it changes."""
        cell = self.table.cell(fn)
        return () if cell is None else cell.at(self.version)

    @property
    def cells(self) -> dict[Any, Entries]:
        """Every callee with its entries."""
        everything = ((cell.target, cell.at(self.version)) for cell in self.table.cells())
        return {target: entries for target, entries in everything if entries}


class Table:
    """The current snapshot, and the edits that replace it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.snapshot = Snapshot(self, 0)
        self._held: weakref.WeakSet[Snapshot] = weakref.WeakSet([self.snapshot])
        self._cells: dict[Any, Cell] = {}
        self._carried: weakref.WeakValueDictionary[int, Cell] = weakref.WeakValueDictionary()  # in order
        self._count = itertools.count()
        self._depth = 0
        self._edited = False

    # ------------------------------------------------------------ where registrations are

    def cell(self, fn: Any) -> Cell | None:
        if carries(fn):
            found = own_attribute(fn, ATTRIBUTE)
            return found if found is not None and is_own(found.target, fn) else None
        try:
            return self._cells.get(fn)
        except TypeError:  # an unhashable callee has no rules
            return None

    def cells(self) -> list[Cell]:
        with self.lock:
            return [*self._cells.values(), *self._carried.values()]

    def _make_cell(self, fn: Any) -> Cell:
        cell = self.cell(fn)
        if cell is not None:
            return cell
        cell = Cell(fn)
        if carries(fn):
            carry(fn, ATTRIBUTE, cell)
            self._carried[next(self._count)] = cell
        else:
            try:
                self._cells[fn] = cell
            except TypeError:
                raise RuleError(f"{name_of(fn)} can't have rules: it is not hashable") from None
        return cell

    # ------------------------------------------------------------ edits

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Many edits as one: nobody sees the table in between."""
        with self.lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                self._publish()

    def add(self, entry: Entry) -> None:
        """Register ``entry``; one that stands for the same thing is replaced, and the very same one changes nothing."""
        types_of = signature_types(entry)
        with self.lock:
            old = self.pending(entry.target)
            if any(e.same_registration(entry) and signature_types(e) == types_of for e in old):
                return
            if entry.layer == "library":
                self._edit_all(entry)
            else:
                self._edit(entry.target, (*(e for e in old if not _replaces(entry, e)), entry))

    def remove(self, *entries: Entry) -> None:
        """Take registrations back."""
        with self.bulk():
            for entry in entries:
                old = self.pending(entry.target)
                if entry in old:
                    self._edit(entry.target, tuple(e for e in old if e is not entry))

    def put_back(self, fn: Any, ours: Entries, theirs: Entries) -> None:
        """Replace those of ``ours`` that still stand by ``theirs``, which they had replaced."""
        with self.bulk():
            old = self.pending(fn)
            if any(e in old for e in ours):
                rest = tuple(e for e in old if e not in ours and not any(_replaces(t, e) for t in theirs))
                self._edit(fn, (*rest, *theirs))

    def pending(self, fn: Any) -> Entries:
        """The entries of ``fn``, edits that nobody else sees yet included.  For holders of the lock."""
        cell = self.cell(fn)
        return cell.history[-1][1] if cell is not None and cell.history else ()

    def _edit(self, fn: Any, entries: Entries) -> None:
        cell = self._make_cell(fn)
        version = self.snapshot.version + 1
        history = cell.history
        if history and history[-1][0] == version:
            history = history[:-1]
        if len(history) >= cell.limit:
            history = self._needed(history)
            cell.limit = 2 * len(history) + 8
        cell.history = (*history, (version, entries))
        self._edited = True
        self._publish()

    def _edit_all(self, entry: Entry) -> None:
        """The library is read in when it is first needed, and then has always been there: in every snapshot."""
        cell = self._make_cell(entry.target)
        history = cell.history if cell.history and cell.history[0][0] == 0 else ((0, ()), *cell.history)
        cell.history = tuple((since, (*(e for e in old if not _replaces(entry, e)), entry)) for since, old in history)
        self._edited = True
        self._publish()

    def _publish(self) -> None:
        if self._edited and not self._depth:
            self._edited = False
            snapshot = Snapshot(self, self.snapshot.version + 1)
            self._held.add(snapshot)
            self.snapshot = snapshot

    def _needed(self, history: tuple[tuple[int, Entries], ...]) -> tuple[tuple[int, Entries], ...]:
        """Those that a snapshot which somebody holds still sees."""
        versions = {snapshot.version for snapshot in list(self._held)}
        ends = [since for since, _ in history[1:]]
        kept = [item for item, end in zip(history, ends) if any(item[0] <= v < end for v in versions)]
        return (*kept, history[-1])


_REPLACED = {
    RRULE: (RRULE, NON_DIFFERENTIABLE),
    FRULE: (FRULE, NON_DIFFERENTIABLE),
    NON_DIFFERENTIABLE: (RRULE, FRULE, NON_DIFFERENTIABLE),
    OPT_OUT: (OPT_OUT,),
    ALTERNATIVE: (ALTERNATIVE,),
}


def _replaces(new: Entry, old: Entry) -> bool:
    same = new.layer == old.layer and new.keywords == old.keywords
    return same and old.kind in _REPLACED[new.kind] and signature_types(new) == signature_types(old)


TABLE = Table()
