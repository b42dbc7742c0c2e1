"""``try`` and ``with`` in the derivative.

The forward code keeps them.  The reverse of a ``try`` runs the reverse of the way that was gone: of the body and its
``else``, or of the handler (:mod:`thunkad.normal.guarded` has seen to it that nothing else of a body that was left
half-way can be seen).  The reverse of a ``with`` is the reverse of its block; under a new ``np.errstate`` if it is one
of these.
"""

from __future__ import annotations

import builtins
import contextlib
import threading
import warnings
from collections import Counter
from typing import Any

import numpy as np

from thunkad.adjoint.bars import Bars, merge_arms
from thunkad.adjoint.control import Link, reverse_only_way
from thunkad.adjoint.steps import Block, OutlinedStep, Step
from thunkad.analysis.activity import CONSTANT, flows
from thunkad.analysis.half_way import WATCHING, badly_cut
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.records import field, record, replace
from thunkad.runtime.exceptions import Unswallowing, raise_noted

#: A callee that hands over what it raises: names that are unbound if it was not reached, and what reverses it else.
Attempt = tuple[tuple[str, ...], Step]
UNSWALLOWING = n.Ref("Unswallowing", Unswallowing)
RAISE_NOTED = n.Ref("raise_noted", raise_noted)
#: Managers that never swallow an exception.
HARMLESS = (
    np.errstate, np.printoptions, warnings.catch_warnings, contextlib.nullcontext, contextlib.closing,
    contextlib.redirect_stdout, contextlib.redirect_stderr, builtins.open, threading.Lock, threading.RLock,
)  # fmt: skip


def guarded(fw: Any, s: n.Stmt, out: list[n.Stmt], steps: Block) -> bool:
    """Deal with ``s`` if it is a ``with``, a ``try`` or an assignment to a global; ``fw`` is the forward pass."""
    if type(s) is n.With:
        _with(fw, s, out, steps)
    elif type(s) is n.Try:
        _try(fw, s, out, steps)
    elif type(s) is n.SetGlobal:
        fw.callees.assigned_global(fw.resolved, s.name, s.value, s.line)
        out.append(fw.copy(s))
    else:
        return False
    return True


def _with(fw: Any, s: n.With, out: list[n.Stmt], steps: Block) -> None:
    if s.target is not None and s.target in fw.active:
        raise fw.unsupported(
            s,
            "a context manager made from a value that is differentiated, whose 'as' value is used,",
            "compute the value outside of the 'with' statement",
        )
    site = fw.resolved.sites.get(id(s))
    callee = site.callee if site is not None else None
    item: n.Expr = s.item
    if not any(callee is known for known in HARMLESS):
        manager = n.Name(fw.names.new("manager"))
        out.append(n.Assign(manager.id, item, line=s.line, site=site))
        item = n.Call(UNSWALLOWING, (manager,))
    body, inner = fw.block(s.body)
    out.append(n.With(item, s.target, body, line=s.line))
    if inner.steps:
        steps.steps.append(WithStep(s.line, item if callee is np.errstate else None, inner))


def _try(fw: Any, s: n.Try, out: list[n.Stmt], steps: Block) -> None:
    if s.error is not None and s.error in fw.active and s.site is not CONSTANT:
        raise fw.unsupported(
            s,
            "using what an exception holds, where a value that is differentiated may be in it,",
            "keep the value in a variable instead of the exception",
        )
    if badly_cut(fw.resolved, s, fw.mutation.shadowed):
        raise fw.unsupported(
            s,
            "a 'try' whose handler may see half of what its body changes, in a value that is differentiated,",
            "put what may raise into a 'try' of its own, before anything is changed",
        )
    attempts: list[Attempt] = []
    if s.site != WATCHING:
        fw.tries.append(attempts)
    body, first = fw.block(s.body)
    if s.site != WATCHING:
        fw.tries.pop()
    orelse, second = fw.block(s.orelse)
    handler, caught = fw.block(s.handler)
    error = s.error
    if error is not None and error in fw.active:  # Python unbinds it after the handler; the reverse sweep may read it
        error = fw.names.new(error)
        handler.insert(0, n.Assign(s.error, n.Name(error), line=s.line))
    out += [n.Assign(name, n.Const(None), line=s.line) for unbound, _ in attempts for name in unbound]
    inside = walk.assigned(s.body)
    caught.steps[:0] = [_from_before(step, inside) for _, step in attempts]
    forward = n.Try(body, handler, orelse, s.types, error, None, shielded=True, line=s.line)
    out.append(forward)
    completed = Block([*first.steps, *second.steps])
    if completed.steps or caught.steps:
        forward.raised = fw.names.new("raised")
        steps.steps.append(TryStep(s.line, forward, (caught, completed)))


