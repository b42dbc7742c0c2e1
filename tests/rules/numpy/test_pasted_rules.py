"""The rules of these modules are straight lines, so that the compiler pastes them; and keep the user's own call."""

import importlib

import numpy as np
import pytest

import thunkad as ad
from thunkad.rules.entry import name_of
from thunkad.rules.table import TABLE
from thunkad.rules.template import template_of

MODULES = [
    "construction",
    "indexing",
    "joining",
    "methods",
    "reductions",
    "repeating",
    "scans",
    "shaping",
    "sorting",
    "splitting",
]


def entries(kind):
    modules = {importlib.import_module(f"thunkad.rules.numpy.{m}").__name__ for m in MODULES}
    return [
        entry
        for cell in TABLE.snapshot.cells.values()
        for entry in cell
        if entry.kind == kind and entry.layer == "library" and entry.function.__module__ in modules
    ]


@pytest.mark.parametrize("entry", entries("rrule"), ids=lambda e: name_of(e.target))
def test_templates(entry):
    template = template_of(entry)
    assert template is not None
    of_ufunc = isinstance(getattr(entry.target, "__self__", None), np.ufunc)  # another object at each look-up
    assert template.plain or entry.target is np.pad or of_ufunc


def test_every_reverse_rule_has_a_forward_rule():
    forward = {e.target: e for e in entries("frule")}
    assert {e.target for e in entries("rrule")} == set(forward)
    for entry in entries("rrule"):
        names = set(entry.signature().parameters)
        theirs = set(forward[entry.target].signature().parameters)
        dots = theirs - names
        assert names <= theirs and dots and all(d.endswith("_dot") and d[:-4] in names for d in dots)


# A rule may bind a name more than once, as any function may.


def damped(x):
    return x * np.exp(-x)


def scaled(x, z):
    return x * z


@ad.rrule(damped)
def _(x):
    x = x * 1.0
    y = -x
    y = x * np.exp(y)
    slope = np.exp(-x)
    slope = slope - y

    def pullback(y_bar):
        y_bar = np.real(y_bar)
        bar = y_bar * slope
        bar = bar * 1.0
        return ad.thunk(lambda: bar)

    return y, pullback


@ad.frule(damped)
def _(x, *, x_dot):
    y = damped(x)
    dot = x_dot * np.exp(-x)
    dot = dot - y * x_dot
    return y, dot


@ad.frule(scaled)
def _(x, z, *, x_dot, z_dot):
    part = x_dot * z
    dot = part
    dot = dot + x * z_dot
    return x * z, dot


@ad.rrule(scaled)
def _(x, z):
    def pullback(y_bar):
        bar = y_bar * z
        bar = bar, y_bar * x
        return bar[0], bar[1]

    return x * z, pullback


@pytest.mark.parametrize("x", [0.3, np.array([0.3, 1.2])], ids=["number", "array"])
def test_names_that_are_bound_again(x):
    slope = np.exp(-x) * (1 - x)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(damped(x)))(x), slope)
    np.testing.assert_allclose(ad.jvp(damped, (x,), (x * 0 + 1.0,))[1], slope)
    np.testing.assert_allclose(ad.jvp(lambda x: damped(x * 1.0), (x,), (x * 0 + 1.0,))[1], slope)
    second = np.exp(-x) * (x - 2)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.grad(lambda x: np.sum(damped(x)))(x)))(x), second)
    for f in (lambda z: scaled(3.0, z), lambda z: scaled(z, 3.0), lambda z: scaled(z, z) * 0.5 + scaled(2.0, 3.0)):
        wanted = x if f(2.0) == 8.0 else 3.0
        np.testing.assert_allclose(ad.jvp(f, (x,), (x * 0 + 1.0,))[1], wanted + x * 0)
        np.testing.assert_allclose(ad.grad(lambda z: np.sum(f(z)))(x), wanted + x * 0)  # noqa: B023


def test_parameters_that_go_by_two_names():
    """Where the callee is found when the code runs, too."""

    def f(functions, x, low, high):
        return functions[len(x) - 4](x, min=low, max=high)

    x = np.array([-2.0, 0.1, 0.3, 5.0])
    bars = ad.vjp(lambda x, low, high: f([np.clip], x, low, high), x, -1.0, 1.0)[1](np.array([2.0, 3.0, 4.0, 5.0]))
    for bar, wanted in zip(bars, ([0.0, 3.0, 4.0, 0.0], 2.0, 5.0)):
        np.testing.assert_allclose(bar, wanted)
    dots = np.ones(4), 2.0, 3.0
    _, y_dot = ad.jvp(lambda x, low, high: f([np.clip], x, low, high), (x, -1.0, 1.0), dots)
    np.testing.assert_allclose(y_dot, [2.0, 1.0, 1.0, 3.0])
