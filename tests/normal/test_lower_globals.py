"""Assignments to global variables: what the module holds afterwards, compared with Python."""

from __future__ import annotations

from typing import Any

import pytest
from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.versions import version

from lowering import lowered, namespace_of, same
from ir_exec import run

PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "assign": ("g = 1\ndef f(x):\n global g\n y = x + g\n g = y\n return g", [(2,)]),
    "first": ("def f(x):\n global g\n g = x\n return g * 2", [(2,)]),
    "update": ("g = 1\ndef f(x):\n global g\n g += x\n g *= g\n return g", [(2,)]),
    "loop": ("g = 1\ndef f(x):\n global g\n for g in x: pass\n return g", [([1, 2],), ([],)]),
    "unpacked": ("def f(x):\n global g\n a, *g = x\n return g, a", [([1, 2, 3],)]),
    "walrus": ("def f(x):\n global g\n return (g := x), g", [(1,)]),
    "nested": ("g = 5\ndef f(x):\n def h():\n  global g\n  g = g + x\n h()\n h()\n return g", [(1,)]),
    "nested_only": ("g = 5\ndef f(x):\n def h():\n  global g\n  g = x\n h()\n g2 = g\n return g2", [(1,)]),
    "function": ("def f(x):\n global g\n def g(): return 7\n return g()", [(1,)]),
    "import": ("def f(x):\n global os_\n import os as os_\n return os_.sep", [(1,)]),
    "branch": ("g = 1\ndef f(x):\n global g\n if x: g = x\n return g", [(0,), (2,)]),
    "late": ("g = 1\ndef f(x):\n global g\n y = g\n for k in range(3):\n  if k == x: continue\n  g = g + k\n return g, y", [(1,), (5,)]),
    "while": ("g = 1.0\ndef f(x, n):\n global g\n g = 1.0\n while n > 0:\n  g *= x\n  n -= 1\n return g", [(2.0, 3)]),
    "raises": ("g = 1\ndef f(x):\n global g\n g = 2\n raise ValueError(g)", [(1,)]),
    "with": ("class M:\n def __enter__(self): return 3\n def __exit__(self, *a): pass\ndef f(x):\n global g\n with M() as g: pass\n return g", [(1,)]),
}  # fmt: skip
CASES = [pytest.param(text, args, id=f"{name}-{k}") for name, (text, inputs) in PROGRAMS.items() for k, args in enumerate(inputs)]  # fmt: skip


def versioned(function: n.Function) -> n.Function:
    out = version(single_exit(function), Names())
    check_normal(out, versioned=True)
    return out


@pytest.mark.parametrize("change", [lambda f: f, versioned], ids=["lowered", "versions"])
@pytest.mark.parametrize(("text", "args"), CASES)
def test_global_variables_hold_what_python_leaves_in_them(text: str, args: tuple[Any, ...], change: Any) -> None:
    spaces = namespace_of(text, []), namespace_of(text, [])
    outcomes = []
    for space, call in zip(spaces, (spaces[0]["f"], lambda *a: run(change(lowered(text)), a, None, spaces[1]))):
        try:
            outcomes.append(("returned", call(*args)))
        except ValueError as error:
            outcomes.append(("raised", str(error)))
        value = space.get("g")
        outcomes.append(value if not callable(value) else "function")
    assert same(outcomes[:2], outcomes[2:])


def test_deleting_a_global_variable_is_refused() -> None:
    from thunkad.errors import UnsupportedSyntaxError

    with pytest.raises(UnsupportedSyntaxError, match="'del g' of a global variable"):
        lowered("def f(x):\n global g\n g = x\n del g")
