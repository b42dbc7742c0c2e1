"""Random programs of many features, as source text: dicts and lists of arrays, closures, objects, ``try``, views of views.

A statement is a line of a table with holes: ``{a}`` is the name of an array, ``{A}`` an array of four elements, ``{P}`` one of
two, ``{n}`` the name of a number, ``{N}`` a number, ``{i}`` an index, ``{F}`` two of them in a list, ``{M}`` a mask, ``{k}`` a key
of the dict, ``{o}`` an object, ``{T}`` a test, ``{S}`` a part of an array.  All of it works on complex numbers as well.
"""

from __future__ import annotations

import re

from choosing import Chooser

PRELUDE = """\
class Cell:
    def __init__(self, w, s):
        self.w = w
        self.s = s

    def step(self, by):
        self.w[1] += by
        self.s = self.s * 0.5 + by
        return self.s

def both(a, b, v):
    a[0] = v * b[1]
    b[2:] *= 0.5
    return a, np.sum(b) * 0.25

def halves(a):
    a *= 0.9
    return a[:2], a[2:]

def trade(a, b):
    a[:2], b[2:] = b[2:].copy(), a[:2].copy()

def total(first, *rest, scale=0.5):
    for r in rest:
        first = first + r * scale
    return first

def search(a, limit):
    for k, e in enumerate(a):
        if np.abs(e) > limit:
            return e * 0.5
        a[k] = e * 0.8
    else:
        return a[0] + 0.1

"""

NUMBERS = [
    "{a}[{i}]", "{n} * {n}", "{n} - {N}", "0.5", "np.sin({n})", "np.sum({A}) * 0.25", "d['{k}'][{i}]", "rows[-1][{i}]", "{o}.s",
    "{o}.w[{i}]", "bump({n})", "{P}[0]", "total(*{A})", "total({n}, *{P}, scale={n})", "sum(numbers) * 0.3", "numbers[-1]",
    "sum([e * g for e, g in zip({A}, {A})])", "sum([k * e * 0.2 for k, e in enumerate({A})])", "({N} if {T} else {N})",
    "[e * 0.5 for e in {A}][{i}]", "search({a}, 0.8)", "{o}.step({n})", "sum(e * 0.5 for e in {P})", "({A} @ {A}) * 0.2",
]  # fmt: skip
ARRAYS = [
    "{a}", "{a}", "{a} * {A} * 0.5", "np.sin({A})", "{A} - {n}", "{a}[::-1]", "d['{k}']", "rows[0]", "{o}.w", "{A}[[0, 2, 2, 1]]",
    "np.where({M}, {A}, {A})", "np.concatenate([{P}, {P}])", "np.array([*{P}, *{P}])", "np.array([e * {n} for e in {A}])",
    "np.stack(rows[:2]).sum(0)", "{a}.copy()", "{a}.reshape(2, 2).T.ravel()", "np.array([e if {T} else {n} for e in {A}])",
    "np.stack([{P}, {P}]).reshape(4)", "mixed({A})",
]  # fmt: skip
PAIRS = [
    "{a}[1:3]", "{a}[:2]", "{a}[::2]", "{a}[2:][::-1]", "{a}[::-1][1:3]", "{a}.reshape(2, 2)[0]", "{a}.reshape(2, 2).T[1]",
    "{a}[{F}]", "{A}[:2]", "{P} * {n}",
]  # fmt: skip
PARTS = ["[{i}]", "[1:3]", "[:2]", "[::2]", "[::-1][1:3]", "[1:][::2]", ".reshape(2, 2)[1]", ".reshape(2, 2).T[0]", "[...][2:]"]
SIMPLE = [
    "{n} = {N}", "{n} = {N}", "{a} = {A}", "{a} = {A}", "{n} += {N}", "{a}{S} = {N}", "{a}{S} *= {N}", "{a}{S} += {N}",
    "{a}[1:3] = {P}", "{a}[::-1][:2] += {P}", "{a}.reshape(2, 2).T[1] -= {P}", "{a}[:] = {A}", "{a} *= {A}", "{a} -= {N}",
    "d['{k}'] = {A}", "d['{k}'][{i}] = {N}", "d['{k}'] *= {N}", "d['{k}'][1:3] += {P}", "d.update({k}={A})", "{a} = d.pop('c', {A})",
    "{a} = d.setdefault('c', {A})", "d['a'], d['b'] = d['b'], d['a']", "d = {{key: v * {n} for key, v in d.items()}}",
    "for v in d.values(): v *= 0.7", "for key in d: d[key] = d[key] - 0.1", "{a} = d.get('c', {a})",
    "rows.append({A})", "rows.extend([{A}, {A}])", "rows.insert(0, {A})", "rows[-1][{i}] = {N}", "rows[0] *= {N}", "{a} = rows[-1]",
    "rows[0], rows[-1] = rows[-1], rows[0]", "rows = [r * {n} for r in rows]", "for r in rows: r[{i}] += {N}", "rows.reverse()",
    "numbers.append({N})", "numbers[{i} % 2] = {N}", "numbers += [{N}, {N}]", "{n} = numbers.pop(); numbers.append({n})",
    "{a}, {n} = both({a}, {a}, {N})", "lo, hi = halves({a}); lo[0] = hi[1]", "lo, hi = halves({a}); hi *= {N}", "trade({a}, {a})",
    "np.multiply({A}, {A}, out={a})", "np.add({A}, {N}, out=d['{k}'])", "np.subtract({P}, {P}, out={a}[1:3])",
    "np.cumsum({A}, out={a})", "np.copyto({a}, {A})", "np.multiply({a}, {N}, out={a}, where={M})",
    "{a}[{M}] = {N}", "{a}[{M}] += {N}", "m = {M}; {a}[m] = {A}[m]", "m = {M}; {a}[m] *= {A}[m]", "m = {M}; {a}[m] -= {A}[m]",
    "{a}[{F}] = {P}", "{a}[{F}] += {P}", "{a}[{F}] *= {N}", "np.add.at({a}, {F}, {P})", "np.subtract.at({a}, {F}, {N})",
    "{a}[{F}], {a}[{F}] = {a}[{F}], {P}", "{a}[{i}], {a}[{i}] = {a}[{i}], {a}[{i}]", "{a}, {a} = {a}, {a}",
    "{a}[:2], {a}[2:] = {a}[2:], {a}[:2]",
    "{o}.w = {A}", "{o}.w{S} = {N}", "{o}.w *= {N}", "{o}.s = {N}", "{o}.s += {N}", "{o} = {o}", "{o} = Cell({A}, {N})", "{o}.w = {o}.w",
    "p, q = q, p", "{a} = {o}.w", "{n} = {o}.step({N})", "{o}.step({N})", "for c in (p, q): c.w[{i}] = {N}", "{o}.w, {a} = {a}, {o}.w",
    "{n}, *rest = {A}; rest[0] = {N}; {n} = {n} * rest[-1] * rest[0]", "*rest, {n} = {A}; rows.append(np.array([*rest, {n}]))",
    "{n}, *_, {n} = {A}", "bump({N})", "{n} = bump({N})", "stir({N})", "keep = {a}; {a} = {a} * {n}; keep[{i}] = {N}",
    "{n} = search({a}, 0.8)", "if {T}: return {R}", "print(np.abs({n}) > 0.5)",
]  # fmt: skip
RESULTS = [
    "np.sum(x * y) + s * np.sum(d['a'])", "(x, s, p.s, d['b'])", "np.sum(p.w * q.w) + acc", "np.sum(np.stack(rows) ** 2) + sum(numbers)",
    "{N}", "{A}", "np.sum({A} * {A}) + {N}", "({A}, {N}, rows[-1])",
]  # fmt: skip


