"""Objects whose class is known only when the code runs, in what the language does with them: items, loops, built-ins."""

import numpy as np
import pytest
from checking import Program

import thunkad as ad

CLASSES = """
import math, operator
class Box:
    def __init__(self, *c): self.c = list(c); self.n = 0
    def put(self, x): self.n += 1
class Full(Box):
    def __getitem__(self, i): return self.c[i] * 2.0
    def __setitem__(self, i, v): self.c[i] = v * 3.0
    def __delitem__(self, i): del self.c[i]
    def __len__(self): return len(self.c)
    def __iter__(self): return iter([v * 3.0 for v in self.c])
    def __float__(self): return float(self.c[0] * 5.0)
    def __abs__(self): return self.c[0] * 7.0
    def __neg__(self): return self.c[1] * 2.0
    def __round__(self, n=None): return self.c[1] * 4.0
    def __floor__(self): return self.c[0] * 2.5
    def __contains__(self, v): return v == self.c[0]
    def __call__(self, v): return v * self.c[0]
    def __enter__(self): return self.c[0] * 2.0
    def __exit__(self, *error): return False
    def __rmul__(self, other): return other * self.c[0]
    def __pow__(self, other): return self.c[0] ** other
    @property
    def product(self): return self.c[0] * self.c[1]
class Indexed(Box):
    def __getitem__(self, i): return self.c[i] * 2.0
    def __setitem__(self, i, v): self.c[i] = v * 3.0
    def __delitem__(self, i): del self.c[i]
    def __len__(self): return len(self.c)
class Plain(Box):
    def __iter__(self): return zip(self.c, self.c[::-1])
class Table(Box):
    def __init__(self, *c): self.d = {"a": c[0], "b": c[1]}; self.n = 0
    def __getitem__(self, k): return self.d[k] * 3.0
    def __iter__(self): return iter(self.d.values())
def full(*c): return Full(*c)
def indexed(*c): return Indexed(*c)
def table(*c): return Table(*c)
def plain(*c): return Plain(*c)
class Holder:
    def __init__(self, q): self.q = q; self.log = []
"""
FOUND = CLASSES + "def f(x):\n    q = [{make}, 0][0](x[0], x[1] * x[0])\n    {body}\n"
HELD = CLASSES + "def f(x):\n    h = Holder({make}(x[0], x[1] * x[0]))\n    h.log.append(x[0])\n    h.q.put(x[1])\n    q = h.q\n    {body}\n"

ITERATED = {
    "loop": "t = 0.0\n    for v in q: t = t + v * v\n    return t",
    "unpacked": "a, b = q\n    return a * b",
    "unpacked around a star": "a, *b = q\n    return a * b[0]",
    "spread": "return sum([*q])",
    "spread into a call": "return max(*q) * 1.0",
    "list": "return list(q)[1]",
    "tuple": "return tuple(q)[1]",
    "sum": "return sum(q)",
    "max": "return max(q)",
    "sorted": "return sorted(q)[0]",
    "zip": "return sum(a * b for a, b in zip(q, [1.0, 2.0]))",
    "enumerate": "return sum(a * k for k, a in enumerate(q, 1))",
    "comprehension": "return [v * v for v in q][1]",
    "generator": "return sum(v * v for v in q)",
    "extend": "rows = []\n    rows.extend(q)\n    return rows[1]",
    "prod": "return math.prod(q)",
    "nested": "return [w for v in [q, q] for w in v][1]",
}
INDEXED = {
    "item": "return q[1]",
    "items": "return q[0] * q[-1]",
    "operator": "return operator.getitem(q, 1)",
    "stored": "q[1] = x[0] * x[1]\n    return q[1] * q[0]",
    "updated": "q[1] += x[0] * x[1]\n    return q[1] * q[0]",
    "deleted": "del q[0]\n    return q[0] * len(q)",
}
CALLED = {
    "float": "return float(q)",
    "abs": "return abs(q)",
    "neg": "return -q",
    "round": "return round(q)",
    "floor": "return math.floor(q)",
    "in": "return x[0] * 2 if x[0] in q else x[0]",
    "call": "return q(2.0)",
    "with": "with q as v:\n        return v * v",
    "rmul": "return 2.0 * q",
    "pow": "return q ** 2",
    "property": "return q.product",
    "getattr": "return getattr(q, 'product')",
}
CASES = [
    (make, name, body)
    for make, table in (
        ("full", {**ITERATED, **INDEXED, **CALLED}),
        ("indexed", {**ITERATED, **INDEXED}),
        ("Indexed", {"loop": ITERATED["loop"], "zip": ITERATED["zip"]}),
        ("Full", {"loop": ITERATED["loop"], "zip": ITERATED["zip"], "unpacked": ITERATED["unpacked"]}),
        ("table", {"keys": "return q['a'] * q['b']", "values": ITERATED["loop"]}),
        ("plain", {"pairs": "return sum(a * b * a for a, b in q)", "list": "return list(q)[1][0]"}),
        ("Plain", {"pairs": "return sum(a * b * a for a, b in q)", "counted": "return sum(k * a for k, (a, b) in enumerate(q))"}),
    )
    for name, body in table.items()
]  # fmt: skip


@pytest.mark.parametrize("around", [FOUND, HELD], ids=["found", "held"])
@pytest.mark.parametrize(("make", "name", "body"), CASES, ids=[f"{make}-{name}" for make, name, _ in CASES])
def test_both_modes(make: str, name: str, body: str, around: str) -> None:
    f = Program(around.replace("{make}", make).replace("{body}", body), ()).build()
    x, v, h = np.array([1.3, 0.6]), np.array([1.0, -2.0]), 1e-6
    slope = np.array([(f(x + step) - f(x - step)) / (2 * h) for step in np.eye(2) * h])
    value, gradient = ad.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ad.jvp(f, (x,), (v,))[1], gradient @ v, rtol=1e-9, atol=1e-12)

