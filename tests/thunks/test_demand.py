"""Scenarios T1–T17, T35, T37, T40: what is asked for is computed once, and nothing else is."""

from __future__ import annotations

import traceback

import numpy as np
import product_rules as p
import pytest

import thunkad as ad


@pytest.fixture(autouse=True)
def fresh():
    p.RAN.clear(), p.SEEN.clear(), p.PARTS.clear()


def product_of(mul):
    def f(a, b):
        return np.sum(mul(a, b))

    return f


BOTH = pytest.mark.parametrize("mul", [p.pasted, p.called], ids=["pasted", "called"])


def thunks_run():
    return [what for what in p.take() if what != "pullback"]


@BOTH
def test_t01_only_the_thunk_of_the_wanted_argument_runs(mul) -> None:
    a, b = p.matrices((2, 3), (3, 2))
    b_bar = ad.grad(product_of(mul), argnums=1)(a, b)
    assert thunks_run() == ["b"]
    np.testing.assert_allclose(b_bar, a.T @ np.ones((2, 2)))


@BOTH
def test_t01_a_lazy_pullback_runs_what_is_read(mul) -> None:
    a, b = p.matrices((2, 3), (3, 2))
    _, pullback = ad.vjp(product_of(mul), a, b)
    bars = pullback(1.0)
    assert thunks_run() == []
    np.testing.assert_allclose(bars[1], a.T @ np.ones((2, 2)))
    assert thunks_run() == ["b"]
    assert bars[1] is bars[1]
    assert thunks_run() == []
    np.testing.assert_allclose(bars[0], np.ones((2, 2)) @ b.T)
    assert thunks_run() == ["a"]


@BOTH
def test_t02_each_demanded_thunk_runs_once(mul) -> None:
    ad.grad(product_of(mul), argnums=(0, 1))(*p.matrices((2, 3), (3, 2)))
    assert sorted(thunks_run()) == ["a", "b"]


@BOTH
def test_t03_nothing_runs_where_no_derivative_flows(mul) -> None:
    def f(a, b):
        return np.sum(np.floor(mul(a, b)))

    a_bar = ad.grad(f)(*p.matrices((2, 3), (3, 2)))
    assert p.take() == []
    np.testing.assert_array_equal(a_bar, np.zeros((2, 3)))


@pytest.mark.parametrize("mul", [p.fragile, p.fragile_called], ids=["pasted", "called"])
def test_t04_an_undemanded_thunk_may_be_broken(mul) -> None:
    def f(a, b):
        return mul(a, b)

    assert ad.grad(f, argnums=1)(2.0, 3.0) == 2.0
    _, pullback = ad.vjp(f, 2.0, 3.0)
    assert pullback(1.0)[1] == 2.0


@pytest.mark.parametrize("mul", [p.fragile, p.fragile_called], ids=["pasted", "called"])
def test_t05_a_demanded_broken_thunk_raises_and_names_the_rule(mul) -> None:
    def f(a, b):
        return mul(a, b)

    with pytest.raises(ArithmeticError, match="thunk of a ran") as caught:
        ad.grad(f)(2.0, 3.0)
    text = "".join(traceback.format_exception(caught.value))
    assert "product_rules.py" in text
    assert ('fail("a")' if mul is p.fragile_called else "pasted from the rule at") in text
    assert mul is p.fragile_called or "@ad.rrule(fragile)" in text
    _, pullback = ad.vjp(f, 2.0, 3.0)
    bars = pullback(1.0)
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            bars[0]
    assert bars[1] == 2.0


def test_t06_a_thunk_read_by_two_rules_is_evaluated_once() -> None:
    def f(a, b, c):
        return np.sum(p.called(p.aware(a, b), c))

    a, b, c = p.matrices((2, 3), (3, 4), (4, 2))
    a_bar, b_bar = ad.grad(f, argnums=(0, 1))(a, b, c)
    ran = p.take()
    assert "aware got Thunk" in ran
    assert ran.count("a") == 1 and ran.count("aware a") == 1 and ran.count("aware b") == 1 and "b" not in ran
    np.testing.assert_allclose(a_bar, np.ones((2, 2)) @ c.T @ b.T)
    np.testing.assert_allclose(b_bar, a.T @ np.ones((2, 2)) @ c.T)


