"""``scipy.ndimage``: filters that select (maxima, medians), sums over labelled regions."""

from __future__ import annotations

import math

import numpy as np
from scipy import ndimage

from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse
from thunkad.rules.scipy.ndimage_helpers import bordered
from thunkad.rules.scipy.ndimage_output import delivered, option

non_differentiable(
    ndimage.label,
    ndimage.find_objects,
    ndimage.maximum_position,
    ndimage.minimum_position,
    ndimage.value_indices,
    ndimage.histogram,
    ndimage.generate_binary_structure,
    ndimage.iterate_structure,
    ndimage.watershed_ift,
    *(getattr(ndimage, name) for name in dir(ndimage) if name.startswith("binary_")),
)


def margins_of(size, origin, k, ndim):
    """How far axis number ``k`` is carried on at its ends, for ``np.pad``."""
    before = option(size, k) // 2 + option(origin, k)
    return [(before, option(size, k) - 1 - before) if axis == k else (0, 0) for axis in range(ndim)]


non_differentiable(margins_of)


def windows(input, size, mode, cval, origin):
    """What a filter of this size sees at each place, on one more axis at the end."""
    x = np.asarray(input)
    for k in range(x.ndim):
        x = bordered(x, margins_of(size, origin, k, x.ndim), option(mode, k), cval)
    seen = np.lib.stride_tricks.sliding_window_view(x, [option(size, k) for k in range(x.ndim)])
    return np.reshape(seen, (*np.shape(input), -1))


@alternative(ndimage.maximum_filter)
def maximum_filter(input, size, *, output=None, mode="reflect", cval=0.0, origin=0):
    return delivered(np.max(windows(input, size, mode, cval, origin), axis=-1), output)


@alternative(ndimage.minimum_filter)
def minimum_filter(input, size, *, output=None, mode="reflect", cval=0.0, origin=0):
    return delivered(np.min(windows(input, size, mode, cval, origin), axis=-1), output)


@alternative(ndimage.rank_filter)
def rank_filter(input, rank, size, *, output=None, mode="reflect", cval=0.0, origin=0):
    return delivered(np.sort(windows(input, size, mode, cval, origin), axis=-1)[..., rank], output)


def middle(size, ndim):
    """Which of the sorted values of a window of this size ``ndimage.median_filter`` takes."""
    return math.prod(option(size, k) for k in range(ndim)) // 2


non_differentiable(middle)


@alternative(ndimage.median_filter)
def median_filter(input, size, *, output=None, mode="reflect", cval=0.0, origin=0):
    rank = middle(size, np.ndim(input))
    return delivered(np.sort(windows(input, size, mode, cval, origin), axis=-1)[..., rank], output)


# Regions


def regions(input, labels, index):
    """For each region that is asked for, where it is; one for the whole array, if none are."""
    if labels is None:
        return [np.ones(np.shape(input), bool)]
    labels = np.broadcast_to(labels, np.shape(input))
    return [labels > 0] if index is None else [labels == k for k in np.ravel(index)]


non_differentiable(regions)


def of_regions(f, input, labels, index, double=True):
    """``f`` of the numbers in each region, of the shape of ``index``."""
    x = np.asarray(input)
    if double and labels is not None:
        x = x.astype(np.result_type(x.dtype, np.float64))
    each_region = [f(x[where]) for where in regions(x, labels, index)]
    return each_region[0] if labels is None or index is None else np.reshape(np.stack(each_region), np.shape(index))


@alternative(ndimage.sum_labels)
def sum_labels(input, labels=None, index=None):
    return of_regions(np.sum, input, labels, index)


@alternative(ndimage.sum)
def sum_(input, labels=None, index=None):
    return of_regions(np.sum, input, labels, index)


@alternative(ndimage.mean)
def mean(input, labels=None, index=None):
    return of_regions(np.mean, input, labels, index)


@alternative(ndimage.variance)
def variance(input, labels=None, index=None):
    return of_regions(np.var, input, labels, index)


@alternative(ndimage.standard_deviation)
def standard_deviation(input, labels=None, index=None):
    return of_regions(np.std, input, labels, index)


@alternative(ndimage.maximum)
def maximum(input, labels=None, index=None):
    return of_regions(np.max, input, labels, index, double=False)


@alternative(ndimage.minimum)
def minimum(input, labels=None, index=None):
    return of_regions(np.min, input, labels, index, double=False)


@alternative(ndimage.center_of_mass)
def center_of_mass(input, labels=None, index=None):
    x = np.asarray(input)
    masses = [np.where(where, x, 0.0) for where in regions(x, labels, index)]
    axes = np.indices(x.shape)
    centers = [tuple(np.sum(mass * axis) / np.sum(mass) for axis in axes) for mass in masses]
    return centers[0] if labels is None or index is None or np.ndim(index) == 0 else centers


refuse(
    "of scipy.ndimage the linear filters, maximum_filter, minimum_filter, rank_filter, median_filter, interpolation and sums "
    "over regions have derivatives; write it with these, or with NumPy on np.lib.stride_tricks.sliding_window_view",
    *(
        getattr(ndimage, name)
        for name in dir(ndimage)
        if name.startswith(("distance_", "fourier_", "generic_", "grey_", "morphological_", "vectorized_"))
    ),
    ndimage.black_tophat,
    ndimage.white_tophat,
    ndimage.extrema,
    ndimage.labeled_comprehension,
    ndimage.maximum_filter1d,
    ndimage.median,
    ndimage.minimum_filter1d,
    ndimage.percentile_filter,
)
