"""Derivatives of functions with ``match``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from checking import Program, check_program


@dataclass
class Point:
    x: float
    y: float


@dataclass(frozen=True)
class Scaled:
    inner: object
    by: float


V = np.array([0.5, -1.5, 2.0])
PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "by_shape": ("def f(x):\n match x.shape:\n  case (n,): return np.sum(x * x) * n\n  case (n, m) if n == m: return np.trace(x) * n\n  case _: return np.sum(x)", [(V,), (np.eye(2) + 0.5,), (np.ones((2, 3)),)]),
    "by_value": ("def f(x, kind):\n match kind:\n  case 'sin': y = np.sin(x)\n  case 'exp' | 'e': y = np.exp(x)\n  case 3: y = x * x\n  case _: y = 2.0 * x\n return y * x", [(0.7, "sin"), (0.7, "e"), (V, 3), (0.7, None)]),
    "captures": ("def f(x, y):\n match (x, y):\n  case (a, b) if a > b: return a * a * b\n  case (a, b): return a + 3.0 * b", [(2.0, 1.0), (1.0, 2.0)]),
    "argument": ("def f(t):\n match t:\n  case [a]: return a * a\n  case [a, b, *rest]:\n   s = a * b\n   for r in rest: s = s * r\n   return s", [([2.0],), ((2.0, 3.0),), ([2.0, 3.0, 1.5, 0.5],)]),
    "starred": ("def f(t):\n match t:\n  case [*first, last]: return sum(first) * last", [([2.0, 3.0, 1.5],), ((1.0,),)]),
    "mapping": ("def f(d):\n match d:\n  case {'w': w, 'b': [b0, b1]}: return w * b0 + b1 * b1\n  case {'w': w}: return w * w", [({"w": 2.0, "b": [3.0, 4.0]},), ({"w": 2.0, "c": 1.0},)]),
    "dataclass": ("def f(x, y):\n p = Point(x * y, y)\n match p:\n  case Point(x=0.0): return y\n  case Point(a, b): return a * b * b", [(2.0, 3.0)]),
    "nested_class": ("def g(p):\n match p:\n  case Point(a, b): return a * b\n  case Scaled(inner, by=k): return g(inner) * k\n  case _: return 0.0\ndef f(x, y):\n return g(Scaled(Scaled(Point(x, y), x), 3.0))", [(2.0, 3.0)]),
    "numbers": ("def f(x):\n match x:\n  case float(v): return v * v\n  case np.ndarray(): return np.sum(x) * 3.0", [(2.0,), (V,)]),
    "constant_case": ("def f(x, k):\n match k:\n  case 0: return 1.0\n  case _: return x * k", [(2.0, 0), (2.0, 4)]),
    "in_loop": ("def f(x, ops):\n for op in ops:\n  match op:\n   case ['mul', k]: x = x * k\n   case ['add', k]: x = x + k\n   case 'square': x = x * x\n   case 'stop': break\n   case None: continue\n  x = x * 1.1\n return x", [(1.5, [("mul", 2.0), "square", None, ("add", 1.0), "stop", "square"]), (1.5, [])]),
    "or_captures": ("def f(t):\n match t:\n  case [x, 'a'] | ['a', x]: return x * x\n  case [x, y]: return x * y", [([3.0, "a"],), (["a", 2.0],), ([2.0, 5.0],)]),
    "walrus_guard": ("def f(x):\n match x:\n  case a if (b := a * a) > 1.0: return b * a\n  case a: return a + b", [(2.0,), (0.5,)]),
    "unmatched": ("def f(x):\n y = x\n match x:\n  case None: y = x * 2\n return y * x", [(2.0,)]),
    "raises": ("def f(x):\n match x:\n  case [a, b]: return a\n  case _: raise ValueError('no pair')", [(2.0,)]),
}  # fmt: skip

CASES = [pytest.param(text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


@pytest.mark.parametrize(("text", "args"), CASES)
def test_derivatives_through_match(text: str, args: tuple[Any, ...]) -> None:
    check_program(Program(text, args, {"Point": Point, "Scaled": Scaled}).build(), args)
