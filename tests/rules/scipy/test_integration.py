"""Quadrature and differential equations of SciPy, against closed forms and against differences."""

import numpy as np
import pytest
from scipy import integrate

import thunkad as ad

P = np.array([1.3, 0.7])


def decay(p):
    return integrate.quad(lambda x: np.exp(-p[0] * x) * np.cos(p[1] * x), 0, 1)[0]


def bell(p):
    return integrate.quad(lambda x: np.exp(-p[0] * (x - p[1]) ** 2), -np.inf, np.inf)[0]


def tail(p):
    return integrate.quad(lambda x, a: np.exp(-a * x), p[1], np.inf, args=(p[0],))[0]


def from_below(p):
    return integrate.quad(lambda x: np.exp(p[0] * x), -np.inf, p[1])[0]


def reversed_ends(p):
    return integrate.quad(np.log, p[0], p[1])[0]


def singular(p):
    return integrate.quad(lambda x: p[0] * x**-0.5 + p[1] * x, 0, 1)[0]


def with_jumps(p):
    steps = integrate.quad(lambda x: 1.0 if x < 0.5 else p[1] * x, 0, p[0], points=[0.5])[0]
    return steps + integrate.quad(lambda x: np.exp(-x) * (2.0 if x > 0.5 else 1.0), -p[1], np.inf)[0]


def of_an_area(p):
    return integrate.dblquad(lambda y, x: x * y * y * p[0], 0, p[1], 0, lambda x: x + p[0])[0]


def area(p):
    a, b = p
    primitive = b**5 / 5 + 3 * a * b**4 / 4 + a * a * b**3 + a**3 * b**2 / 2
    return a * primitive / 3


INTEGRALS = {
    decay: lambda p: np.real((1 - np.exp(-p[0] + 1j * p[1])) / (p[0] - 1j * p[1])),
    bell: lambda p: np.sqrt(np.pi / p[0]),
    tail: lambda p: np.exp(-p[0] * p[1]) / p[0],
    from_below: lambda p: np.exp(p[0] * p[1]) / p[0],
    reversed_ends: lambda p: p[1] * np.log(p[1]) - p[1] - p[0] * np.log(p[0]) + p[0],
    singular: lambda p: 2 * p[0] + p[1] / 2,
    with_jumps: lambda p: p[1] * (p[0] ** 2 - 0.25) / 2 + np.exp(p[1]) + np.exp(-0.5) + 0.5,
    of_an_area: area,
}


@pytest.mark.parametrize("integral", INTEGRALS, ids=lambda f: f.__name__)
def test_integrals(integral):
    closed = INTEGRALS[integral]
    value, gradient = ad.value_and_grad(integral)(P)
    assert value == integral(P)
    np.testing.assert_allclose(gradient, ad.grad(closed)(P), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ad.jvp(integral, (P,), (np.array([0.3, -2.0]),))[1], gradient @ [0.3, -2.0])
    np.testing.assert_allclose(ad.hvp(integral, (P,), (P,)), ad.hvp(closed, (P,), (P,)), rtol=1e-6, atol=1e-7)


def test_what_quad_returns():
    def f(a):
        value, error, info = integrate.quad(lambda x: a * x, 0.0, 1.0, full_output=True)
        return value * 2 + info["neval"] * a

    assert ad.grad(f)(3.0) == pytest.approx(1 + 21)
    with pytest.raises(ad.ThunkadError, match="weight"):
        ad.grad(lambda a: integrate.quad(lambda x: a * x, 0, 1, weight="cos", wvar=1.0)[0])(1.0)


def test_sums_over_samples():
    def f(p):
        t = np.linspace(0, 1, 7)
        y = np.exp(-np.outer(p, t))
        area = integrate.trapezoid(y, t) @ p + integrate.trapezoid(y, dx=0.5, axis=0) @ t
        return area + np.sum(integrate.cumulative_trapezoid(y, np.cumsum(t * p[0]), initial=0) ** 2)

    def central(d, h=1e-6):
        return (f(P + h * d) - f(P - h * d)) / (2 * h)

    np.testing.assert_allclose(ad.grad(f)(P), [central(d) for d in np.eye(2)], rtol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (P,), (P,))[1], central(P), rtol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853"])
@pytest.mark.parametrize("times", [None, np.array([0.0, 0.4, 1.1])])
def test_differential_equations(method, times):
    def f(p):
        found = integrate.solve_ivp(
            lambda t, y, a: [y[1], -a * y[0]], (0, p[1]), [p[1], 0.0], method, args=(p[0],),
            t_eval=None if times is None else times * p[1] / 1.1, rtol=1e-8, atol=1e-9,
        )  # fmt: skip
        return found.y[0, -1] + found.t[-1] ** 2

    def closed(p):
        return p[1] * np.cos(np.sqrt(p[0]) * p[1]) + p[1] ** 2

    value, gradient = ad.value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(gradient, ad.grad(closed)(P), rtol=2e-6)
    np.testing.assert_allclose(ad.jvp(f, (P,), (P,))[1], gradient @ P, rtol=1e-9)


def test_the_steps_are_right_for_the_derivative_where_the_solution_rests():
    def f(p):
        return integrate.solve_ivp(lambda t, y: p[0] - y, (0, 3), [1.0], t_eval=[3.0]).y[0, 0]

    assert ad.grad(f)(np.array([1.0])) == pytest.approx(1 - np.exp(-3), rel=1e-3)
    np.testing.assert_allclose(ad.hessian(f)(np.array([1.0])), 0.0, atol=1e-12)


def test_what_the_slopes_may_be():
    def f(p):
        out = np.empty(2)

        def into(t, y):
            out[0], out[1] = y[1], -p[0] * y[0]
            return out

        one = integrate.solve_ivp(into, (0, p[1]), [1.0, 0.0], rtol=1e-8, atol=1e-9).y[0, -1]
        two = integrate.solve_ivp(lambda t, y: -p[0] * y[0], (0, 1), [2.0], t_eval=[0.0, p[1]], rtol=1e-8, atol=1e-9).y[0, -1]
        return one + two + np.sum(integrate.solve_ivp(lambda t, y: -p[0] * y, (1, 1), [p[1]]).y)

    def closed(p):
        return np.cos(np.sqrt(p[0]) * p[1]) + 2 * np.exp(-p[0] * p[1]) + 2 * p[1]

    np.testing.assert_allclose(ad.grad(f)(P), ad.grad(closed)(P), rtol=2e-6)


def test_second_derivatives_where_a_time_is_that_of_the_start():
    def f(b):
        return np.sum(integrate.solve_ivp(lambda t, y: -y, (0, b), [1.0], t_eval=np.linspace(0, b, 2), rtol=1e-8).y)

    assert ad.grad(ad.grad(f))(0.5) == pytest.approx(np.exp(-0.5), rel=1e-4)


def test_entries_of_the_solution_by_name_and_as_items():
    def f(a):
        found = integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [2.0], rtol=1e-9, atol=1e-10)
        return found["y"][0, -1] * found.y[0, -1] * found.t[-1]

    assert ad.grad(f)(0.5) == pytest.approx(-8 * np.exp(-1.0), rel=1e-6)


def test_what_is_refused():
    def stiff(a):
        return integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], method="BDF").y[0, -1]

    with pytest.raises(ad.NoRuleError, match="RK45"):
        ad.grad(stiff)(1.0)
    with pytest.raises(ad.NoRuleError, match="solve_ivp"):
        ad.grad(lambda a: integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0])[-1, 0])(1.0)
