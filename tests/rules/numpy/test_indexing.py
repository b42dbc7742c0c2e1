import operator

import numpy as np
import pytest

import thunkad.rules.numpy.indexing  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.runtime.indexing import assigned_last, index_add, index_bar
from thunkad.tangents import ZERO, unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(9)
VECTOR = RNG.normal(size=5)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(3, 4, 5))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))

INDICES = [
    1,
    -1,
    np.int64(2),
    slice(None),
    slice(0, 2),
    slice(None, None, -1),
    slice(2, 0, -2),
    ...,
    None,
    (),
    (1, 2),
    (slice(None), 1),
    (..., -1),
    (None, 1, ..., None),
    [0, 0, 2],
    np.array([[0, 1], [1, 1]]),
    np.array(1),
    (slice(None), [1, 1, -1]),
    ([0, 1, 1], [2, 3, 3]),
    ([[0], [2]], [1, 1]),
    (0, slice(None), [1, 1, 2]),
    (np.array([True, False, True]),),
    np.array([True, True, False]),
    CUBE > 0,
    MATRIX > 0,
    (slice(None), np.array([True, False, True, True]), [0, 0, 1]),
    True,
    np.zeros(0, int),
    (slice(None), 1, slice(None), None),
    (0, 1, 2),
]


def bars(fn, seed, *args, **kwargs):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == "rrule"]
    _, pullback = entry.function(*args, **kwargs)
    return [unthunk(b) for b in pullback(seed)]


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_index_bar_is_the_transpose_of_reading(index):
    y = CUBE[index]
    y_bar = RNG.normal(size=np.shape(y))
    got = index_bar(y_bar, CUBE, index)
    want = np.zeros(CUBE.size)
    np.add.at(want, np.arange(CUBE.size).reshape(CUBE.shape)[index], y_bar)
    np.testing.assert_allclose(got, want.reshape(CUBE.shape))
    assert got.dtype == float


@pytest.mark.parametrize("index", [1, slice(0, 2), [0, 0, 2], np.array([True, False, True]), (0, [1, 1])], ids=repr)
def test_getitem_rule(index):
    # an index has no tangent, so the checker is given a function of the array only
    value, pullback = TABLE.snapshot.entries(operator.getitem)[0].function(MATRIX, index)
    np.testing.assert_array_equal(value, MATRIX[index])
    check_rrule(lambda x: x[index], MATRIX, rule=lambda x: _of_array(x, index))
    check_rrule(lambda x: x[index], COMPLEX, rule=lambda x: _of_array(x, index))
    frule = next(e for e in TABLE.snapshot.entries(operator.getitem) if e.kind == "frule").function
    np.testing.assert_array_equal(frule(MATRIX, index, x_dot=2 * MATRIX)[1], 2 * MATRIX[index])
    assert frule(MATRIX, index, x_dot=ZERO)[1] is ZERO


def _of_array(x, index):
    y, pullback = TABLE.snapshot.entries(operator.getitem)[0].function(x, index)
    return y, lambda y_bar: pullback(y_bar)[:1]


def test_index_bar_follows_the_type_of_the_array():
    assert index_bar(1.0, VECTOR.astype(np.float32), 0).dtype == np.float32
    assert index_bar(np.ones(2), VECTOR.astype(np.float32), [0, 0]).dtype == np.float32
    assert index_bar(1.0, np.arange(3), 0).dtype == float
    np.testing.assert_array_equal(index_bar(np.array([1 + 2j, 3j]), np.zeros(2), [0, 0]), [1, 0])
    np.testing.assert_array_equal(index_bar(1 + 2j, np.zeros(2), 1), [0, 1])
    assert index_bar(1.0, np.array([True]), 0) is ZERO
    assert index_bar(2.0, np.float64(3.0), ()) == 2.0
    assert index_bar(np.array([2.0]), np.float64(3.0), None) == 2.0


