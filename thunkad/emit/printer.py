"""Python ``ast`` → text; the only module that imports astor."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from typing import Any

from thunkad.tree.parse import deep_recursion

WIDTH = 100
_MARKER = re.compile(r"^([ ]*)__comment_(\d+)__$", re.MULTILINE)


@functools.cache
def _astor() -> tuple[type, Any]:
    with warnings.catch_warnings():  # astor 0.8.1 names deprecated ast classes when it is imported
        warnings.simplefilter("ignore")
        from astor import code_gen, source_repr

    class Generator(code_gen.SourceGenerator):
        def visit_Constant(self, node: ast.Constant) -> None:
            # astor's strings may turn into several lines, its number test is fooled by nothing else
            if type(node.value) in (str, bytes):
                self.write(repr(node.value))
            else:
                super().visit_Constant(node)

        def visit_Tuple(self, node: ast.Tuple) -> None:
            # `x += *a, b` and, before 3.11, `x[*a, b]` are no syntax: brackets round what holds a star
            with self.delimit(node) as delimiters:
                starred = any(isinstance(e, ast.Starred) for e in node.elts)
                delimiters.discard = delimiters.discard and bool(node.elts) and not starred
                self.comma_list(node.elts, len(node.elts) == 1)

    return Generator, source_repr.split_lines


def print_module(tree: ast.Module, comments: list[str] | None = None) -> str:
    """The text of ``tree``, with comment markers replaced by ``comments``."""
    generator_class, split_lines = _astor()
    with deep_recursion():
        generator = generator_class("    ")
        generator.visit(tree)
        generator.result.append("\n")  # flushes the last line
        text = "".join(split_lines(generator.result, maxline=WIDTH))
    return _finish(text, comments)


def print_plainly(tree: ast.Module, comments: list[str] | None = None) -> str:
    """The same by the standard library: never wrong, never wrapped."""
    with deep_recursion():
        text = ast.unparse(ast.fix_missing_locations(tree))
    return _finish(text, comments)


def _finish(text: str, comments: list[str] | None) -> str:
    def comment(match: re.Match[str]) -> str:
        return f"{match[1]}# {(comments or [])[int(match[2])]}".rstrip()

    if comments:
        text = _MARKER.sub(comment, text)
    return text.strip("\n") + "\n"
