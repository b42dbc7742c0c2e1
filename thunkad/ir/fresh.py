"""New names that read well and never collide."""

from __future__ import annotations

import keyword
from collections.abc import Iterable


class Names:
    """A set of taken names and a source of new ones."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._temporary = 0
        self._next: dict[str, int] = {}

    def copy(self) -> Names:
        """An independent source that knows the same names."""
        other = Names(self.taken)
        other._temporary, other._next = self._temporary, dict(self._next)
        return other

    def reserve(self, names: Iterable[str]) -> None:
        self.taken.update(names)

    def new(self, wish: str) -> str:
        """``wish`` itself if it is free, else ``wish_1``, ``wish_2``, …"""
        name, k = wish, self._next.get(wish, 1)
        while name in self.taken or keyword.iskeyword(name):
            name = f"{wish}_{k}"
            k += 1
        self._next[wish] = k
        self.taken.add(name)
        return name

    def temporary(self) -> str:
        """``t1``, ``t2``, …"""
        while True:
            self._temporary += 1
            name = f"t{self._temporary}"
            if name not in self.taken:
                self.taken.add(name)
                return name
