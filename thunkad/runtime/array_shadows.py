"""The shadows of arrays: buffers of the allocations that they live in, seen through the same addresses and strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.runtime.allocations import allocation_of, repeats_memory
from thunkad.runtime.cotangents import index_add


class ArrayShadows:
    """A buffer for each allocation.

    Of a view that repeats memory (:func:`numpy.broadcast_to`, sliding windows) the shadow repeats it, too, and is not
    handed out.
    """

    def __init__(self) -> None:
        self._arrays: dict[int, tuple[Any, int, np.ndarray]] = {}

    def _has(self, x: np.ndarray) -> bool:
        """Whether anything has a shadow in the memory of ``x``."""
        return id(allocation_of(x)) in self._arrays

    def _array(self, x: np.ndarray) -> np.ndarray:
        kind = x.dtype.kind
        if kind in "OV":
            what = "objects" if kind == "O" else "records"
            raise UnsupportedSyntaxError(f"an array of {what} that is changed in place", hint=f"use lists of {what}")
        # Eight bytes for each byte of integers or truths.
        dtype, scale = (x.dtype, 1) if kind in "fc" else (np.dtype(float), 8)
        root = allocation_of(x)
        if id(root) not in self._arrays:
            low, high = np.lib.array_utils.byte_bounds(root)
            self._arrays[id(root)] = root, low, np.zeros((high - low) * scale, np.uint8)
        _, low, memory = self._arrays[id(root)]
        offset = x.__array_interface__["data"][0] - low
        return np.ndarray(x.shape, dtype, memory, offset * scale, tuple(s * scale for s in x.strides))

    def _whole(self, x: np.ndarray) -> np.ndarray:
        """The same where it is handed out, or written at some of its places."""
        if repeats_memory(x):
            raise UnsupportedSyntaxError(
                "an array that repeats memory (np.broadcast_to, sliding windows) where memory is written in place",
                hint="take a copy of it first",
            )
        return self._array(x)

    def _add_array(self, x: np.ndarray, x_bar: Any) -> None:
        shadow = self._array(x)
        x_bar = np.real(x_bar) if np.iscomplexobj(x_bar) and shadow.dtype.kind == "f" else x_bar
        if repeats_memory(x):
            _add_repeated(shadow, x_bar)
        else:
            shadow += x_bar

    def _add_gathered(self, x: np.ndarray, key: Any, part_bar: Any) -> None:
        """Add the cotangent of a number or a copy of some elements of ``x``."""
        if repeats_memory(x):
            _add_repeated(shadow := self._array(x), index_add(np.zeros_like(shadow), key, part_bar))
        else:
            index_add(self._array(x), key, part_bar)

    def _taken_array(self, x: np.ndarray) -> np.ndarray:
        shadow = self._array(x)
        if repeats_memory(x):
            return _take_repeated(shadow)
        found = shadow.copy()
        shadow[...] = 0
        return found


def _add_repeated(shadow: np.ndarray, x_bar: Any) -> None:
    """Add the cotangent of a view that repeats memory into its shadow, which repeats memory in the same way."""
    sums = np.zeros(_count(index := _elements(shadow)), shadow.dtype)
    np.add.at(sums, index.ravel(), np.broadcast_to(x_bar, shadow.shape).ravel())
    first = _first(index)
    shadow[first] += sums[index[first]]


def _take_repeated(shadow: np.ndarray) -> np.ndarray:
    """What such a shadow holds, each element of memory at one of its places; leaves zero.

    Whoever made the view adds up what the places of an element hold, so it does not matter which of them has it.
    """
    found = np.zeros(shadow.shape, shadow.dtype)
    first = _first(_elements(shadow))
    found[first] = shadow[first]
    shadow[...] = 0
    return found


def _elements(x: np.ndarray) -> np.ndarray:
    """For each place in ``x`` the number of the element of memory that shows there."""
    index = np.zeros(x.shape, np.intp)
    for axis, (size, stride) in enumerate(zip(x.shape, x.strides)):
        index += (np.arange(size) * stride).reshape(-1, *(1,) * (x.ndim - axis - 1))
    return (index - index.min(initial=0)) // x.itemsize


def _count(index: np.ndarray) -> int:
    return int(index.max(initial=-1)) + 1


def _first(index: np.ndarray) -> tuple[np.ndarray, ...]:
    """One place for each element, as an index."""
    place = np.full(_count(index), -1)
    place[index.ravel()] = np.arange(index.size)
    return np.unravel_index(place[place >= 0], index.shape)
