"""Members of classes that are replaced, added and taken away: what was resolved in a class is a dependence like any."""

from __future__ import annotations

import contextlib
import types

import numpy as np
import pytest
from scenarios import quiet

import thunkad as ad
from thunkad.compiled.root import root_of


def classes():
    """A class, and one derived from it."""

    class Base:
        scale = 2.0

        def __init__(self, a):
            self.a = a

        @property
        def scaled(self):
            return self.a * self.scale

        def __call__(self, x):
            return self.a * x

        def __mul__(self, other):
            return self.a * 2.0

        def __rmul__(self, other):
            return self.a * 2.0

        def __neg__(self):
            return self.a * 2.0

        def __getitem__(self, i):
            return self.a * 2.0

        def __setitem__(self, i, value):
            self.a = value

        def __iadd__(self, other):
            self.a = self.a * 2.0
            return self

        def __iter__(self):
            return iter([self.a, self.a])

        def __len__(self):
            return 3

        def __contains__(self, other):
            return True

        def __lt__(self, other):
            return True

        def __eq__(self, other):
            return True

        def __bool__(self):
            return True

        def __abs__(self):
            return self.a * 2.0

        def __enter__(self):
            return self.a * 2.0

        def __exit__(self, *error):
            return False

        def up(self):
            return self.a * 2.0

        @classmethod
        def of_class(cls, x):
            return x * 2.0

        @staticmethod
        def static(x):
            return x * 2.0

    class Derived(Base):
        def up(self):
            return super().up() * 2.0

        @property
        def scaled(self):
            return super().scaled * 2.0

    return Base, Derived


def entered(q, x):
    with q as e:
        return e


def iterated(q, x):
    total = 0.0
    for item in q:
        total = total + item
    return total


def updated(q, x):
    q += 1.0
    return q.a


def stored(q, x):
    q[0] = 2.0 * x
    return q.a


def extended(q, x):
    q.extra = 3.0 * x
    return q.extra


def _tenfold_read(q, name):
    found = object.__getattribute__(q, name)
    return 10.0 * found if name == "a" else found


CASES = {
    "scaled": (lambda q, x: q.scaled, property(lambda q: q.a * 10.0)),
    "scale": (lambda q, x: q.scaled, 20.0),
    "__call__": (lambda q, x: q(1.0), lambda q, x: q.a * 10.0),
    "__mul__": (lambda q, x: q * 1.0, lambda q, other: q.a * 10.0),
    "__rmul__": (lambda q, x: 1.0 * q, lambda q, other: q.a * 10.0),
    "__neg__": (lambda q, x: -q, lambda q: q.a * 10.0),
    "__getitem__": (lambda q, x: q[0], lambda q, i: q.a * 10.0),
    "__setitem__": (stored, lambda q, i, value: setattr(q, "a", 5.0 * value)),
    "__iadd__": (updated, lambda q, other: type(q)(q.a * 10.0)),
    "__iter__": (iterated, lambda q: iter([q.a] * 10)),
    "__len__": (lambda q, x: len(q) * x, lambda q: 10),
    "__contains__": (lambda q, x: x * 2.0 if 1.0 in q else x * 10.0, lambda q, other: False),
    "__lt__": (lambda q, x: x * 2.0 if q < 1.0 else x * 10.0, lambda q, other: False),
    "__eq__": (lambda q, x: x * 2.0 if q == 1.0 else x * 10.0, lambda q, other: False),
    "__bool__": (lambda q, x: x * 2.0 if q else x * 10.0, lambda q: False),
    "__abs__": (lambda q, x: abs(q), lambda q: q.a * 10.0),
    "__enter__": (entered, lambda q: q.a * 10.0),
    "up": (lambda q, x: q.up(), lambda q: q.a * 10.0),
    "of_class": (lambda q, x: q.of_class(x), classmethod(lambda cls, x: x * 10.0)),
    "static": (lambda q, x: q.static(x), staticmethod(lambda x: x * 10.0)),
    "__init__": (lambda q, x: q.a, lambda q, a: setattr(q, "a", a * 10.0)),
    "__getattribute__": (lambda q, x: q.a, _tenfold_read),
    "__setattr__": (extended, lambda q, name, value: object.__setattr__(q, name, value * 10.0)),
    "extra": (extended, property(lambda q: q.a * 10.0, lambda q, value: None)),
    "a": (lambda q, x: q.a, property(lambda q: q.b * 10.0, lambda q, value: setattr(q, "b", value))),
}


