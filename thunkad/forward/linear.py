"""Forward mode in two halves: one computes values and keeps what tangents need, one maps tangents to tangents.

The code that :class:`~thunkad.forward.push.Push` builds is taken apart by names.  What reads or binds a tangent is
the linear half; all else is the primal half.  No branch or loop depends on a tangent, so both halves have the same
blocks: an arm of an ``if`` hands over one tuple of what its other half reads, a loop one for each iteration.  Factors
that no tangent is in are computed in the primal half.  A callee is two calls, one in each half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from thunkad.adjoint.saves import definite
from thunkad.analysis.late_calls import variables_of
from thunkad.analysis.randomness import is_random
from thunkad.analysis.same_objects import begins_with_several
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.sources import volatile_sources
from thunkad.errors import NoRuleError, UnsupportedSyntaxError
from thunkad.forward.calls import BY_REFERENCE, EFFECT, TANGENT, Calls, Pushed, is_iterator
from thunkad.forward.generate import cleaned, parameters, result_dot, returns_own, tangents_of_params
from thunkad.forward.memory import Memory, memory_of
from thunkad.forward.push import Push
from thunkad.forward.residuals import Residuals
from thunkad.forward.template import ZERO_REF
from thunkad.forward.varied import moving_names
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Instance, Known, Num, Opaque
from thunkad.optimise.dead import free_reads
from thunkad.records import replace
from thunkad.runtime.residuals import snapshot
from thunkad.runtime.shadows import Shadows

SNAPSHOT = n.Ref("snapshot", snapshot)


class NotSeparable(Exception):
    """The two halves of forward mode can't be told apart; the whole is right nevertheless."""


class Halved(Pushed, Protocol):
    """What the halves ask of the world besides: callees in two halves."""

    def linearized(
        self, site: Site, demand: tuple[str, ...], owner: Any, own_result: bool, volatile: tuple[str, ...]
    ) -> tuple[n.Ref, n.Ref]: ...
    def linear_call(self) -> n.Ref: ...
    def separable(self, callee: n.Expr) -> bool: ...


class HalvedCalls(Calls):
    """Calls of which each half does its own part."""

    callees: Halved

    def __init__(self, push: Any, callees: Halved, outside: set[str]) -> None:
        super().__init__(push, callees)
        self.outside = outside
        self.handles: set[str] = set()  # what primal halves of callees return for linear ones

    def may_change(self, x: str) -> bool:
        """Whether memory that ``x`` may share is written, here or by others before the linear half runs."""
        return self.push.memory.is_mutated(x) or self.push.memory.find(x) in self.outside

    def handle(self, wish: str) -> str:
        name = self.push.names.new(wish)
        self.handles.add(name)
        return name

    def compiled(self, s: n.Assign, target: str, site: Site) -> None:
        push = self.push
        mutated = self.callees.summary(site).mutated
        demand = tuple(p for p, a in site.bound if push.moves(a))
        for p, a in site.bound:
            if p in mutated and p in demand and type(a) not in BY_REFERENCE:
                raise push.unsupported("an argument that is changed by the function that it is passed to")
        try:
            volatile = tuple(p for p, a in site.bound if any(map(self.may_change, walk.names(a))))
            own = self.owns_result(target, site)
            primal, linear = self.callees.linearized(site, demand, push.resolved.owner, own, volatile)
        except NoRuleError as error:
            raise error.at(push.resolved.place(s.line)) from None
        saved = self.handle(f"{target}_saved")
        push.emit(n.Unpack((target, saved), n.Call(primal, tuple(a for _, a in site.bound)), line=s.line, site=EFFECT))
        dots = (push.dot(a) for p, a in site.bound if p in demand)
        name = push.dot_name(target) if target in push.moving else push.names.new("_")
        push.emit(n.Assign(name, n.Call(linear, (n.Name(saved), *dots)), line=s.line, site=EFFECT))

    def dynamic(self, s: n.Assign, target: str, site: Site, callee: n.Expr) -> None:
        push = self.push
        self.refuse_random(s, site)
        if not self.callees.separable(callee):
            raise NotSeparable("a pullback that is decided when the code runs")
        if variables_of(push.resolved, site):
            raise NotSeparable("a callee that may use variables of others")
        arg_dots = n.TupleExpr(tuple(self.starred(a) for a in site.args))
        keys = tuple(None if k is None else n.Const(k) for k, _ in site.kwargs)
        kwarg_dots = n.DictExpr(keys, tuple(self.double_starred(k, v) for k, v in site.kwargs))
        callee, callee_dot = self.looked_up(callee, s.line)
        saved = self.handle(f"{target}_linear")
        call = n.Call(self.callees.linear_call(), (callee, *site.args), site.kwargs)
        push.emit(n.Unpack((target, saved), call, line=s.line, site=EFFECT))
        name = push.dot_name(target) if target in push.moving else push.names.new("_")
        found = n.Call(n.Name(saved), (callee_dot, arg_dots, kwarg_dots))
        push.emit(n.Assign(name, found, line=s.line, site=EFFECT))
        if target in push.moving:
            push.densely(target)
            if push.memory.is_mutated(target) and not push.is_scalar(target):
                push.tangent(target, self.changeable(target, name, site), fresh=True)

    def both(self, s: n.Assign, target: str, site: Site, call: n.Expr) -> None:
        """A rule that is called as it stands: its tangent costs one more run of the operation."""
        push = self.push
        self.refuse_random(s, site)
        # The rule's value can be gone through more than once.
        if is_iterator(site.callee) and type(call) is n.Call:
            still = tuple((k, ZERO_REF if k is not None and k.endswith("_dot") else v) for k, v in call.kwargs)
            value = n.Call(call.func, call.args, still)
            push.emit(n.Unpack((target, push.names.new("_")), value, line=s.line, site=EFFECT))
        else:
            push.out.append(self.with_site(s, site))
        if target in push.moving:
            push.emit(n.Unpack((push.names.new("_"), push.dot_name(target)), call, line=s.line, site=EFFECT))
            push.densely(target)
            if push.memory.is_mutated(target) and not push.is_scalar(target) and self.may_view(site):
                push.tangent(target, n.Name(push.dot_name(target)))

    def refuse_random(self, s: n.Stmt, site: Site) -> None:
        if is_random(site, self.push.resolved):
            raise UnsupportedSyntaxError(
                "linearize of code that draws random numbers in a call that has no rule to paste is not supported",
                self.push.resolved.place(s.line),
                "draw the numbers outside and pass them in",
            )


