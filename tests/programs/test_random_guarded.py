"""Random programs with ``try``, ``with``, ``match`` and loops: values, effects and derivatives against plain Python."""

from __future__ import annotations

import contextlib
import io
import random
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program

PRELUDE = """
import contextlib
class Odd(Exception): pass
class Late(Odd): pass
@contextlib.contextmanager
def note(k):
    print("in", k)
    try: yield
    finally: print("out", k)
def risky(v, k):
    print("risky", k)
    if k % 3 == 0: raise Odd(k)
    if k % 3 == 1 and k % 2: raise Late(k)
    return v * 0.9 + 0.1 * k
"""


class Maker:
    """The body of ``f(x, n)``; ``k`` counts up, so that what raises depends on how often it was reached."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.budget = 26

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def expression(self) -> str:
        a, b = self.random.choice("xyz"), self.random.choice("xyz")
        return self.random.choice((f"{a} * 0.7 + {b} * 0.2", f"np.sin({a}) * {b}", f"{a} * {b} * 0.5", "x * x * 0.4", f"{a} + 0.3"))

    def simple(self, depth: int, loops: int) -> None:
        target = self.random.choice("yz")
        choice = self.random.randrange(10)
        if choice < 3:
            self.add(depth, f"{target} = {self.expression()}")
        elif choice < 6:
            self.add(depth, "k = k + 1")
            self.add(depth, f"{target} = risky({self.random.choice('xyz')}, k)")
        elif choice == 6:
            self.add(depth, f"{target} += {self.expression()}")
        elif choice == 7 and loops:
            self.add(depth, f"if k > {self.random.randrange(9)}: {self.random.choice(('break', 'continue'))}")
        elif choice == 8:
            self.add(depth, f"if k > {self.random.randrange(4, 14)}: return {self.expression()}")
        else:
            self.add(depth, f"out.append({self.random.choice('xyz')} * {self.random.choice('xyz')})")

    def block(self, depth: int, loops: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.budget -= 1
            if depth > 4 or self.budget < 0:
                self.simple(depth, loops)
                continue
            kind = self.random.randrange(9)
            if kind < 3:
                self.guarded(depth, loops)
            elif kind == 3:
                self.add(depth, f"for j{depth} in range({self.random.randrange(1, 4)}):")
                self.block(depth + 1, loops + 1)
            elif kind == 4:
                self.add(depth, f"with {self.random.choice(('note(k)', 'contextlib.suppress(Odd)', 'contextlib.suppress(Late)'))}:")
                self.block(depth + 1, loops)
            elif kind == 5:
                self.add(depth, f"match (k % 3, {self.random.choice('yz')}):")
                self.add(depth + 1, f"case (0, y) if k > {self.random.randrange(6)}:")
                self.block(depth + 2, loops)
                self.add(depth + 1, "case (0 | 1, _):")
                self.block(depth + 2, loops)
            else:
                self.simple(depth, loops)

    def guarded(self, depth: int, loops: int) -> None:
        self.add(depth, "try:")
        self.block(depth + 1, loops)
        handlers = self.random.randrange(3)
        for kind in self.random.sample(("Late", "Odd", "(ValueError, Late)", "Odd as e"), handlers):
            self.add(depth, f"except {kind}:")
            self.block(depth + 1, loops)
            if self.random.random() < 0.2:
                self.add(depth + 1, "raise")
        if handlers and self.random.random() < 0.4:
            self.add(depth, "else:")
            self.block(depth + 1, loops)
        if not handlers or self.random.random() < 0.3:
            self.add(depth, "finally:")
            self.add(depth + 1, "print('final')")
            self.budget -= 1
            self.add(depth + 1, f"z = {self.expression()}")

    def text(self) -> str:
        self.block(0, 0)
        self.block(0, 0)
        head = ["def f(x, k):", "    y = x * 0.8", "    z = x + 0.1", "    out = []"]
        return PRELUDE + "\n".join([*head, *self.lines, "    return y * z + x + sum(out)"]) + "\n"


def outcome(run: Any) -> tuple[Any, str]:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        try:
            result = ("returned", run())
        except Exception as error:
            result = ("raised", (type(error).__name__, str(error)))
    return result, stream.getvalue()


def check(seed: int) -> None:
    text = Maker(seed).text()
    f = Program(text, ()).build()
    x = 0.7
    for k in range(3):
        plain, printed = outcome(lambda: f(x, k))  # noqa: B023
        found, said = outcome(lambda: ad.value_and_grad(f)(x, k))  # noqa: B023
        assert said == printed, text
        assert found[0] == plain[0], f"{found}\n{text}"
        if plain[0] == "raised":
            assert found == plain, f"{found} {plain}\n{text}"
            continue
        value, gradient = found[1]
        assert np.isclose(value, plain[1], rtol=1e-12), text
        (_, above), _ = outcome(lambda: f(x + 1e-6, k))  # noqa: B023
        (_, below), _ = outcome(lambda: f(x - 1e-6, k))  # noqa: B023
        assert np.isclose(gradient, (above - below) / 2e-6, rtol=1e-5, atol=1e-7), f"{k}: {gradient} {(above - below) / 2e-6}\n{text}"


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    check(seed)
