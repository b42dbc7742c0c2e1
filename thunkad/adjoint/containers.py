"""Methods that change a list or a dict, on what is differentiated."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.keys import noted_key
from thunkad.adjoint.mutation import ListStep, UpdatePartStep, as_key
from thunkad.adjoint.steps import ENTRY, Block, Step, give, give_display
from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Sequence
from thunkad.records import record
from thunkad.runtime import changes

POSITION_IN, INSERTED_AT = n.Ref("position_in", changes.position_in), n.Ref("inserted_at", changes.inserted_at)


@record
class ChangeStep(Step):
    """``target = owner.name(*args, **kwargs)``; ``undo`` is what the forward code kept of it."""

    target: str
    owner: str
    args: tuple[n.Expr, ...]
    kwargs: tuple[tuple[str, n.Expr], ...]
    undo: str

    def reads(self) -> set[str]:
        return {self.owner, *(i for a in (*self.args, *(v for _, v in self.kwargs)) for i in walk.names(a))}

    def reverse(self, bars: Bars) -> None:
        bar: Any = None
        if self.target in bars.active:  # what is taken out of a container is no new object: its own shadow stays
            bar = bars.entry_of(self.target)
        found, named = bars.names.new("taken_bar"), bars.names.new("named_bar")
        call = n.Call(n.Name(self.undo), (n.Name(bars.shadows), ZERO_REF if bar is None else bar.expr))
        bars.emit(n.Unpack((found, named), call))
        if is_starred(self.args, self.kwargs):
            give_display(bars, n.TupleExpr(self.args), n.Name(found))
            keys = tuple(None if k is None else n.Const(k) for k, _ in self.kwargs)
            give_display(bars, n.DictExpr(keys, tuple(v for _, v in self.kwargs)), n.Name(named))
            return
        for k, a in enumerate(self.args):
            if any(i in bars.active for i in walk.names(a)):
                give(bars, a, n.Index(n.Name(found), n.Const(k)), maybe_zero=True)
        for key, v in self.kwargs:
            if any(i in bars.active for i in walk.names(v)):
                give(bars, v, n.Call(ENTRY, (n.Name(named), n.Const(key))), maybe_zero=True)


def is_starred(args: tuple[n.Expr, ...], kwargs: Any) -> bool:
    return any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs)


class Containers:
    """The part of :class:`thunkad.adjoint.mutate.Mutation` that knows lists and dicts."""

    fw: Any
    kind: Any
    operator: Any

    def method(
        self, s: Any, target: str | None, e: n.Call, owner: n.Name, name: str, out: list[n.Stmt], steps: Block
    ) -> bool:
        """``target = owner.name(…)``, which may change ``owner``."""
        kind = self.kind(owner)
        if isinstance(kind, Sequence) and kind.cls is list and not e.kwargs and not is_starred(e.args, ()):
            if name == "append" and len(e.args) == 1:
                out.append(self.fw.copy(s))
                steps.steps.append(ListStep(s.line, owner.id, ("pop", ()), e.args[0]))
                return True
            if name == "pop" and not e.args:
                out.append(self.fw.copy(s))
                steps.steps.append(ListStep(s.line, owner.id, ("append", ()), None, target))
                return True
            if name == "reverse" and not e.args:
                out.append(self.fw.copy(s))
                steps.steps.append(ListStep(s.line, owner.id, ("reverse", ()), None))
                return True
            if name in ("pop", "insert") and len(e.args) == 1 + (name == "insert"):
                position = self.fw.names.new("position")
                find = POSITION_IN if name == "pop" else INSERTED_AT
                out.append(n.Assign(position, n.Call(find, (e.args[0], owner)), line=s.line))
                out.append(self.fw.copy(s))
                undo = "insert" if name == "pop" else "pop"
                value = e.args[1] if name == "insert" else None
                steps.steps.append(ListStep(s.line, owner.id, (undo, (n.Name(position),)), value, target))
                return True
        self.change(s, target, owner, name, e.args, e.kwargs, out, steps)
        return True

    def update_part(self, s: n.Update, base: n.Name, target: n.Index | n.Attr, value: n.Expr, out: list[n.Stmt],
                    steps: Block) -> bool:  # fmt: skip
        """``base[key] op= value`` where it is not known what the entry is."""
        undo = self.fw.names.new("undo")
        name = "update_attribute" if type(target) is n.Attr else "update_entry"
        key = n.Const(target.name) if type(target) is n.Attr else as_key(target.index)
        key = noted_key(self, s, target, key, out, steps)
        call = n.Call(self.fw.callees.updater(name), (self.operator(s, s.op), base, key, value))
        out.append(n.Assign(undo, call, line=s.line, site="collects"))
        steps.steps.append(UpdatePartStep(s.line, base.id, value, undo))
        return True

    def change(self, s: Any, target: str | None, owner: n.Name, name: str, args: tuple[n.Expr, ...], kwargs: Any,
               out: list[n.Stmt], steps: Block) -> None:  # fmt: skip
        """A change of which the forward code finds out how to undo it."""
        if target is None:
            target = self.fw.names.temporary()
        undo = self.fw.names.new("undo")
        named: n.Expr = n.DictExpr(tuple(n.Const(k) for k, _ in kwargs), tuple(v for _, v in kwargs))
        if is_starred((), kwargs):
            named = n.Call(n.Ref("dict", dict), (), tuple(kwargs))
        call = n.Call(
            self.fw.callees.updater("change"), (owner, n.Const(name), n.TupleExpr(tuple(map(as_key, args))), named)
        )
        out.append(n.Unpack((target, undo), call, line=s.line))
        steps.steps.append(ChangeStep(s.line, target, owner.id, args, tuple(kwargs), undo))


def as_display(s: n.Stmt, site: Site | None) -> n.Stmt:
    """``d = dict(a=x)`` as ``d = {"a": x}``; any other statement as it is."""
    if (
        type(s) is not n.Assign
        or site is None
        or site.callee is not dict
        or site.args
        or not all(k for k, _ in site.kwargs)
    ):
        return s
    keys, values = tuple(n.Const(k) for k, _ in site.kwargs), tuple(v for _, v in site.kwargs)
    return n.Assign(s.target, n.DictExpr(keys, values), line=s.line)
