"""Generated functions live in the user's globals and closure cells, and leave no trace in them."""

import functools
import gc
import inspect
import linecache
import sys
import traceback
import types

import pytest

from thunkad.compiled.load import generated, load
from thunkad.emit.module import emit
from thunkad.ir.nodes import (
    Assign, Binary, Call, Closure, Comment, Compare, Const, Define, Effect, Function, Global, If, Name, Param, Ref,
    Return, TupleExpr,
)  # fmt: skip

SCALE = 10


def function(name, params, body, **more):
    return Function(name, [Param(p) for p in params], body, **more)


def build(functions, fn=None, label="grad of m.f"):
    names = [f.name for f in functions]
    return load(emit(functions, fn and fn.__globals__), names, fn, label)


def user_function(w):
    def f(x):
        return w * x * SCALE

    def rebind(value):
        nonlocal w
        w = value

    return f, rebind


def test_globals_and_cells_are_read_live(monkeypatch):
    fn, rebind = user_function(2)
    before = set(globals())
    body = [Return(Binary("*", Binary("*", Global("w"), Name("x")), Global("SCALE")))]
    f = build([function("f", ["x"], body)], fn)["f"]
    assert f(3) == 60
    rebind(5)
    assert f(3) == 150
    monkeypatch.setitem(globals(), "SCALE", 1)
    assert f(3) == 15
    assert set(globals()) == before
    assert f.__globals__ is globals() and f.__closure__[f.__code__.co_freevars.index("w")] in fn.__closure__


def test_pinned_objects_never_collide_with_the_users_names():
    first, second = object(), object()
    body = [
        Assign("np", Const(1)),
        Assign("t1", Ref("np", first)),
        Assign("unbroadcast", Ref("t1", second)),
        Return(TupleExpr((Name("np"), Name("t1"), Name("unbroadcast"), Ref("np", first), Global("SCALE"), Ref("SCALE", 3)))),
    ]
    emitted = emit([function("f", [], body)], globals())
    assert emitted.refs == {"np_1": first, "t1_1": second, "SCALE_1": 3}
    fn, _ = user_function(0)
    assert load(emitted, ["f"], fn, "x")["f"]() == (1, first, second, first, 10, 3)


def test_a_module_keeps_the_users_spelling_and_a_builtin_is_safe_from_the_user():
    body = [Return(TupleExpr((Global("functools"), Ref("functools", functools), Ref("len", len), Ref("sum", SCALE))))]
    emitted = emit([function("f", [], body)], globals())
    assert emitted.refs == {"len": len, "sum_1": SCALE} and emitted.globals == ("functools",)
    fn, _ = user_function(0)
    f = load(emitted, ["f"], fn, "x")["f"]
    globals()["len"] = None
    try:
        assert f() == (functools, functools, _LEN, SCALE)
    finally:
        del globals()["len"]


_LEN = len


def test_a_function_that_is_pinned_does_not_follow_the_users_rebinding(monkeypatch):
    body = [Return(TupleExpr((Global("user_function"), Ref("user_function", user_function))))]
    fn, _ = user_function(0)
    old = user_function
    f = build([function("f", [], body)], fn)["f"]
    monkeypatch.setitem(globals(), "user_function", None)
    assert f() == (None, old)


def test_lifted_functions_and_their_captures():
    inner = function("<lambda>", ["y"], [Return(Binary("*", Global("w"), Binary("+", Name("a"), Name("y"))))], captures=("a",))
    plain = function("<lambda>", ["y"], [Return(Binary("-", Name("y"), Const(1)))])
    outer = function(
        "f", ["x"], [Return(TupleExpr((Closure(inner, (Name("x"),)), Closure(plain, ()), Closure(inner, (Const(0),)))))]
    )
    fn, rebind = user_function(2)
    emitted = emit([outer])
    assert len(emitted.functions) == 3
    g, h, k = load(emitted, ["f"], fn, "x")["f"](3)
    rebind(10)
    assert (g(4), h(4), k(4)) == (70, 3, 40)


def test_defaults_of_a_lifted_function_are_evaluated_where_it_is_made():
    params = [Param("y"), Param("d", has_default=True), Param("r", "var_positional"), Param("k", "keyword"),
              Param("kw", "var_keyword")]  # fmt: skip
    everything = TupleExpr(tuple(Name(i) for i in ("a", "y", "d", "r", "k", "kw")))
    inner = Function("g", params, [Return(everything)], captures=("a",))
    make = Closure(inner, (Name("x"),), (Binary("+", Name("x"), Const(1)),), (("k", Name("x")),))
    body = [Assign("g", make), Assign("x", Const(None)), Return(Name("g"))]
    g = build([function("f", ["x"], body)])["f"](5)
    assert g(1) == (5, 1, 6, (), 5, {}) and g(1, 2, 3, k=4, z=9) == (5, 1, 2, (3,), 4, {"z": 9})
    assert g(1, d=0) == (5, 1, 0, (), 5, {})

    bare = Function("g", [Param("y", has_default=True)], [Return(Name("y"))])
    assert build([function("f", ["x"], [Return(Closure(bare, (), (Name("x"),)))])])["f"](5)() == 5
    only = Function("g", [Param("k", "keyword")], [Return(Name("k"))])
    emitted = emit([function("f", ["x"], [Return(Closure(only, (), (), (("k", Name("x")),)))])])
    assert "return with_defaults(g, (), {'k': x})" in emitted.text
    h = load(emitted, ["f"], None, "x")["f"](5)
    assert (h(), h(k=1)) == (5, 1)


