"""Loops as one writes them: a carried variable is bound where it is computed, a residual alone needs no tuple.

for c in cs:                                for c in cs:
    total_1 = total * x + c                     saved.append(total)
    saved.append((total,))                      total = total * x + c
    total = total_1                         …
…                                           for total in reversed(saved):
for total, in reversed(saved):
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import replace


def simple_loops(block: list[n.Stmt], reads: Counter[str], writes: Counter[str]) -> list[n.Stmt]:
    """``block``, in which names are read and bound that often, with its loops simplified."""
    return _Loops(block, reads, writes).block(block)


class _Loops:
    def __init__(self, block: list[n.Stmt], reads: Counter[str], writes: Counter[str]) -> None:
        self.reads, self.writes = reads, writes
        self.single = self.single_fields(block)
        self.guarded = False  # inside a ``try``, where it matters what was done before something was raised

    def single_fields(self, block: list[n.Stmt]) -> set[str]:
        """The lists of records of one field that are read by reverse loops alone."""
        records: dict[str, bool] = {}
        uses: Counter[str] = Counter()
        for s in walk.statements(block):
            if type(s) is n.Append:
                alone = type(s.value) is n.TupleExpr and len(s.value.items) == 1 and type(s.value.items[0]) is n.Name
                records[s.target] = records.get(s.target, True) and alone
                uses[s.target] += 1
            elif type(s) is n.For and self.field_of(s) is not None:
                uses[s.iter.args[0].id] += 1  # type: ignore[union-attr]
        return {name for name, alone in records.items() if alone and uses[name] == self.reads[name]}

    def field_of(self, s: n.For) -> str | None:
        """``x`` of ``for x, in reversed(saved)``."""
        e, first = s.iter, s.body[0] if s.body else None
        if type(e) is not n.Call or e.func != n.Ref("reversed", reversed) or type(e.args[0]) is not n.Name:
            return None
        if type(first) is not n.Unpack or len(first.targets) != 1 or first.value != n.Name(s.target):
            return None
        return first.targets[0] if self.reads[s.target] == 1 and s.count is None else None

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        return [self.statement(s) for s in block]

    def statement(self, s: Any) -> n.Stmt:
        t = type(s)
        if t is n.Append and s.target in self.single:
            return replace(s, value=s.value.items[0])  # type: ignore[no-any-return]
        if t is n.If:
            return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
        if t is n.For:
            field = self.field_of(s)
            if field is not None and s.iter.args[0].id in self.single:
                s = replace(s, target=field, body=s.body[1:])
            return replace(s, body=self.bound_at_once(self.block(s.body), s.stop))
        if t is n.While:
            body = self.bound_at_once(self.block(s.body), s.stop)
            return replace(s, test_body=self.block(s.test_body), body=body)
        if t is n.With:
            return replace(s, body=self.block(s.body))  # type: ignore[no-any-return]
        if t is n.Try:
            outer, self.guarded = self.guarded, True
            body = self.block(s.body)
            self.guarded = outer
            return replace(s, body=body, handler=self.block(s.handler), orelse=self.block(s.orelse))
        return s  # type: ignore[no-any-return]

    def bound_at_once(self, body: list[n.Stmt], stop: str | None) -> list[n.Stmt]:
        """``body`` without the copies at its end of what nothing else reads, computed where the copies stood."""
        if self.guarded:
            return body
        out = list(body)
        while any(self.bind(s, out, stop) for s in out if _is_copy(s)):
            pass
        return out

    def bind(self, copy: Any, out: list[n.Stmt], stop: str | None) -> bool:
        name = copy.value.id
        if self.reads[name] != 1 or self.writes[name] != 1 or name == stop:
            return False
        at = next((k for k, s in enumerate(out) if type(s) is n.Assign and s.target == name), None)
        end = next(k for k, s in enumerate(out) if s is copy)
        made: Any = out[at] if at is not None and at < end else None
        if made is None or type(made.value) is n.Inplace or not all(_may_pass(made.value, s) for s in out[at:end][1:]):
            return False
        out[end] = replace(made, target=copy.target)
        del out[at]  # type: ignore[arg-type]
        return True


def _is_copy(s: n.Stmt) -> bool:
    return type(s) is n.Assign and type(s.value) is n.Name


def _may_pass(e: n.Expr, s: n.Stmt) -> bool:
    """Whether evaluating ``e`` after ``s``, not before it, is the same: ``s`` hands names on, none that ``e`` reads."""
    if type(s) is n.Append:
        items = s.value.items if type(s.value) is n.TupleExpr else (s.value,)
        return all(type(x) in (n.Name, n.Const) for x in items) and s.target not in walk.names(e)
    return type(s) is n.Assign and type(s.value) in (n.Name, n.Const) and s.target not in walk.names(e)
