"""Copies are followed only while they hold; factors, powers and shapes are folded only where nothing changes."""

import numpy as np
import pytest

from thunkad.emit.module import emit
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import NUMERIC, PY_INT, PY_REAL, Num
from thunkad.optimise.copies import propagate
from thunkad.optimise.fold import folder
from thunkad.optimise.tidy import tidy
from thunkad.runtime.elementwise import power_partial
from thunkad.runtime.shapes import broadcast

REAL_ARRAY, INT_ARRAY = Num("array", "real"), Num("array", "int")


def names(*ids):
    return tuple(map(n.Name, ids))


def text(block):
    params = [n.Param(p) for p in ("a", "b", "c", "xs")]
    return emit([n.Function("f", params, block)], {}).text.split("\n", 1)[1]


def let(target, value):
    return n.Assign(target, n.Name(value) if isinstance(value, str) else value)


def times(left, right):
    return n.Binary("*", *names(left, right))


def test_a_copy_is_followed():
    block = propagate([let("x_bar", "a"), let("y_bar", times("x_bar", "b"))])
    assert "y_bar = a * b" in text(block)


@pytest.mark.parametrize("rebound", ["a", "x_bar"])
def test_not_after_either_name_is_bound_again(rebound):
    block = [let("x_bar", "a"), let(rebound, "b"), let("y_bar", times("x_bar", "c"))]
    assert "y_bar = x_bar * c" in text(propagate(block)) or rebound == "x_bar" and "y_bar = b * c" in text(propagate(block))


def test_not_after_an_update_of_the_source():
    block = [let("a_bar", "b"), let("x_bar", "a_bar"), n.Update(n.Name("a_bar"), "+", n.Name("c")), let("y_bar", times("x_bar", "c"))]
    assert "y_bar = b * c" in text(propagate(block)) or "y_bar = x_bar * c" in text(propagate(block))
    assert "y_bar = a_bar * c" not in text(propagate(block))


def test_not_past_a_loop_that_binds_the_source():
    loop = n.For("k", n.Name("xs"), [let("a", times("a", "b"))])
    block = [let("x_bar", "a"), loop, let("y_bar", times("x_bar", "c"))]
    assert "y_bar = x_bar * c" in text(propagate(block))


def test_not_into_a_loop_that_binds_the_source_later():
    loop = n.For("k", n.Name("xs"), [let("y_bar", times("x_bar", "c")), let("a", times("a", "b"))])
    assert "y_bar = x_bar * c" in text(propagate([let("x_bar", "a"), loop]))


def test_not_out_of_an_arm():
    branch = n.If(n.Name("a"), [let("x_bar", "b")], [let("x_bar", "c")])
    assert "y_bar = x_bar * c" in text(propagate([branch, let("y_bar", times("x_bar", "c"))]))


def test_names_of_the_users_stay():
    assert "y_bar = h * b" in text(propagate([let("h", "a"), let("y_bar", times("h", "b"))]))


def test_a_flag_that_only_repeats_a_test_is_that_test():
    branch = n.If(n.Name("a"), [let("stop_1", n.Const(True)), let("t", "b")], [let("stop_1", n.Const(False)), let("t", "c")])
    loop = n.For("k", n.Name("xs"), [branch], "stop_1")
    assert "if a:\n            break" in text(propagate([loop]))


def test_a_flag_under_a_name_of_the_users_stays():
    branch = n.If(n.Name("a"), [let("done", n.Const(True))], [let("done", n.Const(False))])
    assert "done = True" in text(propagate([branch, n.Return(n.Name("done"))]))


def power(x, p):
    return n.Call(n.Ref("power_partial", power_partial), (n.Name(x), n.Const(p)))


@pytest.mark.parametrize(
    "p, kind, expected",
    [
        (2, REAL_ARRAY, "2 * x"), (3, REAL_ARRAY, "3 * x ** 2"), (0.5, REAL_ARRAY, "0.5 * x ** -0.5"),
        (-1, REAL_ARRAY, "-1 * x ** -2"), (1, REAL_ARRAY, "1.0"), (2, PY_REAL, "2 * x"), (3, PY_REAL, "3 * x ** 2"),
        (-1, PY_REAL, None), (0.5, PY_REAL, None), (2.5, PY_REAL, None), (3, INT_ARRAY, None), (-2, PY_INT, None),
        (0, REAL_ARRAY, None), (3, NUMERIC, None),
    ],
)  # fmt: skip
def test_powers(p, kind, expected):
    found = folder({"x": kind})(power("x", p))
    if expected is None:
        assert found == power("x", p)
        return
    printed = emit([n.Function("f", [n.Param("x")], [n.Return(found)])], {})
    assert printed.text.splitlines()[1].strip() == f"return {expected}"
    x = np.array([0.5, 2.0]) if kind is REAL_ARRAY else 1.5
    np.testing.assert_allclose(eval(expected, {"x": x}), power_partial(x, p))


def test_a_factor_of_one_stays_where_it_makes_floats():
    fold = folder({"s": Num("scalar", "real"), "x": REAL_ARRAY, "mask": Num("array", "bool"), "k": PY_INT})
    one = n.Const(1.0)
    assert fold(n.Binary("*", one, n.Name("s"))) == n.Name("s")
    assert fold(n.Binary("*", n.Const(-1.0), n.Name("x"))) == n.Unary("-", n.Name("x"))
    assert fold(n.Binary("*", one, times("x", "x"))) == times("x", "x")
    for name in ("mask", "k", "unheard_of"):
        assert fold(n.Binary("*", one, n.Name(name))) == n.Binary("*", one, n.Name(name))


def test_a_factor_of_one_stays_where_it_makes_memory_of_the_adjoints_own():
    product = n.Binary("*", n.Const(1.0), n.Name("x"))
    assert folder({"x": REAL_ARRAY})(product) == product


def test_a_shape_broadcast_with_itself():
    fold = folder({})
    ref = n.Ref("broadcast", broadcast)
    assert fold(n.Call(ref, names("a", "a"))) == n.Name("a")
    assert fold(n.Call(ref, names("a", "b", "a"))) == n.Call(ref, names("a", "b"))


def test_branches_with_only_an_else_are_turned_around():
    assert text(tidy([n.If(n.Name("a"), [], [let("t", "b")])])).startswith("    if not a:\n        t = b")
    not_a = n.Unary("not", n.Name("a"))
    assert text(tidy([n.If(not_a, [], [let("t", "b")])])).startswith("    if a:\n        t = b")
    assert tidy([n.If(n.Name("a"), [], []), n.Effect(n.Name("a"))]) == []


@pytest.mark.parametrize(("kind", "folded"), [(REAL_ARRAY, True), (PY_REAL, True), (INT_ARRAY, False)])
def test_a_sum_of_one_name_with_a_sign_is_one_product(kind, folded):
    fold = folder({"a": kind})
    e = fold(n.Unary("-", n.Binary("+", *names("a", "a"))))
    assert text([n.Assign("y", e)]) == ("    y = -2 * a\n" if folded else "    y = -(a + a)\n")
