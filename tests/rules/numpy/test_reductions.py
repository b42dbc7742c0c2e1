import numpy as np
import pytest

import thunkad.rules.numpy.reductions  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.tangents import unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(7)
VECTOR = RNG.normal(size=5)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
HOLES = np.where(RNG.random((3, 4)) < 0.3, np.nan, MATRIX)
MASK = RNG.random((3, 4)) < 0.6
MASK[:, 0] = True

PLAIN = [np.sum, np.mean, np.var, np.std, np.prod, np.max, np.min, np.ptp]
IGNORING = [np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanprod, np.nanmax, np.nanmin]
KEYWORDS = [
    {},
    {"axis": 0},
    {"axis": -1},
    {"axis": 1, "keepdims": True},
    {"keepdims": True},
    {"axis": (0, 2)},
    {"axis": (0, -1), "keepdims": True},
]


def bars(fn, seed, *args, **kwargs):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == "rrule"]
    _, pullback = entry.function(*args, **kwargs)
    return [unthunk(b) for b in pullback(seed)]


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


@pytest.mark.parametrize("fn", PLAIN + IGNORING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kwargs", KEYWORDS, ids=str)
def test_axes(fn, kwargs):
    check(fn, CUBE, **kwargs)


@pytest.mark.parametrize("fn", PLAIN + IGNORING, ids=lambda f: f.__name__)
def test_shapes_and_precision(fn):
    check(fn, VECTOR)
    check(fn, VECTOR, 0)
    check(fn, MATRIX.astype(np.float32), axis=1)
    if fn not in (np.var, np.std, np.nanvar, np.nanstd, np.ptp):
        check(fn, np.array(1.5))
        check(fn, np.float64(1.5))


@pytest.mark.parametrize("fn", [np.sum, np.mean, np.var, np.std, np.prod, np.nansum, np.nanmean, np.nanvar, np.nanprod])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}], ids=str)
def test_complex(fn, kwargs):
    check(fn, COMPLEX, **kwargs)


@pytest.mark.parametrize("fn", [np.sum, np.mean, np.var, np.std, np.prod, np.nansum, np.nanmean, np.nanstd])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}], ids=str)
def test_where(fn, kwargs):
    check(fn, MATRIX, where=MASK | (np.arange(4) < 2), **kwargs)


@pytest.mark.parametrize("kwargs", [{}, {"axis": 1}, {"axis": (0, 1)}], ids=str)
@pytest.mark.parametrize("fn", [np.max, np.min, np.nanmax])
def test_extremes_with_where_and_initial(fn, kwargs):
    check(fn, MATRIX, where=MASK, initial=0.1, **kwargs)


def test_initial():
    check(np.sum, MATRIX, axis=0, initial=3.0)
    check(np.prod, np.array([[2.0, 0.0], [3.0, 4.0]]), axis=1, initial=3.0)


@pytest.mark.parametrize("ddof", [0, 1, 0.5])
def test_ddof(ddof):
    check(np.var, MATRIX, axis=0, ddof=ddof)
    check(np.std, MATRIX, ddof=ddof, where=MASK)


@pytest.mark.parametrize("fn", IGNORING)
@pytest.mark.parametrize("kwargs", [{}, {"axis": 1, "keepdims": True}], ids=str)
def test_nan_entries_get_zero(fn, kwargs):
    y = fn(HOLES, **kwargs)
    a_bar = bars(fn, np.ones_like(y), HOLES, **kwargs)[0]
    assert np.all(a_bar[np.isnan(HOLES)] == 0)
    assert np.all(np.isfinite(a_bar))
    valid = ~np.isnan(HOLES)
    want = bars(
        getattr(np, fn.__name__[3:]),
        np.ones_like(y),
        np.where(valid, HOLES, 0.0),
        where=valid,
        **kwargs,
        **({"initial": -99.0} if fn is np.nanmax else {"initial": 99.0} if fn is np.nanmin else {}),
    )[0]
    np.testing.assert_allclose(a_bar, want)


@pytest.mark.parametrize("zeros", [[], [1], [0, 2]])
@pytest.mark.parametrize("dtype", [float, complex])
def test_prod_with_zeros(zeros, dtype):
    a = np.array([2.0, -3.0, 0.5, 4.0]).astype(dtype)
    a[zeros] = 0
    check(np.prod, a)
    check(np.prod, np.stack([a, a + 5]), axis=1)


