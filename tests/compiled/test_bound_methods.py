"""Bound methods as values: their derivative is that of their owner."""

from __future__ import annotations

import math

import pytest

import thunkad as ad


class Model:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x**3


def by_name(x):
    m = Model(x).energy
    return m(x)


def in_a_list(x):
    total = 0.0
    for f in [Model(x).energy]:
        total = total + f(x)
    return total


def of_an_argument(model, x):
    f = model.energy
    return f(x)


@pytest.mark.parametrize("f", [by_name, in_a_list])
def test_the_owner_gets_its_share(f) -> None:
    assert math.isclose(ad.grad(f)(0.9), 4 * 0.9**3)
    assert math.isclose(ad.jvp(f, (0.9,), (1.0,))[1], 4 * 0.9**3)


def test_an_argument_as_owner() -> None:
    bar = ad.grad(of_an_argument)(Model(2.0), 3.0)
    assert bar.k == 27.0
