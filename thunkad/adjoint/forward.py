"""Normal form → the forward code of a derivative, and for each active statement the step that reverses it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from thunkad.adjoint.containers import as_display
from thunkad.adjoint.control import IfStep, LoopStep
from thunkad.adjoint.guarded import attempt, guarded
from thunkad.adjoint.inline import bind_rule, given_cotangents
from thunkad.adjoint.iteration import live_iteration, taken_apart
from thunkad.adjoint.late import dynamic, replace_callee
from thunkad.adjoint.mutation import KEEP
from thunkad.adjoint.steps import (
    AppendStep,
    Block,
    ClosureStep,
    CopyStep,
    DisplayStep,
    FieldStep,
    IndexStep,
    InlineStep,
    OutlinedStep,
    SourceStep,
    UnpackStep,
)
from thunkad.analysis.activity import written
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing
from thunkad.analysis.entries import display_entries
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.sources import is_container_outside, is_source
from thunkad.analysis.views import SELECT_BY_VALUE
from thunkad.analysis.writing import is_numpy
from thunkad.errors import NoRuleError, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import PY_INT, Kind, Known, Opaque, Tuple, is_iterable
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.keywords import constants_of, no_derivative_by
from thunkad.rules.refused import no_rule_message
from thunkad.rules.template import template_of
from thunkad.runtime.sets import check_elements
from thunkad.runtime.sharing import originals
from thunkad.runtime.untouched import untouched

ORIGINALS = n.Ref("originals", originals)
CHECKED = "iter"  # of a loop: that its iterable is one has to be checked even if its body has nothing to do
CHECK_ELEMENTS = n.Ref("check_elements", check_elements)
DISPLAYS = (n.TupleExpr, n.ListExpr, n.DictExpr)
UNTOUCHED = n.Ref("untouched", untouched)


class Callees(Protocol):
    """What the forward pass asks of the world: compiled callees and run-time dispatch, as things to refer to."""

    def pair(
        self,
        site: Site,
        kinds: tuple[Kind, ...],
        demand: tuple[str, ...],
        owner: Any,
        results: tuple[int, ...] | None = None,
        sharing: Sharing = NOTHING_SHARED,
    ) -> tuple[n.Ref, n.Ref, frozenset[str], bool]: ...
    def differentiated(self, resolved: Resolved, wanted: tuple[str, ...]) -> None: ...
    def stops_half_way(self, site: Site, owner: Any) -> bool: ...
    def attempted_pair(
        self, site: Site, demand: tuple[str, ...], sharing: Sharing, owner: Any
    ) -> tuple[n.Ref, n.Ref]: ...
    def operator_site(self, op: str, args: tuple[n.Expr, ...], kinds: tuple[Kind, ...]) -> Site: ...
    def call_site(self, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Site: ...
    def pull(self, kept: bool = False, shared: bool = False, in_try: bool = False) -> n.Ref: ...
    def pull_packed(self, kept: bool = False, shared: bool = False, in_try: bool = False) -> n.Ref: ...
    def updater(self, name: str) -> n.Ref: ...
    def assigned_global(self, resolved: Resolved, name: str, value: n.Expr, line: int) -> None: ...


class Forward:
    """Builds forward code block by block."""

    def __init__(
        self,
        resolved: Resolved,
        active: frozenset[str],
        names: Names,
        callees: Callees,
        entries: Mapping[str, frozenset[Any]] = MappingProxyType({}),
    ) -> None:
        """``entries``: for containers that are only read by constant keys, the keys that have a cotangent."""
        self.resolved, self.active, self.names, self.callees = resolved, active, names, callees
        self.entries = entries
        self.current: n.Stmt = n.Comment("")  # the statement of normal form that is dealt with
        self.tries: list[list[Any]] = []  # the calls in each 'try' body around that have to be reversed if it is left
        self.mutation: Any = None  # what knows memory, see thunkad.adjoint.mutate

    def block(self, block: list[n.Stmt]) -> tuple[list[n.Stmt], Block]:
        out: list[n.Stmt] = []
        steps = Block()
        for s in block:
            self.statement(s, out, steps)
        return out, steps

    def is_active(self, e: n.Expr) -> bool:
        return any(i in self.active for i in walk.names(e))

    # ------------------------------------------------------------ statements

    def statement(self, s: n.Stmt, out: list[n.Stmt], steps: Block) -> None:
        start = len(out), len(steps.steps)
        self.one(s, out, steps)
        self.mutation.remember(s, out, start[0], steps.steps[start[1] :])

    def one(self, s: n.Stmt, out: list[n.Stmt], steps: Block) -> None:
        t = type(s)
        self.current = s
        s = as_display(s, self.resolved.sites.get(id(s)))
        self.mutation.refuse_hidden(s)
        if self.mutation.handles(s, out, steps):
            return
        if t is n.Assign:
            self.assign(s, out, steps)
        elif t is n.If:
            self.branch(s, out, steps)
        elif t in (n.For, n.While):
            self.loop(s, out, steps)
        elif t is n.Unpack:
            self.unpack(s, out, steps)
        elif t is n.Append:
            out.append(self.copy(s))
            if s.target in self.active:
                steps.steps.append(AppendStep(s.line, s.target, self.as_name(s.value, s, out)))
        elif t in (n.Store, n.Update, n.Delete):
            self.refuse_mutation(s)
            out.append(self.copy(s))
        elif t is n.Effect:
            self.check_effect(s)
            out.append(self.copy(s))
        elif not guarded(self, s, out, steps) and t is not n.Return:
            out.append(self.copy(s))

    def copy(self, s: n.Stmt) -> n.Stmt:
        """The statement itself, carrying its site for the clean-up passes."""
        site = self.resolved.sites.get(id(s))
        new = plain(walk.map_stmt(s, lambda e: e), site)
        if site is not None:
            new.site = site
            if site.why is not None:
                watch(new)
        return new

    def as_name(self, e: n.Expr, s: n.Stmt, out: list[n.Stmt]) -> str:
        if type(e) is n.Name:
            return e.id
        name = self.names.temporary()
        out.append(n.Assign(name, e, line=s.line))
        return name

    def assign(self, s: n.Assign, out: list[n.Stmt], steps: Block) -> None:
        e = s.value
        site = self.resolved.sites.get(id(s))
        if s.target not in self.active:
            self.check_effect(s)
            out.append(self.copy(s))
            return
        if is_source(self.resolved, s):
            out.append(self.copy(s))
            steps.steps.append(SourceStep(s.line, s.target))
            return
        if site is not None and site.how != "constant":
            self.call(s, s.target, site, out, steps)
            return
        t = type(e)
        if t is n.Name:
            out.append(self.copy(s))
            steps.steps.append(CopyStep(s.line, s.target, e.id))
        elif t in DISPLAYS:
            out.append(self.copy(s))
            keys = self.entries.get(s.target) if display_entries(e) is not None else None
            steps.steps.append(DisplayStep(s.line, s.target, e, keys))
        elif t is n.Index:
            out.append(self.copy(s))
            if type(e.value) is n.Name:
                index = self.mutation.kept(self.current, e.index, out)
                steps.steps.append(IndexStep(s.line, s.target, e.value.id, index, self.index_kind(e.index)))
            elif self.is_active(e.index) and not is_container_outside(self.resolved.owner, e.value):
                hint = "np.concatenate or np.stack say it plainly"
                raise self.unsupported(s, "an index that holds a differentiated value", hint)
        elif t is n.Attr and type(e.value) is n.Name:
            out.append(self.copy(s))
            steps.steps.append(FieldStep(s.line, s.target, e.value.id, e.name))
        elif t is n.Closure:
            out.append(self.copy(s))
            steps.steps.append(ClosureStep(s.line, s.target, e))
        elif site is None and t in (n.Binary, n.Inplace, n.Unary, n.Call, n.Attr):
            out.append(self.copy(s))  # an operand is never bound: this raises
        elif t is n.SetExpr:
            out += [self.copy(s), n.Effect(n.Call(CHECK_ELEMENTS, (n.Name(s.target),)), line=s.line)]
        elif t in (n.Const, n.Ref, n.Global) or (site is not None and site.how == "constant"):
            out.append(self.copy(s))  # active only if something is written into it, which is judged there
        else:
            raise self.unsupported(s, f"{t.__name__} of a value that is differentiated")

    def index_kind(self, e: n.Expr) -> Kind:
        if type(e) is n.Slice:
            return Opaque(slice)
        if type(e) is n.TupleExpr:
            return Tuple(tuple(self.index_kind(x) for x in e.items))
        if type(e) is n.Const and (e.value is None or e.value is Ellipsis):
            return Known(e.value)
        return self.resolved.kind(e)

    def unpack(self, s: n.Unpack, out: list[n.Stmt], steps: Block) -> None:
        if not any(t in self.active for t in s.targets):
            out.append(self.copy(s))
            return
        site = self.resolved.sites.get(id(s))
        if site is not None and site.how != "constant":
            name = self.names.temporary()
            self.resolved.kinds[name] = site.result
            self.active = self.active | {name}
            self.call(n.Assign(name, s.value, line=s.line), name, site, out, steps)
        else:
            name = self.as_name(s.value, s, out)
        out.append(n.Unpack(s.targets, n.Name(name), line=s.line))
        steps.steps.append(UnpackStep(s.line, s.targets, name))

    def branch(self, s: n.If, out: list[n.Stmt], steps: Block) -> None:
        test = self.mutation.truth(s, out)
        body, first = self.block(s.body)
        orelse, second = self.block(s.orelse)
        forward = n.If(test, body, orelse, line=s.line)
        out.append(forward)
        if first.steps or second.steps:
            steps.steps.append(IfStep(s.line, forward, (first, second)))

    def loop(self, s: n.For | n.While, out: list[n.Stmt], steps: Block) -> None:
        bound = walk.assigned([s])
        if type(s) is n.For:
            iterable, count = s.iter, s.count
            first: list[Any] = []
            sources: dict[Any, Any] = {}
            if s.target in self.active and self.is_active(s.iter):
                iterable, count, first, sources = self.iterate(s, out, steps)
            body, inner = self.block(s.body)
            if sources:
                taken_apart(s.target, sources, inner)
            inner.steps[:0] = first
            unsure = type(iterable) is n.Name and not is_iterable(self.resolved.kind(iterable))
            forward: Any = n.For(s.target, iterable, body, s.stop, count, line=s.line, site=CHECKED if unsure else None)
            bound |= {count} if count is not None else set()
        else:
            test_body, _ = self.block(s.test_body)
            body, inner = self.block(s.body)
            forward = n.While(test_body, s.test, body, s.stop, line=s.line)
        out.append(forward)
        bound |= walk.assigned([forward])  # the names that forward code added, too
        if inner.steps:
            steps.steps.append(LoopStep(s.line, forward, inner, bound, self.names.new("saved")))

    def iterate(
        self, s: n.For, out: list[n.Stmt], steps: Block
    ) -> tuple[n.Expr, str, list[Any], dict[Any, tuple[str, n.Expr]]]:
        """Iteration over an active value: its items are read by index in reverse."""
        site = self.resolved.sites.get(id(s))
        live = live_iteration(self, s, site, out)
        if live is not None:
            return live
        if type(s.iter) is n.Name:
            source = s.iter.id
        else:
            source = self.names.temporary()
            assert site is not None
            self.resolved.kinds[source] = site.result
            self.active = self.active | {source}
            made = n.Assign(source, s.iter, line=s.line)
            if not self.mutation.handed_on(made, site, out, steps):
                self.call(made, source, site, out, steps)
        count = s.count or self.names.new("k")
        self.resolved.kinds[count] = PY_INT
        return n.Name(source), count, [self.mutation.item_step(s, source, count)], {}

    # ------------------------------------------------------------ calls and operators

    def call(self, s: n.Assign, target: str, site: Site, out: list[n.Stmt], steps: Block) -> None:
        if site.how == "rule":
            assert site.entry is not None
            self.rule(s, target, site, site.entry, out, steps)
        elif site.how in ("inside", "lifted"):
            self.pair(s, target, site, out, steps)
        elif site.how == "dynamic":
            dynamic(self, s, target, site, out, steps)
        elif site.how == "inplace":
            raise self.unsupported(
                s, "an in-place update of an array that is differentiated", "write x = x + y instead of x += y"
            )
        else:
            message, hint = site.why or no_rule_message(site.callee)
            raise NoRuleError(message, self.resolved.place(s.line), hint)

    def rule(self, s: n.Assign, target: str, site: Site, entry: Entry, out: list[n.Stmt], steps: Block) -> None:
        if entry.kind == "rrule" and template_of(entry) is None and (entry.layer == "user" or entry.wants_ad()):
            dynamic(self, s, target, replace_callee(s, site), out, steps)
            return
        bound = bind_rule(entry, site, self.resolved, s.line)
        if bound is None:
            dynamic(self, s, target, replace_callee(s, site), out, steps)
            return
        if entry.layer == "library":
            self.check_keywords(s, entry, bound)
        kinds: dict[n.Expr, Kind] = dict(zip((*site.args, *(v for _, v in site.kwargs)), site.kinds))
        template = template_of(entry)
        parameters = [p for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        operands = [bound[p.name] for p in parameters]
        if template is None or (
            variadic and any(p.kind is p.VAR_POSITIONAL and r is not None for p, r in zip(parameters, template.results))
        ):
            self.outlined(s, target, site, entry, bound, operands, kinds, variadic, out, steps)
            return
        names: dict[str, n.Expr] = dict(bound)
        for local in template.forward_locals:
            names[local] = n.Name(self.names.new(local if local not in self.names.taken else f"{target}_{local}"))
        value = template.value
        named = type(value) is n.Name and value.id in template.locals
        if named:
            names[value.id] = n.Name(target)  # type: ignore[union-attr]
        keep = template.plain or site.infix
        reverse_names, reverse_kinds = self.saved_operands(names, bound, kinds, out)
        for x in template.forward:
            if keep and type(x) is n.Assign and named and x.target == value.id:  # type: ignore[union-attr]
                out.append(self.copy_with(s, site))
            else:
                new = walk.map_stmt(x, lambda e: walk.substitute(e, names), lambda i: names[i].id)  # type: ignore[union-attr]
                new.line = s.line
                out.append(new)
        if not named:
            out.append(
                self.copy_with(s, site) if keep else n.Assign(target, walk.substitute(value, names), line=s.line)
            )
        if named:
            reverse_names[value.id] = self.mutation.kept(self.current, n.Name(target), out)
        results = given_cotangents(self, s, entry, operands, template.results, kinds)
        steps.steps.append(InlineStep(s.line, target, template, reverse_names, results, site, reverse_kinds))

    def saved_operands(
        self, names: dict[str, n.Expr], bound: dict[str, n.Expr], kinds: dict[n.Expr, Kind], out: list[n.Stmt]
    ) -> tuple[dict[str, n.Expr], dict[n.Expr, Kind]]:
        """What the reverse sweep reads for a rule's parameters: copies of operands that may be overwritten before."""
        reverse_names, reverse_kinds = dict(names), dict(kinds)
        for param, operand in bound.items():
            kept = self.mutation.kept(self.current, operand, out)
            if kept is not operand and kept != operand:
                reverse_names[param] = kept
                if operand in reverse_kinds:
                    reverse_kinds[kept] = reverse_kinds.pop(operand)
        return reverse_names, reverse_kinds

    def check_keywords(self, s: n.Assign, entry: Entry, bound: dict[str, n.Expr]) -> None:
        """A keyword-only parameter has no cotangent: where the value is differentiated, the library says so."""
        for name in sorted(constants_of(entry)):
            if self.is_active(bound[name]):
                raise self.unsupported(s, no_derivative_by(name, entry))

    def copy_with(self, s: n.Assign, site: Site) -> n.Stmt:
        new = plain(walk.map_stmt(s, lambda e: e), site)
        new.site = site
        return new

    def outlined(self, s: n.Assign, target: str, site: Site, entry: Entry, bound: dict[str, n.Expr],
                 operands: list[n.Expr], kinds: dict[n.Expr, Kind], variadic: bool, out: list[n.Stmt],
                 steps: Block) -> None:  # fmt: skip
        """A rule that can't be pasted is called as it stands."""
        pullback = self.names.new(f"{target}_pullback")
        rule = n.Ref(f"{getattr(entry.target, '__name__', 'function')}_rule", entry.function)
        made = target
        if self.mutation.is_reference(site):
            args, kwargs = self.mutation.by_reference(site, out)
            selects = True
        else:
            args = tuple(self.mutation.kept(self.current, a, out) for a in site.args)
            kwargs = tuple((k, self.mutation.kept(self.current, v, out)) for k, v in site.kwargs)
            selects = getattr(site.callee, "__name__", "") in SELECT_BY_VALUE
        from_copies = selects and args != site.args
        if not selects and self.mutation.kept(self.current, n.Name(target), []) != n.Name(target):
            simple = self.mutation.is_simple(target) or self.mutation.is_fresh(target, site)
            if self.mutation.aliases.is_mutated(target) and not simple:
                raise self.unsupported(
                    s, f"writing in place into a result of {name_of(site.callee)}", "copy the result first"
                )
            made = self.names.new(target)  # the pullback may hold it, and the caller may write into what it gets
        out.append(n.Unpack((made, pullback), n.Call(rule, args, kwargs), line=s.line))
        if from_copies and not self.mutation.is_reference(site):
            twins = n.TupleExpr(args), n.TupleExpr(site.args)
            out.append(n.Assign(target, n.Call(ORIGINALS, (n.Name(target), *twins)), line=s.line))
        if made != target:
            out.append(n.Assign(target, n.Call(KEEP, (n.Name(made),)), line=s.line))
        places: list[tuple[n.Expr, n.Expr | None]] = [(o, n.Const(k)) for k, o in enumerate(operands)]
        steps.steps.append(OutlinedStep(s.line, target, (n.Name(pullback), ()), places, kinds, site, lazy=True))

    def pair(self, s: n.Assign, target: str, site: Site, out: list[n.Stmt], steps: Block) -> None:
        """A compiled callee: forward half here, reverse half in reverse."""
        demand = tuple(p for p, e in site.bound if self.is_active(e))
        captured = self.resolved.captured
        if captured is not None and any(type(e) is n.Ref and captured.reaches(e.value) for _, e in site.bound):
            raise self.unsupported(
                s, "a captured parameter that is the default value of a parameter", "pass it at the call"
            )
        keys = self.entries.get(target)
        results = None if keys is None or not all(isinstance(k, int) for k in keys) else tuple(sorted(keys))
        sharing = self.mutation.sharing(self.current, target, site)
        if sharing.shadows:
            results = None
        try:
            forward, reverse, shadowed, takes_shadows = self.callees.pair(
                site, site.kinds, demand, self.resolved.owner, results, sharing
            )
        except NoRuleError as error:
            raise error.at(self.resolved.place(s.line)) from None
        partial = bool(self.tries) and takes_shadows and self.callees.stops_half_way(site, self.resolved.owner)
        if partial:
            forward, reverse = self.callees.attempted_pair(site, demand, sharing, self.resolved.owner)
        saved, begun = self.names.new(f"{target}_saved"), (len(out), len(steps.steps))
        in_shadows = shadowed.union(sharing.shared)
        bound = [
            (
                p,
                self.mutation.packed(s, e, out, steps)
                if p in demand and (takes_shadows or p in in_shadows) and type(e) in DISPLAYS
                else e,
            )
            for p, e in site.bound
        ]
        args = tuple(e for _, e in bound)
        operands = [e for p, e in bound if p in demand and p not in shadowed]
        places: list[tuple[n.Expr, n.Expr | None]]
        places = [(operands[0], None)] if len(operands) == 1 else [(e, n.Const(k)) for k, e in enumerate(operands)]
        kinds = {e: k for (_, e), k in zip(bound, site.kinds)}
        takes = takes_shadows or sharing.shadows
        self.mutation.receive(s.line, [e for p, e in bound if p in demand and p in shadowed], steps)
        call = reverse, (n.Name(saved),)
        step = OutlinedStep(s.line, target, call, places, kinds, site, takes, False, takes, captured is not None)
        if partial:
            attempt(self, s, step, forward, args, saved, out, steps, begun)
            return
        out.append(n.Unpack((target, saved), n.Call(forward, args), line=s.line, site=site))
        steps.steps.append(step)

    # ------------------------------------------------------------ what is refused

    def unsupported(self, s: n.Stmt, what: str, hint: str = "") -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(f"{what} is not supported", self.resolved.place(s.line), hint)

    def refuse_mutation(self, s: n.Stmt) -> None:
        root = s.target
        while type(root) in (n.Index, n.Attr):
            root = root.value
        value_active = type(s) is not n.Delete and self.is_active(s.value)
        if type(root) is n.Name and (root.id in self.active or value_active) and type(s.target) is not n.Name:
            raise self.unsupported(
                s,
                "in-place mutation (item or attribute assignment) of a value that is differentiated",
                "build a new value instead, for example with np.stack, np.where or np.concatenate",
            )

    def check_effect(self, s: n.Effect | n.Assign) -> None:
        """A call must not write into a value that is differentiated, nor what is differentiated into another value.

        What is put into an object outside of the function is judged by :mod:`thunkad.analysis.outside`.
        """
        func = s.value.func if type(s.value) is n.Call else None
        site = self.resolved.sites.get(id(s))
        if type(func) is n.Attr and type(func.value) is n.Global and not (site is None or is_numpy(site.callee)):
            return
        if any(name in self.active for name in written(s.value)):
            assert type(s.value) is n.Call
            name = _called(s.value)
            how = f"out= of {name}" if any(k == "out" for k, _ in s.value.kwargs) else f"{name}()"
            what = f"{how}, which writes into an existing object, with a value that is differentiated"
            raise self.unsupported(s, what, "build a new value instead, or set attributes by their names, x.name = v")


def _called(e: n.Call) -> str:
    return f".{e.func.name}" if type(e.func) is n.Attr else getattr(e.func, "id", "a function")


def plain(s: n.Stmt, site: Site | None) -> n.Stmt:
    """An in-place operator on numbers as the operator that it is."""
    if type(s) is n.Assign and type(s.value) is n.Inplace and site is not None and site.how in ("rule", "constant"):
        s.value = n.Binary(s.value.op, s.value.left, s.value.right)
    return s


def watch(s: Any) -> None:
    """Have a call of what was not looked into checked for writing into arrays."""
    e = getattr(s, "value", None)
    if type(e) is n.Call and e.func != UNTOUCHED:
        s.value = n.Call(UNTOUCHED, (e.func, *e.args), e.kwargs)