def test_t07_identity_passes_the_same_thunk_on() -> None:
    def f(a, b):
        return np.sum(p.called(p.same(p.same(a)), b))

    ad.grad(f)(*p.matrices((2, 3), (3, 2)))
    assert len(p.SEEN) == 2 and p.SEEN[0] is p.SEEN[1] and isinstance(p.SEEN[0], ad.Thunk)


def test_t07_a_pair_passes_the_same_thunk_on() -> None:
    def f(a, b):
        pair = (p.same(a), 1.0)
        x, _ = pair
        return np.sum(p.called(p.same(x), b))

    ad.grad(f)(*p.matrices((2, 3), (3, 2)))
    assert len(p.SEEN) == 2 and p.SEEN[0] is p.SEEN[1]


def constant_arm(a, b):
    return a + np.sum(b)


@ad.rrule(constant_arm, keep_thunks=True)
def _(a, b):
    if a is None:
        return None

    def pullback(z_bar):
        return ad.thunk(lambda: ad.unthunk(z_bar)), ad.thunk(lambda: np.full(3, 7.0))

    return a + np.sum(b), pullback


def test_t08_a_seed_that_no_demanded_arm_reads_never_runs() -> None:
    def f(a, b, c):
        return np.sum(p.called(constant_arm(a, b), c))

    a, c = p.matrices((2, 3), (3, 2))
    np.testing.assert_array_equal(ad.grad(f, argnums=1)(a, np.ones(3), c), np.full(3, 7.0))
    assert thunks_run() == []


@BOTH
def test_t09_nothing_is_accumulated_for_what_nobody_wants(mul) -> None:
    def f(a, b, c):
        t = mul(a, b)
        return np.sum(t * c) + np.sum(t)

    a, b, c = p.matrices((2, 3), (3, 2), (2, 2))
    np.testing.assert_allclose(ad.grad(f, argnums=2)(a, b, c), a @ b)
    assert thunks_run() == []
    _, pullback = ad.vjp(f, a, b, c)
    np.testing.assert_allclose(pullback(1.0)[2], a @ b)
    assert thunks_run() == []


@BOTH
def test_t12_a_zero_cotangent_never_enters_a_rule(mul) -> None:
    def f(pair, b):
        t = {"used": pair[0] * 2.0, "unused": mul(pair[1], b)}
        return pick(t, "used")

    a, b = p.matrices((2, 3), (3, 2))
    bars = ad.grad(f)((3.0, a), b)
    assert p.take() == []
    assert bars[0] == 2.0
    np.testing.assert_array_equal(bars[1], np.zeros_like(a))


def pick(mapping, key):
    return mapping[key]


def test_t13_zeros_collapse() -> None:
    def f(x, y):
        t = p.halves(x)
        u = (t, y)
        return u[1] * 2.0

    x_bar, y_bar = ad.grad(f, argnums=(0, 1))(np.ones(4), 3.0)
    np.testing.assert_array_equal(x_bar, np.zeros(4))
    assert y_bar == 2.0 and p.PARTS == []


def test_t14_a_rule_sees_zero_for_unused_results() -> None:
    def by_index(x):
        return np.sum(p.halves(x)[1])

    def by_name(x):
        _, right = p.halves(x)
        return np.sum(right)

    for f in (by_index, by_name):
        np.testing.assert_array_equal(ad.grad(f)(np.ones(4)), [0, 0, 1, 1])
    assert p.PARTS == [("ZeroTangent", "ndarray")] * 2


def two(a, b):
    return p.pasted(a, b), p.pasted(b, a)


def test_t14_a_function_of_two_results_differentiates_the_used_one() -> None:
    def f(a, b):
        return np.sum(two(a, b)[1])

    def unpacked(a, b):
        _, second = two(a, b)
        return np.sum(second)

    a, b = p.matrices((2, 3), (3, 2))
    for g in (f, unpacked):
        np.testing.assert_allclose(ad.grad(g)(a, b), b.T @ np.ones((3, 3)))
        assert thunks_run() == ["b"]


