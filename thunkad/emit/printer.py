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
            # astor leaves the brackets out in `if a, b:`, in `x[(a, b):]` and, before 3.11 no syntax, in `x[*a, b]`
            starred = any(isinstance(e, ast.Starred) for e in node.elts)
            with self.delimit("()") as delimiters:
                delimiters.discard = getattr(node, "bare", False) and bool(node.elts) and not starred
                self.comma_list(node.elts, len(node.elts) == 1)

        def visit_Assign(self, node: ast.Assign) -> None:
            _may_be_bare(*node.targets, node.value)
            super().visit_Assign(node)

        def visit_Return(self, node: ast.Return) -> None:
            _may_be_bare(node.value)
            super().visit_Return(node)

        def visit_For(self, node: ast.For) -> None:
            _may_be_bare(node.target)
            super().visit_For(node)

        def visit_Subscript(self, node: ast.Subscript) -> None:
            _may_be_bare(node.slice)
            super().visit_Subscript(node)

        def visit_Dict(self, node: ast.Dict) -> None:
            values = [v for k, v in zip(node.keys, node.values) if k is not None]
            code_gen.set_precedence(code_gen.Precedence.Comma, *values)  # not after `**`, which binds more tightly
            with self.delimit("{}"):
                for k, (key, value) in enumerate(zip(node.keys, node.values)):
                    self.write(", " if k else "", key or "", ": " if key else "**", value)

        def visit_Lambda(self, node: ast.Lambda) -> None:
            with self.delimit(node) as delimiters:
                code_gen.set_precedence(delimiters.p, node.body)
                self.write("lambda ")
                before = len(self.result)
                self.visit_arguments(node.args)
                if len(self.result) == before:
                    self.result[-1] = "lambda"
                self.write(": ", node.body)

    return Generator, source_repr.split_lines


def _may_be_bare(*nodes: ast.expr | None) -> None:
    for node in nodes:
        if isinstance(node, ast.Tuple):
            node.bare = True  # type: ignore[attr-defined]


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
