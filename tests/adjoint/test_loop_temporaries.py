"""Names that forward code adds inside a loop are as local to an iteration as the user's."""

import numpy as np

import thunkad as ad


def test_a_starred_call_in_a_loop_that_never_runs():
    def f(x, pairs):
        total = x * x
        for pair in pairs:
            total = total + sum(map(lambda a, b: a * b * x, *pair))
        return total

    assert ad.grad(f)(3.0, []) == 6.0
    np.testing.assert_allclose(ad.grad(f)(3.0, [([1.0, 2.0], [4.0, 5.0])]), 6.0 + 14.0)


def test_a_pullback_with_a_step_that_only_has_an_effect():
    def f(x):
        total = 0.0
        for v in x:
            if v > 1.0:
                break
            total = total + v * v
        return total

    value, pullback = ad.vjp(f, np.array([0.5, -1.0, 2.0, 0.5]))
    assert value == 1.25
    np.testing.assert_array_equal(pullback(1.0)[0], [1.0, -2.0, 0.0, 0.0])
