"""Calls of callees that write into memory that is shadowed: of the user's functions and classes, known or not."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.late import dynamic
from thunkad.adjoint.mutation import received
from thunkad.adjoint.steps import Block, Step, give
from thunkad.analysis.aliases import Aliases, Sharing, has_memory
from thunkad.analysis.late_calls import foreseen
from thunkad.analysis.makers import new_of
from thunkad.analysis.sites import Site
from thunkad.analysis.views import is_fold
from thunkad.analysis.writing import MUTATING_METHODS, out_operands
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Num
from thunkad.records import record, replace
from thunkad.runtime.sharing import check_fresh

CHECK_FRESH = n.Ref("check_fresh", check_fresh)


@record
class ReceiveStep(Step):
    """What a callee has put into the shadow of ``source``, whose cotangent is no shadow here."""

    source: str

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        give(bars, n.Name(self.source), received(bars, n.Name(self.source), ZERO_REF), maybe_zero=True)


def empty(cls: Any) -> n.Expr:
    """An empty object of a class."""
    made = n.Ref(cls.__name__, cls)
    own = cls.__new__ is object.__new__
    return n.Call(n.Attr(made, "__new__") if own else n.Ref("new", new_of(cls)), (made,))


class Calls:
    """The part of :class:`thunkad.adjoint.mutate.Mutation` that knows calls."""

    fw: Any
    aliases: Aliases
    shadowed: dict[str, str]
    kind: Any
    is_shadowed: Any
    may_change: Any
    method: Any
    writer: Any

    def call(self, s: Any, target: str | None, e: n.Call, out: list[n.Stmt], steps: Block) -> bool:
        site = self.fw.resolved.sites.get(id(s))
        written = [x for x in self.aliases.written_by.get(id(s), ()) if x in self.shadowed]
        if site is not None and site.how == "construct" and target is not None and target in self.fw.active:
            return self.construct(s, target, site, out, steps)
        if not written:
            return False
        if site is not None and site.how == "construct" and target is None:
            return self.construct(s, self.fw.names.temporary(), site, out, steps)
        if site is not None and site.how in ("inside", "lifted"):
            if target is None:
                target = self.fw.names.temporary()
            self.fw.pair(n.Assign(target, e, line=s.line), target, site, out, steps)
            return True
        starred = any(type(a) is n.Star for a in e.args) or any(k is None for k, _ in e.kwargs)
        of_container = type(e.func) is n.Attr and e.func.name in MUTATING_METHODS and not starred
        if foreseen(self.fw.resolved, site) and not of_container:
            name = target or self.fw.names.temporary()
            dynamic(self.fw, n.Assign(name, e, line=s.line), name, site, out, steps)
            return True
        own = type(e.func) is n.Attr and type(e.func.value) is n.Name and self.is_shadowed(e.func.value)
        if own and not isinstance(self.kind(e.func.value), Num) and not out_operands(site, e):
            return self.method(s, target, e, e.func.value, e.func.name, out, steps)
        return self.writer(s, target, e, site, out, steps)

    def construct(self, s: Any, target: str, site: Site, out: list[n.Stmt], steps: Block) -> bool:
        """An object of a user's class: an empty one, then ``__init__`` as a compiled callee that writes into it."""
        out.append(n.Assign(target, empty(site.callee), line=s.line))
        if not site.bound:
            return True
        bound = ((site.bound[0][0], n.Name(target)), *site.bound[1:])
        inner = replace(site, bound=bound, args=(n.Name(target), *site.args))
        done = self.fw.names.temporary()
        self.fw.pair(n.Assign(done, s.value, line=s.line), done, inner, out, steps)
        return True

    def sharing(self, s: n.Stmt, target: str, site: Site) -> Sharing:
        """What a compiled callee shares with this function at this call."""
        volatile = tuple(p for p, e in site.bound if self.may_change(s, e))
        shared = tuple(p for p, e in site.bound if any(i in self.shadowed for i in walk.names(e)))
        found = Sharing(volatile, shared, target in self.shadowed, returned=self.may_change(s, n.Name(target)))
        straight = any(s is x for x in self.fw.resolved.function.body)
        several = sum(map(self.fw.is_active, (e for _, e in site.bound))) > 1
        return replace(found, lazy=True) if self.lazy and straight and several and not found.shadows else found

    def receive(self, line: int, operands: list[n.Expr], steps: Block) -> None:
        """Take over what a callee puts into the shadow of an operand for which this function has none."""
        steps.steps.extend(
            ReceiveStep(line, e.id)
            for e in operands
            if type(e) is n.Name and e.id not in self.shadowed and has_memory(self.kind(e))
        )

    def check_fresh(self, target: str, site: Site) -> n.Expr | None:
        """For a callee known only at run time whose result is shadowed: it must not be an argument's memory.

        That of the sum of nothing is the start itself, to which its cotangent is given back.
        """
        if is_fold(site.callee):
            return None
        operands = tuple(
            n.Name(i)
            for a in dict.fromkeys((*site.args, *(v for _, v in site.kwargs)))
            for i in walk.names(a)
            if i in self.shadowed
        )
        return n.Call(CHECK_FRESH, (n.Name(target), *operands)) if target in self.shadowed and operands else None
