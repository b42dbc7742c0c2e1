"""``jacobian`` runs its function once: for results smaller and larger than the arguments, in every mode, each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing.leaves import leaves

runs = 0


def tick() -> None:
    global runs
    runs += 1


ad.non_differentiable(tick)
RNG = np.random.default_rng(4)
WIDE = RNG.normal(size=(80, 40)) / 10


def number(x):
    tick()
    return np.sum(np.sin(x) * x)


def few(x):
    tick()
    return np.sum(np.sin(x)) * x[:3]


def as_many(x):
    tick()
    return np.tanh(x) * x[::-1]


def many(x):
    tick()
    return np.outer(x, np.cos(x))


def container(x):
    tick()
    return {"a": np.sum(x), "b": [np.concatenate([x, x * x, np.sin(x)]), x[0]]}


def loop(x):
    tick()
    y = np.zeros(2 * len(x))
    for i in range(2 * len(x)):
        y[i] = x[i % len(x)] ** 2 * y[i - 1] + x[0]
    return y


def branch(x):
    tick()
    return x * 2.0 if x[0] > 100.0 else np.concatenate([x, x * x[1]])


def recursion(x):
    tick()
    return np.concatenate([power(x, 3), x])


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def found_late(x):
    tick()
    return np.concatenate([[np.sin, np.cos][len(x) % 2](x), x * x])


def guarded(x):
    tick()
    try:
        y = np.sin(x)
    except ValueError:
        y = x
    return np.concatenate([y, y * x])


def writes_its_argument(x):
    tick()
    x[0] *= x[1]
    return np.concatenate([x, x])


def elements_change_places(x):
    tick()
    y = np.concatenate([x * x, x])
    first, y[0] = y[0], y[1]
    y[1] = first
    y[2] += first * x[0]
    return y


def numbers_of_a_dict(x):
    tick()
    d = {"a": x[0] * x[1]}
    before = d["a"]
    d["a"] += x[2]
    return np.array([before, d["a"], x[0] * before, x[1]])


def puts_into_what_it_is_handed(x):
    tick()
    d = {}
    d.setdefault("x", []).append(x[0] * x[1])
    total = x[2]
    for v in d["x"]:
        total = total + v * v
    return total * np.array([1.0, 2.0, -1.0, 0.5])


def writes_into_views(x):
    tick()
    z, c = x * 2.0, np.zeros(len(x), complex)
    np.atleast_2d(z)[0, 1] = z[0] * z[2]
    z.reshape(-1, 1)[:1] *= x[1]
    c.real, c.imag = z, x
    return np.concatenate([z, np.abs(c)])


def two(x, y):
    tick()
    return [x * np.sum(y), np.outer(x, y)]


FUNCTIONS = [
    number, few, as_many, many, container, loop, branch, recursion, found_late, guarded, writes_its_argument,
    elements_change_places, numbers_of_a_dict, puts_into_what_it_is_handed,
    writes_into_views,
]  # fmt: skip


def counted(jacobian: Callable[..., Any], *args: Any) -> Any:
    global runs
    runs = 0
    found = jacobian(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
    assert runs == 1
    return dict(leaves(found))


def columns(f: Callable[..., Any], *args: Any) -> Any:
    """The Jacobian for the first argument by differences."""
    h, out = 1e-5, []
    for e in np.eye(args[0].size):
        both = [dict(leaves(f(args[0] + s * h * e, *args[1:]))) for s in (1, -1)]
        out.append({path: (np.asarray(v) - both[1][path]) / (2 * h) for path, v in both[0].items()})
    return {path: np.stack([c[path] for c in out], -1) for path in out[0]}


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_argument(f: Callable[..., Any], mode: Any, n: int) -> None:
    x = RNG.normal(size=n)
    want = columns(f, x)
    jacobian = ad.jacobian(f, mode=mode)
    for _ in range(3):
        found = counted(jacobian, x)
        assert all(np.allclose(found[path], part, rtol=1e-6, atol=1e-7) for path, part in want.items())


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_two_arguments(mode: Any, n: int) -> None:
    x, y = RNG.normal(size=(2, n))
    jacobian = ad.jacobian(two, (0, 1), mode)
    for _ in range(2):
        found = counted(jacobian, x, y)
    want = columns(two, x, y)
    assert all(np.allclose(found[(0, *path)], part, rtol=1e-6, atol=1e-6) for path, part in want.items())
    want = columns(lambda y: [x * np.sum(y), np.outer(x, y)], y)
    assert all(np.allclose(found[(1, *path)], part, rtol=1e-6, atol=1e-6) for path, part in want.items())


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_a_number(mode: Any) -> None:
    def f(t):
        tick()
        return np.array([t, t * t, np.sin(t)])

    found = counted(ad.jacobian(f, mode=mode), 0.7)
    np.testing.assert_allclose(found[()], [1.0, 1.4, np.cos(0.7)])


def test_other_shapes_are_decided_anew() -> None:
    jacobian = ad.jacobian(few)
    for n in (40, 50, 3, 40):
        counted(jacobian, RNG.normal(size=n))
