"""Loops over generators and iterators of Python classes in a ``try`` whose handler sees what the loop has done."""

from __future__ import annotations

from typing import Any

import pytest
import thunkad as ad

from checking import Program, check_program

HELPERS = """
import itertools
class Stop(Exception):
    def __init__(self, value): self.value = value
def checked(x, most=3.0):
    while True:
        if x > most: raise Stop(x * x)
        yield x
        x = x * x
def powers(x, n):
    y = x
    for k in range(n):
        y = y * x
        yield y
class Falling:
    def __init__(self, x): self.x, self.k = x, 0
    def __iter__(self): return self
    def __next__(self):
        self.k = self.k + 1
        self.x = self.x * self.x
        if self.k == 3: raise ValueError("three")
        if self.k == 5: raise StopIteration
        return self.x
class Bag:
    def __init__(self, x): self.x = x
    def __iter__(self):
        yield self.x
        self.x = self.x * 2
        yield self.x * self.x
        raise ValueError
"""

PROGRAMS: dict[str, str] = {
    "raises": "def f(x):\n t = 0.0\n try:\n  for y in checked(x): t = t + y * y\n except Stop: t = t * x\n return t",
    "mapped": "def f(x):\n t = 0.0\n try:\n  for y in map(lambda v: v * x, checked(x)): t = t + y\n except Stop: t = t * x\n return t",
    "raises_at_once": "def f(x):\n t = x\n try:\n  for y in checked(x, 0.0): t = t + y\n except Stop: t = t * x\n return t",
    "body_raises": "def f(x):\n t = 0.0\n try:\n  for y in powers(x, 9):\n   t = t + y\n   if t > 7: raise ValueError\n   t = t * x\n except ValueError: t = t * x\n return t",
    "nothing_raises": "def f(x):\n t = 0.0\n try:\n  for y in powers(x, 3): t = t + y * x\n except ValueError: t = t * 7\n else: t = t * x\n return t",
    "escapes": "def f(x):\n t = 0.0\n try:\n  for y in checked(x): t = t + y\n except KeyError: t = t * x\n return t",
    "raises_again": "def f(x):\n t = 0.0\n try:\n  for y in checked(x): t = t + y\n except Stop:\n  print(t > 1)\n  raise\n return t",
    "value": "def f(x):\n t = x\n try:\n  for y in checked(x): t = t + y * y\n except Stop as e: t = t * e.value\n return t",
    "value_of_either": "def f(x):\n t = x\n try:\n  for y in checked(x):\n   t = t * y\n   if t > 4: raise Stop(t * x)\n except Stop as e: t = t * e.value\n return t",
    "break": "def f(x):\n t = 0.0\n try:\n  for y in checked(x):\n   if y > 1.8: break\n   t = t + y\n except Stop: t = t * 5\n return t * x",
    "break_before_next": "def f(x):\n g = powers(x, 5)\n t = 0.0\n try:\n  for y in g:\n   t = t + y\n   if t > 2: break\n except Stop: t = t * 5\n return t * next(g)",
    "continue": "def f(x):\n t = 0.0\n try:\n  for y in checked(x):\n   if y < 1.4: continue\n   t = t + y\n except Stop: t = t * x\n return t",
    "return": "def f(x):\n t = 0.0\n try:\n  for y in checked(x):\n   t = t + y\n   if t > 3: return t * t\n except Stop: t = t * x\n return t",
    "else_of_loop": "def f(x):\n t = 0.0\n try:\n  for y in powers(x, 3):\n   if y > 50: break\n   t = t + y\n  else: t = t * x\n  t = t + x\n except Stop: t = t * 5\n return t",
    "finally": "def f(x):\n t = 0.0\n try:\n  for y in checked(x): t = t + y\n except Stop: t = t * x\n finally:\n  print('done')\n  t = t * 2\n return t",
    "last_item": "def f(x):\n y = x\n try:\n  for y in checked(x): print('one')\n except Stop: y = y * x\n return y",
    "after": "def f(x):\n t = 0.0\n try:\n  s = x * x\n  for y in checked(x): t = t + y * s\n  t = t + s\n except Stop: t = t * s\n return t",
    "kept_before": "def f(x):\n g = checked(x)\n t = next(g)\n try:\n  for y in g: t = t + y * t\n except Stop: t = t * x\n for z in g: t = t * 100\n return t",
    "own_class": "def f(x):\n it = Falling(x)\n t = 0.0\n try:\n  for y in it: t = t + y\n except ValueError: t = t * it.x\n for y in it: t = t + y * x\n return t * it.x",
    "own_class_made_there": "def f(x):\n t = 0.0\n try:\n  for y in Falling(x): t = t + y\n except ValueError as e: t = t * x + len(str(e))\n return t",
    "own_iter": "def f(x):\n b = Bag(x)\n t = 0.0\n try:\n  for y in b: t = t + y * b.x\n except ValueError: t = t * b.x\n return t",
    "generator_expression": "def f(x):\n t = 0.0\n try:\n  for y in (v * x for v in checked(x)): t = t + y\n except Stop: t = t * x\n return t",
    "two_loops": "def f(x):\n t = 0.0\n try:\n  for y in powers(x, 2): t = t + y\n  for y in checked(x): t = t * y\n except Stop: t = t * x\n return t",
    "nested_loops": "def f(x):\n t = 0.0\n try:\n  for y in powers(x, 3):\n   for z in checked(y, 8.0):\n    t = t + y * z\n    if z > 4: break\n except Stop: t = t * x\n return t",
    "in_a_loop": "def f(x):\n t = 0.0\n for k in range(3):\n  try:\n   for y in checked(x, k + 1.0): t = t + y\n  except Stop: t = t * x\n return t",
    "list_beside": "def f(x):\n t = 0.0\n try:\n  for a in [x, x * x]:\n   for y in checked(a): t = t + y * a\n except Stop: t = t * x\n return t",
    "passed": "def total(ys):\n t = 0.0\n try:\n  for y in ys: t = t + y\n except Stop: t = t * t\n return t\ndef f(x): return total(checked(x)) * total([x, x * x])",
    "inner_function": "def f(x):\n def total(ys):\n  t = 0.0\n  try:\n   for y in ys: t = t + y * x\n  except Stop: t = t * t\n  return t\n return total(checked(x)) * x",
    "changes_an_array": "def bad(a):\n a[0] = a[0] * a[1]\n yield a[0]\n a[1] = a[0] * a[1]\n raise ValueError\ndef f(x):\n a = np.ones(2) * x\n t = 0.0\n try:\n  for v in bad(a): t = t + v\n except ValueError: t = t * a[1]\n return t",
    "writes_items": "def f(x):\n a = np.zeros(4)\n k = 0\n try:\n  for y in checked(x):\n   a[k] = y * y\n   k = k + 1\n except Stop: a[k] = x\n return a @ a",
    "appends": "def f(x):\n out = []\n try:\n  for y in checked(x): out.append(y * x)\n except Stop: out.append(x)\n return sum(out) * len(out)",
    "nested_tries": "def f(x):\n t = 0.0\n try:\n  for y in checked(x):\n   try:\n    t = t + y\n    if t > 2: raise KeyError\n    t = t * x\n   except KeyError: t = t * 0.5\n except Stop: t = t * x\n return t",
    "retried": "def f(x):\n t = 0.0\n it = Falling(x)\n for k in range(2):\n  try:\n   for y in it: t = t + y * (k + 1)\n   break\n  except ValueError: t = t * x\n return t",
    "any_exception": "def f(x):\n t = 0.0\n try:\n  for y in checked(x): t = t + y\n except: t = t * x\n return t",
    "with_suppress": "import contextlib\ndef f(x):\n t = 0.0\n with contextlib.suppress(Stop):\n  for y in checked(x): t = t + y * x\n return t * x",
    "while_around": "def f(x):\n t = 0.0\n k = 0\n try:\n  while k < 3:\n   for y in checked(x, 2.0 + k): \n    t = t + y\n    if y > 1.6: break\n   k = k + 1\n except Stop: t = t * x\n return t",
    "unpacked_target": "def g(x):\n yield x, x * x\n yield x * x, 3 * x\n raise ValueError\ndef f(x):\n t = 0.0\n try:\n  for a, b in g(x): t = t + a * b\n except ValueError: t = t * x\n return t",
    "enumerated": "def f(x):\n t = 0.0\n try:\n  for k, y in enumerate(checked(x)): t = t + k * y\n except Stop: t = t * x\n return t",
    "enumerated_from": "def f(x):\n t = 0.0\n try:\n  for k, y in enumerate(Falling(x), 2): t = t + k * y\n except ValueError: t = t * x\n return t",
    "zipped": "def f(x):\n t = 0.0\n try:\n  for a, y in zip([x, 2.0, x * x, 5.0, 1.0], checked(x)): t = t + a * y\n except Stop: t = t * x\n return t",
    "starred_target": "def g(x):\n yield np.array([x, x * x, 2 * x])\n yield [x * x, 3 * x, x]\n raise ValueError\ndef f(x):\n t = 0.0\n try:\n  for a, *b in g(x): t = t + a * b[0] * b[-1]\n except ValueError: t = t * x * a\n return t",
    "wrong_length": "def g(x):\n yield x, (x * x, x)\n yield 2 * x, (x, x, x)\n raise KeyError\ndef f(x):\n d = {}\n t = 0.0\n z = g(x)\n try:\n  for d['a'], (b, c) in z: t = t + d['a'] * b * c\n except ValueError: t = t * x * d['a']\n return t",
    "zipped_by_turns": "def f(x):\n p, q = powers(x, 9), checked(x)\n t = 0.0\n try:\n  for k, (a, b) in enumerate(zip(p, q)): t = t + a * b * k\n except Stop: t = t * x\n return t * next(p)",
    "zipped_strictly": "def f(x):\n p, q, r = powers(x, 3), powers(x, 2), powers(x, 4)\n t = 0.0\n try:\n  for a, b in zip(p, q, strict=True): t = t + a * b\n except ValueError: t = t * x\n try:\n  for a, b in zip(q, r, strict=True): t = t + a * b\n except ValueError as e: t = t * len(str(e))\n return t * next(r)",
    "one_of_two": "def f(x):\n t = 0.0\n ys = checked(x) if x > 1 else [x, 2 * x]\n try:\n  for y in ys: t = t + y\n except Stop: t = t * x\n return t",
}  # fmt: skip


