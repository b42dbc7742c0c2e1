"""Text of generated modules, and what it evaluates to."""

import ast
import math

import numpy as np
import pytest

from thunkad.compiled.load import load
from thunkad.emit.module import emit, same
from thunkad.errors import ThunkadError, UnsupportedSyntaxError
from thunkad.ir.nodes import (
    Append, Assert, Assign, Attr, Binary, Break, Call, Comment, Compare, Const, Continue, Define, Delete,
    DictExpr, Effect, For, Function, Global, If, IfExp, Index, Inplace, Lambda, ListExpr, Name, Param, Raise,
    Return, SetExpr, Slice, Star, Store, TupleExpr, Unary, Unpack, Update, While,
)  # fmt: skip


def function(body, params=("x",), name="f", **more):
    return Function(name, [p if isinstance(p, Param) else Param(p) for p in params], body, **more)


def text(body, params=("x",), **more):
    return emit([function(body, params, **more)]).text


def run(body, *args, params=("x",), fn=None):
    f = load(emit([function(body, params)]), ["f"], fn, "test")["f"]
    return f(*args)


def value(e, *args, params=("x",)):
    return run([Return(e)], *args, params=params)


def test_a_plain_function_reads_as_it_would_be_written():
    body = [
        Assign("t1", Binary("@", Name("x"), Name("w"))),
        Comment("reverse"),
        Assign("t2", Call(Attr(Global("np"), "exp"), (Name("t1"),), (("out", Name("t1")),))),
        Return(TupleExpr((Name("t1"), Name("t2")))),
    ]
    assert text(body, ("x", "w")) == (
        "def f(x, w):\n    t1 = x @ w\n    # reverse\n    t2 = np.exp(t1, out=t1)\n    return t1, t2\n"
    )


def test_an_empty_function_and_one_of_comments_only():
    assert text([], ()) == "def f():\n    pass\n"
    assert text([Comment("one\ntwo")], ()) == "def f():\n    # one\n    # two\n    pass\n"


@pytest.mark.parametrize(
    "constant",
    [0, 1, -1, 10**400, 1.5, -1.5, 0.0, -0.0, math.inf, -math.inf, 1e308, 2j, -2j, complex(-0.0, 2.0), complex(1, -0.0),
     complex(math.inf, 1), "", "a'b\"c\n\\", "é\ud800", b"\x00a", True, False, None, ..., (1, (2.0, "x")), "x" * 300],
)  # fmt: skip
def test_constants_keep_type_and_value(constant):
    got = value(Const(constant), 0)
    assert type(got) is type(constant) and repr(got) == repr(constant)
    if type(constant) is complex:
        assert math.copysign(1, got.real) == math.copysign(1, constant.real)
        assert math.copysign(1, got.imag) == math.copysign(1, constant.imag)


def test_nan_and_objects_that_are_no_literals():
    assert math.isnan(value(Const(math.nan), 0))
    assert math.isnan(value(Const(complex(0, math.nan)), 0).imag)
    number = np.float64(2)
    assert value(Const(number), 0) is number


def test_operators_of_a_constant_keep_their_brackets():
    assert value(Binary("**", Const(-2), Const(2)), 0) == 4
    assert value(Unary("-", Binary("**", Const(2), Const(2))), 0) == -4
    assert value(Attr(Const(3), "real"), 0) == 3
    assert value(Attr(Const(-3), "real"), 0) == -3
    assert value(Binary("-", Const(1), Binary("-", Const(2), Const(3))), 0) == 2
    assert value(Binary("**", Binary("**", Const(2), Const(3)), Const(2)), 0) == 64
    assert value(Unary("-", Unary("-", Name("x"))), 5) == 5
    assert value(Unary("not", Compare("in", Name("x"), TupleExpr((Const(1),)))), 5) is True
    assert value(Compare("<", Compare("<", Const(3), Const(2)), Const(1)), 0) is True  # (3 < 2) < 1
    assert value(IfExp(Name("x"), IfExp(Const(0), Const(1), Const(2)), Const(3)), 1) == 2
    assert value(Call(Lambda(("y",), Binary("+", Name("x"), Name("y"))), (Const(2),)), 1) == 3
    assert value(Call(Lambda((), IfExp(Name("x"), Const(1), Const(2)))), 1) == 1


