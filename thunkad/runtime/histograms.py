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


def histogram_edges(a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """The edges of the bins of ``np.histogram``."""
    return np.histogram_bin_edges(a, bins, range, weights)


def histogramdd_edges(sample: Any, bins: Any, range: Any) -> tuple[Any, ...]:
    """The edges of the bins of ``np.histogramdd``."""
    return tuple(np.histogramdd(sample, bins, range)[1])


def histogram2d_bins(bins: Any) -> Any:
    """The bins of ``np.histogram2d`` as those of ``np.histogramdd``."""
    count = len(bins) if np.ndim(bins) or isinstance(bins, (list, tuple)) else 1
    return [np.asarray(bins), np.asarray(bins)] if count not in (1, 2) else bins


def as_columns(sample: Any) -> Any:
    """The samples of ``np.histogramdd``, one a row: a sequence of arrays holds one a column."""
    return np.atleast_2d(sample).T if isinstance(sample, (list, tuple)) else np.reshape(sample, (len(sample), -1))


def bin_volumes(edges: Any) -> Any:
    """The size of each bin."""
    total = np.ones(())
    for e in edges:
        total = np.multiply.outer(total, np.diff(e))
    return total
