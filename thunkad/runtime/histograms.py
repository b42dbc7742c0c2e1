"""Which bin each sample falls into, and sums over bins."""

from __future__ import annotations

from typing import Any

import numpy as np


def bin_numbers(samples: Any, edges: Any) -> tuple[Any, Any]:
    """For each row of ``samples`` (one column for each list of edges) the number of its bin, and whether it has one."""
    shape = [len(e) - 1 for e in edges]
    inside = np.ones(len(samples), bool)
    numbers = []
    for column, e, n in zip(np.asarray(samples).T, edges, shape):
        number = np.searchsorted(e, column, side="right") - 1
        number = np.where(column == e[-1], n - 1, number)  # the last bin has both its edges
        inside &= (number >= 0) & (number < n)
        numbers.append(np.clip(number, 0, n - 1))
    return np.ravel_multi_index(numbers, shape), inside


def weighted_counts(weights: Any, samples: Any, edges: Any) -> Any:
    """The sum of the weights in each bin, in the order of ``np.histogramdd``."""
    shape = [len(e) - 1 for e in edges]
    number, inside = bin_numbers(samples, edges)
    weights = np.where(inside, weights, 0)
    size = int(np.prod(shape))
    total = np.bincount(number, np.real(weights), size)
    if np.iscomplexobj(weights):
        total = total + 1j * np.bincount(number, np.imag(weights), size)
    return np.reshape(total, shape)


def weights_bar(y_bar: Any, samples: Any, edges: Any) -> Any:
    """The cotangent of the weights: what belongs to the bin of each sample."""
    number, inside = bin_numbers(samples, edges)
    return np.where(inside, np.ravel(y_bar)[number], 0)


def number_of_bins(a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """``bins`` itself, or where it is the name of a rule the number of bins that this finds."""
    return len(np.histogram_bin_edges(a, bins, range, weights)) - 1 if isinstance(bins, str) else bins


def count_type(weights: Any) -> Any:
    """The type of sums of weights; those of whole numbers move as real numbers do."""
    dtype = np.asarray(weights).dtype
    return dtype if dtype.kind in "fc" else np.dtype(float)


def plain_counts(samples: Any, edges: Any, density: Any = None) -> Any:
    """How many samples are in each bin: integers, as NumPy gives them, or floats for a density."""
    counts = weighted_counts(np.ones(len(samples)), samples, edges)
    return counts if density or len(edges) > 1 else counts.astype(np.intp)


def is_sequence(bins: Any) -> bool:
    """Whether there is one entry of ``bins`` for each variable."""
    return isinstance(bins, (list, tuple))


def histogram2d_bins(bins: Any) -> Any:
    """The bins of ``np.histogram2d`` as those of ``np.histogramdd``: edges alone are for both variables."""
    if (is_sequence(bins) and len(bins) == 2) or not np.ndim(bins):
        return bins
    return [np.asarray(bins), np.asarray(bins)]


def columns_of(dimensions: int) -> list[int]:
    """The numbers of the variables."""
    return list(range(dimensions))


def along(dimensions: int, k: int) -> tuple[int, ...]:
    """The shape that puts a vector along axis ``k``."""
    return (1,) * k + (-1,) + (1,) * (dimensions - k - 1)
