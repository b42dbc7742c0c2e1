"""Heaps: what the functions of ``heapq`` do to a list, step by step, so that what it holds can be followed."""

from __future__ import annotations

from typing import Any


def risen(heap: Any, first: int, place: int) -> None:
    """Let an item rise from ``place``, but not above ``first``, until its parent is not larger."""
    item = heap[place]
    while place > first:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def sunk(heap: Any, place: int) -> None:
    """Let the smaller child of each place move up, down to a leaf, and an item rise from there."""
    first, end, item = place, len(heap), heap[place]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = item
    risen(heap, first, place)


def pushed(heap: Any, item: Any) -> None:
    """``heapq.heappush``"""
    heap.append(item)
    risen(heap, 0, len(heap) - 1)


def popped(heap: Any) -> Any:
    """``heapq.heappop``"""
    last = heap.pop()
    return replaced(heap, last) if heap else last


def replaced(heap: Any, item: Any) -> Any:
    """``heapq.heapreplace``"""
    smallest = heap[0]
    heap[0] = item
    sunk(heap, 0)
    return smallest


def pushed_and_popped(heap: Any, item: Any) -> Any:
    """``heapq.heappushpop``"""
    return replaced(heap, item) if heap and heap[0] < item else item


def made(x: Any) -> None:
    """``heapq.heapify``"""
    for place in reversed(range(len(x) // 2)):
        sunk(x, place)
