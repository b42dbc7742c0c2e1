"""``try`` and ``with``: results, exceptions, the order of effects, partial results, compared with Python."""

from __future__ import annotations

from typing import Any

import pytest
from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.normal.versions import version

from lowering import behaviour, same

HELPERS = """
import contextlib
from contextlib import suppress
class Manager:
    def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
    def __enter__(self): say(('enter', self.name)); return self.name
    def __exit__(self, kind, error, tb): say(('exit', self.name, kind.__name__ if kind else None)); return self.swallow
def risky(x):
    say(('risky', x))
    if x == 0: raise ValueError('zero')
    if x < 0: raise KeyError('negative')
    if x > 100: raise KeyboardInterrupt
    return x + 1
"""

N = [(1,), (0,), (-1,)]
PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "plain": ("def f(x):\n try:\n  y = risky(x)\n except ValueError:\n  y = 'v'\n return y", N),
    "named": ("def f(x):\n try: y = risky(x)\n except (ValueError, KeyError) as e: y = e.args\n return y", N),
    "several": ("def f(x):\n try: y = risky(x)\n except ValueError as e: y = 'v', str(e)\n except KeyError: y = 'k'\n else: y = y + 1; say(y)\n return y", N),
    "bare": ("def f(x):\n try: y = risky(x)\n except ValueError: y = 'v'\n except: y = 'any'\n return y", N + [(101,)]),
    "else_raises": ("def f(x):\n try: y = risky(x)\n except KeyError: y = -5\n else: y = risky(y - 2)\n return y", [(1,), (0,), (-1,), (5,)]),
    "pass": ("def f(x):\n y = 0\n try: y = risky(x)\n except ValueError: pass\n return y", N),
    "unbound": ("def f(x):\n try: y = risky(x)\n except ValueError: pass\n return y", N),
    "partial": ("def f(x):\n y = 'start'\n try:\n  y = 'one'\n  y = risky(x)\n  z = y\n  y = risky(z - 2)\n except ValueError: pass\n return y", N + [(2,), (5,)]),
    "partial_in_handler": ("def f(x):\n a = b = 'unset'\n try:\n  a = risky(x)\n  b = risky(a - 2)\n except (ValueError, KeyError) as e: return a, b, type(e).__name__\n return 'ok', a, b", N + [(2,), (5,)]),
    "partial_unbound": ("def f(x):\n try:\n  a = risky(x)\n  b = risky(a - 2)\n except ValueError: return a\n return b", N + [(1,)]),
    "partial_loop": ("def f(xs):\n total = 0\n try:\n  for x in xs:\n   total = total + x\n   y = risky(x)\n   total = total + y\n except ValueError: total = total + 0.5\n except KeyError: pass\n return total", [([1, 2],), ([1, 0, 2],), ([1, -1, 2],), ([],)]),
    "partial_loop_exit": ("def f(xs):\n total = 0\n try:\n  for x in xs:\n   if x == 7: break\n   if x == 8: return 'eight', total\n   if x == 9: continue\n   total = total + risky(x)\n  else: total = total + 1000\n except ValueError: pass\n return total", [([1, 7, 0],), ([1, 0, 2],), ([1, 8],), ([9, 1],), ([-1],)]),
    "partial_while": ("def f(n):\n total = 0\n try:\n  while risky(n) > 0:\n   total = total + n\n   n = n - 1\n   total = total + 0.5\n except ValueError: return n, total\n return total", [(3,), (0,), (-2,)]),
    "partial_branches": ("def f(x, c):\n y = 0\n try:\n  if c:\n   y = 1\n   risky(x)\n   y = 2\n  else:\n   y = 3\n  risky(x - 1)\n except ValueError: pass\n return y", [(1, True), (0, True), (0, False), (1, False), (3, True)]),
    "mutation": ("def f(x, log):\n try:\n  log.append(1)\n  risky(x)\n  log.append(2)\n  risky(x - 1)\n except ValueError: log.append('v')\n return log", [(0, []), (1, []), (5, [])]),
    "comprehension": ("def f(xs):\n try: ys = [risky(x) for x in xs]\n except ValueError: ys = None\n return ys", [([1, 2],), ([1, 0],)]),
    "nested": ("def f(x):\n out = []\n try:\n  try: out.append(risky(x))\n  except KeyError: out.append('k'); risky(0)\n  out.append('after')\n except ValueError: out.append('v')\n return out", N),
    "nested_partial": ("def f(x):\n y = 'a'\n try:\n  try:\n   y = 'b'\n   risky(x)\n   y = 'c'\n  except KeyError:\n   y = y + 'k'\n   risky(0)\n  y = y + 'd'\n except ValueError: y = y + 'v'\n return y", N),
    "nested_typed_passes": ("def f(x):\n y = 'a'\n try:\n  try:\n   y = 'b'\n   risky(x)\n   y = 'c'\n  except KeyError: pass\n except ValueError: return y\n return y", N),
    "nested_unbound": ("def f(x):\n try:\n  try: raise ValueError\n  except ValueError as e: q = 1; risky(x)\n  z = 2\n except KeyError: return q\n return q, z", [(1,), (-1,)]),
    "reraise": ("def f(x):\n try: risky(x)\n except ValueError: say('seen'); raise\n return 'ok'", N),
    "reraise_other": ("def f(x):\n try: risky(x)\n except ValueError as e: raise TypeError('other') from e\n return 'ok'", N),
    "reraise_named": ("def f(x):\n try:\n  try: risky(x)\n  except (ValueError, KeyError) as e: raise e\n except ValueError: return 'outer'\n return 'ok'", N),
    "variable_gone": ("def f(x):\n e = 'before'\n try: risky(x)\n except ValueError as e: pass\n return e", N),
    "variable_loop": ("def f(xs):\n out = []\n for x in xs:\n  try: out.append(risky(x))\n  except ValueError as e: out.append(e.args)\n  except KeyError as e: continue\n  out.append('.')\n return out", [([1, 0, -1, 2],)]),
    "finally": ("def f(x):\n try: y = risky(x)\n finally: say('final')\n return y", N),
    "finally_return": ("def f(x):\n try:\n  if x == 1: return say('r')\n  y = risky(x)\n finally: say('final')\n return y", N + [(2,)]),
    "finally_value": ("def f(x):\n y = 1\n try:\n  return y\n finally:\n  y = 2\n  say(y)", [(0,)]),
    "finally_overrides": ("def f(x):\n try: return risky(x)\n finally: return 'final'", N),
    "finally_loop": ("def f(xs):\n out = []\n for x in xs:\n  try:\n   if x == 5: break\n   if x == 6: continue\n   if x == 7: return out\n   out.append(risky(x))\n  except ValueError: out.append('v')\n  finally: out.append('f')\n  out.append('end')\n else: out.append('else')\n return out", [([1, 0, 6, 2],), ([1, 5, 2],), ([7],), ([1, -1],), ([],)]),
    "finally_partial": ("def f(x):\n y = 'start'\n try:\n  y = 'one'\n  risky(x)\n  y = 'two'\n finally: say(y)\n return y", N),
    "finally_break": ("def f(xs):\n for x in xs:\n  try: risky(x)\n  finally: break\n return x", [([1, 2],), ([0, 2],)]),
    "all": ("def f(x):\n try: y = risky(x)\n except ValueError: y = 'v'\n else: y = risky(y - 2)\n finally: say('final')\n return y", N),
    "return_in_all": ("def f(x):\n try: return risky(x)\n except ValueError: return 'v'\n else: return 'else'\n finally: say('f')", N),
    "return_then_rest": ("def f(x):\n try:\n  return risky(x)\n except ValueError:\n  pass\n say('rest')\n return 'end'", N),
    "body_exits": ("def f(x):\n try:\n  if x == 1: return 'early'\n  y = risky(x)\n except ValueError: y = 'v'\n else: say('else')\n say('rest')\n return y", N + [(2,)]),
    "retry": ("def f(xs):\n k = 0\n while True:\n  try:\n   y = risky(xs[k])\n   break\n  except (ValueError, KeyError): k = k + 1\n return k, y", [([0, -1, 4],), ([2],), ([0, 0],)]),
    "in_function": ("def f(x):\n def g(v):\n  try: return risky(v)\n  except ValueError: return 'g'\n return g(x), [g(w) for w in (x, 0)]", N),
    "inline_return": ("def f(x):\n def g(v):\n  for w in (v, 3):\n   try: return risky(w)\n   finally: say(w)\n return g(x)", N),
    "raise_inside": ("def f(x):\n try:\n  if x > 0: raise LookupError('pos')\n  y = 'none'\n except LookupError as e: y = str(e)\n return y", N),
    "types_expression": ("def f(x, t):\n try: return risky(x)\n except t: return 't'", [(0, ValueError), (0, KeyError), (0, (KeyError, ValueError)), (0, 3)]),
    "dotted": ("def f(x):\n try: return np.linalg.inv(x)\n except np.linalg.LinAlgError as e: return 'singular'", [([[1.0, 0.0], [0.0, 2.0]],), ([[1.0, 1.0], [1.0, 1.0]],)]),
    "assertion": ("def f(x):\n try: assert x > 0, 'not positive'\n except AssertionError as e: return str(e)\n return 'ok'", N),
    "with": ("def f(x):\n with Manager('a') as a: y = risky(x)\n return a, y", N),
    "with_two": ("def f(x):\n with Manager('a') as a, Manager('b') as b, Manager('c'): y = risky(x)\n return a, b, y", N),
    "with_return": ("def f(x):\n for k in range(3):\n  with Manager(k):\n   if k == x: return 'r', k\n   if k == 1: break\n   say(k)\n  say('after')\n return 'end'", [(0,), (1,), (2,)]),
    "with_continue": ("def f(xs):\n t = 0\n for x in xs:\n  with Manager(x) as m:\n   if x == 1: continue\n   t = t + m\n  t = t + 10\n return t", [([1, 2, 3],)]),
    "with_tuple": ("def f(x):\n with Manager((x, 2)) as (a, [*b]): return a, b", [(1,)]) if False else ("def f(x):\n with Manager((x, 2)) as (a, b): return a, b", [(1,)]),
    "with_attribute": ("class O: pass\ndef f(x):\n o = O()\n with Manager(x) as o.x: return o.x", [(1,)]),
    "with_expression": ("def f(m):\n k = Manager(m)\n with k: k = 3\n return k", [(1,)]),
    "with_nested_function": ("def f(x):\n with Manager(x) as m:\n  g = lambda: m + 1\n return g()", [(1,)]),
    "suppress": ("def f(x):\n y = 'start'\n with suppress(ValueError):\n  y = 'one'\n  y = risky(x)\n  say('done')\n return y", N),
    "suppress_dotted": ("def f(xs):\n t = 0\n for x in xs:\n  with contextlib.suppress(ValueError, KeyError):\n   if x == 5: break\n   t = t + risky(x)\n return t", [([1, 0, 2, -1, 5, 9],)]),
    "with_in_try": ("def f(x):\n try:\n  with Manager('m'): y = risky(x)\n except ValueError: y = 'v'\n return y", N),
    "try_in_with": ("def f(x):\n with Manager('m'):\n  try: y = risky(x)\n  except ValueError: return 'v'\n return y", N),
}  # fmt: skip

CASES = [pytest.param(HELPERS + text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


def exits(function: n.Function) -> n.Function:
    out = single_exit(function)
    check_normal(out, versioned=False)
    return out


def versioned(function: n.Function) -> n.Function:
    out = version(single_exit(function), Names())
    check_normal(out, versioned=True)
    return out


def normal(function: n.Function) -> n.Function:
    out = forward_tuples(versioned(function))
    check_normal(out, versioned=True)
    return out


def result(text: str, args: tuple[Any, ...], change: Any) -> Any:
    try:
        return behaviour(text, args, change)
    except KeyboardInterrupt:
        return "interrupted"


@pytest.mark.parametrize("change", [lambda f: f, exits, versioned, normal], ids=["lowered", "exits", "versions", "normal"])
@pytest.mark.parametrize(("text", "args"), CASES)
def test_try_and_with_do_what_python_does(text: str, args: tuple[Any, ...], change: Any) -> None:
    assert same(result(text, args, change), result(text, args, None))