def _from_before(step: Step, inside: set[str]) -> Step:
    """A call without the operands that are made in the same body: those may be unbound, and lead nowhere."""
    if isinstance(step, ReachedStep):
        return replace(step, body=Block([_from_before(x, inside) for x in step.body.steps]))
    if not isinstance(step, OutlinedStep):
        return step  # of what leads to the call
    return replace(step, operands=[(o, k) for o, k in step.operands if inside.isdisjoint(walk.names(o))])


def attempt(fw: Any, s: n.Assign, step: OutlinedStep, forward: n.Ref, args: tuple[n.Expr, ...], saved: str,
            out: list[n.Stmt], steps: Block, begun: tuple[int, int]) -> None:  # fmt: skip
    """A call, inside a ``try``, of a callee in the form of :mod:`thunkad.normal.attempted`.

    ``begun``: how many statements and steps there were before what leads to it.
    """
    out += noting(fw, s, (step.target, saved), forward, args, site=step.site)
    steps.steps.append(step)
    reverse_if_reached(fw, s, saved, out[begun[0] :], steps.steps[begun[1] :])


def noting(fw: Any, s: n.Stmt, targets: tuple[str, str], function: n.Expr, args: tuple[n.Expr, ...],
           kwargs: tuple[tuple[str | None, n.Expr], ...] = (), site: Site | None = None) -> list[n.Stmt]:  # fmt: skip
    """``targets = function(…)``, which notes what is raised in a list that it is given first."""
    raised = n.Name(fw.names.new("raised"))
    return [
        n.Assign(raised.id, n.ListExpr(()), line=s.line),
        n.Unpack(targets, n.Call(function, (raised, *args), kwargs), line=s.line, site=site),
        n.Effect(n.Call(RAISE_NOTED, (raised,)), line=s.line),
    ]


def reverse_if_reached(fw: Any, s: n.Stmt, back: str, made: list[n.Stmt], steps: list[Step]) -> None:
    """Have the call that ``made`` ends with reversed if the body is left, with what leads to it, by these ``steps``.

    ``back`` is what the call gives for that, beside its value.
    """
    *before, call = steps
    assert isinstance(call, OutlinedStep)
    names = walk.assigned(made) - {call.target}
    reached = ReachedStep(s.line, back, Block([*before, replace(call, target=fw.names.temporary())]), names)
    for attempts in fw.tries:
        attempts.append((tuple(x for x in sorted(names) if x == back or x in reached.reads()), reached))


def with_errors_kept(body: list[n.Stmt], names: Names) -> list[n.Stmt]:
    """``body`` with exceptions under names that outlive their handlers, where they are read behind these."""
    tries: list[Any] = [s for s in walk.statements(body) if type(s) is n.Try and s.error is not None]
    if not tries:
        return body
    reading = _readings(body)
    for s in tries:
        inside = _readings(s.handler)
        if reading[s.error] > inside[s.error]:
            kept, s.error = s.error, names.new(s.error)
            s.handler = [n.Assign(kept, n.Name(s.error), line=s.line), *s.handler]
    return body