def test_index_bar_of_containers():
    assert index_bar(2.0, [1.0, 3.0], -1) == [ZERO, 2.0]
    assert index_bar(2.0, (1.0, 3.0), 0) == (2.0, ZERO)
    assert index_bar([2.0, 4.0], [1.0, 3.0, 5.0], slice(1, None)) == [ZERO, 2.0, 4.0]
    assert index_bar(2.0, {"a": 1.0}, "a") == {"a": 2.0}
    assert index_bar(ZERO, [1.0], 0) == [ZERO]


def test_index_add_works_in_place():
    buffer = np.ones(3)
    assert index_add(buffer, [0, 0], np.array([1.0, 2.0])) is buffer
    np.testing.assert_array_equal(buffer, [4, 1, 1])
    assert index_add(buffer, slice(1, None), 2.0) is buffer
    np.testing.assert_array_equal(buffer, [4, 3, 3])
    with pytest.raises(ValueError):
        index_add(buffer, slice(0, 2), np.ones(3))


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assigned_last(index):
    survives = assigned_last(index, CUBE.shape)
    x = np.full(CUBE.shape, -1)
    v = np.arange(np.size(x[index])).reshape(np.shape(x[index]))
    x[index] = v
    np.testing.assert_array_equal(np.broadcast_to(survives, v.shape), x[index] == v)


def test_assigned_last_skips_indices_that_can_not_repeat():
    assert assigned_last(slice(3), (4,)) is True
    assert assigned_last(np.array([True, False]), (2,)) is True
    np.testing.assert_array_equal(assigned_last([1, 0, 1], (2,)), [False, True, True])
    np.testing.assert_array_equal(assigned_last([-1, 1], (2, 1)), [[False], [True]])


@pytest.mark.parametrize(
    "x, indices, axis",
    [
        (VECTOR, np.array([0, 0, -1]), None),
        (MATRIX, np.array([[0, 5], [5, -1]]), None),
        (MATRIX, np.array([0, 2, 2]), 0),
        (CUBE, np.array([[1, 1], [0, -1]]), 1),
        (CUBE, np.array([1, 1]), -1),
        (COMPLEX, np.array([1, 1]), 1),
        (MATRIX, 1, 1),
        (MATRIX.astype(np.float32), np.array([1, 1]), 1),
    ],
)
def test_take(x, indices, axis):
    check_constant(np.take, x, indices, axis=axis)


def check_constant(fn, x, indices, **kwargs):
    """Check ``fn`` as a function of its first argument: integer indices can't be perturbed."""
    rrule, frule = (
        next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == kind) for kind in ("rrule", "frule")
    )

    def reverse(x):
        y, pullback = rrule(x, indices, **kwargs)
        return y, lambda y_bar: pullback(y_bar)[:1]

    check_rrule(lambda x: fn(x, indices, **kwargs), x, rule=reverse)
    name = "arr" if fn is np.take_along_axis else "a"
    check_frule(
        lambda x: fn(x, indices, **kwargs),
        x,
        rule=lambda x, *, x_dot: frule(x, indices, **kwargs, **{f"{name}_dot": x_dot}),
    )


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_take_modes(mode):
    check_constant(np.take, MATRIX, np.array([-7, 1, 9, 9]), axis=1, mode=mode)
    check_constant(np.take, MATRIX, np.array([-7, 1, 90]), mode=mode)


@pytest.mark.parametrize(
    "indices, axis",
    [
        (np.argsort(CUBE, axis=1), 1),
        (np.zeros((3, 2, 5), int), 1),
        (np.array([[[1]], [[0]], [[1]]]), 0),
        (np.full((1, 4, 1), 3), -1),
        (np.array([7, 7, 1]), None),
    ],
)
def test_take_along_axis(indices, axis):
    check_constant(np.take_along_axis, CUBE, indices, axis=axis)


def test_take_from_a_list():
    np.testing.assert_array_equal(bars(np.take, np.ones(3), [1.0, 2.0], [1, 1, 0], 0)[0], [1, 2])


