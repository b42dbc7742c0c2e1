"""A derivative and the callees compiled for it as functions of one module.

What runs are several modules, each in the globals of the function that it was made from; printed together, a callee's
globals become objects that the header imports, unless they mean the same in the main function.
"""

from __future__ import annotations

import types
from typing import Any

from thunkad.compiled.derivation import Derivation
from thunkad.compiled.dynamic import Pull
from thunkad.compiled.load import Slot
from thunkad.compiled.printed import (
    change,
    pull,
    pull_kept,
    pull_kept_packed,
    pull_noting,
    pull_noting_packed,
    pull_packed,
    pull_shared,
    pull_shared_packed,
    push,
    push_change,
    push_shared,
    push_update,
    push_update_attribute,
    push_update_entry,
    update,
    update_attribute,
    update_entry,
)
from thunkad.compiled.push import Push, SharedPush
from thunkad.compiled.shared import SharedPull
from thunkad.compiled.world import World, namespace_of
from thunkad.ir import nodes as n
from thunkad.ir import walk

_MISSING = object()
_DISPATCHERS = {
    "call": pull, "packed": pull_packed, "update": update, "update_entry": update_entry,
    "update_attribute": update_attribute, "change": change,
}  # fmt: skip
_OF_SHARED = {
    "call": pull_shared, "packed": pull_shared_packed, "noting": pull_noting, "noting_packed": pull_noting_packed,
}  # fmt: skip
_OF_TANGENTS = {
    "call": push, "update": push_update, "update_entry": push_update_entry,
    "update_attribute": push_update_attribute, "change": push_change,
}  # fmt: skip


def one_module(function: n.Function, world: World, owner: Any) -> tuple[list[n.Function], dict[int, tuple[Any, int]]]:
    """The functions to print, and for each rule that is called as it stands: (callee, place among its rules)."""
    linker = _Together(world, owner)
    main = linker.function(function, owner)
    return [main], linker.rules


class _Together:
    def __init__(self, world: World, owner: Any) -> None:
        self.world, self.main = world, namespace_of(owner) or {}
        self.made: dict[tuple[int, int], n.Function] = {}
        self.owners = {
            id(slot): slot.owner if isinstance(pair.owner, Derivation) else pair.owner
            for pair in world.pairs.values()
            for slot in (pair.forward, pair.reverse)
        }
        self.rules: dict[int, tuple[Any, int]] = {}
        self.known_rules = {
            id(e.function): (target, k)
            for target, entries in world.snapshot.cells.items()
            for k, e in enumerate(entries)
            if e.function is not None
        }

    def function(self, f: n.Function, owner: Any) -> n.Function:
        """A copy of ``f`` whose callees are functions of the module."""
        key = id(f), id(owner)
        if key not in self.made:
            new = self.made[key] = n.Function(f.name, f.params, [], f.captures, f.line, f.filename)
            new.body = self.block(f.body, _Scope(self, owner))
        return self.made[key]

    def block(self, body: list[n.Stmt], scope: _Scope) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in body:
            if type(s) is n.Define:
                f = s.function
                inner = n.Function(f.name, f.params, self.block(f.body, scope), f.captures, f.line, f.filename)
                out.append(n.Define(inner, line=s.line))
                continue
            new: Any = walk.map_stmt(s, scope.expression)
            for name in ("body", "orelse", "test_body", "message_body"):
                if isinstance(getattr(new, name, None), list):
                    setattr(new, name, self.block(getattr(s, name), scope))
            out.append(new)
        return out


class _Scope:
    """How the expressions of one owner's code are written in the module."""

    def __init__(self, together: _Together, owner: Any) -> None:
        self.together, self.owner = together, owner
        self.namespace = namespace_of(owner) or {}

    def expression(self, e: Any) -> n.Expr:
        t = type(e)
        if t is n.Global:
            return self.name(e)
        if t is n.Ref:
            return self.pinned(e)
        if t is n.Closure:
            function = self.together.function(e.function, self.owner)
            captures = tuple(map(self.expression, e.captures))
            defaults = tuple(map(self.expression, e.defaults))
            return n.Closure(function, captures, defaults, tuple((k, self.expression(v)) for k, v in e.kw_defaults))
        return walk.map_expr(e, self.expression)

    def name(self, e: n.Global) -> n.Expr:
        here = self.namespace.get(e.id, _MISSING)
        there = self.together.main.get(e.id, _MISSING)
        if here is there:
            return e
        if here is _MISSING:
            import builtins

            here = getattr(builtins, e.id, _MISSING)
            if here is _MISSING:
                return e
        return n.Ref(e.id, here)

    def pinned(self, e: n.Ref) -> n.Expr:
        value = e.value
        if isinstance(value, Slot):
            if value.function is None:  # the user's function itself
                target = value.cell.cell_contents
                return n.Ref(getattr(target, "__name__", e.name), target)
            owner = self.together.owners.get(id(value), getattr(value, "owner", None))
            return n.Ref(e.name, self.together.function(value.function, owner))
        if isinstance(value, types.MethodType) and isinstance(value.__self__, Pull):
            name = value.__func__.__name__
            if isinstance(value.__self__, SharedPull):
                return n.Ref(e.name, _OF_SHARED[name])
            kept = {"call": pull_kept, "packed": pull_kept_packed} if value.__self__.kept else {}
            return n.Ref(e.name, kept.get(name, _DISPATCHERS[name]))
        if isinstance(value, types.MethodType) and isinstance(value.__self__, Push):
            shared = isinstance(value.__self__, SharedPush) and value.__func__.__name__ == "call"
            return n.Ref(e.name, push_shared if shared else _OF_TANGENTS[value.__func__.__name__])
        found = self.together.known_rules.get(id(value))
        if found is not None:
            self.together.rules[id(value)] = found
        return e
