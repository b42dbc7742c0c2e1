"""Lowered programs do what Python does: results, exceptions, the order of effects, changes to arguments."""

from __future__ import annotations

from typing import Any

import pytest
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.check import check_normal
from thunkad.normal.exits import single_exit

from lowering import behaviour, lowered, same
from lowering_programs import PROGRAMS


def unchanged(function: n.Function) -> n.Function:
    return function


def checked(function: n.Function) -> n.Function:
    out = single_exit(function)
    check_normal(out, versioned=False)
    return out


CASES = [
    pytest.param(text, args, id=f"{name}-{k}")
    for name, (text, inputs) in PROGRAMS.items()
    for k, args in enumerate(inputs)
]


@pytest.mark.parametrize(("text", "args"), CASES)
def test_a_lowered_program_does_what_python_does(text: str, args: tuple[Any, ...]) -> None:
    expected = behaviour(text, args, None)
    assert same(behaviour(text, args, unchanged), expected)
    assert same(behaviour(text, args, checked), expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_statement_has_a_line_of_the_program(name: str) -> None:
    text = PROGRAMS[name][0]
    function = single_exit(lowered(text))
    last = len(text.strip("\n").splitlines()) + 1
    assert all(1 <= s.line <= last for s in walk.statements(function.body))
