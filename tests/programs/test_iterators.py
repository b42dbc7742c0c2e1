"""Loops over objects of the user's classes, ``iter`` and ``next``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

V = (np.array([1.3, 0.7, -0.4]),)
STEPS = """class It:
 def __init__(self, v): self.v = v; self.i = 0
 def __iter__(self): return self
 def __next__(self):
  if self.i >= len(self.v): raise StopIteration
  self.i += 1
  return self.v[self.i - 1] * self.i
"""
DECAY = """class Decay:
 def __init__(self, x): self.x = x
 def __iter__(self): return self
 def __next__(self):
  self.x = self.x * 0.5
  print('made')
  if self.x < 0.1: raise StopIteration
  return self.x
"""
PROGRAMS: dict[str, str] = {
    "loop": STEPS + "def f(v):\n t = 0.0\n for h in It(v): t += h * h\n return t",
    "left_early": STEPS + "def f(v):\n t = 0.0\n it = It(v)\n for h in it:\n  if h > 1.35: break\n  t += h * h\n else: t = t * v[0]\n for h in it: t += h\n return t * it.i",
    "runs_out": STEPS + "def f(v):\n t = 0.0\n it = It(v)\n for h in it: t += h * h\n else: t = t * v[0]\n return t * it.i",
    "returns": STEPS + "def g(v):\n for h in It(v):\n  if h > 1.35: return h * 2\n return v[0]\ndef f(v): return g(v) * g(v * 0.1)",
    "nested": STEPS + "def f(v):\n t = 0.0\n for a in It(v):\n  for b in It(v):\n   if b < 0: continue\n   t += a * b\n return t",
    "taken_at_once": STEPS + "def f(v):\n return sum([h * h for h in It(v)]) + sum(It(v)) + max(It(v)) + list(It(v))[1]",
    "enumerated": STEPS + "def f(v):\n t = 0.0\n for i, h in enumerate(It(v), 2): t += h * i\n return t",
    "in_a_callee": STEPS + "def total(xs):\n t = 0.0\n for x in xs: t += x * x\n return t\ndef f(v): return total(It(v)) * total(v) * total([v[0]])",
    "effects": DECAY + "def f(v):\n t = 0.0\n d = Decay(v[0])\n for h in d:\n  print('used')\n  t += h * h * v[1]\n return t + d.x",
    "endless": "class Halves:\n def __init__(self, x): self.x = x\n def __iter__(self): return self\n def __next__(self):\n  self.x = self.x * 0.5\n  return self.x\ndef f(v):\n for h in Halves(v[0] * v[1]):\n  if h < 0.1: return h * v[2]",
    "iterator_of_a_list": "class L:\n def __init__(self, v): self.items = [v[0] * 2, v[1]]\n def __iter__(self): return iter(self.items)\n def __len__(self): return 2\ndef f(v):\n t = 0.0\n l = L(v)\n for h in l: t += h * h * len(l)\n return t",
    "method_that_yields": "class M:\n def __init__(self, v, r): self.v = v; self.r = r\n def __iter__(self):\n  h = 0.0\n  for a in self.v:\n   h = h * self.r + a\n   yield h\ndef f(v):\n t = 0.0\n for h in M(v, v[0]): t += h * h\n return t",
    "zipped": STEPS + "def f(v):\n t = 0.0\n for a, b in zip(It(v), v): t += a * b\n return t",
    "from_where_it_is": "def f(v):\n t = 0.0\n z = enumerate(zip(v, v * 2))\n for i, (a, b) in z:\n  t += a * b\n  if i == 0: break\n for i, (a, b) in z: t += a * a * b\n return t",
    "from_where_it_is_in_a_callee": "def g(z):\n t = 0.0\n for a, b in z:\n  t += a * b\n  break\n for a, b in z: t += a * a * b\n return t\ndef f(v): return g(zip(v, v * 2))",
    "drawn_by_turns": STEPS + "def f(v):\n t = 0.0\n it = It(v)\n for a, b in zip(it, it): t += a * b * b\n return t",
    "handed_on_by_a_callee": "def one(z): return next(z)\ndef two(z): return one(z) + 2 * one(z)\ndef some(z):\n t = 0.0\n for k in range(2): t += next(z) * (k + 1)\n return t\ndef f(v): return two(map(np.sin, v)) * some(reversed(v))",
    "kept_in_an_object": "class Feed:\n def __init__(self, z): self.z = z\n def get(self): return next(self.z)\ndef f(v):\n feed = Feed(map(np.sin, v))\n return feed.get() + 2 * feed.get()",
    "function_reads_what_changes": "def f(v):\n k = [v[0]]\n seen = []\n def g(h):\n  seen.append(h)\n  return h * k[0]\n m = map(g, v)\n k[0] = v[1] * v[1] * (1 + len(seen))\n t = 0.0\n for h in m:\n  t += h * seen[-1]\n  k[0] = t\n return t",
    "list_that_is_changed": "def f(v):\n y = [v[0], v[1]]\n m = zip(y, map(np.sin, y), v)\n y[0] = v[2] * v[2]\n y.append(v[0])\n return sum(a * b * c for a, b, c in m)",
    "generator_of_what_is_changed": "def g(w, v):\n for h in v: yield h * w[0]\ndef f(v):\n w = [v[0]]\n z = g(w, v)\n w[0] = v[1] * v[1]\n return sum(z)",
    "raised_where_it_is_used_up": "def g(h):\n if h < 0: raise ValueError\n return h * h\ndef f(v):\n m = map(g, v)\n t = 0.0\n try:\n  for h in m: t += h\n except ValueError: t = t * v[0]\n return t",
    "taken_into_lists": "def f(v):\n m, z = map(np.sin, v), zip('abc', v)\n d = {'r': [next(m)]}\n d['r'] += m\n k, a = next(z)\n e = dict()\n e.update(z)\n m = map(np.cos, v)\n d['r'][1:2] = [next(m)]\n d['r'][1:2] = m\n return sum(k * h for k, h in enumerate(d['r'])) * a * e['b']",
    "tree_listed": "class T:\n def __init__(self, v, l=None, r=None): self.v = v; self.l = l; self.r = r\n def __iter__(self):\n  if self.l: yield from self.l\n  yield self.v\n  if self.r: yield from self.r\ndef f(v):\n t = T(v[0], T(v[1]), T(v[2]))\n s = sorted(t)\n a, b, c = t\n return list(t)[0] * s[1] * s[1] * c",
    "columns_to_an_object": "class M:\n def __init__(self, rows): self.rows = [list(r) for r in rows]\ndef f(v):\n m = M([v[:2], v[1:]])\n t = M(zip(*m.rows))\n return t.rows[0][1] * t.rows[1][1] * m.rows[0][0]",
    "grouped": "def f(v):\n n, t = 2, 0.0\n w = list(v) + [v[0] * v[1]]\n for a, b in zip(*[iter(w)] * n): t += a * b * b\n return t + sum(a * b for a, b in zip(*[iter(w)] * 2, strict=True))",
    "columns_that_are_changed": "def f(v):\n seen = []\n def g(a, b):\n  seen.append(a)\n  return a * b\n rows = [[v[0], v[1]], [v[1], v[2]]]\n z, m = zip(*rows), map(g, *rows)\n rows[0][1] = v[2] * v[0]\n t = 0.0\n for h in m: t += h * seen[-1]\n return t * sum(a * b * b for a, b in z)",
    "windows": "import collections\ndef g(seq, n):\n from itertools import islice\n it = iter(seq)\n d = collections.deque(islice(it, n), maxlen=n)\n yield tuple(d)\n for a in it:\n  d.append(a)\n  yield tuple(d)\ndef f(v): return sum(a * b * b for a, b in g(v, 2))",
    "items_are_changed": "class Node:\n def __init__(self, v, kids=()): self.v = v; self.kids = kids\n def walk(self):\n  yield self\n  for k in self.kids: yield from k.walk()\ndef f(v):\n root = Node(v[0], [Node(v[1])])\n for n in root.walk(): n.v = n.v * v[2]\n return sum(n.v ** 2 for n in root.walk())",
    "endless_keys": "import itertools\ndef f(v):\n seen = {}\n for k, h in zip(itertools.cycle('ab'), v): seen.setdefault(k, []).append(h)\n return sum(np.prod(np.array(hs)) for hs in seen.values())",
    "operator_on_each": "import operator\ndef f(v): return sum(map(operator.mul, v, v[::-1])) * v[0]",
    "until it stops": "def f(v):\n it = iter([v[0], v[0] * v[1]])\n t = 1.0\n try:\n  for a in iter(lambda: next(it), None): t += a * a\n except StopIteration:\n  t = 0.0\n return t",
    "until": "def f(v):\n h = [v[0]]\n def step():\n  h[0] = h[0] * v[1]\n  return h[0] if h[0] > 0.2 else None\n return sum(a * a for a in iter(step, None))",
    "next": "def f(v):\n it = iter([v[0] * 2, v[1]])\n a = next(it)\n b = next(it)\n c = next(it, v[2])\n return a * b * c",
    "next_until_it_stops": "def f(v):\n it = iter(v)\n t = 0.0\n while True:\n  try: t += next(it) ** 2\n  except StopIteration: break\n return t",
    "next_past_the_end": "def f(v):\n it = iter([v[0]])\n return next(it) * next(it)",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_behaviour(name: str) -> None:
    args: tuple[Any, ...] = V
    check_program(Program(PROGRAMS[name], args).build(), args)


def test_reversed_of_such_an_object_is_refused() -> None:
    f = Program(STEPS + "def f(v):\n t = 0.0\n for a in reversed(It(v)): t += a\n return t", V).build()
    with pytest.raises(ad.UnsupportedSyntaxError, match="reversed of an object"):
        ad.grad(f)(*V)
