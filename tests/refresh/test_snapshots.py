"""One table from start to end: calls that are decided when the code runs, derivatives inside, linear maps."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import quiet

import thunkad as ad
from thunkad.compiled.root import root_of


def both_rules(fn, factor):
    """Reverse and forward rule with the derivative ``factor``."""
    with ad.rules.together():

        @ad.rrule(fn)
        def _(x):
            return fn(x), lambda y_bar: (y_bar * factor,)

        @ad.frule(fn)
        def _(x, *, x_dot):
            return fn(x), x_dot * factor


@pytest.fixture
def late():
    """A function that finds its callee when it runs: another one at first, then ``g``, whose rule has changed."""

    def g(x):
        return x * x

    table = [np.sin, None]

    def f(x):
        return table[0](x)

    both_rules(g, 10.0)
    return f, g, table


@pytest.mark.parametrize("product", ["grad", "vjp", "jvp", "linearize"])
def test_a_callee_that_is_first_met_with_an_old_rule_is_told_of_at_once(late, product):
    f, g, table = late
    gradient = ad.grad(f)

    def slope():
        if product == "grad":
            return gradient(2.0)
        if product == "vjp":
            return ad.vjp(f, 2.0)[1](1.0)[0]
        return ad.jvp(f, (2.0,), (1.0,))[1] if product == "jvp" else ad.linearize(f, 2.0)[1](1.0)

    assert slope() == np.cos(2.0)
    both_rules(g, 20.0)
    table[0] = g
    with pytest.warns(ad.StaleRuleWarning, match="g: a rule") as caught:
        assert slope() == 10.0
    assert len(caught) == 1 and caught[0].filename == __file__
    with quiet():
        assert slope() == 10.0
    ad.refresh(f)
    with quiet():
        assert slope() == 20.0
    assert root_of(f).rebuilds == 0


def test_under_error_it_is_an_error_at_once(late):
    f, g, table = late
    gradient = ad.grad(f)
    with ad.refresh_policy("error"):
        gradient(2.0)
        both_rules(g, 20.0)
        table[0] = g
        for _ in range(2):
            with pytest.raises(ad.StaleRuleError, match="g: a rule"):
                gradient(2.0)
        ad.refresh(f)
        assert gradient(2.0) == 20.0


def test_what_a_callee_that_is_first_met_looks_up_counts_too():
    def h(x):
        return x * x

    def g(x):
        return 3.0 * h(x)

    table = [np.sin, None]

    def f(x):
        return table[0](x)

    gradient = ad.grad(f)
    gradient(2.0)
    both_rules(h, 10.0)
    table[0] = g
    with pytest.warns(ad.StaleRuleWarning, match="h: no rule -> a rule"):
        assert gradient(2.0) == 12.0


def test_what_is_registered_while_a_call_runs_is_told_of_by_the_next():
    def g(x):
        return x * x

    table = [np.sin, None]

    def register():
        both_rules(g, 10.0)
        table[0] = g

    ad.non_differentiable(register)

    def f(x):
        if x > 1.0:
            register()
        return table[0](x)

    gradient = ad.grad(f)
    gradient(0.5)
    with quiet():
        assert gradient(2.0) == 4.0
    with pytest.warns(ad.StaleRuleWarning, match="g: no rule -> a rule"):
        assert gradient(0.5) == 1.0


scale = 3.0


def test_a_linear_map_keeps_what_names_were_bound_to(monkeypatch):
    def g(x):
        return x * scale

    def f(x):
        return g(x) + x * scale

    _, pushforward = ad.linearize(f, 2.0)
    monkeypatch.setitem(globals(), "scale", 30.0)
    assert pushforward(1.0) == 6.0
    assert ad.linearize(f, 2.0)[1](1.0) == 60.0
    assert root_of(f).rebuilds == 0


def inside_vjp(g, x):
    return ad.vjp(g, x)[1](x)[0]


def inside_jvp(g, x):
    return ad.jvp(g, (x,), (x,))[1]


def inside_grad(g, x):
    return ad.grad(g)(x) * x


def inside_checkpoint(g, x):
    return ad.checkpoint(g)(x)


INSIDE = [inside_vjp, inside_jvp, inside_grad, inside_checkpoint]


@pytest.mark.parametrize("inside", INSIDE)
def test_a_linear_map_has_the_rules_of_the_call_though_it_runs_the_function_again(inside):
    def g(x):
        return 3.0 * x

    table = [g, None]

    def f(x):
        return inside(table[0], x) + inside(g, x)

    value, pushforward = ad.linearize(f, 2.0)
    assert value == 12.0 and pushforward(1.0) == 6.0
    both_rules(g, 10.0)
    with quiet():
        assert pushforward(1.0) == 6.0
        ad.refresh()
        assert pushforward(1.0) == pushforward(1.0) == 6.0
    assert ad.linearize(f, 2.0)[1](1.0) == 20.0


@pytest.mark.parametrize("inside", INSIDE)
def test_a_derivative_inside_has_the_rules_of_the_call(inside):
    def g(x):
        return 3.0 * x

    def f(x):
        return inside(g, x) * x

    def results():
        x = 2.0
        yield ad.grad(f)(x)
        yield ad.jvp(f, (x,), (1.0,))[1]
        yield ad.linearize(f, x)[1](1.0)
        yield float(ad.jacobian(f, mode="forward")(x))

    assert list(results()) == [12.0] * 4
    both_rules(g, 10.0)  # whoever derives g itself, or compiles f first in another way, is not pinned to the old rules
    assert ad.grad(g)(2.0) == 10.0
    with pytest.warns(ad.StaleRuleWarning):
        assert list(results()) == [12.0] * 4


def test_pullbacks_that_calls_make_are_not_kept():
    def g(x):
        return 3.0 * x

    table = [g, None]

    def f(x):
        return ad.vjp(table[0], x)[1](x)[0]

    def asked():
        return len(root_of(f).edges())

    gradient = ad.grad(f)
    for derivative in (gradient, lambda x: ad.jvp(f, (x,), (1.0,))[1]):
        derivative(2.0), derivative(2.0)
        before = asked()
        for k in range(5):
            derivative(float(k))
        assert asked() == before


def test_ever_new_callable_objects():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.k * x

    table = [None, np.sin]

    def f(x):
        return table[0](x)

    gradient = ad.grad(f)
    for k in range(2500):
        table[0] = Scale(float(k))
        assert gradient(2.0) == k
    assert len(ad.rules.edges(f)) < 1200 and root_of(f).rebuilds == 0
