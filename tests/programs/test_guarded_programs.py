"""Derivatives of functions with ``try`` and ``with``."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

HELPERS = """
import contextlib
from contextlib import suppress
class TooBig(Exception):
    def __init__(self, value): super().__init__("too big"); self.value = value
@contextlib.contextmanager
def quiet(k=4.0):
    print("enter")
    try: yield k
    finally: print("exit")
def checked(x, most=3.0):
    if x > most: raise TooBig(x)
    return x * x
"""

V = np.array([0.5, 1.5, 2.5])
PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "handler": ("def f(x):\n try: y = checked(x)\n except TooBig: y = 3.0 * x\n return y * x", [(2.0,), (4.0,)]),
    "else": ("def f(x):\n try: y = checked(x)\n except TooBig: y = 3.0 * x\n else: y = y * x\n return y * x", [(2.0,), (4.0,)]),
    "several": ("def f(x, n):\n try:\n  if n == 0: raise KeyError('k')\n  y = checked(x) / n\n except TooBig: y = 3.0 * x\n except (KeyError, ValueError) as e: y = 5.0 * x\n return y * x", [(2.0, 1), (4.0, 1), (2.0, 0)]),
    "work_before": ("def f(x):\n y = x\n try:\n  y = y * x\n  z = checked(y)\n  y = z + x\n except TooBig: pass\n return y * x", [(1.5,), (2.0,)]),
    "work_before_used": ("def f(x):\n try:\n  a = x * x\n  b = checked(a)\n except TooBig: return a * 3.0\n return b", [(1.5,), (2.0,)]),
    "loop": ("def f(xs):\n total = 1.0\n try:\n  for x in xs:\n   total = total * x\n   checked(total)\n   total = total + x\n except TooBig: total = total * 2.0\n return total", [(V,), ([0.5, 0.5],), (np.array([2.0, 2.0, 1.0]),)]),
    "loop_strict_left": ("def f(x):\n s = x[0]\n try:\n  for a, b in zip(x, x[:2], strict=True):\n   s = s * a + b\n   if s > 1.0: break\n except ValueError as e: s = s * x[2]\n return s", [(V,), (0.2 * V,)]),
    "loop_strict": ("def f(x):\n s = x[0]\n try:\n  for a, b in zip(x, x[:2], strict=True): s = s * a + b\n except ValueError as e: s = s * x[2] * len(str(e))\n return s", [(V,)]),
    "loop_exits": ("def f(xs):\n total = 1.0\n try:\n  for x in xs:\n   if x > 2: return total * x\n   if x < 0.6: continue\n   total = total * checked(x, 1.8)\n except TooBig: total = total * 2.0\n return total", [(V,), (np.array([0.5, 1.0, 1.9]),), (np.array([0.5, 1.0]),)]),
    "while": ("def f(x):\n n = 0\n try:\n  while True:\n   x = checked(x, 9.0) * 0.9\n   n = n + 1\n except TooBig: return x * n\n", [(1.5,), (2.0,)]),
    "try_in_loop": ("def f(xs):\n total = 0.0\n for x in xs:\n  try:\n   total = total + checked(x, 2.0)\n   if total > 100: break\n  except TooBig:\n   total = total * x\n   continue\n  total = total * 1.5\n return total", [(V,), (np.array([3.0, 1.0, 20.0]),)]),
    "finally": ("def f(x):\n try: y = checked(x)\n except TooBig: y = x\n finally: print('final')\n return y * x", [(2.0,), (4.0,)]),
    "finally_return": ("def f(x):\n try:\n  if x > 2.5: return x * x * x\n  y = checked(x)\n finally: print('final')\n return y * x", [(2.0,), (2.7,)]),
    "finally_changes": ("def f(x):\n y = x\n try:\n  return y * x\n finally:\n  y = 5.0\n  print(y)", [(2.0,)]),
    "finally_state": ("def f(x):\n y = x\n try:\n  y = checked(x)\n except TooBig: y = y * 7.0\n finally: y = y * x\n return y", [(2.0,), (4.0,)]),
    "escapes": ("def f(x):\n try: return checked(x)\n finally: print('cleaned')", [(2.0,), (4.0,)]),
    "reraise": ("def f(x):\n try: return checked(x)\n except TooBig: print('seen'); raise\n", [(2.0,), (4.0,)]),
    "reraise_other": ("def f(x):\n try: return checked(x)\n except TooBig as e: raise ValueError('bad') from e\n", [(2.0,), (4.0,)]),
    "nested": ("def f(x):\n y = x\n try:\n  try:\n   y = y * x\n   checked(x)\n   y = y * 2.0\n  except TooBig as e:\n   y = y * 3.0\n   raise KeyError('k')\n  y = y * 5.0\n except KeyError: y = y * x\n return y", [(2.0,), (4.0,)]),
    "retry": ("def f(x):\n for k in range(5):\n  try:\n   return checked(x * 4.0 / (k + 1)) * x\n  except TooBig: print('retry', k)\n return x", [(2.0,), (50.0,)]),
    "zero_division": ("def f(x, n):\n try: return x * (1 / n)\n except ZeroDivisionError: return x * x", [(2.0, 4), (2.0, 0)]),
    "linalg": ("def f(a, b):\n try: x = np.linalg.solve(a, b)\n except np.linalg.LinAlgError: x = b * 2.0\n return np.sum(x * x)", [(np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0]))]),
    "missing_key": ("def f(p, name):\n try: w = p[name]\n except KeyError: w = p['a'] * 2.0\n return w * w", [({"a": 2.0, "b": 3.0}, "b"), ({"a": 2.0, "b": 3.0}, "c")]),
    "comprehension": ("def f(xs):\n try: ys = [checked(x) for x in xs]\n except TooBig: ys = [x * 2.0 for x in xs]\n return sum(ys)", [([1.0, 2.0],), ([1.0, 4.0],)]),
    "mutation": ("def f(x, v):\n out = np.zeros(3)\n try:\n  out[0] = x * v[0]\n  out[1] = checked(x)\n  out[2] = x\n except TooBig: out[1] = v[1]\n return np.sum(out * v)", [(2.0, V), (4.0, V)]),
    "mutation_in_loop": ("def f(v):\n out = np.zeros(3)\n try:\n  for k in range(3):\n   out[k] = v[k] * v[k]\n   checked(v[k], 2.0)\n   out[k] = out[k] * 3.0\n except TooBig: pass\n return np.sum(out * v)", [(V,), (V * 0.5,)]),
    "target_of_a_loop": ("def f(x, n):\n y = x\n try:\n  for y in [x, x * x, 3.0 * x]: print(1 // (n > y))\n except ZeroDivisionError: y = y * x\n return y", [(1.3, 1.5), (1.3, 9.0)]),
    "append": ("def f(xs):\n out = []\n try:\n  for x in xs: out.append(checked(x))\n except TooBig: pass\n return sum(out)", [([1.0, 2.0],), ([1.0, 4.0, 2.0],)]),
    "augmented": ("def f(xs):\n total = 0.0\n try:\n  for x in xs: total += checked(x)\n except TooBig: total += 1.0\n return total * total", [([1.0, 2.0],), ([1.0, 4.0, 2.0],)]),
    "raise_in_body": ("def f(x):\n try:\n  if x > 1: raise ValueError\n  y = x\n except ValueError: y = x * x\n return y * 2.0", [(2.0,), (0.5,)]),
    "error_text": ("def f(x):\n try: return checked(x)\n except TooBig as e: return x * len(str(e))", [(2.0,), (4.0,)]),
    "kinds_differ": ("def f(x):\n try: y = checked(x)\n except TooBig: y = np.array([x, x * x])\n return np.sum(y)", [(2.0,), (4.0,)]),
    "one_way_only": ("def f(x):\n try: z = checked(x)\n except TooBig: return 0.0\n return z", [(2.0,), (4.0,)]),
    "closure": ("def f(x):\n def g(v):\n  try: return checked(v) * x\n  except TooBig: return v + x\n return g(x) * g(2.0 * x)", [(1.0,), (2.0,), (4.0,)]),
    "errstate": ("def f(x):\n with np.errstate(divide='ignore', invalid='ignore'): y = np.log(x) * x\n return np.sum(y)", [(V,)]),
    "errstate_argument": ("def f(x, how):\n for k in range(2):\n  with np.errstate(divide=how): x = np.log(x + 2.0) * x\n return np.sum(x)", [(V, "ignore")]),
    "managers": ("def f(x):\n with np.errstate(divide='ignore'), quiet() as k, quiet(2.0):\n  y = np.log(x) * k\n  print('inside')\n return y", [(2.0,)]),
    "with_exits": ("def f(xs):\n total = 0.0\n for x in xs:\n  with quiet() as k:\n   if x > 2: break\n   if x < 1: continue\n   total = total + x * k\n  total = total * 1.5\n return total", [([0.5, 1.5, 1.2, 3.0, 1.0],)]),
    "with_return": ("def f(x):\n with quiet() as k:\n  if x > 1: return x * x * k\n  x = x * 3.0\n return x", [(2.0,), (0.5,)]),
    "with_raises": ("def f(x):\n with quiet(): y = checked(x)\n return y", [(2.0,), (4.0,)]),
    "with_in_try": ("def f(x):\n try:\n  with quiet(): y = checked(x)\n except TooBig: y = x * 2.0\n return y * x", [(2.0,), (4.0,)]),
    "suppress": ("def f(x):\n y = x\n with suppress(TooBig):\n  y = y * x\n  y = checked(y) * 3.0\n return y", [(1.5,), (2.0,)]),
    "constant_manager": ("def f(x):\n with contextlib.nullcontext(3.0) as k: return x * k", [(2.0,)]),
}  # fmt: skip

CASES = [pytest.param(text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


@pytest.mark.parametrize(("text", "args"), CASES)
def test_derivatives_through_try_and_with(text: str, args: tuple[Any, ...]) -> None:
    check_program(Program(HELPERS + text, args).build(), args)


def built(text: str) -> Any:
    return Program(HELPERS + text, ()).build()


def test_values_of_managers_are_differentiated() -> None:
    f = built("def f(x):\n with quiet(x * x) as k: return k * x")
    assert ad.grad(f)(2.0) == 12.0
    assert ad.jvp(f, (2.0,), (1.0,)) == (8.0, 12.0)


def test_a_manager_that_swallows_an_exception() -> None:
    class Swallowing:
        def __enter__(self) -> None: ...
        def __exit__(self, *error: Any) -> bool:
            return True

    text = "def f(x):\n y = x\n with Swallowing():\n  y = x * x\n  y = checked(y) * 3.0\n return y"
    f = Program(HELPERS + text, (), {"Swallowing": Swallowing}).build()
    assert ad.grad(f)(1.5) == pytest.approx(12 * 1.5**3)
    assert ad.grad(f)(2.0) == pytest.approx(4.0)


def test_handlers_do_not_catch_what_the_library_refuses() -> None:
    text = "def f(x):\n try: y = unknown(x)\n except Exception: y = x\n return y"
    f = Program(HELPERS + text, (), {"unknown": contextlib.suppress}).build()
    with pytest.raises(ad.ThunkadError):
        ad.grad(f)(2.0)


def test_the_reverse_of_an_errstate_block_runs_under_one() -> None:
    f = built("def f(x):\n with np.errstate(divide='ignore', invalid='ignore'): y = np.sqrt(x)\n return np.sum(y)")
    with np.errstate(divide="raise", invalid="raise"):
        assert ad.grad(f)(np.array([0.0, 4.0])) == pytest.approx([np.inf, 0.25])


FORWARD = {
    "handler": ("def f(x):\n try: y = checked(x)\n except TooBig: y = 3.0 * x * x * x\n return y * x", (2.0, 4.0)),
    "partial": ("def f(x):\n y = x\n try:\n  y = y * x\n  z = checked(y)\n  y = z + x\n except TooBig: pass\n return y * x", (1.5, 2.0)),
    "loop": ("def f(x):\n t = x\n try:\n  for k in range(9):\n   t = t * x\n   checked(t, 9.0)\n   t = t + x\n except TooBig: t = t * x\n return t", (0.5, 1.7)),
    "finally": ("def f(x):\n try:\n  if x > 2.5: return x * x * x\n  y = checked(x)\n finally: print('final')\n return y * x", (2.0, 2.7)),
    "with": ("def f(x):\n with np.errstate(divide='ignore'), quiet() as k: y = np.log(x) * float(k) * x\n return y", (2.0, 0.5)),
    "match": ("def f(x):\n match (x, x * x):\n  case (a, b) if b > 2.0: return a * b * b\n  case (a, _): return np.exp(a)", (0.5, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_forward_mode_and_second_derivatives(name: str) -> None:
    text, points = FORWARD[name]
    f = built(text)
    for x in points:
        h = 1e-5
        first = (f(x + h) - f(x - h)) / (2 * h)
        assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(first, rel=1e-6)
        second = (ad.grad(f)(x + h) - ad.grad(f)(x - h)) / (2 * h)
        assert ad.grad(ad.grad(f))(x) == pytest.approx(second, rel=1e-6)


def test_a_cotangent_that_goes_by_another_name_is_taken_after_the_branch_that_adds_to_it() -> None:
    text = "def f(x, k):\n y = x * 0.8\n z = x + 0.1\n for j in range(1):\n  if True:\n   if k == 0: y = y * y\n   elif y > 4: return z\n   z = z + 0.3\n   y = y + z\n  z = y * z\n return z"
    check_program(built(text), (0.7, 0))