def test_displays_and_stars():
    x = Star(Name("x"))
    assert value(TupleExpr((Const(1), x)), [2]) == (1, 2)
    assert value(TupleExpr((x,)), [2]) == (2,)
    assert value(TupleExpr(()), 0) == ()
    assert value(ListExpr((x, x)), [2]) == [2, 2]
    assert value(SetExpr(()), 0) == set()
    assert value(SetExpr((x, Const(1))), [2]) == {1, 2}
    assert value(DictExpr((None, Const("b")), (Name("x"), Const(2))), {"a": 1}) == {"a": 1, "b": 2}
    assert value(DictExpr((TupleExpr((Const(1), Const(2))),), (TupleExpr((Const(3),)),)), 0) == {(1, 2): (3,)}
    assert value(Call(Global("dict"), (), ((None, Name("x")), ("b", Const(2)))), {"a": 1}) == {"a": 1, "b": 2}
    assert value(Call(Global("max"), (Const(0), x)), [2, 3]) == 3


def test_subscripts():
    x = np.arange(24).reshape(2, 3, 4)
    some = Slice(Const(1), None, None)
    assert np.array_equal(value(Index(Name("x"), TupleExpr((Const(...), Slice()))), x), x[..., :])
    assert np.array_equal(value(Index(Name("x"), TupleExpr((some,))), x), x[1:,])
    assert np.array_equal(value(Index(Name("x"), Slice(None, None, Const(-1))), x), x[::-1])
    assert np.array_equal(value(Index(Name("x"), TupleExpr((some, Star(TupleExpr((Const(0), Const(1))))))), x), x[1:, 0, 1])
    assert value(Index(Name("x"), TupleExpr(())), np.float64(3)) == 3
    assert value(TupleExpr((Slice(None, Const(2)), Const(1))), 0) == (slice(None, 2, None), 1)
    nested = TupleExpr((TupleExpr((Const(0), Const(1))), Slice()))
    assert np.array_equal(value(Index(Name("x"), nested), x), x[(0, 1), :])


def test_inplace():
    def add(left, right):
        return [Assign("x", Inplace("+", left, right)), Return(Name("x"))]

    assert text(add(Name("x"), Const(1))) == "def f(x):\n    x += 1\n    return x\n"
    x = np.ones(2)
    assert run(add(Name("x"), Const(1)), x) is x and x[0] == 2
    body = [Assign("x_1", Inplace("+", Name("x"), Name("x"))), Return(Name("x_1"))]
    assert text(body) == "def f(x):\n    x_1 = x\n    x_1 += x\n    return x_1\n"
    # x = y; x += x would be wrong
    assert run(add(Name("y"), Name("x")), 1, 10, params=("x", "y")) == 11
    with pytest.raises(TypeError, match="statement"):
        value(Binary("+", Inplace("+", Name("x"), Const(1)), Const(1)), 0)
    assert run([Assign("x", Inplace("+", Name("x"), TupleExpr((Star(Name("x")),)))), Return(Name("x"))], (1,)) == (1, 1)


def test_stores_updates_appends_deletes_effects():
    body = [
        Assign("out", ListExpr(())),
        Append("out", Index(Name("x"), Const(0))),
        Store(Index(Name("x"), Slice(Const(0), Const(1))), TupleExpr((Const(5),))),
        Update(Index(Name("x"), Const(1)), "*", Const(3)),
        Delete(Index(Name("x"), Const(2))),
        Effect(Call(Attr(Name("x"), "append"), (Const(9),))),
        Unpack(("a", "b", "c"), Name("x")),
        Delete(Name("b")),
        Update(Name("a"), "-", Const(1)),
        Unpack((), TupleExpr(())),
        Unpack(("d",), TupleExpr((Const(4),))),
        Return(TupleExpr((Name("out"), Name("a"), Name("c"), Name("d")))),
    ]
    assert run(body, [1, 2, 3]) == ([1], 4, 9, 4)

    class Box:
        pass

    box = Box()
    run([Store(Attr(Name("x"), "a"), Const(1)), Update(Attr(Name("x"), "a"), "+", Const(2)), Return(Const(None))], box)
    assert box.a == 3
    run([Delete(Attr(Name("x"), "a"))], box)
    assert not hasattr(box, "a")


