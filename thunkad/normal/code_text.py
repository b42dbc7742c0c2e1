"""Syntax trees written as text."""

from __future__ import annotations

from typing import Any

from thunkad.tree.parse import gast


class CodeText:
    """Makes nodes of text, at the place of the node ``line``."""

    def __init__(self, line: Any) -> None:
        self.line = line

    def code(self, text: str, **parts: Any) -> list[Any]:
        """Statements; a name in it that is one of ``parts`` stands for that node."""
        body: list[Any] = gast.parse(text).body
        where = {"lineno": self.line.lineno, "col_offset": 0, "end_lineno": self.line.lineno, "end_col_offset": 0}
        for s in body:
            for x in gast.walk(s):
                for name, value in where.items():
                    setattr(x, name, value)
        return [put_in(s, parts) for s in body] if parts else body

    def expr(self, text: str, **parts: Any) -> Any:
        """An expression."""
        return self.code(text, **parts)[0].value


def put_in(node: Any, parts: dict[str, Any]) -> Any:
    """``node`` with the nodes of ``parts`` in place of the names of these spellings."""
    if type(node).__name__ == "Name" and node.id in parts:
        return parts[node.id]
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            setattr(node, name, [put_in(x, parts) if hasattr(x, "_fields") else x for x in value])
        elif hasattr(value, "_fields"):
            setattr(node, name, put_in(value, parts))
    return node
