"""Debug mode: cotangents are checked where they appear, and the line of the primal is named."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import thunkad as ad
from thunkad import debugging


def division(x, y):
    t = x * 2.0
    q = t / y
    s = np.sqrt(q)
    return np.sum(s * x)


def test_the_line_of_the_first_nan_is_named() -> None:
    x, y = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    with np.errstate(all="ignore"):
        assert not np.isfinite(ad.grad(division)(x, y)).all()
        with ad.debug(), pytest.raises(ad.CotangentError, match="not finite") as caught:
            ad.grad(division)(x, y)
    assert "s = np.sqrt(q)" in str(caught.value) and __file__ in str(caught.value)
    x[0] = 1.0
    with ad.debug():
        np.testing.assert_allclose(ad.grad(division)(x, y), 1.5 * np.sqrt(2 * x / y))


def test_inside_a_callee_a_loop_and_a_branch() -> None:
    def inner(x):
        return np.log(x) * x

    def f(x, n):
        total = 0.0
        for k in range(n):
            if k > 0:
                total = total + inner(x - 1.0)
        return total

    with np.errstate(all="ignore"), ad.debug():
        assert ad.grad(f)(3.0, 3) == pytest.approx(2 * (np.log(2.0) + 1))
        with pytest.raises(ad.CotangentError, match="not finite") as caught:
            ad.grad(f)(1.0, 3)
        assert "np.log(x) * x" in str(caught.value)


def writes_its_seed(x):
    return x * 2.0


@ad.rrule(writes_its_seed)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        y_bar *= 2.0
        return (y_bar,)

    return x * 2.0, pullback


def test_a_rule_that_writes_into_its_cotangent_is_caught() -> None:
    x = np.ones(3)
    with ad.debug(), pytest.raises(ValueError, match="read-only"):
        ad.grad(lambda x: np.sum(writes_its_seed(x) * x))(x)


def strange(x):
    return x * 1.0


@ad.rrule(strange)
def _(x):
    def pullback(y_bar):
        return (np.array([object()] * 3),)

    return x * 1.0, pullback


def test_a_cotangent_of_objects_is_caught() -> None:
    with ad.debug(), pytest.raises((ad.CotangentError, ad.RuleError)):
        ad.grad(lambda x: np.sum(strange(x * 2.0)))(np.ones(3))


def test_nesting_and_other_programs() -> None:
    assert not debugging.enabled
    with ad.debug():
        with ad.debug():
            assert debugging.enabled
        assert debugging.enabled
        x = np.random.default_rng(0).standard_normal((3, 3))
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.tanh(x @ x)[1:] * x[:2]))(x).shape, (3, 3))
        value, pullback = ad.vjp(lambda x, y: (x + y, [x[0] * y]), x, 2.0)
        bars = pullback((np.ones((3, 3)), [np.ones(3)]))
        assert bars[1] == pytest.approx(9 + x[0].sum())
        assert ad.grad(lambda n: 1.0 * n)(2) == 1.0
        assert ad.grad(lambda z: np.real(z * z))(1 + 2j) == 2 - 4j
    assert not debugging.enabled


def test_the_environment_variable() -> None:
    code = "from thunkad import debugging; import sys; sys.exit(0 if debugging.enabled else 1)"
    for value, want in (("1", 0), ("0", 1), ("", 1)):
        done = subprocess.run([sys.executable, "-c", code], env={"THUNKAD_DEBUG": value, "PATH": ""}, check=False)
        assert done.returncode == want
