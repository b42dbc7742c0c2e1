"""Arguments are bound as Python binds them, by code that builds no signatures."""

from __future__ import annotations

import inspect
import itertools

import pytest

from thunkad.compiled.binding import bind, shape_of


def f0():
    return locals()


def f1(a):
    return locals()


def f2(a, b=2):
    return locals()


def f3(a, b=2, *, c):
    return locals()


def f4(a, /, b, *, c=3, d):
    return locals()


def f5(a, b=2, /):
    return locals()


def f6(*args):
    return locals()


def f7(a, *args, b=1):
    return locals()


def f8(**kwargs):
    return locals()


def f9(a, b=2, *args, c=3, **kwargs):
    return locals()


def f10(a, /, b=2, **kwargs):
    return locals()


FUNCTIONS = [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10]
KEYWORDS = [{}, *({k: k.upper()} for k in "abcd"), {"a": 1, "b": 2}, {"b": 1, "c": 2}, {"c": 1, "d": 2}, {"a": 1, "z": 2}]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python_does_it(f):
    for count, kwargs in itertools.product(range(5), KEYWORDS):
        args = tuple(range(10, 10 + count))
        try:
            expected = f(*args, **kwargs)
        except TypeError:
            with pytest.raises(TypeError, match=rf"{f.__name__}\(\)"):
                bind(f, args, kwargs)
            continue
        assert dict(zip(shape_of(f).names, bind(f, args, dict(kwargs)))) == expected, (args, kwargs)
        assert shape_of(f).names == tuple(inspect.signature(f).parameters)


def test_defaults_are_those_of_now():
    def f(a, b=1, *, c=2): ...

    assert bind(f, (0,), {}) == (0, 1, 2)
    f.__defaults__, f.__kwdefaults__ = (10, 20), {"c": 30}
    assert bind(f, (), {}) == (10, 20, 30)
    f.__defaults__, f.__kwdefaults__ = None, None
    with pytest.raises(TypeError):
        bind(f, (0,), {"b": 1})
