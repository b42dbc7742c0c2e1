"""What generated code looks like once needless tuples and temporaries are gone, and what has to stay."""

from __future__ import annotations

import pytest
from mini_eval import outcome, run, show

from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.normal.forward_tuples import forward_tuples

N, C = n.Name, n.Const


def forwarded(params: str, *body: n.Stmt) -> n.Function:
    f = n.Function("f", [n.Param(p) for p in params.split()], list(body))
    check_normal(f, versioned=True)
    g = forward_tuples(f)
    check_normal(g, versioned=True)
    return g


def lines(f: n.Function) -> list[str]:
    return show(f.body).splitlines()


def test_an_unpacked_display_becomes_copies() -> None:
    f = forwarded("x y", n.Assign("t1", n.TupleExpr((N("y"), N("x")))), n.Unpack(("a", "b"), N("t1")),
                  n.Assign("c", n.Binary("-", N("a"), N("b"))), n.Return(N("c")))  # fmt: skip
    assert lines(f) == ["a = y", "b = x", "c = a - b", "return c"]


def test_constant_indices_of_a_display() -> None:
    f = forwarded("x y", n.Assign("p", n.TupleExpr((N("x"), N("y")))), n.Assign("a", n.Index(N("p"), C(-1))),
                  n.Return(N("a")))  # fmt: skip
    assert lines(f) == ["a = y", "return a"]


@pytest.mark.parametrize("index", [2, -3, True])
def test_other_indices_stay(index: int) -> None:
    f = forwarded("x y", n.Assign("p", n.TupleExpr((N("x"), N("y")))), n.Assign("a", n.Index(N("p"), C(index))),
                  n.Return(N("a")))  # fmt: skip
    assert lines(f) == ["p = (x, y)", f"a = p[{index}]", "return a"]


def test_unpacking_of_another_length_stays_and_raises() -> None:
    f = forwarded("x y", n.Assign("t1", n.TupleExpr((N("x"), N("y")))), n.Unpack(("a",), N("t1")), n.Return(N("a")))
    assert outcome(f, 1, 2) == ("raises", ValueError)


def test_a_starred_display_stays() -> None:
    f = forwarded("x y", n.Assign("t1", n.TupleExpr((N("x"), n.Star(N("y"))))), n.Unpack(("a", "b"), N("t1")),
                  n.Return(N("b")))  # fmt: skip
    assert run(f, 1, [2])[0] == 2
    assert outcome(f, 1, []) == ("raises", ValueError)


def test_globals_are_read_where_the_display_was() -> None:
    f = forwarded("x g", n.Assign("t1", n.TupleExpr((n.Global("rate"), N("x")))), n.Effect(n.Call(N("g"))),
                  n.Assign("a", n.Index(N("t1"), C(0))), n.Return(N("a")))  # fmt: skip
    assert lines(f)[0] == "t1 = (rate, x)"
    assert lines(f)[2] == "a = t1[0]"


def test_a_carried_name_is_not_forwarded_over_its_loop() -> None:
    # t1 = (s, s) holds the value before the loop; the loop rebinds s
    loop = n.For("x", N("xs"), [n.Assign("s_1", n.Binary("+", N("s"), N("x"))), n.Assign("s", N("s_1"))])
    f = forwarded("w xs", n.Assign("s", N("w")), n.Assign("t1", n.TupleExpr((N("s"), N("s")))),
                  n.Assign("t2", N("s")), loop, n.Unpack(("a", "b"), N("t1")),
                  n.Assign("r", n.TupleExpr((N("a"), N("t2"), N("s")))), n.Return(N("r")))  # fmt: skip
    assert run(f, 1, [10])[0] == (1, 1, 11)


def test_a_temporary_takes_the_name_of_the_variable() -> None:
    f = forwarded("x", n.Assign("t1", n.Unary("-", N("x"))), n.Assign("y", N("t1")), n.Return(N("y")))
    assert lines(f) == ["y = - x", "return y"]


def test_a_temporary_that_is_read_twice_keeps_its_own() -> None:
    f = forwarded("x", n.Assign("t1", n.Unary("-", N("x"))), n.Assign("y", N("t1")),
                  n.Assign("z", n.Binary("+", N("y"), N("t1"))), n.Return(N("z")))  # fmt: skip
    assert lines(f) == ["t1 = - x", "y = t1", "z = y + t1", "return z"]


def test_a_temporary_bound_by_both_arms_takes_the_name_of_the_variable() -> None:
    branch = n.If(N("c"), [n.Assign("t1", n.Unary("-", N("x")))], [n.Assign("t1", n.Unary("not", N("x")))])
    f = forwarded("c x", branch, n.Assign("y", N("t1")), n.Return(N("y")))
    assert lines(f) == ["if c:", "    y = - x", "else:", "    y = not x", "return y"]


def test_a_conditional_copy_does_not_bind_the_variable_earlier() -> None:
    f = forwarded("c x", n.Assign("t1", n.Unary("-", N("x"))), n.If(N("c"), [n.Assign("y", N("t1"))], []),
                  n.Return(N("y")))  # fmt: skip
    assert run(f, True, 1)[0] == -1
    assert outcome(f, False, 1) == ("raises", UnboundLocalError)


def test_carried_names_are_still_bound_by_copies() -> None:
    body = [n.Assign("t1", n.Binary("+", N("s"), N("x"))), n.Assign("s_1", N("t1")), n.Assign("s", N("s_1"))]
    f = forwarded("xs", n.Assign("s", C(0)), n.For("x", N("xs"), body), n.Return(N("s")))
    assert lines(f) == ["s = 0", "for x in xs:", "    s_1 = s + x", "    s = s_1", "return s"]


def test_an_unread_display_of_a_variable_that_may_be_unbound_stays() -> None:
    f = forwarded("c", n.If(N("c"), [n.Assign("y", C(1))], []), n.Assign("t1", n.TupleExpr((N("y"),))),
                  n.Return(N("c")))  # fmt: skip
    assert outcome(f, 0) == ("raises", UnboundLocalError)
    assert run(f, 1)[0] == 1
