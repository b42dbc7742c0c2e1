"""Functions that call a function: written out in Python, so that what they call is looked into."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.rules.refused import refuse
from thunkad.runtime.arrays import unbroadcast
from thunkad.runtime.function_arguments import (
    all_axes,
    check_elementwise,
    piece_conditions,
    placed,
    placed_dot,
    result_types,
)
from thunkad.tangents import NoTangent, thunk

non_differentiable(all_axes, check_elementwise, piece_conditions, result_types)
refuse("its results are arrays of objects; use np.vectorize", np.frompyfunc)


@alternative(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    lanes = np.moveaxis(arr, axis, -1)
    rows = np.reshape(lanes, (-1, lanes.shape[-1]))
    results = np.stack([np.asarray(func1d(row, *args, **kwargs)) for row in rows])
    inner = results.ndim - 1
    results = np.reshape(results, (*lanes.shape[:-1], *results.shape[1:]))
    return (
        np.moveaxis(results, all_axes(lanes.ndim - 1, inner), all_axes(axis % lanes.ndim, inner))
        if inner
        else results[()]
    )


@alternative(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    value = np.asarray(a)
    for k in range(np.size(axes)):
        axis = int(np.ravel(axes)[k]) % np.ndim(a)
        reduced = func(value, axis)
        value = reduced if reduced.ndim == value.ndim else np.expand_dims(reduced, axis)
    return value


@alternative(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*np.indices(shape, dtype=dtype), **kwargs)


@alternative(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    x = np.asarray(x)
    total = np.zeros(x.shape, x.dtype)
    for condition, function in zip(piece_conditions(x, condlist, len(funclist)), funclist):
        if np.any(condition):
            piece = function(x[condition], *args, **kw) if callable(function) else function
            total = np.where(condition, placed(piece, condition), total)
    return total.astype(x.dtype)


@rrule(placed)
def _(piece, condition):
    y = placed(piece, condition)

    def pullback(y_bar):
        return thunk(lambda: unbroadcast(y_bar[condition], piece)), NoTangent()

    return y, pullback


@frule(placed)
def _(piece, condition, *, piece_dot):
    return placed(piece, condition), placed_dot(piece_dot, condition)


@alternative(np.vectorize)
def vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    def elementwise(*args, **kwargs):
        check_elementwise(signature, excluded, args, kwargs)
        return for_each_element(pyfunc, otypes, args)

    return elementwise


@alternative(np.vectorize.__call__)
def vectorized(self, *args, **kwargs):
    if self.pyfunc is np._NoValue:  # a decorator with arguments
        return np.vectorize(args[0], self.otypes, excluded=self.excluded, signature=self.signature)
    check_elementwise(self.signature, self.excluded, args, kwargs)
    return for_each_element(self.pyfunc, self.otypes, args)


def for_each_element(function, otypes, args):
    shape = np.broadcast_shapes(*map(np.shape, args))
    arrays = [np.full(shape, a) for a in args]
    results = [function(*items) for items in zip(*[np.ravel(a).tolist() for a in arrays])]
    types = result_types(function, otypes, arrays)
    if type(results[0]) is tuple:
        return tuple([np.reshape(np.array(list(part), dtype), shape) for part, dtype in zip(zip(*results), types)])
    return np.reshape(np.array(results, types[0]), shape)