def halves(
    primal_name: str,
    linear_name: str,
    resolved: Resolved,
    wanted: tuple[str, ...],
    callees: Halved,
    user_pure: Callable[[Any], bool],
    public: bool = False,
    own_result: bool = False,
    volatile: tuple[str, ...] = (),
) -> tuple[n.Function, n.Function]:
    """``primal(params) -> (value, saved)`` and ``linear(saved, dots of wanted) -> value_dot``.

    The parameters are those of :func:`thunkad.forward.generate.pushforward`; ``volatile`` are parameters whose memory
    others may write into before the linear half runs.
    """
    resolved = replace(resolved, kinds=dict(resolved.kinds))
    function = resolved.function
    memory = memory_of(resolved, callees.summary)
    last = function.body[-1]
    assert type(last) is n.Return
    if own_result and returns_own(function):
        memory.change(last.value.id)
    moving = moving_names(resolved, wanted, memory, callees.summary)
    if any(isinstance(k, Instance) and k.cls is Shadows for k in resolved.kinds.values()):
        raise NotSeparable("shadows go by the identity of memory")
    if begins_with_several(resolved):
        raise NotSeparable("several names of what is followed from outside")
    original = {*resolved.kinds, *(p.name for p in parameters(function)), *walk.assigned(function.body)}
    push = Push(resolved, moving, memory, Names(walk.taken_names(function)), callees)
    outside = memory.classes({*volatile, *volatile_sources(resolved)})
    push.calls = calls = HalvedCalls(push, callees, outside)
    push.residuals = Residuals(push, apart=True)
    params = parameters(function)
    dots, start = tangents_of_params(push, params, wanted, memory, public)
    body = push.block(function.body[:-1])
    result = push.names.new("value_dot")
    made = n.Assign(result, result_dot(push, last.value), site=TANGENT)
    whole = cleaned([*start, *body, made, n.Return(n.TupleExpr((last.value, n.Name(result))))], user_pure)[:-1]
    tangents = {*push.spelled.values(), *(p.name for p in dots), result} - original
    names = [p.name for p in params]
    split = Split(whole, tangents, original, memory, resolved, push.names, names, calls.handles, outside)
    primal, linear = split.block(whole)
    saved = push.names.new("saved")
    needed = split.read(linear)
    returned = last.value if not public else n.Call(SNAPSHOT, (last.value,))
    keep: list[n.Stmt] = [n.Assign(saved, definite([primal], tuple(needed), push.names))]
    back = [n.Return(n.TupleExpr((returned, n.Name(saved))), line=last.line)]
    primal = cleaned([*primal, *keep, *back], user_pure)
    linear = cleaned([*unpacked(needed, saved), *linear, n.Return(n.Name(result))], user_pure)
    where = (), function.line, function.filename
    return n.Function(primal_name, params, primal, *where), n.Function(
        linear_name, [n.Param(saved), *dots], linear, *where
    )


