"""``linearize``: the run of the function is kept, its tangents are computed from that any number of times."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import thunkad as ad
from thunkad.testing import check_grads
from thunkad.testing.leaves import leaves

sys.path.insert(0, str(Path(__file__).parent.parent / "forward"))
import forward_programs as programs  # noqa: E402
from test_jvp import numbers, tangent  # noqa: E402

RNG = np.random.default_rng(8)
calls: list[int] = []


def tick() -> None:
    calls.append(1)


ad.non_differentiable(tick)


def runs(run) -> int:
    """How often the functions below run while ``run`` does."""
    calls.clear()
    run()
    return len(calls)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_the_map_is_that_of_jvp(name: str) -> None:
    f, args = programs.PROGRAMS[name]
    value, linear = ad.linearize(f, *args)
    for seed in (3, 4, 3):  # the same again: nothing that the map keeps is used up
        dots = tangent(args, np.random.default_rng(seed))
        want, want_dot = ad.jvp(f, args, dots)
        np.testing.assert_allclose(numbers(value), numbers(want), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(numbers(linear(*dots)), numbers(want_dot), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [k for k, (_, args) in programs.PROGRAMS.items() if isinstance(args[0], np.ndarray)])
def test_the_map_of_a_gradient_is_the_hessian(name: str) -> None:
    f, args = programs.PROGRAMS[name]
    if any(np.iscomplexobj(v) for _, v in leaves(args)) or np.asarray(args[0]).dtype.kind != "f":
        pytest.skip("no Hessian")

    def total(x):
        y = f(x, *args[1:])
        return np.sum(np.sin(y) * y)

    try:
        total(args[0])
    except TypeError:
        pytest.skip("the result is a container")
    dot = np.random.default_rng(5).normal(size=args[0].shape)
    want = ad.hvp(total, args[:1], (dot,))
    _, linear = ad.linearize(ad.grad(total), args[0])
    np.testing.assert_allclose(linear(dot), want, rtol=1e-11, atol=1e-12)


def helper(x, k):
    tick()
    return np.sin(x) * k


def with_callees(x, y):
    tick()
    scale = [lambda t: helper(t, 2.0), lambda t: t * y][int(y > 10.0)]
    out = x
    for k in range(3):
        out = helper(out, y) if k != 1 else scale(out)
    return out


def test_one_run() -> None:
    x, y = RNG.normal(size=3), 0.7
    alone = runs(lambda: with_callees(x, y))
    _, linear = ad.linearize(with_callees, x, y)
    assert runs(lambda: ad.linearize(with_callees, x, y)) == alone
    assert runs(lambda: [linear(e, None) for e in np.eye(3)]) == 0
    np.testing.assert_allclose(linear(x, 1.0), ad.jvp(with_callees, (x, y), (x, 1.0))[1])


def squares(x):
    tick()
    return np.concatenate([x**2, np.outer(x, x).ravel()])


@pytest.mark.parametrize("mode", ["forward", "reverse", None])
def test_jacobian_runs_the_function_once(mode) -> None:
    x = RNG.normal(size=4)
    j = ad.jacobian(squares, mode=mode)
    first = j(x)
    assert runs(lambda: j(x)) == 1
    step = 1e-6
    want = np.stack([(squares(x + step * e) - squares(x - step * e)) / (2 * step) for e in np.eye(4)], -1)
    np.testing.assert_allclose(first, want, atol=1e-8)


@pytest.mark.parametrize("f", [squares, lambda x: tick() or np.sum(x * x), lambda x: tick() or x[:2] ** 2])
def test_jacobian_of_few_arguments_runs_the_function_once_from_the_first_call(f) -> None:
    for n in (1, 4, 32):
        x = RNG.normal(size=n)
        j = ad.jacobian(f)
        found: list[np.ndarray] = []
        assert [runs(lambda: found.append(j(x))) for _ in range(3)] == [1, 1, 1]
        np.testing.assert_allclose(found[0], ad.jacobian(f, mode="reverse")(x))
        np.testing.assert_allclose(found[0], found[2])


def test_the_mode_is_the_one_with_fewer_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    from thunkad import jacobians

    found = []
    columns = jacobians._columns
    monkeypatch.setattr(jacobians, "_columns", lambda *args: found.append(1) or columns(*args))
    ad.jacobian(squares)(RNG.normal(size=40))
    assert found
    found.clear()
    few = ad.jacobian(lambda x: np.array([np.sum(x), np.prod(x)]))
    few(RNG.normal(size=40))
    assert not found
    few(RNG.normal(size=20))  # all directions go at once, until the size of the result is known
    assert len(found) == 1
    few(RNG.normal(size=20))
    assert len(found) == 1


def test_hessian_runs_the_function_once() -> None:
    h = ad.hessian(lambda x: np.sum(squares(x) ** 2))
    h(RNG.normal(size=4))
    assert runs(lambda: h(RNG.normal(size=4))) == 1


def test_the_map_stays_as_it_is() -> None:
    def f(x):
        return {"y": x * x, "x": x}

    x = np.array([1.0, 2.0])
    value, linear = ad.linearize(f, x)
    x[:] = 5.0
    value["x"][:] = 7.0
    value["y"][:] = 7.0
    np.testing.assert_array_equal(linear(np.ones(2))["y"], [2.0, 4.0])
    linear(np.ones(2))["x"][:] = 3.0
    np.testing.assert_array_equal(linear(np.ones(2))["x"], [1.0, 1.0])


def test_memory_that_changes_later() -> None:
    def f(x):
        y = x * 1.0
        first = y[0] * y[1]
        y[0] = first
        y[1] += y[0] ** 2
        y *= y
        return y

    x = np.array([0.4, 0.9])
    _, linear = ad.linearize(f, x)
    for dot in np.eye(2):
        np.testing.assert_allclose(linear(dot), ad.jvp(f, (x,), (dot,))[1], rtol=1e-14)


class Held:
    def __init__(self, k):
        self.k = k

    def of(self, x):
        return np.sin(self.k * x)


K = np.ones(2)
HELD = Held(np.ones(2))


def of_a_global(x):
    return K * x


def of_a_callee(x):
    return np.sin(of_a_global(x)) * K


def of_an_object(x):
    return HELD.of(x) * x


def of_what_is_found_late(x):
    return [of_a_global][len(x) - 2](x) * [HELD][len(x) - 2].of(x)


def closed(k):
    return lambda x: np.sin(k * x)


@pytest.mark.parametrize(
    "f",
    [
        of_a_global, of_a_callee, of_an_object, of_what_is_found_late, HELD.of, closed(K),
        ad.grad(lambda u: np.sum(np.sin(K * u) * HELD.k)),
    ],
)  # fmt: skip
def test_memory_outside_that_changes_later(f) -> None:
    x, dot = np.array([0.4, 0.9]), np.array([1.0, -2.0])
    want = ad.jvp(f, (x,), (dot,))[1]
    _, linear = ad.linearize(f, x)
    K[0] = HELD.k[1] = 5.0
    try:
        np.testing.assert_allclose(linear(dot), want, rtol=1e-14)
    finally:
        K[0] = HELD.k[1] = 1.0


def run_again_since_it_tries(x):
    try:
        y = K * x
    except ValueError:
        y = x
    return y


def run_again_since_a_derivative_is_taken(x):
    return ad.grad(lambda u: np.sum(K * u))(x) * x


def run_again_with_a_value_that_stays(x):
    return run_again_since_it_tries(x - 1.0) + x


@pytest.mark.parametrize(
    "f",
    [run_again_since_it_tries, run_again_since_a_derivative_is_taken, run_again_with_a_value_that_stays],
)
def test_memory_outside_that_changes_later_where_the_function_runs_again(f) -> None:
    _, linear = ad.linearize(f, np.ones(2))
    np.testing.assert_array_equal(linear(np.ones(2)), ad.jvp(f, (np.ones(2),), (np.ones(2),))[1])
    K[0] = 5.0
    try:
        with pytest.raises(ad.ArgumentError, match="something that it reads has changed"):
            linear(np.ones(2))
    finally:
        K[0] = 1.0


def test_random_numbers_are_drawn_once() -> None:
    def f(x, rng):
        return x * rng.normal(size=2)

    _, linear = ad.linearize(f, np.ones(2), np.random.default_rng(1))
    value = np.random.default_rng(1).normal(size=2)
    for _ in range(2):
        np.testing.assert_allclose(linear(np.ones(2), None), value)


def test_tangents_are_checked() -> None:
    _, linear = ad.linearize(lambda x, y: x * y, 1.0, np.ones(2))
    with pytest.raises(ad.ArgumentError, match="2 tangents"):
        linear(1.0)
    with pytest.raises(ad.CotangentError, match="shape"):
        linear(1.0, np.ones(3))


def map_of_another_point(x):
    _, push = ad.linearize(lambda y: y**3, 2.0)
    return push(x * x)


def map_at_the_point(x):
    value, push = ad.linearize(lambda y: x * y**3, x)
    return push(x) * value


def map_from_outside(x):
    return CUBED(x * x)


CUBED = ad.linearize(lambda y: y**3, 2.0)[1]


@pytest.mark.parametrize("f", [map_of_another_point, map_at_the_point, map_from_outside])
def test_inside_differentiated_code(f) -> None:
    h = 1e-6
    want = pytest.approx((f(0.7 + h) - f(0.7 - h)) / (2 * h), rel=1e-8)
    assert ad.grad(f)(0.7) == want
    assert ad.jvp(f, (0.7,), (1.0,))[1] == want
    assert ad.linearize(f, 0.7)[1](1.0) == want


def test_random_numbers_of_a_call_that_is_found_when_it_runs_are_refused() -> None:
    draw = [np.random.normal]
    with pytest.raises(ad.UnsupportedSyntaxError, match="draw the numbers outside"):
        ad.linearize(lambda x: draw[0](x, x), 2.0)[1](1.0)


def unzipped(x):
    pairs = [(x[k], x[k] ** 2) for k in range(3)]
    a, b = zip(*pairs)
    return a[0] * b[1] + a[2]


@pytest.mark.parametrize(
    "f",
    [unzipped, lambda x: [*zip(*[x, x * x])][1][1], lambda x: sum(a * b for a, b in [*enumerate(*[x])])],
    ids=["unpacked", "list", "enumerate"],
)
def test_iterators_of_starred_arguments(f) -> None:
    x, dot = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    push = ad.linearize(f, x)[1]
    for _ in range(2):
        np.testing.assert_allclose(push(dot), ad.jvp(f, (x,), (dot,))[1])


class Holder:
    def __init__(self, x):
        self.x = x
        self.act = lambda y: y * x


class Proxy:
    def __init__(self, held):
        self.held = held

    def __getattr__(self, name):
        return getattr(self.held, name)


class Squared:
    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * self.x


def test_functions_that_objects_hold():
    def held(x):
        h = Holder(x)
        return h.act(x) * h.x

    assert np.isclose(ad.linearize(held, 0.6)[1](1.0), 1.08)
    with pytest.raises(ad.UnsupportedSyntaxError, match="computed by __getattr__"):
        ad.linearize(lambda x: Proxy(Squared(x)).value(), 0.6)[1](1.0)


def test_objects_chosen_by_keys_that_change_later():
    def chosen(x):
        held = [Squared(3.0 * x), Squared(x * x), Squared(x)]
        held.sort(key=lambda s: s.x, reverse=True)
        most, least = max(held, key=lambda s: s.x), min(held[1], held[2], key=lambda s: s.x)
        for k, s in enumerate(held):
            s.x = -(k + 1.0) * s.x
        return held[0].x * most.x * least.x ** 2 + held[1].x

    value = (chosen(0.6 + 1e-6) - chosen(0.6 - 1e-6)) / 2e-6
    for got in (ad.linearize(chosen, 0.6)[1](1.0), ad.jvp(chosen, (0.6,), (1.0,))[1], ad.grad(chosen)(0.6)):
        assert np.isclose(got, value)


class Equal(Holder):
    def __eq__(self, other):
        return self.x == other.x


def test_objects_taken_out_of_lists_are_not_compared_again():
    wanted = Equal(0.6)

    def f(x):
        held = [Equal(x), Equal(x * x), Equal(2.0)]
        held.remove(wanted)
        return held[0].x * held[1].x

    _, push = ad.linearize(f, 0.6)
    wanted.x = 0.36
    assert np.isclose(push(1.0), 2.4)


class Filled:
    def __init__(self):
        self.d = {}

    def __getattr__(self, name):
        return self.d[name] * 2.0


def test_what_is_filled_behind_getattr():
    def filled(x):
        p = Filled()
        p.d["w"], p.d["n"] = x * x, x[0]
        return np.sum(p.w) * p.n

    x, v = np.array([0.6, 1.3]), np.array([0.2, -0.7])
    assert np.isclose(ad.linearize(filled, x)[1](v), ad.grad(filled)(x) @ v)


def test_a_variable_that_one_branch_binds_and_another_one_reads():
    def bound(x):
        t = 0.0
        for k in range(3):
            if k < 2:
                y = x * (k + 1.0)
            if k == 1:
                t = t + y * y
        return t

    assert np.isclose(ad.linearize(bound, 0.6)[1](1.0), 4.8)


SCALE = 2.0


def scaled(p):
    return {"u": np.sin(p["a"]) * p["b"][0] * SCALE, "v": np.sum(p["a"])}


def test_maps_that_were_made_outside_are_their_own_derivatives(monkeypatch):
    at, unit = {"a": np.array([0.3, 0.4]), "b": [2.0]}, {"a": np.array([1.0, -0.5]), "b": [1.5]}
    _, linear = ad.linearize(scaled, at)
    _, pullback = ad.vjp(scaled, at)

    def of_linear(p):
        found = linear(p)
        return np.sum(found["u"] ** 3) * found["v"]

    def of_pullback(seed):
        found = pullback(seed)[0]
        return np.sum(found["a"] ** 3) * found["b"][0]

    for f, x in ((of_linear, unit), (of_pullback, linear(unit))):
        check_grads(f, x, order=2)
        dot = ad.jvp(f, (x,), (x,))[1]
        assert np.isclose(dot, 4 * f(x))  # of degree four
        assert np.isclose(ad.jvp(lambda y: ad.jvp(f, (y,), (x,))[1], (x,), (x,))[1], 12 * f(x))
    matrix = ad.jacobian(lambda a: linear({"a": a, "b": [0.0]})["u"])(at["a"])
    np.testing.assert_allclose(matrix, np.diag(np.cos(at["a"]) * 4))
    np.testing.assert_allclose(ad.jacobian(ad.vjp(np.sin, at["a"])[1])(at["a"])[0], np.diag(np.cos(at["a"])))
    monkeypatch.setitem(globals(), "SCALE", 3.0)  # the maps stay where they are, a transpose of them can't be had
    assert np.isclose(ad.jvp(of_linear, (unit,), (unit,))[1], 4 * of_linear(unit))
    with pytest.raises(ad.UnsupportedSyntaxError, match="has changed since"):
        ad.grad(of_linear)(unit)