def test_if_chains_print_as_elif():
    def arm(k):
        return [Assign("y", Const(k))]

    test = Compare("<", Name("x"), Const(1))
    body = [If(test, arm(1), [If(Name("x"), arm(2), arm(3))]), If(test, [], [Comment("none")]), Return(Name("y"))]
    assert "    elif x:\n        y = 2\n    else:\n        y = 3\n" in text(body)
    assert [run(body, v) for v in (0, 2)] == [1, 2]


def chain(k, last):
    """if x == 0: return 0; if x == 1: return 1; ... with one exit."""
    out = [Assign("r", Const(-1))]
    for i in reversed(range(k)):
        test = f"t{i}"
        out = [Assign(test, Compare("==", Name("x"), Const(i))), If(Name(test), [Assign("r", Const(i))], out)]
    return [*out, last]


def test_a_test_that_is_read_once_moves_into_its_if():
    body = chain(300, Return(Name("r")))  # far more levels than Python can indent
    assert "\n    elif x == 299:\n        r = 299\n    else:\n" in text(body)
    assert [run(body, k) for k in (0, 299, 300)] == [0, 299, -1]
    kept = chain(1, Return(TupleExpr((Name("r"), Name("t0")))))
    assert "    t0 = x == 0\n    if t0:\n" in text(kept)
    deleted = [*chain(1, Delete(Name("t0"))), Return(Name("r"))]
    assert "    t0 = x == 0\n    if t0:\n" in text(deleted)
    assert run(deleted, 0) == 0
    negated = [Assign("t", Name("x")), If(Unary("not", Name("t")), [Return(Const(1))], []), Return(Const(2))]
    assert "    if not x:\n" in text(negated) and [run(negated, v) for v in (0, 1)] == [1, 2]


def test_more_blocks_than_python_allows_is_an_error_that_says_so():
    body = [Return(Name("x"))]
    for _ in range(120):
        body = [If(Name("x"), body, [])]
    with pytest.raises(UnsupportedSyntaxError, match="indentation"):
        text(body)


def test_for_with_count_and_stop():
    body = [
        Assign("s", Const(0)),
        For("v", Name("x"), [Assign("s", Binary("+", Name("s"), Name("i"))), Assign("stop", Name("v"))], "stop", "i"),
        Return(Name("s")),
    ]
    assert "    for i, v in enumerate(x):\n" in text(body)
    assert "        if stop:\n            break\n" in text(body)
    assert run(body, [0, 0, 1, 0]) == 3


def test_while_folds_a_test_that_is_read_once():
    less = [Assign("t", Compare("<", Name("x"), Const(5)))]
    more = [Assign("x", Binary("+", Name("x"), Const(1)))]
    assert "    while x < 5:\n        x = x + 1\n" in text([While(less, Name("t"), more), Return(Name("x"))])
    assert "    while x:\n" in text([While([], Name("x"), [Assign("x", Const(0))]), Return(Name("x"))])
    kept = [While(less, Name("t"), more), Return(Name("t"))]
    assert "    while True:\n        t = x < 5\n        if not t:\n            break\n" in text(kept)
    assert run(kept, 0) is False
    two = [Assign("t0", Binary("-", Name("x"), Const(1))), Assign("t", Compare(">=", Name("t0"), Const(5)))]
    body = [While(two, Unary("not", Name("t")), more, "s"), Return(Name("x"))]
    body[0].body = [*more, Assign("s", Compare("==", Name("x"), Const(3)))]
    assert "        if t:\n            break\n" in text(body)
    assert run(body, 0) == 3


