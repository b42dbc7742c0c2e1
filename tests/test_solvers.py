"""SciPy's solvers of equations, against solutions in closed form."""

import numpy as np
import pytest
from scipy import optimize

import thunkad as ad

P = np.array([1.3, 2.0])


def square(x, a, b):
    return a * x * x - b


class Model:
    def __init__(self, p):
        self.p = p

    def residual(self, x):
        return square(x, *self.p)

    def solution(self):
        return optimize.brentq(self.residual, 0.01, 5, xtol=1e-14)


def system(x, p):
    return [p[0] * x[0] ** 2 - p[1], x[0] - x[1]]


SOLVERS = {
    "brentq": lambda p: optimize.brentq(lambda x: square(x, p[0], p[1]), 0, 5, xtol=1e-14),
    "bisect": lambda p: optimize.bisect(square, 0, 5, args=(p[0], p[1]), xtol=1e-14, full_output=True)[0],
    "toms748": lambda p: optimize.toms748(lambda x: square(x, p[0], p[1]), 0, 5, xtol=1e-14),
    "newton": lambda p: optimize.newton(square, 1.0, args=(p[0], p[1]), tol=1e-14),
    "newton_of_several": lambda p: optimize.newton(lambda x: square(x, p[0], p[1]), np.array([1.0, 2.0]), tol=1e-14)[1],
    "root_scalar": lambda p: optimize.root_scalar(lambda x: square(x, p[0], p[1]), bracket=[0, 5], xtol=1e-14).root,
    "fsolve": lambda p: optimize.fsolve(system, [1.0, 1.0], args=(p,), xtol=1e-14)[1],
    "root": lambda p: optimize.root(lambda x: np.array(system(x, p)), np.ones(2), tol=1e-14).x[0],
    "fixed_point": lambda p: optimize.fixed_point(lambda x, a, b: (x + b / (a * x)) / 2, 1.0, args=(p[0], p[1]), xtol=1e-13),
    "in_a_method": lambda p: Model(p).solution(),
}  # fmt: skip


def closed(p):
    return np.sqrt(p[1] / p[0])


@pytest.mark.parametrize("name", SOLVERS)
def test_solutions(name):
    f = SOLVERS[name]
    value, gradient = ad.value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(gradient, ad.grad(closed)(P), rtol=1e-9)
    np.testing.assert_allclose(ad.jvp(f, (P,), (P,))[1], 0.0, atol=1e-12)
    np.testing.assert_allclose(ad.hvp(f, (P,), (np.ones(2),)), ad.hvp(closed, (P,), (np.ones(2),)), rtol=1e-8)


def test_minimizers_say_what_to_do():
    with pytest.raises(ad.NoRuleError, match=r"thunkad\.root"):
        ad.grad(lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2).x)(1.0)
    with pytest.raises(ad.NoRuleError, match="without its derivative"):
        ad.grad(lambda a: optimize.root(lambda x: (x - a, np.eye(1)), np.ones(1), jac=True).x[0])(1.0)
