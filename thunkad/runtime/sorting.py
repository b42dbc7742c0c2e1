"""Cotangents and tangents of sorting and of what is defined by order: quantiles, median, unique."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.runtime.arrays import is_zero
from thunkad.runtime.precision import as_precise_as
from thunkad.tangents import ZERO


def scatter(y_bar: Any, order: Any, axis: int) -> Any:
    """Put ``y_bar`` where the permutation ``order`` took it from."""
    out = np.empty_like(y_bar)
    np.put_along_axis(out, order, y_bar, axis=axis)
    return out


def sort_bar(y_bar: Any, a: Any, axis: Any = -1) -> Any:
    """The cotangent of ``a`` for ``np.sort`` (equal entries in stable order)."""
    if axis is None:
        return np.reshape(sort_bar(y_bar, np.ravel(a), 0), np.shape(a))
    return scatter(y_bar, np.argsort(a, axis=axis, kind="stable"), axis)


def sort_dot(a_dot: Any, a: Any, axis: Any = -1) -> Any:
    """The tangent of ``np.sort``."""
    if axis is None:
        return sort_dot(np.ravel(a_dot), np.ravel(a), 0)
    return np.take_along_axis(a_dot, np.argsort(a, axis=axis, kind="stable"), axis=axis)


def partition_order(y: Any, a: Any, axis: int) -> Any:
    """The permutation that took ``a`` to ``y = np.partition(a)``, read off the two (equal entries in order)."""
    order = np.empty(np.shape(a), dtype=np.intp)
    sources = np.argsort(a, axis=axis, kind="stable")
    np.put_along_axis(order, np.argsort(y, axis=axis, kind="stable"), sources, axis=axis)
    return order


def partition_bar(y_bar: Any, y: Any, a: Any, axis: Any = -1) -> Any:
    """The cotangent of ``a`` for ``y = np.partition(a)``."""
    if axis is None:
        return np.reshape(partition_bar(y_bar, y, np.ravel(a), 0), np.shape(a))
    return scatter(y_bar, partition_order(y, a, axis), axis)


def partition_dot(a_dot: Any, y: Any, a: Any, axis: Any = -1) -> Any:
    """The tangent of ``y = np.partition(a)``."""
    if axis is None:
        return partition_dot(np.ravel(a_dot), y, np.ravel(a), 0)
    return np.take_along_axis(a_dot, partition_order(y, a, axis), axis=axis)


def unique_bar(y_bar: Any, ar: Any, axis: Any = None, equal_nan: bool = True) -> Any:
    """The cotangent of ``ar`` for the values of ``np.unique``: each belongs to its first occurrence."""
    values_bar = y_bar[0] if isinstance(y_bar, tuple) else y_bar
    if is_zero(values_bar):
        return ZERO
    first = np.unique(ar, return_index=True, axis=axis, equal_nan=equal_nan)[1]
    if axis is None:
        ar_bar = np.zeros(np.size(ar), values_bar.dtype)
        ar_bar[first] = values_bar
        return np.reshape(ar_bar, np.shape(ar))
    ar_bar = np.zeros(np.shape(ar), values_bar.dtype)
    np.moveaxis(ar_bar, axis, 0)[first] = np.moveaxis(values_bar, axis, 0)
    return ar_bar


def unique_dot(ar_dot: Any, y: Any, ar: Any, axis: Any = None, equal_nan: bool = True) -> Any:
    """The tangent of ``y = np.unique(ar)``; only the values have one."""
    first = np.unique(ar, return_index=True, axis=axis, equal_nan=equal_nan)[1]
    values_dot = np.ravel(ar_dot)[first] if axis is None else np.take(ar_dot, first, axis)
    return (values_dot, *[ZERO] * (len(y) - 1)) if isinstance(y, tuple) else values_dot


# quantiles: every method interpolates linearly between two order statistics, so the quantile of the ranks 0 … n - 1 is
# the (fractional) rank that is read


#: ``(q, method) -> (count -> ranks)``: :func:`median_rank`, :func:`quantile_rank` or :func:`percentile_rank`.
RankOf = Callable[[Any, Any], Callable[[int], Any]]


def median_rank(q: Any, method: Any) -> Callable[[int], Any]:
    """The function that gives the rank that ``np.median`` reads of ``count`` sorted values."""
    return lambda count: np.array((count - 1) / 2)


def quantile_rank(q: Any, method: Any) -> Callable[[int], Any]:
    """The function that gives the ranks that ``np.quantile`` reads of ``count`` sorted values."""
    return lambda count: np.asarray(np.quantile(np.arange(float(count)), q, method=method))


def percentile_rank(q: Any, method: Any) -> Callable[[int], Any]:
    """The function that gives the ranks that ``np.percentile`` reads of ``count`` sorted values."""
    return lambda count: np.asarray(np.percentile(np.arange(float(count)), q, method=method))


class _Rows:
    """``a`` as rows of the entries that are reduced together, sorted, with the ranks that are read of each row."""

    def __init__(self, a: Any, axis: Any, rank: Callable[[int], Any], skip_nan: bool) -> None:
        ndim = np.ndim(a)
        axes = range(ndim) if axis is None else [k % ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
        self.shape = np.shape(a)
        self.order = [*[k for k in range(ndim) if k not in axes], *axes]
        self.length = int(np.prod([self.shape[k] for k in axes], dtype=int))
        rows = self.rows(a)
        self.sources = np.argsort(rows, axis=1, kind="stable")
        self.counts = np.sum(np.equal(rows, rows), axis=1) if skip_nan else np.full(len(rows), self.length)
        self.groups = [(np.flatnonzero(self.counts == m), rank(int(m))) for m in np.unique(self.counts) if m > 0]
        self.ranks_shape = np.shape(rank(1))

    def rows(self, t: Any) -> Any:
        return np.reshape(np.transpose(t, self.order), (-1, self.length)) if self.length else np.zeros((0, 0))

    def weights(self, ranks: Any, dtype: Any) -> Any:
        """What each sorted entry counts in each rank: a matrix with one column for each rank."""
        ranks = np.ravel(ranks)
        low = np.floor(ranks).astype(int)
        high = np.minimum(low + 1, self.length - 1)
        out = np.zeros((self.length, ranks.size), dtype)
        columns = np.arange(ranks.size)
        out[low, columns] += 1 - (ranks - low)
        out[high, columns] += ranks - low
        return out

    def turned(self, members: Any, ranks: Any, rank_of: RankOf, q: Any, method: Any, q_dot: Any) -> Any:
        """The change of :meth:`weights` as the levels ``q`` move by ``q_dot``."""
        out = np.zeros((self.length, np.size(ranks)))
        if method not in _GROWING:
            return out
        count = self.counts[members[0]]
        unit = 100.0 if rank_of is percentile_rank else 1.0
        change = rank_growth(rank_of, q, method, count, unit) * np.ravel(q_dot)
        low = np.floor(np.ravel(ranks)).astype(int)
        columns = np.arange(np.size(ranks))
        out[low, columns] -= change
        out[np.minimum(low + 1, count - 1), columns] += change
        return out


def rank_growth(rank_of: RankOf, q: Any, method: Any, count: Any, unit: float) -> Any:
    """How fast the ranks read of ``count`` values grow with the levels ``q``, of which ``unit`` is the highest."""
    q = np.asarray(q, float)
    below, above = np.maximum(q - _STEP, 0.0), np.minimum(q + _STEP, unit)
    return np.ravel((rank_of(above, method)(int(count)) - rank_of(below, method)(int(count))) / (above - below))


#: The methods of ``np.quantile`` that read a rank which grows with the level; the others jump from rank to rank.
_GROWING = frozenset("linear interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased".split())
_STEP = 2.0**-14


def _real_dtype(t: Any) -> Any:
    dtype = np.asarray(t).dtype
    return dtype if dtype.kind in "fc" else np.dtype(float)


def quantile_bar(
    y_bar: Any,
    a: Any,
    axis: Any,
    rank_of: RankOf,
    q: Any = None,
    method: Any = None,
    skip_nan: bool = False,
    q_dot: Any = None,
) -> Any:
    """The cotangent of ``a`` for the order statistics (between them: interpolated) at the ranks that ``rank_of`` gives.

    With ``q_dot``, the change of it as the levels ``q`` move so.
    """
    if np.size(a) == 0:
        return np.zeros(np.shape(a))
    rows = _Rows(a, axis, rank_of(q, method), skip_nan)
    dtype = _real_dtype(y_bar)
    seeds = np.reshape(y_bar, (int(np.prod(rows.ranks_shape, dtype=int)), -1))
    sorted_bar = np.zeros(rows.sources.shape, dtype)
    for members, ranks in rows.groups:
        matrix = rows.weights(ranks, dtype) if q_dot is None else rows.turned(members, ranks, rank_of, q, method, q_dot)
        sorted_bar[members] = seeds[:, members].T @ matrix.T
    moved = np.reshape(scatter(sorted_bar, rows.sources, 1), [rows.shape[k] for k in rows.order])
    return np.transpose(moved, np.argsort(rows.order))


def with_levels(quantiles: Callable[..., Any], dots: tuple[Any, Any], first: Any, *rest: Any) -> Any:
    """The tangent of ``quantiles(first, *rest)``, linear in ``first``, for those of ``first`` and of the levels."""
    first_dot, q_dot = dots
    total = first_dot if is_zero(first_dot) else quantiles(first_dot, *rest)
    return total if is_zero(q_dot) else total + quantiles(first, *rest, q_dot=q_dot)


def quantile_dot(
    a_dot: Any,
    y: Any,
    a: Any,
    axis: Any,
    rank_of: RankOf,
    q: Any = None,
    method: Any = None,
    skip_nan: bool = False,
    q_dot: Any = None,
) -> Any:
    """The tangent of the order statistics ``y``, or with ``q_dot`` the change of it as the levels ``q`` move so."""
    if is_zero(a_dot):
        return a_dot
    if np.size(a) == 0:
        return np.zeros(np.shape(y))
    rows = _Rows(a, axis, rank_of(q, method), skip_nan)
    dtype = _real_dtype(a_dot)
    sorted_dot = np.take_along_axis(rows.rows(a_dot), rows.sources, axis=1)
    out = np.zeros((int(np.prod(rows.ranks_shape, dtype=int)), len(sorted_dot)), dtype)
    for members, ranks in rows.groups:
        matrix = rows.weights(ranks, dtype) if q_dot is None else rows.turned(members, ranks, rank_of, q, method, q_dot)
        out[:, members] = (sorted_dot[members] @ matrix).T
    return np.reshape(out, np.shape(y))[()]


def quantile_level_slope(
    y: Any,
    a: Any,
    q: Any,
    axis: Any,
    rank_of: RankOf,
    method: Any,
    unit: float = 1.0,
    skip_nan: bool = False,
    a_dot: Any = None,
) -> Any:
    """The derivative of quantiles ``y`` by their level: how fast the rank grows, times the gap that it moves in.

    ``unit`` is the highest level.  With ``a_dot``, the change of it as ``a`` moves so.
    """
    if method not in _GROWING or np.size(a) == 0:
        return np.zeros(np.shape(y))
    rows = _Rows(a, axis, rank_of(np.asarray(q, float), method), skip_nan)
    entries = np.take_along_axis(rows.rows(a if a_dot is None else a_dot), rows.sources, axis=1)
    out = np.zeros((int(np.prod(rows.ranks_shape, dtype=int)), len(entries)))
    for members, ranks in rows.groups:
        count = rows.counts[members[0]]
        growth = rank_growth(rank_of, q, method, count, unit)
        low = np.floor(np.ravel(ranks)).astype(int)
        high = np.minimum(low + 1, count - 1)
        out[:, members] = ((entries[members][:, high] - entries[members][:, low]) * growth).T
    return np.reshape(out, np.shape(y))


def quantile_level_bar(y_bar: Any, slope: Any, q: Any) -> Any:
    """The cotangent of the level ``q`` of quantiles with the derivative ``slope`` by it."""
    q_bar = np.sum(y_bar * slope, axis=tuple(range(np.ndim(q), np.ndim(slope))))
    return list(q_bar) if isinstance(q, (list, tuple)) else q_bar


def quantile_level_dot(q_dot: Any, y: Any, slope: Callable[[], Any]) -> Any:
    """The contribution of the tangent of a quantile's level."""
    if is_zero(q_dot):
        return ZERO
    found = as_precise_as(slope(), y)
    q_dot = as_precise_as(q_dot, y)
    return np.reshape(q_dot, np.shape(q_dot) + (1,) * (np.ndim(found) - np.ndim(q_dot))) * found