@pytest.mark.parametrize("known", [True, False], ids=["known", "late"])
@pytest.mark.parametrize("where", ["itself", "base", "derived"])
@pytest.mark.parametrize("name", CASES)
def test_a_member_that_is_replaced(name, where, known):
    base, derived = classes()
    cls = base if where == "itself" else derived
    changed = derived if where == "derived" else base
    used, member = CASES[name]
    table = [cls, None]

    def f(x):
        return used((cls if known else table[0])(x), x)

    gradient = ad.grad(f)
    refused = contextlib.suppress(ad.UnsupportedSyntaxError, ad.NoRuleError)  # what is not supported says so: nothing stale comes out
    with refused:
        np.testing.assert_allclose(gradient(2.0), slope(f))
    setattr(changed, name, member)
    for _ in range(2):
        with quiet(), refused:
            np.testing.assert_allclose(gradient(2.0), slope(f), err_msg=name)
    assert root_of(f).rebuilds <= 1


def slope(f, x=2.0, h=1e-3):
    """The derivative, exact for polynomials of low degree."""
    return (f(x + h) - f(x - h)) / (2 * h)


DECIDED_LATE = ("__bool__",)


def test_what_is_supported_is_followed_with_one_rebuild():
    for name, (used, member) in CASES.items():
        if name in ("__getattribute__", "__setattr__", "scale"):
            continue  # refused; and data, which is read live
        cls, _ = classes()

        def f(x):
            return used(cls(x), x)

        gradient = ad.grad(f)
        gradient(2.0)
        setattr(cls, name, member)
        np.testing.assert_allclose(gradient(2.0), slope(f), err_msg=name)
        assert root_of(f).rebuilds == (name not in DECIDED_LATE), name


def test_members_that_come_and_go():
    class Base:
        def m(self, x):
            return x * 2.0

    class Derived(Base):
        pass

    def f(x, q):
        return q.m(x)

    gradient, q = ad.grad(f), Derived()
    assert gradient(2.0, q) == 2.0
    Derived.m = lambda self, x: x * 3.0
    assert gradient(2.0, q) == 3.0
    del Derived.m
    assert gradient(2.0, q) == 2.0
    Derived.__bases__ = (type("Other", (), {"m": lambda self, x: x * 5.0}),)
    assert gradient(2.0, q) == 5.0
    q.m = lambda x: x * 7.0
    assert gradient(2.0, q) == 7.0


def test_other_members_and_data_rebuild_nothing():
    cls, _ = classes()
    cls.offset = 1.0

    def f(x):
        q = cls(x)
        return q.scaled * q.offset + q.up()

    gradient = ad.grad(f)
    assert gradient(2.0) == 4.0
    cls.unrelated = lambda self: 1.0
    cls.__doc__ = "another text"
    assert gradient(2.0) == 4.0
    cls.scale, cls.offset = 3.0, 2.0
    assert gradient(2.0) == 8.0
    assert root_of(f).rebuilds == 0


def test_generator_functions_with_other_code():
    def g(x):
        yield x * 2.0
        yield x * 3.0

    def used_up(x):
        return sum(g(x))

    def kept(x):
        it = g(x)
        return next(it) * next(it)

    def inside(x):
        def inner():
            yield x * 2.0
            yield x * 3.0

        it = inner()
        return next(it) * next(it)

    def other(x):
        def inner():
            yield x * 20.0
            yield x * 30.0

        it = inner()
        return next(it) * next(it)

    @contextlib.contextmanager
    def scaled(x):
        yield x * 2.0

    def managed(x):
        with scaled(x) as y:
            return y

    gradients = [ad.grad(f) for f in (used_up, kept, inside, managed)]
    assert [gradient(2.0) for gradient in gradients] == [5.0, 24.0, 24.0, 2.0]
    g.__code__ = _tenfold.__code__
    scaled.__wrapped__.__code__ = _tenfold_once.__code__
    inside.__code__ = other.__code__
    assert [f(2.0) for f in (used_up, kept, inside, managed)] == [100.0, 2400.0, 2400.0, 20.0]
    assert [gradient(2.0) for gradient in gradients] == [50.0, 2400.0, 2400.0, 10.0]


def _tenfold(x):
    yield x * 20.0
    yield x * 30.0


def _tenfold_once(x):
    yield x * 10.0


def test_a_method_of_a_type_made_by_hand():
    q = types.SimpleNamespace(step=lambda x: 2.0 * x)

    def f(x):
        return q.step(x)

    gradient = ad.grad(f)
    assert gradient(2.0) == 2.0
    q.step = lambda x: 5.0 * x
    assert gradient(2.0) == 5.0
