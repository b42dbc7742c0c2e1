"""Lists and tuples where NumPy takes arrays: operands of ufuncs, and of operators beside an array; in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import thunkad as ad

A = np.array([1.0, 2.0])


def changed_in_place(xs):
    y = np.ravel(xs)
    y *= A
    xs[1] = y[0]
    return np.sum(y**2) * xs[1]


FUNCTIONS = {
    "multiply": lambda x: np.sum(np.multiply([x, x], x)),
    "add a tuple": lambda x: np.sum(np.add([x, 1.0], (x, x)) ** 2),
    "exp": lambda x: np.sum(np.exp([x, x * x])),
    "power": lambda x: np.sum(np.power([x, 2 * x], 2)),
    "power of both": lambda x: np.sum(np.power([x, 2 * x], [2.0, x])),
    "matmul": lambda x: np.sum(np.matmul([[x, 1.0], [x, x]], [x, x])),
    "hypot": lambda x: np.sum(np.hypot([x], [1.0])),
    "clip": lambda x: np.sum(np.clip([x, 2 * x], 0.0, 1.5) * x),
    "maximum": lambda x: np.maximum([x, 2.0], [1.0, x]).sum() * x,
    "array + list": lambda x: np.sum((A + [x, x * x]) ** 2),
    "list * array": lambda x: np.sum([x, x * x] * A),
    "array - tuple": lambda x: np.sum((A - (x, x)) ** 3),
    "array / list": lambda x: np.sum(A / [x, 2.0 * x]),
    "array ** list": lambda x: np.sum((A * x) ** [2.0, 3.0]),
    "array @ list": lambda x: A @ [x, x * x],
    "det": lambda x: np.linalg.det([[x, 1.0], [2.0, x * x]]) + np.linalg.norm([[x, 1.0], [2.0, 3.0]]),
    "mean of arrays": lambda x: np.sum(np.mean([A, A * x, A * 0.3], axis=0) ** 2),
    "where": lambda x: np.sum(np.where([True, False], [x, 1.0], (2.0, x)) ** 2),
    "fft": lambda x: np.abs(np.fft.fft([x, 1.0, 0.5])).sum(),
    "weights": lambda x: np.bincount([0, 1], weights=[x, 2.0])[0] * np.average([x, 3.0], weights=[1.0, x]),
    "interp": lambda x: np.interp(x, [0.0, 2.0], [x, 3.0]) * np.polyval([1.0, x, 2.0], 0.3),
    "polyval at a list": lambda x: np.polynomial.polynomial.polyval([x, 1.0], [1.0, 2.0, 3.0])[0],
    "several": lambda x: sum(np.sum(a) ** 2 for a in np.meshgrid([x, 1.0], [2.0, x])),
    "sinc": lambda x: np.sum(np.sinc([x, 0.3])) + np.emath.sqrt([x, 4.0])[0],
    "found late": lambda x: sum(np.sum(f([[x, 1.0], [2.0, x * x]]) ** 2) for f in (np.std, np.cumsum, np.atleast_1d)),
    "changed in place": lambda x: changed_in_place([x, 1.0]),
    "list in a name": lambda x: [np.multiply(ys, x) for ys in [[x, 1.0]]][0].sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    f = FUNCTIONS[name]
    want = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert np.isclose(ad.grad(f)(1.3), want, rtol=1e-6)
    value, dot = ad.jvp(f, (1.3,), (1.0,))
    assert np.isclose(value, f(1.3))
    assert np.isclose(dot, want, rtol=1e-6)
    assert np.isclose(ad.linearize(f, 1.3)[1](1.0), want, rtol=1e-6)
    g = ad.grad(f)
    second = (g(1.3 + 1e-5) - g(1.3 - 1e-5)) / 2e-5
    assert np.isclose(ad.hvp(f, (1.3,), (1.0,)), second, rtol=1e-5, atol=1e-8)