def test_raise_assert_break_continue():
    error = Call(Global("ValueError"), (Const("no"),))
    with pytest.raises(ValueError, match="no") as caught:
        run([Raise(error, Const(None))], 0)
    assert caught.value.__suppress_context__
    assert text([Raise(None, None)]) == "def f(x):\n    raise\n"
    plain = [Assert(Name("x"), [], None), Assert(Name("x"), [Assign("m", Const("t"))], Name("m")), Return(Const(1))]
    assert text(plain) == "def f(x):\n    assert x\n    assert x, 't'\n    return 1\n"
    long = [Assign("a", Const("t")), Assign("m", Binary("+", Name("a"), Name("a")))]
    late = [Assert(Name("x"), long, Name("m")), Return(Const(1))]
    assert run(late, 1) == 1
    with pytest.raises(AssertionError, match="tt"):
        run(late, 0)
    body = [For("i", Name("x"), [If(Name("i"), [Break()], [Continue()])]), Return(Name("i"))]
    assert run(body, [0, 3, 4]) == 3


def test_parameters_of_every_kind():
    params = [Param("a"), Param("b", has_default=True), Param("r", "var_positional"), Param("k", "keyword"),
              Param("kw", "var_keyword")]  # fmt: skip
    f = function([Return(Name("k"))], params, captures=("c",))
    assert emit([f]).text == "def f(c, a, b, *r, k, **kw):\n    return k\n"
    f = function([Return(Name("c"))], [Param("c"), Param("a"), Param("k", "keyword")], captures=("c",))
    assert emit([f]).text == "def f(c, a, *, k):\n    return c\n"


def test_nested_definitions_see_the_variables_around_them():
    inner = function([Return(Binary("*", Name("x"), Name("y")))], ["y"], "pullback")
    assert run([Define(inner), Return(Name("pullback"))], 3)(4) == 12


def test_names_that_nothing_binds_are_refused():
    with pytest.raises(ThunkadError, match="'y'"):
        text([Return(Name("y"))])
    with pytest.raises(ThunkadError, match="local and a global"):
        text([Return(Binary("+", Name("x"), Global("x")))])
    with pytest.raises(ThunkadError, match="local and a global"):
        text([Return(Lambda(("y",), Global("y")))])
    with pytest.raises(ThunkadError, match="local and a global"):
        text([Define(function([Return(Global("x"))], [], "inner")), Return(Name("inner"))])


def test_lines_lead_back_to_the_users_file():
    f = function(
        [
            Comment("a comment"),
            If(Name("x"), [Assign("y", Const(1), line=12)], [If(Name("x"), [], [Assign("y", Const(2), line=15)], line=14)], line=11),
            Assign("z", Call(Global("print"), tuple(Const("a" * 30) for _ in range(8))), line=16),
            Return(Name("y")),
        ],
        filename="user.py",
        line=10,
    )  # fmt: skip
    emitted = emit([f])
    numbered = {k + 1: line for k, line in enumerate(emitted.text.splitlines())}
    got = {numbered[k].split("'")[0].strip(): origin for k, (name, origin) in emitted.lines.items() if name == "user.py"}
    assert got["def f(x):"] == 10 and got["if x:"] == 11 and got["y = 1"] == 12 and got["elif x:"] == 14
    assert got["y = 2"] == 15 and got["z = print("] == 16
    assert sum(origin == 16 for _, origin in emitted.lines.values()) > 1  # a wrapped statement has several lines
    assert "return y" not in got and max(map(len, emitted.text.splitlines())) <= 105


def test_same_tells_trees_apart():
    assert same(ast.parse("x = 1"), ast.parse("x  =  1"))
    for other in ("x = 1.0", "x = True", "y = 1", "x = 1; y = 2", "x = -1"):
        assert not same(ast.parse("x = 1"), ast.parse(other))


def test_deep_nesting_does_not_overflow():
    e = Name("x")
    for _ in range(60):
        e = Call(Global("abs"), (Unary("-", e),))
    assert value(e, 3) == 3
    deep = Name("x")
    for _ in range(600):
        deep = Binary("+", deep, Const(1))
    assert value(deep, 0) == 600
