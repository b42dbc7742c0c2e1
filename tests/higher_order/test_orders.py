"""Derivatives of functions of one number to order five, against formulas written by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import thunkad as ad

X = 0.7
S, C, T = math.sin(X), math.cos(X), math.tanh(X)
U = 1 - T * T
E = math.exp(S)


def sine(x):
    return np.sin(x)


def tangent(x):
    return np.tanh(x)


def exp_sin(x):
    return np.exp(np.sin(x))


def power(x):
    return x**5


def loop(x):
    y = 1.0
    for _ in range(5):
        y = y * x
    return y


def branch(x):
    if x > 0.5:
        return x**3 * 2.0
    return x


def until(x):
    y = x
    while y < 3.0:
        y = y * x + 1.0
    return y


def stored(x):
    y = np.zeros(2)
    y[0] = x * x
    y[1] = y[0] * x
    y *= x
    return y[0] * y[1]


POWERS = [5 * X**4, 20 * X**3, 60 * X**2, 120 * X, 120.0]
# x, x*x + 1, x³ + x + 1, x⁴ + x² + x + 1 (2.27), x⁵ + x³ + x² + x + 1 … stays below 3 for x < 1 - 1/3; at 1.2 four steps
SEVENTH = [7 * X**6, 42 * X**5, 210 * X**4, 840 * X**3, 2520 * X**2]
WANTED = {
    sine: [C, -S, -C, S, C],
    tangent: [
        U,
        -2 * T * U,
        U * (6 * T**2 - 2),
        U * (16 * T - 24 * T**3),
        U * (16 - 120 * T**2 + 120 * T**4),
    ],
    exp_sin: [
        E * C,
        E * (C**2 - S),
        E * (C**3 - 3 * S * C - C),
        E * (C**4 - 6 * S * C**2 + 3 * S**2 - 4 * C**2 + S),
        E * (C**5 - 10 * S * C**3 + 15 * S**2 * C - 10 * C**3 + 15 * S * C + C),
    ],
    power: POWERS,
    loop: POWERS,
    branch: [6 * X**2, 12 * X, 12.0, 0.0, 0.0],
    stored: SEVENTH,
}


@pytest.mark.parametrize("order", range(1, 6))
@pytest.mark.parametrize("f", WANTED, ids=lambda f: f.__name__)
def test_derivative(f, order: int) -> None:
    assert math.isclose(ad.derivative(f, order)(X), WANTED[f][order - 1], rel_tol=1e-10, abs_tol=1e-12)


class Series:
    """A function of one number by its Taylor coefficients, with an arithmetic of its own: what the rest is checked by."""

    def __init__(self, *coefficients: float) -> None:
        self.c = [*coefficients, *(6 - len(coefficients)) * [0.0]]

    def __add__(self, other: Series) -> Series:
        return Series(*(a + b for a, b in zip(self.c, other.c)))

    def __mul__(self, other: Series) -> Series:
        return Series(*(sum(self.c[j] * other.c[k - j] for j in range(k + 1)) for k in range(6)))

    def __neg__(self) -> Series:
        return Series(*(-a for a in self.c))

    def along(self, start: float, slope) -> Series:
        """The ``y`` with ``y' = slope(y) · self'`` that starts there, coefficient by coefficient."""
        y = Series(start)
        for k in range(5):
            by = slope(y)
            y.c[k + 1] = sum(by.c[k - j] * (j + 1) * self.c[j + 1] for j in range(k + 1)) / (k + 1)
        return y

    def exp(self) -> Series:
        return self.along(math.exp(self.c[0]), lambda y: y)

    def tanh(self) -> Series:
        return self.along(math.tanh(self.c[0]), lambda y: Series(1.0) + -(y * y))

    def sin(self) -> Series:
        sine, cosine = Series(math.sin(self.c[0])), Series(math.cos(self.c[0]))
        for k in range(5):
            inner = [(j + 1) * self.c[j + 1] for j in range(k + 1)]
            sine.c[k + 1] = sum(cosine.c[k - j] * d for j, d in enumerate(inner)) / (k + 1)
            cosine.c[k + 1] = -sum(sine.c[k - j] * d for j, d in enumerate(inner)) / (k + 1)
        return sine


def array_in_a_loop(x):
    y = np.zeros(4)
    y[0] = x
    for k in range(1, 4):
        y[k] = np.sin(y[k - 1]) * x
        y[k] += y[k - 1] ** 2
        y[:k] *= x
    return y[3] * y[1]


def array_in_branches(x):
    y = np.full(3, x)
    for k in range(3):
        if y[k] > 0.6:
            y[k] *= np.exp(-y[k])
        else:
            y[k] = np.tanh(x) * y[k - 1]
        y[(k + 1) % 3] *= y[k]
    return np.sum(y * y)


def array_in_a_loop_by_series(x: Series) -> Series:
    y = [x, Series(), Series(), Series()]
    for k in range(1, 4):
        y[k] = y[k - 1].sin() * x + y[k - 1] * y[k - 1]
        y[:k] = [v * x for v in y[:k]]
    return y[3] * y[1]


def array_in_branches_by_series(x: Series) -> Series:
    y = [x, x, x]
    for k in range(3):
        y[k] = y[k] * (-y[k]).exp() if y[k].c[0] > 0.6 else x.tanh() * y[k - 1]
        y[(k + 1) % 3] = y[(k + 1) % 3] * y[k]
    return y[0] * y[0] + y[1] * y[1] + y[2] * y[2]


def test_series() -> None:
    x = Series(X, 1.0)
    for f, g in ((sine, x.sin()), (tangent, x.tanh()), (exp_sin, x.sin().exp())):
        wanted = [g.c[k] * math.factorial(k) for k in range(1, 6)]
        np.testing.assert_allclose(wanted, WANTED[f], rtol=1e-13)


@pytest.mark.parametrize("order", range(1, 6))
@pytest.mark.parametrize(
    ("f", "by_series"),
    [(array_in_a_loop, array_in_a_loop_by_series), (array_in_branches, array_in_branches_by_series)],
    ids=["loop", "branches"],
)
def test_arrays_that_are_changed_in_loops(f, by_series, order: int) -> None:
    want = by_series(Series(X, 1.0)).c[order] * math.factorial(order)
    assert math.isclose(ad.derivative(f, order)(X), want, rel_tol=1e-10)


def test_order_of_no_derivative() -> None:
    assert ad.derivative(sine, 0)(X) == S


def test_a_negative_order_is_an_error() -> None:
    with pytest.raises(ad.ArgumentError, match="at least 0"):
        ad.derivative(sine, -1)


def test_a_loop_that_depends_on_the_value() -> None:
    x = 1.2  # x⁴ + x³ + x + … : y = (x*x + 1)*x + 1 = x³ + x + 1 = 3.928
    assert math.isclose(ad.grad(ad.grad(until))(x), 6 * x)


def test_the_second_derivative_is_one_straight_function() -> None:
    import inspect

    from thunkad.compiled.root import root_of

    g = ad.grad(sine)
    ad.grad(g)(X)
    root = root_of(g)
    text = inspect.getsource(root.specializations[root.last].call)
    assert "np.sin(x)" in text
    assert "np.cos" not in text  # neither the value nor the gradient is computed
    assert len(text.splitlines()) <= 8


def test_a_sum_of_a_list_that_grows() -> None:
    def grown(x):
        parts = [x**3]
        parts.append(x * x)
        return sum(parts) * x**3

    assert math.isclose(ad.derivative(grown, 4)(0.8), 360 * 0.8**2 + 120 * 0.8)
