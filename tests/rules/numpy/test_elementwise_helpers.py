"""The rules of the helpers, against differences of the helpers."""

import numpy as np
import pytest

import thunkad.rules.numpy.elementwise_helpers
import thunkad.rules.python.math  # noqa: F401
from thunkad.runtime.complex import in_field_of, real_part, real_product
from thunkad.runtime.elementwise import (
    bessel_ratio,
    log2_share,
    log_share,
    nonzero,
    power_exponent_partial,
    power_partial,
)
from thunkad.runtime.piecewise import chosen
from thunkad.runtime.scalars import digamma, quotient, ratio_or_zero
from thunkad.testing import check_frule, check_rrule

X, Y = np.array([0.3, 1.7, 0.9]), np.array([0.8, -0.4, 2.3])
Z = X + 1j * Y

CASES = [
    (nonzero, X),
    (nonzero, 0.3),
    (power_partial, X, Y),
    (power_partial, X, 2.5),
    (power_partial, Z, Y),
    (power_partial, 0.7, 2.5),
    (power_exponent_partial, X**Y, X, Y),
    (power_exponent_partial, np.array([4.0, -27.0]), np.array([-2.0, -3.0]), np.array([2.0, 3.0])),
    (power_exponent_partial, Z**Y, Z, Y),
    (power_exponent_partial, 0.7**2.5, 0.7, 2.5),
    (log_share, X, Y),
    (log2_share, X, Y),
    (bessel_ratio, np.array([0.4, -3.0, 40.0])),
    (real_part, X),
    (real_part, Z),
    (in_field_of, Z, X),
    (in_field_of, Z, Z),
    (real_product, X, Y),
    (real_product, Z, Z * 1j + 0.3),
    (real_product, Z, Y),
    (quotient, 0.3, -0.7),
    (ratio_or_zero, 0.3, -0.7),
    (digamma, 3.4),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_helper(case):
    if case[0] is in_field_of:
        check_rrule(lambda t: in_field_of(t, case[2]), case[1], rule=lambda t: _of_first(in_field_of, t, case[2]))
        return
    check_rrule(*case)
    check_frule(*case)


def _of_first(helper, t, *rest):
    from thunkad.rules.table import TABLE

    (entry,) = [e for e in TABLE.snapshot.entries(helper) if e.kind == "rrule"]
    value, pullback = entry.function(t, *rest)
    return value, lambda bar: pullback(bar)[:1]


def test_chosen_is_linear_in_its_first_argument():
    for x, other in [(X, Y), (X, X), (Y[:1], X)]:
        y = np.maximum(x, other)
        t = np.arange(1.0, 4.0)
        check_rrule(lambda t: chosen(t, y, x, other), t, rule=lambda t: _of_first(chosen, t, y, x, other))


def test_constant_exponents_have_the_second_derivative_without_powers_of_zero():
    from thunkad.rules.table import TABLE

    (entry,) = [e for e in TABLE.snapshot.entries(power_partial) if e.kind == "rrule"]
    for p, want in [(0, 0.0), (1, 0.0), (2, 2.0), (3, 0.0)]:
        for x, exponent in [(0.0, p), (np.zeros(1), p), (np.zeros(1), np.array([p]))]:
            _, pullback = entry.function(x, exponent)
            assert pullback(np.ones(np.shape(x)))[0].force() == want
