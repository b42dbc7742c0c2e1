"""Random programs that write in place: small arrays, views and aliases of them, lists of numbers and of arrays."""

from __future__ import annotations

from typing import Any

INDENT = "    "


class Maker:
    """Makes the text of one function ``f(x, y, s)`` of two arrays of four elements and a number."""

    def __init__(self, choices: Any) -> None:
        self.choices, self.lines, self.depth, self.count = choices, [], 1, 0
        self.arrays = ["x", "y"]  # names of arrays of four elements
        self.views: list[str] = []  # of arrays of two elements
        self.scalars = ["s"]
        self.lists: list[str] = []  # of three numbers or more
        self.rows: list[str] = []  # lists of at least two arrays of four elements

    def pick(self, items: Any) -> Any:
        return items[self.choices.integer(0, len(items) - 1)]

    def new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    # ------------------------------------------------------------ expressions

    def scalar(self) -> str:
        kind = self.choices.integer(0, 6)
        if kind == 0:
            return self.pick(["0.5", "-1.25", "2.0"])
        if kind == 1:
            return f"{self.pick(self.arrays)}[{self.choices.integer(0, 3)}]"
        if kind == 2 and self.views:
            return f"{self.pick(self.views)}[{self.choices.integer(0, 1)}]"
        if kind == 3 and self.lists:
            return f"{self.pick(self.lists)}[{self.choices.integer(-1, 2)}]"
        if kind == 4:
            return f"np.sum({self.array()}) * 0.25"
        if kind == 5:
            return f"np.tanh({self.pick(self.scalars)} * {self.pick(self.scalars)})"
        return self.pick(self.scalars)

    def array(self) -> str:
        kind = self.choices.integer(0, 5)
        name = self.pick(self.arrays)
        if kind == 0:
            return f"np.sin({name})"
        if kind == 1:
            return f"{name} * {self.pick(self.arrays)} * 0.5"
        if kind == 2:
            return f"{name}[::-1]"
        if kind == 3 and self.rows:
            return f"{self.pick(self.rows)}[{self.choices.integer(0, 1)}]"
        return name

    def pair(self) -> str:
        if self.views and self.choices.integer(0, 1):
            return self.pick(self.views)
        return f"{self.pick(self.arrays)}[{self.pick(['1:3', ':2', '2:', '::2', '3:1:-1'])}]"

    # ------------------------------------------------------------ statements

    def statement(self) -> None:
        getattr(self, self.pick(self.STATEMENTS))()

    STATEMENTS = [
        "item", "item", "part", "part", "whole", "view", "alias", "copy", "fancy", "mask", "scalar_name", "list_new", "list_write", "list_change",
        "rows_new", "rows_write", "call", "branch", "loop", "rebind", "out", "swap", "helper",
    ]  # fmt: skip

    def item(self) -> None:
        self.emit(f"{self.pick(self.arrays + self.views)}[{self.choices.integer(0, 1)}] {self.pick(['=', '+=', '*=', '-='])} {self.scalar()}")

    def part(self) -> None:
        index = self.pick(["1:3", ":2", "2:", "::2", "3:1:-1"])
        self.emit(f"{self.pick(self.arrays)}[{index}] {self.pick(['=', '+=', '*=', '-='])} {self.pick([self.pair(), self.scalar()])}")

    def whole(self) -> None:
        if self.views and self.choices.integer(0, 1):
            self.emit(f"{self.pick(self.views)}[:] = {self.pick([self.pair(), self.scalar()])}")
        else:
            target = self.pick(self.arrays)
            self.emit(f"{target}{self.pick([' +=', ' *=', ' -=', '[:] =', '[...] ='])} {self.pick([self.array(), self.scalar()])}")

    def fresh(self, name: str, kind: str) -> None:
        if self.depth == 1:
            getattr(self, kind).append(name)

    def view(self) -> None:
        name = self.new("v")
        self.emit(f"{name} = {self.pair()}")
        self.fresh(name, "views")

    def alias(self) -> None:
        name = self.new("a")
        form = self.pick(["{}", "{}[:]", "{}[::-1]", "{}.reshape(2, 2).reshape(4)", "np.asarray({})", "{}.T"])
        self.emit(f"{name} = {form.format(self.pick(self.arrays))}")
        self.fresh(name, "arrays")

    def copy(self) -> None:
        name = self.new("c")
        self.emit(f"{name} = {self.pick(['{}.copy()', '{} * 0.75', 'np.array({})', 'np.cos({})']).format(self.pick(self.arrays))}")
        self.fresh(name, "arrays")

    def fancy(self) -> None:
        index = self.pick(["[0, 2]", "[1, 1]", "[3, 0]", "[-1, 2]"])
        self.emit(f"{self.pick(self.arrays)}[{index}] {self.pick(['=', '+=', '*='])} {self.pick([self.pair(), self.scalar()])}")

    def mask(self) -> None:
        name = self.pick(self.arrays)
        self.emit(f"{name}[{self.pick(self.arrays)} > {self.pick(['0.1', '-0.3'])}] {self.pick(['=', '+=', '*='])} {self.scalar()}")

    def scalar_name(self) -> None:
        name = self.new("t")
        self.emit(f"{name} = {self.scalar()} * {self.scalar()}")
        self.fresh(name, "scalars")

    def list_new(self) -> None:
        name = self.new("l")
        self.emit(f"{name} = [{self.scalar()}, {self.scalar()}, {self.scalar()}]")
        self.fresh(name, "lists")

    def list_write(self) -> None:
        if self.lists:
            self.emit(f"{self.pick(self.lists)}[{self.choices.integer(-2, 2)}] {self.pick(['=', '+=', '*='])} {self.scalar()}")

    def list_change(self) -> None:
        if self.lists:
            name, v = self.pick(self.lists), self.scalar()
            self.emit(self.pick([
                f"{name}.append({v})", f"{name}.insert(1, {v})", f"{name}.reverse()", f"{name}.sort()", f"{name}.extend([{v}, 0.5])",
                f"{name}.append({name}.pop(0) * {v})", f"{name} += [{v}]", f"{name}[1:2] = [{v}, {v}]",
            ]))  # fmt: skip

    def rows_new(self) -> None:
        name = self.new("r")
        self.emit(f"{name} = [{self.array()}, {self.array()}]")
        self.fresh(name, "rows")

    def rows_write(self) -> None:
        if self.rows:
            name = self.pick(self.rows)
            self.emit(self.pick([
                f"{name}[0] = {self.array()}", f"{name}[1][2] = {self.scalar()}", f"{name}[0] *= {self.scalar()}",
                f"{name}.append({self.array()})", f"{name}[0], {name}[1] = {name}[1], {name}[0]",
            ]))  # fmt: skip

    def rebind(self) -> None:
        self.emit(f"{self.pick(self.arrays)} = {self.array()}")

    def out(self) -> None:
        self.emit(f"np.{self.pick(['multiply', 'add', 'maximum'])}({self.pick(self.arrays)}, {self.array()}, out={self.pick(self.arrays)})")

    def swap(self) -> None:
        a, b = self.pick(self.arrays), self.pick(self.arrays)
        self.emit(self.pick([f"{a}[0], {b}[3] = {b}[3], {a}[0]", f"{a}[:2], {b}[2:] = {b}[2:], {a}[:2].copy()", f"{a}, {b} = {b}, {a}"]))

    def call(self) -> None:
        self.emit(f"{self.pick(self.arrays)}[{self.choices.integer(0, 3)}] = change({self.pick(self.arrays)}, {self.pick(self.arrays)}, {self.scalar()})")

    def helper(self) -> None:
        name = self.new("h")
        self.emit(f"{name} = part({self.pick(self.arrays)}, {self.scalar()})")
        self.fresh(name, "views")

    def block(self, most: int) -> None:
        self.depth += 1
        for _ in range(1 + self.choices.integer(0, most)):
            before = len(self.lines)
            while len(self.lines) == before:
                self.statement()
        self.depth -= 1

    def branch(self) -> None:
        if self.depth < 3:
            self.emit(f"if {self.scalar()} > 0.2:")
            self.block(1)
            if self.choices.integer(0, 1):
                self.emit("else:")
                self.block(1)

    def loop(self) -> None:
        if self.depth < 3:
            name = self.new("i")
            self.emit(f"for {name} in range({self.choices.integer(0, 3)}):")
            self.block(2)
            if self.choices.integer(0, 2) == 0:
                self.emit(INDENT + f"if {self.pick(self.arrays)}[{name}] > 1.0: {self.pick(['break', 'continue'])}")

    def program(self) -> str:
        for _ in range(2 + self.choices.integer(0, 6)):
            self.statement()
        parts = [f"np.sum(np.tanh({name}) * {1.5 - 0.25 * k})" for k, name in enumerate(dict.fromkeys(self.arrays + self.views))]
        parts += [f"sum(np.tanh(q) for q in {name}) * {name}[-1]" for name in self.lists] + self.scalars
        parts += [f"np.sum(np.stack({name}) ** 2)" for name in self.rows]
        body = "\n".join(self.lines)
        return f"{HELPERS}\ndef f(x, y, s):\n{body}\n{INDENT}return {' + '.join(parts)}\n"


HELPERS = """
def change(a, b, v):
    a[1] *= v
    b[2:] = a[:2] + v
    return np.sum(b) * 0.5

def part(a, v):
    a[0] = v
    return a[1:3]
"""
