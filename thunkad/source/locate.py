"""The function nodes of a module, and the least piece of it that compiles a function as the whole would."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from thunkad.records import record
from thunkad.tree.parse import AstFunction

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


@record(frozen=True, eq=False)
class Candidate:
    """A function node and the nodes around it, outermost first, without the module."""

    node: AstFunction
    around: tuple[ast.AST, ...]

    @property
    def class_name(self) -> str | None:
        """The class whose private names the function sees."""
        inner: ast.AST = self.node
        for outer in reversed(self.around):
            if isinstance(outer, ast.ClassDef) and any(inner is child for child in outer.body):
                return outer.name
            inner = outer
        return None


def first_line(node: ast.AST) -> int:
    """The line that ``co_firstlineno`` names: the first decorator's, if there is one."""
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(d.lineno for d in decorators)])  # type: ignore[attr-defined]


def functions(tree: ast.Module, name: str, line: int | None = None) -> Iterator[Candidate]:
    """The functions in ``tree`` called ``name`` (``"<lambda>"``: the lambdas), with ``line`` those that begin there."""
    stack: list[tuple[ast.AST, tuple[Any, ...]]] = [(tree, ())]
    while stack:
        node, above = stack.pop()
        if line is not None and isinstance(node, ast.stmt) and not first_line(node) <= line <= (node.end_lineno or 0):
            continue  # only statements are skipped: the positions inside f-strings are unreliable before 3.12
        if isinstance(node, _FUNCTIONS) and getattr(node, "name", "<lambda>") == name:
            if line is None or first_line(node) == line:
                yield Candidate(node, _unlink(above))
        if node is not tree:
            above = (node, above)
        stack.extend((child, above) for child in reversed(list(ast.iter_child_nodes(node))))


def _unlink(above: tuple[Any, ...]) -> tuple[ast.AST, ...]:
    found = []
    while above:
        node, above = above
        found.append(node)
    return tuple(reversed(found))


def unit_of(candidate: Candidate) -> tuple[ast.stmt, tuple[ast.ClassDef, ...]]:
    """The statement that has to be compiled to get the code of ``candidate``, and the classes around it.

    The code of a function depends on the functions around it (closure variables) and on the names of the classes around
    it (private names, ``__class__``), but of the other statements of a module or class body only on the imports.
    """
    path = (*candidate.around, candidate.node)
    classes = []
    statement = path[0]
    for outer, inner in pairwise(path):
        if isinstance(outer, ast.stmt):  # else an except or case clause, which can't stand alone
            statement = outer
        if isinstance(outer, ast.ClassDef) and any(inner is child for child in outer.body):
            classes.append(outer)
        elif isinstance(outer, (*_FUNCTIONS, ast.ClassDef)) or not isinstance(inner, _BLOCKS):
            break
    else:
        statement = path[-1]
    return statement, tuple(classes)  # type: ignore[return-value]


def imported_names(tree: ast.Module) -> tuple[str, ...]:
    """The names that the module itself imports, under an ``if`` or ``try`` too."""
    names: dict[str, None] = {}
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update({(alias.asname or alias.name).partition(".")[0]: None for alias in node.names})
        elif isinstance(node, _BLOCKS) and not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, _BLOCKS))
    names.pop("*", None)
    return tuple(names)


def standalone(unit: ast.stmt, classes: tuple[ast.ClassDef, ...], imported: tuple[str, ...]) -> ast.Module:
    """A module of ``unit`` alone, inside bare copies of ``classes``; the nodes of ``unit`` are shared.

    ``imported`` are names that count as imported: since Python 3.11 a call ``np.sin(x)`` is compiled differently if the
    module imports ``np``.
    """
    for cls in reversed(classes):
        shell = ast.ClassDef(name=cls.name, bases=[], keywords=[], body=[unit], decorator_list=[])
        if sys.version_info >= (3, 12):
            shell.type_params = cls.type_params
        unit = ast.copy_location(shell, cls)
    body = [unit]
    if imported:
        names = [ast.alias(name, lineno=1, col_offset=0) for name in imported]
        body.insert(0, ast.Import(names, lineno=1, col_offset=0))
    return ast.Module(body=body, type_ignores=[])
