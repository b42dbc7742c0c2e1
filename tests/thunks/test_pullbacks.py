"""Scenarios T28–T33, T38, T39, T41: pullbacks may be called again, and share memory with nobody."""

from __future__ import annotations

import gc
import itertools
import math
import threading
import time
import weakref

import numpy as np
import product_rules as p
import pytest

import thunkad as ad


def arrays_in(x):
    if isinstance(x, dict):
        return [a for v in x.values() for a in arrays_in(v)]
    if isinstance(x, (list, tuple)):
        return [a for v in x for a in arrays_in(v)]
    return [x] if isinstance(x, np.ndarray) else []


PROGRAMS = {
    "sum": lambda x, y: x + y,
    "copy": lambda x, y: x,
    "product": lambda x, y: x * y,
    "pair": lambda x, y: (x, y),
    "twice": lambda x, y: [x, x, y],
    "transposed": lambda x, y: (x.T, y[::-1]),
    "identity rule": lambda x, y: p.same(x) + y,
    "product rule": lambda x, y: p.called(x, y),
    "pasted rule": lambda x, y: p.pasted(x, y),
    "reduced": lambda x, y: np.sum(x * y) + np.sum(x),
    "rows": lambda x, y: x[0] + y[1],
    "stacked": lambda x, y: np.stack([x, y]),
    "dict": lambda x, y: {"a": x, "b": x + y},
    "branch": lambda x, y: x if x[0, 0] > 0 else y,
}
ALL = pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)


