"""Code that is run again for its derivative must do the same again: random numbers are refused."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

import thunkad as ad

X = np.array([1.0, 2.0, 3.0])
DRAWERS = {"a": np.random.rand}
GENERATORS = [np.random.default_rng(0)]


def noise() -> float:
    return np.random.standard_normal()


def noisy(y):
    return np.sum(y**2) * np.random.rand()


class Noise:
    def __call__(self, y):
        return np.sum(y * np.random.uniform(0, 1))


def with_list(y):
    drawers = [lambda: np.random.rand()]
    return np.sum(y * drawers[0]())


def shuffled(y):
    z = np.arange(3.0)
    np.random.shuffle(z)
    return np.sum(y * z)


RANDOM = {
    "numpy": noisy,
    "python": lambda y: np.sum(y * random.gauss(0, 1)),
    "by parameters": lambda y: np.sum(y * np.random.normal(size=3)),
    "in a callee": lambda y: np.sum(y * noise()),
    "object": Noise(),
    "partial": functools.partial(noisy),
    "shuffle": shuffled,
    "comprehension": lambda y: np.sum(y * np.array([np.random.rand() for _ in range(3)])),
    "unseeded": lambda y: np.sum(y * np.random.default_rng().random()),
    "found at run time": lambda y: np.sum(y * DRAWERS["a"]()),
    "made inside": with_list,
    "passed on": lambda y: np.sum(y * sum(map(lambda k: random.random(), range(3)))),
    "a generator of which nothing is known": lambda y: np.sum(y * GENERATORS[0].random()),
}


@pytest.mark.parametrize("name", RANDOM)
def test_checkpoints_of_random_numbers_are_refused(name: str) -> None:
    again = ad.checkpoint(RANDOM[name]) if not isinstance(RANDOM[name], Noise) else ad.checkpoint(lambda y: Noise()(y))
    with pytest.raises(ad.UnsupportedSyntaxError, match="draw the numbers outside"):
        ad.grad(lambda x: again(x))(X)


@pytest.mark.parametrize("name", RANDOM)
def test_derivatives_inside_of_random_numbers_are_refused(name: str) -> None:
    f = RANDOM[name]
    with pytest.raises(ad.UnsupportedSyntaxError, match="draw the numbers outside"):
        ad.grad(lambda x: np.sum(ad.grad(lambda y: f(y) ** 2)(x)))(X)


def test_a_checkpointed_loop_of_random_numbers_is_refused() -> None:
    def f(x):
        for _ in ad.checkpointed(range(3)):
            x = x * np.random.rand()
        return np.sum(x)

    with pytest.raises(ad.UnsupportedSyntaxError, match=r"np\.random\.rand"):
        ad.grad(f)(X)


def test_what_is_found_at_run_time_may_be_run_again_without_them() -> None:
    functions = {"a": lambda y: y**3}
    state = random.getstate()
    found = ad.grad(lambda x: np.sum(ad.checkpoint(lambda y: functions["a"](y))(x)))(X)
    np.testing.assert_allclose(found, 3 * X**2)
    assert random.getstate() == state


def test_one_run_may_draw() -> None:
    np.random.seed(0)
    value, gradient = ad.value_and_grad(noisy)(X)
    np.testing.assert_allclose(gradient @ X, 2 * value)


def test_iterators_over_constants_are_gone_through_once_more() -> None:
    def inner(y):
        return np.sum(y * sum(map(lambda k: k + 1.0, range(3)))) ** 2

    found = ad.grad(lambda x: np.sum(ad.grad(inner)(x)))(X)
    np.testing.assert_allclose(found, np.full(3, 2 * 6.0**2 * 3))
    np.testing.assert_allclose(ad.jvp(ad.grad(inner), (X,), (np.ones(3),))[1], np.full(3, 2 * 6.0**2 * 3))