def built(name: str) -> Any:
    return Program(HELPERS + PROGRAMS[name], ()).build()


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_behaviour(name: str) -> None:
    for x in (1.3, 0.7) if "checked" not in PROGRAMS[name] else (1.3,):
        check_program(built(name), (x,))


#: Programs whose second derivatives take long, and go the ways that those of the others do.
LONG = ("zipped_strictly", "zipped_by_turns", "wrong_length", "enumerated_from")


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LONG])
def test_forward_mode_and_second_derivatives(name: str) -> None:
    f, x, h = built(name), 1.3, 1e-6
    try:
        plain = f(x)
    except Exception as error:
        with pytest.raises(type(error)):
            ad.jvp(f, (x,), (1.0,))
        return
    value, dot = ad.jvp(f, (x,), (1.0,))
    assert value == pytest.approx(plain, rel=1e-12)
    assert dot == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-5, abs=1e-6)
    second = (ad.grad(f)(x + h) - ad.grad(f)(x - h)) / (2 * h)
    assert ad.grad(ad.grad(f))(x) == pytest.approx(second, rel=1e-5, abs=1e-6)
    assert ad.jvp(ad.grad(f), (x,), (1.0,))[1] == pytest.approx(second, rel=1e-5, abs=1e-6)


REFUSED = {
    "item_that_is_an_iterator": ("def g(x):\n yield powers(x, 2)\n raise ValueError\ndef f(x):\n t = 0.0\n try:\n  for a, b in g(x): t = t + a * b\n except ValueError: t = t * x\n return t", "makes its own items one by one"),
    "value_alone": ("def f(x):\n try:\n  for y in checked(x): z = y\n except Stop as e: return e.value * x\n", "what an exception holds"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text, why = REFUSED[name]
    f, x = Program(HELPERS + text, ()).build(), 1.3
    with pytest.raises(ad.ThunkadError, match=why):
        ad.grad(f)(x)
    with pytest.raises(ad.ThunkadError, match=why):
        ad.jvp(f, (x,), (1.0,))
