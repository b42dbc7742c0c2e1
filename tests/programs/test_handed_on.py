"""Functions that hand on what they find in containers, and selections, while memory is written in place."""

from __future__ import annotations

import pytest

from checking import Program
from tables import VALUES, check

TEXT = """
import functools, copy, collections
class Box:
    def __init__(self, w):
        self.w = w
        self.child = {{"w": w}}
    def get(self):
        return self.w
Two = collections.namedtuple("Two", "first second")
def pick(rows, k):
    return rows[k]
def found(p, q):
    if np.sum(p) > -99:
        return p
    return q
def first_of(rows):
    for r in rows:
        if r[0] > -99:
            return r
def f(a, b, u, v):
    w = u * a
    z = v * 1.0
    rows = [w, z]
    d = {{"w": w, "k": a}}
    box = Box(w)
    pickers = [pick]
    name = "w"
    two = Two(w, z)
    nested = {{"x": {{"y": [w]}}}}
    def make():
        return z, w
    r = {what}
    {then}
    r2 = r * z
    {last}
    return np.sum(r2) + np.sum(r * v) * a + np.sum(w * z) * b
"""

FOUND = """
max(rows, key=np.sum)
min(rows, key=lambda r: r[0])
max(w, z, key=np.sum)
sorted(rows, key=np.sum)[0]
d.setdefault("w", u)
d.setdefault("new", w)
list(d.values())[0]
dict(d)["w"]
d.copy()["w"]
rows.copy()[1]
rows[:][0]
(rows + [w])[2]
(rows * 2)[3]
list(zip(rows, rows))[1][0]
[r for _, r in enumerate(rows)][1]
list(reversed(rows))[0]
{**d}["w"]
pick(rows, 1)
pickers[0](rows, 1)
box.get()
(lambda t: t)(w)
tuple(rows)[0]
np.asarray(w)
w[...]
list(filter(lambda r: r[0] > -99, rows))[1]
list(map(lambda r: r, rows))[0]
rows.pop(0)
d.pop("w")
d.get("w")
d.get("none", w)
d.get("w", u)
d.get(name)
d[name]
(w, z)[0]
make()[1]
two.first
two._replace(second=w)[1] if False else two[1]
np.broadcast_arrays(w, z)[0].copy()
first_of(rows)
found(w, z)
nested["x"]["y"][0]
box.child["w"]
max(a, b) * w
""".strip().splitlines()
WRITES = ("r *= b", "r[0] = a * b", "r += 1.0", "w[2] *= a", "z -= r", "z[0] = b")
ARGS = (0.7, -0.4, VALUES["A"], VALUES["B"])


@pytest.mark.parametrize("k", range(len(FOUND)), ids=FOUND)
def test_found_in_containers(k: int) -> None:
    text = TEXT.format(what=FOUND[k], then=WRITES[k % 6], last=WRITES[(k // 3 + 4) % 6])
    check(Program(text, ARGS))


TABLE_OF_ENTRIES = """
def put(d, key, x):
    t = d.get(key, 0.5)
    d[key] = t * x
def f(a, b, u, v):
    d = {"k": a, "w": u}
    put(d, "k", b)
    put(d, "w", b)
    put(d, "m", a)
    return d["k"] + np.sum(d["w"] * v) + d["m"]
"""
ENTRY_THEN_REPLACED = """
def put(d, key, x):
    t = d.get(key, 0.5)
    d[key] = 2.0
    t *= x
    return t
def f(a, b, u, v):
    w = u * 1.0
    d = {"k": a, "w": w}
    r = put(d, "k", b)
    s = put(d, "w", b)
    return r + np.sum(s * v) + np.sum(w * w)
"""
ENTRY_OF_AN_UNKNOWN_DICT = """
def put(d, key, x):
    for q in [d]:
        t = q.get(key, 0.5)
        q[key] = t * x
        q.pop("z", None)
def f(a, b, u, v):
    d = {"k": a, "w": u, "z": b}
    put(d, "k", b)
    put(d, "w", b)
    return d["k"] + np.sum(d["w"] * v)
"""
NUMBER_OF_UNKNOWN_KIND_INTO_AN_OBJECT = """
class Point:
    def __init__(self, x, w):
        self.x = x
        self.w = w
class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second
def f(a, b, u, v):
    pair = Pair(a, b)
    p = Point(np.sin(pair.first), u)
    return p.x * np.sum(p.w)
"""


VALUES_OF_A_DICT = """
def f(a, b, u, v):
    d = {}
    for k in range(3):
        d[k] = u * k
    total = 0.0
    for w in d.values():
        total = total + np.sum(w * v)
    d = {k: w - 0.1 * a for k, w in d.items()}
    return total + sum(np.sum(w * w) for w in d.values())
"""
INTO_A_NESTED_LIST = """
def f(a, b, u, v):
    m = [[None]]
    m[0][0] = a * 3
    d = {"p": {"a": None}}
    d["p"]["a"] = u * b
    return m[0][0] * b + np.sum(d["p"]["a"] * v)
"""


VIEWS_BY_MAP = """
def f(a, b, u, v):
    rows = [u * 1.0, v * 1.0]
    rows[0][0] = rows[1][0] ** 2
    p, q = map(np.ravel, rows)
    r, s = list(map(np.transpose, rows))
    return np.sum(p ** 2) * np.sum(q) + np.sum(r * s * a)
"""


@pytest.mark.parametrize(
    "text",
    [VIEWS_BY_MAP, VALUES_OF_A_DICT, INTO_A_NESTED_LIST, TABLE_OF_ENTRIES, ENTRY_THEN_REPLACED, ENTRY_OF_AN_UNKNOWN_DICT, NUMBER_OF_UNKNOWN_KIND_INTO_AN_OBJECT],
    ids=["map", "values", "nested", "table", "replaced", "unknown_dict", "number_into_object"],
)
def test_entries(text: str) -> None:
    check(Program(text, ARGS))
