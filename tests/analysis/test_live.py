"""Liveness over branches, loops, stop flags and raising paths."""

from __future__ import annotations

from thunkad.analysis.live import live_after, live_at_head, liveness
from thunkad.ir import nodes as n

N, C = n.Name, n.Const


def use(*names: str) -> n.Assign:
    return n.Assign("_", n.TupleExpr(tuple(map(N, names))))


def function(*body: n.Stmt) -> n.Function:
    return n.Function("f", [n.Param("x")], [*body, n.Return(N("r"))])


def test_straight_line() -> None:
    first, second = n.Assign("a", N("x")), n.Assign("r", N("a"))
    after = live_after(function(first, second))
    assert (after[id(first)], after[id(second)]) == ({"a"}, {"r"})


def test_branches_join() -> None:
    before = use()
    branch = n.If(N("c"), [n.Assign("r", N("a"))], [n.Assign("b", C(1))])
    after = live_after(function(before, branch))
    assert after[id(before)] == {"c", "a", "r"}
    assert after[id(branch)] == {"r"}


def test_nothing_is_live_before_a_raise_but_what_it_reads() -> None:
    inside = use()
    branch = n.If(N("c"), [inside, n.Raise(N("e"), None)], [])
    assert live_after(function(branch))[id(inside)] == {"e"}


def test_a_loop_keeps_what_its_next_iteration_reads() -> None:
    last = n.Assign("a", N("i"))
    loop = n.For("i", N("xs"), [use("a"), last])
    f = function(n.Assign("r", C(1)), loop)
    assert live_after(f)[id(last)] == {"a", "r"}
    assert live_at_head(f)[id(loop)] == {"a", "r"}


def test_targets_and_what_the_body_binds_first_are_not_live_at_the_head() -> None:
    loop = n.For("i", N("xs"), [n.Assign("a", N("i")), use("a")], count="k")
    assert live_at_head(function(loop))[id(loop)] == {"r"}


def test_the_stop_flag_is_live_at_the_end_of_the_body_only() -> None:
    last = n.Assign("stop", N("a"))
    loop = n.For("i", N("xs"), [last], stop="stop")
    f = function(loop)
    assert live_after(f)[id(last)] == {"stop", "a", "r"}
    assert live_at_head(f)[id(loop)] == {"a", "r"}


def test_the_test_of_a_while_runs_before_the_exit() -> None:
    loop = n.While([n.Assign("t", N("r"))], N("t"), [n.Assign("r", N("a"))])
    f = function(loop)
    assert live_at_head(f)[id(loop)] == {"r", "a"}
    bound = n.While([n.Assign("r", N("a"))], N("r"), [])
    assert live_at_head(function(bound))[id(bound)] == {"a"}


def test_while_true_is_left_after_a_body_only() -> None:
    loop = n.While([], C(True), [n.Assign("r", N("a")), n.Assign("stop", N("r"))], "stop")
    assert live_at_head(function(loop))[id(loop)] == {"a"}


def test_reads_travel_through_nested_loops() -> None:
    inner = n.For("j", N("ys"), [n.Assign("b", N("a"))])
    outer = n.For("i", N("xs"), [use("b"), inner, n.Assign("a", N("i"))])
    head = live_at_head(function(outer))
    assert head[id(outer)] == {"a", "b", "ys", "r"}
    assert head[id(inner)] == {"a", "b", "i", "ys", "r"}


def test_delete_reads_what_it_unbinds() -> None:
    before, delete = use(), n.Delete(N("a"))
    after = live_after(function(before, delete, n.Assign("a", C(1)), use("a")))
    assert after[id(before)] == {"a", "r"}
    assert after[id(delete)] == {"r"}


def test_captures_are_read_by_the_closure() -> None:
    before = use()
    inner = n.Function("g", [], [n.Return(N("k"))], captures=("k",))
    after = live_after(function(before, n.Assign("r", n.Closure(inner, (N("a"),)))))
    assert after[id(before)] == {"a"}


def test_compound_only_leaves_out_straight_lines() -> None:
    line, branch = use("x"), n.If(N("c"), [], [])
    after = liveness(function(line, branch), compound_only=True).after
    assert id(branch) in after
    assert id(line) not in after
