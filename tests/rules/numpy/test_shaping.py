import numpy as np
import pytest

import thunkad.rules.numpy.repeating
import thunkad.rules.numpy.shaping
import thunkad.rules.numpy.splitting  # noqa: F401
from thunkad.errors import NotImplementedDerivativeError
from thunkad.rules.table import TABLE
from thunkad.tangents import ZERO, unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(11)
SCALAR = np.array(1.5)
VECTOR = RNG.normal(size=5)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(3, 4, 5))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
SINGLE = RNG.normal(size=(3, 4)).astype(np.float32)
EMPTY = np.zeros((3, 0))


def rule(fn, kind):
    return next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == kind)


def bars(fn, seed, *args, **kwargs):
    _, pullback = rule(fn, "rrule")(*args, **kwargs)
    return [unthunk(b) for b in pullback(seed)]


def check(fn, x, *args, **kwargs):
    """Check ``fn``, linear in its first argument, against its own transpose and differences."""

    def reverse(x):
        y, pullback = rule(fn, "rrule")(x, *args, **kwargs)
        return y, lambda y_bar: pullback(y_bar)[:1]

    y, y_dot = forward(fn, x, *args, **kwargs)
    x_dot = RNG.normal(size=np.shape(x)).astype(np.asarray(x).dtype)
    _, y_dot = forward(fn, x, *args, x_dot=x_dot, **kwargs)
    assert_same(y, fn(x, *args, **kwargs))
    assert_same(y_dot, fn(x_dot, *args, **kwargs))
    if np.size(x):
        check_rrule(lambda x: fn(x, *args, **kwargs), x, rule=reverse)
    else:
        assert unthunk(reverse(x)[1](np.ones_like(y))[0]).shape == x.shape


def forward(fn, x, *args, x_dot=None, **kwargs):
    found = rule(fn, "frule")
    code = found.__code__
    name = code.co_varnames[0] + "_dot"
    still = {"constant_values_dot": ZERO, "end_values_dot": ZERO} if fn is np.pad else {}
    return found(x, *args, **kwargs, **{name: x if x_dot is None else x_dot}, **still)


def assert_same(got, want):
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want)
        for a, b in zip(got, want):
            assert_same(a, b)
    else:
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype


ONE_ARRAY = [
    (np.reshape, MATRIX, (2, 6)),
    (np.reshape, MATRIX, (-1,), "F"),
    (np.reshape, np.asfortranarray(MATRIX), (6, 2)),
    (np.reshape, SCALAR, (1, 1)),
    (np.reshape, EMPTY, (0, 7)),
    (np.ravel, CUBE),
    (np.ravel, MATRIX, "F"),
    (np.squeeze, CUBE[:1, :, :1]),
    (np.squeeze, CUBE[:1, :, :1], 0),
    (np.squeeze, MATRIX),
    (np.expand_dims, MATRIX, 1),
    (np.expand_dims, MATRIX, (0, -1)),
    (np.transpose, CUBE),
    (np.transpose, CUBE, (1, 2, 0)),
    (np.transpose, CUBE, (-1, 0, -2)),
    (np.transpose, VECTOR),
    (np.matrix_transpose, CUBE),
    (np.swapaxes, CUBE, 0, -1),
    (np.moveaxis, CUBE, 0, -1),
    (np.moveaxis, CUBE, (0, 1), (-1, 0)),
    (np.rollaxis, CUBE, 2),
    (np.rollaxis, CUBE, 0, 3),
    (np.rollaxis, CUBE, -1, 1),
    (np.rollaxis, CUBE, 1, 1),
    (np.rollaxis, CUBE, 0, -1),
    (np.roll, CUBE, 2),
    (np.roll, CUBE, -1, 1),
    (np.roll, CUBE, (1, 2), (0, 1)),
    (np.rot90, CUBE),
    (np.rot90, CUBE, 3, (1, 2)),
    (np.flip, CUBE),
    (np.flip, CUBE, (0, 2)),
    (np.fliplr, MATRIX),
    (np.flipud, MATRIX),
    (np.broadcast_to, VECTOR, (3, 5)),
    (np.broadcast_to, MATRIX[:, :1], (2, 3, 4)),
    (np.broadcast_to, SCALAR, (2,)),
    (np.repeat, MATRIX, 3),
    (np.repeat, MATRIX, 2, 0),
    (np.repeat, MATRIX, [0, 1, 2, 3], 1),
    (np.repeat, VECTOR, [2, 0, 1, 1, 3]),
    (np.repeat, MATRIX, 0, 1),
    (np.repeat, CUBE, np.array([2]), -1),
    (np.tile, MATRIX, 2),
    (np.tile, MATRIX, (2, 1, 3)),
    (np.tile, CUBE, (2,)),
    (np.tile, SCALAR, (2, 3)),
    (np.resize, MATRIX, (5, 3)),
    (np.resize, MATRIX, (2, 2)),
    (np.tril, MATRIX),
    (np.triu, CUBE, 1),
    (np.tril, VECTOR, -1),
    (np.diag, VECTOR, 1),
    (np.diag, MATRIX),
    (np.diag, MATRIX, -1),
    (np.diagflat, MATRIX, 2),
    (np.split, CUBE, 2, 1),
    (np.split, MATRIX, [1, 2]),
    (np.array_split, VECTOR, 3),
    (np.hsplit, MATRIX, 2),
    (np.vsplit, MATRIX, [1]),
    (np.dsplit, CUBE, [2, 3]),
]


