"""Arguments that don't move among others that do: in forward mode, and in forward mode through the pullback.

So do those that a rule takes for constants: they have derivatives all the same, or are refused in either mode.
"""

import cmath
import math

import numpy as np
import pytest

import thunkad as ad

RNG = np.random.default_rng(3)
V = RNG.standard_normal(5)
M = RNG.standard_normal((3, 3)) + 3 * np.eye(3)



def product_into(x):
    y = np.zeros((2, 3))
    np.matmul(x[:4].reshape(2, 2), x[1:].reshape(2, 2), out=y[:, 1:])
    return y


#: What a call is given by a star: which of it is differentiated is only known when the code runs.
OF_A_CALL = ([0, -2, 1], 1.5)
#: Ways to make integers of what is differentiated, which has the derivative zero.
ROUNDING = {
    "array": lambda x: np.array(x, dtype=int),
    "asarray": lambda x: np.asarray([x[0], 1, 2], dtype=int),
    "astype": lambda x: x.astype(int),
    "cumprod": lambda x: np.cumprod(x, dtype=int),
    "full": lambda x: np.full(3, x[0], dtype=int),
}


def places(n):
    """What looks at the shape of a tangent."""
    entries = np.zeros(4)
    entries[1:] = n[:3]
    return np.sum(np.expand_dims(n, 1)) + np.sum(np.diag(n)) + np.max(n) + np.einsum("i,i", n, n) + entries.sum()


CASES = {
    "amax_late": (lambda x: np.amax(x**2, *OF_A_CALL[2:]) * x, V),
    "average": (lambda x: np.average(x, weights=[1, 2, 3, 4, 5]), V),
    "average_axis": (lambda x: np.average(x, axis=1, weights=[1, 2, 3.0]), M),
    "average_axes": (lambda x: np.average(x, axis=(1, 0), weights=[[1, 2, 1], [3, 4, 1], [1, 5, 6.0]]), M),
    "brackets": (lambda x: np.r_[x, [1, 2], 3.0] * np.c_[x[:4], [1, 2, 3, 4]].ravel()[:8], V),
    "clip_late": (lambda x: np.clip(x, *OF_A_CALL[:2]), M),
    "cond": (lambda x: np.linalg.cond(x), M),
    "cond_1": (lambda x: np.linalg.cond(x, 1), M),
    "differences": (lambda x: np.ediff1d(x, [1, 2], [3]) * np.diff(x, prepend=[0, 1], append=[1, 3])[:7], V),
    "histogram": (lambda x: np.histogram(x, bins=3, density=True)[0], V),
    "insert": (lambda x: np.insert(x, [1, 2], [5, 6]), V),
    "interp_period": (lambda x: np.interp(x, [0, 1.0, 2, 3], [3, 1.0, 4, 1], period=2.5), V),
    "polar": (lambda x: cmath.polar(complex(x[0], x[1]))[0] * x, V),
    "largest": (lambda x: max([], default=x[0]) * min(x[:0].tolist(), key=abs, default=x[1] ** 2) * x, V),
    "largest_late": (lambda x: sum(f([v for v in x if v > 9], default=x[0] ** 3) for f in (max, min)) * x, V),
    "matmul_out": (product_into, V),
    "modf": (lambda x: math.modf(9 * x[0])[0] * math.modf(9 * x[1])[1] * x, V),
    "pad_ends": (lambda x: np.pad(x, 2, mode="linear_ramp", end_values=(x[0], x[1])), V),
    "pad_values": (lambda x: np.pad(x, 1, constant_values=(x[0] ** 2, x[1])), V),
    "piecewise": (lambda x: np.piecewise(x, [x < -0.5, x > 0.5], [lambda t: t * t, 3.0, lambda t: -t]), V),
    "polyfit": (lambda x: np.polyfit([1, 2, 3, 5, 6], x, 1), V),
    **{f"rounded_{name}": (lambda x, to_integers=to: places(to_integers(x)) * x[1], V) for name, to in ROUNDING.items()},
    "vectorize": (lambda x: np.vectorize(lambda a, b=x[1]: a * x[0] * b)(np.arange(5)) * x, V),
    "piecewise_ones": (lambda x: np.piecewise(x, [x < 0], [lambda t: np.ones(len(t)), np.sin]), V),
}


@pytest.mark.parametrize("name", CASES)
def test_tangent_and_tangent_of_the_gradient(name):
    f, x = CASES[name]
    x_dot = RNG.standard_normal(x.shape)
    y, y_dot = ad.jvp(f, (x,), (x_dot,))
    np.testing.assert_allclose(y_dot, (f(x + 1e-6 * x_dot) - f(x - 1e-6 * x_dot)) / 2e-6, rtol=1e-6, atol=1e-7)
    y_bar = RNG.standard_normal(np.shape(y))
    (x_bar,) = ad.vjp(f, x)[1](y_bar)
    np.testing.assert_allclose(np.vdot(x_bar, x_dot), np.vdot(y_bar, y_dot), rtol=1e-9)

    gradient = ad.grad(lambda x: np.sum(y_bar * f(x) ** 2))
    along = ad.jvp(gradient, (x,), (x_dot,))[1]
    by_differences = (gradient(x + 1e-5 * x_dot) - gradient(x - 1e-5 * x_dot)) / 2e-5
    np.testing.assert_allclose(along, by_differences, rtol=1e-5, atol=1e-6)


REFUSED = {
    "as_integer_ratio": lambda x: np.divide(*(x * 2.0).as_integer_ratio()),
    "ddof": lambda x: np.var(V, ddof=x),
    "ddof_late": lambda x: sum(f(V, ddof=x) for f in (np.var, np.std)),
    "ddof_of_keywords": lambda x: sum(f(V, **k) for f, k in [(np.var, {"ddof": x}), (np.std, {})]),
    "frombuffer": lambda x: np.sum(np.frombuffer(np.array([x, 1.0]))),
    "frompyfunc": lambda x: np.sum(np.frompyfunc(lambda a: a * x, 1, 1)(V).astype(float)),
    "initial": lambda x: np.sum(V, initial=x),
    "lbnd": lambda x: np.polynomial.polynomial.polyint(V, lbnd=x)[0],
    "nan": lambda x: np.sum(np.nan_to_num(V, nan=x)),
    "scl": lambda x: np.polynomial.polynomial.polyder(V, scl=x)[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_rule_takes_for_a_constant_is_refused_in_either_mode(name):
    refusals = (ad.UnsupportedSyntaxError, ad.NotImplementedDerivativeError, ad.NoRuleError)
    for derivative in (lambda f: ad.grad(f)(0.5), lambda f: ad.jvp(f, (0.5,), (1.0,))):
        with pytest.raises(refusals, match=name.split("_")[0] if name != "lbnd" else "lower bound"):
            derivative(REFUSED[name])
