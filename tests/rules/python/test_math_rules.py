"""Rules of math and cmath against differences, and the values decided at points without a derivative."""

import cmath
import math

import numpy as np
import pytest

import thunkad.rules.python.cmath
import thunkad.rules.python.math  # noqa: F401
from thunkad.rules.entry import RRULE
from thunkad.rules.table import TABLE
from thunkad.rules.template import template_of
from thunkad.runtime.scalars import digamma, trigamma
from thunkad.tangents import AbstractZero, unthunk
from thunkad.testing import check_frule, check_rrule

MANY = {"hypot", "dist", "fsum", "prod", "sumprod", "log", "ldexp", "frexp", "modf", "nextafter"}  # tested one by one
POSITIVE = {"acosh": 1.7, "sqrt": 0.7, "log2": 0.7, "log10": 0.7, "log1p": -0.4, "gamma": 2.6, "lgamma": 0.3}


def with_rules(module):
    return sorted(
        name
        for name, fn in vars(module).items()
        if callable(fn) and any(e.kind == RRULE for e in TABLE.snapshot.entries(fn))
    )


def arity(fn):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == RRULE]
    return len(entry.signature().parameters)


def check_both(fn, *args, **kwargs):
    check_rrule(fn, *args, **kwargs)
    check_frule(fn, *args, **kwargs)


@pytest.mark.parametrize("name", sorted(set(with_rules(math)) - MANY))
def test_math(name):
    fn = getattr(math, name)
    if arity(fn) == 1:
        check_both(fn, POSITIVE.get(name, 0.37))
        check_both(fn, np.float64(POSITIVE.get(name, -0.53)))
        check_both(fn, np.array(POSITIVE.get(name, -0.53)))
    elif arity(fn) == 2:
        check_both(fn, 0.37, -1.3)
        check_both(fn, 4.6 if name == "pow" else -4.6, 1.3)
    else:
        check_both(fn, 0.3, -1.2, 0.7)


def test_every_function_of_the_modules_is_decided():
    for module in (math, cmath):
        for name, fn in vars(module).items():
            if callable(fn) and not name.startswith("_"):
                assert TABLE.snapshot.entries(fn), f"{module.__name__}.{name}"


@pytest.mark.parametrize("name", sorted(set(with_rules(cmath)) - {"log", "rect"}))
def test_cmath(name):
    for z in (0.4 + 0.3j, -0.6 + 0.2j, 0.5 - 0.7j, 0.3):
        check_both(getattr(cmath, name), z)


def test_logarithms():
    check_both(math.log, 0.7)
    check_both(math.log, 0.7, 2.5)
    check_both(cmath.log, 0.7 - 0.2j)
    check_both(cmath.log, 0.7 - 0.2j, 2.5 + 1j)
    check_both(cmath.log, -0.7, 2.5)
    check_both(cmath.rect, 1.3, 0.4)


def test_functions_of_many_numbers():
    check_both(math.hypot, 0.3, -0.4, 1.2)
    check_both(math.hypot, 0.3)
    check_both(math.dist, [0.3, 0.2], (1.0, -0.5))
    check_both(math.dist, np.array([0.3, 0.2]), [1.0, -0.5])
    check_both(math.fsum, [0.3, 0.2, 1.0])
    check_both(math.fsum, np.array([0.3, 0.2]))
    check_both(math.prod, [0.3, -0.2, 1.5, 2.0])
    check_both(math.prod, (0.3,))
    check_both(math.prod, [0.3, 0.0, 1.5])
    check_both(math.prod, np.array([0.0, 0.3, 0.0]))
    if hasattr(math, "sumprod"):
        check_both(math.sumprod, [0.3, 0.2], (1.0, -0.5))


def test_results_of_two_parts():
    check_both(math.ldexp, 1.3, -2)
    check_both(math.frexp, -5.3)
    check_both(math.modf, 5.3)
    check_both(math.modf, -5.3)


def pulled(fn, *args):
    (entry,) = [e for e in TABLE.snapshot.entries(fn) if e.kind == RRULE]
    _, pullback = entry.function(*args)
    bars = [unthunk(bar) for bar in pullback(1.0)]
    return [0.0 if isinstance(bar, AbstractZero) else bar for bar in bars]


DECIDED = [
    (math.sqrt, (0.0,), [math.inf]),
    (math.asin, (1.0,), [math.inf]),
    (math.acosh, (1.0,), [math.inf]),
    (math.fabs, (0.0,), [0.0]),
    (math.copysign, (-2.0, 3.0), [-1.0, 0.0]),
    (math.copysign, (2.0, -0.0), [-1.0, 0.0]),
    (math.copysign, (0.0, 2.0), [0.0, 0.0]),
    (math.atan2, (0.0, 0.0), [0.0, 0.0]),
    (math.hypot, (0.0, 0.0), [(0.0, 0.0)]),
    (math.dist, ([1.0], [1.0]), [[0.0], [0.0]]),
    (math.pow, (0.0, 2.0), [0.0, 0.0]),
    (math.pow, (0.0, 0.5), [math.inf, 0.0]),
    (math.pow, (0.0, 1.0), [1.0, 0.0]),
    (math.fmod, (-7.0, 3.0), [1.0, 2.0]),
    (math.remainder, (8.0, 3.0), [1.0, -3.0]),
    (math.nextafter, (1.0, 2.0), [1.0, 0.0]),
    (cmath.phase, (0j,), [0.0]),
]


@pytest.mark.parametrize("fn, args, want", DECIDED)
def test_decided_values(fn, args, want):
    with np.errstate(divide="ignore"):
        assert pulled(fn, *args) == want


def test_digamma_and_trigamma_against_scipy():
    special = pytest.importorskip("scipy.special")
    for x in (-20.3, -3.5, -0.1, 1e-3, 0.4, 1.0, 1.4616, 9.99, 10.0, 55.0, 1e6):
        np.testing.assert_allclose(digamma(x), special.digamma(x), rtol=2e-13, atol=1e-15)
        np.testing.assert_allclose(trigamma(x), special.polygamma(1, x), rtol=2e-13)


ENTRIES = [e for m in (math, cmath) for fn in vars(m).values() if callable(fn) for e in TABLE.snapshot.entries(fn)]


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.kind == RRULE], ids=lambda e: e.target.__name__)
def test_rules_of_math_can_be_inlined(entry):
    template = template_of(entry)
    assert template is not None
    assert template.plain
