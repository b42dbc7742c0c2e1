"""Dicts made of dicts: of entries with one key, the last one counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import thunkad as ad

from checking import Program, check_program

PROGRAMS: dict[str, str] = {
    "two_dicts": "def f(x):\n d = {'a': x, 'c': x ** 3}\n e = {'b': x * x, 'a': 2 * x}\n g = {**d, **e}\n return g['a'] * g['b'] * g['c']",
    "keys_around": "def f(x):\n d = {'a': x, 'c': x ** 3}\n g = {'a': x * x, **d, 'c': 5 * x, 'c': x * x}\n return g['a'] * g['c']",
    "changed_later": "def f(x):\n d = {'a': x, 'c': x ** 3}\n g = {'a': x * x, **d, 'c': 5 * x}\n g['a'] += x\n d['c'] *= x\n return g['a'] * g['c'] * d['c']",
    "union": "def f(x):\n d = {'a': x, 'c': x ** 3}\n e = {'b': x * x, 'a': 2 * x}\n h = d | e | {'a': x * x}\n return h['a'] * h['b'] * h['c'] * d['a']",
    "union_in_place": "def f(x):\n d = {'a': x}\n d |= {'a': x * x, 'b': x}\n return d['a'] * d['b']",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    check_program(Program(PROGRAMS[name], (1.5,)).build(), (1.5,))


@pytest.mark.parametrize("name", ["two_dicts", "keys_around", "union"])
def test_second_derivatives(name: str) -> None:
    f: Any = Program(PROGRAMS[name], ()).build()
    first = ad.grad(f)
    expected = (first(1.5 + 1e-5) - first(1.5 - 1e-5)) / 2e-5
    assert np.isclose(ad.grad(first)(1.5), expected)
    assert np.isclose(ad.jvp(f, (1.5,), (1.0,))[1], first(1.5))


def test_a_dict_argument_that_is_extended() -> None:
    args = ({"a": 1.5, "b": 2.0},)
    check_program(Program("def f(d):\n e = {**d, 'a': d['b'] * 2}\n return e['a'] * e['b']", args).build(), args)
