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
from thunkad.rules.updates_at import UPDATED
from thunkad.runtime.keyword_calls import at_rounds, converted, positions
from thunkad.runtime.ufunc_methods import front_order, front_rows, front_shape, reduced_axes, segments, start_of

#: Keywords of universal functions that the rules do without.
OF_UFUNCS = ("dtype", "order", "subok", "casting")
AT_OF_ANY = "it writes into its first argument; call it where the array is made"
NOT_GIVEN: Any = np._NoValue  # type: ignore[attr-defined]

non_differentiable(at_rounds, front_order, front_rows, front_shape, positions, reduced_axes, segments)
non_differentiable(at_rounds, positions)


def kinds_of(target: Any) -> set[str]:
    """What the table holds for ``target`` while the library is read in."""
    return {e.kind for e in TABLE.pending(target) if not e.keywords}


def outer_of(function: Any) -> None:
    """``function.outer``: the function of every pair."""

    @alternative(function.outer)
    def outer(A, B):
        return function(np.reshape(A, (*np.shape(A), *(1,) * np.ndim(B))), B)

    @alternative(function.outer, keywords=OF_UFUNCS)
    def call(A, B, *, dtype=None, order="K", subok=True, casting="same_kind"):
        first = np.reshape(A, (*np.shape(A), *(1,) * np.ndim(B)))
        return function(first, B, dtype=dtype, order=order, casting=casting)


def fold_of(function: Any) -> None:
    """``function.reduce``: one element after the other."""

    @alternative(function.reduce)
    def fold(array, axis=0, dtype=None, *, keepdims=False, initial=NOT_GIVEN, where=True):
        array = converted(array, dtype, "unsafe")
        rows = np.reshape(np.transpose(array, front_order(array, axis)), front_shape(array, axis))
        if where is True and len(rows) > 0:
            total = rows[0] if initial is NOT_GIVEN or initial is None else function(initial, rows[0])
            for k in range(1, len(rows)):
                total = function(total, rows[k])
        else:
            start = start_of(function, initial)
            total = np.full(np.shape(rows)[1:], start, np.result_type(rows, start))
            chosen = front_rows(where, array, axis)
            for k in range(len(rows)):
                total = np.where(chosen[k], function(total, rows[k]), total)
        return np.expand_dims(total, reduced_axes(array, axis)) if keepdims else total


def scan_of(function: Any) -> None:
    """``function.accumulate``: all intermediate results of ``reduce``."""

    @alternative(function.accumulate)
    def scan(array, axis=0, dtype=None):
        rows = np.moveaxis(converted(array, dtype, "unsafe"), axis, 0)
        if len(rows) == 0:
            return np.moveaxis(function(rows, rows), 0, axis)
        total = rows[0]
        results = [total]
        for k in range(1, len(rows)):
            total = function(total, rows[k])
            results = [*results, total]
        return np.stack(results, axis)


def segments_of(function: Any) -> None:
    """``function.reduceat``: ``reduce`` of each segment."""

    @alternative(function.reduceat)
    def reduce_segments(array, indices, axis=0, dtype=None):
        rows = np.moveaxis(converted(array, dtype, "unsafe"), axis, 0)
        parts = [function.reduce(rows[a:b]) for a, b in segments(indices, len(rows))]
        return np.stack(parts, axis)


def at_of(function: Any) -> None:
    """``function.at`` as a function that returns the updated array: in rounds, none of which has a place twice."""

    def updated(a, indices, b):
        places = positions(a, indices)
        given = np.broadcast_to(b, np.shape(places))
        y = np.array(np.ravel(a))
        for turn in at_rounds(places):
            y[places[turn]] = function(y[places[turn]], given[turn])
        return np.reshape(y, np.shape(a))

    UPDATED[function] = updated


def at_of_one(function: Any) -> None:
    """The same for a function of one argument, which is applied as often as a place occurs."""

    def updated(a, indices):
        places = positions(a, indices)
        y = np.array(np.ravel(a))
        for turn in at_rounds(places):
            y[places[turn]] = function(y[places[turn]])
        return np.reshape(y, np.shape(a))

    UPDATED[function] = updated


def all_of(function: Any) -> None:
    """What the methods of ``function`` are."""
    methods: tuple[Any, ...] = (function.outer, function.reduce, function.accumulate, function.reduceat)
    define_by: tuple[Any, ...] = (outer_of, fold_of, scan_of, segments_of)
    if NON_DIFFERENTIABLE in kinds_of(function):
        non_differentiable(*methods)
        refuse("it works in place on whole numbers or truth values", function.at)
        return
    refuse(AT_OF_ANY, function.at)
    at_of(function)
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
        if function.nout == 1 and function.signature is None and function.nin == 2:
            all_of(function)
        elif function.nout == 1 and function.nin == 1 and kinds_of(function) & {RRULE, ALTERNATIVE}:
            refuse(AT_OF_ANY, function.at)
            at_of_one(function)


define_all()
