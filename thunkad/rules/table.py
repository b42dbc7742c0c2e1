"""The rule table: immutable snapshots, one look-up that records what it read, versions."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from thunkad.rules.entry import Entry
from thunkad.rules.signatures import signature_types


class Snapshot:
    """The table at one moment.  ``cells`` maps a callee to its entries; neither is ever changed."""

    __slots__ = ("cells", "version")

    def __init__(self, cells: dict[Any, tuple[Entry, ...]], version: int) -> None:
        self.cells, self.version = cells, version

    def entries(self, fn: Any) -> tuple[Entry, ...]:
        try:
            return self.cells.get(fn, ())
        except TypeError:  # an unhashable callee has no rules
            return ()


class Table:
    """The current snapshot, and the edits that replace it."""

    def __init__(self) -> None:
        self.snapshot = Snapshot({}, 0)
        self.lock = threading.RLock()
        self._building: dict[Any, tuple[Entry, ...]] | None = None

    @contextlib.contextmanager
    def bulk(self) -> Iterator[None]:
        """Many edits as one: nobody sees the table in between."""
        with self.lock:
            nested = self._building is not None
            if not nested:
                self._building = dict(self.snapshot.cells)
            try:
                yield
            finally:
                if not nested:
                    assert self._building is not None
                    self.snapshot = Snapshot(self._building, self.snapshot.version + 1)
                    self._building = None

    def add(self, entry: Entry) -> None:
        """Register ``entry``; one of the same kind, layer and types is replaced."""
        with self.lock:
            self._edit(entry.target, lambda old: (*(e for e in old if not _same_slot(e, entry)), entry))

    def remove(self, entry: Entry) -> None:
        with self.lock:
            self._edit(entry.target, lambda old: tuple(e for e in old if e is not entry))

    def _edit(self, target: Any, change: Any) -> None:
        if self._building is not None:
            self._building[target] = change(self._building.get(target, ()))
            return
        old = self.snapshot
        cells = dict(old.cells)
        cells[target] = change(cells.get(target, ()))
        self.snapshot = Snapshot(cells, old.version + 1)


def _same_slot(a: Entry, b: Entry) -> bool:
    return a.kind == b.kind and a.layer == b.layer and signature_types(a) == signature_types(b)


TABLE = Table()
