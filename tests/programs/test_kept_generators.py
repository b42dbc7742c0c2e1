"""Generators that are kept: in variables, attributes and lists, as arguments and results, used in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

HELPERS = """import itertools
def powers(x, n):
 p = 1.0
 for k in range(n):
  p = p * x
  print('made', k)
  yield p
  print('after', k)
def halves(x):
 while True:
  x = x * 0.5
  yield x
def count(n):
 k = n
 while True:
  yield k
  k = k + 1
def total(ys):
 t = 0.0
 for y in ys: t = t + y * y
 return t
"""

CLEANING = "def g(x):\n try:\n  yield x\n  yield x * x\n finally: print('done')\n"
V, M, W = np.array([0.5, 1.5, 2.5]), np.arange(6.0).reshape(3, 2) / 3, np.array([1.2, -0.5])
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "columns_of_what_is_yielded": ("def gen(x):\n    t = 0.0\n    while t < 1.0:\n        t += 0.5\n        if t > 5: continue\n        yield t, x * t\ndef f(x):\n    ts, ys = zip(*gen(x))\n    s = 0.0\n    for row in zip(*gen(x * x)): s += row[0] * row[1]\n    return sum(ys) * ts[0] + s", (0.7,)),
    "super": ("class A:\n def __init__(self, k): self.k = k\n def g(self, x):\n  yield x * self.k\n  yield x\nclass B(A):\n def g(self, x):\n  for v in super().g(x): yield v * v\ndef f(x):\n it = B(x).g(x)\n return next(it) * next(it)", (1.2,)),
    "stop_raised": ("def g(x):\n yield x\n raise StopIteration\ndef f(x):\n it = g(x)\n t = next(it)\n try: next(it)\n except RuntimeError: t = t * x\n return t", (1.2,)),
    "stop_raised_in_a_loop": ("def g(x):\n yield x\n if x > 0: raise StopIteration(x)\ndef f(x):\n t = 0.0\n try:\n  for v in g(x): t = t + v * v\n except RuntimeError: t = t * x\n return t", (1.2,)),
    "endless_break": ("def f(x):\n for v in halves(x):\n  if v < 0.1: return v * v", (1.2,)),
    "endless_next": ("def f(x):\n g = halves(x)\n next(g)\n return next(g) * next(g)", (1.2,)),
    "endless_zip": ("def f(xs, x):\n t = 0.0\n for a, h in zip(xs, halves(x)): t = t + a * h\n return t", (V, 1.2,)),
    "endless_zip2": ("def f(xs, x):\n t = 0.0\n for h, a in zip(halves(x), xs): t = t + a * h\n return t", (V, 1.2,)),
    "enumerate": ("def f(x):\n t = 0.0\n for k, h in enumerate(halves(x), 1):\n  if k > 4: break\n  t = t + k * h\n return t", (1.2,)),
    "map": ("def f(x):\n t = 0.0\n for h in map(lambda a, b: a * b, powers(x, 3), halves(x)): t = t + h\n return t", (1.2,)),
    "filter": ("def f(x):\n t = 0.0\n for h in filter(lambda a: a > 1.3, powers(x, 5)): t = t + h\n return t", (1.2,)),
    "zip_value": ("def f(x):\n z = zip(powers(x, 3), halves(x))\n a, b = next(z)\n c, d = next(z)\n return a * b + c * d", (1.2,)),
    "islice": ("def f(x): return sum(itertools.islice(halves(x), 4))", (1.2,)),
    "islice_loop": ("def f(x):\n t = 0.0\n for h in itertools.islice(halves(x), 1, 9, 2): t = t + h * h\n return t", (1.2,)),
    "takewhile": ("def f(x):\n t = 0.0\n for h in itertools.takewhile(lambda h: h > 0.1, halves(x)): t = t + h * h\n return t", (1.2,)),
    "chain": ("def f(x):\n t = 0.0\n for h in itertools.chain(powers(x, 2), [x, 2.0], powers(x, 1)): t = t + h * h\n return t", (1.2,)),
    "two_loops": ("def f(x):\n g = powers(x, 6)\n t = 0.0\n for v in g:\n  print('use')\n  if v > 1.4: break\n  t = t + v\n print('between', t > 0)\n for v in g: t = t * v\n return t", (1.2,)),
    "rebind": ("def f(x):\n y = x\n g = powers(y, 4)\n t = 0.0\n for v in g:\n  y = y * 2\n  t = t + v * y\n return t", (1.2,)),
    "mutates": ("def fill(a):\n for k in range(3):\n  a[k] = a[k] * a[0]\n  yield k\ndef f(x):\n a = np.ones(3) * x\n t = 0.0\n for k in fill(a): t = t + a[k] * a[2]\n return t", (1.2,)),
    "reads_mutated": ("def reads(v):\n for k in range(3): yield v[k] * v[k]\ndef f(x):\n v = np.ones(3) * x\n t = 0.0\n for w in reads(v):\n  v[1] = w * 5.0\n  t = t + w\n return t", (1.2,)),
    "reads_list": ("def reads(v):\n for k in range(3): yield v[k] * v[-1]\ndef f(x):\n v = [x, x, x]\n t = 0.0\n for w in reads(v):\n  v.append(w * t)\n  t = t + w\n return t", (1.2,)),
    "iter_growing": ("def reads(v):\n for a in v: yield a * a\ndef f(x):\n v = [x, x]\n t = 0.0\n for w in reads(v):\n  if len(v) < 4: v.append(w)\n  t = t + w\n return t", (1.2,)),
    "raises": ("def bad(x):\n yield x\n raise ValueError('no')\ndef f(x):\n g = bad(x)\n t = next(g)\n try: t = t * next(g)\n except ValueError as e:\n  print(e)\n  t = t * x\n try: next(g)\n except StopIteration: t = t * 3\n return t", (1.2,)),
    "raises_out": ("def bad(x):\n yield x\n print('r')\n raise ValueError('no')\ndef f(x):\n t = 0.0\n for v in bad(x):\n  print('u')\n  t = t + v\n return t", (1.2,)),
    "runtime_error": ("def bad(x):\n yield x\n it = iter([])\n yield next(it)\ndef f(x):\n t = 0.0\n for v in bad(x): t = t + v\n return t", (1.2,)),
    "past_end": ("def f(x):\n g = powers(x, 1)\n return next(g) * next(g)", (1.2,)),
    "return_value": ("def inner(x):\n yield x\n return x * x\ndef outer(x):\n r = yield from inner(x)\n yield r * 2\ndef f(x):\n g = outer(x)\n return next(g) * next(g)", (1.2,)),
    "stop_value": ("def inner(x):\n yield x\n return 7\ndef f(x):\n g = inner(x)\n t = next(g)\n try: next(g)\n except StopIteration: t = t * 2\n return t", (1.2,)),
    "send": ("def acc(x):\n t = x\n while True:\n  y = yield t\n  t = t * y\ndef f(x):\n g = acc(x)\n next(g)\n a = g.send(x)\n b = g.send(a)\n return a * b", (1.2,)),
    "send_from": ("def acc(x):\n t = x\n while True:\n  y = yield t\n  t = t * y\ndef outer(x):\n yield from acc(x)\ndef f(x):\n g = outer(x)\n next(g)\n a = g.send(x)\n b = g.send(a)\n return a * b", (1.2,)),
    "send_none": ("def acc(x):\n y = yield x\n yield y\ndef f(x):\n g = acc(x)\n return x * g.send(3)", (1.2,)),
    "finally_left": ("def g(x):\n try:\n  yield x\n  yield x * x\n finally: print('done')\ndef f(x):\n t = 0.0\n for v in g(x):\n  t = t + v\n  break\n print('end')\n return t", (1.2,)),
    "except_inside": ("def g(x):\n for k in range(3):\n  try:\n   if k == 1: raise KeyError\n   yield x * k\n  except KeyError: print('caught')\n yield x\ndef f(x):\n it = g(x)\n t = 1.0\n for v in it: t = t * 2 + v\n return t", (1.2,)),
    "close": ("def f(x):\n g = powers(x, 3)\n t = next(g)\n g.close()\n for v in g: t = t + v\n return t", (1.2,)),
    "field": ("class H:\n def __init__(self, g): self.g = g; self.t = 0.0\n def step(self):\n  self.t = self.t + next(self.g)\n  return self.t\ndef f(x):\n h = H(halves(x))\n a = h.step()\n return a * h.step() * h.t", (1.2,)),
    "tree": ("class T:\n def __init__(self, v, l=None, r=None): self.v = v; self.left = l; self.right = r\n def walk(self):\n  if self.left is not None: yield from self.left.walk()\n  yield self.v\n  if self.right is not None: yield from self.right.walk()\ndef f(x):\n t = T(x, T(x * 2), T(x * x, T(x + 1)))\n s = 1.0\n for v in t.walk():\n  if v > 2.3: break\n  s = s * 2 + v * v\n return s", (1.2,)),
    "consumers_found_late": ("def f(x):\n t = 0.0\n for c in (sum, max, min, list, tuple, sorted):\n  r = c(powers(x, 3))\n  t = t + (r[1] if isinstance(r, (list, tuple)) else r)\n return t", (1.2,)),
    "class_of_a_container": ("def f(x):\n t = (x, x * x)\n return type(t)(v * v for v in t)[1]", (1.2,)),
    "fsum": ("def f(x):\n g = powers(x, 3)\n y = next(g)\n return math.fsum(g) * y", (1.2,)),
    "tree_iter": ("class T:\n def __init__(self, v, kids=()): self.v = v; self.kids = kids\n def __iter__(self):\n  yield self.v\n  for k in self.kids: yield from k\ndef f(x):\n t = T(x, [T(x * 2), T(x * x, [T(x + 1)])])\n s = 1.0\n for v in t: s = s * 2 + v * v\n return s", (1.2,)),
    "in_dict": ("def f(x):\n gs = {'a': halves(x), 'b': powers(x, 4)}\n return next(gs['a']) * next(gs['b']) + next(gs['a'])", (1.2,)),
    "passed_plain": ("def take(g, n): return [next(g) for _ in range(n)]\ndef f(x):\n g = halves(x)\n a = take(g, 2)\n b = take(g, 2)\n return a[0] * b[1] + a[1]", (1.2,)),
    "unpack": ("def f(x):\n a, b, c = powers(x, 3)\n return a * b + c", (1.2,)),
    "unpack_genexp": ("def f(x):\n a, b = (x * k for k in (2, 3))\n return a * b", (1.2,)),
    "unpack_wrong": ("def f(x):\n a, b = powers(x, 3)\n return a * b", (1.2,)),
    "star_call": ("def h(a, b, c): return a * b + c\ndef f(x): return h(*powers(x, 3))", (1.2,)),
    "star_list": ("def f(x):\n l = [1.0, *powers(x, 2), *(x * k for k in range(2))]\n return l[1] * l[2] + l[4]", (1.2,)),
    "two_interleaved": ("def f(x):\n a, b = halves(x), powers(x, 9)\n t = 0.0\n for _ in range(3): t = t * next(a) + next(b)\n return t", (1.2,)),
    "genexp_total": ("def f(xs, x): return total(a * x for a in xs if a > 0.6)", (V, 1.2,)),
    "genexp_array_any": ("def f(xs, x):\n g = (a * x for a in xs)\n t = next(g)\n return t + sum(g) + max(a * x for a in xs)", (V, 1.2,)),
    "genexp_nested": ("def f(x):\n g = ((x ** k for k in range(1, n)) for n in (2, 4))\n return sum(total(h) for h in g)", (1.2,)),
    "conditional": ("def f(x):\n g = halves(x) if x > 1 else powers(x, 2)\n return next(g) * next(g)", (1.2,)),
    "loop_list_or_gen": ("def f(x):\n t = 0.0\n for g in ([x, x * x], powers(x, 2), (x * k for k in range(3))):\n  for v in g: t = t + v * v\n return t", (1.2,)),
    "pipeline": ("def square(ys):\n for y in ys:\n  print('sq')\n  yield y * y\ndef above(ys, c):\n for y in ys:\n  if y > c: yield y\ndef f(x): return total(above(square(powers(x, 5)), 1.5))", (1.2,)),
    "array_items": ("def rows(m, w):\n for r in m: yield r @ w\ndef f(m, w):\n g = rows(m, w)\n t = next(g)\n for v in g: t = t * 0.5 + v * v\n return t", (M, W,)),
    "class_attr_state": ("class Avg:\n def __init__(self): self.s = 0.0\n def feed(self, ys):\n  for y in ys:\n   self.s = self.s * 0.5 + y\n   yield self.s\ndef f(x):\n a = Avg()\n t = 0.0\n for v in a.feed(powers(x, 4)):\n  t = t + v * a.s\n  if v > 2: break\n return t * a.s", (1.2,)),
    "zip_both": ("def f(x):\n t = 0.0\n for a, b in zip(powers(x, 2), powers(x, 3)):\n  print('use')\n  t = t + a * b\n return t", (1.2,)),
    "list_of_next": ("def f(x):\n g = halves(x)\n l = [next(g) for _ in range(3)]\n return l[0] * l[2]", (1.2,)),
    "default_mutable": ("def g(x, acc=[]):\n yield x\ndef f(x): return next(g(x)) * x", (1.2,)),
    "global_fn": ("def sq(v): return v * v\ndef g(x):\n y = sq(x)\n yield y\n yield sq(y)\ndef f(x):\n it = g(x)\n return next(it) + next(it)", (1.2,)),
    "local_def": ("def g(x):\n def sq(v): return v * x\n y = sq(x)\n yield y\n yield sq(y)\ndef f(x):\n it = g(x)\n return next(it) + next(it)", (1.2,)),
    "while_walrus": ("def f(x):\n g = halves(x)\n t = 0.0\n while (v := next(g)) > 0.2: t = t + v * v\n return t * v", (1.2,)),
    "in_op": ("def f(x):\n g = count(1)\n return x * 2 if 3 in g else x", (1.2,)),
    "any_all": ("def f(x):\n g = powers(x, 5)\n if any(v > 1.3 for v in g): return x * next(g)\n return x", (1.2,)),
    "np_from_list": ("def f(x): return np.sum(np.array(list(powers(x, 3))) * x)", (1.2,)),
    "bool_gen": ("def f(x):\n g = powers(x, 2)\n return x * next(g) if g else x", (1.2,)),
    "recursion_arg": ("def sub(xs):\n if len(xs) == 1:\n  yield xs[0]\n else:\n  for r in sub(xs[1:]):\n   yield r * xs[0]\n   yield r + xs[0]\ndef f(x):\n t = 0.0\n for v in sub([x, x * x, 2.0, x + 1]): t = t + v * v\n return t", (1.2,)),
    "nested_next": ("def f(x):\n def g(n):\n  for k in range(n):\n   print(k)\n   yield x**k\n it = g(4)\n a = next(it)\n t = a * next(it)\n for v in it: t = t + v\n return t", (1.2,)),
    "nested_rebind": ("def f(x):\n def g():\n  while True:\n   yield x\n it = g()\n t = next(it)\n x = x * x\n t = t + next(it)\n x = x * 3\n return t * next(it)", (1.2,)),
    "nested_nonlocal": ("def f(x):\n s = x\n def g():\n  nonlocal s\n  for k in range(3):\n   s = s * x\n   yield s\n it = g()\n t = next(it)\n s = s * 2\n t += next(it) * s\n return t + s", (1.2,)),
    "genexp_passed": ("def total(ys):\n t = 0.0\n for y in ys: t = t + y * y\n return t\ndef f(x): return total(x * k for k in range(4) if k != 2)", (1.2,)),
    "genexp_two": ("def f(x):\n g = (x * k + j for k in range(3) for j in range(k))\n a = next(g)\n return a * sum(g)", (1.2,)),
    "genexp_zip": ("def f(x):\n xs = [x, x*x, 2.0]\n g = (a*b for a, b in zip(xs, xs[1:]))\n return next(g) + 3*next(g)", (1.2,)),
    "genexp_lazy": ("def f(x):\n k = 2.0\n g = (x * j * k for j in [1,2,3])\n a = next(g)\n k = x\n return a + sum(g)", (1.2,)),
    "returned_closure": ("def mk(x):\n def g():\n  yield x\n  yield x*x\n return g\ndef f(x):\n h = mk(x)\n it = h()\n return next(it) * next(it) + sum(h())", (1.2,)),
    "recursive_nested": ("def f(x):\n def tree(n, v):\n  if n == 0:\n   yield v\n   return\n  yield from tree(n-1, v * x)\n  yield from tree(n-1, v + x)\n t = 0.0\n for v in tree(3, x):\n  t = t + v * v\n return t", (1.2,)),
    "genexp_list": ("def f(x):\n gs = [(x ** k for k in range(1, n)) for n in (2, 4)]\n t = 0.0\n for g in gs:\n  for v in g: t += v * v\n return t", (1.2,)),
    "defaults": ("def f(x):\n def g(a, b=x * 2, *c, d=3.0):\n  yield a * b\n  yield d * sum(c)\n it = g(x, x, x, 2.0, d=x)\n return next(it) * next(it)", (1.2,)),
    "it_islice_list": ("def f(x): return sum(itertools.islice([x, x*x, 3.0*x], 2))", (1.2,)),
    "it_acc": ("def f(x):\n l = list(itertools.accumulate([x, x*x, 2.0]))\n m = list(itertools.accumulate([x, x*x, 2.0], lambda a, b: a * b))\n return l[2] * m[2]", (1.2,)),
    "it_pairs": ("def f(x): return sum(a * b for a, b in itertools.pairwise([x, x*x, 2.0*x]))", (1.2,)),
    "it_repeat": ("def f(x): return sum(a * b for a, b in zip([x, x*x], itertools.repeat(x)))", (1.2,)),
    "it_cycle": ("def f(x):\n t = 0.0\n for k, v in enumerate(itertools.cycle([x, x*x])):\n  if k > 4: break\n  t = t * v + k\n return t", (1.2,)),
    "it_star": ("def f(x): return sum(itertools.starmap(lambda a, b: a * b, [(x, 2.0), (x, x)]))", (1.2,)),
    "it_chain_from": ("def f(x): return sum(itertools.chain.from_iterable([[x, x*x], [2.0*x]]))", (1.2,)),
    "it_drop": ("def f(x): return sum(itertools.dropwhile(lambda v: v < 1.3, [x, x*x, x]))", (1.2,)),
    "finally_returns": ("def g(x):\n try:\n  yield x\n  yield x * x\n finally: print('done')\ndef h(x):\n for v in g(x):\n  print('use')\n  return v * x\ndef f(x):\n t = h(x)\n print('after')\n return t", (1.2,)),
    "finally_changes": ("def g(a):\n try:\n  yield a[0]\n  yield a[1]\n finally: a[0] = a[0] * a[1]\ndef f(x):\n a = np.array([x, x * 2])\n t = 0.0\n for v in g(a):\n  t += v\n  break\n return t * a[0]", (1.2,)),
    "member": ("def f(x):\n g = [halves(x)]\n b = x * 0.25 in g[0]\n d = {'a': x}\n c = 'a' in d\n return x * next(g[0]) * d['a'] if b and c else x", (1.2,)),
    "class_of_one": ("import types\ndef f(x):\n g = halves(x)\n return x * next(g) if isinstance(g, types.GeneratorType) else x", (1.2,)),
    "dict_of_pairs": ("def f(x):\n g = ((k, x ** k) for k in range(3))\n next(g)\n d = dict(g)\n return d[1] * d[2]", (1.2,)),
    "starred": ("def f(x):\n a, *b = powers(x, 3)\n return a * b[1]", (1.2,)),
    "map_draws_in_turn": ("def g(x):\n yield x\n yield x * x\n raise ValueError\ndef f(x):\n it = map(lambda v: v * x, g(x))\n return next(it) * next(it)", (1.2,)),
    "value_of_stop": ("def g(x):\n yield x\n return x * x\ndef f(x):\n it = g(x)\n t = next(it)\n try: next(it)\n except StopIteration as e: t = t * e.value\n return t", (1.2,)),
    "finally_in_parts": (CLEANING + "def f(x):\n it = g(x)\n return next(it) * x", (1.2,)),
    "finally_passed": (CLEANING + "def f(x): return total(g(x))", (1.2,)),
    "finally_nested": ("def f(x):\n def g():\n  try: yield x\n  finally: print('done')\n it = g()\n return next(it) * x", (1.2,)),
    "walrus": ("def g(x):\n print(y := x * x)\n yield y\n yield y * x\ndef f(x):\n it = g(x)\n return next(it) * next(it)", (1.2,)),
    "finally_and_closing": ("import contextlib\n" + CLEANING + "def f(x):\n with contextlib.closing(g(x)) as it: t = next(it)\n print('after')\n return t * x", (1.2,)),
    "finally_changes_late": ("def g(x, log):\n try:\n  yield x\n  yield x * x\n finally: log.append(x * x)\ndef h(x, log):\n it = g(x, log)\n return next(it)\ndef f(x):\n log = []\n t = h(x, log)\n print('after')\n return t * log[0]", (1.2,)),
    "finally_yields": ("def g(x):\n try:\n  yield x\n  if x > 1: raise KeyError\n finally:\n  yield x * x\ndef f(x):\n t = 1.0\n try:\n  for v in g(x): t = t * v\n except KeyError: t = t * x\n return t", (1.2,)),
    "handler_raises_again": ("def g(x):\n try:\n  yield x\n  raise KeyError(x)\n except ValueError: yield 2.0\n except KeyError as e:\n  yield x * x\n  raise\ndef f(x):\n t = 1.0\n try:\n  for v in g(x): t = t * v\n except KeyError: t = t * x\n return t", (1.2,)),
    "yields_in_operands": ("def g(x):\n d = {'a': 0.0}\n d['a'] += (yield x) * 2.0\n z = [x, (yield d['a']), x * x]\n w = (yield z[1]) if z[1] > 0 else 5.0\n ok = (yield w) > 0.0 and (yield w * x) > -1.0\n assert (yield z[2]) > 0 and ok\n while (y := (yield sum(z) * w)) is not None: w = w * y\n yield w\ndef f(x):\n it = g(x)\n t = next(it)\n for k in range(7): t = t + it.send(t * x)\n return t * it.send(None)", (0.7,)),
    "super_property": ("class A:\n def __init__(self, k): self.k = k\n @property\n def twice(self): return self.k * self.k\nclass B(A):\n def g(self):\n  yield super().twice\n  yield super().twice[0] * self.k\ndef f(x):\n it = B(np.ones(2) * x).g()\n return np.sum(next(it) * next(it))", (1.2,)),
    "with_around_yield": ("import contextlib\nclass S:\n def __init__(self, log, v): self.log = log; self.v = v\n def __enter__(self): return self.v * self.v\n def __exit__(self, kind, *rest):\n  self.log.append(self.v)\n  return kind is ValueError\n@contextlib.contextmanager\ndef m(x, log):\n with S(log, x) as s: yield s * 2\n log.append(s)\ndef f(x):\n log = []\n with m(x, log) as y:\n  z = y * x\n  raise ValueError\n return z * log[0] * log[1]", (1.2,)),
    "iterators_in_a_list": ("class It:\n def __init__(self, x): self.x = x\n def __iter__(self): return self\n def __next__(self):\n  self.x = self.x * 2\n  return self.x\ndef drain(o):\n for v in o:\n  if v > 3: return True\n return False\ndef f(x):\n os = [It(x)]\n b = drain(os[0])\n return os[0].x if b else x", (1.2,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_and_behaviour(name: str) -> None:
    text, args = PROGRAMS[name]
    check_program(Program(HELPERS + text, args).build(), args)


REFUSED = {
    "finally_zipped": (CLEANING + "def f(x):\n t = x\n for a, b in zip([x], g(x)): t = t * a * b\n return t", "around a 'yield'"),
    "finally_found_late": (CLEANING + "def f(x):\n h = [halves, g][int(x > 0)]\n return next(h(x)) * x", "around a 'yield'"),
    "finally_returned": (CLEANING + "def h(x):\n it = g(x)\n next(it)\n return it\ndef f(x): return next(h(x)) * x", "around a 'yield'"),
    "finally_left_by_return": ("def g(x):\n for k in range(2):\n  try: return\n  finally: yield x\ndef f(x):\n it = g(x)\n return next(it) * x", "a 'yield' in a 'finally' clause"),
    "rule_of_a_list": ("def f(x):\n g = powers(x, 3)\n next(g)\n return math.dist(g, [1.0, 2.0])", "dist of a generator that is kept"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text, why = REFUSED[name]
    f = Program(HELPERS + text, ()).build()
    with pytest.raises(ad.ThunkadError, match=why):
        ad.grad(f)(1.2)
    with pytest.raises(ad.ThunkadError, match=why):
        ad.jvp(f, (1.2,), (1.0,))


def test_a_redefined_generator_function_is_followed() -> None:
    f = Program(HELPERS + "def f(x):\n g = halves(x)\n return next(g) * next(g)", ()).build()
    assert ad.grad(f)(2.0) == pytest.approx(0.5)
    exec("def halves(x):\n yield x\n yield x * x", f.__globals__)
    f.__globals__["halves"] = Program("def f(x):\n yield x\n yield x * x", ()).build()
    assert ad.grad(f)(2.0) == pytest.approx(12.0)


def test_a_rule_for_a_generator_function_goes_before_its_source() -> None:
    f = Program(HELPERS + "def f(x):\n g = halves(x)\n return next(g) * next(g)", ()).build()
    assert ad.grad(f)(2.0) == pytest.approx(0.5)
    ad.non_differentiable(f.__globals__["halves"])
    ad.refresh()
    assert ad.grad(f)(2.0) == 0.0
