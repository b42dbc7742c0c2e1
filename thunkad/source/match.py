"""Is this text the source of that code?  Compile it and compare: nothing less tells two lambdas of a line apart, or notices
that a file or a notebook cell was changed after it was run."""

from __future__ import annotations

import __future__

import ast
import copy
import dis
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from thunkad.source.locate import Candidate, first_line, standalone, unit_of
from thunkad.source.modules import ParsedModule
from thunkad.tree.parse import deep_recursion, quiet

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag


def matching(module: ParsedModule, candidates: Sequence[Candidate], code: CodeType) -> Candidate | None:
    """The candidate that compiles to ``code``; None if there is none.

    Raises
    ------
    RecursionError
        An expression is nested too deeply to be compiled again.
    """
    units: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        units.setdefault(id(unit_of(candidate)[0]), []).append(candidate)
    for group in units.values():
        for candidate, compiled in _compiled(module, group, code):
            if same_code(compiled, code):
                return candidate
    return None


def _compiled(module: ParsedModule, group: list[Candidate], like: CodeType) -> list[tuple[Candidate, CodeType]]:
    """The candidates of one unit with the code that each compiles to."""
    unit, classes = unit_of(group[0])
    by_line = {first_line(c.node): c for c in group}
    if len(by_line) < len(group):
        unit, by_line = _with_a_line_each(unit, group, len(module.lines))
    whole = _compile(standalone(unit, classes), module.filename, like)
    found = []
    for compiled in _nested(whole):
        candidate = by_line.get(compiled.co_firstlineno)
        if candidate is not None and compiled.co_name == like.co_name:
            found.append((candidate, compiled))
    return found


def _with_a_line_each(
    unit: ast.stmt, group: list[Candidate], last_line: int
) -> tuple[ast.stmt, dict[int, Candidate]]:
    """A copy of ``unit`` in which the lambdas of ``group`` begin at different lines past the end of the file.

    Otherwise the codes of several lambdas of a line would all name the same first line.  Lines are not compared.
    """
    memo: dict[int, ast.AST] = {}
    with deep_recursion():
        unit = copy.deepcopy(unit, memo)
    by_line = {}
    for line, candidate in enumerate(group, last_line + 1):
        node = memo[id(candidate.node)]
        node.lineno, node.end_lineno = line, line + node.end_lineno - node.lineno  # type: ignore[attr-defined]
        by_line[line] = candidate
    return unit, by_line


def _compile(tree: ast.Module, filename: str, like: CodeType) -> CodeType:
    # a notebook cell may await outside of a function
    flags = like.co_flags & _FUTURE_FLAGS | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with deep_recursion(), quiet():
        return compile(tree, filename, "exec", flags=flags, dont_inherit=True)


def _nested(code: CodeType) -> Iterator[CodeType]:
    stack = [code]
    while stack:
        code = stack.pop()
        yield code
        stack.extend(c for c in code.co_consts if isinstance(c, CodeType))


# ---------------------------------------------------------------- comparison

_FIELDS = (
    "co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code", "co_names", "co_varnames",
    "co_freevars", "co_cellvars", "co_exceptiontable",
)  # fmt: skip


def same_code(a: CodeType, b: CodeType) -> bool:
    """Whether ``a`` and ``b`` do the same, wherever they stand in a file."""
    if any(getattr(a, field, None) != getattr(b, field, None) for field in _FIELDS):
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


# ---------------------------------------------------------------- functions whose assertions pytest has rewritten


def matching_but_for_assertions(
    module: ParsedModule, candidates: Sequence[Candidate], code: CodeType
) -> Candidate | None:
    """The candidate that, without its assertions, is found again in ``code``.

    pytest compiles test modules with other code in place of each ``assert``.  The rest is compared as far as that allows:
    signature, names, constants, operators, nested functions.
    """
    for candidate in candidates:
        if not any(isinstance(part, ast.Assert) for part in ast.walk(candidate.node)):
            continue
        unit, classes = unit_of(candidate)
        with deep_recursion():
            bare = _DropAssertions().visit(copy.deepcopy(unit))
        for compiled in _nested(_compile(standalone(bare, classes), module.filename, code)):
            if compiled.co_firstlineno == first_line(candidate.node) and _contained(compiled, code):
                return candidate
    return None


class _DropAssertions(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)


def _contained(part: CodeType, whole: CodeType) -> bool:
    if part.co_name != whole.co_name or _signature(part) != _signature(whole):
        return False
    if not (_all_names(part) <= _all_names(whole) and _operations(part) <= _operations(whole)):
        return False
    return all(
        any(_contained(c, w) if isinstance(c, CodeType) and isinstance(w, CodeType) else _same_constant(c, w)
            for w in whole.co_consts)
        for c in part.co_consts if c is not None
    )  # fmt: skip


def _signature(code: CodeType) -> tuple:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_varnames[:count]


def _all_names(code: CodeType) -> set[str]:
    return {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}


def _operations(code: CodeType) -> set[tuple[str, str]]:
    return {
        (i.opname, i.argrepr)
        for i in dis.get_instructions(code)
        if i.opname.startswith(("BINARY_", "INPLACE_", "UNARY_")) and i.opname != "UNARY_NOT"
    }
