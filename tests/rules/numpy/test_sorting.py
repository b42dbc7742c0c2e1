import numpy as np
import pytest

import thunkad.rules.numpy.reductions
import thunkad.rules.numpy.sorting  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.tangents import unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(10)
# no two entries are close: the derivative jumps where they meet
VECTOR = RNG.permutation(7) * 0.31 - 1
MATRIX = RNG.permutation(12).reshape(3, 4) * 0.31 - 2
CUBE = RNG.permutation(60).reshape(3, 4, 5) * 0.31 - 9
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))


def rule(fn, kind):
    return next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == kind)


def bars(fn, seed, *args, **kwargs):
    _, pullback = rule(fn, "rrule")(*args, **kwargs)
    return [unthunk(b) for b in pullback(seed)]


def check_first(fn, x, *args, **kwargs):
    """Check ``fn`` as a function of its first argument."""

    def reverse(x):
        y, pullback = rule(fn, "rrule")(x, *args, **kwargs)
        return y, lambda y_bar: pullback(y_bar)[:1]

    def forward(x, *, x_dot):
        extra = {"q_dot": thunkad.tangents.ZERO} if "q" in rule(fn, "frule").__code__.co_varnames else {}
        return rule(fn, "frule")(x, *args, **kwargs, a_dot=x_dot, **extra)

    check_rrule(lambda x: fn(x, *args, **kwargs), x, rule=reverse)
    check_frule(lambda x: fn(x, *args, **kwargs), x, rule=forward)
    x_dot = RNG.normal(size=np.shape(x))
    y, y_dot = forward(x, x_dot=x_dot)
    seed = RNG.normal(size=np.shape(y))
    np.testing.assert_allclose(np.vdot(reverse(x)[1](seed)[0].force(), x_dot), np.vdot(seed, y_dot))


@pytest.mark.parametrize("axis", [0, -1, None])
def test_sort(axis):
    check_first(np.sort, CUBE, axis)
    check_first(np.sort, MATRIX.astype(np.float32), axis=axis)
    check_rrule(np.sort, COMPLEX, axis=axis)


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("kth", [0, 2, (0, 1)])
def test_partition(axis, kth):
    check_first(np.partition, CUBE, kth, axis)


def test_sort_is_stable_and_puts_nan_last():
    np.testing.assert_array_equal(
        bars(np.sort, np.array([1.0, 2, 3, 4]), np.array([5.0, np.nan, 0.0, 5.0]))[0], [2, 4, 1, 3]
    )


def test_unique_belongs_to_the_first_occurrence():
    a = np.array([[3.0, 1.0], [3.0, 2.0]])
    np.testing.assert_array_equal(bars(np.unique, np.array([10.0, 20.0, 30.0]), a)[0], [[30, 10], [0, 20]])
    seed = (np.array([10.0, 20.0, 30.0]), None)
    np.testing.assert_array_equal(bars(np.unique, seed, a, return_counts=True)[0], [[30, 10], [0, 20]])
    y, y_dot = rule(np.unique, "frule")(a, ar_dot=np.array([[1.0, 2], [3, 4]]))
    np.testing.assert_array_equal(y_dot, [2, 4, 1])


@pytest.mark.parametrize("fn", [np.median, np.nanmedian])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_median(fn, axis, keepdims):
    check_first(fn, CUBE, axis, keepdims=keepdims)


def test_median_of_vectors():
    check_first(np.median, VECTOR)
    check_first(np.median, VECTOR[:-1])
    check_first(np.median, VECTOR.astype(np.float32))
    np.testing.assert_array_equal(bars(np.median, 1.0, np.array([2.0, 2.0, 1.0]))[0], [1, 0, 0])


METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "fn, scale", [(np.quantile, 1), (np.percentile, 100), (np.nanquantile, 1), (np.nanpercentile, 100)]
)
def test_quantiles(fn, scale, method):
    check_first(fn, VECTOR, 0.37 * scale, method=method)
    check_first(fn, CUBE, np.array([[0.0, 0.2], [0.71, 1.0]]) * scale, 1, method=method)
    check_first(fn, CUBE, np.array([0.2]) * scale, (0, 2), method=method, keepdims=True)


def test_quantiles_that_skip_nan():
    a = np.array([[1.0, np.nan, 3.0, 2.0], [4.0, 5.0, 7.0, 6.0], [np.nan] * 4])
    seed = np.array([1.0, 1.0, 1.0])
    with pytest.warns(RuntimeWarning):
        a_bar = bars(np.nanmedian, seed, a, axis=1)[0]
    np.testing.assert_array_equal(a_bar, [[0, 0, 0, 1], [0, 0.5, 0, 0.5], [0, 0, 0, 0]])
    with pytest.warns(RuntimeWarning):
        a_bar = unthunk(rule(np.nanquantile, "rrule")(a, 0.25, axis=1)[1](seed)[0])
    np.testing.assert_allclose(a_bar, [[0.5, 0, 0, 0.5], [0.25, 0.75, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("method", ["linear", "hazen", "weibull", "lower", "nearest"])
def test_the_level_moves_the_rank(method):
    for q in (0.37, np.array([0.21, 0.64])):
        check_rrule(np.quantile, VECTOR, q, method=method)
        check_frule(np.quantile, CUBE, q, axis=1, method=method)
        check_rrule(np.nanpercentile, CUBE, q * 100, axis=(0, 2), method=method, keepdims=True)


@pytest.mark.parametrize("options", [{}, {"rowvar": False}, {"bias": True}, {"ddof": 0}], ids=str)
def test_cov(options):
    for x in (MATRIX, VECTOR, COMPLEX):
        check_rrule(np.cov, x, **options)
        check_frule(np.cov, x, **options)
        check_rrule(np.cov, x, 2 * x + x**2, **options)
        check_frule(np.cov, x, 2 * x + x**2, **options)


@pytest.mark.parametrize("rowvar", [True, False])
def test_corrcoef(rowvar):
    for x in (CUBE[0], COMPLEX, VECTOR):
        if np.ndim(x) > 1:
            check_rrule(np.corrcoef, x, rowvar=rowvar)
            check_frule(np.corrcoef, x, rowvar=rowvar)
        check_rrule(np.corrcoef, x, np.sin(x), rowvar=rowvar)
        check_frule(np.corrcoef, x, np.sin(x), rowvar=rowvar)
