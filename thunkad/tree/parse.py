"""Python text -> ``ast`` of a whole module, and ``ast`` -> gast for the one node that is wanted.

Conversion to gast costs five times as much as parsing, so only the function that is to be differentiated is converted.
Other modules take gast from here (``from thunkad.tree.parse import gast``): one import to follow when gast changes.
"""

from __future__ import annotations

import ast
import copy
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

import gast

__all__ = ["AstFunction", "GastFunction", "deep_recursion", "gast", "parse_module", "quiet", "to_gast"]

AstFunction: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
GastFunction: TypeAlias = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda

# A sum of 2000 terms takes about 8000 frames of a tree visitor.  More would overflow the 8 MB C stack of Python 3.10,
# where a Python call takes a piece of it.
DEEP_LIMIT = 10_000

_limit_lock = threading.Lock()
_depth = 0
_saved_limit: int | None = None


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let recursive tree visitors go deeper than the interpreter's usual limit.

    The limit belongs to the whole process: the first to enter raises it, the last to leave restores it, in any thread.
    """
    global _depth, _saved_limit
    with _limit_lock:
        _depth += 1
        if _saved_limit is None:
            _saved_limit = sys.getrecursionlimit()
        if sys.getrecursionlimit() < DEEP_LIMIT:
            sys.setrecursionlimit(DEEP_LIMIT)
    try:
        yield
    finally:
        with _limit_lock:
            _depth -= 1
            if _depth == 0:
                _restore_limit()


def _restore_limit() -> None:
    global _saved_limit
    assert _saved_limit is not None
    if _saved_limit < DEEP_LIMIT and sys.getrecursionlimit() == DEEP_LIMIT:  # else somebody set it meanwhile: theirs
        try:
            sys.setrecursionlimit(_saved_limit)
        except RecursionError:  # too deep at present; the next to leave restores it
            return
    _saved_limit = None


_warnings_lock = threading.RLock()


@contextmanager
def quiet() -> Iterator[None]:
    """Give no warnings while user text is compiled again: it has given them before, and ``-W error`` would stop us."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse_module(text: str, filename: str = "<unknown>") -> ast.Module:
    """The ``ast`` of a whole module.

    Raises
    ------
    SyntaxError, ValueError, RecursionError
        As :func:`ast.parse`.
    """
    with deep_recursion(), quiet():
        return ast.parse(text, filename)


def to_gast(node: AstFunction) -> GastFunction:
    """``node`` in gast, at its own locations and without its decorators; ``node`` is left as it is."""
    if not isinstance(node, ast.Lambda) and node.decorator_list:
        node = copy.copy(node)
        node.decorator_list = []
    with deep_recursion():
        return gast.ast_to_gast(node)
