"""Each group of adjoint lines marked by the line of the user's that it differentiates."""

from __future__ import annotations

import linecache

from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk


def comment_groups(body: list[n.Stmt], resolved: Resolved) -> list[n.Stmt]:
    """``body`` with a comment before each run of reverse statements that belong to one line of the user's."""
    filename = resolved.function.filename
    return _Groups(filename).block(body)


class _Groups:
    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.last = 0

    def block(self, body: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in body:
            if s.line and is_adjoint(s) and s.line != self.last:
                out.append(n.Comment(self.text(s.line), line=s.line))
                self.last = s.line
            if isinstance(s, (n.If, n.For, n.While, n.With, n.Try)):
                for inner in walk.blocks(s):
                    inner[:] = self.block(inner)
            elif type(s) is n.Define:
                self.last = 0
                s.function.body = self.block(s.function.body)
                self.last = 0
            out.append(s)
        return out

    def text(self, line: int) -> str:
        source = linecache.getline(self.filename, line).strip()
        return f"line {line}: {source}" if source else f"line {line}"


def is_adjoint(s: n.Stmt) -> bool:
    """Whether ``s`` builds cotangents."""
    if type(s) is n.Assign:
        return is_bar(s.target)
    if type(s) is n.Update:
        root: n.Expr = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        return type(root) is n.Name and is_bar(root.id)
    if type(s) is n.If:
        return any(is_adjoint(x) for x in (*s.body, *s.orelse) if type(x) is not n.Comment)
    if type(s) in (n.For, n.With):
        return any(is_adjoint(x) for x in s.body)
    return False


def is_bar(name: str) -> bool:
    """Whether a name is that of a cotangent."""
    return name.endswith(("_bar", "_bars")) or "_bar_" in name
