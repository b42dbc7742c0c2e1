"""Modules that differentiated code holds in a variable."""

import types

import numpy as np

import thunkad as ad
from thunkad.runtime.parts import fields_of


def namespace(x):
    return np if isinstance(x, np.ndarray) else None


def f(x):
    xp = namespace(x)
    parts = [xp.sin(x), x]
    parts[0] = parts[0] * x
    return xp.sum(parts[0] * parts[1])


def test_modules_are_not_gone_through():
    assert fields_of(types) == {}
    x = np.array([0.4, 1.2])
    np.testing.assert_allclose(ad.grad(f)(x), np.cos(x) * x**2 + 2 * x * np.sin(x))
    curvature = ad.hvp(f, (x,), (np.ones(2),))
    np.testing.assert_allclose(curvature, -np.sin(x) * x**2 + 4 * x * np.cos(x) + 2 * np.sin(x))
