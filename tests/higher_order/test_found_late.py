"""Derivatives of order two to four through calls that are decided when the code runs, against differences.

Each order is compared with differences of the one before, the first with those of the function itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import thunkad as ad


def cubes(a: np.ndarray) -> float:
    return np.sum(a * a * a)


def sines(a: np.ndarray) -> float:
    return np.sum(np.sin(a))


def bump(a: np.ndarray) -> float:
    a[0] = a[0] * a[1]
    return a[0] ** 2


class Box:
    def __init__(self, v: float) -> None:
        self.v = v

    def add(self, y: float) -> float:
        self.v = self.v + y * self.v
        return self.v * y

    def __call__(self, y: float) -> float:
        return self.v * y**3

    def __iadd__(self, y: float) -> Box:
        self.v = self.v * y
        return self


@dataclasses.dataclass
class Pair:
    u: float
    v: float = 1.0


def squares(x: float) -> Iterator[float]:
    for k in range(3):
        x = x * x + k
        yield x


def total(ys: Iterator[float]) -> float:
    t = 0.0
    for y in ys:
        t = t + y * np.sin(y)
    return t


def changed_after_the_call(x):
    """The pullback of ``h(b)`` must be taken at ``b`` as it was then."""
    a = np.array([0.3, 0.5, 0.7]) * x
    h = {"cubes": cubes, "sines": sines}["cubes"]
    b = a * 2.0
    r = h(b)
    b[0] = r
    b[1] = b[1] * b[0]
    return r * r + h(b)


def of_many_sorts(x):
    t = 0.0
    for g in [lambda y: x * y**3, np.sin, Box(x)]:
        t = t + g(x * x) * x
    return t


def methods_that_change(x):
    t = 0.0
    for b in [Box(x), Box(x * x)]:
        t = t + b.add(x) * b.v
    return t


def functions_that_change(x):
    a = np.array([x, x * x, 1.0])
    t = 0.0
    for g in [bump, bump]:
        t = t + g(a) * a[0]
    return t


def in_place(x):
    xs, boxes = [x, np.array([x, 2.0])], [Box(x)]
    for k in range(2):
        xs[k] *= x
        boxes[0] += x
    boxes[0].v **= 2
    return xs[0] * np.sum(xs[1] * xs[1]) * boxes[0].v


def dataclass_that_changes(x):
    p = Pair(x, x * x)
    p.u = p.u * p.v
    return p.u * p.v


def object_that_changes(x):
    b = Box(x)
    b.add(x)
    return b.add(x * x) * b.v


def pullback(x):
    y, back = ad.vjp(lambda z: np.sin(z * x) * z, x * x)
    return y * back(x)[0]


def defaults(x):
    made = [lambda y, k=x: y * k * k]
    return made[0](x) * x


def generators(x):
    return total(squares(x)) + sum(map(lambda v: v**3, squares(x)))


def pulled_down(x):
    """What ``next`` raises is caught; the generator has changed by then."""
    g = squares(x)
    t = 1.0
    while True:
        try:
            t = t * next(g)
        except StopIteration:
            return t * x


ORDERS = {
    changed_after_the_call: 4, of_many_sorts: 3, methods_that_change: 3, functions_that_change: 4, in_place: 3,
    dataclass_that_changes: 3, object_that_changes: 3, pullback: 4, defaults: 3, generators: 3, pulled_down: 3,
}  # fmt: skip
CASES = [(f, n) for f, most in ORDERS.items() for n in range(1, most + 1)]


def slope(f: Callable[[float], float], x: float) -> float:
    h = 1e-3
    near, far = f(x + h) - f(x - h), f(x + 2 * h) - f(x - 2 * h)
    return (8 * near - far) / (12 * h)


@pytest.mark.parametrize(("f", "n"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_order(f: Callable[[float], float], n: int) -> None:
    before = f if n == 1 else ad.derivative(f, n - 1)
    assert ad.derivative(f, n)(0.8) == pytest.approx(slope(before, 0.8), rel=1e-6, abs=1e-6)


def test_a_pullback_keeps_the_arguments_that_it_was_called_with() -> None:
    a, d = np.array([0.3, 0.5, 0.7]), np.array([1.0, 0.2, -0.3])

    def f(a):
        b = a * 2.0
        r = {"cubes": cubes}["cubes"](b)
        b[:] = r
        return r * r + np.sum(b)

    r = np.sum((2 * a) ** 3)  # f is r² + 3 r
    want = 24 * a * (2 * r + 3)
    assert np.allclose(ad.grad(f)(a), 2 * a * a * 12 * (2 * r + 3))
    r_dot = np.sum(24 * a * a * d)
    assert np.allclose(ad.hvp(f, (a,), (d,)), 2 * want * d + 24 * a * a * 2 * r_dot)