class Maker:
    """Makes the text of one function ``f(x, y, s, d)`` of two arrays of four elements, a number and a dict of two more arrays."""

    def __init__(self, choose: Chooser) -> None:
        self.choose, self.count = choose, 0

    def pick(self, items: list[str]) -> str:
        return items[self.choose.integer(0, len(items) - 1)]

    def fill(self, text: str, depth: int = 2) -> str:
        """``text`` with its holes filled; expressions nest no deeper than ``depth``."""

        def hole(found: re.Match[str]) -> str:
            kind = found[1]
            table = {"N": NUMBERS, "A": ARRAYS, "P": PAIRS, "R": RESULTS}.get(kind)
            if table is not None:
                if depth == 0:
                    return {"N": self.pick(["s", "t", "acc", "0.7"]), "A": self.pick(["x", "y", "z"]), "P": "x[1:3]", "R": "s"}[kind]
                found_text = self.fill(self.pick(table), depth - 1)
                return f"({found_text})" if re.search(r" [-+*@] (?![^\[({]*[\])}])", found_text) and kind != "R" else found_text
            return {
                "a": lambda: self.pick(["x", "y", "z"]),
                "n": lambda: self.pick(["s", "t"]),
                "i": lambda: self.pick(["0", "1", "2", "-1"]),
                "F": lambda: self.pick(["[0, 2]", "[1, 1]", "[3, 0]", "[-1, 3]"]),
                "M": lambda: f"np.abs({self.pick(['x', 'y', 'z', 'd[' + repr('a') + ']'])}) > {self.pick(['0.3', '0.7'])}",
                "k": lambda: self.pick(["a", "b"]),
                "o": lambda: self.pick(["p", "q"]),
                "S": lambda: self.fill(self.pick(PARTS)),
                "T": lambda: f"np.abs({self.pick(['s', 't', 'x[1]', 'acc'])}) {self.pick(['<', '>'])} {self.pick(['0.3', '0.6', '1.0'])}",
            }[kind]()

        return re.sub(r"\{([NAPRanikFMSTo])\}", hole, text).replace("{{", "{").replace("}}", "}")

    # ------------------------------------------------------------ statements

    def block(self, depth: int, in_loop: bool = False, most: int = 3) -> list[str]:
        out: list[str] = []
        for _ in range(self.choose.integer(1, most)):
            out += self.compound(depth, in_loop) if depth and self.choose.integer(0, 3) == 0 else [self.simple(in_loop)]
        return out

    def simple(self, in_loop: bool) -> str:
        if in_loop and self.choose.integer(0, 9) == 0:
            return self.fill("if {T}: " + self.pick(["break", "continue"]))
        return self.fill(self.pick(SIMPLE))

    def inner(self, depth: int, in_loop: bool) -> list[str]:
        return ["    " + line for line in self.block(depth - 1, in_loop, 2)]

    def compound(self, depth: int, in_loop: bool) -> list[str]:
        self.count += 1
        k = self.count
        kind = self.pick(["if", "for", "while", "try", "for"])
        if kind == "if":
            out = [self.fill("if {T}:"), *self.inner(depth, in_loop)]
            return [*out, "else:", *self.inner(depth, in_loop)] if self.choose.integer(0, 1) else out
        if kind == "for":
            head, first = self.pick([
                f"for i{k} in range({self.pick(['2', '3', '0'])}):|t = t * 0.5 + {{a}}[i{k}]",
                f"for e{k} in {{A}}:|t = t * 0.5 + e{k}",
                f"for i{k}, e{k} in enumerate({{a}}):|{{a}}[i{k}] = e{k} * {{n}}",
                f"for e{k}, g{k} in zip({{A}}, {{a}}):|s = s * 0.5 + e{k} * g{k}",
                f"for r{k} in rows[:2]:|r{k}[{{i}}] = {{N}}",
                f"for v{k} in list(d.values()):|v{k} *= 0.5",
            ]).split("|")  # fmt: skip
            return [self.fill(head), "    " + self.fill(first), *self.inner(depth, True), *self.otherwise(depth, in_loop)]
        if kind == "while":
            head = [f"n{k} = 0", self.fill(f"while n{k} < 3 and {{T}}:"), f"    n{k} += 1"]
            return [*head, *self.inner(depth, True), *self.otherwise(depth, in_loop)]
        risky = [*self.inner(depth, in_loop), self.fill("    if {T}: raise ValueError('odd')"), *self.inner(depth, in_loop)]
        if self.choose.integer(0, 3) == 0 and in_loop is False:
            return ["try:", *self.inner(depth, in_loop), "finally:", *self.inner(depth, False)]
        out = ["try:", *risky, "except ValueError:", *self.inner(depth, in_loop)]
        return [*out, "finally:", "    " + self.fill("{a}[{i}] = {N}")] if self.choose.integer(0, 1) else out

    def otherwise(self, depth: int, in_loop: bool) -> list[str]:
        return ["else:", *self.inner(depth, in_loop)] if self.choose.integer(0, 3) == 0 else []

    def program(self) -> str:
        first = [
            f"z = {self.pick(['x', 'y'])}{self.pick([' * s', '', '[::-1]', '.copy()', '[:]'])}",
            f"mixed = {self.pick(['lambda v: v * s', 'lambda v, w=y: v * w', 'lambda v: v + z[0]'])}",
            "t = s * 0.5",
            "acc = s * s",
            self.fill(f"rows = {self.pick(['[{a}]', '[{a} * s, {a}]', '[{a}, d[' + repr('a') + ']]', '[z.copy()]'])}"),
            "numbers = [s, 0.5 * s]",
            self.fill("p = Cell({a}, s)"),
            self.fill(self.pick(["q = Cell(p.w, t)", "q = p", "q = Cell({a} * {a}, t)", "q = Cell({a}[:], s)"])),
            "def bump(v):",
            "    nonlocal acc",
            self.fill("    " + self.pick(["acc = acc * 0.5 + v", "acc += v * t", "x[0] = v; acc = acc + x[1]"])),
            "    return acc",
            "def stir(v):",
            self.fill("    " + self.pick(["z[1] = v", "p.s = v; p.w[0] *= v", "d['a'][0] = v", "rows[0][1] = v", "numbers.append(v)"])),
        ]
        body = [*first, *self.block(2, most=6), *self.block(1, most=3), self.fill("return {R}")]
        return PRELUDE + "def f(x, y, s, d):\n" + "\n".join("    " + line for line in body) + "\n"
