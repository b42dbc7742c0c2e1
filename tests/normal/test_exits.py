"""One exit for every block: the shape of the result (what it computes is tested with lowering)."""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.exits import single_exit

from lowering import lowered


def exits_of(text: str) -> n.Function:
    return single_exit(lowered(text))


def shape(block: list[n.Stmt]) -> list[object]:
    """Statements in short: ``x=``, ``return x``, and lists for what is nested."""
    out: list[object] = []
    for s in block:
        if type(s) is n.Assign:
            out.append(f"{s.target}={s.value.value}" if type(s.value) is n.Const else f"{s.target}=")
        elif type(s) is n.Return:
            out.append(f"return {s.value.id if type(s.value) is n.Name else s.value}")
        elif type(s) is n.If:
            out.append(("if", s.test.id if type(s.test) is n.Name else s.test, shape(s.body), shape(s.orelse)))
        elif type(s) in (n.For, n.While):
            out.append(("loop", s.stop, shape(s.body)))  # type: ignore[attr-defined]
        else:
            out.append(type(s).__name__)
    return out


def test_a_straight_line_stays_one() -> None:
    assert shape(exits_of("def f(x):\n    y = x + 1\n    return y * 2").body) == ["y=", "t1=", "return t1"]


def test_the_rest_goes_into_the_arm_that_goes_on() -> None:
    assert shape(exits_of("def f(x):\n    if x: return 1\n    y = x\n    return y").body) == [
        ("if", "x", ["result=1"], ["y=", "result="]),
        "return result",
    ]


def test_a_flag_guards_the_rest_where_both_arms_go_on() -> None:
    text = "def f(x, y):\n    if x:\n        if y: return 1\n        x = 2\n    else: x = 3\n    return x"
    assert shape(exits_of(text).body) == [
        "leave=False",
        ("if", "x", [("if", "y", ["result=1", "leave=True"], ["x=2"])], ["x=3"]),
        ("if", "leave", [], ["result="]),
        "return result",
    ]


def test_a_loop_has_a_stop_name_instead_of_break() -> None:
    text = "def f(v):\n    for x in v:\n        if x: break\n        y = x\n    return v"
    assert shape(exits_of(text).body) == [
        ("loop", "stop", ["stop=False", ("if", "x", ["stop=True"], ["y="])]),
        "return v",
    ]


def test_else_of_a_loop_reads_the_stop_name() -> None:
    text = "def f(v):\n    for x in v:\n        if x: break\n    else: y = 1\n    return v"
    assert shape(exits_of(text).body) == [
        "stop=False",
        ("loop", "stop", ["stop=False", ("if", "x", ["stop=True"], [])]),
        ("if", "stop", [], ["y=1"]),
        "return v",
    ]


def test_continue_needs_no_name() -> None:
    text = "def f(v):\n    for x in v:\n        if x: continue\n        y = x\n    return v"
    assert shape(exits_of(text).body) == [("loop", None, [("if", "x", [], ["y="])]), "return v"]


def test_a_return_in_a_loop_leaves_all_loops() -> None:
    text = "def f(v):\n    for x in v:\n        for y in x:\n            if y: return y\n        z = 1\n    return 0"
    inner = ("loop", "stop_1", ["stop_1=False", ("if", "y", ["result=", "returned=True", "stop_1=True"], [])])
    found = shape(exits_of(text).body)
    assert found[:2] == ["result=", "returned=False"]  # the result is Unbound at first: the flag guards it
    assert found[3:] == [("if", "returned", [], ["result=0"]), "return result"]
    loop = found[2]
    assert isinstance(loop, tuple)
    stop, body = loop[1], loop[2]
    inner_stop = body[1][1]
    assert inner_stop != stop
    assert body == [
        f"{stop}=False",
        (
            "loop",
            inner_stop,
            [f"{inner_stop}=False", ("if", "y", ["result=", "returned=True", f"{inner_stop}=True"], [])],
        ),
        ("if", "returned", [f"{stop}=True"], ["z=1"]),
    ]
    assert inner[0] == "loop"


def test_nothing_is_duplicated_and_what_is_dead_is_dropped() -> None:
    text = "def f(x):\n    if x: return 1\n    else: return 2\n    y = 1\n    return y"
    assert shape(exits_of(text).body) == [("if", "x", ["result=1"], ["result=2"]), "return result"]
    guards = "".join(f"    if x == {k}: return {k}\n" for k in range(50))
    function = lowered(f"def f(x):\n{guards}    return 0")
    before = len(list(walk.statements(function.body)))
    assert len(list(walk.statements(single_exit(function).body))) == before + 1


def test_falling_off_the_end_returns_none() -> None:
    assert shape(exits_of("def f(x):\n    y = x").body) == ["y=", "return Const(value=None)"]
    assert shape(exits_of("def f(x):\n    if x: return 1").body) == [
        ("if", "x", ["result=1"], ["result=None"]),
        "return result",
    ]


def test_functions_made_inside_have_single_exits_too() -> None:
    function = exits_of("def f(x):\n    return [lambda: x, g(lambda y: y)]\n")
    closures = [s.value for s in walk.statements(function.body) if type(s) is n.Assign and type(s.value) is n.Closure]
    assert len(closures) == 2
    text = "def f(x):\n    def g(y):\n        if y: return x\n        return y\n    return g"
    (made,) = [s.value for s in exits_of(text).body if type(s) is n.Assign and type(s.value) is n.Closure]
    assert shape(made.function.body) == [("if", "y", ["result="], ["result="]), "return result"]
