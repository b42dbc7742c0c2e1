"""The checker accepts normal form and names the statement that isn't."""

from __future__ import annotations

import pytest

from thunkad.ir import nodes as n
from thunkad.ir.check import NotNormalForm, check_normal

N, C = n.Name, n.Const
COPY = n.Assign("y", N("x"))
NESTED = n.Binary("+", n.Binary("*", N("x"), N("x")), C(1))
LAST = n.Attr(n.Attr(n.Global("np"), "linalg"), "norm")


def function(*body: n.Stmt, result: n.Expr = N("x")) -> n.Function:  # noqa: B008
    return n.Function("f", [n.Param("x"), n.Param("c")], [*body, n.Return(result)])


def carried(*trailing: n.Stmt) -> list[n.Stmt]:
    return [n.For("i", N("x"), [n.Assign("s_1", n.Binary("+", N("s"), N("i"))), *trailing])]


GOOD = [
    [n.Assign("y", n.Call(LAST, (n.Star(N("x")), C(1)), ((None, N("c")), ("axis", C(0)))))],
    [n.Assign("y", n.Call(n.Attr(N("x"), "sum")))],
    [n.Assign("y", n.Index(N("x"), n.TupleExpr((n.Slice(C(1), None), C(None)))))],
    [n.If(N("c"), [COPY], [n.Assign("y", C(1))]), n.Effect(N("y"))],
    [n.Assign("s", C(0)), *carried(n.Assign("s", N("s_1"))), n.Effect(N("s"))],
    carried(n.Assign("s", N("s_1"))),
    [n.For("i", N("x"), [n.If(N("c"), [n.Assign("stop", C(True))], [n.Assign("stop", C(False))])], "stop")],
]

BAD_SHAPE = [
    n.Assign("y", NESTED),
    n.Effect(n.Call(n.Attr(n.Call(LAST), "sum"))),
    n.Effect(n.Call(LAST, (NESTED,))),
    n.Assign("y", n.Star(N("x"))),
    n.Assign("y", n.IfExp(N("c"), N("x"), C(1))),
    n.If(n.Unary("not", N("c")), [], []),
    n.Store(n.Index(N("x"), NESTED), C(1)),
    n.Store(n.Index(N("x"), C(0)), NESTED),
    n.Raise(n.Call(n.Ref("ValueError", ValueError)), None),
    n.For("i", n.Call(n.Global("range"), (NESTED,)), []),
    n.For("i", N("x"), [n.Break()]),
    n.If(N("c"), [n.Return(N("x"))], []),
]

BAD_BINDINGS = [
    ([COPY, n.Assign("y", C(2))], "'y' is bound again"),
    ([n.Assign("x", C(2))], "'x' is bound again"),
    ([n.If(N("c"), [COPY], []), n.Assign("y", C(1))], "'y' is bound again"),
    ([n.If(N("c"), [COPY, n.Assign("y", C(1))], [])], "'y' is bound again"),
    ([n.Effect(N("z")), n.Assign("z", C(1))], "'z' is read but bound on no path"),
    ([n.If(N("c"), [COPY], [n.Effect(N("y"))])], "'y' is read but bound on no path"),
    ([n.Assign("s", n.Unary("-", N("x"))), *carried(n.Assign("s", N("s_1")))], "computed under this name"),
    ([n.Assign("s", C(0)), *carried(n.Assign("s", N("s_1")), n.Effect(N("x")))], "'s' is bound again"),
    (
        [
            n.Assign("a", C(0)),
            n.Assign("b", C(1)),
            n.For("i", N("x"), [n.Assign("b_1", N("a")), n.Assign("a", N("i")), n.Assign("b", N("a"))]),
        ],
        "read after it was bound for the next iteration",
    ),
    ([n.For("i", N("x"), [n.If(N("c"), [n.Assign("stop", C(True))], [])], "stop")], "not bound on every path"),
    ([n.Update(N("x"), "+", C(1))], "operation that has no place"),
]


@pytest.mark.parametrize("body", GOOD, ids=range(len(GOOD)))
def test_normal_form_passes(body: list[n.Stmt]) -> None:
    check_normal(function(*body), versioned=True)


@pytest.mark.parametrize("statement", BAD_SHAPE, ids=range(len(BAD_SHAPE)))
@pytest.mark.parametrize("versioned", [False, True])
def test_wrong_shapes_are_named(statement: n.Stmt, versioned: bool) -> None:
    statement.line = 17
    for block in (statement, *getattr(statement, "body", [])):
        block.line = 17
    with pytest.raises(NotNormalForm, match="line 17: "):
        check_normal(function(statement), versioned)


@pytest.mark.parametrize(("body", "message"), BAD_BINDINGS, ids=range(len(BAD_BINDINGS)))
def test_wrong_bindings_are_named(body: list[n.Stmt], message: str) -> None:
    with pytest.raises(NotNormalForm, match=message):
        check_normal(function(*body), versioned=True)


def test_rebinding_is_right_before_versions() -> None:
    check_normal(function(COPY, n.Assign("y", C(1)), n.Update(N("y"), "+", C(1))), versioned=False)


def test_one_return_last() -> None:
    with pytest.raises(NotNormalForm, match="return"):
        check_normal(n.Function("f", [], [n.Effect(C(1))]), versioned=False)


def test_nested_functions_are_checked() -> None:
    inner = n.Function("g", [], [n.Return(NESTED)])
    with pytest.raises(NotNormalForm, match="g, line"):
        check_normal(function(n.Assign("g", n.Closure(inner, ()))), versioned=True)