@pytest.mark.parametrize(
    "fn, x, options", [(f, x, o) for f, x, *o in ONE_ARRAY], ids=lambda v: getattr(v, "__name__", None)
)
def test_one_array(fn, x, options):
    check(fn, x, *options)


@pytest.mark.parametrize("x", [COMPLEX, SINGLE], ids=["complex", "single"])
def test_types_are_kept(x):
    for fn, *options in [(np.reshape, (12,)), (np.tile, 2), (np.repeat, [1, 2, 3, 4], 1), (np.resize, 20)]:
        check(fn, x, *options)
    check(np.pad, x, 1, "edge")
    check(np.pad, x, 1, "linear_ramp")
    check(np.split, x, 2, 1)


def test_unstack():
    check(np.unstack, CUBE, axis=1)
    check(np.unstack, VECTOR)


@pytest.mark.parametrize("order", ["A", "K"])
@pytest.mark.parametrize("a", [MATRIX, MATRIX.T, np.asfortranarray(MATRIX), MATRIX[:, ::2].T, MATRIX[1]], ids=range(5))
def test_orders_of_memory(a, order):
    y_bar = RNG.normal(size=np.size(a))
    y, pullback = rule(np.ravel, "rrule")(a, order)
    x_bar = unthunk(pullback(y_bar)[0])
    np.testing.assert_allclose(np.vdot(x_bar, a), np.vdot(y_bar, y))
    if order == "A":
        assert_same(unthunk(rule(np.reshape, "rrule")(a, (-1,), order)[1](y_bar)[0]), x_bar)
    _, y_dot = forward(np.ravel, a, order, x_dot=np.ascontiguousarray(x_bar))
    assert_same(y_dot, y_bar)


STILL = {"constant_values_dot": ZERO, "end_values_dot": ZERO}
PADS = [
    (VECTOR, 2, "constant", {"constant_values": 3.0}),
    (MATRIX, ((1, 2), (0, 3)), "constant", {}),
    (MATRIX, 2, "edge", {}),
    (MATRIX, ((1, 2), (3, 1)), "reflect", {}),
    (VECTOR, 9, "reflect", {}),
    (VECTOR, 3, "reflect", {"reflect_type": "odd"}),
    (MATRIX, 2, "symmetric", {}),
    (MATRIX, 2, "symmetric", {"reflect_type": "odd"}),
    (MATRIX, ((5, 7), (0, 1)), "wrap", {}),
    (MATRIX, 2, "mean", {}),
    (CUBE, ((1, 2), (0, 0), (2, 1)), "mean", {"stat_length": 2}),
    (CUBE, 2, "mean", {"stat_length": ((1, 2), (3, 1), (2, 2))}),
    (MATRIX, 3, "linear_ramp", {}),
    (MATRIX, 3, "linear_ramp", {"end_values": 5.0}),
]


