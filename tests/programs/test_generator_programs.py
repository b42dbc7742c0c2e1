"""Derivatives of functions that use up generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

HELPERS = """
def scaled(xs, k):
    for x in xs:
        if x > 2.2: continue
        yield x * k
def powers(x, n):
    p = 1.0
    for _ in range(n):
        p = p * x
        yield p
    return
def both(x):
    yield x
    yield x * x
    yield from powers(x, 3)
def endless(x):
    while True:
        x = x * 0.5
        yield x
def loud(x):
    for k in range(2):
        print("made", k)
        yield x * k
def reads(v):
    for k in range(3): yield v[k] * v[k]
"""

V = np.array([0.5, 1.5, 2.5])
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "loop": ("def f(xs, k):\n t = 1.0\n for v in scaled(xs, k): t = t * v + k\n return t", (V, 1.3)),
    "sum": ("def f(x): return sum(powers(x, 4)) * x", (1.2,)),
    "list": ("def f(x):\n p = list(powers(x, 3))\n return p[0] * p[2]", (1.2,)),
    "name": ("def f(x):\n g = both(x)\n t = 0.0\n for v in g: t = t + v * x\n return t", (1.2,)),
    "zip": ("def f(xs, x):\n t = 0.0\n for a, p in zip(xs, powers(x, 2)): t = t + a * p\n return t", (V, 1.2)),
    "enumerate": ("def f(x):\n t = 0.0\n for k, p in enumerate(powers(x, 3)): t = t + k * p\n return t", (1.2,)),
    "left_early": ("def f(x):\n for p in powers(x, 9):\n  if p > 2.0: return p * x\n return x", (1.2,)),
    "comprehension": ("def f(x): return sum([p * p for p in powers(x, 3)])", (1.2,)),
    "generator_expression": ("def f(x): return sum(p * p for p in powers(x, 3))", (1.2,)),
    "nested": ("def f(x):\n def g(n):\n  for k in range(n):\n   print('made', k)\n   yield x ** k\n t = 0.0\n for p in g(4):\n  if p > 1.6: break\n  t = t + p * x\n return t", (1.2,)),
    "nested_endless": ("def f(x):\n def g():\n  y = x\n  while True:\n   y = y * 0.5\n   yield y\n t = 0.0\n for p in g():\n  if p < 0.1: return t\n  t = t + p * x\n", (1.2,)),
    "nested_listed": ("def f(x):\n def g():\n  yield x\n  yield x * x\n return np.sum(np.array(list(g())) * x)", (1.2,)),
    "expression": ("def f(xs):\n t = 1.0\n for v in (x * x for x in xs if x > 0.6):\n  t = t * v\n  if t > 3.0: break\n return t", (V,)),
    "endless": ("def f(x):\n for v in endless(x):\n  if v < 0.1: return v\n", (1.2,)),
    "effects": ("def f(x):\n t = 0.0\n for v in loud(x): t = t + v\n return t", (1.2,)),
    "twice": ("def f(x):\n g = powers(x, 2)\n return sum(g) + sum(g)", (1.2,)),
    "next": ("def f(x):\n g = powers(x, 2)\n return next(g)", (1.2,)),
    "outer": ("def f(x):\n g = powers(x, 2)\n t = 0.0\n for k in range(2):\n  for v in g: t = t + v\n return t", (1.2,)),
    "changed": ("def f(x):\n v = np.ones(3) * x\n t = 0.0\n for w in reads(v):\n  v[1] = 5.0\n  t = t + w\n return t", (1.2,)),
    "numbers_only": ("def f(x):\n t = x\n for k in loud(3): t = t * (k + 1.0)\n return t", (1.2,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_through_generators(name: str) -> None:
    text, args = PROGRAMS[name]
    check_program(Program(HELPERS + text, args).build(), args)


def test_a_generator_function_has_no_derivative_of_its_own() -> None:
    f = Program(HELPERS + "f = endless", ()).build()
    with pytest.raises(ad.ThunkadError, match="is a generator function"):
        ad.grad(f)(2.0)


def test_forward_mode_through_generators() -> None:
    f = Program(HELPERS + PROGRAMS["sum"][0], ()).build()
    assert ad.jvp(f, (1.2,), (1.0,))[1] == pytest.approx(ad.grad(f)(1.2))
    assert ad.grad(ad.grad(f))(1.2) == pytest.approx((ad.grad(f)(1.2 + 1e-5) - ad.grad(f)(1.2 - 1e-5)) / 2e-5)
