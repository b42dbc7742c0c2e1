"""Rules whose value is one of their parameters."""

from __future__ import annotations

import thunkad as ad


def through(x):
    return x


@ad.rrule(through)
def _(x):
    def pullback(y_bar):
        return (10 * y_bar * x,)

    return x, pullback


@ad.frule(through)
def _(x, *, x_dot):
    return x, 10 * x_dot * x


def f(x):
    return through(x * x) * 2.0


def test_the_parameter_is_the_operand_in_reverse() -> None:
    assert ad.grad(f)(3.0) == 2 * 10 * 9 * 6


def test_and_in_forward_mode() -> None:
    assert ad.jvp(f, (3.0,), (1.0,)) == (18.0, 2 * 10 * 9 * 6)
