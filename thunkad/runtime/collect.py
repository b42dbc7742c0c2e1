"""Where the cotangents of captured parameters go: a table for the call that is running, by identity."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from thunkad.runtime.accumulate import summed
from thunkad.runtime.cotangents import dense, entry, project_copy
from thunkad.tangents import ZERO, AbstractZero, Tangent, unthunk


class Collector:
    """Sums of cotangents for a few arrays."""

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        self.arrays = arrays
        self.bars: dict[int, Any] = {id(a): ZERO for a in arrays}

    def add(self, x: Any, x_bar: Any) -> None:
        """Add the cotangent of ``x``: one of the arrays, or what holds some of them."""
        x_bar = unthunk(x_bar)
        if isinstance(x_bar, AbstractZero):
            return
        if isinstance(x, np.ndarray):
            if id(x) in self.bars:
                before = self.bars[id(x)]
                self.bars[id(x)] = dense(x_bar, x) if isinstance(before, AbstractZero) else summed(before, x_bar, x)
        elif isinstance(x, types.MethodType):
            self.add(x.__self__, x_bar)
        elif isinstance(x_bar, Tangent):
            for name in x_bar:
                self.add(getattr(x, name, None), x_bar[name])
        elif isinstance(x, (list, tuple, dict)):
            for k in x if isinstance(x, dict) else range(len(x)):
                self.add(x[k], entry(x_bar, k))
        elif dataclasses.is_dataclass(x) and type(x_bar) is type(x):
            for f in dataclasses.fields(x):
                self.add(getattr(x, f.name), getattr(x_bar, f.name))

    def gradients(self) -> list[Any]:
        """One gradient for each array, in memory of its own; zeros where nothing arrived."""
        return [project_copy(self.bars[id(a)], a) for a in self.arrays]


_current: contextvars.ContextVar[Collector | None] = contextvars.ContextVar("thunkad_collector", default=None)


@contextlib.contextmanager
def collecting(arrays: tuple[Any, ...]) -> Iterator[Collector]:
    """Collect what :func:`collect` is given while the block runs."""
    collector = Collector(arrays)
    token = _current.set(collector)
    try:
        yield collector
    finally:
        _current.reset(token)


def collect(x: Any, x_bar: Any) -> None:
    """Note ``x_bar`` as a cotangent of ``x``, if ``x`` is one of the parameters that are differentiated."""
    collector = _current.get()
    if collector is not None:
        collector.add(x, x_bar)
