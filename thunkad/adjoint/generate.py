"""Normal form, resolved → the functions of a derivative: gradients, the two halves of a callee, lazy pullbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad import debugging
from thunkad.adjoint.bars import ZERO_REF, Bars
from thunkad.adjoint.checks import insert_checks
from thunkad.adjoint.control import calls_writers
from thunkad.adjoint.forward import Callees, Forward
from thunkad.adjoint.groups import in_groups, lazy_pullback
from thunkad.adjoint.guarded import with_errors_kept
from thunkad.adjoint.mutate import Mutation
from thunkad.adjoint.mutation import shadowed_names, shadowed_params, written_params
from thunkad.adjoint.saves import definite, insert_saves, open_lists
from thunkad.analysis.activity import activity
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing, aliases_of, find_aliases
from thunkad.analysis.common import computed_once
from thunkad.analysis.hollow import unbound_at_heads
from thunkad.analysis.plain import plain_arrays
from thunkad.analysis.sites import Resolved
from thunkad.analysis.sources import volatile_sources
from thunkad.errors import NonScalarOutputError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.ir.live import endless
from thunkad.kinds.lattice import Kind, Known, Num, Tuple
from thunkad.optimise.comments import comment_groups
from thunkad.optimise.copies import propagate
from thunkad.optimise.dead import eliminate, free_reads
from thunkad.optimise.delay import delayed
from thunkad.optimise.floats import identities
from thunkad.optimise.fold import folder
from thunkad.optimise.nest import nested
from thunkad.optimise.product_shapes import let_go
from thunkad.optimise.purity import make_purity
from thunkad.optimise.release import release
from thunkad.optimise.tidy import tidy
from thunkad.records import record, replace
from thunkad.runtime import cotangents, shadows, sharing, structures
from thunkad.runtime.watching import separate, watch_copies

SHADOWS = n.Ref("Shadows", shadows.Shadows)
MUST_DIFFER = n.Ref("must_differ", sharing.must_differ)
SEPARATE, WATCH_COPIES = n.Ref("separate", separate), n.Ref("watch_copies", watch_copies)
THEN = n.Ref("then", shadows.then)
STRUCTURE = n.Ref("structure", structures.structure)
PROJECT = n.Ref("project", cotangents.project)
PROJECT_COPY = n.Ref("project_copy", cotangents.project_copy)
SCALAR_SEED = n.Ref("scalar_seed", cotangents.scalar_seed)
AUX_SEED = n.Ref("aux_seed", cotangents.aux_seed)


@record
class Sweeps:
    """Forward and reverse code of one function, before they are put together."""

    forward: list[n.Stmt]
    bars: Bars
    result: n.Expr
    names: Names


class Generator:
    """Puts derivatives of one resolved function together."""

    def __init__(
        self,
        resolved: Resolved,
        callees: Callees,
        user_pure: Callable[[Any], bool],
        reached: Callable[[str, Any], None] = lambda stage, form: None,
        sharing: Sharing = NOTHING_SHARED,
    ) -> None:
        sharing = replace(sharing, volatile=(*sharing.volatile, *volatile_sources(resolved)))
        aliases = aliases_of(resolved).copy() if sharing == NOTHING_SHARED else find_aliases(resolved, sharing)
        self.same: dict[str, str] = {}  # names that hold what another one does
        if not aliases.mutated and not debugging.enabled:
            resolved, self.same = computed_once(resolved)
            aliases = find_aliases(resolved, sharing) if self.same else aliases
        self.resolved, self.callees, self.purity = resolved, callees, make_purity(user_pure)
        self.reached = reached  # told of each stage that the code has reached
        self.names = Names(walk.taken_names(resolved.function))
        self.sharing, self.aliases = sharing, aliases
        self.takes_shadows = self.seed_may_be_zero = False
        # Whether the user, or a caller, may change containers between the forward and the reverse code.
        self.lasting = self.handed_out = False
        self.values_of_bars: dict[str, str] = {}
        self.shapes: dict[str, frozenset[str]] = {}
        # Container parameters that are changed in place, as they were.
        self.originals: dict[str, tuple[n.Expr, n.Expr]] = {}

    # ------------------------------------------------------------ the three products

    def gradient(
        self,
        name: str,
        wanted: tuple[str, ...],
        single: bool,
        with_value: bool = False,
        has_aux: bool = False,
        compose: bool = True,
    ) -> n.Function:
        """``name(params) -> gradients`` or ``(value, gradients)``; the function's result must be one real number.

        ``compose``: nothing else is made of it, so that its steps may be put together.
        """
        sweeps = self.sweeps(wanted, lambda result: self.gradient_seed(result, has_aux), (0,) if has_aux else None)
        outputs = [self.output(sweeps, p) for p in wanted]
        reverse = sweeps.bars.out
        value: n.Expr = sweeps.result
        if type(value) is n.Name and value.id in walk.assigned([x.forward for x in sweeps.bars.links]):
            # The reverse of the loop that carried it goes back to its first one.
            value = n.Name(self.names.new("value"))
            reverse.insert(0, n.Assign(value.id, sweeps.result, line=self.resolved.function.body[-1].line))
        gradients: n.Expr = outputs[0] if single else n.TupleExpr(tuple(outputs))
        if with_value:
            last: n.Expr = n.TupleExpr((value, gradients))
        elif has_aux:
            last = n.TupleExpr((gradients, n.Index(value, n.Const(1))))
        else:
            last = gradients
        needed = set(walk.names(last))
        reverse = eliminate(reverse, needed | free_reads([n.Return(last)]), self.purity)
        lists = insert_saves(
            sweeps.bars.links, reverse, self.names, packed=False, maybe_unbound=unbound_at_heads(self.resolved.function)
        )
        body = open_lists(sweeps.forward, lists) + reverse + [n.Return(last)]
        return self.finish(name, self.params(), body, True, compose)

    def pair(
        self, forward_name: str, reverse_name: str, wanted: tuple[str, ...], results: tuple[int, ...] | None = None
    ) -> tuple[n.Function, n.Function]:
        """``forward(params) -> (value, saved)`` and ``reverse(saved, value_bar) -> cotangents of wanted``.

        ``results``: the entries of the value that have a cotangent (None: all of it).
        """
        seed = self.names.new("value_bar")
        shared_params = shadowed_params(self.resolved, wanted, results, self.sharing)
        written = written_params(self.aliases, wanted)
        self.takes_shadows = self.seed_may_be_zero = bool(written) or self.sharing.shadows
        self.handed_out = not self.takes_shadows  # whoever calls may change what it gets
        sweeps = self.sweeps(wanted, lambda result: n.Name(seed), results)
        outputs = [self.dense_output(sweeps, p) for p in wanted if p not in shared_params]
        reverse: list[n.Stmt] = sweeps.bars.out
        last: n.Expr = outputs[0] if len(outputs) == 1 else n.TupleExpr(tuple(outputs))
        lazy = self.is_lazy(wanted) and len(outputs) > 1
        reverse = eliminate([*reverse, n.Return(last)], set(), self.purity)
        lists = insert_saves(
            sweeps.bars.links, reverse, self.names, packed=True, maybe_unbound=unbound_at_heads(self.resolved.function)
        )
        forward = open_lists(sweeps.forward, lists)
        reverse = propagate(reverse)
        shared = [sweeps.bars.shadows] if self.takes_shadows else []
        fields = tuple(x for x in self.fields(forward, reverse, seed) if x not in shared)
        saved = self.names.new("saved")
        forward.append(n.Return(n.TupleExpr((sweeps.result, definite([forward], fields, self.names)))))
        if fields:
            reverse.insert(0, n.Unpack(fields, n.Name(saved)))
        first = self.finish(forward_name, self.params(), forward)
        if lazy:
            reverse = in_groups(reverse, tuple(p for p in wanted if p not in shared_params), self.names)
        second = self.finish(reverse_name, [n.Param(saved), n.Param(seed), *map(n.Param, shared)], reverse)
        return first, second

    def is_lazy(self, wanted: tuple[str, ...]) -> bool:
        """Whether the reverse half hands out entries that are computed when they are read."""
        return self.sharing.lazy and not self.takes_shadows and len(wanted) > 1

    def vjp(self, name: str, wanted: tuple[str, ...], has_aux: bool = False) -> n.Function:
        """``name(params) -> (value, pullback)``, the pullback lazy by groups of what its entries need."""
        seed = self.names.new("value_bar")
        self.lasting = True
        sweeps = self.sweeps(wanted, lambda result: n.Name(seed), (0,) if has_aux else None)
        outputs = [self.output(sweeps, p) for p in wanted]
        reverse = eliminate(sweeps.bars.out, {i for o in outputs for i in walk.names(o)}, self.purity)
        lists = insert_saves(
            sweeps.bars.links, reverse, self.names, packed=False, maybe_unbound=unbound_at_heads(self.resolved.function)
        )
        forward = open_lists(sweeps.forward, lists)
        reverse = eliminate(propagate(reverse), {i for o in outputs for i in walk.names(o)}, self.purity)
        pullback = lazy_pullback(reverse, outputs, wanted, seed, sweeps.result, self.names)
        last = n.TupleExpr((sweeps.result, n.Name(pullback.name)))
        function = self.finish(name, self.params(), [*forward, n.Define(pullback), n.Return(last)])
        return nested(function, folder(self.resolved.kinds, self.shapes))

    # ------------------------------------------------------------ parts

    def keep_apart(self, params: list[str], body: list[n.Stmt]) -> None:
        """See to it that these parameters share no memory: by copies of what surely is not written.

        What only a callee that is found when the code runs could write is copied too, and watched.
        """
        if len(params) < 2:
            return
        line = self.resolved.function.line
        out: list[n.Stmt] = []
        watched: list[n.Expr] = []
        before: list[n.Expr] = []
        for p in map(n.Name, params):
            whole = isinstance(self.resolved.kind(p), Num) and not self.aliases.arrays_written(p.id)
            if before and (whole or not self.aliases.surely_written(p.id)):
                if not whole:
                    original = n.Name(self.names.new(f"{p.id}_given"))
                    out.append(n.Assign(original.id, p, line=line))
                    watched.append(n.TupleExpr((original, p)))
                out.append(n.Assign(p.id, n.Call(SEPARATE, (p, *before)), line=line))
            before.append(p)
        out.append(n.Effect(n.Call(MUST_DIFFER, tuple(before)), line=line))
        if watched:
            watch, first = n.Name(self.names.new("watch")), n.TupleExpr((before[0], before[0]))
            out.append(n.Assign(watch.id, n.Call(WATCH_COPIES, (first, *watched)), line=line))
            body.append(n.Effect(n.Call(n.Attr(watch, "check"), ()), line=line))
        body[:0] = out

    def sweeps(
        self, wanted: tuple[str, ...], seed: Callable[[n.Expr], n.Expr], results: tuple[int, ...] | None = None
    ) -> Sweeps:
        """``results``: the entries of the function's result that have a cotangent (None: all of it)."""
        resolved = self.resolved
        self.callees.differentiated(resolved, wanted)
        sinks = written_params(self.aliases, wanted) if self.takes_shadows else ()
        active, entries = activity(resolved, wanted, results, sinks)
        self.reached("activity", (resolved, active, wanted))
        forward = Forward(resolved, active, self.names, self.callees, entries)
        shadowed = shadowed_names(resolved, self.aliases, active) if self.aliases.mutated else {}
        forward.mutation = Mutation(forward, self.aliases, shadowed)
        forward.mutation.lazy = self.lasting or self.is_lazy(wanted)
        body, steps = forward.block(resolved.function.body[:-1])
        for p in wanted:
            if shadowed.get(p) in ("container", "any"):
                original, then = self.names.new(f"{p}_at_start"), self.names.new(f"{p}_then")
                body.insert(0, n.Assign(original, n.Call(STRUCTURE, (n.Name(p),)), line=resolved.function.line))
                body.insert(1, n.Assign(then, n.Call(THEN, (n.Name(p),)), line=resolved.function.line))
                self.originals[p] = n.Name(original), n.Name(then)
            elif p not in shadowed and self.aliases.is_mutated(p) and not isinstance(resolved.kind(n.Name(p)), Num):
                original = self.names.new(f"{p}_at_start")
                body.insert(0, n.Assign(original, n.Call(STRUCTURE, (n.Name(p),)), line=resolved.function.line))
                self.originals[p] = n.Name(original), n.Name(p)
        following = [p for p in wanted if p in shadowed]
        if following and not self.takes_shadows:
            others = (p.name for p in resolved.function.params if p.name not in wanted)
            self.keep_apart([*following, *(p for p in others if p in shadowed)], body)
        last = resolved.function.body[-1]
        assert type(last) is n.Return
        bars = Bars(resolved, forward.active, self.names, frozenset(resolved.hollow))
        self.shapes = bars.shapes
        hands_on = calls_writers(steps)
        if shadowed or self.takes_shadows or hands_on:
            self.open_shadows(bars, shadowed, wanted, hands_on)
            bars.fetch(walk.names(last.value))
            if self.lasting or self.handed_out:
                bars.then = self.containers_after(bars, body, (*wanted, *walk.names(last.value)))
        if type(last.value) is n.Name and last.value.id in forward.active:
            bars.line = last.line
            given = seed(last.value)
            if type(given) is n.TupleExpr:
                given = n.TupleExpr(tuple(bars.as_atom(x) for x in given.items))
            bars.contribute(last.value.id, given, maybe_zero=self.seed_may_be_zero)
            bars.then = {}
            steps.reverse(bars)
            if debugging.enabled:
                insert_checks(bars)
        elif shadowed:
            steps.reverse(bars)
        if not (type(last.value) is n.Name and last.value.id in forward.active):
            checked = seed(last.value)
            if type(checked) is n.Call:
                body.append(n.Effect(checked, line=last.line))
        if self.same:
            bars.out = walk.rename(bars.out, self.same)
        self.values_of_bars = {bar: x for x, bar in bars.spelled.items()}
        raw = [*body, n.Comment("reverse"), *bars.out, n.Return(last.value)]
        self.reached(
            "adjoint", n.Function(resolved.function.name, self.params(), raw, (), 0, resolved.function.filename)
        )
        return Sweeps(body, bars, last.value, self.names)

    def open_shadows(self, bars: Bars, shadowed: dict[str, str], wanted: tuple[str, ...], hands_on: bool) -> None:
        """The shadows of this run: made here, or the caller's if a parameter's memory is concerned.

        ``hands_on``: a callee takes them.
        """
        bars.shadowed, bars.shadows = shadowed, self.names.new("shadows")
        plain = plain_arrays(self.resolved, self.aliases)
        others = {made for x, made in plain.items() if shadowed.get(x, "array") != "array"}  # it may be a number
        bars.plain = {x: made for x, made in plain.items() if shadowed.get(x) == "array" and made not in others}
        if not self.takes_shadows and (hands_on or shadowed.keys() - bars.plain.keys()):
            bars.emit(n.Assign(bars.shadows, n.Call(SHADOWS)))
        bars.fetch(p for p in wanted if p in shadowed)

    def containers_after(self, bars: Bars, body: list[n.Stmt], names: tuple[str, ...]) -> dict[str, str]:
        """Containers that the user has a hold of, as the function left them: their slots are made from that."""
        out: dict[str, str] = {}
        for x in dict.fromkeys(names):
            if bars.shadowed.get(x) in ("container", "any"):
                out[x] = self.names.new(f"{x}_after")
                body.append(n.Assign(out[x], n.Call(THEN, (n.Name(x),)), line=self.resolved.function.line))
                bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), "expect"), (n.Name(out[x]),))))
        return out

    def gradient_seed(self, result: n.Expr, has_aux: bool) -> n.Expr:
        kind = self.resolved.kind(result) if type(result) is not n.Const else Known(result.value)
        if has_aux:
            if isinstance(kind, Tuple) and len(kind.items) == 2 and type(result) is n.Name:
                return n.TupleExpr((self.number_seed(n.Index(result, n.Const(0)), kind.items[0]), ZERO_REF))
            return n.Call(AUX_SEED, (result,))
        if (
            isinstance(kind, (Known, Tuple))
            and not isinstance(result, n.Name)
            and not always_raises(self.resolved.function.body[:-1])
        ):
            value = result.value if type(result) is n.Const else None
            if not isinstance(value, (int, float)):
                raise NonScalarOutputError(
                    f"grad needs a function that returns one real number (a scalar), but the output is {value!r}",
                    self.resolved.place(self.resolved.function.body[-1].line or self.resolved.function.line),
                    "return a number, for example np.sum(…); does a return statement miss?",
                )
        return self.number_seed(result, kind)

    def number_seed(self, result: n.Expr, kind: Kind) -> n.Expr:
        """One, after checking (here or at run time) that the result is one real number."""
        if isinstance(kind, Num) and kind.is_scalar and kind.is_real and kind.field != "bool":
            return n.Const(1.0)
        return n.Call(SCALAR_SEED, (result,))

    def output(self, sweeps: Sweeps, param: str) -> n.Expr:
        """The gradient of one parameter as it leaves through the public API: projected, and of its own memory."""
        if param in sweeps.bars.shadowed:
            return self.shadow_output(sweeps, param)
        bar = sweeps.bars.live.get(param)
        kind = self.resolved.kind(n.Name(param))
        if bar is None:
            zero, _, _ = sweeps.bars.zero_of(param)
            if isinstance(kind, Num) and kind.is_scalar:
                return zero
            if param in self.originals:
                return n.Call(PROJECT, (ZERO_REF, self.originals[param][0]))
            return n.Call(PROJECT, (zero, n.Name(param)))
        if isinstance(kind, Num) and kind.form == "python" and kind.field in ("real", "int") and not bar.maybe_zero:
            if self.plain_number(bar.expr):
                return bar.expr
        return n.Call(PROJECT if bar.owned else PROJECT_COPY, (bar.expr, n.Name(param)))

    def shadow_output(self, sweeps: Sweeps, param: str) -> n.Expr:
        bars = sweeps.bars
        if bars.shadowed[param] == "array":
            return n.Call(PROJECT_COPY, (n.Name(bars.bar_name(param)), n.Name(param)))
        original, then = self.originals[param]
        whole = n.Call(n.Attr(n.Name(bars.shadows), "collect"), (then,))
        if bars.shadowed[param] == "any":
            bar = bars.live.get(param)
            whole = n.Call(n.Attr(n.Name(bars.shadows), "whole"), (then, ZERO_REF if bar is None else bar.expr))
        return n.Call(PROJECT, (whole, original))

    def plain_number(self, e: n.Expr) -> bool:
        return type(e) is n.Const and type(e.value) is float

    def dense_output(self, sweeps: Sweeps, param: str) -> n.Expr:
        if param in sweeps.bars.shadowed:
            return sweeps.bars.number_part(param)
        sweeps.bars.expand(param)
        bar = sweeps.bars.live.get(param)
        return sweeps.bars.zero_of(param)[0] if bar is None else sweeps.bars.as_dense(param, bar)

    def params(self) -> list[n.Param]:
        function = self.resolved.function
        own = [p.name for p in function.params]
        return [n.Param(c) for c in function.captures if c not in own] + [n.Param(p) for p in own]

    def fields(self, forward: list[n.Stmt], reverse: list[n.Stmt], seed: str) -> tuple[str, ...]:
        wanted = free_reads(reverse) - {seed}
        order = [p.name for p in self.params()]
        for s in walk.statements(forward):
            order += walk.writes(s)
        return tuple(x for x in dict.fromkeys(order) if x in wanted)

    def composed(self, function: n.Function) -> n.Function:
        """``function``, finished, with its steps put together and early let go of what is no longer used."""
        function.body = delayed(function, self.holds_array, self.values_of_bars)
        function = nested(function, folder(self.resolved.kinds, self.shapes))
        function.body = release(function.body, self.holds_array)
        return function

    def holds_array(self, name: str) -> bool:
        """Whether a name of the finished code holds an array: a value of the primal's, or its cotangent."""
        kind = self.resolved.kind(n.Name(self.values_of_bars.get(name, name)))
        return isinstance(kind, Num) and not kind.is_scalar

    def finish(
        self, name: str, params: list[n.Param], body: list[n.Stmt], whole: bool = False, compose: bool = False
    ) -> n.Function:
        """``whole``: forward and reverse code is one straight line; ``compose``: see :meth:`gradient`."""
        line, filename = self.resolved.function.line, self.resolved.function.filename
        self.reached("saved", n.Function(name, params, body, (), line, filename))
        fold = folder(self.resolved.kinds, self.shapes)
        body = eliminate(propagate(body, fold), set(), self.purity)
        known = identities(body, self.resolved.kinds) if whole else lambda e: e
        body = let_go(body, {p.name for p in params}) if whole else body
        body = eliminate(propagate(body, lambda e: fold(known(e))), set(), self.purity)
        body = with_errors_kept(tidy(body), self.names)
        function = n.Function(name, params, comment_groups(body, self.resolved), (), line, filename)
        function = self.composed(function) if compose else function
        self.reached("clean", function)
        return function


def always_raises(block: list[n.Stmt]) -> bool:
    """Whether no path leads to the end of ``block``."""
    last = block[-1] if block else None
    if type(last) is n.While:
        return endless(last) and last.stop is None
    return type(last) is n.Raise or (type(last) is n.If and always_raises(last.body) and always_raises(last.orelse))
