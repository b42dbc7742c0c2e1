"""Second derivatives through functions that are passed on, and through rules of users that are called as they stand."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import thunkad as ad

A = np.array([[0.2, 0.1], [0.05, 0.3]])
B = np.array([1.0, 2.0])


def iterated(f, x):
    for _ in range(50):
        x = f(x)
    return x


def by_name(b):
    return np.sum(iterated(lambda x: A @ x + b, np.zeros(2)) ** 2)


def found_when_run(b):
    return np.sum([iterated][int(b[0] > 100)](lambda x: A @ x + b, np.zeros(2)) ** 2)


@pytest.mark.parametrize("f", [by_name, found_when_run])
def test_a_closure_that_is_called_in_a_loop(f) -> None:
    m = np.linalg.inv(np.eye(2) - A)
    np.testing.assert_allclose(ad.hessian(f)(B), 2 * m.T @ m)


def square(x):
    return x * x


@ad.rrule(square)
def _(x):
    y = square(x)
    if y is None:
        return y, None
    return y, lambda y_bar: (y_bar * 6 * x,)  # three times the derivative, so that the rule can be told


@ad.frule(square)
def _(x, *, x_dot):
    return square(x), 6 * x * x_dot


def test_a_rule_that_cannot_be_pasted_counts_in_second_derivatives() -> None:
    assert ad.grad(ad.grad(lambda x: square(x)))(2.0) == 6.0
    assert ad.grad(ad.grad(lambda x: [square][int(x > 9)](x)))(2.0) == 6.0
    assert ad.grad(lambda x: ad.grad(square)(x))(2.0) == 6.0


def applied(f, x):
    return f(x)


@ad.rrule(applied)
def _(f, x, *, ad):
    y, back = ad.vjp(f, x)
    return y, lambda y_bar: tuple(back.with_callee(y_bar))


@ad.frule(applied)
def _(f, x, *, ad, f_dot, x_dot):
    return ad.jvp(f, (x,), (x_dot,), f_dot)


def test_a_rule_that_takes_derivatives() -> None:
    def f(x):
        return applied(lambda t: t * t * x, x)

    assert ad.grad(f)(2.0) == 12.0
    assert ad.jvp(f, (2.0,), (1.0,))[1] == 12.0
    with pytest.raises(ad.UnsupportedSyntaxError, match="applied"):
        ad.grad(ad.grad(f))(2.0)


def scaled_by_a_default(b):
    made = [lambda x, b=b: x * b + b]
    return made[int(b > 100)](2.0) ** 2


def test_default_values_with_tangents() -> None:
    assert ad.grad(scaled_by_a_default)(1.0) == 18.0
    assert ad.jvp(scaled_by_a_default, (1.0,), (1.0,))[1] == 18.0
    assert ad.linearize(scaled_by_a_default, 1.0)[1](1.0) == 18.0
    assert ad.hvp(scaled_by_a_default, (1.0,), (1.0,)) == 18.0
    assert ad.derivative(scaled_by_a_default, 3)(1.0) == 0.0


def powers(a, *more, b=1.0, c=1.0):
    return a * a * b * c * c * sum(x * x for x in more) + a * c


def of_keyword(x, y):
    return ad.grad(functools.partial(powers, 2.0, b=y))(x)


def of_partial_partial(x, y):
    p = functools.partial(powers, x, c=y)
    return ad.grad(functools.partial(p, y, b=x))(x * y)


def of_overridden_keyword(x, y):
    return ad.grad(functools.partial(powers, c=x))(x, y, c=y)


def of_pullback(x, y):
    return ad.vjp(functools.partial(powers, y, c=y), x)[1](x)[0]


def of_jvp(x, y):
    return ad.jvp(functools.partial(powers, c=y, b=x), (x, y), (y, x))[1]


def of_grad_in_partial(x, y):
    return ad.grad(functools.partial(ad.grad(powers), x, c=y))(y)


def called(x, y):
    return functools.partial(powers, y, x, c=y)(x * y, b=x)


@pytest.mark.parametrize(
    "f",
    [of_keyword, of_partial_partial, of_overridden_keyword, of_pullback, of_jvp, of_grad_in_partial, called],
)
def test_what_a_partial_fixes_is_differentiated_from_outside(f) -> None:
    step, x, y = 1e-6, 0.7, 1.3
    want = (f(x + step, y) - f(x - step, y)) / (2 * step), (f(x, y + step) - f(x, y - step)) / (2 * step)
    np.testing.assert_allclose(ad.grad(f, (0, 1))(x, y), want, rtol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (x, y), (1.0, 0.0))[1], want[0], rtol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (x, y), (0.0, 1.0))[1], want[1], rtol=1e-7)
