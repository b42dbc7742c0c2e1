"""``match``: every pattern, compared with Python."""

from __future__ import annotations

from typing import Any

import pytest
from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.versions import version

from lowering import behaviour, same

CLASSES = """
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
class Q(P): pass
class Lazy:
    @property
    def a(self):
        raise AttributeError
class K: red = 3; blue = 'b'
"""

PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "value": (
        "def f(x):\n match x:\n  case 1: return 'one'\n  case -2 | 'a': return 'or'\n  case K.red: return 'red'\n  case 1+2j: return 'c'\n return 'none'",
        [(1,), (-2,), ("a",), (3,), (1 + 2j,), (9,), (True,), (1.0,)],
    ),
    "singleton": (
        "def f(x):\n match x:\n  case None: r = 0\n  case True: r = 1\n  case False: r = 2\n  case _: r = 3\n return r",
        [(None,), (True,), (False,), (1,), (0,)],
    ),
    "sequence": (
        "def f(x):\n match x:\n  case []: return 0\n  case [a]: return a\n  case (a, 2): return a, 'two'\n  case [a, (b, c)]: return a, b, c\n  case [a, b]: return b, a",
        [([],), ([1],), ((3,),), ((5, 2),), ([1, (2, 3)],), ((4, 5),), ([1, 2, 3],), ("ab",), (b"ab",), (range(2),), ({1: 2},), (7,)],
    ),
    "star": (
        "def f(x):\n match x:\n  case [1, *_]: return 'first'\n  case [*a, 9]: return a\n  case [a, *b, c]: return a, b, c\n  case [*a]: return a\n  case _: return 'no'",
        [([1, 2],), ([2, 3, 9],), ((9,),), ((2, 3, 4, 5),), ([2],), ([],), ("ab",), (range(3),)],
    ),
    "mapping": (
        "def f(x):\n match x:\n  case {'a': 1, 'b': [y, *z]}: return y, z\n  case {'a': v, **rest}: return v, rest\n  case {K.red: v}: return 'red', v\n  case {}: return 'any'\n  case _: return 'none'",
        [({"a": 1, "b": [2, 3]},), ({"a": 2, "c": 3},), ({3: 4},), ({},), ({"z": 1},), ([],), ({"a": 1, "b": 2},)],
    ),
    "class": (
        "def f(k, x):\n x = {'p': P, 'q': Q}[k](*x) if k in 'pq' else x\n match x:\n  case Q(0, y=y): return 'q', y\n  case P(x=0): return 'p0'\n  case P(a, P(b, c)): return a, b, c\n  case P(a, b): return a, b\n  case float(v): return 'f', v\n  case str() as s if s: return s\n  case int(1 | 2 as w): return w, 'w'\n  case bool(): return 'bool'\n  case Lazy(a=1): return 'lazy'\n  case _: return 'other'",
        [("p", (0, 1)), ("q", (0, 1)), ("p", (2, 3)), ("q", (5, 6)), ("f", 1.5), ("s", "x"), ("s", ""), ("i", 2), ("i", 5), ("i", False), ("n", None)],
    ),
    "class_nested": ("def f(x):\n match P(1, P(2, x)):\n  case P(a, P(b, [c, *_])): return a, b, c\n  case P(a, P(b, c)): return a, b, c", [(3,), ([7, 8],)]),
    "no_attribute": ("def f(x):\n match Lazy():\n  case Lazy(a=v): return v\n  case Lazy(): return 'plain'", [(1,)]),
    "bad_class": ("def f(x):\n c = x\n match 1:\n  case c(): return 1", [(1,)]),
    "too_many": ("def f(x):\n match P(1, 2):\n  case P(a, b, c): return 1", [(1,)]),
    "twice": ("def f(x):\n match P(1, 2):\n  case P(a, x=1): return 1", [(1,)]),
    "or_captures": (
        "def f(x):\n match x:\n  case [a, 1] | [1, a] | {'a': a} if a: return a\n  case ([a] as b) | (a as b): return a, b",
        [([5, 1],), ([1, 6],), ({"a": 3},), ([8],), (9,), ([0, 1],)],
    ),
    "guards": (
        "def f(x):\n n = 'unset'\n match x:\n  case [n, m] if say(n) == m: r = 'eq'\n  case [n, *_] if n > 3: r = 'big'\n  case y if y == 0: r = y\n  case _ if say(n): r = 'last'\n  case _: r = 'never'\n return r, n",
        [([1, 1],), ([4, 1],), ([1, 2],), (0,), (1,), ([2],)],
    ),
    "guard_binds": ("def f(x):\n match x:\n  case [a, b] if (a := a + b) > 3: return a, b\n  case [a, b]: return 'small', a\n return 'no'", [([1, 2],), ([2, 3],), (1,)]),
    "rebinds_subject": ("def f(x, y):\n match x:\n  case (y, x): return x, y\n  case x: return x, y", [((1, 2), 3), (4, 5)]),
    "subject_once": ("def f(x):\n match say(x) + 1:\n  case 1: return 'a'\n  case 2: return 'b'\n  case z: return z", [(0,), (1,), (5,)]),
    "tuple_subject": ("def f(x, y):\n match x, y:\n  case 0, _: return y\n  case a, 0: return a\n  case a, b: return a - b", [(0, 5), (3, 0), (7, 2)]),
    "order": ("def f(x):\n match [say(x), say(2)]:\n  case [1, z] if say(z): return say(z)\n  case [a, b]: return a, say(b)", [(1,), (3,)]),
    "in_loop": (
        "def f(xs):\n out = []\n for x in xs:\n  match x:\n   case 0: continue\n   case [a, b]: out.append(a + b)\n   case {'stop': s}:\n    if s: break\n   case v if v < 0: return out, v\n   case _: out.append(x)\n else: out.append('end')\n return out",
        [([1, 0, [2, 3], 5],), ([1, {"stop": 1}, 2],), ([{"stop": 0}, 7],), ([3, -1, 2],), ([],)],
    ),
    "binds_in_some": ("def f(x):\n match x:\n  case 1: y = 'a'\n  case 2: z = 3\n return y", [(1,), (2,), (3,)]),
    "in_nested": ("def f(x):\n def g(p):\n  match p:\n   case [a, b]: return a + b\n   case a: return a\n return g(x), [g(v) for v in (x, 1)]", [([1, 2],), (3,)]),
    "captured": ("def f(x):\n match x:\n  case [a, b]:\n   g = [lambda: a + b]\n   a = a * 10\n   return g[0]()", [([1, 2],)]),
}  # fmt: skip

CASES = [pytest.param(CLASSES + text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


def versioned(function: n.Function) -> n.Function:
    out = version(single_exit(function), Names())
    check_normal(out, versioned=True)
    return out


@pytest.mark.parametrize(("text", "args"), CASES)
def test_a_match_statement_does_what_python_does(text: str, args: tuple[Any, ...]) -> None:
    expected = behaviour(text, args, None)
    assert same(behaviour(text, args, lambda f: f), expected)
    assert same(behaviour(text, args, versioned), expected)


def test_messages_of_wrong_patterns_are_those_of_python() -> None:
    from lowering import lowered, namespace_of
    from ir_exec import run

    for name in ("bad_class", "too_many", "twice"):
        text = CLASSES + PROGRAMS[name][0]
        namespace = namespace_of(text, [])
        with pytest.raises(TypeError) as expected:
            namespace["f"](1)
        with pytest.raises(TypeError) as found:
            run(lowered(text), (1,), None, namespace)
        assert str(found.value) == str(expected.value)
