"""Code that is run again for its derivative must do the same again: random numbers are refused without a seed."""

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


def other_generator(y):
    rng = np.random.default_rng(3)
    if y[0] > 0:
        rng = GENERATORS[0]
    return np.sum(y * rng.normal())


RANDOM["another generator"] = other_generator
RANDOM["a generator as the seed"] = lambda y: np.sum(y * np.random.default_rng(GENERATORS[0]).random())


def drawn_by(rng, mean):
    return mean + rng.standard_normal()


def from_a_seed(y):
    rng, old = np.random.default_rng(3), random.Random(4)
    total = y[0] * old.gauss(0, 1)
    for mean in y:
        total = total + drawn_by(rng, mean) ** 2
    return total * np.sum(rng.normal(y, y[1] ** 2))


def from_bits(y):
    rng = np.random.Generator(np.random.PCG64(5))
    return np.sum(rng.normal(y, y[0], size=3) ** 2) * np.random.RandomState(2).uniform(0.0, y[1])


@pytest.mark.parametrize("f", [from_a_seed, from_bits])
def test_generators_that_are_made_of_a_seed_draw_the_same_again(f) -> None:
    value, gradient = lambda x: np.sum(ad.grad(f)(x) ** 2), ad.grad(lambda x: np.sum(ad.grad(f)(x) ** 2))
    h, d = 1e-6, np.array([0.3, -0.5, 0.7])
    expected = (value(X + h * d) - value(X - h * d)) / (2 * h)
    assert gradient(X) @ d == pytest.approx(expected, rel=1e-6)
    assert ad.grad(lambda x: ad.checkpoint(f)(x))(X) @ d == pytest.approx((f(X + h * d) - f(X - h * d)) / (2 * h), rel=1e-6)
    assert ad.linearize(f, X)[1](d) == pytest.approx(ad.grad(f)(X) @ d)


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


# ---------------------------------------------------------------- what it reads must be what it was

SCALE = 2.0
SCALES = np.array([2.0, 3.0])
HELD = {"k": [2.0]}
LOG: list[float] = []


class Scaled:
    factor = 2.0

    def __init__(self) -> None:
        self.k = 2.0

    def __call__(self, y):
        return self.k * y**3

    @property
    def twice(self):
        return self.k * 2.0


class Counting(Scaled):
    calls = 0

    def counted(self, y, more=True):
        self.calls += 1
        return self.counted(y, False) if more else self.twice * y**3

    def __call__(self, y):
        self.calls += 1
        return self.counted(y)


BOX = Scaled()
COUNTING = Counting()
DEEP: list = []
for _ in range(2000):
    DEEP = [DEEP]
RUNS = 0


def with_variable(shared):
    def scaled(y):
        return shared[0] * y**3

    return scaled


SHARED = [2.0]
CLOSED = with_variable(SHARED)


def by_scalar(y):
    return SCALE * y**3


def by_default(y, scales=SCALES):
    return scales[0] * y**3


def by_callee(y):
    return by_scalar(y) * 1.0


def by_method(y):
    return COUNTING.counted(y) / 2.0


FOUND = [by_scalar]


def rebind(name, value=5.0):
    return lambda: globals().update({name: value})


READERS = {
    "scalar": (by_scalar, rebind("SCALE")),
    "callee": (by_callee, rebind("SCALE")),
    "found at run time": (lambda y: FOUND[0](y), rebind("SCALE")),
    "array in place": (lambda y: SCALES[0] * y**3, lambda: SCALES.fill(5.0)),
    "array rebound": (lambda y: SCALES[0] * y**3, rebind("SCALES", np.array([5.0, 3.0]))),
    "item": (lambda y: HELD["k"][0] * y**3, lambda: HELD["k"].insert(0, 5.0)),
    "attribute": (lambda y: BOX.k * y**3, lambda: setattr(BOX, "k", 5.0)),
    "attribute of one of two": (lambda y: (BOX if SCALE else SHARED).k * y**3, lambda: setattr(BOX, "k", 5.0)),
    "attribute in a method": (lambda y: by_method(y), lambda: setattr(COUNTING, "k", 5.0)),
    "attribute of a class": (lambda y: Scaled.factor * y**3, lambda: setattr(Scaled, "factor", 5.0)),
    "closure": (CLOSED, lambda: SHARED.insert(0, 5.0)),
    "default": (by_default, lambda: by_default.__defaults__[0].fill(5.0)),
}