def test_prod_that_underflows():
    a = np.array([1e-200, 1e-200, 2.0])
    assert np.prod(a) == 0
    np.testing.assert_array_equal(bars(np.prod, 1.0, a)[0], [0, 0, 0])


@pytest.mark.parametrize("fn", [np.max, np.min])
def test_ties_share_equally(fn):
    np.testing.assert_array_equal(bars(fn, 6.0, np.array([2.0, 2.0, 2.0]))[0], [2, 2, 2])
    np.testing.assert_array_equal(bars(fn, 6.0, np.array([2.0, 2.0]), initial=2.0)[0], [2, 2])


def test_max_of_nan_belongs_to_the_nan():
    np.testing.assert_array_equal(bars(np.max, 1.0, np.array([1.0, np.nan, 2.0]))[0], [0, 1, 0])


def test_std_without_variance_is_flat():
    np.testing.assert_array_equal(bars(np.std, 1.0, np.full(3, 2.0))[0], [0, 0, 0])


def test_empty():
    for fn in (np.sum, np.prod):
        assert bars(fn, 1.0, np.zeros(0))[0].shape == (0,)
        assert bars(fn, np.ones(3), np.zeros((3, 0)), axis=1)[0].shape == (3, 0)
    with pytest.warns(RuntimeWarning):
        assert bars(np.mean, 1.0, np.zeros(0))[0].shape == (0,)


def test_all_nan_gives_zero():
    a = np.array([[np.nan, np.nan], [1.0, 2.0]])
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(bars(np.nanmean, np.ones(2), a, axis=1)[0], [[0, 0], [0.5, 0.5]])


def test_a_sum_that_rounds_is_flat():
    np.testing.assert_array_equal(bars(np.sum, 1.0, np.array([0.5, 1.7]), dtype=int)[0], [0, 0])
    for fn in (np.sum, np.prod, np.nanprod, np.mean):
        np.testing.assert_array_equal(bars(fn, 1.0, np.array([0.5, 1.7]), dtype=int)[0], [0, 0])
    np.testing.assert_array_equal(bars(np.sum, 1.0, np.array([1, 2]), dtype=int)[0], [1, 1])
    np.testing.assert_array_equal(bars(np.prod, 1.0, np.array([3, 2]), dtype=int)[0], [2, 3])


def test_dtype():
    check(np.sum, MATRIX, axis=0, dtype=complex)
    check(np.var, MATRIX, axis=0, dtype=float)
    check(np.std, MATRIX, dtype=float)
    check(np.prod, MATRIX, axis=1, dtype=complex)
    check(np.mean, MATRIX, axis=0, dtype=complex)


@pytest.mark.parametrize(
    "axis, weights",
    [
        (None, None),
        (0, None),
        (None, RNG.random((3, 4))),
        (1, RNG.random((3, 4))),
        (0, RNG.random(3)),
        (-1, RNG.random(4)),
        ((1, 0), RNG.random((4, 3))),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_average(axis, weights, keepdims):
    check(np.average, MATRIX, axis=axis, weights=weights, keepdims=keepdims)
    check(np.average, COMPLEX, axis, weights, keepdims=keepdims)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
def test_reductions_of_ufuncs(ufunc):
    check(ufunc.reduce, MATRIX)
    check(ufunc.reduce, CUBE, axis=(0, 2), keepdims=True)
    check(ufunc.reduce, MATRIX, None, initial=0.5, where=MASK)


def test_parameters_after_out_are_not_taken_by_position():
    entry = TABLE.snapshot.entries(np.sum)[0]
    with pytest.raises(TypeError):
        entry.signature().bind(MATRIX, 0, None, None, True)


@pytest.mark.parametrize("fn", PLAIN + IGNORING, ids=lambda f: f.__name__)
def test_a_python_seed_has_no_precision_of_its_own(fn):
    assert bars(fn, 1.0, MATRIX.astype(np.float32))[0].dtype == np.float32


@pytest.mark.parametrize("fn", PLAIN + IGNORING, ids=lambda f: f.__name__)
def test_integers_and_lists(fn):
    want = bars(fn, 1.0, np.array([1.0, 3.0, 2.0]))[0]
    for x in (np.array([1, 3, 2]), [1, 3, 2], [1.0, 3.0, 2.0]):
        got = bars(fn, 1.0, x)[0]
        np.testing.assert_allclose(got, want)
        assert got.dtype == float
