"""Dicts with differentiated keys in functions that are found when the code runs, and items of dicts that are chosen."""

from __future__ import annotations

from typing import Any

import pytest

import thunkad as ad


class Node:
    def __init__(self, v: Any) -> None:
        self.v = v


def in_a_loop(d: Any) -> Any:
    t = 0.0
    for k, v in d.items():
        t = t + k * v
    return t


def in_a_sum(d: Any) -> Any:
    return sum(k * v for k, v in d.items())


def of_the_largest(d: Any) -> Any:
    m = max(d)
    return m * d[m]


def of_nodes(d: Any) -> Any:
    t = 0.0
    for k, v in d.items():
        t = t + k.v * v
    return t


def listed_nodes(d: Any) -> Any:
    out = []
    for k in d:
        out.append(k.v * d[k])
    return sum(out)


def numbers(x: Any) -> Any:
    return sum(f({x: 1.0, x * x: x}) for f in [in_a_sum, in_a_loop, of_the_largest])


def stored_numbers(x: Any) -> Any:
    d = {}
    d[x] = 1.0
    d[x * x] = x
    return [in_a_loop, in_a_sum][int(x > 1)](d)


def objects(x: Any) -> Any:
    d = {Node(x): 1.0, Node(x * x): x}
    d[Node(x)] = 2.0 * x
    return sum(f(d) for f in [listed_nodes, of_nodes])


def tuples(x: Any) -> Any:
    d = {tuple([x, x * x]): 2.0}
    d[tuple([3.0 * x, x])] = x
    return sum(k[0] * k[1] * w for k, w in d.items())


def chosen_items(x: Any) -> Any:
    d = dict([("a", x), ("b", 2 * x)])
    return max(d.items())[1] + min(d.items(), key=lambda item: item[1])[1] * x


@pytest.mark.parametrize("f", [numbers, stored_numbers, objects, tuples, chosen_items], ids=lambda f: f.__name__)
def test_derivatives(f: Any) -> None:
    h = 1e-6
    wanted = pytest.approx((f(1.3 + h) - f(1.3 - h)) / (2 * h), rel=1e-8)
    assert ad.grad(f)(1.3) == wanted
    if f is objects:
        with pytest.raises(ad.ThunkadError, match="key of a dict"):
            ad.jvp(f, (1.3,), (1.0,))
    else:
        assert ad.jvp(f, (1.3,), (1.0,))[1] == wanted
        assert ad.linearize(f, 1.3)[1](1.0) == wanted
