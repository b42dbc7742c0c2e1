"""Checkpointed loops: the gradient of the plain loop to the last bit, with few states held at a time."""

from __future__ import annotations

import inspect
import math
import textwrap
import weakref

import numpy as np
import pytest

import thunkad as ad

X, W = np.array([0.3, 0.5]), np.array([0.7, -0.2])
XS = np.random.default_rng(2).normal(size=(11, 2))


def recurrence(x, w):
    h = x
    for k in ad.checkpointed(range(11)):
        h = np.tanh(w * h + k * 0.1) + h * w
    return np.sum(h * w)


def two_states_and_the_last_item(x, w):
    a, b = x, w
    for k in ad.checkpointed(range(1, 8)):
        a, b = b * np.sin(a), a + w * k
    return np.sum(a) * np.sum(b) * k


def over_an_array(x, w):
    h = w
    for row in ad.checkpointed(x):
        h = np.sin(h * row) + w
    return np.sum(h)


def over_pairs(x, w):
    h = w
    for k, row in ad.checkpointed(enumerate(x)):
        h = np.cos(h + row * k) * w
    return np.sum(h)


def with_a_break(x, w):
    h, steps = x, 0
    for k in ad.checkpointed(range(50)):
        h = h * w + 0.1
        steps = k
        if np.sum(h * h) < 0.02 and k > 3:
            break
    return np.sum(h) * steps


def with_a_branch(x, w):
    h = x
    for k in ad.checkpointed(range(9)):
        if h[0] > 0.3:
            h = h * w
        else:
            h = np.exp(h) + k
    return np.sum(h)


def nested(x, w):
    h = x
    for k in ad.checkpointed(range(5)):
        for j in ad.checkpointed(range(4)):
            h = np.tanh(h * w + j * k)
        h = h + x
    return np.sum(h)


def two_loops(x, w):
    h = x
    for _ in ad.checkpointed(range(5)):
        h = np.tanh(h * w)
    g = h
    for _ in ad.checkpointed(range(3)):
        g = g * w + h
    return np.sum(g * w * h)


def of_its_own_length(x, w):
    h = x
    for k in ad.checkpointed(range(11), every=4):
        h = np.tanh(w * h + k)
    return np.sum(h)


def none_at_all(x, w):
    h = x
    for k in ad.checkpointed(range(0)):
        h = h * w
    return np.sum(h * w)


def in_an_arm(x, w):
    h = x
    if x[0] < 10:
        for k in ad.checkpointed(range(6)):
            h = h * w + np.sin(h)
        h = h * w
    return np.sum(h)


def with_a_callee(x, w):
    def step(h, k):
        return np.sin(h * w) + k

    h = x
    for k in ad.checkpointed(range(6)):
        h = step(h, k)
    return np.sum(h)


PROGRAMS = {
    f.__name__: (f, (x, W))
    for f, x in [
        *((f, X) for f in (recurrence, two_states_and_the_last_item, with_a_break, with_a_branch, nested, two_loops)),
        *((f, X) for f in (of_its_own_length, none_at_all, in_an_arm, with_a_callee)),
        (over_an_array, XS),
        (over_pairs, XS),
    ]
}


def plain(f, tmp_path):
    """The same function without the marks."""
    text = textwrap.dedent(inspect.getsource(f)).replace("ad.checkpointed(", "unmarked(")
    path = tmp_path / "plain_loop.py"
    path.write_text(f"import numpy as np\n\n\ndef unmarked(xs, every=None):\n    return xs\n\n\n{text}")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    namespace[f.__name__].__globals__["unmarked"] = _identity
    return namespace[f.__name__]


def _identity(xs, every=None):
    return xs


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_the_same_to_the_last_bit(name: str, tmp_path) -> None:
    f, args = PROGRAMS[name]
    g = plain(f, tmp_path)
    (value, found), (same, want) = (ad.value_and_grad(h, (0, 1))(*args) for h in (f, g))
    assert value == same == f(*args)
    for a, b in zip(found, want):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_other_modes(name: str, tmp_path) -> None:
    f, args = PROGRAMS[name]
    g = plain(f, tmp_path)
    dots = tuple(np.cos(a) for a in args)
    want = ad.jvp(g, args, dots)
    np.testing.assert_allclose(ad.jvp(f, args, dots), want, rtol=1e-14)
    np.testing.assert_allclose(ad.linearize(f, *args)[1](*dots), want[1], rtol=1e-13)
    np.testing.assert_allclose(ad.hvp(f, args, dots)[1], ad.hvp(g, args, dots)[1], rtol=1e-11, atol=1e-13)


class Count:
    """How many of the arrays that were noted are alive, and how often something was noted."""

    def __init__(self) -> None:
        self.alive = self.most = self.calls = 0

    def note(self, h) -> None:
        self.calls += 1
        self.alive += 1
        self.most = max(self.most, self.alive)
        weakref.finalize(h, self.gone)

    def gone(self) -> None:
        self.alive -= 1


count = Count()


def note(h) -> None:
    count.note(h)


ad.non_differentiable(note)


def long_loop(x, n):
    h = x
    for k in ad.checkpointed(range(n)):
        h = h + 0.001 * np.sin(h + k)
        note(h)
    return np.sum(h)


def long_plain_loop(x, n):
    h = x
    for k in range(n):
        h = h + 0.001 * np.sin(h + k)
        note(h)
    return np.sum(h)


@pytest.mark.parametrize("n", [1, 2, 100, 1000, 10_000])
def test_states_held_at_a_time(n: int) -> None:
    count.__init__()
    found = ad.grad(long_loop)(X, n)
    assert count.most <= 2 * math.ceil(math.sqrt(n))
    assert count.calls == 2 * n  # what it costs: each step is run twice
    count.__init__()
    assert np.array_equal(found, ad.grad(long_plain_loop)(X, n))
    assert count.most >= n


def test_outside_of_derivatives_it_is_a_plain_loop() -> None:
    assert list(ad.checkpointed(x * x for x in range(4))) == [0, 1, 4, 9]
    assert ad.checkpointed(range(3)) == range(3)


def test_random_numbers_are_refused() -> None:
    def f(x, rng):
        for _ in ad.checkpointed(range(3)):
            x = x * rng.normal()
        return x

    with pytest.raises(ad.UnsupportedSyntaxError, match="random"):
        ad.grad(f)(1.0, np.random.default_rng(1))


def test_an_array_from_outside_that_is_changed_is_refused() -> None:
    def f(x):
        y = x * 1.0
        for k in ad.checkpointed(range(2)):
            y[k] = y[k] * y[k + 1]
        return np.sum(y)

    with pytest.raises(ad.UnsupportedSyntaxError, match="changes its arguments"):
        ad.grad(f)(np.ones(3))
