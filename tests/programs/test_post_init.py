"""Dataclasses and classes derived from them without the decorator: whether ``__post_init__`` runs was decided before."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import thunkad as ad


@dataclasses.dataclass
class Plain:
    a: float
    b: float = 5.0


@dataclasses.dataclass
class Tripled:
    a: float

    def __post_init__(self):
        self.a = self.a * 3.0


class NeverCalled(Plain):
    def __post_init__(self):
        self.a = self.a * 3.0


class Inherited(Tripled):
    pass


class Replaced(Tripled):
    def __post_init__(self):
        self.a = self.a * 4.0


CLASSES = [Plain, Tripled, NeverCalled, Inherited, Replaced]


@pytest.mark.parametrize("late", [False, True], ids=["known", "late"])
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_objects_are_made_as_python_makes_them(cls, late):
    table = [cls, None]

    def made(x):
        p = (table[0] if late else cls)(x)
        return p.a * p.a

    def again(x):
        p = dataclasses.replace((table[0] if late else cls)(x))
        return p.a * p.a

    for f in (made, again):
        slope = f(2.0)  # of a square at 2
        np.testing.assert_allclose(ad.grad(f)(2.0), slope)
        np.testing.assert_allclose(ad.jvp(f, (2.0,), (1.0,))[1], slope)
    np.testing.assert_allclose(ad.hvp(made, (2.0,), (1.0,)), made(2.0) / 2.0)


def test_what_is_put_in_afterwards_is_not_called():
    @dataclasses.dataclass
    class Late:
        a: float

    def f(x):
        p = Late(x)
        return p.a * p.a

    gradient = ad.grad(f)
    assert gradient(2.0) == 4.0
    Late.__post_init__ = Tripled.__post_init__
    assert gradient(2.0) == 4.0
    Late.__init__ = Tripled.__init__
    assert f(2.0) == 36.0 and gradient(2.0) == 36.0
