"""Small programs of every sort, each with a point: ``PROGRAMS`` maps a name to (function, arguments)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

A = np.array


def straight(x, y):
    return np.exp(x * y) / (1 + np.sin(x) ** 2) - y


def broadcast(a, b, c):
    return np.mean((a * b + c) ** 2, axis=0) / np.sum(a)


def matrices(m, v):
    return np.linalg.solve(m @ m.T + np.eye(2), v) @ v


def branches(x, y):
    if x > y:
        z = x * y
    elif x > 0:
        z = y
    else:
        z = 3.0
    return z * x


def counted(x, n):
    h = x
    for k in range(n):
        h = np.tanh(h * x) + k
    return h


def broken_loop(x):
    total = 0.0
    for k in range(10):
        total = total + x * k
        if total > 4.0:
            break
    else:
        total = -x
    return total


def while_loop(x):
    while x < 10.0:
        x = x * x + 1.5
    return x


def early(x):
    for k in range(5):
        if x * k > 2.0:
            return x * k
    return x


def items(v):
    total = 1.0
    for item in v:
        total = total * item
    return total


def enumerated(v, w):
    total = 0.0
    for k, (p, q) in enumerate(zip(v, w)):
        total += p * q * k
    return total


def pair(a, b):
    return a * b, a + b


def containers(x):
    out = []
    for k in range(3):
        p, q = pair(x, k + 1.0)
        out.append(p * q)
    d = {"a": out[0], "b": out[1:]}
    d["c"] = x * x
    return d["a"] + d["b"][1] ** 2 + d["c"]


def comprehension(v):
    return sum([a * a for a in v if a > 0]) + max(v)


def closure(x):
    def inner(y):
        return y * x

    return inner(inner(2.0)) + (lambda z: z / x)(3.0)


def functions(x):
    total = 0.0
    for f in [np.sin, np.exp, lambda t: t * x]:
        total = total + f(x)
    return total


def power(x, n):
    return x * 0.5 if n == 0 else x * power(x, n - 1)


def filled(x):
    y = np.zeros(3)
    y[1] = x * x
    y[2:] = x
    y[1] += 3 * x
    y[2] *= y[1]
    y *= x
    y -= 1.0
    return y / x


def fill(y, i, v):
    y[i] = v


def filled_by_callee(x):
    y = np.zeros(3)
    fill(y, 1, x * x)
    fill(y, 2, x)
    y *= x
    return y


def mixed(x, w):
    y = np.empty(len(x))
    y[0] = w
    view = y[1:]
    for i in range(1, len(x)):
        if x[i] < -1.0:
            break
        y[i] = np.sin(y[i - 1]) * x[i]
    else:
        view *= w
    y[i:] = x[i:]
    return y * w


def row_view(a, x):
    b = a * 1.0
    row = b[1]
    row *= x
    b[0] = row + b[2]
    return b**2


def transposed(a, x):
    b = (a + 0.0).T
    b[0] = x
    c = b.reshape(-1)
    c[1] = 2 * x
    return b + a.T


def added_at(v, i):
    out = np.zeros(3)
    np.add.at(out, i, v * v)
    return out * v[0]


def swapped(v):
    a, b = v[0] * 1.0, v[1] * 2.0
    a, b = b, a
    return a - b * a


def stacked(x, y):
    return np.concatenate([np.stack([x, y]), np.outer(x, y)])


def indexed(v, i):
    return v[i] * v[::-1][i] + np.where(v[i] > 0, v[i], 2.0)


class Cell:
    def __init__(self, value):
        self.value = value

    def scaled(self, k):
        return self.value * k

    def grow(self, x):
        self.value = self.value + x


def objects(x):
    return CELL.scaled(x) * x


CELL = Cell(3.0)


def with_object(c, x):
    return c.scaled(x) * c.value


def object_changed(c, x):
    c.value = c.value * x
    c.grow(x)
    return c.value * x


class Point(NamedTuple):
    a: float
    b: float


@dataclass
class Record:
    a: float
    b: float


def records(x):
    p, r = Point(x, x * x), Record(x, b=2 * x)
    return p.a * p.b + r.a * r.b


def tuples(t):
    (a, b), c = t
    return {"s": a * b, "t": [c, a]}


def starred(x, *rest, **options):
    return x * rest[0] + rest[1] ** 2 + options.get("k", 1.0)


def starred_call(x, y):
    args = (x, y, x * y)
    return starred(*args, k=x)


def complex_numbers(z):
    w = z * z + 1j * z
    return np.abs(w) ** 2 + np.real(w)


def complex_parts(x, y):
    z = x + 1j * y
    return (z**3).imag


def popped(x):
    stack = [x, 2 * x, x * x]
    total = 0.0
    while stack:
        total = total * x + stack.pop()
    return total


def constant_result(x):
    return 4.0


def one_of_two(x, y):
    return np.round(x) * y


def reduced(m):
    return np.linalg.det(m) * np.trace(m) + np.prod(m) + np.max(m) - np.linalg.norm(m)


RNG = np.random.default_rng(7)
PROGRAMS = {
    "straight": (straight, (0.3, 1.2)),
    "broadcast": (broadcast, (RNG.normal(size=(3, 2)), RNG.normal(size=2), 0.7)),
    "matrices": (matrices, (RNG.normal(size=(2, 2)), RNG.normal(size=2))),
    "branches first": (branches, (1.3, 0.2)),
    "branches second": (branches, (0.3, 0.8)),
    "branches last": (branches, (-0.3, 0.8)),
    "counted": (counted, (0.4, 4)),
    "counted, no iteration": (counted, (0.4, 0)),
    "broken loop": (broken_loop, (0.9,)),
    "loop to its end": (broken_loop, (0.05,)),
    "while": (while_loop, (0.3,)),
    "early": (early, (0.9,)),
    "items": (items, (A([0.5, 2.0, -1.5]),)),
    "enumerated": (enumerated, (A([0.5, 2.0]), A([1.5, -1.0]))),
    "containers": (containers, (0.7,)),
    "comprehension": (comprehension, (A([0.5, -2.0, 1.5]),)),
    "closure": (closure, (0.8,)),
    "functions": (functions, (0.4,)),
    "recursion": (power, (1.1, 3)),
    "filled": (filled, (0.6,)),
    "filled by callee": (filled_by_callee, (0.6,)),
    "mixed to the end": (mixed, (A([0.5, 1.2, 0.3, 0.7]), 1.4)),
    "mixed, left early": (mixed, (A([0.5, 1.2, -2.0, 0.7]), 1.4)),
    "row view": (row_view, (RNG.normal(size=(3, 2)), 0.8)),
    "transposed": (transposed, (RNG.normal(size=(2, 3)), 0.8)),
    "added at": (added_at, (A([0.5, 1.2, 0.3]), A([0, 2, 2]))),
    "swapped": (swapped, (A([0.5, 1.2]),)),
    "stacked": (stacked, (A([0.5, 1.2]), A([0.1, 2.2]))),
    "indexed": (indexed, (A([0.5, -1.2, 0.7]), A([2, 1]))),
    "object of the module": (objects, (0.7,)),
    "records": (records, (0.7,)),
    "tuples": (tuples, (((0.5, 1.5), A([1.0, 2.0])),)),
    "starred": (starred_call, (0.7, 0.3)),
    "complex numbers": (complex_numbers, (0.3 + 0.7j,)),
    "complex parts": (complex_parts, (0.3, 0.7)),
    "popped": (popped, (0.7,)),
    "constant result": (constant_result, (0.7,)),
    "one of two": (one_of_two, (1.7, 0.2)),
    "reduced": (reduced, (RNG.normal(size=(2, 2)) + 2 * np.eye(2),)),
}
