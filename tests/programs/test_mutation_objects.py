"""Gradients with respect to objects that are changed on the way: a Tangent with fields, a dataclass in its own
class."""

import dataclasses

import numpy as np
import pytest
import thunkad as ad

STEP = 1e-6


class Box:
    def __init__(self, v, w):
        self.v = v
        self.w = w

    def grow(self, k):
        self.v = self.v * k
        self.w[0] *= self.v
        return self


class Slots:
    __slots__ = ("v", "w")

    def __init__(self, v, w):
        self.v, self.w = v, w

    grow = Box.grow


class Young(Box):
    def grow(self, k):
        super().grow(k)
        self.v += self.w[1]
        return self


@dataclasses.dataclass
class Data:
    v: float
    w: np.ndarray

    grow = Box.grow


def written(b, s):
    b.grow(s).grow(2.0)
    b.w += b.v
    b.v = b.w[1] * b.v
    return b.v * np.sum(b.w)


def difference(f, cls, v, w, s, field, place=None):
    def at(step):
        a, b = v + step * (field == "v"), w.copy()
        if field == "w":
            b[place] += step
        return f(cls(a, b), s)

    return (at(STEP) - at(-STEP)) / (2 * STEP)


@pytest.mark.parametrize("cls", [Box, Slots, Young, Data])
def test_gradient_for_an_object(cls):
    v, w, s = 0.7, np.array([1.2, -0.4]), 1.3
    given = cls(v, w.copy())
    value, gradient = ad.value_and_grad(written)(given, s)
    plain = cls(v, w.copy())
    assert value == pytest.approx(written(plain, s))
    assert given.v == pytest.approx(plain.v) and np.allclose(given.w, plain.w)
    if cls is Data:
        assert type(gradient) is Data
        of_v, of_w = gradient.v, gradient.w
    else:
        assert isinstance(gradient, ad.Tangent)
        of_v, of_w = gradient["v"], gradient["w"]
    assert of_v == pytest.approx(difference(written, cls, v, w, s, "v"), rel=1e-6)
    expected = [difference(written, cls, v, w, s, "w", k) for k in range(2)]
    assert np.allclose(of_w, expected, rtol=1e-6)


@pytest.mark.parametrize("cls", [Box, Slots, Young, Data])
def test_gradient_beside_an_object(cls):
    v, w, s = 0.7, np.array([1.2, -0.4]), 1.3
    found = ad.grad(written, argnums=1)(cls(v, w.copy()), s)
    at = lambda step: written(cls(v, w.copy()), s + step)  # noqa: E731
    assert found == pytest.approx((at(STEP) - at(-STEP)) / (2 * STEP), rel=1e-6)


class Counter:
    def __init__(self):
        self.count = 0

    def tick(self):
        self.count += 1
        return self.count


def test_an_object_that_only_counts():
    def f(x, c):
        for _ in range(3):
            x = x * c.tick()
        return x

    counter = Counter()
    assert ad.grad(f)(2.0, counter) == pytest.approx(6.0)
    assert counter.count == 3


def test_a_field_that_changes_its_kind():
    def f(b):
        b.v = b.w * b.v
        return np.sum(b.v * b.v)

    gradient = ad.grad(f)(Box(0.5, np.array([1.0, 2.0])))
    assert gradient["v"] == pytest.approx(2 * 0.5 * 5.0)
    assert np.allclose(gradient["w"], 2 * 0.25 * np.array([1.0, 2.0]))


class Dense:
    def __init__(self, w):
        self.w = w
        self.out = None

    def __call__(self, x):
        self.out = np.tanh(self.w * x)
        return self.out


class Network:
    def __init__(self, *w):
        self.layers = [Dense(v) for v in w]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x + sum(layer.out for layer in self.layers)


def test_objects_in_a_list_that_can_be_called():
    w, x = np.array([0.4, 0.9]), 0.7
    found = ad.grad(lambda net: net(x))(Network(*w))
    expected = [(Network(*(w + d))(x) - Network(*(w - d))(x)) / (2 * STEP) for d in STEP * np.eye(2)]
    assert np.allclose([layer["w"] for layer in found["layers"]], expected)
