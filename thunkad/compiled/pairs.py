"""A compiled callee."""

from __future__ import annotations

from typing import Any

from thunkad.compiled.load import Slot


class Pair:
    """A callee compiled for one demand: the two halves, and whose globals they run in."""

    def __init__(self, forward: Slot, reverse: Slot, owner: Any) -> None:
        self.forward, self.reverse, self.owner = forward, reverse, owner
        self.written: tuple[str, ...] = ()  # parameters that are written in place
        self.changed: tuple[str, ...] = ()  # of these, those of which others may see it
        # Those whose cotangents surely are in the caller's shadows; the others' may be there.
        self.shadowed: frozenset[str] = frozenset()

        self.notes = False  # whether it takes, first, a list for what it raises: see thunkad.normal.attempted

    @property
    def writes(self) -> bool:
        """Whether its reverse half takes the caller's shadows."""
        return bool(self.written)