@pytest.mark.parametrize("x, width, mode, keywords", PADS)
def test_pad(x, width, mode, keywords):
    def reverse(x):
        y, pullback = rule(np.pad, "rrule")(x, width, mode, **keywords)
        return y, lambda y_bar: pullback(y_bar)[:1]

    check_rrule(lambda x: np.pad(x, width, mode, **keywords), x, rule=reverse)
    x_dot = RNG.normal(size=x.shape)
    y_dot = rule(np.pad, "frule")(x, width, mode, **keywords, array_dot=x_dot, **STILL)[1]
    want = np.pad(x + x_dot, width, mode, **keywords) - np.pad(x, width, mode, **keywords)
    np.testing.assert_allclose(y_dot, want, atol=1e-12)


def test_pad_by_axis():
    bar = bars(np.pad, np.arange(24.0).reshape(4, 6), np.zeros((4, 3)), {-1: (1, 2)})[0]
    np.testing.assert_array_equal(bar, np.arange(24.0).reshape(4, 6)[:, 1:4])


@pytest.mark.parametrize("mode", ["maximum", "minimum", "median"])
@pytest.mark.parametrize(
    "x, width, stat_length",
    [
        (VECTOR, 2, None),
        (VECTOR, (3, 1), 2),
        (CUBE, ((1, 2), (0, 0), (2, 1)), None),
        (CUBE, 1, ((1, 2), (3, 1), (2, 2))),
    ],
)
def test_pad_with_statistics(mode, x, width, stat_length):
    def reverse(x):
        y, pullback = rule(np.pad, "rrule")(x, width, mode, stat_length=stat_length)
        return y, lambda y_bar: pullback(y_bar)[:1]

    def forward(x, *, x_dot):
        return rule(np.pad, "frule")(x, width, mode, stat_length=stat_length, array_dot=x_dot, **STILL)

    keywords = {} if stat_length is None else {"stat_length": stat_length}
    check_rrule(lambda x: np.pad(x, width, mode, **keywords), x, rule=reverse)
    check_frule(lambda x: np.pad(x, width, mode, **keywords), x, rule=forward)


def test_pad_by_a_function_is_refused():
    with pytest.raises(NotImplementedDerivativeError, match="function"):
        bars(np.pad, np.zeros(7), VECTOR, 1, lambda vector, width, axis, keywords: None)


def test_astype():
    check(np.astype, MATRIX, np.complex128)
    np.testing.assert_array_equal(bars(np.astype, np.ones(5), VECTOR, int)[0], np.zeros(5))
    np.testing.assert_array_equal(bars(np.astype, np.ones(2), np.arange(2), int)[0], [1, 1])
    np.testing.assert_array_equal(rule(np.astype, "frule")(VECTOR, int, x_dot=VECTOR)[1], np.zeros(5))
    assert rule(np.astype, "frule")(VECTOR, np.float32, x_dot=VECTOR)[1].dtype == np.float32


@pytest.mark.parametrize("fn", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_atleast(fn):
    for arrays in [(1.5,), (VECTOR,), (1.5, MATRIX, VECTOR)]:
        check_rrule(fn, *arrays)


def test_broadcast_arrays():
    check_rrule(np.broadcast_arrays, MATRIX, RNG.normal(size=(3, 1)), 2.0)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_meshgrid(indexing, sparse):
    for lengths in [(3,), (3, 4), (2, 3, 4)]:
        xi = [RNG.normal(size=n) for n in lengths]
        check_rrule(np.meshgrid, *xi, indexing=indexing, sparse=sparse)
    y, y_dot = rule(np.meshgrid, "frule")(*xi, indexing=indexing, xi_dot=(ZERO, xi[1], ZERO))
    assert_same(y_dot, np.meshgrid(0 * xi[0], xi[1], 0 * xi[2], indexing=indexing))
    assert type(y_dot) is type(y)


def test_parts_without_cotangent_are_zero():
    got = bars(np.split, [ZERO, np.ones(2), ZERO], np.zeros(6), 3)[0]
    np.testing.assert_array_equal(got, [0, 0, 1, 1, 0, 0])
    assert bars(np.atleast_1d, [ZERO, np.ones(1)], 1.0, 2.0)[0] == (ZERO, np.ones(()))