def _readings(body: list[n.Stmt]) -> Counter[str]:
    """How many statements read each name, those of functions that are defined there too."""
    found = Counter(x for s in walk.statements(body) for x in walk.reads(s))
    for s in walk.statements(body):
        found.update(_readings(s.function.body) if type(s) is n.Define else ())
    return found


@record
class WithStep(Step):
    item: n.Expr | None
    body: Block

    def reads(self) -> set[str]:
        return self.body.reads()

    def touches(self) -> set[str]:
        return set().union(*(step.touches() for step in self.body.steps))

    def reverse(self, bars: Bars) -> None:
        if self.item is None:
            self.body.reverse(bars)
            return
        outer, bars.out = bars.out, []
        self.body.reverse(bars)
        inside, bars.out = bars.out, outer
        if inside:
            bars.out.append(n.With(self.item, None, inside, line=self.line, site=MIRRORED))


@record
class ReachedStep(Step):
    """A call in a body that was left, with what leads to it; it was not reached if ``back`` is None."""

    back: str
    body: Block
    bound: set[str]  # names that are bound on the way

    def reads(self) -> set[str]:
        return self.body.reads()

    def touches(self) -> set[str]:
        return self.reads() - self.bound

    def reverse(self, bars: Bars) -> None:
        bars.expand_all()
        reached, missed = bars.branch(), bars.branch()
        self.body.reverse(reached)
        merge_arms(bars, reached, missed, self.bound)
        if reached.out or missed.out:
            called = n.Name(bars.names.temporary())
            test = n.Compare("is not", n.Name(self.back), n.Const(None))
            bars.out.append(n.Assign(called.id, test, line=self.line))
            bars.out.append(n.If(called, reached.out, missed.out, line=self.line))


MIRRORED = "mirrored"  # the site of a ``with`` in the reverse sweep: it goes if nothing is left in it


@record
class TryStep(Step):
    forward: n.Try
    arms: tuple[Block, Block]  # of the handler; of the body and its ``else``
    links: list[Link] = field(default_factory=list)

    def reads(self) -> set[str]:
        return self.arms[0].reads() | self.arms[1].reads()

    def touches(self) -> set[str]:
        return self.reads() - walk.assigned([self.forward])

    def reverse(self, bars: Bars) -> None:
        if reverse_only_way(self.forward, self.arms, bars):
            return
        bars.expand_all()
        states: list[Bars] = []
        for arm in self.arms:
            state = bars.branch()
            arm.reverse(state)
            states.append(state)
        merge_arms(bars, states[0], states[1], walk.assigned([self.forward]))
        if not states[0].out and not states[1].out:
            return
        key = object()
        assert self.forward.raised is not None
        twin = n.If(n.Name(self.forward.raised), states[0].out, states[1].out, line=self.line, site=key)
        bars.out.append(twin)
        bars.links.append(Link(self.forward, key, (states[0].links, states[1].links)))


def names_of_unread(resolved: Resolved, error: str | None, varied: frozenset[str]) -> frozenset[str] | None:
    """The names of an exception, if no ``varied`` name takes its value from what it holds; None if one does."""
    names = {error}
    statements = list(walk.statements(resolved.function.body))
    while True:
        before = len(names)
        for s in statements:
            if type(s) is n.Return and not names.isdisjoint(walk.names(s.value)):
                return None
            for target, operands in flows(resolved, s):
                if names.isdisjoint(operands):
                    continue
                if (type(s) is n.Assign and type(s.value) is n.Name) or type(s) is n.Try:
                    names.add(target)  # of a try: an exception that may hold this one
                elif target in varied and target not in names:
                    return None
        if len(names) == before:
            return frozenset(x for x in names if x is not None)


def raised_only(resolved: Resolved) -> frozenset[str]:
    """Names that nothing but ``raise`` reads: what these exceptions hold can only be had from a handler."""
    raised: set[str] = set()
    read: set[str] = set()
    for s in walk.statements(resolved.function.body):
        (raised if type(s) is n.Raise else read).update(walk.reads(s))
    return frozenset(raised - read)
