"""Products with one that are there to make a copy, or a float, stay what they are in derivatives of derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import thunkad as ad

X = np.array([0.3, 0.5, 0.7, 1.1])


def product_in_place(x):
    y = x * 1.0
    for i in range(3):
        y[i] = y[i + 1] * y[i]
    return np.sum(y**2)


def product_in_place_by_a_variable(x):
    one = 1.0
    y = x * one
    for i in range(3):
        y[i] = y[i + 1] * y[i]
    return np.sum(y**2)


def weights_of_a_whole_number(x):
    k = 3 * 1.0
    w = np.array([k, k, k, k])
    w[0] = 0.5
    return np.sum(w * x**3)


def residual_beside_a_sum(x):
    return np.sum(np.tanh(0.3 * x) * x)


def residual_beside_a_sum_of_views(x):
    return np.sum(np.tanh(0.3 * x).reshape(2, 2) * x.reshape(2, 2))


@pytest.mark.parametrize(
    "f",
    [
        product_in_place, product_in_place_by_a_variable, weights_of_a_whole_number, residual_beside_a_sum,
        residual_beside_a_sum_of_views,
    ],
)  # fmt: skip
def test_hessian(f) -> None:
    x, step, gradient = X.copy(), 1e-6, ad.grad(f)
    want = [(gradient(X + step * e) - gradient(X - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(ad.hessian(f)(x), want, rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(x, X)  # and the argument is left alone
