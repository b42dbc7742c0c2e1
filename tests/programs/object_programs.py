"""Random programs over objects, lists, dicts and closures that change in place, as source text."""

from __future__ import annotations

from choosing import Chooser

POINTS = [
    """\
class Point:
    def __init__(self, x, w):
        self.x = x
        self.w = w
        self.seen = []
""",
    """\
from dataclasses import dataclass, field

@dataclass
class Point:
    x: float
    w: object
    seen: list = field(default_factory=list)
""",
]
PAIRS = [
    """\
class Pair:
    __slots__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second
""",
    """\
from dataclasses import dataclass

@dataclass(slots=True)
class Pair:
    first: float
    second: float
""",
]
METHODS = """
    def move(self, dx):
        self.x = self.x + dx * 0.5
        return self.x

    def grow(self, by):
        self.w *= by
        self.seen.append(by)

    def read(self, k):
        return self.w[k] * self.x

    @property
    def size(self):
        return np.sum(self.w * self.w)

"""
FUNCTIONS = """
def shift(p, by):
    p.x += by
    return p

def fill(items, x):
    items.append(x * x)
    return items

def scale(w, by):
    w *= by

def put(d, key, x):
    d[key] = d.get(key, 0.5) * x

def swap(pair):
    pair.first, pair.second = pair.second, pair.first

"""


