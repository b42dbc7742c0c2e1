"""The checker must pass right rules and find each kind of mistake."""

import numpy as np
import pytest

from thunkad.tangents import ZERO, NoTangent, thunk
from thunkad.testing import CheckError, check_frule, check_rrule

X = np.array([0.3, -0.4, 0.9])


def square(x):
    return x * x


def right(x):
    def pullback(y_bar):
        return (thunk(lambda: 2 * np.conj(x) * y_bar),)

    return x * x, pullback


POINTS = [X, X + 1j, X.astype("f4"), X.astype(np.complex64), 0.3, 0.3j, np.float32(0.3), np.array(0.3), X[:0]]


@pytest.mark.parametrize("x", POINTS)
def test_right_rule(x):
    check_rrule(square, x, rule=right)


def with_pullback(pullback):
    return lambda x: (x * x, lambda y_bar: pullback(x, y_bar))


def writes_argument(x):
    y = x * x

    def pullback(y_bar):
        bar = 2 * x * y_bar
        x[0] = 7
        return (bar,)

    return y, pullback


def reuses_buffer(x):
    buffer = np.zeros_like(x)

    def pullback(y_bar):
        np.multiply(2 * x, y_bar, out=buffer)
        buffer[0] += reuses_buffer.calls
        reuses_buffer.calls += 1
        return (buffer,)

    reuses_buffer.calls = 0
    return x * x, pullback


def scales_seed(x, y_bar):
    y_bar *= 2
    return (y_bar * x,)


WRONG = [
    ("wrong in 3 of 3", with_pullback(lambda x, y_bar: (3 * x * y_bar,))),
    ("wrong shape", with_pullback(lambda x, y_bar: (np.sum(2 * x * y_bar),))),
    ("wrong number of cotangents", with_pullback(lambda x, y_bar: (2 * x * y_bar, NoTangent()))),
    ("wrong in 3 of 3", with_pullback(lambda x, y_bar: (ZERO,))),
    ("wrong in 3 of 3", with_pullback(lambda x, y_bar: (NoTangent(),))),
    ("doubled seed", with_pullback(lambda x, y_bar: (2 * x * np.clip(y_bar, -1, 1),))),
    ("modified its seed", with_pullback(scales_seed)),
    ("an argument was modified by the pullback", writes_argument),
    ("modified the cotangents of the first", reuses_buffer),
    ("the value is wrong", lambda x: (x * x + 1, lambda y_bar: (2 * x * y_bar,))),
    ("must return (value, pullback)", lambda x: x * x),
    ("float type", with_pullback(lambda x, y_bar: ("no",))),
]


@pytest.mark.parametrize("message, rule", WRONG)
def test_wrong_rules_are_found(message, rule):
    with pytest.raises(CheckError) as error:
        check_rrule(square, X.copy(), rule=rule)
    assert message in str(error.value)
    assert "square" in str(error.value)


def test_lost_precision_is_found():
    with pytest.raises(CheckError, match="precision"):
        check_rrule(square, X.astype("f4"), rule=with_pullback(lambda x, y_bar: (2 * x.astype(float) * y_bar,)))


def test_missing_conjugate_is_found():
    with pytest.raises(CheckError, match="cotangent of x"):
        check_rrule(square, X + 1j, rule=with_pullback(lambda x, y_bar: (2 * x * y_bar,)))


def test_no_rule():
    with pytest.raises(CheckError, match="no rrule"):
        check_rrule(square, X)


def joined(parts, scale=1, *, flag=True):
    return parts[0] * scale, {"b": parts[1] + scale}


def joined_rule(parts, scale=1, *, flag=True):
    def pullback(y_bar):
        first, second = y_bar[0], y_bar[1] if isinstance(y_bar[1], type(ZERO)) else y_bar[1]["b"]
        return [first * scale, second], thunk(lambda: sum_or_zero(first * parts[0]) + sum_or_zero(second))

    return joined(parts, scale), pullback


def sum_or_zero(t):
    return t if t is ZERO else np.sum(t)


def test_nested_arguments_and_results():
    check_rrule(joined, [X, X * 2], 0.5, rule=joined_rule)
    check_rrule(joined, [X, X * 2], scale=0.5, flag=False, rule=joined_rule)
    check_rrule(joined, [X, X * 2], rule=joined_rule)


def test_discrete_argument_must_have_no_tangent():
    def rule(x, name):
        return x * 2.0, lambda y_bar: (2.0 * y_bar, 0.0)

    with pytest.raises(CheckError, match="NoTangent"):
        check_rrule(lambda x, name: x * 2.0, X, "plain", rule=rule)


def test_kept_thunks():
    seen = []

    def rule(x):
        return x * x, lambda y_bar: (seen.append(y_bar) or 2 * x * y_bar,)

    check_rrule(square, X, rule=rule)
    assert all(isinstance(s, np.ndarray) for s in seen)


def product(a, b):
    return a * b


def test_forward():
    check_frule(product, X, X[::-1].copy(), rule=lambda a, b, *, a_dot, b_dot: (a * b, a_dot * b + a * b_dot))
    check_frule(product, 0.5, 0.25 + 1j, rule=lambda a, b, *, a_dot, b_dot: (a * b, a_dot * b + a * b_dot))


WRONG_FORWARD = [
    ("tangents of a, b", lambda a, b, *, a_dot, b_dot: (a * b, a_dot * b)),
    ("wrong shape", lambda a, b, *, a_dot, b_dot: (a * b, np.sum(a_dot * b + a * b_dot))),
    ("the value is wrong", lambda a, b, *, a_dot, b_dot: (a + b, a_dot * b + a * b_dot)),
    ("no argument can be perturbed", lambda a, b: (a * b, 0)),
]


@pytest.mark.parametrize("message, rule", WRONG_FORWARD)
def test_wrong_forward_rules_are_found(message, rule):
    with pytest.raises(CheckError) as error:
        check_frule(product, X, X + 1, rule=rule)
    assert message in str(error.value)


def test_forward_and_reverse_must_agree(monkeypatch):
    from thunkad.rules.define import frule, rrule
    from thunkad.rules.table import TABLE

    def half(x):
        return 0.5 * abs(x)

    rrule(half)(lambda x: (half(x), lambda y_bar: (0.5 * np.sign(x) * y_bar,)))
    frule(half)(lambda x, *, x_dot: (half(x), np.sign(x) * x_dot))
    try:
        with pytest.raises(CheckError, match="forward"):
            check_rrule(half, X)
    finally:
        for entry in TABLE.snapshot.entries(half):
            TABLE.remove(entry)
