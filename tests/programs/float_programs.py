"""Random structured programs over floats and small arrays, as source text."""

from __future__ import annotations

from typing import Any

from choosing import Chooser


PRELUDE = """\
SCALE = 0.7

def poly(p, q=0.3, *rest, shift=0.1, **options):
    total = p * q + shift
    for r in rest:
        total = total + 0.5 * r
    for name in options:
        total = total - options[name] * 0.25
    return total

def early(p, q):
    if p > q:
        return p * q
    for k in range(3):
        if k * 0.4 > q:
            return np.sin(p) + k * q
        p = p + 0.1 * q
    return p - q

def again(p, depth):
    if depth == 0:
        return np.tanh(p)
    return 0.5 * p + again(p * 0.8, depth - 1)

def pair(p, q):
    return np.cos(p), p * q

"""


class Maker:
    """One program: ``f(a, b, u, v)`` over two numbers and two arrays of three elements.

    ``in_place``: with statements that may change an object (``x += y`` on what may be an array, ``items.append(x)``).
    """

    def __init__(self, choose: Chooser, in_place: bool = False) -> None:
        self.choose, self.in_place = choose, in_place
        self.numbers = ["a", "b", "c"]
        self.arrays = ["u", "v", "w"]
        self.count = 0

    def pick(self, items: Any) -> Any:
        return items[self.choose.integer(0, len(items) - 1)]

    def odds(self, n: int, of: int = 10) -> bool:
        return self.choose.integer(1, of) <= n

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # ------------------------------------------------------------ expressions

    def constant(self) -> str:
        return self.pick(["0.3", "1.7", "2", "-0.6", "SCALE", "1"])

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.odds(3):
            return self.pick(self.numbers) if self.odds(8) else self.constant()
        x, y = self.number(depth - 1), self.number(depth - 1)
        k = self.choose.integer(0, 27)
        if k <= 4:
            return f"({x} {self.pick(['+', '-', '*'])} {y})"
        if k == 5:
            return f"({x} / (1.5 + {y} * {y}))"
        if k == 6:
            return f"np.{self.pick(['sin', 'tanh', 'cos'])}({x})"
        if k == 7:
            return f"np.sum({self.array(depth - 1)})"
        if k == 8:
            return f"{self.pick(self.arrays)}[{self.pick(['0', '1', '-1', '2'])}]"
        if k == 9:
            return f"({x} if {self.test()} else {y})"
        if k == 10:
            return f"poly({x}, {y})"
        if k == 11:
            return f"poly({x}, shift={y})"
        if k == 12:
            return f"poly({x}, {y}, {self.number(0)}, extra={self.number(0)})"
        if k == 13:
            return f"early({x}, {y})"
        if k == 14:
            return f"again({x}, {self.pick(['0', '1', '3'])})"
        if k == 15:
            return f"({self.array(depth - 1)} @ {self.array(depth - 1)})"
        if k == 16:
            return f"local({x})"
        if k == 17:
            return f"[{x}, {y}, {self.number(0)}][{self.pick(['0', '1', '-1'])}]"
        if k == 18:
            return f"({x}, {y})[{self.pick(['0', '1', '-1'])}]"
        if k == 19:
            return f"{{'p': {x}, 'q': {y}}}[{self.pick(['chr(112)', repr('q')])}]"
        if k == 20:
            return f"sum([{x} * e for e in {self.array(0)}])"
        if k == 21:
            return f"(lambda p, q={x}: p * q)({y})"
        if k == 22:
            return f"({self.test()} and {x} or {y})"
        if k == 23:
            return f"{self.pick(['max', 'min'])}({x}, {y})"
        if k == 24:
            return f"pair({x}, {y})[{self.pick(['0', '1'])}]"
        if k == 25:
            return f"poly(*[{x}, {y}], **{{'shift': {self.number(0)}}})"
        if k == 26:
            return f"-{x}"
        return f"({self.pick(self.numbers)} := {x})" if self.odds(4) else f"np.mean({self.array(depth - 1)})"

    def array(self, depth: int = 2) -> str:
        if depth == 0 or self.odds(3):
            return self.pick(self.arrays)
        x, y = self.array(depth - 1), self.array(depth - 1)
        k = self.choose.integer(0, 12)
        if k <= 2:
            return f"({x} {self.pick(['+', '-', '*'])} {y})"
        if k == 3:
            return f"({x} * {self.number(depth - 1)})"
        if k == 4:
            return f"np.{self.pick(['sin', 'tanh', 'cos'])}({x})"
        if k == 5:
            return f"{x}[::-1]"
        if k == 6:
            return f"np.where({x} > {self.constant()}, {x}, {y})"
        if k == 7:
            return f"np.array([{self.number(1)}, {self.number(1)}, {self.number(1)}])"
        if k == 8:
            return f"np.concatenate([{x}[:1], {y}[1:]])"
        if k == 9:
            return f"({x} if {self.test()} else {y})"
        if k == 10:
            return f"local({x})"
        if k == 11:
            return f"early_array({x}, {self.number(1)})"
        return f"{x}[[2, 0, 2]]"

    def test(self) -> str:
        k = self.choose.integer(0, 7)
        x, y = self.pick(self.numbers), self.pick([*self.numbers, "0.2", "0.9"])
        if k <= 3:
            return f"{x} {self.pick(['<', '>', '<=', '>='])} {y}"
        if k == 4:
            return f"0.1 < {x} < {y}"
        if k == 5:
            return f"not {x} > {y}"
        if k == 6:
            return f"np.sum({self.pick(self.arrays)}) > {y}"
        return f"({x} > {y} or {self.pick(self.numbers)} < 0.4)"

    # ------------------------------------------------------------ statements

    def block(self, depth: int, in_loop: bool, longest: int = 4) -> list[str]:
        out: list[str] = []
        for _ in range(self.choose.integer(1, longest)):
            out += self.statement(depth, in_loop)
        return out

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        if depth > 0 and self.odds(4):
            return self.compound(depth, in_loop)
        k = self.choose.integer(0, 17)
        number, array = self.pick(self.numbers), self.pick(self.arrays)
        if k <= 3:
            return [f"{number} = {self.number()}"]
        if k <= 5:
            return [f"{array} = {self.array()}"]
        if k == 6:
            op = self.pick("+-*")
            return (
                [f"{number} {op}= {self.number()}"] if self.in_place else [f"{number} = {number} {op} {self.number()}"]
            )
        if k == 7:
            return [f"{number}, {self.pick(self.numbers)} = {self.number(1)}, {self.number(1)}"]
        if k == 8:
            return [f"{number} = {self.pick(self.numbers)} = {self.number(1)}"]
        if k == 9:
            return [f"{number}, {array} = {self.number(1)}, {self.array(1)}"]
        if k == 10:
            return [f"{number}, *rest = {self.array(1)}", f"{self.pick(self.numbers)} = rest[0] * rest[-1]"]
        if k == 11:
            return [f"items.append({self.number(1)})"] if self.in_place else [f"items = [*items, {self.number(1)}]"]
        if k == 12:
            return [f"{number} = sum(items) * 0.3"]
        if k == 13:
            return [f"{number}, {self.pick(self.numbers)} = pair({self.number(1)}, {self.number(1)})"]
        if k == 14 and in_loop:
            return [f"if {self.test()}:", f"    {self.pick(['break', 'continue'])}"]
        if k == 15:
            return [f"if {self.test()}:", f"    return {self.result()}"]
        if k == 16:
            return [f"print({number} > 0.5, 'here')"]
        return [f"late = {self.number(1)}" if self.odds(5) else f"{number} = {number} * late"]

    def compound(self, depth: int, in_loop: bool) -> list[str]:
        k = self.choose.integer(0, 11)
        if k <= 3:
            out = [f"if {self.test()}:", *self.indent(self.block(depth - 1, in_loop))]
            if self.odds(3):
                out += [f"elif {self.test()}:", *self.indent(self.block(depth - 1, in_loop))]
            if self.odds(5):
                out += ["else:", *self.indent(self.block(depth - 1, in_loop))]
            return out
        body = self.block(depth - 1, True, 3)
        other = self.indent(self.block(depth - 1, in_loop, 2)) if self.odds(3) else []
        other = ["else:", *other] if other else []
        number = self.pick(self.numbers)
        if k == 4:
            i = self.fresh("i")
            return [f"for {i} in range({self.pick(['3', '2', '0'])}):", *self.indent(body), *other]
        if k == 5:
            return [f"for {number} in {self.array(1)}:", *self.indent(body), *other]
        if k == 6:
            return [f"for {number} in [{self.number(1)}, {self.number(1)}]:", *self.indent(body), *other]
        if k == 7:
            return [
                f"for {number}, {self.pick(self.numbers)} in zip({self.array(1)}, {self.array(0)}):",
                *self.indent(body),
                *other,
            ]
        if k == 8:
            i = self.fresh("i")
            update = f"{number} = {number} + 0.1 * {i} * {self.pick(self.arrays)}[{i}]"
            return [f"for {i}, {number} in enumerate({self.array(1)}):", *self.indent([update, *body]), *other]
        if k == 9:
            i = self.fresh("i")
            return [
                f"for {i} in range(3):",
                *self.indent([f"{number} = {number} + {self.pick(self.arrays)}[{i}] * 0.5", *body]),
                *other,
            ]
        if k == 10:
            return [f"for {number} in reversed([{self.number(1)}, *{self.array(0)}]):", *self.indent(body), *other]
        counter = self.fresh("n")
        return [
            f"{counter} = 0",
            f"while {counter} < 3 and {self.test()}:",
            *self.indent([f"{counter} += 1", *body]),
            *other,
        ]

    @staticmethod
    def indent(lines: list[str]) -> list[str]:
        return ["    " + line for line in lines]

    def result(self) -> str:
        k = self.choose.integer(0, 5)
        if k <= 2:
            return self.number(1)
        if k == 3:
            return self.array(1)
        if k == 4:
            return f"({self.number(1)}, {self.array(1)})"
        return f"np.sum({self.array(1)}) + {self.number(1)}"

    def program(self) -> str:
        local = self.pick([
            ["local = lambda t: t * a + 0.2"],
            ["def local(t):", "    return t * b - c" if self.odds(5) else "    return np.sin(t) * a"],
            ["def local(t, r=a):", "    if np.sum(t) > 0.5:", "        return t * r", "    return t - r"],
            ["import functools", "local = functools.partial(np.multiply, b)"],
            ["factor = a * b", "local = lambda t: t * factor"],
        ])  # fmt: skip
        first = [
            f"c = {self.pick(['a * b', '0.5', 'a', '1'])}",
            f"w = {self.pick(['u * v', 'u', 'np.zeros(3)', 'a * v'])}",
            "items = [a]" if self.odds(7) else "items = []",
            *local,
            "def early_array(t, s):",
            "    for k in range(3):",
            "        if t[k] > s:",
            "            return t * s",
            "        t = t * 0.9",
            "    return t + s",
        ]
        last = (
            f"return {self.result()}"
            if self.odds(3)
            else "return "
            + self.pick(
                ["a * b + c + np.sum(u * v) + np.sum(w)", "np.sin(a) + b * c", "(a, b, c, u, v, w)", "u * v + w * c"]
            )
        )
        body = [*first, *self.block(3, False, 6), last]
        return PRELUDE + "def f(a, b, u, v):\n" + "\n".join(self.indent(body)) + "\n"