def test_the_class_cell_of_a_method_is_shared():
    class Base:
        def m(self):
            return __class__

    body = [Return(Global("__class__"))]
    assert build([function("f", ["self"], body)], Base.m)["f"](None) is Base


def parity(name, other, base):
    test = Compare("==", Name("n"), Const(0))
    less = Binary("-", Name("n"), Const(1))
    return function(name, ["n"], [If(test, [Return(Const(base))], []), Return(Call(other, (less,)))])


def test_mutual_recursion_by_name_and_by_reference():
    odd = parity("odd", Name("even"), False)
    even = parity("even", Ref("odd", odd), True)
    out = build([even, odd])
    assert [out["even"](k) for k in range(4)] == [True, False, True, False]
    loop = parity("loop", Const(None), 7)
    loop.body[-1] = Return(Call(Ref("loop", loop), (Binary("-", Name("n"), Const(1)),)))
    assert build([loop])["loop"](20) == 7


def test_a_generated_name_that_the_user_reads_as_a_global_is_renamed():
    f = function("SCALE", [], [Return(Global("SCALE"))])
    fn, _ = user_function(0)
    assert build([f], fn)["SCALE"]() == 10


def test_source_is_what_inspect_shows():
    inner = function("pullback", ["y"], [Return(Binary("*", Name("x"), Name("y")))])
    f = function("f", ["x"], [Comment("a note"), Define(inner), Return(Name("pullback"))])
    g = function("g", ["x"], [Return(Ref("f", f))])
    out = build([f, g])
    assert inspect.getsource(out["f"]) == (
        "def f(x):\n    # a note\n\n    def pullback(y):\n        return x * y\n    return pullback\n"
    )
    assert inspect.getsource(out["g"]) == "def g(x):\n    return f\n"
    pullback = out["f"](2)
    assert inspect.getsource(pullback) == "    def pullback(y):\n        return x * y\n"
    assert out["f"].__qualname__ == "f" and pullback.__qualname__ == "f.<locals>.pullback"
    assert out["f"].__code__.co_filename.startswith("<thunkad grad of m.f #")


def test_a_debugger_stops_at_the_lines_of_the_text():
    f = build([function("f", ["x"], [Assign("y", Name("x")), Comment("c"), Assign("z", Name("y")), Return(Name("z"))])])["f"]
    seen = []

    def tracer(frame, event, arg):
        if frame.f_code is f.__code__ and event == "line":
            seen.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
        return tracer

    sys.settrace(tracer)
    try:
        f(1)
    finally:
        sys.settrace(None)
    assert seen == ["y = x", "z = y", "return z"]


def test_text_lives_as_long_as_any_of_its_code():
    inner = function("pullback", ["y"], [Return(Binary("/", Name("x"), Name("y")))])
    f = build([function("f", ["x"], [Define(inner), Return(Name("pullback"))])])["f"]
    filename = f.__code__.co_filename
    pullback = f(2)
    del f
    gc.collect()
    linecache.checkcache()
    assert filename in generated
    with pytest.raises(ZeroDivisionError) as caught:
        pullback(0)
    assert "return x / y" in "".join(traceback.format_exception(caught.value))
    del pullback, caught
    gc.collect()
    assert filename not in generated and filename not in linecache.cache


def test_file_names_are_unique():
    f = function("f", [], [Return(Const(1))])
    one, two = build([f])["f"], build([f])["f"]
    assert one.__code__.co_filename != two.__code__.co_filename


def test_defaults_can_be_given():
    f = function("f", ["x", "y"], [Return(TupleExpr((Name("x"), Name("y"))))])
    out = load(emit([f]), ["f"], None, "x", {"f": ((5,), None)})
    assert out["f"](1) == (1, 5)


def test_many_pinned_objects_and_builtins_without_a_users_function():
    refs = [Ref("r", object()) for _ in range(300)]
    f = function("f", [], [Effect(Call(Global("len"), (Const(""),))), Return(TupleExpr(tuple(refs)))])
    got = build([f])["f"]()
    assert all(a is b.value for a, b in zip(got, refs)) and len(got) == 300
    assert isinstance(f, Function) and not isinstance(f, types.FunctionType)
