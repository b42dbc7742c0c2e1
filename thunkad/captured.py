"""Parameters that a function captures: it closes over them, reads them as globals or holds them in attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from thunkad.errors import ArgumentError


class Params:
    """Arrays to differentiate for that are no arguments; they are recognised by identity.

    Parameters
    ----------
    arrays : iterable
        Arrays of numbers; lists, tuples, dicts and other ``Params`` are looked into.  An array that occurs twice counts
        once.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Iterable[Any] = ()) -> None:
        found: dict[int, np.ndarray] = {}
        for array in _leaves(arrays):
            found.setdefault(id(array), array)
        self.arrays: tuple[np.ndarray, ...] = tuple(found.values())

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __contains__(self, array: object) -> bool:
        return any(array is a for a in self.arrays)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{a.dtype}{list(a.shape)}' for a in self.arrays)})"


def _leaves(x: Any) -> Iterator[np.ndarray]:
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fciu":
            raise ArgumentError(f"Params takes arrays of numbers, not an array of dtype {x.dtype}")
        yield x
    elif isinstance(x, Mapping):
        for v in x.values():
            yield from _leaves(v)
    elif isinstance(x, Iterable) and not isinstance(x, (str, bytes)):
        for v in x:
            yield from _leaves(v)
    else:
        raise ArgumentError(
            f"Params takes arrays and containers of arrays, not {type(x).__name__!r}",
            hint="numbers have no identity; keep them in an array, or pass them as arguments",
        )


class Grads(Mapping[Any, Any]):
    """The gradients of captured parameters: ``grads[array]``, by identity, in the order of the :class:`Params`.

    Independent of every other ``Grads``: nothing that is called later changes it.
    """

    __slots__ = ("_entries",)

    def __init__(self, arrays: Iterable[np.ndarray], gradients: Iterable[Any]) -> None:
        self._entries = {id(a): (a, g) for a, g in zip(arrays, gradients)}

    def __getitem__(self, array: Any) -> Any:
        try:
            return self._entries[id(array)][1]
        except KeyError:
            raise KeyError("not one of the captured parameters (they are told apart by identity)") from None

    def __contains__(self, array: object) -> bool:
        return id(array) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return (a for a, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> Any:
        return list(self._entries.values())

    def values(self) -> Any:
        return [g for _, g in self._entries.values()]

    def keys(self) -> Any:
        return [a for a, _ in self._entries.values()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grads):
            return NotImplemented
        return self._entries.keys() == other._entries.keys() and all(
            np.array_equal(g, other._entries[k][1]) for k, (_, g) in self._entries.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Grads({', '.join(repr(g) for g in self.values())})"
