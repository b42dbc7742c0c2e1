"""Histograms: counts are constants, weighted ones are linear in the weights.

The edges are taken as constants too: a derivative by the samples would see them jump from bin to bin.
"""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.runtime.histograms import (
    as_columns,
    bin_volumes,
    histogram2d_bins,
    histogram_edges,
    histogramdd_edges,
    weighted_counts,
    weights_bar,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(
    np.histogram_bin_edges, as_columns, bin_volumes, histogram2d_bins, histogram_edges, histogramdd_edges
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


@alternative(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    edges = histogram_edges(a, bins, range, weights)
    if weights is None:
        return np.histogram(a, edges, density=density)
    counts = weighted_counts(np.ravel(weights), np.reshape(a, (-1, 1)), (edges,))
    return (counts / bin_volumes((edges,)) / np.sum(counts) if density else counts), edges


@alternative(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    edges = histogramdd_edges(sample, bins, range)
    if weights is None:
        return np.histogramdd(sample, edges, density=density)
    counts = weighted_counts(np.asarray(weights), as_columns(sample), edges)
    return (counts / bin_volumes(edges) / np.sum(counts) if density else counts), edges


@alternative(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    counts, edges = np.histogramdd([x, y], histogram2d_bins(bins), range, density, weights)
    return counts, edges[0], edges[1]
