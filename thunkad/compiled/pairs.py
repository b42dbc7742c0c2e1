"""A compiled callee."""

from __future__ import annotations

from typing import Any

from thunkad.compiled.load import Slot
from thunkad.errors import UnsupportedSyntaxError


class Pair:
    """A callee compiled for one demand: the two halves, and whose globals they run in."""

    def __init__(self, forward: Slot, reverse: Slot, owner: Any) -> None:
        self.forward, self.reverse, self.owner = forward, reverse, owner
        self.written: tuple[str, ...] = ()  # parameters that are written in place
        self.changes = False  # it writes into more than the objects that it makes itself
        # Those whose cotangents surely are in the caller's shadows; the others' may be there.
        self.shadowed: frozenset[str] = frozenset()

    @property
    def writes(self) -> bool:
        """Whether its reverse half takes the caller's shadows."""
        return bool(self.written)


def refuse_writes(pair: Pair, fn: Any) -> None:
    """A callee that was found at run time can't write into what is differentiated if its caller did not foresee it."""
    name = getattr(fn, "__qualname__", None) or getattr(fn, "name", "a function")
    what = ", ".join(sorted(pair.shadowed)) or "something it is given"
    raise UnsupportedSyntaxError(
        f"{name} writes in place into its argument {what}, and which function is called here is known only at run time",
        hint="call the function by its name, or return a new value instead of changing an argument",
    )
