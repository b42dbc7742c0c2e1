import re

import numpy as np
import pytest

import thunkad as ad
import thunkad.rules.numpy.scans  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.tangents import unthunk
from thunkad.testing import check_frule, check_grads, check_rrule

RNG = np.random.default_rng(8)
VECTOR = RNG.normal(size=6)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(3, 4, 5))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))


def bars(fn, seed, *args, **kwargs):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == "rrule"]
    _, pullback = entry.function(*args, **kwargs)
    return [unthunk(b) for b in pullback(seed)]


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


@pytest.mark.parametrize("fn", [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_cumulative(fn, axis):
    check(fn, MATRIX, axis)
    check(fn, COMPLEX, axis=axis)
    check(fn, MATRIX.astype(np.float32), axis=axis)
    check(fn, VECTOR)


def test_cumulative_rounding():
    np.testing.assert_array_equal(bars(np.cumsum, np.ones(2), np.array([0.5, 1.7]), dtype=int)[0], [0, 0])
    np.testing.assert_array_equal(bars(np.cumprod, np.ones(2), np.array([0.5, 1.7]), dtype=int)[0], [0, 0])
    check(np.cumprod, VECTOR, dtype=complex)


@pytest.mark.parametrize("fn", [np.cumulative_sum, np.cumulative_prod])
@pytest.mark.parametrize("include_initial", [False, True])
def test_array_api_forms(fn, include_initial):
    check(fn, VECTOR, include_initial=include_initial)
    check(fn, MATRIX, axis=1, include_initial=include_initial)


@pytest.mark.parametrize("zeros", [[0], [2], [5], [1, 4], [0, 1]])
@pytest.mark.parametrize("dtype", [float, complex])
def test_cumprod_with_zeros(zeros, dtype):
    a = VECTOR.astype(dtype)
    a[zeros] = 0
    check(np.cumprod, a)
    check(np.cumprod, np.stack([a, VECTOR]), axis=1)


def test_nan_scans_skip_nan():
    a = np.array([1.0, np.nan, 2.0, 3.0])
    np.testing.assert_array_equal(bars(np.nancumsum, np.ones(4), a)[0], [4, 0, 2, 1])
    np.testing.assert_array_equal(bars(np.nancumprod, np.ones(4), a)[0], [10, 0, 4, 2])


def test_add_accumulate():
    check(np.add.accumulate, MATRIX)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("axis", [0, -1])
def test_diff(n, axis):
    check(np.diff, CUBE, n, axis)
    check(np.diff, COMPLEX, n=min(n, 2), axis=axis)


def test_diff_with_ends():
    check(np.diff, VECTOR, prepend=0.5, append=np.array([2.0]))
    check(np.diff, MATRIX, n=2, axis=0, prepend=RNG.normal(size=(2, 4)), append=1.5)


def test_ediff1d():
    check(np.ediff1d, VECTOR)
    check(np.ediff1d, MATRIX)
    check(np.ediff1d, VECTOR, RNG.normal(size=2), 0.5)
    check(np.ediff1d, VECTOR, to_begin=RNG.normal(size=2))


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "f, varargs, axis",
    [
        (VECTOR, (), None),
        (VECTOR, (0.5,), None),
        (MATRIX, (), None),
        (MATRIX, (0.5, 2.0), None),
        (MATRIX, (0.5,), None),
        (CUBE, (2.0,), 1),
        (CUBE, (2.0, 3.0), (2, 0)),
        (COMPLEX, (0.3,), -1),
    ],
)
def test_gradient(f, varargs, axis, edge_order):
    check_grads(lambda f, *steps: np.gradient(f, *steps, axis=axis, edge_order=edge_order), f, *varargs)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_at_coordinates(edge_order):
    x = np.cumsum(RNG.random(6) + 0.2)
    check_grads(lambda f, x: np.gradient(f, x, edge_order=edge_order), VECTOR, x)
    rows = np.array([0.1, 0.4, 1.1])
    check_grads(lambda f, y, h: np.gradient(f, y, h, edge_order=edge_order), MATRIX, rows, 0.5)


def test_gradient_of_single_precision_stays_single():
    value, pullback = ad.vjp(lambda f: np.gradient(f, 0.5), VECTOR.astype(np.float32))
    assert value.dtype == np.float32 == pullback(value)[0].dtype


@pytest.mark.parametrize(
    ("steps", "options"), [((np.ones(3),), {}), ((1.0, 2.0, 3.0), {}), ((), {"edge_order": 3}), ((), {"axis": 2})]
)
def test_gradient_complains_as_numpy_does(steps, options):
    with pytest.raises(Exception) as want:
        np.gradient(MATRIX, *steps, **options)
    with pytest.raises(type(want.value), match=re.escape(str(want.value).splitlines()[0])):
        ad.vjp(lambda f: np.gradient(f, *steps, **options), MATRIX)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_trapezoid(axis):
    check(np.trapezoid, CUBE, axis=axis)
    check(np.trapezoid, CUBE, dx=0.5, axis=axis)
    check(np.trapezoid, CUBE, np.cumsum(RNG.random(CUBE.shape[axis])), axis=axis)
    check(np.trapezoid, CUBE, np.cumsum(RNG.random(CUBE.shape), axis=axis), axis=axis)


def test_trapezoid_of_vectors():
    check(np.trapezoid, VECTOR)
    check(np.trapezoid, VECTOR, np.sort(RNG.random(6)))
    check(np.trapezoid, VECTOR, dx=RNG.random(5))
    check(np.trapezoid, CUBE, dx=RNG.random(5), axis=0)
    check(np.trapezoid, CUBE, dx=RNG.random((2, 1, 5)), axis=0)
    check(np.trapezoid, COMPLEX, np.arange(4) * 0.5)
    for length in (0, 1):
        np.testing.assert_array_equal(bars(np.trapezoid, np.ones(3), np.ones((3, length)))[0], np.zeros((3, length)))


@pytest.mark.parametrize("left, right", [(None, None), (0.3, None), (None, 0.7), (0.3, 0.7)])
def test_interp(left, right):
    xp = np.array([0.0, 1.0, 2.5, 3.0])
    fp = RNG.normal(size=4)
    x = np.array([[-0.5, 0.3, 1.7], [2.6, 3.5, 0.9]])
    check(np.interp, x, xp, fp, left, right)
    check(np.interp, 1.2, xp, fp, left, right)
    check(np.interp, x, xp, fp + 1j * RNG.normal(size=4))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(6, 3), (3, 6), (6, 4), (4, 6), (5, 5), (1, 4), (4, 1), (7, 2), (2, 7)])
@pytest.mark.parametrize("fn", [np.convolve, np.correlate])
def test_filters(fn, lengths, mode):
    a, v = (RNG.normal(size=n) for n in lengths)
    check(fn, a, v, mode)
    check(fn, a + 1j * a[::-1] ** 2, v - 0.5j * v, mode=mode)
