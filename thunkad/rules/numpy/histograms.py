"""Histograms: counts are constants, weighted ones are linear in the weights, edges follow the extremes of the data."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.runtime.histograms import (
    along,
    columns_of,
    count_type,
    histogram2d_bins,
    is_sequence,
    number_of_bins,
    plain_counts,
    weighted_counts,
    weights_bar,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(
    along, columns_of, count_type, histogram2d_bins, is_sequence, number_of_bins, plain_counts
)


@rrule(weighted_counts)
def _(weights, samples, edges):
    y = weighted_counts(weights, samples, edges)

    def pullback(y_bar):
        return thunk(lambda: weights_bar(y_bar, samples, edges)), NoTangent(), NoTangent()

    return y, pullback


@frule(weighted_counts)
def _(weights, samples, edges, *, weights_dot):
    return weighted_counts(weights, samples, edges), weighted_counts(weights_dot, samples, edges)


def edges_along(a, bins, range):
    """The edges for one variable: between the extremes of the data or of ``range``, where ``bins`` is a number."""
    if np.ndim(bins):
        return np.asarray(bins)
    if range is None:
        range = (np.min(a), np.max(a)) if np.size(a) else (0.0, 1.0)
    low, high = range[0], range[1]
    if low == high:
        low = low - 0.5
        high = high + 0.5
    return np.linspace(low, high, bins + 1)


@alternative(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return edges_along(a, number_of_bins(a, bins, range, weights), range)


@alternative(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    edges = edges_along(a, number_of_bins(a, bins, range, weights), range)
    if weights is None:
        counts = plain_counts(np.reshape(a, (-1, 1)), (edges,), density)
    else:
        counts = weighted_counts(np.ravel(weights), np.reshape(a, (-1, 1)), (edges,)).astype(count_type(weights))
    return (counts / np.diff(edges) / np.sum(counts) if density else counts), edges


@alternative(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    rows = np.stack(sample, axis=1) if isinstance(sample, (list, tuple)) else np.reshape(sample, (len(sample), -1))
    dimensions = rows.shape[1]
    edges = tuple(
        [
            edges_along(
                rows[:, k], bins[k] if np.ndim(bins) or is_sequence(bins) else bins, None if range is None else range[k]
            )
            for k in columns_of(dimensions)
        ]
    )
    counts = (
        plain_counts(rows, edges, density) if weights is None else weighted_counts(np.asarray(weights), rows, edges)
    )
    if density:
        counts = counts / np.sum(counts)
        for k in columns_of(dimensions):
            counts = counts / np.reshape(np.diff(edges[k]), along(dimensions, k))
    return counts, edges


@alternative(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    counts, edges = np.histogramdd(np.stack([x, y], axis=1), histogram2d_bins(bins), range, density, weights)
    return counts, edges[0], edges[1]
