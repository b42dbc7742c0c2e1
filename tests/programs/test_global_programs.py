"""Derivatives of functions that assign global variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], float]] = {
    "accumulates": ("G = 1.0\ndef f(x, n):\n global G\n G = 1.0\n while n > 0:\n  G *= x\n  n -= 1\n return G", (2.0, 3), 12.0),
    "read_first": ("G = 3.0\ndef f(x):\n global G\n y = G * x\n G = x * x\n return y + G", (2.0,), 7.0),
    "branch": ("G = 3.0\ndef f(x):\n global G\n if x > 1.0: G = x * x\n return G * x", (2.0,), 12.0),
    "not_taken": ("G = 3.0\ndef f(x):\n global G\n if x > 9.0: G = x * x\n return G * x", (2.0,), 3.0),
    "counter": ("G = 0\ndef f(x):\n global G\n G += 1\n return x * x", (2.0,), 4.0),
    "nested": ("G = 1.0\ndef f(x):\n def grow():\n  global G\n  G = G * x\n grow()\n grow()\n return G", (2.0,), 4.0),
    "callee": ("G = 1.0\ndef g(x):\n global G\n G = x * x\n return G * x\ndef f(x):\n return g(x) * 2.0", (2.0,), 24.0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_what_the_module_holds(name: str) -> None:
    text, args, expected = PROGRAMS[name]
    plain = Program(text, args).build()
    value = plain(*args)
    left = plain.__globals__["G"]
    for take in (lambda f: ad.value_and_grad(f)(*args), lambda f: (lambda v, p: (v, p(1.0)[0]))(*ad.vjp(f, *args))):
        f = Program(text, args).build()
        found, gradient = take(f)
        assert found == value and np.isclose(gradient, expected)
        assert f.__globals__["G"] == left and type(f.__globals__["G"]) is type(left)
    f = Program(text, args).build()
    assert np.isclose(ad.jvp(f, args, (1.0, None)[: len(args)])[1], expected)

