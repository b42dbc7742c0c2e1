"""Functions that are made of others, written out: aliases, sets, functions with complex results on demand."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.library import alternative, non_differentiable, scalar_rule
from thunkad.runtime.domains import (
    all_indices,
    any_below_zero,
    any_outside_one,
    complex_arccos,
    complex_arcsin,
    kept_range,
    set_positions,
)

non_differentiable(all_indices, any_below_zero, any_outside_one, kept_range, set_positions)
scalar_rule(complex_arccos, lambda y, x: -(1 / np.sin(y)))
scalar_rule(complex_arcsin, lambda y, x: 1 / np.cos(y))

UniqueAll: Any = type(np.unique_all(np.zeros(1)))
UniqueCounts: Any = type(np.unique_counts(np.zeros(1)))
UniqueInverse: Any = type(np.unique_inverse(np.zeros(1)))

# Other names


@alternative(np.amax)
def amax(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    return np.max(a, axis=axis, keepdims=keepdims, initial=initial, where=where)


@alternative(np.amin)
def amin(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    return np.min(a, axis=axis, keepdims=keepdims, initial=initial, where=where)


if hasattr(np, "row_stack"):  # deprecated in NumPy 2

    @alternative(np.row_stack)  # noqa: NPY201 - where it still is, it has a rule
    def row_stack(tup, *, dtype=None, casting="same_kind"):
        return np.vstack(tup, dtype=dtype, casting=casting)


@alternative(np.sort_complex)
def sort_complex(a):
    b = np.sort(np.asarray(a))
    return b if np.iscomplexobj(b) else b.astype(np.result_type(b.dtype, np.complex128))


@alternative(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    return filt[kept_range(filt, trim, axis)]


# Sets


@alternative(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


@alternative(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    _, first, second = set_positions(ar1, ar2, assume_unique)
    common = np.ravel(ar1)[first].astype(np.result_type(ar1, ar2))
    return (common, first, second) if return_indices else common


@alternative(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    left = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return left[np.isin(left, ar2, assume_unique=True, invert=True)]


@alternative(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    left = np.ravel(ar1) if assume_unique else np.unique(ar1)
    right = np.ravel(ar2) if assume_unique else np.unique(ar2)
    both = np.concatenate((left[np.isin(left, right, invert=True)], right[np.isin(right, left, invert=True)]))
    return np.sort(both)


@alternative(np.unique_values)
def unique_values(x):
    return np.unique(x, equal_nan=False)


# Functions with complex results where the real ones end


@alternative(np.emath.sqrt)
def sqrt(x):
    return np.sqrt(np.add(x, 0j)) if any_below_zero(x) else np.sqrt(x)


@alternative(np.emath.log)
def log(x):
    return np.log(np.add(x, 0j)) if any_below_zero(x) else np.log(x)


@alternative(np.emath.log10)
def log10(x):
    return np.log10(np.add(x, 0j)) if any_below_zero(x) else np.log10(x)


@alternative(np.emath.log2)
def log2(x):
    return np.log2(np.add(x, 0j)) if any_below_zero(x) else np.log2(x)


@alternative(np.emath.logn)
def logn(n, x):
    return np.emath.log(x) / np.emath.log(n)


@alternative(np.emath.power)
def power(x, p):
    return np.power(np.add(x, 0j), np.asarray(p)) if any_below_zero(x) else np.power(x, np.asarray(p))


@alternative(np.emath.arccos)
def arccos(x):
    return complex_arccos(np.add(x, 0j)) if any_outside_one(x) else np.arccos(x)


@alternative(np.emath.arcsin)
def arcsin(x):
    return complex_arcsin(np.add(x, 0j)) if any_outside_one(x) else np.arcsin(x)


@alternative(np.emath.arctanh)
def arctanh(x):
    return np.arctanh(np.add(x, 0j)) if any_outside_one(x) else np.arctanh(x)


# Results with names


@alternative(np.unique_counts)
def unique_counts(x):
    values, counts = np.unique(x, return_counts=True, equal_nan=False)
    return UniqueCounts(values, counts)


@alternative(np.unique_inverse)
def unique_inverse(x):
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverse(values, inverse)


@alternative(np.unique_all)
def unique_all(x):
    values, indices, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return UniqueAll(values, indices, inverse, counts)


# Iterables, and a window with a parameter


@alternative(np.fromiter)
def fromiter(iter, dtype, count=-1, *, like=None):
    items = list(iter)
    return np.array(items if count < 0 else items[:count], dtype=dtype)


@alternative(np.ndenumerate)
def ndenumerate(arr):
    arr = np.asarray(arr)
    return [(index, arr[index]) for index in all_indices(arr.shape)]


@alternative(np.kaiser)
def kaiser(M, beta):
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((np.arange(M) - half) / half) ** 2)) / np.i0(beta)
