"""Steps put together into lines: what may be moved and merged, and that the order of evaluation stays what it was."""

from __future__ import annotations

import numpy as np
import pytest

import thunkad as ad
from thunkad.emit.module import emit
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import PY_REAL, Num
from thunkad.optimise.carried import simple_loops
from thunkad.optimise.delay import delayed
from thunkad.optimise.floats import identities
from thunkad.optimise.nest import counts, nested
from thunkad.runtime.accumulate import accumulate
from thunkad.runtime.arrays import zeros
from thunkad.runtime.cotangents import dense, project
from thunkad.testing import check_grads

PARAMS = [n.Param(p) for p in ("a", "b", "c", "xs", "y", "saved", "a_bar", "b_bar", "x_bar")]


def function(*body):
    return n.Function("f", PARAMS, [*body, n.Return(n.Name("y"))])


def lines(f):
    return [line.strip() for line in emit([f], {}).text.splitlines()[1:]]


def call(name, *args):
    return n.Call(n.Global(name), tuple(map(n.Name, args)))


def let(target, value, line=1):
    return n.Assign(target, n.Name(value) if isinstance(value, str) else value, line=line)


def minus(left, right):
    return n.Binary("-", n.Name(left), n.Name(right))


# ------------------------------------------------------------ steps of one line


def test_steps_become_one_line():
    f = function(let("t1", call("g", "a")), let("t2", minus("t1", "b")), let("y", call("h", "t2")))
    assert lines(nested(f)) == ["y = h(g(a) - b)", "return y"]


def test_operands_in_the_order_of_evaluation():
    f = function(let("t1", call("g", "a")), let("t2", call("h", "b")), let("y", minus("t1", "t2")))
    assert lines(nested(f)) == ["y = g(a) - h(b)", "return y"]


def test_nothing_is_evaluated_in_another_order():
    f = function(let("t1", call("g", "a")), let("t2", call("h", "b")), let("y", minus("t2", "t1")))
    assert lines(nested(f)) == ["t1 = g(a)", "y = h(b) - t1", "return y"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([let("z", call("g", "a")), let("y", minus("z", "b"))], id="a name of the user's"),
        pytest.param([let("t1", call("g", "a"), 1), let("y", minus("t1", "b"), 2)], id="another line"),
        pytest.param([let("t1", call("g", "a")), let("y", minus("t1", "t1"))], id="read twice"),
        pytest.param([let("t1", call("g", "a")), let("c", "b"), let("y", minus("t1", "c"))], id="not the next"),
        pytest.param(
            [let("t1", call("g", "a")), n.Update(n.Index(n.Name("y"), n.Const(0)), "+", n.Name("t1"), line=1)],
            id="what is updated is looked up first",
        ),
        pytest.param(
            [let("t1", call("g", "a")), let("y", n.Lambda(("k",), n.Name("t1")))], id="evaluated later, or never"
        ),
    ],
)
def test_not_put_together(body):
    assert lines(nested(function(*body))) == lines(function(*body))


def test_a_long_line_is_not_made_longer():
    f = function(let("t1", call("g" * 50, "a")), let("y", call("h" * 50, "t1")))
    assert len(lines(nested(f))) == 3


# ------------------------------------------------------------ loops


def test_a_carried_variable_is_bound_where_it_is_computed():
    record = n.Append("saved", n.TupleExpr((n.Name("y"),)))
    loop = n.For("k", n.Name("xs"), [let("y_1", minus("y", "k")), record, let("y", "y_1")])
    reverse = n.For("r", n.Call(n.Ref("reversed", reversed), (n.Name("saved"),)), [n.Unpack(("y",), n.Name("r")), let("c", "y")])
    body = [let("saved", n.ListExpr(())), loop, reverse]
    f = function(*simple_loops(body, *counts(body)))
    assert lines(f) == [
        "saved = []",
        "for k in xs:",
        "saved.append(y)",
        "y = y - k",
        "for y in reversed(saved):",
        "c = y",
        "return y",
    ]


@pytest.mark.parametrize("between", [let("b", "a"), n.Effect(call("g", "y_1")), n.Effect(call("g"))], ids=["rebound", "read", "effect"])
def test_not_past_what_matters(between):
    loop = n.For("k", n.Name("xs"), [let("y_1", minus("y", "b")), between, let("y", "y_1")])
    assert lines(function(*simple_loops([loop], *counts([loop])))) == lines(function(loop))


def test_not_where_something_may_be_caught():
    loop = n.For("k", n.Name("xs"), [let("y_1", minus("y", "k")), n.Append("saved", n.Name("y")), let("y", "y_1")])
    guarded = n.Try([loop], [], [let("c", "b")])
    assert lines(function(*simple_loops([guarded], *counts([guarded])))) == lines(function(guarded))


# ------------------------------------------------------------ arrays computed where they are read


def is_array(name):
    return name != "k"


X_BAR = n.Update(n.Index(n.Name("x_bar"), n.Const(0)), "+", n.Name("b"))


def test_an_array_is_computed_where_it_is_read():
    f = function(let("t1_bar", minus("a", "b")), let("x_bar", call_of(zeros, "a")), X_BAR, let("y", minus("t1_bar", "c")))
    f.body = delayed(f, is_array, {"x_bar"})
    assert lines(f)[2:4] == ["t1_bar = a - b", "y = t1_bar - c"]


