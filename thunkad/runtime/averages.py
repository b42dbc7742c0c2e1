"""Slopes of the functions of :mod:`statistics`, which take sequences of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def deviations(data: Sequence[Any], center: Any) -> list[Any]:
    """How far each number is from ``center``, which is their mean if it is None."""
    middle = sum(data) / len(data) if center is None else center
    return [v - middle for v in data]


def spread_slopes(data: Sequence[Any], center: Any, count: int) -> list[Any]:
    """The slopes of a variance that divides by ``count``."""
    return [2 * d / count for d in deviations(data, center)]


def root_slopes(y: Any, data: Sequence[Any], center: Any, count: int) -> list[Any]:
    """The slopes of the square root ``y`` of such a variance; none where that is zero."""
    return [d / (count * y) if y else 0.0 for d in deviations(data, center)]


def shares(data: Sequence[Any], weights: Any) -> list[Any]:
    """The part that each number has in a mean with these weights (None: all alike)."""
    if weights is None:
        return [1 / len(data)] * len(data)
    total = sum(weights)
    return [w / total for w in weights]


def weight_slopes(y: Any, data: Sequence[Any], weights: Any) -> list[Any]:
    """The slopes of the mean ``y`` in its weights."""
    total = sum(weights)
    return [(v - y) / total for v in data]


def harmonic_slopes(y: Any, data: Sequence[Any], weights: Any) -> list[Any]:
    """The slopes of the harmonic mean ``y``."""
    return [share * (y / v) ** 2 for share, v in zip(shares(data, weights), data)]


def harmonic_weight_slopes(y: Any, data: Sequence[Any], weights: Any) -> list[Any]:
    """The slopes of the harmonic mean ``y`` in its weights."""
    total = sum(weights)
    return [y * (1 - y / v) / total for v in data]


def geometric_slopes(y: Any, data: Sequence[Any]) -> list[Any]:
    """The slopes of the geometric mean ``y``."""
    return [y / (len(data) * v) for v in data]
