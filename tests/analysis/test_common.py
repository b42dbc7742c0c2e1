"""What is computed twice is computed once, where nobody can tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads


def text(f, *args):
    lines = ad.adjoint_source(f, args=args).partition("def ")[2].splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


def elements(x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sin(x[i]) * x[i]
    return total


def halves(x):
    return np.sum(x[1:] ** 2 * np.exp(-(x[1:] ** 2))) + np.sum(x[:-1] ** 2)


def numbers(x, y):
    return math.exp(x * y) + math.sin(x * y) * (x * y)


def branches(x):
    if x[0] > 0.0:
        y = x[0] * x[1] + np.sin(x[0])
    else:
        y = x[0] - x[1]
    return y * x[0] * x[1]


def carried(x):
    h = x[0]
    for k in range(3):
        h = np.sin(h * x[1]) + h * x[1] + x[k]
    return h


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (elements, (np.array([0.3, -0.7, 1.1]),)),
        (halves, (np.array([0.3, -0.7, 1.1]),)),
        (numbers, (0.3, 0.7)),
        (branches, (np.array([0.3, 0.7]),)),
        (branches, (np.array([-0.3, 0.7]),)),
        (carried, (np.array([0.3, 0.7, 0.2]),)),
    ],
)
def test_the_derivative_is_the_same(f, args):
    check_grads(f, *args, order=2)


def test_each_element_is_read_once():
    code = text(elements, np.ones(3))
    assert code.count("x[i]") == 1 and code.count("x_bar[i] +=") == 1
    assert text(halves, np.ones(3)).count("x[1:]") == 1
    assert text(numbers, 1.0, 2.0).count("x * y") == 1


def test_not_where_something_is_changed_in_place():
    def f(x):
        y = x * 1.0
        a = np.sin(y[0])
        y[0] = 5.0 * x[1]
        return a * y[0] + np.cos(y[0])

    check_grads(f, np.array([0.3, 0.7]))


def test_not_what_is_computed_with_a_rule_of_the_users():
    calls = []

    def rule(x1, x2):
        def pullback(y_bar):
            calls.append("pulled")
            return y_bar * x2, y_bar * x1

        return x1 * x2, pullback

    def f(x):
        return x * x + x * x

    with ad.rules.override(np.multiply, rule):
        assert ad.grad(f)(3.0) == 12.0
    assert calls == ["pulled"] * 2


def test_not_random_numbers():
    def f(x):
        return x * np.random.default_rng(0).standard_normal() + np.random.rand() - np.random.rand()

    assert text(f, 1.0).count("rand()") == 2


def test_what_is_handed_out_stays_two_objects():
    def f(x):
        return np.sum(x * 2.0) + np.sum(x * 2.0), [x * 2.0, x * 2.0, np.sin(x), np.sin(x)]

    _, (first, second, third, fourth) = ad.grad(f, has_aux=True)(np.ones(2))
    first += 1.0
    third += 1.0
    np.testing.assert_array_equal(second, [2.0, 2.0])
    np.testing.assert_array_equal(fourth, np.sin([1.0, 1.0]))


def test_what_is_computed_from_it_is_computed_once_too():
    def f(x):
        return np.sum(np.sin(x[1:]) * np.cos(np.sin(x[1:])))

    assert text(f, np.ones(3)).count("np.sin(") == 2  # the other one is of the cosine's derivative
    check_grads(f, np.array([0.3, 0.7, 0.2]))