def unpacked(names: list[str], saved: str) -> list[n.Stmt]:
    return [n.Unpack(tuple(names), n.Name(saved), site=TANGENT)] if names else []


class Split:
    """Takes blocks apart.  ``tangents`` are the names of tangents; what is computed from them joins them."""

    def __init__(
        self,
        body: list[n.Stmt],
        tangents: set[str],
        original: set[str],
        memory: Memory,
        resolved: Resolved,
        names: Names,
        params: list[str],
        handles: set[str],
        outside: set[str],
    ) -> None:
        self.tangents, self.memory, self.resolved, self.names = tangents, memory, resolved, names
        self.original, self.handles, self.outside = original, handles, outside
        everything = list(walk.statements(body))
        self.count = Counter(params)
        self.count.update(w for s in everything for w in walk.writes(s))
        for s in everything:
            if type(s) in (n.For, n.While):  # what one iteration reads and the one before it has bound
                inside = [x for block in walk.blocks(s) for x in block]
                self.count.update(free_reads(inside) & walk.assigned(inside))
        self.read_by = Counter(r for s in everything for r in walk.reads(s))
        self.spread(everything)
        if self.tangents & original:
            raise NotSeparable("a value that depends on a tangent")

    def spread(self, everything: list[n.Stmt]) -> None:
        simple = [s for s in everything if not walk.blocks(s)]
        before = -1
        while before != len(self.tangents):
            before = len(self.tangents)
            for s in simple:
                if walk.reads(s) & self.tangents:
                    self.tangents.update(walk.writes(s))

    def read(self, linear: list[n.Stmt]) -> list[str]:
        """What a linear block reads of the primal half and does not bind itself."""
        bound = walk.assigned(linear)
        return sorted(x for x in walk.read_anywhere(linear) if x not in self.tangents and x not in bound)

    def handed_over(self, primal: list[n.Stmt], linear: list[n.Stmt], more: tuple[str, ...] = ()) -> list[str]:
        inside = walk.assigned(primal).union(more)
        return [x for x in self.read(linear) if x in inside]

    # ------------------------------------------------------------ blocks

    def block(self, block: list[n.Stmt]) -> tuple[list[n.Stmt], list[n.Stmt]]:
        primal: list[n.Stmt] = []
        linear: list[n.Stmt] = []
        for s in block:
            t = type(s)
            if t is n.If:
                self.branch(s, primal, linear)
            elif t is n.For:
                self.loop(s, primal, linear)
            elif t is n.While:
                self.while_(s, primal, linear)
            elif t is n.With:
                body, more = self.block(s.body)
                primal.append(n.With(s.item, s.target, body, line=s.line, site=s.site))
                linear.extend(more)
            elif walk.blocks(s) or t is n.Define:
                if any(self.is_linear(inner) for inner in walk.statements([s])):
                    raise NotSeparable(f"tangents in a {t.__name__}")
                primal.append(s)
            elif self.is_linear(s):
                linear.append(self.tangent(s, primal))
            else:
                primal.append(s)
        return primal, linear

    def is_linear(self, s: n.Stmt) -> bool:
        writes = walk.writes(s)
        found = bool(self.tangents.intersection(writes) or walk.reads(s) & self.tangents)
        if found and any(w not in self.tangents for w in writes):
            raise NotSeparable("one statement of both halves")
        return found

    def branch(self, s: n.If, primal: list[n.Stmt], linear: list[n.Stmt]) -> None:
        arms = [self.block(arm) for arm in (s.body, s.orelse)]
        if not any(more for _, more in arms):
            primal.append(n.If(s.test, arms[0][0], arms[1][0], line=s.line, site=s.site))
            return
        test = self.kept(s.test, primal)
        kept = [self.handed_over(*arm) for arm in arms]
        if any(kept):
            saved = self.names.new("arm_saved")
            for (own, more), names in zip(arms, kept):
                own.append(n.Assign(saved, definite([own], tuple(names), self.names)))
                more[:0] = unpacked(names, saved)
        primal.append(n.If(s.test, arms[0][0], arms[1][0], line=s.line, site=s.site))
        linear.append(n.If(test, arms[0][1], arms[1][1], line=s.line))

    def loop(self, s: n.For, primal: list[n.Stmt], linear: list[n.Stmt]) -> None:
        body, more = self.block(s.body)
        if more:
            self.iterations(body, more, body, walk.writes(s), primal, linear, s.line)
        primal.append(n.For(s.target, s.iter, body, s.stop, s.count, line=s.line, site=s.site))

    def while_(self, s: n.While, primal: list[n.Stmt], linear: list[n.Stmt]) -> None:
        test_body, unread = self.block(s.test_body)
        inside = Counter(r for x in walk.statements(s.test_body) for r in walk.reads(x))
        if any(self.read_by[w] > inside[w] for x in unread for w in walk.assigned([x])):
            raise NotSeparable("a tangent of what the test of a while loop computes")
        body, more = self.block(s.body)
        if more:
            self.iterations([*test_body, *body], more, body, (), primal, linear, s.line)
        primal.append(n.While(test_body, s.test, body, s.stop, line=s.line, site=s.site))

    def iterations(
        self,
        inside: list[n.Stmt],
        more: list[n.Stmt],
        body: list[n.Stmt],
        bound: tuple[str, ...],
        primal: list[n.Stmt],
        linear: list[n.Stmt],
        line: int,
    ) -> None:
        """A list with a tuple for each iteration, which the loop of the linear half goes through in the same order."""
        names = self.handed_over(inside, more, bound)
        every, one = self.names.new("loop_saved"), self.names.new("iteration_saved")
        primal.append(n.Assign(every, n.ListExpr(())))
        body.append(n.Append(every, definite([body], tuple(names), self.names, set(bound))))
        linear.append(n.For(one, n.Name(every), [*unpacked(names, one), *more], line=line))

    # ------------------------------------------------------------ statements of the linear half

    def tangent(self, s: n.Stmt, primal: list[n.Stmt]) -> n.Stmt:
        """``s`` with what it reads of the primal half under names that still mean the same when it runs."""
        if s.site == EFFECT and self.is_dispatched(getattr(s, "value", None)):
            raise NotSeparable("a change of what is known only when the code runs")
        if type(s) is n.Assign and type(s.value) is n.Call and getattr(s.value.func, "name", "") == "view_like":
            raise NotSeparable("what goes by the identity of memory")
        found: dict[str, n.Expr] = {}

        def expression(e: n.Expr) -> n.Expr:
            return walk.substitute(self.hoisted(e, primal), found)

        for x in sorted(walk.reads(walk.map_stmt(s, lambda e: self.hoisted(e, []))) - self.tangents):
            found[x] = self.kept(n.Name(x), primal)
        return walk.map_stmt(s, expression)

    def is_dispatched(self, e: n.Expr | None) -> bool:
        """Whether a call changes a value together with its tangent."""
        return type(e) is n.Call and type(e.func) is n.Ref and hasattr(getattr(e.func.value, "__self__", None), "whole")

    def hoisted(self, e: n.Expr, primal: list[n.Stmt]) -> n.Expr:
        """Factors without tangents, computed in the primal half."""
        if not self.tangents.intersection(walk.names(e)):
            return e
        if type(e) is n.Binary:
            return n.Binary(e.op, *(self.factor(x, primal) for x in (e.left, e.right)))
        if type(e) is n.Unary:
            return n.Unary(e.op, self.hoisted(e.operand, primal))
        if type(e) is n.Call:
            args = tuple(self.hoisted(a, primal) for a in e.args)
            return n.Call(e.func, args, tuple((k, self.hoisted(v, primal)) for k, v in e.kwargs))
        return e

    def factor(self, e: n.Expr, primal: list[n.Stmt]) -> n.Expr:
        if self.tangents.intersection(walk.names(e)):
            return self.hoisted(e, primal)
        if type(e) not in (n.Binary, n.Unary, n.Call, n.Index) or not any(True for _ in walk.names(e)):
            return e
        name = self.names.temporary()
        if type(e) in (n.Index, n.Call) and any(map(self.may_change, walk.names(e))):
            e = n.Call(SNAPSHOT, (e,))  # it may be a view
        primal.append(n.Assign(name, e))
        return n.Name(name)

    def may_change(self, x: str) -> bool:
        """Whether memory that ``x`` may share is written, here or by others before the linear half runs."""
        return self.memory.is_mutated(x) or self.memory.find(x) in self.outside

    def kept(self, e: n.Expr, primal: list[n.Stmt]) -> n.Expr:
        """A name of the primal half as it is now."""
        if type(e) is not n.Name or e.id in self.tangents:
            return e
        x = e.id
        kind = self.resolved.kinds.get(x)
        fixed = isinstance(kind, (Known, Opaque)) or (isinstance(kind, Num) and kind.is_scalar)
        derived = x not in self.original and bool(self.memory.mutated) and x not in self.handles
        if not fixed and (self.may_change(x) or derived):
            name = self.names.new(f"{x}_then")
            primal.append(n.Assign(name, n.Call(SNAPSHOT, (e,))))
            return n.Name(name)
        if self.count[x] > 1:
            name = self.names.new(f"{x}_then")
            primal.append(n.Assign(name, e))
            return n.Name(name)
        return e
