"""Which nested functions are copied into their calls, and which variables need cells."""

from __future__ import annotations

import textwrap

import pytest
from thunkad.normal.scopes import Scopes
from thunkad.tree.parse import gast


def facts(text: str) -> tuple[set[str], set[str]]:
    """The nested functions of the outermost function that are inlined, and its variables in cells."""
    scopes = Scopes(gast.parse(textwrap.dedent(text)).body[-1])
    return set(scopes.root.functions), scopes.root.cells


INLINED = {
    "called": "def f(x):\n    def g(): return x\n    return g() + g()",
    "lambda": "def f(x):\n    g = lambda y: y\n    return g(1)",
    "never_called": "def f(x):\n    def g(): return x",
    "in_comprehension": "def f(x):\n    def g(y): return y\n    return [g(y) for y in x]",
    "nonlocal": "def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    g()",
    "in_loop": "def f(x):\n    for y in x:\n        def g(): return y\n        g()",
    "in_closure": "def f(x):\n    def g(): return x\n    return [lambda: g()]",
}
KEPT = {
    "passed": "def f(x):\n    def g(): return x\n    return map(g, x)",
    "returned": "def f(x):\n    def g(): return x\n    g()\n    return g",
    "recursive": "def f(x):\n    def g(y): return g(y)\n    return g(x)",
    "rebound": "def f(x):\n    def g(): return x\n    g = 1\n    return g()",
    "bound_twice": "def f(x):\n    def g(): return x\n    def g(): return 1\n    return g()",
    "before": "def f(x):\n    y = g()\n    def g(): return x",
    "maybe_unbound": "def f(x):\n    if x:\n        def g(): return x\n    return g()",
    "after_loop": "def f(x):\n    for y in x:\n        def g(): return x\n    return g()",
    "wrong_arguments": "def f(x):\n    def g(): return x\n    return g(1)",
    "unknown_arguments": "def f(x):\n    def g(*a): return a\n    return g(*x)",
    "decorated": "def f(x):\n    @d\n    def g(): return x\n    return g()",
    "deleted": "def f(x):\n    def g(): return x\n    g()\n    del g",
    "default_in_closure": "def f(x):\n    def g(y=x): return y\n    return [lambda: g()]",
    "short_circuit": "def f(x):\n    x and (g := lambda: 1)\n    return g()",
}


@pytest.mark.parametrize("name", INLINED)
def test_inlined(name: str) -> None:
    assert facts(INLINED[name])[0] == {"g"}


@pytest.mark.parametrize("name", KEPT)
def test_kept_as_a_closure(name: str) -> None:
    assert facts(KEPT[name])[0] == set()


CELLS = {
    "rebound_after": ("def f(x):\n    g = [lambda: x]\n    x = 1", {"x"}),
    "rebound_before": ("def f(x):\n    x = 1\n    g = [lambda: x]", set()),
    "rebound_in_loop": ("def f(x):\n    for i in x:\n        g = [lambda: i]", {"i"}),
    "loop_before": ("def f(x):\n    for i in x: pass\n    i = 2\n    g = [lambda: i]", set()),
    "maybe_unbound": ("def f(x):\n    for i in x: pass\n    g = [lambda: i]", {"i"}),
    "nonlocal": ("def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    return g", {"x"}),
    "only_inlined": ("def f(x):\n    def g(): return x\n    x = 1\n    return g()", set()),
    "through_inlined": ("def f(x):\n    def g(): return x\n    h = [lambda: g()]\n    x = 1", {"x"}),
    "recursive": ("def f(x):\n    def g(): return g()\n    return g", {"g"}),
    "made_in_inlined": ("def f(x):\n    y = 1\n    def g(): return [lambda: y]\n    y = 2\n    g()", {"y"}),
    "updated": ("def f(x):\n    g = [lambda: x]\n    x += 1", {"x"}),
    "walrus": ("def f(x):\n    g = [lambda: x]\n    return [(x := y) for y in g]", {"x"}),
    "unrelated": ("def f(x, y):\n    g = [lambda: x]\n    y = 1", set()),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells(name: str) -> None:
    text, expected = CELLS[name]
    assert facts(text)[1] == expected


def test_copies_of_a_function_are_bounded() -> None:
    chain = "".join(f"    def g{k}(a): return g{k - 1}(a) + g{k - 1}(a)\n" for k in range(1, 12))
    inlined, _ = facts(f"def f(x):\n    def g0(a): return a\n{chain}    return g11(x)")
    assert "g11" in inlined and "g0" not in inlined
