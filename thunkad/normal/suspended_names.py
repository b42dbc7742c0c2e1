"""The names in the methods of a generator's class: attributes in place of the variables that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from thunkad.normal.code_text import CodeText
from thunkad.normal.scope import COMPREHENSIONS, FUNCTIONS, Scope
from thunkad.normal.scopes import Scopes
from thunkad.normal.yields import pattern_names
from thunkad.tree.parse import gast

Refuse = Callable[[Any, str, str], NoReturn]


class Attributes:
    """Puts attributes in place of variables, in one walk over what has become of the body.

    Parameters
    ----------
    own : Scope
        The scope of the generator function.
    frame : str
        What the methods call the generator itself.
    attributes : dict
        The attribute for each variable of its own that is kept.
    captured, cells : dict
        The attribute for each variable that it captured, and whether it holds a cell.
    helpers : dict
        How the functions that the methods call are spelled.
    """

    def __init__(
        self, own: Scope, scopes: Scopes, frame: str, attributes: dict[str, str], captured: dict[str, str],
        cells: dict[str, bool], helpers: dict[str, str], written: CodeText, refuse: Refuse,
    ) -> None:  # fmt: skip
        self.own, self.scopes, self.frame, self.attributes = own, scopes, frame, attributes
        self.captured, self.cells, self.helpers, self.written, self.refuse = captured, cells, helpers, written, refuse
        self.scope = own

    def renamed(self, body: list[Any]) -> list[Any]:
        return [x for s in body for x in self.rename_statement(s)]

    def rename_statement(self, s: Any) -> list[Any]:
        """``s`` with attributes in place of the variables that are kept."""
        kind = type(s).__name__
        self.written.line = s if hasattr(s, "lineno") else self.written.line
        after: list[str] = []
        if kind in FUNCTIONS:
            return [self.rename(s), *self.copies([s.name])]
        if kind in ("Import", "ImportFrom"):
            after = [alias.asname or alias.name.partition(".")[0] for alias in s.names]
        elif kind in ("Nonlocal", "Global"):
            s.names = [x for x in s.names if self.attribute(x, self.scope) is None]
            return [s] if s.names else []
        for name in s._fields:
            value = getattr(s, name, None)
            if isinstance(value, list) and value and isinstance(value[0], gast.stmt):
                setattr(s, name, self.renamed(value) or self.written.code("pass"))
            elif isinstance(value, list):
                setattr(s, name, [self.rename(x) if hasattr(x, "_fields") else x for x in value])
            elif hasattr(value, "_fields"):
                setattr(s, name, self.rename(value))
        return [s, *self.copies(after)]

    def copies(self, names: Any) -> list[Any]:
        """Statements that put locals into the attributes of the same names."""
        own = [name for name in names if self.scope is self.own and name in self.attributes]
        return [x for name in own for x in self.written.code(f"{self.frame}.{self.attributes[name]} = {name}")]

    def attribute(self, name: str, scope: Scope) -> Any:
        """The attribute that the variable ``name`` of ``scope`` is; None if it stays what it is."""
        owner = scope.owner(name)
        if owner is self.own and name in self.attributes:
            return self.written.expr(f"{self.frame}.{self.attributes[name]}")
        if owner is not None and name in self.captured and not owner.inside(self.own):
            cell = self.cells[name]
            return self.written.expr(f"{self.frame}.{self.captured[name]}" + (".value" if cell else ""))
        return None

    def rename(self, node: Any) -> Any:
        kind = type(node).__name__
        if kind == "Name":
            new = self.attribute(node.id, self.scope)
            if new is not None:
                new.ctx = node.ctx
            return node if new is None else new
        if kind == "Call" and type(node.func).__name__ == "Attribute":
            node.func.is_called = True
        if kind == "Attribute" and not getattr(node, "is_called", False) and self.is_super(node.value):
            owner = f"{self.frame}.{self.attributes[self.own.params[0]]}"
            return self.written.expr(f"{self.helpers['behind']}(__class__, {owner}, {node.attr!r})({owner})")
        if kind == "Call" and type(node.func).__name__ == "Name" and self.scope.owner(node.func.id) is None:
            self.builtin(node)
        if kind == "NamedExpr" and self.attribute(node.target.id, self.scope) is not None:
            self.refuse(
                node,
                f"':=' with the variable '{node.target.id}', which is used after the next 'yield' too, can't be "
                "differentiated where the generator is kept",
                "Assign it in a statement of its own.",
            )
        if kind == "ExceptHandler" or kind == "match_case":
            bound = {node.name.id} if kind == "ExceptHandler" and node.name is not None else set()
            if kind == "match_case":
                bound = pattern_names(node.pattern)
                if node.guard is not None and any(
                    isinstance(x, gast.Name) and x.id in bound & set(self.attributes) for x in gast.walk(node.guard)
                ):
                    self.refuse(
                        node.guard,
                        "the guard of a 'case' that uses a name of its pattern can't be differentiated where the "
                        "name is used after the next 'yield' too",
                        "Test it by an 'if' inside of the case.",
                    )
            for name in ("type", "pattern", "guard"):
                part = getattr(node, name, None)
                if part is not None:
                    setattr(node, name, self.rename(part))
            node.body = [*self.copies(sorted(bound)), *self.renamed(node.body)]
            return node
        if kind in FUNCTIONS:
            args = node.args
            node.decorator_list = [self.rename(d) for d in getattr(node, "decorator_list", ())]
            args.defaults = [self.rename(d) for d in args.defaults]
            args.kw_defaults = [None if d is None else self.rename(d) for d in args.kw_defaults]
            outer, self.scope = self.scope, self.scopes.of(node)
            node.body = self.renamed(node.body) if isinstance(node.body, list) else self.rename(node.body)
            self.scope = outer
            return node
        if kind in COMPREHENSIONS:
            self.rename_comprehension(node)
            return node
        if isinstance(node, gast.stmt):
            (new,) = self.rename_statement(node)
            return new
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                setattr(node, name, [self.rename(x) if hasattr(x, "_fields") else x for x in value])
            elif hasattr(value, "_fields"):
                setattr(node, name, self.rename(value))
        return node

    def rename_comprehension(self, node: Any) -> None:
        first = node.generators[0]
        first.iter = self.rename(first.iter)
        made = getattr(node, "function", None)
        outer, self.scope = self.scope, self.scopes.of(node if made is None else made)
        for k, g in enumerate(node.generators):
            if k:
                g.iter = self.rename(g.iter)
            g.target = self.rename(g.target)
            g.ifs = [self.rename(x) for x in g.ifs]
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(node, name, self.rename(getattr(node, name)))
        self.scope = outer

    def is_super(self, node: Any) -> bool:
        """Whether ``node`` is ``super()`` in a method that is a generator."""
        called = type(node).__name__ == "Call" and not node.args and getattr(node.func, "id", None) == "super"
        return called and self.scope is self.own and bool(self.own.params) and self.scope.owner("super") is None

    def builtin(self, node: Any) -> None:
        """``next`` inside a generator must not end it; ``super()`` means the method that the generator is."""
        if self.is_super(node):
            first = self.attributes[self.own.params[0]]
            node.args = [self.written.expr("__class__"), self.written.expr(f"{self.frame}.{first}")]
        elif (
            node.func.id == "next" and not node.keywords and len(node.args) == 1 and not getattr(node, "in_try", False)
        ):
            node.func = self.written.expr(self.helpers["following"])
