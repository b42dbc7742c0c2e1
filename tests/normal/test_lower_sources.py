"""Lowering of functions as :mod:`thunkad.source` finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.exits import single_exit
from thunkad.normal.lower import lower
from thunkad.source.functions import find_source

from ir_exec import run

SCALE = 3.0


def loss(w: Any, x: Any) -> Any:
    p = 1 / (1 + np.exp(-(x @ w)))
    return np.mean(p) * SCALE


def with_closure(k: float) -> Callable[[float], float]:
    def inner(x: float) -> float:
        return x * k

    return inner


class Layer:
    def __init__(self, weight: float) -> None:
        self.__weight = weight

    def apply(self, x: float) -> float:
        return self.__weight * x


class Sharper(Layer):
    def apply(self, x: float) -> float:
        return super().apply(x) + x


square = lambda x: x * x + SCALE  # noqa: E731


def lowered(f: Any) -> n.Function:
    return single_exit(lower(find_source(f)))


def test_a_function_of_a_file() -> None:
    w, x = np.array([0.5, -1.0]), np.ones((3, 2))
    function = lowered(loss)
    assert run(function, (w, x), namespace=globals()) == loss(w, x)
    first = loss.__code__.co_firstlineno
    assert [s.line - first for s in function.body] == [1] * 5 + [2] * 3
    assert (function.name, function.filename) == ("loss", __file__)
    assert [p.name for p in function.params] == ["w", "x"]


def test_the_target_names_the_last_operation() -> None:
    function = lowered(loss)
    texts = [s.target for s in function.body if type(s) is n.Assign]
    assert texts == ["t1", "t2", "t3", "t4", "p", "t5", "t6"]


def test_free_variables_are_read_from_outside() -> None:
    function = lowered(with_closure(2.0))
    assert walk.children(function.body[0].value) == (n.Name("x"), n.Global("k"))  # type: ignore[attr-defined]


def test_private_attributes_are_written_out() -> None:
    assert run(lowered(Layer.apply), (Layer(2.0), 4.0)) == 8.0


def test_super_names_the_class_and_the_object() -> None:
    function = lowered(Sharper.apply)
    assert run(function, (Sharper(2.0), 4.0), namespace={"__class__": Sharper}) == 12.0


def test_a_lambda_has_a_name_that_can_be_printed() -> None:
    function = lowered(square)
    assert function.name.isidentifier()
    assert run(function, (2.0,), namespace=globals()) == 7.0


@pytest.mark.parametrize(
    ("parameter", "kind", "has_default"),
    [("a", "positional", False), ("b", "positional", True), ("c", "var_positional", False), ("d", "keyword", False),
     ("e", "keyword", True), ("g", "var_keyword", False)],
)  # fmt: skip
def test_kinds_of_parameters(parameter: str, kind: str, has_default: bool) -> None:
    def f(a: Any, /, b: Any = 1, *c: Any, d: Any, e: Any = 2, **g: Any) -> Any:
        return a

    assert n.Param(parameter, kind, has_default) in lowered(f).params
    assert len(lowered(f).params) == 6