@pytest.fixture
def as_it_was():
    def restore():
        globals().update(SCALE=2.0, SCALES=np.array([2.0, 3.0]))
        HELD["k"][:], SHARED[:], BOX.k, COUNTING.k, Scaled.factor = [2.0], [2.0], 2.0, 2.0, 2.0
        by_default.__defaults__[0][:] = [2.0, 3.0]

    restore()
    yield
    restore()


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize("name", READERS)
def test_a_pullback_is_refused_when_what_is_read_again_has_changed(name: str) -> None:
    g, change = READERS[name]
    inside, again = ad.grad(g), ad.checkpoint(g)
    pullbacks = ad.vjp(lambda x: inside(x), 1.5)[1], ad.vjp(lambda x: again(x), 1.5)[1]
    assert [pullback(1.0)[0] for pullback in pullbacks] == [18.0, 13.5]
    change()
    for pullback in pullbacks:
        with pytest.raises(ad.UnsupportedSyntaxError, match="not what it was when it ran first"):
            pullback(1.0)[0]


def changed_by_statement(x):
    found = ad.grad(by_default)(x)
    by_default.__defaults__[0][0] = 5.0
    return found


def changed_by_callee(x):
    found = ad.checkpoint(lambda y: BOX.k * y**3)(x)
    rename()
    return found


def rename():
    BOX.k = 5.0


def changed_before_the_pullback(x):
    _, pullback = ad.vjp(CLOSED, x)
    SHARED[0] = 5.0
    return pullback(1.0)[0]


def changed_by_itself(x):
    def grown(y):
        SCALES[0] += 1.0
        return SCALES[0] * y**3

    return ad.grad(grown)(x)


def changed_argument(x):
    found = ad.grad(BOX)(x)
    BOX.k = 5.0
    return found


def changed_in_a_checkpointed_loop(x):
    for _ in ad.checkpointed(range(4)):
        x = x * SCALES[0]
    SCALES[0] = 5.0
    return x


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize(
    "f",
    [changed_by_statement, changed_by_callee, changed_before_the_pullback, changed_by_itself, changed_argument,
     changed_in_a_checkpointed_loop],
)  # fmt: skip
def test_so_is_a_gradient_of_code_that_changes_it(f) -> None:
    with pytest.raises(ad.UnsupportedSyntaxError, match="not what it was when it ran first"):
        ad.grad(f)(1.5)


@pytest.mark.usefixtures("as_it_was")
def test_variables_of_its_own_may_change_and_logs_may_grow() -> None:
    def f(x):
        k, ks = 2.0, np.array([2.0])

        def scaled(y):
            LOG.append(1.0)
            return k * ks[0] * SCALE * y**3

        found = ad.grad(scaled)(x) + ad.checkpoint(scaled)(x)
        k, ks[0] = 5.0, 7.0
        return found

    want = 8.0 * (6 * 1.5 + 3 * 1.5**2)
    np.testing.assert_allclose(ad.grad(f)(1.5), want)
    np.testing.assert_allclose(ad.vjp(f, 1.5)[1](1.0)[0], want)


def counts_itself(y):
    global RUNS
    RUNS += 1
    return len(DEEP) * y**3


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize(
    ("g", "k"), [(counts_itself, 1.0), (by_method, 2.0), (lambda y: COUNTING.counted(y), 4.0), (lambda y: COUNTING(y), 4.0)]
)
def test_what_counts_its_runs_may_be_run_again(g, k) -> None:
    found = ad.grad(lambda x: ad.grad(g)(x) + ad.checkpoint(g)(x))(1.5)
    np.testing.assert_allclose(found, k * (6 * 1.5 + 3 * 1.5**2))


@pytest.mark.usefixtures("as_it_was")
def test_gradients_of_code_that_changes_nothing_outside_do_not_look() -> None:
    def f(x):
        w = np.array([1.0, 2.0]) * x
        w -= ad.grad(lambda v: np.sum(v**2 * SCALES))(w)
        return np.sum(w)

    assert "Surroundings" not in ad.adjoint_source(f, args=(1.5,))
    np.testing.assert_allclose(ad.grad(f)(1.5), -13.0)
