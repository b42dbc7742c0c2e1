"""Functions of one array that return several, or of several that return as many."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.kinds.lattice import Kind, Num, Sequence, shaped
from thunkad.kinds.results import RESULT_KINDS
from thunkad.rules.library import frule, rrule
from thunkad.runtime.shaping import (
    each_reshaped,
    each_unbroadcast,
    meshgrid_bars,
    sequence_dot,
    split_bar,
    unstack_bar,
)
from thunkad.tangents import NoTangent, thunk


def _parts(args: list[Kind], kwargs: dict[str, Any]) -> Kind:
    """A list of parts of an array."""
    whole = args[0] if args and isinstance(args[0], Num) else Num("any", "any")
    return Sequence(shaped(whole.field, whole.ndim or None, array=True))


RESULT_KINDS.update(dict.fromkeys((np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit), _parts))


@rrule(np.split)
def _(ary, indices_or_sections, axis=0):
    y = np.split(ary, indices_or_sections=indices_or_sections, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: split_bar(y_bar, ary, np.split, indices_or_sections, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.split)
def _(ary, indices_or_sections, axis=0, *, ary_dot):
    y = np.split(ary, indices_or_sections=indices_or_sections, axis=axis)
    return y, np.split(ary_dot, indices_or_sections=indices_or_sections, axis=axis)


@rrule(np.array_split)
def _(ary, indices_or_sections, axis=0):
    y = np.array_split(ary, indices_or_sections=indices_or_sections, axis=axis)

    def pullback(y_bar):
        return thunk(lambda: split_bar(y_bar, ary, np.array_split, indices_or_sections, axis)), NoTangent(), NoTangent()

    return y, pullback


@frule(np.array_split)
def _(ary, indices_or_sections, axis=0, *, ary_dot):
    y = np.array_split(ary, indices_or_sections=indices_or_sections, axis=axis)
    return y, np.array_split(ary_dot, indices_or_sections=indices_or_sections, axis=axis)


@rrule(np.hsplit)
def _(ary, indices_or_sections):
    y = np.hsplit(ary, indices_or_sections=indices_or_sections)

    def pullback(y_bar):
        return thunk(lambda: split_bar(y_bar, ary, np.hsplit, indices_or_sections)), NoTangent()

    return y, pullback


@frule(np.hsplit)
def _(ary, indices_or_sections, *, ary_dot):
    y = np.hsplit(ary, indices_or_sections=indices_or_sections)
    return y, np.hsplit(ary_dot, indices_or_sections=indices_or_sections)


@rrule(np.vsplit)
def _(ary, indices_or_sections):
    y = np.vsplit(ary, indices_or_sections=indices_or_sections)

    def pullback(y_bar):
        return thunk(lambda: split_bar(y_bar, ary, np.vsplit, indices_or_sections)), NoTangent()

    return y, pullback


@frule(np.vsplit)
def _(ary, indices_or_sections, *, ary_dot):
    y = np.vsplit(ary, indices_or_sections=indices_or_sections)
    return y, np.vsplit(ary_dot, indices_or_sections=indices_or_sections)


@rrule(np.dsplit)
def _(ary, indices_or_sections):
    y = np.dsplit(ary, indices_or_sections=indices_or_sections)

    def pullback(y_bar):
        return thunk(lambda: split_bar(y_bar, ary, np.dsplit, indices_or_sections)), NoTangent()

    return y, pullback


@frule(np.dsplit)
def _(ary, indices_or_sections, *, ary_dot):
    y = np.dsplit(ary, indices_or_sections=indices_or_sections)
    return y, np.dsplit(ary_dot, indices_or_sections=indices_or_sections)


@rrule(np.unstack)
def _(x, *, axis=0):
    y = np.unstack(x, axis=axis)

    def pullback(y_bar):
        return (thunk(lambda: unstack_bar(y_bar, x, axis)),)

    return y, pullback


@frule(np.unstack)
def _(x, *, axis=0, x_dot):
    return np.unstack(x, axis=axis), np.unstack(x_dot, axis=axis)


@rrule(np.atleast_1d)
def _(*arys):
    y = np.atleast_1d(*arys)

    def pullback(y_bar):
        return (thunk(lambda: each_reshaped(y_bar, arys)),)

    return y, pullback


@frule(np.atleast_1d)
def _(*arys, arys_dot):
    y = np.atleast_1d(*arys)
    return y, sequence_dot(np.atleast_1d, arys_dot, arys)


@rrule(np.atleast_2d)
def _(*arys):
    y = np.atleast_2d(*arys)

    def pullback(y_bar):
        return (thunk(lambda: each_reshaped(y_bar, arys)),)

    return y, pullback


@frule(np.atleast_2d)
def _(*arys, arys_dot):
    y = np.atleast_2d(*arys)
    return y, sequence_dot(np.atleast_2d, arys_dot, arys)


@rrule(np.atleast_3d)
def _(*arys):
    y = np.atleast_3d(*arys)

    def pullback(y_bar):
        return (thunk(lambda: each_reshaped(y_bar, arys)),)

    return y, pullback


@frule(np.atleast_3d)
def _(*arys, arys_dot):
    y = np.atleast_3d(*arys)
    return y, sequence_dot(np.atleast_3d, arys_dot, arys)


@rrule(np.broadcast_arrays)
def _(*args):
    y = np.broadcast_arrays(*args)

    def pullback(y_bar):
        return (thunk(lambda: each_unbroadcast(y_bar, args)),)

    return y, pullback


@frule(np.broadcast_arrays)
def _(*args, args_dot):
    y = np.broadcast_arrays(*args)
    return y, sequence_dot(np.broadcast_arrays, args_dot, args)


@rrule(np.meshgrid)
def _(*xi, copy=True, sparse=False, indexing="xy"):
    y = np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)

    def pullback(y_bar):
        return (thunk(lambda: meshgrid_bars(y_bar, xi, indexing)),)

    return y, pullback


@frule(np.meshgrid)
def _(*xi, copy=True, sparse=False, indexing="xy", xi_dot):
    y = np.meshgrid(*xi, copy=copy, sparse=sparse, indexing=indexing)
    return y, sequence_dot(np.meshgrid, xi_dot, xi, copy=copy, sparse=sparse, indexing=indexing)
