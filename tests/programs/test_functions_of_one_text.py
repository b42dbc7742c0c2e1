"""Functions that were made by the same lines, with functions inside that read what was captured there: none is taken
for another, though their text is one."""

from __future__ import annotations

import types

import numpy as np
import pytest

import thunkad as ad


def in_a_list(k):
    def outer(x):
        def inner(y):
            return k * y * y

        return [inner, None][0](x)

    return outer


def in_a_loop(k):
    def outer(x):
        for f in [lambda y: k * y * y]:
            x = f(x)
        return x

    return outer


def mapped(k):
    def outer(x):
        return sum(map(lambda y: k * y * y, [x, x]))

    return outer


def called(k):
    def outer(x):
        def inner(y):
            return k * y * y

        return inner(x)

    return outer


def differentiated(k):
    def outer(x):
        def inner(y):
            return k * y * y * y

        return ad.grad(inner)(x)

    return outer


def differentiated_late(k):
    def outer(x):
        return [ad.grad(lambda y: k * y * y * y)][0](x)

    return outer


def nested_twice(k):
    def outer(x):
        def middle(y):
            return [lambda z: k * z * z, None][0](y)

        return [middle, None][0](x)

    return outer


def made_by_a_rule(k):
    def outer(x):
        return k * x * x

    @ad.rrule(outer)
    def rule(x):
        for _ in range(1):
            y = outer(x)
        return y, lambda y_bar: (y_bar * 2.0 * k * x,)

    @ad.frule(outer)
    def forward(x, *, x_dot):
        return outer(x), x_dot * 2.0 * k * x

    return outer


MAKERS = [in_a_list, in_a_loop, mapped, called, differentiated, differentiated_late, nested_twice, made_by_a_rule]


@pytest.mark.parametrize("late", [False, True], ids=["known", "late"])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_each_has_its_own_variables(make, late):
    a, b = make(2.0), make(3.0)
    table = [a, b, None]

    def f(x):
        if late:
            return table[0](x) + 10.0 * table[1](x)
        return a(x) + 10.0 * b(x)

    check(f)


def test_functions_of_one_code_in_two_modules():
    text = "def outer(x):\n    return [lambda y: k * y * y, None][0](x)\n"
    code = compile(text, "<one text>", "exec")
    import linecache

    linecache.cache["<one text>"] = (len(text), None, text.splitlines(True), "<one text>")
    modules = types.SimpleNamespace(k=2.0), types.SimpleNamespace(k=3.0)
    for module in modules:
        exec(code, vars(module))
    a, b = (module.outer for module in modules)
    again = types.FunctionType(a.__code__, vars(modules[1]))

    def f(x):
        return a(x) + 10.0 * b(x) + 100.0 * again(x)

    check(f)


def check(f):
    """Derivatives of a quadratic function, for which differences are exact."""
    h = 0.5
    first = (f(1.0 + h) - f(1.0 - h)) / (2 * h)
    second = (f(1.0 + h) - 2.0 * f(1.0) + f(1.0 - h)) / h**2
    for found in (ad.grad(f)(1.0), ad.jvp(f, (1.0,), (1.0,))[1], ad.linearize(f, 1.0)[1](1.0)):
        np.testing.assert_allclose(found, first)
    for found in (ad.grad(ad.grad(f))(1.0), ad.hvp(f, (1.0,), (1.0,)), ad.hessian(f)(1.0)):
        np.testing.assert_allclose(found, second)
