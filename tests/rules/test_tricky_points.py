"""The values at kinks, ties and degenerate points: one row for each, the gradient as it is documented.

Where a function has no derivative the useful finite value is chosen; every row is checked in both modes.
"""

import numpy as np
import pytest

import thunkad as ad

NAN, INF = np.nan, np.inf
ZERO = np.zeros(2)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

#: name → (function, arguments, gradients by all of them)
ELEMENTWISE = {
    "abs at zero": (np.abs, (0.0,), (0.0,)),
    "abs of a complex zero": (np.abs, (0j,), (0j,)),
    "fabs at zero": (np.fabs, (0.0,), (0.0,)),
    "sign": (np.sign, (0.0,), (0.0,)),
    "floor at a whole number": (np.floor, (2.0,), (0.0,)),
    "rint": (np.rint, (0.5,), (0.0,)),
    "round": (lambda x: np.round(x, 1), (0.55,), (0.0,)),
    "heaviside": (lambda x: np.heaviside(x, 0.5), (0.0,), (0.0,)),
    "maximum of equals": (np.maximum, (1.5, 1.5), (0.5, 0.5)),
    "minimum of equals": (np.minimum, (1.5, 1.5), (0.5, 0.5)),
    "fmax of equals": (np.fmax, (1.5, 1.5), (0.5, 0.5)),
    "fmin of equals": (np.fmin, (1.5, 1.5), (0.5, 0.5)),
    "maximum with a NaN": (np.maximum, (NAN, 1.5), (1.0, 0.0)),
    "fmax with a NaN": (np.fmax, (NAN, 1.5), (0.0, 1.0)),
    "fmin with a NaN": (np.fmin, (1.5, NAN), (1.0, 0.0)),
    "clip inside": (np.clip, (0.5, 0.0, 1.0), (1.0, 0.0, 0.0)),
    "clip below": (np.clip, (-0.5, 0.0, 1.0), (0.0, 1.0, 0.0)),
    "clip at the lower bound": (lambda x: np.clip(x, 0.0, 1.0), (0.0,), (1.0,)),
    "clip at the upper bound": (lambda x: np.clip(x, 0.0, 1.0), (1.0,), (1.0,)),
    "clip to one number": (lambda x: np.clip(x, 1.0, 1.0), (1.0,), (0.0,)),
    "0 ** 2": (np.power, (0.0, 2.0), (0.0, 0.0)),
    "0 ** 1": (np.power, (0.0, 1.0), (1.0, 0.0)),
    "0 ** 0": (np.power, (0.0, 0.0), (0.0, NAN)),
    "0 ** -1": (np.power, (0.0, -1.0), (-INF, NAN)),
    "0 ** 0.5": (np.power, (0.0, 0.5), (INF, 0.0)),
    "0 ** 3.5": (np.power, (0.0, 3.5), (0.0, 0.0)),
    "x ** 0": (np.power, (2.0, 0.0), (0.0, np.log(2.0))),
    "a whole power of a negative number": (np.power, (-2.0, 3.0), (12.0, -8.0 * np.log(2.0))),
    "a square": (lambda x: x**2, (0.0,), (0.0,)),
    "a cube": (lambda x: x**3, (-2.0,), (12.0,)),
    "sqrt at zero": (np.sqrt, (0.0,), (INF,)),
    "a norm of one number, written by a root": (lambda x: np.linalg.norm(np.array([x])), (0.0,), (0.0,)),
    "remainder at a multiple": (np.remainder, (3.0, 1.5), (1.0, -2.0)),
    "remainder of a negative number": (np.remainder, (-3.1, 1.5), (1.0, 3.0)),
    "fmod": (np.fmod, (3.1, 1.5), (1.0, -2.0)),
    "hypot at zero": (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    "arctan2 at zero": (np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    "angle of zero": (np.angle, (0j,), (0j,)),
    "log at zero": (np.log, (np.float64(0.0),), (INF,)),
    "arcsin at one": (np.arcsin, (1.0,), (INF,)),
    "copysign of a negative number": (np.copysign, (-2.0, 3.0), (-1.0, 0.0)),
    "copysign to a negative number": (np.copysign, (2.0, -3.0), (-1.0, 0.0)),
    "sinc at zero": (np.sinc, (0.0,), (0.0,)),
    "a whole number": (lambda x: x * x, (3,), (6.0,)),
    "the arm of where that is taken": (lambda x: np.where(x > 1.0, x * 2.0, x * x), (3.0,), (2.0,)),
    "a guarded arm": (lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0), (0.0,), (0.0,)),
}

REDUCTIONS = {
    "prod": (np.prod, ([2.0, 3.0, 4.0],), ([12.0, 8.0, 6.0],)),
    "prod with one zero": (np.prod, ([2.0, 0.0, 4.0],), ([0.0, 8.0, 0.0],)),
    "prod with two zeros": (np.prod, ([0.0, 0.0, 4.0],), ([0.0, 0.0, 0.0],)),
    "prod that underflows": (np.prod, ([1e-200, 1e-200, 1e100],), ([1e-100, 1e-100, 0.0],)),
    "cumprod with a zero": (lambda x: np.sum(np.cumprod(x)), ([2.0, 0.0, 4.0],), ([1.0, 10.0, 0.0],)),
    "cumprod with two zeros": (lambda x: np.sum(np.cumprod(x)), ([2.0, 0.0, 0.0],), ([1.0, 2.0, 0.0],)),
    "max of equals": (np.max, ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],)),
    "min of equals": (np.min, ([1.0, 1.0, 3.0],), ([0.5, 0.5, 0.0],)),
    "max by its index": (lambda x: x[np.argmax(x)], ([1.0, 3.0, 3.0],), ([0.0, 1.0, 0.0],)),
    "median of two middles": (np.median, ([4.0, 1.0, 3.0, 9.0],), ([0.5, 0.0, 0.5, 0.0],)),
    "quantile": (lambda x: np.quantile(x, 0.25), ([4.0, 1.0, 3.0],), ([0.0, 0.5, 0.5],)),
    "std of equal numbers": (np.std, ([2.0, 2.0],), ([0.0, 0.0],)),
    "var of complex numbers": (np.var, ([1.0 + 1.0j, 3.0 - 1.0j],), ([-1.0 + 1.0j, 1.0 - 1.0j],)),
    "sum of nothing": (np.sum, (np.zeros((0, 3)),), (np.zeros((0, 3)),)),
    "sort of equals": (lambda x: np.sort(x)[0], ([2.0, 1.0, 1.0],), ([0.0, 1.0, 0.0],)),
    "norm at zero": (np.linalg.norm, (ZERO,), ([0.0, 0.0],)),
    "norm of order 3 at zero": (lambda x: np.linalg.norm(x, 3), (ZERO,), ([0.0, 0.0],)),
    "norm of order -1 with a zero": (lambda x: np.linalg.norm(x, -1), ([0.5, 0.0, -2.0],), ([0.0, 0.0, 0.0],)),
    "norm of order -2 with a zero": (lambda x: np.linalg.vector_norm(x, ord=-2), ([0.0, 2.0],), ([0.0, 0.0],)),
    "norm of order 1": (lambda x: np.linalg.norm(x, 1), ([0.0, -2.0],), ([0.0, -1.0],)),
    "largest of equals": (lambda x: np.linalg.norm(x, np.inf), ([2.0, -2.0],), ([0.5, -0.5],)),
    "how many are not zero": (lambda x: np.linalg.norm(x, 0), ([2.0, -2.0],), ([0.0, 0.0],)),
    "Frobenius norm at zero": (np.linalg.norm, (np.zeros((2, 2)),), (np.zeros((2, 2)),)),
    "det of a singular matrix": (np.linalg.det, (SINGULAR,), ([[4.0, -2.0], [-2.0, 1.0]],)),
    "det of zeros": (np.linalg.det, (np.zeros((2, 2)),), (np.zeros((2, 2)),)),
    "the sign of a determinant": (lambda a: np.linalg.slogdet(a)[0], (np.eye(2),), (np.zeros((2, 2)),)),
    "trace of degenerate eigenvalues": (lambda a: np.sum(np.linalg.eigvalsh(a)), (np.eye(2),), (np.eye(2),)),
    "a matrix from its degenerate eigenvectors": (
        lambda a: np.trace(np.linalg.eigh(a)[1] * np.linalg.eigh(a)[0] @ np.linalg.eigh(a)[1].T),
        (2.0 * np.eye(2),),
        (np.eye(2),),
    ),
    "repeated singular values": (lambda a: np.sum(np.linalg.svd(a)[1]), (np.eye(2),), (np.eye(2),)),
    "cholesky is symmetric": (
        lambda a: np.linalg.cholesky(a)[1, 0],
        (np.array([[4.0, 1.0], [1.0, 3.0]]),),
        ([[-1 / 16, 0.25], [0.25, 0.0]],),
    ),
    "repeated indices": (lambda x: np.sum(x[[0, 0, 1]]), ([1.0, 2.0],), ([2.0, 1.0],)),
    "padding that repeats": (lambda x: np.sum(np.pad(x, 2, "reflect")), ([1.0, 2.0, 3.0],), ([2.0, 3.0, 2.0],)),
}
ROWS = {**ELEMENTWISE, **REDUCTIONS}


