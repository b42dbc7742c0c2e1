"""Where the makers of random programs take their choices from."""

from __future__ import annotations

import random
from typing import Protocol

from hypothesis import strategies as st


class Chooser(Protocol):
    """Where choices come from: a random generator, or hypothesis."""

    def integer(self, low: int, high: int) -> int: ...


class Seeded:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


class Drawn:
    """Choices that hypothesis makes, and can make smaller."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))