def test_t14_aux_costs_nothing() -> None:
    def f(a, b):
        return np.sum(a * a), p.pasted(a, b)

    a, b = p.matrices((2, 3), (3, 2))
    a_bar, aux = ad.grad(f, has_aux=True)(a, b)
    np.testing.assert_allclose(a_bar, 2 * a)
    np.testing.assert_allclose(aux, a @ b)
    assert thunks_run() == []
    (_, aux), a_bar = ad.value_and_grad(f, has_aux=True)(a, b)
    np.testing.assert_allclose(a_bar, 2 * a)
    np.testing.assert_allclose(aux, a @ b)
    assert thunks_run() == []


def nested(x):
    return 2.0 * x


@ad.rrule(nested)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        return (ad.thunk(lambda: ad.thunk(lambda: ad.thunk(lambda: 2.0 * y_bar))),)

    return 2.0 * x, pullback


def test_t15_nested_thunks_come_out_plain() -> None:
    x_bar = ad.grad(lambda x: np.sum(nested(x)))(np.ones(3))
    assert type(x_bar) is np.ndarray
    np.testing.assert_array_equal(x_bar, np.full(3, 2.0))
    _, pullback = ad.vjp(nested, np.ones(3))
    (x_bar,) = pullback(np.ones(3))
    assert type(x_bar) is np.ndarray


def total(things):
    return sum(things)


@ad.rrule(total)
def _(things):
    if things is None:
        return None

    def pullback(y_bar):
        bars = [ad.thunk(lambda k=k: y_bar * (k + 1)) for k in range(len(things))]
        return (type(things)(bars),)

    return sum((k + 1) * t for k, t in enumerate(things)), pullback


def values(mapping):
    return sum(mapping.values())


@ad.rrule(values)
def _(mapping):
    if mapping is None:
        return None

    def pullback(y_bar):
        return ({k: ad.thunk(lambda: ad.thunk(lambda: y_bar * 1.0)) for k in mapping},)

    return sum(mapping.values()), pullback


def leaves(x):
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in leaves(v)]
    if isinstance(x, (list, tuple)):
        return [leaf for v in x for leaf in leaves(v)]
    return [x]


@pytest.mark.parametrize("make", [list, tuple])
def test_t16_no_thunk_leaves_inside_a_container(make) -> None:
    bars = ad.grad(total)(make([1.0, 2.0, 3.0]))
    assert type(bars) is make and [*bars] == [1.0, 2.0, 3.0]
    bars = ad.grad(values)({"a": 1.0, "b": 2.0})
    assert bars == {"a": 1.0, "b": 1.0}
    _, pullback = ad.vjp(lambda d, s: values(d) * total(s), {"a": 1.0}, make([2.0]))
    for leaf in leaves([*pullback(1.0)]):
        assert type(leaf) in (float, np.float64)


FORMS: list[list[str]] = []


def branching(x):
    return [x, 2.0 * x]


@ad.rrule(branching)
def _(x):
    if x is None:
        return None

    def pullback(y_bar):
        FORMS.append([type(part).__name__ for part in y_bar])
        x_bar = np.zeros_like(x)
        for weight, part in zip((1.0, 2.0), y_bar):
            if isinstance(part, np.ndarray):
                x_bar = x_bar + weight * part
        return (x_bar,)

    return [x, 2.0 * x], pullback


@pytest.mark.parametrize(
    "wrap", [lambda s: s, lambda s: [ad.Thunk(lambda v=v: v) for v in s], lambda s: ad.Thunk(lambda: s)], ids=["plain", "parts", "whole"]
)
def test_t17_a_rule_that_does_not_know_thunks_never_sees_one(wrap) -> None:
    FORMS.clear()
    _, pullback = ad.vjp(branching, np.ones(2))
    (x_bar,) = pullback(wrap([np.ones(2), np.ones(2)]))
    np.testing.assert_array_equal(x_bar, [3.0, 3.0])
    assert FORMS == [["ndarray", "ndarray"]]


