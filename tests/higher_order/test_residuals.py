"""Second derivatives of loops: what the forward sweep keeps for the reverse one has tangents, field by field."""

from __future__ import annotations

import math

import numpy as np
import pytest

import thunkad as ad


def plain(x):
    y = x[0]
    for k in range(1, 4):
        y = np.sin(y) * x[k] + y * y * 0.3
    return y


def branches(x):
    y = x[0]
    for k in range(4):
        if x[k] > 0.6:
            t = y * x[k]
            y = math.sin(t) + t * t
        elif x[k] > 0.4:
            y = y * 0.5
        else:
            y = 2.0
            y = y * x[k] ** 3
    return y * y


def loops_in_loops(x):
    y = x[0]
    for k in range(3):
        z = y * x[k]
        for j in range(k + 1):
            z = z * math.cos(x[j]) + x[j] * x[j]
        y = y + z * z
    return y


def loops_in_branches_in_loops(x):
    y = x[0]
    for k in range(4):
        if k % 2:
            for j in range(k):
                y = math.sin(y) * x[j] + y
        else:
            while y < 1.5:
                y = y * (1.2 + x[k] * x[k])
        y = y * x[k]
    return y


def two_lists(x):
    y = x[0]
    for v in x:
        y = y * v + v * v
    for v in x:
        if y > 5.0:
            break
        y = y + y * v
    return y * y


def arrays(x):
    w = np.reshape(np.sin(x), (2, 2))
    h = x[:2]
    for _ in range(3):
        h = np.tanh(w @ h + x[2:] * h)
    return np.sum(h * h)


def changed_in_place(x):
    y = x * 1.0
    for k in range(1, 4):
        row = y[k - 1] * x
        y[k] = y[k] * np.sin(row[k]) + row[0]
        y[:2] *= row[:2]
    return np.sum(y * y)


def lists(x):
    kept = []
    y = x[0]
    for k in range(4):
        y = y * x[k] + 1.0
        kept.append((y, y * y))
    total = 0.0
    for a, b in reversed(kept):
        total = total * a + b * x[1]
    return total


def numbers_only_sometimes(x):
    y, found = x[0], 0.0
    for k in range(4):
        try:
            y = y * math.sqrt(x[k] - 0.45)
            found = y * y
        except ValueError:
            found = found + y * x[k]
    return found * y


def bound_by_the_loop(x):
    y = x[0]
    for k in range(4):
        if k > 0:
            y = y * last * x[k]  # noqa: F821
        last = y + k * x[1]
    return last


FUNCTIONS = [
    plain,
    bound_by_the_loop,
    branches,
    loops_in_loops,
    loops_in_branches_in_loops,
    two_lists,
    arrays,
    changed_in_place,
    lists,
    numbers_only_sometimes,
]
X, V = np.array([0.7, 0.5, 0.9, 0.3]), np.array([0.3, -1.0, 0.5, 0.8])


def difference(g, x, v, h=1e-4):
    near, far = ((g(x + s * v) - g(x - s * v)) / (2 * s) for s in (h / 2, h))
    return (4 * near - far) / 3


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_second_derivative_in_one_direction(f) -> None:
    want = difference(ad.grad(f), X, V)
    np.testing.assert_allclose(ad.hvp(f, (X,), (V,)), want, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ad.jvp(ad.grad(f), (X,), (V,))[1], want, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_hessian(f) -> None:
    h = ad.hessian(f)(X)
    np.testing.assert_allclose(h @ V, ad.hvp(f, (X,), (V,)), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(h, h.T, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not numbers_only_sometimes])
def test_third_derivatives(f) -> None:
    def curved(x):
        return np.sum(ad.hvp(f, (x,), (V,)) * V)

    def bent(x):
        return np.sum(ad.grad(curved)(x) * V)

    np.testing.assert_allclose(ad.grad(curved)(X), difference_of_all(curved), rtol=1e-6, atol=1e-6)
    if f not in (lists, bound_by_the_loop):  # what is in them is followed when the code runs
        np.testing.assert_allclose(ad.grad(bent)(X), difference_of_all(bent), rtol=1e-6, atol=1e-5)


def difference_of_all(g):
    return np.array([difference(g, X, e) for e in np.eye(4)])


def test_a_record_holds_values_and_tangents_together() -> None:
    text = ad.adjoint_source(ad.grad(plain), mode="jvp", args=(X,))
    assert text.count(".append(") == 1
    assert "spread" not in text
