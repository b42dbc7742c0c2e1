import numpy as np
import pytest

import thunkad.rules.numpy.array_helpers
import thunkad.rules.numpy.repeating  # noqa: F401
from thunkad.rules.table import TABLE
from thunkad.runtime import arrays, indexing, joining, padding, reductions, scans, shaping, sorting
from thunkad.tangents import ZERO

RNG = np.random.default_rng(14)
VECTOR = RNG.normal(size=5)
MATRIX = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))


def forward(fn):
    return next(e.function for e in TABLE.snapshot.entries(fn) if e.kind == "frule")


@pytest.mark.parametrize("zeros", [[], [1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (1, True), ((0, 1), False), (0, False)])
@pytest.mark.parametrize("where", [True, np.arange(4) != 2])
def test_second_derivative_of_prod(zeros, axis, keepdims, where):
    a = MATRIX.copy()
    a[1, zeros] = 0
    a[zeros, 2] = 0

    def exact_bar(y_bar, a):
        """Division-free, so that differences are right at zeros."""
        out = np.zeros(a.shape)
        for k in np.ndindex(a.shape):
            unit = np.zeros(a.shape)
            unit[k] = 1
            # prod is affine in one entry
            change = np.prod(np.where(unit, 1, a), axis=axis, keepdims=True, initial=3.0, where=where) - np.prod(
                np.where(unit, 0, a), axis=axis, keepdims=True, initial=3.0, where=where
            )
            out[k] = np.sum(arrays.expand(y_bar, a, axis, keepdims) * unit * change)
        return out

    y = np.prod(a, axis=axis, keepdims=keepdims, initial=3.0, where=where)
    y_bar, y_bar_dot = RNG.normal(size=np.shape(y)), RNG.normal(size=np.shape(y))
    step, step_dot, a_dot = (RNG.normal(size=a.shape) for _ in range(3))
    options = (axis, keepdims, 3.0, where)
    h = 1e-5
    value, got = forward(reductions.prod_bar)(y_bar, y, a, *options, y_bar_dot=y_bar_dot, a_dot=a_dot)
    np.testing.assert_allclose(value, exact_bar(y_bar, a), atol=1e-12)
    ends = [exact_bar(y_bar + s * h * y_bar_dot, a + s * h * a_dot) for s in (1, -1)]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), atol=1e-7)

    def exact_dot(step, a):
        return np.sum(exact_bar(np.ones(np.shape(y)), a) * step, axis=axis, keepdims=keepdims)

    got = forward(reductions.prod_dot)(step, y, a, *options, step_dot=step_dot, a_dot=a_dot)[1]
    ends = [exact_dot(step + s * h * step_dot, a + s * h * a_dot) for s in (1, -1)]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("zeros", [[], [0], [2], [1, 3], [0, 1]])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_second_derivative_of_cumprod(zeros, axis):
    a = MATRIX.copy()
    a[1, zeros] = 0
    y_bar = RNG.normal(size=np.cumprod(a, axis).shape)
    y_bar_dot, step, a_dot = RNG.normal(size=y_bar.shape), RNG.normal(size=a.shape), RNG.normal(size=a.shape)

    def tangent(a, step):
        """The first derivative along ``step``; cumprod is a polynomial, so that differences converge at zeros, too."""
        h = 1e-3
        values = [np.cumprod(a + k * h * step, axis) for k in (-2, -1, 1, 2)]
        return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)

    h = 1e-3
    around = [tangent(a + k * h * a_dot, step) for k in (-2, -1, 1, 2)]
    second = (around[0] - 8 * around[1] + 8 * around[2] - around[3]) / (12 * h)
    y = np.cumprod(a, axis)
    got = forward(scans.cumprod_dot)(step, y, a, axis, step_dot=ZERO, a_dot=a_dot)[1]
    np.testing.assert_allclose(got, second, atol=1e-7)
    got = forward(scans.cumprod_bar)(y_bar, y, a, axis, y_bar_dot=y_bar_dot, a_dot=a_dot)[1]
    np.testing.assert_allclose(
        np.vdot(got, step), np.vdot(y_bar, second) + np.vdot(y_bar_dot, tangent(a, step)), atol=1e-7
    )


