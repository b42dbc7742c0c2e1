"""Calls that write into an existing object are refused where a derivative is in it, and left alone elsewhere."""

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import numerical_vjp
from thunkad.errors import UnsupportedSyntaxError

X = np.arange(12.0).reshape(3, 4)


def out_of_an_effect(x):
    b = np.empty(4)
    np.sum(x * x, 0, out=b)
    return b.sum()


def out_of_a_result(x):
    b = np.empty(4)
    y = np.sum(x * x, 0, out=b)  # noqa: F841
    return b.sum()


def copied_into(x):
    b = np.empty((3, 4))
    np.copyto(b, x * x)
    return b.sum()


def added_at(x):
    b = np.zeros(4)
    np.add.at(b, [0, 0], x[0, 0])
    return b.sum()


def filled(x):
    b = np.zeros(4)
    b.fill(x[0, 0])
    return b.sum()


def sorted_in_place(x):
    y = x * 2
    y.sort()
    return y[0, 0]


def written_over(x):
    y = x * 2
    np.multiply(y, 2, out=y)
    return y.sum()


@pytest.mark.parametrize(
    "f", [out_of_an_effect, out_of_a_result, copied_into, added_at, filled, sorted_in_place, written_over]
)
def test_gradient_of_what_was_written(f):
    (want,) = numerical_vjp(lambda x: f(x.copy()), (X.copy(),), 1.0).values()
    np.testing.assert_allclose(ad.grad(f)(X.copy()), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "f", [out_of_an_effect, out_of_a_result, copied_into, added_at, filled, sorted_in_place, written_over]
)
def test_forward_mode_follows_what_was_written(f):
    dot = np.cos(X)
    want = np.sum(ad.grad(f)(X.copy()) * dot)
    np.testing.assert_allclose(ad.jvp(f, (X.copy(),), (dot,))[1], want, rtol=1e-12)


def of_constants(x):
    z = np.zeros((3, 4))
    np.add(np.ones((3, 4)), 1, out=z)
    k = [3, 1]
    k.append(2)
    k.sort()
    return np.sum(z * x) * k[0]


def test_constants_may_be_written():
    np.testing.assert_array_equal(ad.grad(of_constants)(X), np.full((3, 4), 2.0))


def active_initial(x):
    return np.sum(x, initial=x[0, 0])


@pytest.mark.parametrize("f, name", [(active_initial, "initial=")])
def test_a_keyword_without_derivative_is_refused_if_it_is_differentiated(f, name):
    with pytest.raises(UnsupportedSyntaxError, match=name):
        ad.grad(f)(X)
