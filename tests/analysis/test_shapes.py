"""Slices that are surely of one shape: what is said of them has to hold for arrays of every size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from thunkad.analysis.shapes import SCALAR, _cut
from thunkad.ir import nodes as n

BOUNDS = (None, -3, -2, -1, 0, 1, 2, 3)


def as_index(lower, upper, step=None):
    return n.Slice(*(None if b is None else n.Const(b) for b in (lower, upper, step)))


def test_slices_that_are_said_to_be_as_long_are_so() -> None:
    by_cut: dict[object, list[slice]] = {}
    for lower, upper, step in itertools.product(BOUNDS, BOUNDS, (None, 2, -1)):
        by_cut.setdefault(_cut(as_index(lower, upper, step), {}), []).append(slice(lower, upper, step))
    assert len(by_cut["cut", 2]) == 4  # x[2:], x[1:-1], x[:-2], x[0:-2]
    for same in by_cut.values():
        for size in range(8):
            assert len({np.zeros(size)[s].shape for s in same}) == 1


def test_indices_of_several_axes() -> None:
    inner = n.TupleExpr((as_index(1, -1), as_index(None, -2), n.Const(0)))
    other = n.TupleExpr((as_index(2, None), as_index(1, -1), n.Const(-1)))
    assert _cut(inner, {}) == _cut(other, {})
    assert _cut(inner, {}) != _cut(n.TupleExpr(inner.items[:2]), {})


@pytest.mark.parametrize("index", [n.Name("i"), as_index(None, True), n.Slice(n.Name("i")), n.TupleExpr((n.Name("mask"),))])
def test_nothing_is_said_of_others(index) -> None:
    assert _cut(index, {"mask": frozenset("m")}) is None


def test_a_bound_that_has_one_value() -> None:
    index = n.Slice(n.Name("i"))
    assert _cut(index, {"i": SCALAR}) == _cut(index, {"i": SCALAR}) is not None
    assert _cut(index, {"i": SCALAR}) != _cut(n.Slice(None, n.Name("i")), {"i": SCALAR})
