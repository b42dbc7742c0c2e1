"""Generators that are used up where they are called: values, order of effects, exits, compared with Python."""

from __future__ import annotations

from typing import Any

import pytest
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.normal.versions import version

from ir_exec import run
from lowering import behaviour, lowered, namespace_of, same

PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "simple": ("def f(n):\n def g(m):\n  for k in range(m):\n   yield k * n\n t = 0\n for v in g(n): t = t + v\n return t", [(3,), (0,)]),
    "effects": ("def f(n):\n def g():\n  say('start')\n  for k in range(n):\n   say(('before', k))\n   yield k\n   say(('after', k))\n  say('end')\n for v in g(): say(('body', v))\n return v", [(2,), (1,)]),
    "several": ("def f(x):\n def g():\n  yield x\n  yield x + 1\n  say('mid')\n  yield x + 2\n return [v for v in (1,)], list(g()), sum(g()), tuple(g())", [(3,)]),
    "several_loop": ("def f(x):\n def g():\n  yield x\n  yield x + 1\n out = []\n for v in g():\n  if v == 3: continue\n  out.append(v)\n  if v == 9: break\n else: out.append('else')\n return out", [(3,), (9,), (1,)]),
    "endless": ("def f(n):\n def g():\n  k = 0\n  while True:\n   yield k\n   k = k + 1\n for v in g():\n  if v == n: break\n  say(v)\n return v", [(3,), (0,)]),
    "return_inside": ("def f(n):\n def g():\n  for k in range(9):\n   if k == 5: return\n   yield k\n for v in g():\n  if v == n: return 'found', v\n else: say('else')\n return 'none'", [(3,), (7,)]),
    "continue": ("def f(n):\n def g():\n  for k in range(5):\n   yield k\n   say('next')\n t = 0\n for v in g():\n  if v % 2: continue\n  t = t + v\n return t", [(3,)]),
    "rebinding": ("def f(x):\n def g():\n  nonlocal x\n  for k in range(3):\n   x = x + k\n   yield x\n for v in g(): x = x * 2\n return x, v", [(3,)]),
    "targets": ("def f(x):\n def g():\n  for k in range(3): yield k, [k, x]\n out = []\n for a, (b, c) in g(): out.append((a, b, c))\n return out", [(3,)]),
    "from_": ("def f(x):\n def h(m):\n  for k in range(m): yield k\n def g():\n  yield -1\n  yield from h(x)\n  yield from [7, 8]\n return list(g()), [say(v) for v in [0]]", [(3,)]),
    "nested_consumers": ("def f(x):\n def h(m):\n  for k in range(m): yield k\n def g():\n  for k in h(x): yield k * 10\n out = []\n for v in g():\n  for w in h(2):\n   if w == 1 and v == 10: break\n   out.append((v, w))\n return out", [(3,)]),
    "value_of_yield": ("def f(x):\n def g():\n  y = yield x\n  say(y)\n  yield 2\n return list(g())", [(3,)]),
    "arguments": ("def f(x):\n def g(a, *b, c=4, **d):\n  yield a\n  yield b\n  yield c, d\n return list(g(1, x, e=5))", [(3,)]),
    "expression_loop": ("def f(xs):\n t = 0\n for v in (x * 2 for x in xs if x != 3):\n  if v == 8: break\n  say(v)\n  t = t + v\n else: t = t + 100\n return t", [([1, 2, 3],), ([1, 4, 2],)]),
    "expression_nested": ("def f(xs):\n out = []\n for v in (x * y for x in xs for y in range(x)):\n  if v == 2: continue\n  if v == 6: return out, 'six'\n  out.append(v)\n return out", [([1, 2, 3],), ([1, 2],)]),
    "expression_scope": ("def f(xs, x):\n for v in (x for x in xs): say(x)\n return x, v", [([1, 2], "mine")]),
    "lazy": ("def f(xs):\n for v in (say(x) for x in xs):\n  say(('body', v))\n  if v == 2: break\n return v", [([1, 2, 3],)]),
}  # fmt: skip

CASES = [pytest.param(text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


def normal(function: n.Function) -> n.Function:
    out = forward_tuples(version(single_exit(function), Names()))
    check_normal(out, versioned=True)
    return out


@pytest.mark.parametrize("change", [lambda f: f, normal], ids=["lowered", "normal"])
@pytest.mark.parametrize(("text", "args"), CASES)
def test_generators_do_what_python_does(text: str, args: tuple[Any, ...], change: Any) -> None:
    assert same(behaviour(text, args, change), behaviour(text, args, None))


def test_a_lambda_that_yields_is_refused() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="a lambda with 'yield'"):
        lowered("def f(x):\n g = [lambda: (yield x)]\n return g[0]()")


FUNCTIONS = {
    "yields": "def f(x):\n yield x\n for k in range(x):\n  if k == 2: return\n  yield k * x",
    "nothing": "def f(x):\n return\n yield",
    "from_": "def f(x):\n y = yield from [x, 1]\n yield y",
    "value": "def f(x):\n yield x\n return 7",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_generator_function_returns_the_list_of_its_values(name: str) -> None:
    namespace = namespace_of(FUNCTIONS[name], [])
    assert run(normal(lowered(FUNCTIONS[name])), (4,), None, namespace) == list(namespace["f"](4))
