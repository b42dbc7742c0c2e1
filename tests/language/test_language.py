"""Every node of the grammar: differentiated rightly, or refused as the pages in ``docs`` say."""

from __future__ import annotations

import ast
import io
import itertools
import linecache
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest
import thunkad as ad

from language_programs import DOCS, EXPRESSIONS, LIMITS, PATTERNS, STATEMENTS, Limit, Node, language_page, limits_page

NODES = (*STATEMENTS, *EXPRESSIONS, *PATTERNS)
KINDS = ((ast.stmt, STATEMENTS), (ast.expr, EXPRESSIONS), (ast.pattern, PATTERNS))
POINT = 1.5
_numbers = itertools.count()


def built(text: str) -> Callable[..., Any]:
    filename = f"<language {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"np": np, "__name__": f"language_{filename[10:-1]}"}
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def derivative(f: Callable[..., Any]) -> Any:
    with redirect_stdout(io.StringIO()):
        return ad.grad(f)(POINT)


def skip_if_newer(case: Node | Limit) -> None:
    if sys.version_info < case.since:
        pytest.skip(f"Python {case.since} has it first")


@pytest.mark.parametrize("node", [x for x in NODES if x.derivative is not None], ids=lambda x: x.name)
def test_supported(node: Node) -> None:
    assert any(type(x).__name__ == node.name for x in ast.walk(ast.parse(node.text)))
    f = built(node.text)
    difference = (f(POINT + 1e-6) - f(POINT - 1e-6)) / 2e-6
    assert difference == pytest.approx(node.derivative, abs=1e-6)
    assert derivative(f) == pytest.approx(node.derivative, rel=1e-12)


@pytest.mark.parametrize("node", [x for x in NODES if x.derivative is None], ids=lambda x: x.name)
def test_refused(node: Node) -> None:
    skip_if_newer(node)
    assert any(type(x).__name__ == node.name for x in ast.walk(ast.parse(node.text)))
    with pytest.raises(ad.ThunkadError):
        derivative(built(node.text))
    assert any(limit.name == node.name for limit in LIMITS)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda x: x.name)
def test_a_limit_is_named_and_its_rewrite_works(limit: Limit) -> None:
    skip_if_newer(limit)
    f = built(limit.text)
    with pytest.raises(ad.ThunkadError, match=limit.error) as caught:
        derivative(f)
    assert any(line.strip() and line.strip() in str(caught.value) for line in limit.text.splitlines()) or (
        caught.value.hint
    )
    assert derivative(built(limit.rewrite)) == pytest.approx(limit.derivative, rel=1e-12)


@pytest.mark.parametrize(("base", "nodes"), KINDS, ids=["statements", "expressions", "patterns"])
def test_no_node_of_the_grammar_is_missing(base: type, nodes: tuple[Node, ...]) -> None:
    known = {node.name for node in nodes}
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"}  # names that ast keeps for old code
    newer = {"TemplateStr", "Interpolation"}
    there = {name for name, x in vars(ast).items() if isinstance(x, type) and issubclass(x, base) and x is not base}
    assert there - old - newer <= known
    assert known - there <= {node.name for node in nodes if sys.version_info < node.since}


def test_the_pages_are_up_to_date() -> None:
    again = "run tests/language/language_programs.py to write the pages anew"
    assert (DOCS / "language.md").read_text() == language_page(), again
    assert (DOCS / "limits.md").read_text() == limits_page(), again
