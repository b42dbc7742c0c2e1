"""Facts about a generator function: its ``yield``\\ s, and which of its variables have to outlive them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thunkad.normal.scope import COMPREHENSIONS, FUNCTIONS, Scope
from thunkad.normal.scope_walk import fields, targets_of
from thunkad.normal.scopes import Scopes

YIELDS = ("Yield", "YieldFrom")


def yields_in(node: Any) -> Iterator[Any]:
    """The ``yield`` expressions of ``node`` itself, in reading order, without those of functions made in it."""
    kind = type(node).__name__
    for child in fields(node):
        if type(child).__name__ not in FUNCTIONS:
            yield from yields_in(child)
    if kind in YIELDS:
        yield node


def has_yield(*nodes: Any) -> bool:
    return any(next(yields_in(node), None) is not None for node in nodes)


Sure = frozenset[str] | None  # variables that have been bound since the last yield; None where nothing arrives


def joined(a: Sure, b: Sure) -> Sure:
    return b if a is None else a if b is None else a & b


class Outliving:
    """Finds the variables that may be read when a ``yield`` lies between that and where they were bound.

    Attributes
    ----------
    found : set of str
        These variables, and those that functions made in the generator use.
    """

    def __init__(self, scope: Scope, scopes: Scopes) -> None:
        self.own, self.scopes = scope, scopes
        self.scope = scope
        self.found: set[str] = set(scope.params)
        self.block(scope.node.body, frozenset())

    # ------------------------------------------------------------ statements

    def block(self, body: list[Any], sure: Sure) -> Sure:
        for s in body:
            sure = self.statement(s, frozenset() if sure is None else sure) if sure is not None else self._dead(s)
        return sure

    def _dead(self, s: Any) -> Sure:
        self.statement(s, frozenset())
        return None

    def statement(self, s: Any, sure: frozenset[str]) -> Sure:
        method = getattr(self, f"_{type(s).__name__}", None)
        if method is not None:
            return method(s, sure)  # type: ignore[no-any-return]
        return self.expressions(s, sure)

    def _Assign(self, s: Any, sure: frozenset[str]) -> Sure:
        sure = self.expression(s.value, sure)
        for target in s.targets:
            sure = self.bound(target, sure)
        return sure

    def _AnnAssign(self, s: Any, sure: frozenset[str]) -> Sure:
        return sure if s.value is None else self.bound(s.target, self.expression(s.value, sure))

    def _AugAssign(self, s: Any, sure: frozenset[str]) -> Sure:
        if type(s.target).__name__ != "Name":
            return self.expression(s.value, self.expression(s.target, sure))
        self.read(s.target.id, sure)
        after = self.expression(s.value, sure)
        self.read(s.target.id, after)
        return after | {s.target.id}

    def _Delete(self, s: Any, sure: frozenset[str]) -> Sure:
        for target in s.targets:
            if type(target).__name__ == "Name":
                self.read(target.id, sure)
                sure = sure - {target.id}
            else:
                sure = self.expression(target, sure)
        return sure

    def _If(self, s: Any, sure: frozenset[str]) -> Sure:
        sure = self.expression(s.test, sure)
        return joined(self.block(s.body, sure), self.block(s.orelse, sure))

    def _For(self, s: Any, sure: frozenset[str]) -> Sure:
        sure = self.expression(s.iter, sure)
        sure = frozenset() if has_yield(s) else sure
        self.block(s.body, self.bound(s.target, sure))
        return joined(sure, self.block(s.orelse, sure))

    _AsyncFor = _For

    def _While(self, s: Any, sure: frozenset[str]) -> Sure:
        sure = frozenset() if has_yield(s) else sure
        inside = self.expression(s.test, sure)
        self.block(s.body, inside)
        return joined(sure, self.block(s.orelse, sure))

    def _Try(self, s: Any, sure: frozenset[str]) -> Sure:
        before = frozenset[str]() if has_yield(s) else sure
        after = self.block(s.body, sure)
        after = self.block(s.orelse, after) if after is not None else after
        for handler in s.handlers:
            if handler.type is not None:
                self.expression(handler.type, before)
            name = {handler.name.id} if handler.name is not None else set()
            after = joined(after, self.block(handler.body, before | name))
        final = self.block(s.finalbody, before)
        if not s.finalbody or after is None or final is None:
            return after if final is not None else None
        return after | final

    def _With(self, s: Any, sure: frozenset[str]) -> Sure:
        for item in s.items:
            sure = self.expression(item.context_expr, sure)
            if item.optional_vars is not None:
                sure = self.bound(item.optional_vars, sure)
        after = self.block(s.body, sure)
        return joined(after, frozenset() if has_yield(s) else sure)  # it may swallow an exception

    _AsyncWith = _With

    def _Match(self, s: Any, sure: frozenset[str]) -> Sure:
        sure = self.expression(s.subject, sure)
        after: Sure = sure
        for case in s.cases:
            inside = self.expressions(case.pattern, sure) | pattern_names(case.pattern)
            if case.guard is not None:
                inside = self.expression(case.guard, inside)
            after = joined(after, self.block(case.body, inside))
        return after

    def _FunctionDef(self, s: Any, sure: frozenset[str]) -> Sure:
        return self.expression(s, sure) | {s.name}

    _AsyncFunctionDef = _FunctionDef

    def _Import(self, s: Any, sure: frozenset[str]) -> Sure:
        return sure | {alias.asname or alias.name.partition(".")[0] for alias in s.names}

    _ImportFrom = _Import

    def _Return(self, s: Any, sure: frozenset[str]) -> Sure:
        self.expressions(s, sure)
        return None

    _Raise = _Break = _Continue = _Return

    # ------------------------------------------------------------ expressions

    def expressions(self, node: Any, sure: frozenset[str]) -> frozenset[str]:
        for child in fields(node):
            sure = self.expression(child, sure)
        return sure

    def expression(self, node: Any, sure: frozenset[str]) -> frozenset[str]:
        """What is bound after ``node`` has been evaluated."""
        kind = type(node).__name__
        if kind == "Name":
            if type(node.ctx).__name__ == "Load":
                self.read(node.id, sure)
            return sure
        if kind in FUNCTIONS:
            for part in (*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults):
                if part is not None:
                    sure = self.expression(part, sure)
            self.shared(node)
            return sure
        if kind in COMPREHENSIONS:
            sure = self.expression(node.generators[0].iter, sure)
            made = getattr(node, "function", None)
            if made is not None:
                self.shared(made)
                return sure
            outer, self.scope = self.scope, self.scopes.of(node)
            self.expressions(node, sure)
            self.scope = outer
            return sure
        if kind in ("BoolOp", "IfExp"):
            first, *rest = node.values if kind == "BoolOp" else (node.test, node.body, node.orelse)
            sure = self.expression(first, sure)
            for part in rest:
                self.expression(part, sure)
            return frozenset() if has_yield(*rest) else sure
        if kind == "NamedExpr":
            return self.expression(node.value, sure) | {node.target.id}
        sure = self.expressions(node, sure)
        return frozenset() if kind in YIELDS else sure

    def bound(self, target: Any, sure: frozenset[str]) -> frozenset[str]:
        return self.expression(target, sure) | set(targets_of(target))

    def read(self, name: str, sure: frozenset[str]) -> None:
        if name not in sure and self.scope.owner(name) is self.own:
            self.found.add(name)

    def shared(self, function: Any) -> None:
        """A function made in the generator sees the variables that it uses when it is called."""
        inner = self.scopes.of(function)
        for use in self.scopes.uses:
            if use.scope.inside(inner) and use.scope.owner(use.name) is self.own:
                self.found.add(use.name)


def pattern_names(node: Any) -> set[str]:
    """The names that a pattern of ``match`` binds."""
    bound = (getattr(node, field, None) for field in ("name", "rest"))
    own = {name for name in bound if isinstance(name, str)}
    return own.union(*map(pattern_names, fields(node)))
