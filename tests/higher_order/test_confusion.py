"""Derivatives of every kind within one another, each over a variable of the ones around it: no perturbation confusion.

All functions are polynomials, so what each should give is known exactly.
"""

from __future__ import annotations

import math
import itertools
import linecache
from typing import Any

import pytest

import thunkad as ad

#: How each takes its derivative (or value) of the function ``{f}`` at ``{at}``, and how often it differentiates.
KINDS = {
    "grad": ("ad.grad({f})({at})", 1),
    "value_and_grad": ("ad.value_and_grad({f})({at})[1]", 1),
    "vjp": ("ad.vjp({f}, {at})[1](1.0)[0]", 1),
    "jvp": ("ad.jvp({f}, ({at},), (1.0,))[1]", 1),
    "jacobian": ("ad.jacobian({f})({at})", 1),
    "hessian": ("ad.hessian({f})({at})", 2),
    "linearize": ("ad.linearize({f}, {at})[1](1.0)", 1),
    "checkpoint": ("ad.checkpoint({f})({at})", 0),
}
POINT = 0.7


class Poly:
    """A polynomial of x, y and z: coefficients by exponents."""

    def __init__(self, terms: dict[tuple[int, ...], float]) -> None:
        self.terms = terms

    def __add__(self, other: Poly) -> Poly:
        keys = {*self.terms, *other.terms}
        return Poly({k: self.terms.get(k, 0.0) + other.terms.get(k, 0.0) for k in keys})

    def __mul__(self, other: Poly) -> Poly:
        out = Poly({})
        for a, v in self.terms.items():
            out += Poly({tuple(map(sum, zip(a, b))): v * w for b, w in other.terms.items()})
        return out

    def __pow__(self, n: int) -> Poly:
        out = Poly({(0, 0, 0): 1.0})
        for _ in range(n):
            out = out * self
        return out

    def derivative(self, place: int, n: int) -> Poly:
        if n == 0:
            return self
        terms = {}
        for k, v in self.terms.items():
            if k[place]:
                terms[(*k[:place], k[place] - 1, *k[place + 1 :])] = v * k[place]
        return Poly(terms).derivative(place, n - 1)

    def at(self, place: int, value: Poly) -> Poly:
        out = Poly({})
        for k, v in self.terms.items():
            out += Poly({(*k[:place], 0, *k[place + 1 :]): v}) * value ** k[place]
        return out


ONE, X, Y, Z = (Poly({k: 1.0}) for k in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))

TWO = """
def f(x):
    def g(y):
        return x * y**3 + x**2 * y
    return {inner} * x
"""
THREE = """
def f(x):
    def g(y):
        def h(z):
            return x * y * z**3 + x**2 * y**3 * z**2 + x * z
        return {inner} * x * y**2
    return {middle} * x
"""


def wanted(kind: str, e: Poly, place: int, at: Poly) -> Poly:
    return e.derivative(place, KINDS[kind][1]).at(place, at)


def taken(kind: str, f: str, at: str) -> str:
    return KINDS[kind][0].format(f=f, at=at)


def run(text: str, outer: str) -> float:
    filename = f"<confusion {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"ad": ad, "__name__": "confusion"}
    exec(compile(text, filename, "exec"), space)
    return float(eval(taken(outer, "f", str(POINT)), space))


def check(text: str, outer: str, e: Poly) -> None:
    want = sum(wanted(outer, e, 0, Poly({(0, 0, 0): POINT})).terms.values())
    assert run(text, outer) == pytest.approx(want, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(KINDS, KINDS)))
def test_two(outer: str, inner: str) -> None:
    e = wanted(inner, X * Y**3 + X**2 * Y, 1, X + ONE) * X
    check(TWO.format(inner=taken(inner, "g", "x + 1")), outer, e)


@pytest.mark.parametrize(
    ("outer", "middle", "inner"), list(itertools.product(("grad", "jvp"), KINDS, ("grad", "vjp", "jvp", "checkpoint")))
)
def test_three(outer: str, middle: str, inner: str) -> None:
    e = wanted(inner, X * Y * Z**3 + X**2 * Y**3 * Z**2 + X * Z, 2, X * Y) * X * Y**2
    e = wanted(middle, e, 1, X + ONE) * X
    text = THREE.format(inner=taken(inner, "h", "y * x"), middle=taken(middle, "g", "x + 1"))
    check(text, outer, e)


def test_a_derivative_of_what_a_function_of_functions_makes() -> None:
    def moved_twice(x):
        def moved(h):
            return lambda y: h(y + x)

        def slope(f):
            return ad.derivative(f)

        return slope(lambda t: (lambda g: g(lambda z: z**3)(t))(moved))(1.0)

    assert math.isclose(ad.grad(moved_twice)(2.0), 18.0)  # 3 (x + 1)² inside
    assert math.isclose(ad.derivative(moved_twice, 2)(2.0), 6.0)
    assert math.isclose(ad.jvp(moved_twice, (2.0,), (1.0,))[1], 18.0)