class Maker:
    """One program ``f(a, b, u, v)``: two numbers, two arrays of three elements."""

    def __init__(self, choose: Chooser) -> None:
        self.choose = choose
        self.count = 0

    def pick(self, items: list[str]) -> str:
        return items[self.choose.integer(0, len(items) - 1)]

    def number(self, depth: int = 1) -> str:
        if depth == 0 or self.choose.integer(0, 2) == 0:
            return self.pick(
                ["a", "b", "p.x", "q.x", "d['k']", "items[-1]", "w[0]", "z[1]", "total", "0.7", "pair.first"]
            )
        x, y = self.number(depth - 1), self.number(depth - 1)
        return self.pick([
            f"({x} * {y})", f"({x} - {y})", f"np.sin({x})", f"np.sum({self.array(0)})", f"p.read({self.index()})",
            "p.size", f"{self.array(0)}[{self.index()}]", "sum(items)", f"local({x})", f"q.move({x})", "pair.second",
            "sum(p.seen)", f"d.get('{self.key()}', {x})", "boxes[0].x", "boxes[-1].w[2]",
        ])  # fmt: skip

    def array(self, depth: int = 1) -> str:
        if depth == 0 or self.choose.integer(0, 2) == 0:
            return self.pick(["u", "v", "w", "z", "p.w", "q.w", "rows[0]", "d['w']"])
        x, y = self.array(depth - 1), self.array(depth - 1)
        return self.pick([f"({x} * {y})", f"({x} + {self.number(0)})", f"np.cos({x})", f"{x}[::-1]", f"{x}.copy()"])

    def index(self) -> str:
        return self.pick(["0", "1", "2", "-1"])

    def key(self) -> str:
        return self.pick(["k", "m"])

    def statement(self, depth: int) -> list[str]:
        k = self.choose.integer(0, 27)
        if depth > 0 and k <= 3:
            body = ["    " + line for line in self.block(depth - 1)]
            self.count += 1
            head = self.pick([
                f"if {self.number(0)} > 0.4:", f"for i{self.count} in range(2):", f"for e{self.count} in {self.array(0)}:",
                "for box in list(boxes):", "for box in [p, q]:",
            ])  # fmt: skip
            if "box in" in head:
                body.append(
                    "    " + self.pick(["box.x += a", "box.w[1] = box.x", "total = total + box.x", "box.grow(b)"])
                )
            if head.startswith("for e"):
                body.append(f"    total = total * 0.5 + e{self.count}")
            return [head, *body]
        return [self.pick([
            f"p.x = {self.number()}", f"q.x += {self.number()}", f"p.w[{self.index()}] = {self.number()}",
            f"q.w[1:] *= {self.number()}", f"p.w = {self.array()}", "q.w = p.w", "q = p", f"p = Point({self.number()}, {self.array()})",
            f"p.move({self.number()})", f"q.grow({self.number()})", f"shift(q, {self.number()})", f"p = shift(p, {self.number()})",
            f"fill(items, {self.number()})", f"items.append({self.number()})", f"items[{self.pick(['0', '-1'])}] = {self.number()}",
            f"scale(w, {self.number()})", f"scale(p.w, {self.number()})", f"put(d, '{self.key()}', {self.number()})",
            f"d['k'] = {self.number()}", f"d['w'] = {self.array()}", f"d['w'][0] = {self.number()}", "w = p.w", "w = d['w']",
            f"w = {self.array()}", "z = w[::-1]", f"z[{self.index()}] += {self.number()}", f"rows.append({self.array()})",
            f"rows[0] = {self.array()}", f"total = total + {self.number()}", "swap(pair)", f"pair.first = {self.number()}",
            f"pair = Pair({self.number()}, total)", f"boxes.append({self.pick(['p', 'q'])})", "boxes[0].x *= b", "alias = items",
            f"alias.append({self.number()})", f"bump({self.number()})", f"d.update(k={self.number()})", "p.seen.append(a)",
            f"u[{self.index()}] = {self.number()}", f"items.extend([{self.number()}, {self.number()}])", "items.reverse()",
            f"total = items.pop() + {self.number()}; items.append(total)",
        ])]  # fmt: skip

    def block(self, depth: int) -> list[str]:
        out: list[str] = []
        for _ in range(self.choose.integer(1, 4)):
            out += self.statement(depth)
        return out

    def program(self) -> str:
        first = [
            self.pick(["p = Point(a, u * v)", "p = Point(a * b, v.copy())", "p = Point(0.5, u)"]),
            self.pick(["q = Point(b, u + a)", "q = p", "q = Point(a, p.w)"]),
            f"items = {self.pick(['[a]', '[a, b * b]', '[0.3, a]'])}",
            "alias = items",
            f"d = {self.pick(['dict(k=a, w=u * 2.0)', '''{'k': b, 'w': v}''', '''{'k': 1.5, 'w': p.w}'''])}",
            f"rows = {self.pick(['[u]', '[u * a, v]', '[p.w]'])}",
            f"boxes = {self.pick(['[p]', '[p, q]', '[Point(a, v * 1.0)]'])}",
            "pair = Pair(a, b)",
            self.pick(["w = u", "w = v * a", "w = p.w", "w = u.copy()"]),
            self.pick(["z = w", "z = w[::-1]", "z = v"]),
            "total = 0.0",
            self.pick(["local = lambda t: t * p.x", "local = lambda t: t + total", "local = lambda t: t * a"]),
            "def bump(t):",
            self.pick(["    nonlocal total", "    p.x = p.x * t", "    items.append(t)"]),
            self.pick(["    p.w[0] = t", "    d['k'] = t", "    items[0] = t"]),
        ]
        if first[-2] == "    nonlocal total":
            first.append("    total = total + t")
        result = self.pick([
            "total + p.x * q.x + np.sum(p.w * w) + d['k'] * sum(items)",
            "np.sum(z * q.w) + items[-1] * pair.first + total",
            "(p.x, q.w, w, sum(items), d['k'], pair.second)",
            "np.sum(rows[-1]) * p.size + np.sum(d['w']) + boxes[-1].x",
        ])  # fmt: skip
        body = [*first, *self.block(2), *self.block(1), f"return {result}"]
        classes = self.pick(POINTS) + METHODS + self.pick(PAIRS)
        return classes + FUNCTIONS + "def f(a, b, u, v):\n" + "\n".join("    " + line for line in body) + "\n"