def called(f, count):
    """``f`` by its name, with its arguments written out."""
    forms = {1: lambda a: f(a), 2: lambda a, b: f(a, b), 3: lambda a, b, c: f(a, b, c)}
    return forms[count]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients(row):
    f, args, wanted = row
    args = tuple(np.asarray(a) if isinstance(a, list) else a for a in args)
    _, pullback = ad.vjp(called(f, len(args)), *args)
    for got, want in zip(pullback(1.0), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)
        assert np.shape(got) == np.shape(want)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tangents(row):
    f, args, wanted = row
    args = tuple(np.asarray(a, complex if np.iscomplexobj(a) else float)[()] for a in args)
    for k, want in enumerate(wanted):
        dot = np.full(np.shape(args[k]), 0.5 + 0.25j if np.iscomplexobj(args[k]) else 0.5)[()]
        _, value_dot = ad.jvp(called(f, len(args)), args, tuple(dot if j == k else None for j in range(len(args))))
        found = 0.0 if isinstance(value_dot, (ad.ZeroTangent, ad.NoTangent)) else value_dot
        np.testing.assert_allclose(found, np.real(np.sum(np.conj(want) * dot)), rtol=1e-12, atol=1e-15)


def test_transform_over_an_axis_twice():
    x = np.arange(12.0).reshape(3, 4)
    twice = ad.grad(lambda x: np.sum(np.fft.fftn(x, axes=(0, 0)).real * x))(x)
    np.testing.assert_allclose(twice, ad.grad(lambda x: np.sum(np.fft.fft(np.fft.fft(x, axis=0), axis=0).real * x))(x))
    with pytest.raises(ad.NotImplementedDerivativeError, match="over an axis twice"):
        ad.grad(lambda x: np.sum(np.fft.fftn(x, s=(4, 3), axes=(0, 0)).real))(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 2.0**x,
        lambda x: np.power(3, x),
        lambda x: np.linspace(x[0], x[1], 5),
        lambda x: np.linalg.norm(x, np.inf, axis=0),
        lambda x: np.linalg.norm(x, 1),
        lambda x: np.linalg.norm(x, -np.inf),
        lambda x: np.linalg.cond(x, 1),
    ],
)
def test_tangents_of_single_precision(f):
    x = np.array([[1.5, 0.5], [0.25, 2.0]], np.float32)
    y, y_dot = ad.jvp(f, (x,), (x,))
    assert y.dtype == y_dot.dtype == np.float32
    np.testing.assert_allclose(y_dot, ad.jvp(f, (x.astype(float),), (x.astype(float),))[1], rtol=1e-5, atol=1e-5)


