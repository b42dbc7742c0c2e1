"""The methods ``reduce``, ``accumulate``, ``reduceat`` and ``outer`` of universal functions of two arguments.

Those of sums, products and extremes have rules of their own; all others are written out with the function itself, which
is then looked into.  ``at`` writes into its first argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.rules.entry import ALTERNATIVE, NON_DIFFERENTIABLE, RRULE
from thunkad.rules.library import alternative, non_differentiable
from thunkad.rules.refused import refuse
from thunkad.rules.table import TABLE
from thunkad.runtime.ufunc_methods import front_order, front_rows, front_shape, reduced_axes, segments, start_of

NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]

non_differentiable(front_order, front_rows, front_shape, reduced_axes, segments)


def kinds_of(target: Any) -> set[str]:
    """What the table holds for ``target`` while the library is read in."""
    return {e.kind for e in TABLE.pending(target)}


def outer_of(function: Any) -> None:
    """``function.outer``: the function of every pair."""

    @alternative(function.outer)
    def outer(A, B):
        return function(np.reshape(A, (*np.shape(A), *(1,) * np.ndim(B))), B)


def fold_of(function: Any) -> None:
    """``function.reduce``: one element after the other."""

    @alternative(function.reduce)
    def fold(array, axis=0, *, keepdims=False, initial=NOT_GIVEN, where=True):
        rows = np.reshape(np.transpose(array, front_order(array, axis)), front_shape(array, axis))
        if where is True:
            total = rows[0] if initial is NOT_GIVEN or initial is None else function(initial, rows[0])
            for k in range(1, len(rows)):
                total = function(total, rows[k])
        else:
            total = np.full(np.shape(rows)[1:], start_of(function, initial))
            chosen = front_rows(where, array, axis)
            for k in range(len(rows)):
                total = np.where(chosen[k], function(total, rows[k]), total)
        return np.expand_dims(total, reduced_axes(array, axis)) if keepdims else total


def scan_of(function: Any) -> None:
    """``function.accumulate``: all intermediate results of ``reduce``."""

    @alternative(function.accumulate)
    def scan(array, axis=0):
        rows = np.moveaxis(array, axis, 0)
        total = rows[0]
        results = [total]
        for k in range(1, len(rows)):
            total = function(total, rows[k])
            results = [*results, total]
        return np.stack(results, axis)


def segments_of(function: Any) -> None:
    """``function.reduceat``: ``reduce`` of each segment."""

    @alternative(function.reduceat)
    def reduce_segments(array, indices, axis=0):
        rows = np.moveaxis(array, axis, 0)
        parts = [function.reduce(rows[a:b]) for a, b in segments(indices, len(rows))]
        return np.stack(parts, axis)


def all_of(function: Any) -> None:
    """What the methods of ``function`` are."""
    methods: tuple[Any, ...] = (function.outer, function.reduce, function.accumulate, function.reduceat)
    define_by: tuple[Any, ...] = (outer_of, fold_of, scan_of, segments_of)
    if NON_DIFFERENTIABLE in kinds_of(function):
        non_differentiable(*methods)
        refuse("it works in place on whole numbers or truth values", function.at)
        return
    refuse(f"it writes into its first argument; write x[indices] = np.{function.__name__}(x[indices], b)", function.at)
    if function in (np.power, np.arctan2):
        refuse("NumPy's own result depends on the memory layout", function.reduce, function.reduceat)
        methods = (function.outer, function.accumulate)
        define_by = (outer_of, scan_of)
    if function is np.ldexp:
        refuse("the exponents are whole numbers, a result is not", *methods[1:])
        methods, define_by = methods[:1], (outer_of,)
    for method, define in zip(methods, define_by):
        if not kinds_of(method) & {RRULE, ALTERNATIVE, NON_DIFFERENTIABLE}:
            define(function)


UFUNCS = {u for u in vars(np).values() if isinstance(u, np.ufunc)}


def define_all() -> None:
    """Go through NumPy's universal functions; called once all their own rules are there."""
    for function in UFUNCS:
        if function.nin == 2 and function.nout == 1 and function.signature is None:
            all_of(function)


define_all()
