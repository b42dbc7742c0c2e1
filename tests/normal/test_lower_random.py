"""Random structured programs: lowered, with single exits, and versioned, they do what Python does."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thunkad.ir import walk
from thunkad.ir import nodes as n
from thunkad.ir.check import check_normal
from thunkad.ir.fresh import Names
from thunkad.normal.exits import single_exit
from thunkad.normal.versions import version

from lowering import behaviour, same

NAMES = ("a", "b", "c")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([*NAMES, "0", "1", "2"]))
    sub = expressions(depth - 1)
    form = draw(st.integers(0, 14))
    one, two, three = draw(sub), draw(sub), draw(sub)
    name = draw(st.sampled_from(NAMES))
    return [
        f"({one} + {two})",
        f"({one} - {two} * {three})",
        f"({one} and {two})",
        f"({one} or {two})",
        f"({one} if {two} else {three})",
        f"({one} < {two} <= {three})",
        f"({name} := {one})",
        f"say({one})",
        f"add({one})",
        f"pick({one}, {two})",
        f"sum([{name} + k for k in range(2) if {one}])",
        f"run(lambda: {name} + k * {two}, {one})",
        f"(lambda p, q={one}: p * q + {name})({two})",
        f"keep(lambda d={one}: {name} + d)",
        "kept()",
    ][form]


@st.composite
def blocks(draw: st.DrawFn, depth: int, in_loop: bool) -> list[str]:
    out: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        out += draw(statements(depth, in_loop))
    return out


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def statements(draw: st.DrawFn, depth: int, in_loop: bool) -> list[str]:
    value = draw(expressions())
    names = st.sampled_from(NAMES)
    simple = ["assign", "assign", "update", "say", "swap", "return"] + ["break", "continue"] * in_loop
    kind = draw(st.sampled_from(simple + ["if", "if", "for", "while"] * (depth > 0)))
    if kind == "assign":
        return [f"{draw(names)} = {value}"]
    if kind == "update":
        return [f"{draw(names)} += {value}"]
    if kind == "say":
        return [f"say({value})"]
    if kind == "swap":
        return [f"{draw(names)}, {draw(names)} = {draw(expressions(1))}, {draw(names)}"]
    if kind == "return":
        return [f"return {value}"]
    if kind in ("break", "continue"):
        return [kind]
    if kind == "if":
        out = [f"if {value}:", *indented(draw(blocks(depth - 1, in_loop)))]
        if draw(st.booleans()):
            out += ["else:", *indented(draw(blocks(depth - 1, in_loop)))]
        return out
    body = draw(blocks(depth - 1, True))
    if kind == "for":
        out = [f"for {draw(names)} in range({draw(st.integers(0, 3))}):", *indented(body)]
    else:
        out = [f"while tick() and {value}:", *indented(body)]
    if draw(st.booleans()):
        out += ["else:", *indented(draw(blocks(depth - 1, in_loop)))]
    return out


@st.composite
def programs(draw: st.DrawFn) -> str:
    """``tick`` bounds loops, ``add`` is a nested function with a nonlocal, ``pick`` one with several returns."""
    fixed = [
        "steps, k, fs = 0, 1, []",
        "def run(g, d):",
        "    nonlocal k",
        "    k += 1",
        "    return g() + d",
        "def keep(g):",
        "    fs.append(g)",
        "    return len(fs)",
        "def kept():",
        "    return sum([g() for g in fs])",
        "def tick():",
        "    nonlocal steps",
        "    steps += 1",
        "    if steps > 12: raise RuntimeError('enough')",
        "    return True",
        "def add(d):",
        "    nonlocal a",
        "    a += d",
        "    return a - 1",
        "def pick(p, q):",
        "    for k in range(3):",
        "        if k == p: return q",
        "        elif k > q: break",
        "        p += 1",
        "    else:",
        "        return b",
        "    return p",
    ]
    if draw(st.booleans()):
        fixed.append("escaped = [add, tick]")  # now they are closures, and what they bind lives in cells
    return "\n".join(["def f(a, b, c):", *indented(fixed), *indented(draw(blocks(3, False)))])


def versioned(function: n.Function) -> n.Function:
    function = single_exit(function)
    check_normal(function, versioned=False)
    out = version(function, Names(walk.taken_names(function)))
    check_normal(out, versioned=True)
    return out


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.tuples(*[st.integers(-1, 3)] * 3))
def test_random_programs_do_what_python_does(text: str, args: tuple[int, int, int]) -> None:
    expected = behaviour(text, args, None)
    assert same(behaviour(text, args, lambda f: f), expected)
    assert same(behaviour(text, args, single_exit), expected)
    assert same(behaviour(text, args, versioned), expected)
