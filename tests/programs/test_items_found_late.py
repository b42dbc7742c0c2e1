"""Items and attributes of the user's objects where the class is only known when the code runs: followed or refused."""

from __future__ import annotations

import numpy as np
import pytest

import thunkad as ad


class Items:
    """Computes its items by code of its own."""

    def __init__(self, a):
        self.d, self.w = {"w": a, 0: a}, 1.0

    def __getitem__(self, key):
        return self.d[key] * 3.0

    def __setitem__(self, key, value):
        self.d[key] = value * 5.0


class Attributes:
    def __init__(self, a):
        self.a = a

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return 10.0 * found if name == "a" else found


late = [Items, Attributes, lambda x: [x, x]]


def read_by_name(x):
    return late[0](x)["w"]


def read_by_number(x):
    return late[0](x)[0]


def stored_by_name(x):
    q = late[0](x)
    q["w"] = 2.0 * x
    return q.d["w"]


def stored_by_number(x):
    q = late[0](x)
    q[0] = 2.0 * x
    return q.d[0]


def updated(x):
    q = late[0](x)
    q["w"] += 2.0 * x
    return q.d["w"]


def attribute(x):
    return late[1](x).a


@pytest.mark.parametrize(
    "f", [read_by_name, read_by_number, stored_by_name, stored_by_number, updated], ids=lambda f: f.__name__
)
def test_items_are_followed(f):
    def times(x):
        return f(x) * x

    slope = f(3.0) - f(2.0)  # all are linear
    np.testing.assert_allclose(ad.grad(f)(2.0), slope)
    np.testing.assert_allclose(ad.jvp(f, (2.0,), (1.0,))[1], slope)
    np.testing.assert_allclose(ad.hvp(times, (2.0,), (1.0,)), 2.0 * slope)


def test_attributes_that_code_computes_are_refused():
    with pytest.raises(ad.UnsupportedSyntaxError):
        ad.grad(attribute)(2.0)
    try:
        found = ad.jvp(attribute, (2.0,), (1.0,))[1]
    except ad.UnsupportedSyntaxError:
        return
    np.testing.assert_allclose(found, attribute(3.0) - attribute(2.0))


def test_containers_are_followed():
    def f(x):
        q = late[2](x)
        q[0] = 3.0 * q[1] * x
        return q[0] * q[1]

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == 36.0
    assert ad.hvp(f, (2.0,), (1.0,)) == 36.0


def test_attributes_of_what_has_items_too():
    def f(x):
        q = late[0](x)
        q.w = x * x
        return q.w * q.d["w"]

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == 12.0


def test_the_class_known_by_name():
    def f(x):
        q = Items(x)
        q["w"] = 2.0 * x
        return q["w"] * q[0]

    assert ad.grad(f)(2.0) == ad.jvp(f, (2.0,), (1.0,))[1] == 360.0