def call_of(helper, *args):
    return n.Call(n.Ref(helper.__name__, helper), tuple(map(n.Name, args)))


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(n.Effect(call("g", "a")), id="a call of the user's"),
        pytest.param(n.Store(n.Index(n.Name("a"), n.Const(0)), n.Name("b")), id="a store"),
        pytest.param(let("a", call_of(zeros, "b")), id="an operand is rebound"),
        pytest.param(let("b_bar", call_of(accumulate, "b_bar", "c")), id="a sum in place"),
    ],
)
def test_an_array_is_not_moved_past(between):
    f = function(let("t1_bar", minus("a", "b")), between, let("y", minus("t1_bar", "c")))
    f.body = delayed(f, is_array, {"x_bar"})
    assert lines(f)[0] == "t1_bar = a - b"


def test_a_cotangent_is_not_moved_past_an_update_of_one():
    """They may be the same memory."""
    f = function(let("t1_bar", minus("a_bar", "b")), X_BAR, let("y", minus("t1_bar", "c")))
    f.body = delayed(f, is_array, {"x_bar"})
    assert lines(f)[0] == "t1_bar = a_bar - b"


def test_an_array_is_not_moved_past_an_update_of_what_the_user_calls_so():
    def f(x):
        w_bar = np.zeros(2)
        v = w_bar[:1]
        w_bar[0] = x[0]
        y = np.exp(v * x)
        w_bar[0] += x[1]
        return np.sum(y * w_bar)

    check_grads(f, np.array([0.3, 0.7]))


def test_no_more_memory_is_held():
    first = [let("u", call_of(zeros, "a")), let("v", call_of(zeros, "a"))]
    f = function(*first, let("t1_bar", minus("u", "v")), let("w", call_of(zeros, "a")), let("y", minus("t1_bar", "w")))
    f.body = delayed(f, is_array, {"x_bar"})
    assert lines(f)[2] == "t1_bar = u - v"  # one array from there on, not two


# ------------------------------------------------------------ the identity on plain numbers


def test_a_plain_number_needs_no_projection():
    body = [let("s", n.Const(0.0)), n.For("k", n.Name("xs"), [let("s", n.Binary("+", n.Name("s"), n.Name("a")))])]
    simple = identities(body, {"a": PY_REAL, "b": Num("scalar", "real")})
    assert simple(call_of(project, "s", "a")) == n.Name("s")
    assert simple(call_of(dense, "s", "a")) == n.Name("s")
    assert simple(call_of(project, "b", "a")) == call_of(project, "b", "a")  # it may be of single precision
    assert simple(call_of(project, "s", "b")) == call_of(project, "s", "b")


@pytest.mark.parametrize(
    "value",
    [n.Binary("**", n.Name("a"), n.Const(0.5)), n.Name("xs"), n.Binary("*", n.Const(2), n.Const(3)), n.Binary("@", n.Name("a"), n.Name("a"))],
    ids=["complex for negative a", "unknown", "an int", "no product of numbers"],
)
def test_what_may_be_something_else_does(value):
    body = [let("s", n.Name("a")), n.For("k", n.Name("xs"), [let("s", value)])]
    assert identities(body, {"a": PY_REAL})(call_of(project, "s", "a")) == call_of(project, "s", "a")


def test_a_buffer_of_the_adjoint_is_the_gradient_itself():
    body = [let("a_bar", call_of(zeros, "a"))]
    real, whole = (identities(body, {"a": Num("array", field)}) for field in ("real", "int"))
    assert real(call_of(project, "a_bar", "a")) == n.Name("a_bar")
    assert whole(call_of(project, "a_bar", "a")) == call_of(project, "a_bar", "a")
    again = identities([*body, let("a_bar", "b")], {"a": Num("array", "real")})
    assert again(call_of(project, "a_bar", "a")) == call_of(project, "a_bar", "a")


# ------------------------------------------------------------ whole functions


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def dense_layer(w, b, x):
    return np.sum(np.tanh(x @ w + b) ** 2)


def test_rosenbrock_as_one_would_write_it():
    code = ad.adjoint_source(rosenbrock, args=(np.ones(5),)).partition("def ")[2]
    assert "unbroadcast" not in code and "fitted" not in code and "project" not in code
    assert "t2_bar = t7_bar + t4_bar * (-2 * t2)" in code and "t4_bar = 200.0 * (x[1:] - t2 ** 2)" in code
    check_grads(rosenbrock, np.linspace(-1.0, 2.0, 6))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_rosenbrock_of_few(count):
    np.testing.assert_allclose(ad.grad(rosenbrock)(np.full(count, 2.0)), [[], [0.0], [1602.0, -400.0]][count])


@pytest.mark.parametrize("bias", [np.ones(2), np.ones((4, 2)), np.ones((3, 1, 2)), 0.5])
def test_a_product_is_let_go_of_whatever_is_added_to_it(bias):
    w, x = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 1, 12).reshape(4, 3)
    code = ad.adjoint_source(dense_layer, argnums=(0, 1), args=(w, bias, x))
    assert "np.tanh(x @ w + b)" in code
    check_grads(dense_layer, w, bias, x)
