"""Slices that stand for numbers, in ``np.mgrid``, ``np.ogrid``, ``np.r_`` and ``np.c_``."""

import numpy as np
import pytest

import thunkad as ad

PROGRAMS = {
    "mgrid, one axis": lambda p: np.sum(np.mgrid[p[1] : 2.0 : p[2]] ** 2),
    "mgrid, so many": lambda p: np.sum(np.mgrid[0 : p[0] : 4j] * p[1]),
    "mgrid, two axes": lambda p: np.sum(np.mgrid[0 : p[0] : 4j, p[1] : 2 : 3j][1] ** 2 * p[2]),
    "mgrid, mixed": lambda p: np.sum(np.mgrid[0 : p[0] : 4j, p[1] : 2 : p[2]] ** 2),
    "mgrid, unpacked": lambda p: (lambda x, y: np.sum(x * y * y))(*np.mgrid[-1:1:3j, 0 : p[0] : 2j]),
    "mgrid, constant": lambda p: np.sum(np.mgrid[0:3, 0:2] * p[0]),
    "ogrid, one axis": lambda p: np.sum(np.ogrid[p[1] : p[0] : 3j] ** 2),
    "ogrid, two axes": lambda p: np.sum(np.ogrid[p[1] : p[0] : 4j, p[2] : 3][0] * np.ogrid[0:2, p[2] : 3][1]),
    "r_": lambda p: np.sum(np.r_[0 : p[0] : 4j, p, 5, p[1] : 3 : p[2]] * np.arange(12.0)),
    "r_, constant": lambda p: np.sum(np.r_[p, 5, 0:2] * np.arange(6)),
    "c_": lambda p: np.sum(np.c_[p, 0:3] * p[0]),
    "none along it": lambda p: np.sum(np.mgrid[p[0] : p[0]]) + p[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f, p, v, h = PROGRAMS[name], np.array([1.3, 0.4, 0.7]), np.array([1.0, -2.0, 0.5]), 1e-6
    slope = np.array([(f(p + step) - f(p - step)) / (2 * h) for step in np.eye(3) * h])
    value, gradient = ad.value_and_grad(f)(p)
    assert value == f(p)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (p,), (v,))[1], gradient @ v, rtol=1e-10, atol=1e-12)
    ahead, back = ad.grad(f)(p + h * v), ad.grad(f)(p - h * v)
    np.testing.assert_allclose(ad.hvp(f, (p,), (v,)), (ahead - back) / (2 * h), rtol=1e-6, atol=1e-6)


def test_values_and_dtypes_are_those_of_numpy():
    def f(p):
        return np.mgrid[0:3], np.mgrid[0 : p[0] : 3j, 0:2], np.r_[0:3], np.ogrid[0:2, 0 : p[1] : 0.1]

    for got, want in zip(ad.jvp(f, (np.array([1.3, 0.4]),), (np.ones(2),))[0], f(np.array([1.3, 0.4]))):
        for a, b in zip(got, want):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