def seed_for(value):
    if isinstance(value, dict):
        return {k: seed_for(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(seed_for, value))
    return np.ones(np.shape(value)) if np.ndim(value) else 1.0


def scaled(seed, factor):
    if isinstance(seed, dict):
        return {k: scaled(v, factor) for k, v in seed.items()}
    if isinstance(seed, (list, tuple)):
        return type(seed)(scaled(v, factor) for v in seed)
    return seed * factor


def inputs():
    rng = np.random.default_rng(3)
    return np.abs(rng.standard_normal((3, 3))), rng.standard_normal((3, 3))


@ALL
def test_t28_a_pullback_called_twice(f) -> None:
    x, y = inputs()
    value, pullback = ad.vjp(f, x, y)
    seed = seed_for(value)
    first = tuple(pullback(seed))
    kept = [a.copy() for a in first]
    second = tuple(pullback(seed))
    double = tuple(pullback(scaled(seed, 2.0)))
    for a, b, c, d in zip(first, kept, second, double):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
        np.testing.assert_allclose(d, 2 * a)
        assert not np.may_share_memory(a, c)


@ALL
def test_t29_what_is_handed_out_shares_memory_with_nothing(f) -> None:
    x, y = inputs()
    value, pullback = ad.vjp(f, x, y)
    seed = seed_for(value)
    bars = tuple(pullback(seed))
    want = [a.copy() for a in bars]
    before = x.copy(), y.copy()
    for a, b in itertools.combinations([*bars, x, y, *arrays_in(seed)], 2):
        assert not np.shares_memory(a, b) or any(a is s for s in arrays_in(seed)) and any(b is s for s in arrays_in(seed))
    for a in bars:
        assert a.flags.writeable
        a[...] = 17.0
    for a, b in zip(pullback(seed), want):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


@ALL
def test_t29_gradients_are_independent_of_each_other(f) -> None:
    def total(x, y):
        value = f(x, y)
        if isinstance(value, dict):
            value = list(value.values())
        return sum(np.sum(v) for v in value) if isinstance(value, (list, tuple)) else np.sum(value)

    x, y = inputs()
    gradient = ad.grad(total, argnums=(0, 1))
    first = gradient(x, y)
    want = [a.copy() for a in first]
    assert not np.shares_memory(*first)
    for a in first:
        assert not np.shares_memory(a, x) and not np.shares_memory(a, y)
        a *= 5.0
    for a, b in zip(gradient(x, y), want):
        np.testing.assert_array_equal(a, b)


@ALL
def test_t30_the_seed_may_be_changed_before_entries_are_read(f) -> None:
    x, y = inputs()
    value, pullback = ad.vjp(f, x, y)
    seed = seed_for(value)
    want = tuple(pullback(seed))
    bars = pullback(seed)
    for s in arrays_in(seed):
        s[...] = 99.0
    for a, b in zip(bars, want):
        np.testing.assert_array_equal(a, b)


def test_t31_an_input_changed_between_forward_and_back() -> None:
    def f(x, y):
        t = x * y
        return np.sum(t * x)

    x, y = inputs()
    want = 2 * x * y, x * x
    _, pullback = ad.vjp(f, x, y)
    x[...] = 0.0
    y[...] = 0.0
    for a, b in zip(pullback(1.0), want):
        np.testing.assert_allclose(a, b)


def cube(x):
    return x**3


@ad.rrule(cube)
def _(x):
    if x is None:
        return None
    _, square_back = ad.vjp(lambda x: x * x, x)

    def pullback(y_bar):
        def compute():
            (first,) = square_back(y_bar)
            (second,) = square_back(y_bar)
            return (first + second) * x * 0.75

        return (ad.thunk(compute),)

    return x**3, pullback


def test_t32_a_thunk_may_call_another_pullback() -> None:
    assert ad.grad(lambda x: cube(x) + cube(2.0 * x))(1.5) == pytest.approx(3 * 1.5**2 * 9)


FAILURES: list[str] = []


def unreliable(x):
    return 2.0 * x


@ad.rrule(unreliable)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        if FAILURES:
            raise OSError(FAILURES.pop())
        return (2.0 * y_bar,)

    return 2.0 * x, pullback


def test_t33_a_pullback_that_failed_runs_again() -> None:
    def f(x):
        return np.sum(unreliable(x * x) + x)

    x = np.array([1.0, 2.0])
    _, pullback = ad.vjp(f, x)
    FAILURES.append("no luck")
    with pytest.raises(OSError, match="no luck"):
        pullback(1.0)[0]
    np.testing.assert_array_equal(pullback(1.0)[0], 4 * x + 1)
    np.testing.assert_array_equal(ad.grad(f)(x), 4 * x + 1)


def test_t38_a_thunk_that_ran_lets_go_of_what_it_captured() -> None:
    class Big(np.ndarray):
        pass

    captured = np.ones(3).view(Big)
    gone = weakref.ref(captured)
    t = ad.Thunk(lambda captured=captured: float(captured.sum()))
    del captured
    assert gone() is not None
    assert t.force() == 3.0
    gc.collect()
    assert gone() is None


def test_t38_residuals_die_with_the_pullback() -> None:
    def f(x):
        return np.sum(np.tanh(x) * x)

    def run():
        x = np.ones(3)
        _, pullback = ad.vjp(f, x)
        bars = pullback(1.0)
        return weakref.ref(x), pullback, bars

    gone, pullback, bars = run()
    assert gone() is not None
    del pullback, bars
    gc.collect()
    assert gone() is None


def test_t39_two_threads_evaluate_once() -> None:
    ran = []

    def slow():
        time.sleep(0.02)
        ran.append(1)
        return object()

    t = ad.Thunk(slow)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(t.force())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ran) == 1 and len(set(map(id, found))) == 1 and len(found) == 8


def test_t41_a_seed_that_is_a_thunk_is_evaluated_once() -> None:
    def f(x, y):
        return x * y, x + y

    ran = []

    def seed(value):
        return ad.Thunk(lambda: ran.append(value) or value)

    _, pullback = ad.vjp(f, 2.0, 3.0)
    bars = pullback(seed((1.0, 1.0)))
    assert (bars[0], bars[1]) == (4.0, 3.0)
    assert ran == [(1.0, 1.0)]
    ran.clear()
    bars = pullback((seed(1.0), seed(2.0)))
    assert (bars[0], bars[1], bars[0]) == (5.0, 4.0, 5.0)
    assert sorted(ran) == [1.0, 2.0]


def test_the_cotangent_of_a_real_value_is_real_in_a_pullback_too() -> None:
    def f(w, z):
        x = np.real(w)
        return np.sum(np.abs(x * z + z) ** 2)

    rng = np.random.default_rng(0)
    w, z = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
    want = 2 * np.abs(z) ** 2 * (w.real + 1)
    np.testing.assert_allclose(ad.grad(f)(w, z), want)
    _, pullback = ad.vjp(f, w, z)
    np.testing.assert_allclose(pullback(1.0)[0], want)
    with ad.debug():
        _, pullback = ad.vjp(f, w, z)
        np.testing.assert_allclose(pullback(1.0)[0], want)
        _, pullback = ad.vjp(lambda x, z: x * z, w.real, z)
        assert pullback(z)[0].dtype == float


