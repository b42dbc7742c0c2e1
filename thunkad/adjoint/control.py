"""Branches and loops in reverse.

An ``if`` runs the reverse of the arm that ran.  A loop runs the reverse of its body once per iteration, last first; the
cotangents that live across iterations are made definite before it and at the end of its body.  What the reverse of an
arm or body reads of the primal is filled in later, by :mod:`thunkad.adjoint.saves`, through the :class:`Link` made
here.
"""

from __future__ import annotations

from thunkad.adjoint.bars import Bars, merge_arms
from thunkad.adjoint.steps import AppendStep, Block, IndexStep, Step
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.check import may_end
from thunkad.records import field, record, replace


@record
class Link:
    """A forward branch or loop and its reverse twin; ``inner`` holds those nested in each of its blocks."""

    forward: n.If | n.For | n.While | n.Try
    key: object  # the ``site`` of the reverse twin, by which it is found after clean-up
    inner: tuple[list[Link], ...]


@record
class IfStep(Step):
    forward: n.If
    arms: tuple[Block, Block]
    links: list[Link] = field(default_factory=list)

    def reads(self) -> set[str]:
        return self.arms[0].reads() | self.arms[1].reads()

    def touches(self) -> set[str]:
        return self.reads() - walk.assigned([self.forward])

    def reverse(self, bars: Bars) -> None:
        if not any(arm.steps for arm in self.arms):
            for x in walk.assigned([self.forward]):
                bars.live.pop(x, None)
            return
        if reverse_only_way(self.forward, self.arms, bars):
            return
        bars.expand_all()
        states: list[Bars] = []
        inner: list[list[Link]] = []
        for arm in self.arms:
            state = bars.branch()
            arm.reverse(state)
            states.append(state)
            inner.append(state.links)
        merge_arms(bars, states[0], states[1], walk.assigned([self.forward]))
        first, second = states[0].out, states[1].out
        if not first and not second:
            return
        key = object()
        twin = n.If(self.forward.test, first, second, line=self.line, site=key)
        bars.out.append(twin)
        bars.links.append(Link(self.forward, key, tuple(inner)))


def reverse_only_way(forward: n.If | n.Try, arms: tuple[Block, Block], bars: Bars) -> bool:
    """Reverse a statement one of whose arms always raises, so that the other one ran; False if both may end."""
    if type(forward) is n.Try:
        ends = may_end(forward.handler), may_end([*forward.body, *forward.orelse])
    else:
        ends = may_end(forward.body), may_end(forward.orelse)
    if all(ends):
        return False
    for arm, ran in zip(arms, ends):
        if ran:
            arm.reverse(bars)
    for x in walk.assigned([forward]):
        bars.live.pop(x, None)
    return True


@record
class LoopStep(Step):
    forward: n.For | n.While
    body: Block
    bound: set[str]  # names that the loop binds
    saved: str

    def reads(self) -> set[str]:
        return self.body.reads()

    def touches(self) -> set[str]:
        return self.reads() - self.bound

    def reverse(self, bars: Bars) -> None:
        touched = {x for x in self.body.reads() if x in bars.active}
        header = _header_names(self.forward)
        across = {x for x in touched if x not in self.bound or x in header} | {x for x in header if x in bars.live}
        shaded = bool(bars.shadowed.keys() & (self.body.reads() | self.bound)) or calls_writers(self.body)
        across = {x for x in across if bars.shadowed.get(x) in (None, "any")}
        if (not across and not shaded) or not self.body.steps:
            for x in self.bound - header:
                bars.live.pop(x, None)
            return
        bars.expand_all()
        indexed = _written_in_place(self.body)
        # A cotangent that is another name's spelling gets its own before the loop rebinds that name.
        for x in list(bars.live):
            if type(bars.live[x].expr) is n.Name:
                bars.settle_spelling(x)
        for x in sorted(across):
            outer = x not in header
            sure = x not in bars.maybe_unbound
            bars.settle(x, own=sure and (x in indexed or (outer and bars.is_array(x))))
            if not outer:
                owned = x in indexed and x not in bars.maybe_unbound
                unsure = bars.live[x].maybe_zero or bars.uncertain(x) or x in bars.shadowed
                bars.live[x] = replace(bars.live[x], owned=owned, maybe_zero=unsure)
        bars.fetch(x for x in self.body.reads() if x not in self.bound)
        state = bars.branch()
        state.fetched -= self.bound
        self.body.reverse(state)
        state.expand_all()
        for x in sorted(across):
            if state.live.get(x) is None:
                state.assign(x, *state.zero_of(x))
            elif bars.live[x].owned and not state.live[x].owned:
                state.settle(x, own=True)  # the next iteration may write into it
            elif state.live[x].maybe_zero and not bars.live[x].maybe_zero:
                state.settle(x, own=False)  # the body was told that it is none
            else:
                state.assign(x, state.live[x].expr, state.live[x].owned, state.live[x].maybe_zero)
        key = object()
        backwards = n.Call(n.Ref("reversed", reversed), (n.Name(self.saved),))
        twin = n.For(bars.names.new("step"), backwards, state.out, line=self.line, site=key)
        for s in walk.statements(state.out):
            for w in walk.writes(s):
                bars.free(w)
        bars.out.append(twin)
        bars.links.append(Link(self.forward, key, (state.links,)))
        for x in across:
            was, now = bars.live[x], state.live[x]
            bars.live[x] = replace(was, owned=was.owned and now.owned, maybe_zero=was.maybe_zero or now.maybe_zero)
        for x in self.bound - header:
            bars.live.pop(x, None)


def _header_names(loop: n.For | n.While) -> set[str]:
    """Carried names: those that the body rebinds by its trailing copies."""
    return {s.target for s in trailing_copies(loop.body)}


def trailing_copies(body: list[n.Stmt]) -> list[n.Assign]:
    """The copies at the end of a loop body that rebind the carried names."""
    out: list[n.Assign] = []
    for s in reversed(body):
        if type(s) is not n.Assign or type(s.value) is not n.Name or not getattr(s, "site", None) == "carried":
            break
        out.append(s)
    out.reverse()
    return out


def calls_writers(block: Block) -> bool:
    """Whether a callee in this block writes memory of ours: its reverse half runs whatever it returns."""
    inner = [
        b
        for step in block.steps
        for b in (*getattr(step, "arms", ()), getattr(step, "body", None))
        if isinstance(b, Block)
    ]
    parts = [getattr(step, "inner", step) for step in block.steps]
    return any(getattr(step, "writes", False) for step in parts) or any(map(calls_writers, inner))


def _written_in_place(block: Block) -> set[str]:
    """Names whose cotangent is a buffer that the reverse of this block writes into."""
    out: set[str] = set()
    for step in block.steps:
        if isinstance(step, IndexStep):
            out.add(step.source)
        elif isinstance(step, AppendStep):
            out.add(step.target)
        elif isinstance(step, IfStep):
            out |= _written_in_place(step.arms[0]) | _written_in_place(step.arms[1])
        elif isinstance(step, LoopStep):
            out |= _written_in_place(step.body)
    return out
