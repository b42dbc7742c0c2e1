"""Closure variables as parameters of a text that stands alone."""

from thunkad.emit.module import emit
from thunkad.emit.parameters import closed_over_as_parameters
from thunkad.emit.standalone import standalone
from thunkad.ir.nodes import (
    Assign, Binary, Call, Closure, Const, Define, Function, Global, If, Name, Param, Ref, Return, TupleExpr,
)  # fmt: skip


def function(name, params, body, **more):
    return Function(name, [Param(p) for p in params], body, **more)


def run(functions, names):
    text = standalone(emit(closed_over_as_parameters(functions, names)), {})
    namespace = {}
    exec(text, namespace)
    return namespace, text


def test_only_what_is_needed_becomes_a_parameter_in_a_fixed_order():
    f = function("f", ["x"], [Return(TupleExpr((Global("b"), Global("a"), Name("x"), Global("len"))))])
    g = function("g", ["x"], [Return(Name("x"))])
    namespace, text = run([f, g], ("a", "b", "c"))
    assert "def f(a, b, x):" in text and "def g(x):" in text
    assert namespace["f"](1, 2, 3) == (2, 1, 3, len)
    assert f.captures == () and type(f.body[0].value.items[0]) is Global  # the argument is left alone


def test_needs_are_passed_on():
    deepest = function("<lambda>", ["y"], [Return(Binary("*", Global("w"), Binary("+", Name("k"), Name("y"))))], captures=("k",))
    middle = function("middle", [], [Return(Closure(deepest, (Const(1),)))])
    by_ref = function("by_ref", ["x"], [Return(Call(Call(Ref("middle", middle)), (Name("x"),)))])
    by_name = function("by_name", ["x"], [Return(Call(Name("by_ref"), (Name("x"),)))])
    as_value = function("as_value", [], [Return(TupleExpr((Ref("m", middle), Name("by_ref"))))])
    namespace, text = run([by_name, by_ref, as_value], ("w",))
    assert namespace["by_name"](10, 4) == 50
    m, r = namespace["as_value"](10)
    assert m()(4) == 50 and r(4) == 50
    assert text.count("def middle(w):") == 1


def test_recursion_and_nested_definitions():
    loop = function("loop", ["n"], [])
    inner = function("inner", [], [Return(Binary("+", Global("w"), Call(Ref("loop", loop), (Binary("-", Name("n"), Const(1)),))))])
    loop.body = [If(Name("n"), [Define(inner), Assign("r", Call(Name("inner")))], [Assign("r", Const(0))]), Return(Name("r"))]
    namespace, _ = run([loop], ("w",))
    assert namespace["loop"](5, 3) == 15


def test_a_local_of_the_same_name_keeps_the_variable_global():
    reads = function("reads", [], [Return(Global("w"))])
    f = function("f", ["w"], [Return(Binary("+", Name("w"), Call(Ref("reads", reads))))])
    assert closed_over_as_parameters([f], ("w",)) == [f]
    namespace, text = run([f], ("w",))
    assert "# w: must be defined here" in text
    namespace["w"] = 1
    assert namespace["f"](2) == 3
