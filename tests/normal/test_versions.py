"""Versions and what follows them: the same results as the program had, in the form that the adjoint relies on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mini_eval import TooLong, outcome, run, show
from random_programs import Maker

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.normal.versions import version

N, C = n.Name, n.Const


def A(target: str, value: object) -> n.Assign:
    if isinstance(value, (int, float, bool)):
        value = C(value)
    return n.Assign(target, N(value) if isinstance(value, str) else value)


def B(left: str, op: str, right: str | int) -> n.Binary:
    return n.Binary(op, N(left), N(right) if isinstance(right, str) else C(right))


def F(params: str, *body: n.Stmt, result: str) -> n.Function:
    return n.Function("f", [n.Param(p) for p in params.split()], [*body, n.Return(N(result))])


def versioned(f: n.Function) -> n.Function:
    check_normal(f, versioned=False)
    g = version(f, Names())
    check_normal(g, versioned=True)
    return g


def listing(f: n.Function) -> list[str]:
    return show(versioned(f).body).splitlines()


# ---------------------------------------------------------------- the form


def test_first_version_keeps_the_spelling_and_updates_become_inplace() -> None:
    f = F("x", A("y", B("x", "*", 2)), n.Update(N("y"), "+", N("x")), A("x", "y"), result="x")
    assert listing(f) == ["y = x * 2", "y_1 = inplace(y + x)", "x_1 = y_1", "return x_1"]


def test_a_version_never_takes_the_name_of_another_variable() -> None:
    f = F("x", A("y", "x"), A("y", B("y", "+", 1)), A("y_1", "y"), result="y_1")
    assert listing(f) == ["y = x", "y_2 = y + 1", "y_1 = y_2", "return y_1"]


def test_both_arms_bind_the_join_directly() -> None:
    f = F("c x", n.If(N("c"), [A("y", "x")], [A("y", 2), A("y", B("y", "+", 1))]), result="y")
    assert listing(f) == ["if c:", "    y = x", "else:", "    y_1 = 2", "    y = y_1 + 1", "return y"]


def test_an_arm_that_leaves_the_variable_alone_copies_it() -> None:
    f = F("c x", n.If(N("c"), [A("x", B("x", "*", 2))], []), result="x")
    assert listing(f) == ["if c:", "    x_1 = x * 2", "else:", "    x_1 = x", "return x_1"]


def test_nested_branches_share_one_join() -> None:
    inner = n.If(N("d"), [A("y", 1)], [A("y", 2)])
    f = F("c d", n.If(N("c"), [inner], [A("y", 3)]), result="y")
    assert [line.strip() for line in listing(f)] == [
        "if c:", "if d:", "y = 1", "else:", "y = 2", "else:", "y = 3", "return y"
    ]  # fmt: skip


def test_no_join_for_a_variable_that_is_dead() -> None:
    f = F("c x", n.If(N("c"), [A("x", 1)], []), A("x", 3), result="x")
    assert listing(f) == ["if c:", "    x_1 = 1", "x_2 = 3", "return x_2"]


def test_no_join_beside_an_arm_that_raises() -> None:
    error = [A("e", n.Call(n.Ref("ValueError", ValueError))), n.Raise(N("e"), None)]
    f = F("c x", n.If(N("c"), error, [A("x", B("x", "+", 1))]), result="x")
    g = versioned(f)
    assert run(g, False, 1)[0] == 2
    assert outcome(g, True, 1) == ("raises", ValueError)
    assert show(g.body).splitlines()[-2:] == ["    x_1 = x + 1", "return x_1"]


def test_a_constant_before_a_loop_is_its_header() -> None:
    f = F("xs", A("s", 0.0), n.For("x", N("xs"), [A("s", B("s", "+", "x"))]), result="s")
    assert listing(f) == ["s = 0.0", "for x in xs:", "    s_1 = s + x", "    s = s_1", "return s"]


def test_a_constant_that_is_read_before_the_loop_is_not() -> None:
    f = F("xs", A("s", 1.0), A("r", B("s", "*", 3)), n.For("x", N("xs"), [A("s", B("s", "*", "x"))]),
          A("s", B("s", "+", "r")), result="s")  # fmt: skip
    assert listing(f)[:5] == ["s = 1.0", "r = s * 3", "s_1 = s", "for x in xs:", "    s_2 = s_1 * x"]


@pytest.mark.parametrize("start", [[], [A("w", B("w", "*", 2))]])
def test_parameters_and_computed_values_keep_their_names_over_a_loop(start: list[n.Stmt]) -> None:
    f = F("w xs", *start, n.For("x", N("xs"), [A("w", B("w", "*", "x"))]), result="w")
    g = versioned(f)
    before = "w_1" if start else "w"
    header = g.body[len(start)]
    assert header == n.Assign("w_2" if start else "w_1", N(before))
    assert run(g, 3, [2, 2])[0] == (24 if start else 12)


def test_swapping_in_a_loop() -> None:
    swap = [A("t1", n.TupleExpr((N("b"), N("a")))), n.Unpack(("a", "b"), N("t1"))]
    pair = A("r", n.TupleExpr((N("a"), N("b"))))
    f = F("xs", A("a", 1), A("b", 2), n.For("x", N("xs"), swap), pair, result="r")
    g = versioned(f)
    assert [run(g, [0] * k)[0] for k in range(3)] == [(1, 2), (2, 1), (1, 2)]
    h = forward_tuples(g)
    check_normal(h, versioned=True)
    assert [run(h, [0] * k)[0] for k in range(3)] == [(1, 2), (2, 1), (1, 2)]
    assert "t1" not in show(h.body)


def test_the_target_of_a_loop_is_carried_if_it_is_read_later() -> None:
    f = F("xs", n.For("i", N("xs"), []), result="i")
    assert listing(f) == ["for i_1 in xs:", "    i = i_1", "return i"]


def test_a_test_that_binds_what_outlives_the_loop() -> None:
    # n = 0; while (n := n + 1) < k: pass; return n
    test = [A("n", B("n", "+", 1)), A("t1", n.Compare("<", N("n"), N("k")))]
    f = F("k", A("n", 0), n.While(test, N("t1"), []), result="n")
    g = versioned(f)
    assert [run(g, k)[0] for k in (0, 1, 5)] == [1, 1, 5]


def test_stop_names_the_version_at_the_end_of_the_body() -> None:
    body = [A("stop", False), A("t1", n.Compare(">", N("x"), C(2))), A("stop", "t1"), A("last", "x")]
    f = F("xs", A("last", 0), n.For("x", N("xs"), body, stop="stop"), result="last")
    g = versioned(f)
    assert run(g, [1, 3, 4])[0] == 3


# ---------------------------------------------------------------- variables that may be unbound


def test_a_variable_bound_in_one_arm_raises_under_its_own_name() -> None:
    g = versioned(F("c x", n.If(N("c"), [A("y", "x")], []), result="y"))
    assert run(g, True, 7)[0] == 7
    with pytest.raises(UnboundLocalError, match=r"\by\b"):
        run(g, False, 7)


def test_copying_a_variable_that_may_be_unbound_does_not_raise() -> None:
    # for i in a: for j in b: y = j
    loops = n.For("i", N("a"), [n.For("j", N("b"), [A("y", "j")])])
    g = versioned(F("a b", loops, result="y"))
    assert run(g, [1, 2], [3, 4])[0] == 4
    with pytest.raises(UnboundLocalError, match="'y'"):
        run(g, [1, 2], [])
    once = n.If(N("c"), [A("y", 1)], [])
    twice = n.If(N("d"), [A("y", 2)], [])
    read = n.If(N("r"), [A("z", "y")], [A("z", 0)])
    g = versioned(F("c d r", once, twice, read, result="z"))
    assert [run(g, *args)[0] for args in [(1, 0, 1), (0, 1, 1), (0, 0, 0)]] == [1, 2, 0]
    assert outcome(g, 0, 0, 1) == ("raises", UnboundLocalError)


def test_reading_a_deleted_variable_raises() -> None:
    f = F("c x", n.If(N("c"), [n.Delete(N("x"))], []), result="x")
    g = versioned(f)
    assert run(g, False, 3)[0] == 3
    assert outcome(g, True, 3) == ("raises", UnboundLocalError)
    assert not any(type(s) is n.Delete for s in walk.statements(g.body))


# ---------------------------------------------------------------- closures, purity


def test_functions_in_closures_are_versioned_on_their_own() -> None:
    inner = F("y", A("y", B("y", "+", "k")), result="y")
    inner.captures = ("k",)
    f = F("x", A("x", B("x", "*", 2)), A("g", n.Closure(inner, (N("x"),))), A("r", n.Call(N("g"), (N("x"),))),
          result="r")  # fmt: skip
    g = versioned(f)
    assert run(g, 3)[0] == 12
    closure = next(s.value for s in g.body if type(s) is n.Assign and type(s.value) is n.Closure)
    assert closure.captures == (N("x_1"),)


def test_one_statement_in_two_places() -> None:
    again = A("x", B("x", "+", 1))
    f = F("c x", n.If(N("c"), [again, again], [again]), again, result="x")
    g = versioned(f)
    assert (run(g, True, 0)[0], run(g, False, 0)[0]) == (3, 2)


# ---------------------------------------------------------------- any program


@given(st.integers(0, 10**9), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_program_keeps_its_meaning(seed: int, unbound: bool) -> None:
    f = Maker(seed, unbound).function()
    try:
        expected = [outcome(f, p) for p in (0, 2, 5)]
    except TooLong:
        return
    before = repr(f)
    g = versioned(f)
    assert repr(f) == before
    assert [outcome(g, p) for p in (0, 2, 5)] == expected
    before = repr(g)
    h = forward_tuples(g)
    assert repr(g) == before
    check_normal(h, versioned=True)
    assert [outcome(h, p) for p in (0, 2, 5)] == expected
