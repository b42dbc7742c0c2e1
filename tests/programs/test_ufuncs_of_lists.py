"""NumPy's elementwise functions of lists and tuples."""

import numpy as np
import pytest
import thunkad as ad

from checking import Program
from tables import check, programs
from thunkad.testing.differences import pairing
from thunkad.testing.leaves import random_tangents

TABLE = """
=== a dict of lists | data = {"u": [0.5], "w": [0.3, 0.7]}
def f(data):
    t = 0.0
    for k, d in data.items():
        t = t + np.sum(np.square(d)) * 0.5
    return t
=== a list as argument | d = [0.5, 0.7]
def f(d):
    return np.mean(np.square(d)) + np.sum(np.reciprocal(d)) + np.sum(np.tanh(d)) + np.sum(np.power(d, 3)) + np.sum(np.multiply(d, 2.0))+np.sum(np.multiply(d, d))
=== lists in a dict | d = {"p": [0.5, 0.7], "q": [0.3, 1.2]}
def f(d):
    a = np.multiply(d["p"], d["q"]) + np.divide(d["p"], d["q"]) + np.arctan2(d["p"], d["q"]) + np.hypot(d["p"], d["q"])
    b = np.dot(d["p"], d["q"]) + np.inner(d["p"], d["q"]) + np.sum(np.outer(d["p"], d["q"]))
    c = np.sqrt(d["p"]) * np.log1p(d["q"]) + np.expm1(d["q"]) - np.negative(d["p"]) * np.abs(d["q"])
    e = np.linalg.norm(d["p"]) + np.var(d["q"]) + np.std(d["q"]) + np.prod(d["p"]) + np.max(d["q"])
    return np.sum(a) + b + np.sum(c) + e + np.interp(0.4, d["p"], d["q"]) + np.trapezoid(d["p"]) if hasattr(np, "trapezoid") else np.sum(a)
=== statistics of groups | data = {"u": [0.5, 1.5], "w": [0.3], "z": [1.0, 2.0, 4.0]}
def f(data):
    means = {k: sum(v) / len(v) for k, v in data.items()}
    dev = {k: [x - means[k] for x in v] for k, v in data.items() if len(v) > 1}
    var = {k: np.mean(np.square(d)) for k, d in dev.items()}
    best = max(var, key=var.get)
    table = [[means[a] * var.get(b, 0.0) for b in sorted(data)] for a in data]
    pairs = {(a, b): means[a] - means[b] for a in data for b in data if a < b}
    return var[best] + sum(map(sum, table)) + sum(v ** 2 for v in pairs.values())
=== displays | x = 0.7
def f(x):
    return np.sum(np.add([x, x * x], [x, 1.0]) ** 2) + np.sum(np.add([x, 1.0], 2.0) ** 2) + np.sum(np.subtract([x, 1.0], [x * x, x])**2)
=== two lists | p = [0.5, 0.7], q = [0.3, 1.2]
def f(p, q):
    return np.sum(np.add(p, q) ** 2) + np.sum(np.maximum(p, q) ** 2) + np.sum(np.where(np.greater(p, q), p, q) ** 3)
=== lists, numbers and arrays | d = {"p": [0.5, 0.7], "q": 0.3, "r": np.array([0.2, 0.8]), "s": (0.3, 0.4)}
def f(d):
    t = 0.0
    for k, v in d.items():
        t = t + np.max(np.cumsum(np.add(v, v))) + np.sum(np.subtract(v, 1.0) ** 2)
    return t
"""


@pytest.mark.parametrize("program", programs(TABLE))
def test_ufuncs_of_lists(program: Program) -> None:
    check(program)


@pytest.mark.parametrize("program", programs(TABLE))
def test_forward_mode(program: Program) -> None:
    f, args = program.build(), program.args
    dots = random_tangents(args, np.random.default_rng(0))
    _, dot = ad.jvp(f, args, dots)
    assert np.allclose(dot, pairing(tuple(ad.vjp(f, *args)[1](1.0)), dots))
