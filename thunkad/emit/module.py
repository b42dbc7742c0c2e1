"""IR functions → the text of a generated module, with what it refers to and where each line came from."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from typing import Any

from thunkad.emit.linker import Linker
from thunkad.emit.printer import print_module, print_plainly
from thunkad.emit.statements import Statements
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.records import field, record
from thunkad.tree.parse import deep_recursion, parse_module


@record
class Emitted:
    """A generated module.

    Attributes
    ----------
    text : str
        Function definitions only.
    printed : dict
        ``id`` of each function of the module to its printed name.
    refs : dict
        Printed name to the object it stands for.
    lines : dict
        Line of the text to (user's file, user's line).
    names : dict
        Name of each function asked for to its printed name.
    functions : tuple of str
        Printed names of all functions, in order.
    globals : tuple of str
        Globals, builtins and closure variables of the user's that the text reads.
    tree : ast.Module
        What the text parses to.
    rules : dict
        Line of the text to the place of the user's rule that it was pasted from.
    """

    text: str
    printed: dict[int, str]
    refs: dict[str, Any]
    lines: dict[int, tuple[str, int]]
    names: dict[str, str]
    functions: tuple[str, ...]
    globals: tuple[str, ...]
    tree: ast.Module = field(repr=False)
    rules: dict[int, Place] = field(default_factory=dict)


def emit(functions: list[n.Function], globals_of: Mapping[str, Any] | None = None, nest: bool = False) -> Emitted:
    """Print ``functions`` and every function that they refer to as one module.

    Parameters
    ----------
    functions : list of Function
        Their names should differ.
    globals_of : mapping, optional
        What the user's globals and closure variables are bound to, so that ``np`` need not be spelled in two ways.
    nest : bool
        Put steps together that were one line of the user's, see :mod:`thunkad.optimise.nest`.
    """
    with deep_recursion():
        linker = Linker(functions, globals_of)
        convert = Statements(linker)
        tree = ast.Module(body=[convert.function(f, nest) for f in linker.functions], type_ignores=[])
        text = print_module(tree, convert.comments)
        if convert.comments:
            plain = ast.Module(body=_without_comments(tree.body), type_ignores=[])
        else:
            plain = tree
        parsed = _parse(text)
        if parsed is None or not same(plain, parsed):
            # the text is what runs, so it must mean what was built
            text = print_plainly(tree, convert.comments)
            try:
                parsed = parse_module(text)
            except SyntaxError as error:  # too many levels of blocks
                f = functions[0]
                raise UnsupportedSyntaxError(
                    f"the derivative of this function is no valid Python: {error.msg}",
                    Place(f.filename, f.line, linecache.getline(f.filename, f.line)),
                    "Split the function into smaller ones.",
                ) from error
            if not same(plain, parsed):
                raise AssertionError("generated code can't be written as text:\n" + text)
        lines: dict[int, tuple[str, int]] = {}
        rules: dict[int, Place] = {}
        for f, node, twin in zip(linker.functions, plain.body, parsed.body):
            _map_lines([node], [twin], f.filename, lines, rules)
    return Emitted(
        text=text,
        printed={id(f): linker.function_name(f) for f in linker.functions},
        refs=linker.refs,
        lines=lines,
        rules=rules,
        names={f.name: linker.function_name(f) for f in reversed(functions)},
        functions=tuple(linker.function_name(f) for f in linker.functions),
        globals=linker.globals,
        tree=parsed,
    )


def _parse(text: str) -> ast.Module | None:
    try:
        return parse_module(text)
    except SyntaxError:
        return None


def _without_comments(body: list[ast.stmt]) -> list[ast.stmt]:
    """``body`` as the parser sees it; the statements that hold comments are changed in place."""
    out = []
    for s in body:
        if hasattr(s, "comment"):
            continue
        for name in ("body", "orelse", "handlers"):
            block = getattr(s, name, None)
            if isinstance(block, list):
                setattr(s, name, _without_comments(block))
        out.append(s)
    return out


def same(a: Any, b: Any) -> bool:
    """Whether two trees are equal but for positions."""
    if type(a) is not type(b):
        return False
    if isinstance(a, ast.AST):
        for f in a._fields:  # loops: a generator would take a piece of the C stack at each level
            x, y = getattr(a, f, None), getattr(b, f, None)
            if x is not y and f != "ctx" and not same(x, y):
                return False
        return True
    if type(a) is list:
        if len(a) != len(b):
            return False
        for x, y in zip(a, b):
            if not same(x, y):
                return False
        return True
    return bool(a == b)


def _map_lines(
    built: list[ast.stmt],
    parsed: list[ast.stmt],
    filename: str,
    lines: dict[int, tuple[str, int]],
    rules: dict[int, Place],
) -> None:
    for node, twin in zip(built, parsed):
        origin = getattr(node, "origin", 0)
        rule = getattr(node, "rule", None)
        inner: list[ast.stmt] = getattr(twin, "body", [])
        end = inner[0].lineno - 1 if inner else twin.end_lineno or 0
        if origin:
            for line in range(twin.lineno, max(end, twin.lineno) + 1):
                lines[line] = (filename, origin)
                if rule is not None:
                    rules[line] = rule
        for name in ("body", "orelse", "handlers"):
            _map_lines(getattr(node, name, []), getattr(twin, name, []), filename, lines, rules)