@pytest.mark.parametrize(
    "fn, bar, axis",
    [(np.prod, reductions.prod_bar, ()), (np.cumprod, scans.cumprod_bar, (0,))],
    ids=["prod", "cumprod"],
)
def test_second_derivative_of_complex_products(fn, bar, axis):
    a, a_dot, y_bar = (RNG.normal(size=4) + 1j * RNG.normal(size=4) for _ in range(3))
    y_bar = y_bar if axis else y_bar[0]
    h = 1e-6
    ends = [bar(y_bar, fn(x), x, *axis) for x in (a + h * a_dot, a - h * a_dot)]
    got = forward(bar)(y_bar, fn(a), a, *axis, y_bar_dot=ZERO, a_dot=a_dot)[1]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), atol=1e-7)


LINEAR = [
    (arrays.expand, VECTOR, (np.zeros((3, 5)), 0)),
    (indexing.index_bar, VECTOR, (MATRIX, (1, [0, 0, 2, 3, 3]))),
    (indexing.take_bar, VECTOR, (MATRIX, np.array([1, 1, 5, 0, 1]))),
    (joining.join_bar, VECTOR, ([VECTOR[:2], VECTOR[:3]], 0)),
    (padding.pad_bar, VECTOR, (VECTOR[:3], 1, "reflect", "odd")),
    (reductions.mean_bar, 2.0, (MATRIX,)),
    (reductions.extreme_bar, MATRIX[0], (MATRIX.max(axis=0), MATRIX, 0)),
    (scans.cumsum_bar, MATRIX, (MATRIX, 1)),
    (shaping.reshape_like, VECTOR, (VECTOR[:, None],)),
    (shaping.tile_bar, CUBE, (CUBE[:1], (2, 1, 1))),
    (sorting.sort_bar, MATRIX, (MATRIX[::-1],)),
]


@pytest.mark.parametrize("helper, first, rest", LINEAR, ids=lambda v: getattr(v, "__name__", None))
def test_linear_helpers(helper, first, rest):
    step = RNG.normal(size=np.shape(first))
    value, value_dot = forward(helper)(first, *rest, first_dot=step, rest_dot=(ZERO,) * len(rest))
    for got, want in ((value, helper(first, *rest)), (value_dot, helper(step, *rest))):
        for a, b in zip(got, want, strict=True) if isinstance(want, list) else [(got, want)]:
            np.testing.assert_array_equal(a, b)


BILINEAR = [
    (reductions.var_bar, [MATRIX[0], MATRIX, 0, 1], 1),
    (reductions.var_dot, [MATRIX + 1, MATRIX, 0, 1], 1),
    (scans.trapezoid_x_bar, [2.0, VECTOR, np.arange(5.0), -1], 1),
    (scans.trapezoid_dx_bar, [2.0, VECTOR, None, 0.5, -1], 1),
    (scans.convolve_left_bar, [RNG.normal(size=7), VECTOR, RNG.normal(size=3)], 2),
    (scans.convolve_right_bar, [RNG.normal(size=7), VECTOR, RNG.normal(size=3)], 1),
    (scans.correlate_left_bar, [RNG.normal(size=3), VECTOR, RNG.normal(size=3)], 2),
    (scans.correlate_right_bar, [RNG.normal(size=3), VECTOR, RNG.normal(size=3)], 1),
]


@pytest.mark.parametrize("helper, args, other", BILINEAR, ids=lambda v: getattr(v, "__name__", None))
def test_bilinear_helpers(helper, args, other):
    steps = {k: RNG.normal(size=np.shape(args[k])) for k in (0, other)}
    h = 1e-6
    ends = [helper(*[x + s * h * steps[k] if k in steps else x for k, x in enumerate(args)]) for s in (1, -1)]
    rest_dot = tuple(steps.get(k, ZERO) for k in range(1, len(args)))
    got = forward(helper)(*args, first_dot=steps[0], rest_dot=rest_dot)[1]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / (2 * h), atol=1e-7)


def test_padded():
    for mode, keywords in [("constant", {"constant_values": 2.0}), ("reflect", {"reflect_type": "odd"})]:
        x_dot = RNG.normal(size=5)
        dots = {"array_dot": x_dot, "constant_values_dot": ZERO, "end_values_dot": ZERO}
        value, value_dot = forward(padding.padded)(VECTOR, 2, mode, **keywords, **dots)
        np.testing.assert_array_equal(value, np.pad(VECTOR, 2, mode, **keywords))
        np.testing.assert_allclose(value_dot, np.pad(VECTOR + x_dot, 2, mode, **keywords) - value)
