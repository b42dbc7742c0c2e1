"""Is this text the source of that code?  Compile it and compare.

Nothing less tells two lambdas of a line apart, or notices that a file or a notebook cell was changed after it was run.
"""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

from thunkad.source.locate import Candidate, first_line, standalone, unit_of
from thunkad.source.modules import ParsedModule
from thunkad.tree.parse import deep_recursion, quiet

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag


Rewrite = Callable[[ast.Module], Any]


def matching(
    module: ParsedModule,
    candidates: Sequence[Candidate],
    code: CodeType,
    *,
    rewrite: Rewrite | None = None,
    whole: bool = False,
) -> Candidate | None:
    """The candidate that compiles to ``code``; None if there is none.

    Parameters
    ----------
    rewrite : callable, optional
        Does to a tree, in place, what an import hook did to that of the module.
    whole : bool
        Compile the whole module, not just the statement that holds the candidate: slow, and right in every case.

    Raises
    ------
    RecursionError
        An expression is nested too deeply to be compiled again.
    """
    groups: dict[tuple[int, int], list[Candidate]] = {}
    nodes = {c.node for c in candidates}
    for candidate in candidates:
        unit = module.tree if whole else unit_of(candidate)[0]
        depth = sum(outer in nodes for outer in candidate.around)  # a node can't be moved together with one inside it
        groups.setdefault((id(unit), depth), []).append(candidate)
    for group in groups.values():
        tree = module.tree if whole else standalone(*unit_of(group[0]), module.imported)
        by_line = {first_line(c.node): c for c in group}
        if len(candidates) > 1 or rewrite is not None:
            # With several candidates the line alone does not say which of them a code comes from.
            tree, by_line = _moved_apart(tree, group, len(module.lines) + 1)
        if rewrite is not None:
            with deep_recursion():
                rewrite(tree)
        for candidate, compiled in _compiled(tree, by_line, module.filename, code):
            if same_code(compiled, code):
                return candidate
    return None


def _compiled(
    tree: ast.Module, by_line: dict[int, Candidate], filename: str, like: CodeType
) -> Iterator[tuple[Candidate, CodeType]]:
    """The candidates, known by their first lines and none inside another, with the codes that they compile to."""
    stack = [_compile(tree, filename, like)]
    while stack:
        compiled = stack.pop()
        candidate = by_line.get(compiled.co_firstlineno)
        if candidate is not None and compiled.co_name == like.co_name:
            yield candidate, compiled  # what is inside may begin on the same line, but is no code of this candidate
        else:
            stack.extend(c for c in compiled.co_consts if isinstance(c, CodeType))


def _moved_apart(tree: ast.Module, group: list[Candidate], line: int) -> tuple[ast.Module, dict[int, Candidate]]:
    """A copy of ``tree`` in which each function of ``group`` has lines of its own, from ``line`` on.

    So the first line of a code tells which of them it comes from.  Each is moved as a whole, because the compiler may
    leave a NOP where two lines meet.  Defaults stay: they are code of the surroundings.
    """
    memo: dict[int, Any] = {}
    with deep_recursion():
        tree = copy.deepcopy(tree, memo)
    by_line = {}
    for candidate in group:
        node = memo[id(candidate.node)]
        start, end = first_line(node), node.end_lineno
        body = [node.body] if isinstance(node, ast.Lambda) else [*node.decorator_list, *node.body]
        for part in (node, *(inner for outer in body for inner in ast.walk(outer))):
            if hasattr(part, "lineno"):
                part.lineno += line - start
                part.end_lineno += line - start
        by_line[line] = candidate
        line += end - start + 1
    return tree, by_line


def _compile(tree: ast.Module, filename: str, like: CodeType) -> CodeType:
    # a notebook cell may await outside of a function
    flags = like.co_flags & _FUTURE_FLAGS | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with deep_recursion(), quiet():
        return compile(tree, filename, "exec", flags=flags, dont_inherit=True)


# ---------------------------------------------------------------- comparison

_FIELDS = (
    "co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_code", "co_names",
    "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable",
)  # fmt: skip


def same_code(a: CodeType, b: CodeType) -> bool:
    """Whether ``a`` and ``b`` do the same, wherever they stand in a file."""
    if any(getattr(a, field, None) != getattr(b, field, None) for field in _FIELDS):
        return False
    if (a.co_flags ^ b.co_flags) & ~inspect.CO_ITERABLE_COROUTINE:  # types.coroutine sets that one afterwards
        return False
    return len(a.co_consts) == len(b.co_consts) and all(map(_same_constant, a.co_consts, b.co_consts))


def _same_constant(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, CodeType):
        return same_code(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same_constant, a, b))
    if isinstance(a, frozenset):
        return {(type(x), repr(x)) for x in a} == {(type(x), repr(x)) for x in b}
    return repr(a) == repr(b)  # tells 0.0 from -0.0, and nan is like nan
