"""What code that does not know structural tangents can do with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad
from thunkad.errors import NotImplementedDerivativeError


@pytest.mark.parametrize("zero", [ad.ZeroTangent(), ad.NoTangent()])
def test_a_structural_zero_has_no_items_to_go_through(zero: ad.ZeroTangent | ad.NoTangent) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(zero)  # type: ignore[call-overload]
    assert zero[3] is zero


def test_going_through_a_derivative_that_is_not_implemented_demands_it() -> None:
    with pytest.raises(NotImplementedDerivativeError, match="no formula"):
        list(ad.NotImplementedTangent("no formula"))


class Cell:
    def __init__(self, w: np.ndarray) -> None:
        self.w = w


def test_a_method_that_takes_its_arguments_collected_has_a_zero_for_all_of_them() -> None:
    def f(x: np.ndarray, y: np.ndarray, s: float) -> float:
        q = Cell(x)
        q.w, z = y, q.w
        z.reshape(2, 2)[0] *= s
        return np.sum(x * x) + z[0]

    x, s = np.array([0.3, 0.4, 0.5, 0.9]), 0.3
    x_bar, x_bar_dot = ad.jvp(ad.grad(f), (x.copy(), x, s), (np.ones(4), x, 1.0))
    np.testing.assert_allclose(x_bar, [2 * s**2 * x[0] + s, 2 * s**2 * x[1], 2 * x[2], 2 * x[3]])
    np.testing.assert_allclose(x_bar_dot, [2 * s**2 + 4 * s * x[0] + 1, 2 * s**2 + 4 * s * x[1], 2, 2])


@pytest.mark.parametrize("x", [np.float64(2.0), np.float32(2.0), 2.0, np.array([1.0, 2.0]), np.array(2.0)])
def test_thunks_that_turn_out_to_be_zero_in_operators_of_numpy(x: Any) -> None:
    zero = ad.Thunk(ad.ZeroTangent)
    for found in (x + zero, zero + x, x - zero):
        np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(zero - x, -x)
    for product in (x * zero, zero * x, zero / x, -zero):
        assert isinstance(ad.unthunk(product), ad.ZeroTangent)
    y = np.array([1.0, 2.0])
    same = y
    y += zero
    assert y is same
    np.testing.assert_array_equal(y, [1.0, 2.0])
    y *= zero
    np.testing.assert_array_equal(same, [0.0, 0.0])
    with pytest.raises(TypeError):
        np.arctan2(x, zero)
