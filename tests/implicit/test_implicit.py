"""Solutions of equations: the derivative of the solution, whatever the solver did."""

from __future__ import annotations

import numpy as np
import pytest

import thunkad as ad
from thunkad.implicit import ConvergenceError, fixed_point, root

A = np.array([[0.2, 0.1], [0.05, 0.3]])
B = np.array([1.0, 2.0])


def babylonian(x, a):
    return 0.5 * (x + a / x)


def test_a_number() -> None:
    def f(a):
        return fixed_point(babylonian, 1.0, a)

    assert np.isclose(f(2.0), np.sqrt(2))
    assert np.isclose(ad.grad(f)(2.0), 0.5 / np.sqrt(2), rtol=1e-12)
    assert np.isclose(ad.jvp(f, (2.0,), (3.0,))[1], 1.5 / np.sqrt(2), rtol=1e-12)


def by_iteration(a, b):
    return np.sum(fixed_point(lambda x: a @ x + b, np.zeros(2)) ** 2)


def by_newton(a, b):
    return np.sum(root(lambda x, a, b: x - a @ x - b, np.zeros(2), a, b) ** 2)


def by_newton_with_captures(a, b):
    return np.sum(root(lambda x: x - a @ x - b, np.zeros(2)) ** 2)


def directly(a, b):
    return np.sum(np.linalg.solve(np.eye(2) - a, b) ** 2)


@pytest.mark.parametrize("f", [by_iteration, by_newton, by_newton_with_captures])
def test_arrays(f) -> None:
    for found, want in zip(ad.grad(f, (0, 1))(A, B), ad.grad(directly, (0, 1))(A, B)):
        np.testing.assert_allclose(found, want, rtol=1e-9)
    dots = np.cos(A), np.sin(B)
    np.testing.assert_allclose(ad.jvp(f, (A, B), dots)[1], ad.jvp(directly, (A, B), dots)[1], rtol=1e-9)
    np.testing.assert_allclose(ad.linearize(f, A, B)[1](*dots), ad.jvp(directly, (A, B), dots)[1], rtol=1e-9)


def test_the_solver_is_not_looked_at() -> None:
    calls = []

    def step(x, a):
        noted(x)
        return babylonian(x, a)

    def noted(x):
        calls.append(x)

    ad.non_differentiable(noted)
    ad.grad(lambda a: fixed_point(step, 50.0, a))(2.0)
    alone = len(calls)
    calls.clear()
    fixed_point(step, 50.0, 2.0)
    assert alone == len(calls) + 1  # once more, at the solution


def test_the_start_has_no_derivative() -> None:
    found = ad.grad(lambda x0, a: fixed_point(babylonian, x0, a), (0, 1))(1.0, 2.0)
    assert found[0] == 0.0
    assert np.isclose(found[1], 0.5 / np.sqrt(2))


def test_no_convergence() -> None:
    with pytest.raises(ConvergenceError, match="5 iterations"):
        fixed_point(lambda x: 2 * x + 1, 1.0, max_iterations=5)
    with pytest.raises(ConvergenceError, match="root"):
        root(lambda x: x * x + 1, 0.7, max_iterations=10)


def square_root(a):
    return fixed_point(babylonian, 1.0, a)


def by_captures(a):
    return root(lambda x: x * x - a, 1.0, tolerance=1e-14)


@pytest.mark.parametrize("f", [square_root, by_captures])
def test_orders_two_to_four(f) -> None:
    want = [0.5 * 2**-0.5, -0.25 * 2**-1.5, 0.375 * 2**-2.5, -0.9375 * 2**-3.5]
    for n in range(4):
        assert np.isclose(ad.derivative(f, n + 1)(2.0), want[n], rtol=1e-11)
    forward = ad.jvp(lambda a: ad.jvp(f, (a,), (1.0,))[1], (2.0,), (1.0,))
    np.testing.assert_allclose(forward, want[:2], rtol=1e-11)


@pytest.mark.parametrize("f", [by_iteration, by_newton, by_newton_with_captures])
def test_second_derivatives_of_arrays(f) -> None:
    for found, want in zip(ad.hessian(f, (0, 1))(A, B), ad.hessian(directly, (0, 1))(A, B)):
        for block, like in zip(found, want):
            np.testing.assert_allclose(block, like, rtol=1e-8)


def test_a_linear_map_that_runs_a_solver_again() -> None:
    def f(a):
        return ad.grad(lambda b: np.sum(root(lambda z, b: z**3 + z - b, np.ones(2), b) ** 2))(a)

    at, dot = np.array([0.5, 0.8]), np.array([0.7, -0.4])
    np.testing.assert_allclose(ad.linearize(f, at)[1](dot), ad.jvp(f, (at,), (dot,))[1], rtol=1e-9)


INNER = {
    "grad": lambda f, x: ad.grad(f)(x),
    "jvp": lambda f, x: ad.jvp(f, (x,), (x * x,))[1],
    "vjp": lambda f, x: ad.vjp(f, x)[1](x)[0],
    "jacobian": lambda f, x: ad.jacobian(f)(x),
    "linearize": lambda f, x: ad.linearize(f, x)[1](x),
    "checkpoint": lambda f, x: ad.checkpoint(f)(x),
}


@pytest.mark.parametrize("name", INNER)
def test_derivatives_taken_inside(name: str) -> None:
    def of(solved):
        return lambda x: INNER[name](lambda a: x * solved(a * x), x)

    f, like = of(square_root), of(np.sqrt)
    assert np.isclose(ad.grad(f)(1.5), ad.grad(like)(1.5), rtol=1e-10)
    assert np.isclose(ad.jvp(f, (1.5,), (1.0,))[1], ad.grad(like)(1.5), rtol=1e-10)
    assert np.isclose(ad.hessian(f)(1.5), ad.hessian(like)(1.5), rtol=1e-9)


def test_unknowns_are_in_one_array_and_as_many_as_the_equations():
    with pytest.raises(ad.ArgumentError, match="one array"):
        ad.grad(lambda a: root(lambda x, a: {"u": x["u"] - a}, {"u": 0.0}, a)["u"])(2.0)
    with pytest.raises(ad.ArgumentError, match="2 numbers for 3 unknowns"):
        root(lambda x: x[:2], np.zeros(3))