@pytest.mark.parametrize("window, axis", [(2, 1), ((2, 3), None), ((2, 2), (0, 0))])
def test_sliding_windows(window, axis):
    fn = np.lib.stride_tricks.sliding_window_view
    y = fn(MATRIX, window, axis)
    seed, x_dot = RNG.normal(size=y.shape), RNG.normal(size=MATRIX.shape)
    got = bars(fn, seed, MATRIX, window, axis)[0]
    np.testing.assert_allclose(np.vdot(got, x_dot), np.vdot(seed, fn(x_dot, window, axis)))


def test_take_along_axis_of_a_vector():
    check_constant(np.take_along_axis, VECTOR, np.array([1, 1, 0]), axis=0)


def test_compress_and_extract():
    check(np.compress, [True, False, True], MATRIX, axis=0)
    check(np.compress, [True, False, True], MATRIX)
    check(np.compress, np.array([False, True]), CUBE, 2)
    check(np.extract, MATRIX > 0, MATRIX)


@pytest.mark.parametrize("offset, axis1, axis2", [(0, 0, 1), (1, 0, 1), (-1, 1, 2), (0, -1, 0), (9, 0, 1)])
def test_diagonal(offset, axis1, axis2):
    y = np.diagonal(CUBE, offset, axis1, axis2)
    seed = RNG.normal(size=y.shape)
    got = bars(np.diagonal, seed, CUBE, offset, axis1, axis2)[0]
    x_dot = RNG.normal(size=CUBE.shape)
    np.testing.assert_allclose(np.vdot(got, x_dot), np.vdot(seed, np.diagonal(x_dot, offset, axis1, axis2)))


def test_delete():
    for x, obj, axis in [
        (VECTOR, 1, None),
        (MATRIX, [0, -1], 1),
        (MATRIX, slice(1, 3), None),
        (COMPLEX, [True, False, True], 0),
    ]:
        y = np.delete(x, obj, axis)
        seed = RNG.normal(size=y.shape)
        got = bars(np.delete, seed, x, obj, axis)[0]
        x_dot = RNG.normal(size=x.shape)
        np.testing.assert_allclose(np.vdot(got, x_dot), np.vdot(seed, np.delete(x_dot, obj, axis)))


@pytest.mark.parametrize(
    "arr, obj, values, axis",
    [
        (VECTOR, 1, 2.0, None),
        (VECTOR, 1, np.array([2.0, 3.0]), None),
        (VECTOR, [0, 3], np.array([2.0, 3.0]), None),
        (VECTOR, [0, 3], 2.0, None),
        (MATRIX, 1, RNG.normal(size=3), 1),
        (MATRIX, [1, 1], RNG.normal(size=(2, 4)), 0),
        (MATRIX, slice(0, 2), RNG.normal(size=4), 0),
    ],
)
def test_insert(arr, obj, values, axis):
    y = np.insert(arr, obj, values, axis)
    seed = RNG.normal(size=y.shape)
    arr_bar, _, values_bar, _ = bars(np.insert, seed, arr, obj, values, axis)
    arr_dot, values_dot = RNG.normal(size=np.shape(arr)), RNG.normal(size=np.shape(values))
    want = np.insert(arr_dot, obj, values_dot, axis)
    np.testing.assert_allclose(np.vdot(arr_bar, arr_dot) + np.vdot(values_bar, values_dot), np.vdot(seed, want))
    frule = next(e.function for e in TABLE.snapshot.entries(np.insert) if e.kind == "frule")
    np.testing.assert_allclose(frule(arr, obj, values, axis, arr_dot=arr_dot, values_dot=values_dot)[1], want)
    zero = np.insert(np.zeros_like(arr), obj, values_dot, axis)
    np.testing.assert_allclose(frule(arr, obj, values, axis, arr_dot=ZERO, values_dot=values_dot)[1], zero)


def test_bincount():
    x, weights = np.array([0, 2, 2, 1]), RNG.normal(size=4)
    np.testing.assert_array_equal(bars(np.bincount, np.array([1.0, 2, 3, 4]), x, weights, 4)[1], [1, 3, 3, 2])