def test_what_has_no_tangent():
    x = np.array([1.5, 2.5])
    assert isinstance(ad.vjp(lambda x, k: x[k], x, 1)[1](1.0)[1], (ad.NoTangent, float, np.floating))
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x.astype(int)))(x), [0.0, 0.0])
    assert ad.grad(lambda x: np.sum(x.astype(np.float32)))(x).dtype == np.float64
    with pytest.raises(ad.NonDifferentiableArgumentError):
        ad.grad(lambda m, x: np.sum(x[m]))(np.array([True, False]), x)
    assert ad.grad(lambda x: np.sum(x * x))(np.array([1, 2])).dtype == np.float64


def through_where(x):
    return np.where(x < 1, 2 * x, np.sqrt(x))


def through_a_safe_where(x):
    safe = np.where(x < 1, 1.0, x)
    return np.where(x < 1, 2 * x, np.sqrt(safe))


def logistic(x):
    return 1 / (1 + np.exp(-x))


def logistic_by_tanh(x):
    return 0.5 * (1 + np.tanh(x / 2))


@pytest.mark.parametrize(
    ("written", "rewrite", "x", "expected"),
    [(through_where, through_a_safe_where, 0.0, 2.0), (logistic, logistic_by_tanh, -800.0, 0.0)],
)
def test_a_formula_without_a_slope_and_its_rewrite(written, rewrite, x, expected):
    with np.errstate(all="ignore"):
        assert np.isnan(ad.grad(written)(np.float64(x)))
    assert ad.grad(rewrite)(np.float64(x)) == expected
    assert ad.grad(rewrite)(1.3) == pytest.approx(ad.grad(written)(1.3), rel=1e-14)


def test_the_second_derivative_of_a_squared_norm_at_zero():
    np.testing.assert_array_equal(ad.hessian(lambda x: np.linalg.norm(x) ** 2)(np.zeros(2)), np.zeros((2, 2)))
    np.testing.assert_array_equal(ad.hessian(lambda x: x @ x)(np.zeros(2)), 2 * np.eye(2))
