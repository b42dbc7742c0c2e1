import numpy as np
import pytest

import thunkad.rules.numpy.construction
import thunkad.rules.numpy.joining  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.tangents import ZERO, unthunk
from thunkad.testing import check_frule, check_rrule

RNG = np.random.default_rng(12)
VECTOR = RNG.normal(size=4)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
COMPLEX = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
SINGLE = RNG.normal(size=(3, 4)).astype(np.float32)


def rule(fn, kind):
    return next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == kind)


def bars(fn, seed, *args, **kwargs):
    return [unthunk(b) for b in rule(fn, "rrule")(*args, **kwargs)[1](seed)]


def check(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


JOINS = [
    (np.concatenate, [MATRIX, RNG.normal(size=(2, 4))], {}),
    (np.concatenate, (MATRIX, RNG.normal(size=(3, 1))), {"axis": -1}),
    (np.concatenate, [MATRIX, VECTOR, CUBE], {"axis": None}),
    (np.concatenate, [MATRIX, COMPLEX], {"axis": 1}),
    (np.concatenate, CUBE, {"axis": 1}),
    (np.concatenate, [np.zeros((0, 4)), MATRIX], {}),
    (np.stack, [MATRIX, 2 * MATRIX], {}),
    (np.stack, [MATRIX, 2 * MATRIX], {"axis": -1}),
    (np.stack, [1.5, 2.5, 3.5], {}),
    (np.stack, CUBE, {"axis": 1}),
    (np.stack, [SINGLE, SINGLE], {"axis": 1}),
    (np.hstack, [VECTOR, 2.0, RNG.normal(size=2)], {}),
    (np.hstack, [MATRIX, RNG.normal(size=(3, 2))], {}),
    (np.hstack, [1.5, 2.5], {}),
    (np.hstack, CUBE, {}),
    (np.vstack, [VECTOR, MATRIX], {}),
    (np.vstack, [1.5, 2.5], {}),
    (np.vstack, [CUBE, CUBE[:1]], {}),
    (np.dstack, [MATRIX, COMPLEX, RNG.normal(size=(3, 4, 2))], {}),
    (np.dstack, [VECTOR, VECTOR], {}),
    (np.dstack, [1.5, 2.5], {}),
    (np.column_stack, [VECTOR, RNG.normal(size=(4, 2)), VECTOR], {}),
    (np.column_stack, [1.5, 2.5], {}),
    (np.block, [[MATRIX, RNG.normal(size=(3, 2))], [RNG.normal(size=(1, 5)), 2.0]], {}),
    (np.block, [VECTOR, 1.0, VECTOR], {}),
    (np.block, [[VECTOR], [VECTOR]], {}),
    (np.block, [[[CUBE, CUBE]], [[CUBE[:1], CUBE[:1]]]], {}),
    (np.block, MATRIX, {}),
]


@pytest.mark.parametrize("fn, arrays, options", JOINS, ids=lambda v: getattr(v, "__name__", None))
def test_joins(fn, arrays, options):
    check(fn, arrays, **options)


def test_parts_without_tangent():
    y, y_dot = rule(np.concatenate, "frule")([VECTOR, VECTOR], arrays_dot=[ZERO, VECTOR])
    np.testing.assert_array_equal(y_dot, [0, 0, 0, 0, *VECTOR])
    y, y_dot = rule(np.block, "frule")([[1.0, VECTOR]], arrays_dot=[[ZERO, VECTOR]])
    np.testing.assert_array_equal(y_dot, [[0, *VECTOR]])


def test_append():
    check(np.append, VECTOR, 2.0)
    check(np.append, VECTOR, MATRIX)
    check(np.append, MATRIX, RNG.normal(size=(1, 4)), axis=0)


@pytest.mark.parametrize(
    "made_of",
    [
        1.5,
        np.float64(2.0),
        VECTOR,
        COMPLEX,
        [1.5, 2.5],
        [[1.5, 2.5], [0.5, 3.0]],
        [VECTOR, VECTOR],
        (1.0, np.array(2.0)),
        [[VECTOR, VECTOR]],
    ],
    ids=repr,
)
@pytest.mark.parametrize("fn", [np.array, np.asarray, np.ascontiguousarray, np.copy])
def test_made_of(fn, made_of):
    check(fn, made_of)


def test_array_options():
    check(np.array, [VECTOR, VECTOR], ndmin=4)
    check(np.array, 1.5, ndmin=2)
    check(np.array, [1.5, 2.5], dtype=complex)
    assert bars(np.array, np.ones(2), [0.5, 1.5], int)[0] == [0, 0]
    np.testing.assert_array_equal(rule(np.array, "frule")([0.5, 1.5], int, object_dot=[1.0, 1.0])[1], [0, 0])
    assert bars(np.array, np.zeros(0), [])[0] == []
    np.testing.assert_array_equal(
        rule(np.array, "frule")([VECTOR, 1.0 * VECTOR], object_dot=[ZERO, VECTOR])[1], [0 * VECTOR, VECTOR]
    )


def test_full():
    for fill in (2.0, VECTOR):
        y, pullback = rule(np.full, "rrule")((3, 4), fill)
        np.testing.assert_allclose(unthunk(pullback(MATRIX)[1]), MATRIX.sum(axis=0) if np.ndim(fill) else MATRIX.sum())
        y, y_dot = rule(np.full, "frule")((3, 4), fill, fill_value_dot=3 * fill)
        np.testing.assert_array_equal(y_dot, 3 * y)
    assert bars(np.full, np.ones(3), 3, 0.5, int)[1] == 0
    assert bars(np.full, np.ones(3), 3, 2, int)[1] == 3
    assert bars(np.full_like, np.ones(3), np.arange(3), 0.5)[1] == 0
    assert bars(np.full_like, np.ones(3), np.zeros(3), 0.5)[1] == 3


def check_ends(fn, start, stop, **options):
    def reverse(start, stop):
        y, pullback = rule(fn, "rrule")(start, stop, **options)
        return y, lambda y_bar: pullback(y_bar)[:2]

    def forward(start, stop, *, start_dot, stop_dot):
        extra = {"base_dot": ZERO} if fn is np.logspace else {}
        return rule(fn, "frule")(start, stop, **options, start_dot=start_dot, stop_dot=stop_dot, **extra)

    check_rrule(lambda start, stop: fn(start, stop, **options), start, stop, rule=reverse)
    check_frule(lambda start, stop: fn(start, stop, **options), start, stop, rule=forward)


@pytest.mark.parametrize("fn", [np.linspace, np.logspace, np.geomspace])
@pytest.mark.parametrize("endpoint", [True, False])
def test_ranges(fn, endpoint):
    check_ends(fn, 0.5, 2.0, num=5, endpoint=endpoint)
    check_ends(fn, 0.5, np.array([2.0, 3.0]), num=4, endpoint=endpoint)
    check_ends(fn, np.array([[0.5], [0.7]]), np.array([2.0, 3.0, 1.5]), num=4, endpoint=endpoint, axis=-1)
    check_ends(fn, 0.5, 2.0, num=1, endpoint=endpoint)


@pytest.mark.parametrize("base", [3.0, np.array([2.0, 3.0])])
def test_logspace_base(base):
    def reverse(base):
        y, pullback = rule(np.logspace, "rrule")(0.5, 2.0, 4, base=base)
        return y, lambda y_bar: pullback(y_bar)[4:]

    def forward(base, *, base_dot):
        return rule(np.logspace, "frule")(0.5, 2.0, 4, base=base, start_dot=ZERO, stop_dot=ZERO, base_dot=base_dot)

    check_rrule(lambda base: np.logspace(0.5, 2.0, 4, base=base), base, rule=reverse)
    check_frule(lambda base: np.logspace(0.5, 2.0, 4, base=base), base, rule=forward)


def test_arange():
    start_bar, _, step_bar, _ = bars(np.arange, np.array([1.0, 2.0, 4.0]), 0.5, 1.9, 0.5)
    assert (start_bar, step_bar) == (7.0, 10.0)
    assert bars(np.arange, np.ones(3), 3.0)[0] is ZERO
    y, y_dot = rule(np.arange, "frule")(0.5, 1.9, 0.5, start_dot=1.0, step_dot=10.0)
    np.testing.assert_array_equal(y_dot, [1, 11, 21])


@pytest.mark.parametrize("options", [{}, {"increasing": True}], ids=str)
def test_vander(options):
    check(np.vander, VECTOR, **options)
    check(np.vander, COMPLEX[0], **options)
    assert bars(np.vander, np.ones((2, 3)), np.zeros(2), 3)[0].tolist() == [1, 1]