def counting():
    """A product that notes which of its cotangents ran, and the notes."""
    ran: list[str] = []

    def note(x, which):
        ran.append(which)
        return x

    ad.non_differentiable(note)

    def product(a, b, name):
        return a * b

    @ad.rrule(product)
    def rule(a, b, name):
        def pullback(y_bar):
            return (
                ad.thunk(lambda: y_bar * note(b, f"{name}.a")),
                ad.thunk(lambda: y_bar * note(a, f"{name}.b")),
                ad.NoTangent(),
            )

        return a * b, pullback

    return product, ran


def test_an_entry_costs_its_slice_through_calls() -> None:
    product, ran = counting()

    def innermost(a, b):
        return product(a, b, "innermost")

    def inner(a, b, c):
        u = innermost(a, b)
        return product(u, product(c, 2.0, "single"), "inner")

    def f(a, b, c, d):
        y = inner(a, b, c) * 1.0
        return product(y, d, "outer")

    args = 2.0, 3.0, 5.0, 7.0
    slices = [
        ["outer.a", "inner.a", "innermost.a"],
        ["outer.a", "inner.a", "innermost.b"],
        ["outer.a", "inner.b", "single.a"],
        ["outer.b"],
    ]
    for k, (needed, expected) in enumerate(zip(slices, (210.0, 140.0, 84.0, 60.0))):
        ran.clear()
        cotangents = ad.vjp(f, *args)[1](1.0)
        assert ran == []
        assert cotangents[k] == expected and sorted(ran) == sorted(needed)
        assert tuple(cotangents) == (210.0, 140.0, 84.0, 60.0)
        assert sorted(ran) == sorted({name for names in slices for name in names})


def test_what_a_callee_hands_back_shares_memory_with_nothing() -> None:
    def both(a, b):
        return a + b

    def f(a, b):
        return both(a, b)

    x, seed = np.arange(3.0), np.ones(3)
    a_bar, b_bar = ad.vjp(f, x, x)[1](seed)
    assert not np.shares_memory(a_bar, b_bar) and not np.shares_memory(a_bar, seed)
    value, pullback = ad.vjp(lambda a: f(a, a) + a, x)
    (a_bar,) = pullback(seed)
    np.testing.assert_array_equal(a_bar, 3 * np.ones(3))
    np.testing.assert_array_equal(seed, np.ones(3))


def test_a_callee_that_raises_for_one_entry() -> None:
    def g(a, b):
        return a * b

    @ad.rrule(g)
    def rule(a, b):
        def fail():
            raise ZeroDivisionError

        def pullback(y_bar):
            return ad.thunk(fail), ad.thunk(lambda: y_bar * a)

        return a * b, pullback

    def inner(a, b):
        return g(a, b)

    def f(a, b):
        return inner(a, b) * 1.0

    cotangents = ad.vjp(f, 2.0, 3.0)[1](1.0)
    assert cotangents[1] == 2.0
    with pytest.raises(ZeroDivisionError):
        cotangents[0]
    assert cotangents[1] == 2.0


def test_a_thunk_takes_part_in_every_operator() -> None:
    t = ad.thunk(lambda: 7)
    assert divmod(t, 2) == (3, 1) and divmod(15, t) == (2, 1)
    assert (t & 3, 8 | t, t ^ 1, t << 1, 1 << t, t >> 1) == (3, 15, 6, 14, 128, 3)
    assert [10, 20][ad.thunk(lambda: 1)] == 20 and list(range(ad.thunk(lambda: 2))) == [0, 1]
    half = ad.thunk(lambda: 2.5)
    assert (round(half), round(half, 1), math.floor(half), math.ceil(half), math.trunc(half)) == (2, 2.5, 2, 3, 2)
    assert f"{half:.2f}" == "2.50" and list(reversed(ad.thunk(lambda: [1, 2]))) == [2, 1]
