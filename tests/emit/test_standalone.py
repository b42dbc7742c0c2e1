"""Generated modules that run by themselves."""

import collections
import functools
import os.path
import types

import numpy as np

from thunkad.emit.module import emit
from thunkad.emit.standalone import standalone
from thunkad.ir.nodes import Attr, Call, Closure, Function, Global, Name, Param, Ref, Return, TupleExpr

SCALE = 2.5


def helper(x):
    return x


class Outer:
    class Inner:
        pass


def text(*items, globals_of=None, module=None, name="f"):
    emitted = emit([Function(name, [], [Return(TupleExpr(items))])], globals_of)
    return standalone(emitted, globals_of, module)


def run(source, name="f"):
    namespace = {}
    exec(compile(source, "<test>", "exec", dont_inherit=True), namespace)
    return namespace[name]()


def test_pinned_objects_are_imported():
    source = text(
        Ref("np", np), Ref("OD", collections.OrderedDict), Ref("len", len), Ref("path", os.path), Ref("exp", np.exp),
        Ref("sum", np.sum), Ref("Inner", Outer.Inner), Ref("reduce", functools.reduce),
    )  # fmt: skip
    assert run(source) == (
        np, collections.OrderedDict, len, os.path, np.exp, np.sum, Outer.Inner, functools.reduce
    )  # fmt: skip
    lines = source.splitlines()
    assert lines[0] == "import numpy as np" and "from collections import OrderedDict as OD" in lines
    assert "from numpy import exp, sum as sum_1" in lines and not any("len" in line and "import" in line for line in lines)


def test_the_users_globals():
    names = {"np": np, "helper": helper, "SCALE": SCALE, "w": np.array([[1.5, 2]], dtype="float32"), "k": np.int8(3),
             "cfg": {"a": (1, [2.0, None])}, "inf": float("-inf"), "odd": object()}  # fmt: skip
    items = [Global(n) for n in ("np", "helper", "w", "k", "cfg", "inf", "abs")]
    source = text(*items, globals_of=names, module=__name__)
    got = run(source)
    assert got[:2] == (np, helper) and got[4:] == ({"a": (1, [2.0, None])}, float("-inf"), abs)
    assert got[2].dtype == np.float32 and np.array_equal(got[2], names["w"])
    assert type(got[3]) is np.int8 and got[3] == 3
    assert source.count("import numpy") == 1


def test_data_of_an_importable_module_is_imported():
    source = text(Global("SCALE"), globals_of={"SCALE": SCALE}, module=__name__)
    assert source.startswith(f"from {__name__} import SCALE\n") and run(source) == (SCALE,)
    assert text(Global("SCALE"), globals_of={"SCALE": 2.5}, module="__main__").startswith("SCALE = 2.5\n")


def test_what_cannot_be_written_is_named():
    local = lambda x: x  # noqa: E731
    big = np.zeros(1000)
    module = types.ModuleType("made_up")
    source = text(
        Global("local"), Global("big"), Global("gone"), Ref("pinned", object()), Global("module"),
        globals_of={"local": local, "big": big, "module": module},
    )  # fmt: skip
    for name in ("local", "big", "gone", "pinned", "module"):
        assert f"# {name}: must be defined here\n" in source


def test_the_header_takes_no_name_of_the_code():
    source = text(Global("w"), globals_of={"w": np.arange(2.0)}, name="numpy")
    got = run(source, "numpy")
    assert np.array_equal(got[0], np.arange(2.0))


def test_without_references_there_is_no_header():
    assert text() == "def f():\n    return ()\n"


def test_closures_bring_their_own_import():
    inner = Function("g", [Param("y")], [Return(TupleExpr((Name("a"), Name("y"))))], captures=("a",))
    source = text(Call(Closure(inner, (Attr(Global("np"), "pi"),)), (Attr(Global("np"), "e"),)), globals_of={"np": np})
    assert source.startswith("import numpy as np\nfrom functools import partial\n\n\ndef f():\n")
    assert run(source) == ((np.pi, np.e),)