def test_t17_thunks_inside_a_list_from_another_rule() -> None:
    def f(x):
        return total(branching(x))[0]

    FORMS.clear()
    np.testing.assert_array_equal(ad.grad(f)(np.ones(2)), [5.0, 0.0])
    assert FORMS == [["ndarray", "ndarray"]]


def count_thunks(monkeypatch):
    made = []
    original = ad.Thunk.__init__

    def counted(self, compute):
        made.append(compute)
        original(self, compute)

    monkeypatch.setattr(ad.Thunk, "__init__", counted)
    return made


def test_t35_an_empty_loop_and_a_branch_not_taken_make_no_thunks(monkeypatch) -> None:
    def f(x, n, flag):
        for _ in range(n):
            x = p.called(x, x)
        if flag:
            x = p.called(x, x)
        return np.sum(x)

    made = count_thunks(monkeypatch)
    np.testing.assert_array_equal(ad.grad(f)(np.eye(2), 0, False), np.ones((2, 2)))
    assert not made and p.take() == []
    ad.grad(f)(np.eye(2), 1, False)
    assert made


def test_t37_partials_make_no_thunks(monkeypatch) -> None:
    def f(x, y):
        return np.tanh(x * y) + np.arctan2(x, y) ** 2

    made = count_thunks(monkeypatch)
    ad.grad(f, argnums=(0, 1))(0.3, 0.4)
    assert not made


def test_t40_a_missing_derivative_is_silent_unless_it_is_asked_for() -> None:
    assert ad.grad(p.open_order, argnums=1)(2.0, 0.5) == pytest.approx(2 * np.cos(1.0))
    _, pullback = ad.vjp(p.open_order, 2.0, 0.5)
    bars = pullback(1.0)
    assert bars[1] == pytest.approx(2 * np.cos(1.0))
    for ask in (lambda: bars[0], lambda: ad.grad(p.open_order)(2.0, 0.5)):
        with pytest.raises(ad.NotImplementedDerivativeError, match="the order has no derivative yet") as caught:
            ask()
        assert "product_rules.py" in str(caught.value)


def test_t40_a_missing_derivative_poisons_what_follows_and_is_absorbed_by_zero() -> None:
    with pytest.raises(ad.NotImplementedDerivativeError):
        ad.grad(lambda n: p.open_order(np.sin(n) * 2.0, 0.5) + n)(2.0)
    assert ad.grad(lambda n: p.open_order(np.floor(n), 0.5) + n)(2.0) == 1.0
    assert ad.ZeroTangent() * ad.NotImplementedTangent("…") is ad.ZeroTangent()


class Holder:
    def __init__(self, mul):
        self.mul = mul

    def times(self, a, b):
        return self.mul(a, b)


def test_an_unknown_callee_is_differentiated_for_what_is_wanted() -> None:
    def positional(functions, a, b):
        return np.sum(functions[0](a, b))

    def by_keyword(functions, a, b):
        return np.sum(functions[0](a=a, b=b))

    def starred(functions, a, b):
        return np.sum(functions[0](a, *[b]))

    def plain(a, b):
        return p.pasted(a, b)

    def collecting(*args, **kwargs):
        return p.pasted(args[0] if args else kwargs["a"], args[1] if len(args) > 1 else kwargs["b"])

    a, b = p.matrices((2, 3), (3, 2))
    for callee in (plain, Holder(p.pasted).times):
        for f in (positional, by_keyword):
            np.testing.assert_allclose(ad.grad(f, argnums=1)([callee], a, b), np.ones((2, 2)) @ b.T)
            assert thunks_run() == ["a"]
            np.testing.assert_allclose(ad.grad(f, argnums=2)([callee], a, b), a.T @ np.ones((2, 2)))
            assert thunks_run() == ["b"]
    for callee in (plain, collecting, Holder(p.pasted).times):
        for f in (positional, by_keyword, starred):
            np.testing.assert_allclose(ad.grad(f, argnums=1)([callee], a, b), np.ones((2, 2)) @ b.T)
            np.testing.assert_allclose(ad.grad(f, argnums=2)([callee], a, b), a.T @ np.ones((2, 2)))
