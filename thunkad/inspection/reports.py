"""What each call of a function resolved to, and why; which calls have no rule."""

from __future__ import annotations

import linecache
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thunkad.adjoint.inline import bind_rule
from thunkad.analysis.activity import active_names
from thunkad.analysis.sites import Resolved, Site, path_of
from thunkad.analysis.views import is_fold
from thunkad.compiled.build import Key, resolved_for
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.root import Root
from thunkad.compiled.world import World
from thunkad.errors import RuleError, ThunkadError
from thunkad.inspection.requests import generic_request, request
from thunkad.inspection.sources import scratch_world
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.describe import describe
from thunkad.kinds.lattice import Kind, is_hashable
from thunkad.records import field, record
from thunkad.rules.entry import FRULE, Entry, name_of
from thunkad.rules.load import load_library
from thunkad.rules.registry import as_decision
from thunkad.rules.registry import describe as describe_decision
from thunkad.rules.resolve import losers
from thunkad.rules.template import template_of


@record(frozen=True)
class CallSite:
    """One operation or call.

    Attributes
    ----------
    line, source : int, str
        Where it stands in the user's file.
    callee : str
        What is called there.
    how : {'rule', 'constant', 'inside', 'dynamic', 'missing', 'inactive'}
        What it resolved to; 'inactive': nothing that is differentiated goes in.
    why : str
        The same in words, with the rule's place.
    thunks : tuple of (str, str)
        For each operand: 'inlined', 'kept' (a real thunk), 'compiled' (in a callee) or 'dropped' (nobody needs it).
    """

    line: int
    source: str
    callee: str
    how: str
    why: str
    thunks: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        parts = "".join(f"\n            {operand}: {what}" for operand, what in self.thunks)
        return f"    {self.callee}: {self.why}{parts}"


@record(frozen=True)
class Looked:
    """One function that was looked into, with the arguments that are differentiated there."""

    name: str
    filename: str
    kinds: tuple[tuple[str, str], ...]
    wanted: tuple[str, ...]
    sites: tuple[CallSite, ...]
    problem: str = ""

    def __str__(self) -> str:
        head = f"{self.name}({', '.join(f'{p}: {k}' for p, k in self.kinds)})"
        lines = [f"{head}\n  differentiated for: {', '.join(self.wanted) or 'nothing'}"]
        if self.problem:
            lines.append(f"  can't be looked into: {self.problem}")
        last = 0
        for site in self.sites:
            if site.line != last:
                lines.append(f"  line {site.line}: {site.source}")
                last = site.line
            lines.append(str(site))
        return "\n".join(lines)


@record(frozen=True)
class Report:
    """What :func:`explain` and :func:`coverage` return; prints well.

    Attributes
    ----------
    functions : tuple of Looked
        The function itself and every one that was looked into, in the order in which they were met.
    rebuilt : str
        Why the function's derivatives were last rebuilt; empty if they never were.
    late : tuple of str
        What calls that were decided while the derivatives ran resolved to, functions of the library apart.
    """

    title: str
    functions: tuple[Looked, ...]
    rebuilt: str = ""
    late: tuple[str, ...] = ()
    only: tuple[str, ...] = field(default=())

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The call sites of all functions."""
        return tuple(site for f in self.functions for site in f.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __iter__(self) -> Iterator[CallSite]:
        return iter(self.sites)

    def __str__(self) -> str:
        parts = [self.title, *(str(f) for f in self.functions if f.sites or f.problem or not self.only)]
        if self.late:
            parts.append("\n  ".join(("decided while it ran:", *self.late)))
        if self.rebuilt:
            parts.append(f"last rebuilt: {self.rebuilt}")
        return "\n\n".join(parts)

    __repr__ = __str__


def explain(f: Any, /, *args: Any, **kwargs: Any) -> Report:
    """A report on every call in ``f``: what it resolved to, why, and which of its thunks are needed.

    Parameters
    ----------
    f : callable
    *args, **kwargs
        Example arguments.  Without, the derivative last used is reported on, or else one for numbers and arrays.
    """
    given = bool(args or kwargs)
    wish = request(f, None, None, "vjp", args if given else None, kwargs if given else None)
    root, last = wish.root, wish.root.last
    wanted = wish.key.wanted
    if last is not None and last.kinds == wish.key.kinds:
        wanted = last.wanted
    looked = _look(root, wish.key, wanted)
    return Report(f"explain {root.name}", looked, root.reason, _late(root))


def coverage(f: Any) -> Report:
    """The calls in ``f``, and in what it calls, that lack a rule, found before anything runs.

    Nothing is assumed of the arguments but that they are numbers or arrays, so a call whose callee depends on them is
    not judged.  An empty report (``len`` 0) means that nothing was found missing.
    """
    wish = generic_request(f)
    looked = _look(wish.root, wish.key, wish.key.wanted)
    only = ("missing",)
    kept = tuple(
        Looked(x.name, x.filename, x.kinds, x.wanted, tuple(s for s in x.sites if s.how in only), x.problem)
        for x in looked
    )
    count = sum(len(x.sites) for x in kept)
    title = f"coverage of {wish.root.name}: " + (f"{count} without a rule" if count else "every call has a rule")
    return Report(title, kept, only=only)


# ---------------------------------------------------------------- looking


def _look(root: Root, key: Key, wanted: tuple[str, ...]) -> tuple[Looked, ...]:
    load_library()
    looker = _Looker(scratch_world(root))
    looker.function(root.fn, lambda world: resolved_for(root.fn, world, key), key.kinds, wanted)
    return tuple(looker.found.values())


def _late(root: Root) -> tuple[str, ...]:
    """Calls that were decided while derivatives ran, and the registrations that were passed over there."""
    out: dict[str, None] = {}
    for edge in root.edges():
        if not edge.late or edge.is_of_library:
            continue
        forward = " (forward mode)" if edge.mode == FRULE else ""
        line = f"{name_of(edge.callee)}({', '.join(edge.types)}){forward}: {describe_decision(edge.decision)}"
        out[
            line + "".join(f"; not {describe_decision(as_decision(e))}: {reason}" for e, reason in edge.passed_over)
        ] = None
    return tuple(out)


class _Looker:
    """Follows calls from one function, each callee once per kinds and demand."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.found: dict[Any, Looked] = {}

    def callee(self, site: Site, owner: Any, demand: tuple[str, ...]) -> None:
        if isinstance(site.callee, Derivation):
            self.derivation(site.callee, site.kinds)
        elif isinstance(site.callee, n.Closure):
            f = site.callee.function
            self.function(f, lambda world: world.analysis_of_ir(f, owner, site.kinds), site.kinds, demand)
        else:
            self.function(site.callee, lambda world: world.analysis(site.callee, site.kinds), site.kinds, demand)

    def derivation(self, d: Derivation, kinds: tuple[Kind, ...]) -> None:
        """The function that a derivative is taken of."""
        target, kinds = d.target, kinds[: len(d.params)]
        if isinstance(target, Derivation):
            self.derivation(target, kinds)
        elif isinstance(target, n.Function):
            self.function(target, lambda world: world.analysis_of_ir(target, d.owner, kinds), kinds, d.wanted)
        else:
            self.function(target, lambda world: world.analysis(target, kinds), kinds, d.wanted)

    def function(
        self, target: Any, analyse: Callable[[World], Resolved], kinds: tuple[Kind, ...], wanted: tuple[str, ...]
    ) -> None:
        key = (id(target), kinds, wanted)
        if key in self.found:
            return
        name = target.name if isinstance(target, n.Function) else getattr(target, "__name__", repr(target))
        self.found[key] = Looked(name, "", (), wanted, ())  # keeps its place before its callees
        try:
            resolved = analyse(self.world)
        except ThunkadError as error:
            self.found[key] = Looked(name, "", (), wanted, (), error.message)
            return
        function = resolved.function
        names = [c for c in function.captures if c not in {p.name for p in function.params}]
        names += [p.name for p in function.params]
        active = active_names(resolved, wanted)
        sites = [
            self.site(s, resolved.sites[id(s)], resolved, active)
            for s in walk.statements(function.body)
            if id(s) in resolved.sites
        ]
        described = tuple(zip(names, map(describe, kinds)))
        self.found[key] = Looked(name, function.filename, described, wanted, tuple(sites))

    def site(self, s: n.Stmt, site: Site, resolved: Resolved, active: frozenset[str]) -> CallSite:
        operands = (*site.args, *(v for _, v in site.kwargs))
        bound = active.intersection(walk.writes(s)) or not walk.writes(s)
        demanded = {e for e in operands if bound and active.intersection(walk.names(e))}
        how, why, thunks = site.how, "", []
        if how == "lifted" or how == "inside":
            how, why = "inside", "looked inside" if how == "inside" else "made here, looked inside"
            entry = self.opted_out(site)
            if entry is not None:
                why += f": opted out at {_place(entry)}"
            why += self.passed_over(site, entry)
            demand = tuple(p for p, e in site.bound if e in demanded or active.intersection(walk.names(e)))
            thunks = [(p, "compiled" if p in demand else "dropped") for p, e in site.bound]
            if demand:
                self.callee(site, resolved.owner, demand)
        elif how == "rule" and site.entry is not None:
            why, thunks = self.rule(site, site.entry, resolved, s.line, demanded)
        elif how == "constant":
            why = (
                "no derivative flows" if site.entry is None else f"declared non-differentiable at {_place(site.entry)}"
            )
        elif how == "inplace":
            why = "may change its left operand in place"
        elif _lacks_rule(site):
            how, why = "missing", "no rule, and no Python source to look into"
        else:
            how, why = "dynamic", "decided when the code runs"
            if not isinstance(site.callee, (n.Name, n.Attr, n.Global, n.Ref)):
                why += self.passed_over(site, None)
        if how not in ("constant", "inside") and not demanded:
            how, why, thunks = "inactive", f"nothing that is differentiated goes in ({why})", []
        source = linecache.getline(resolved.function.filename, s.line).strip()
        return CallSite(s.line, source, _callee(site, s), how, why, tuple(thunks))

    def opted_out(self, site: Site) -> Entry | None:
        if isinstance(site.callee, n.Closure):
            return None
        return self.world.lookup(site.callee, list(site.kinds)).entry

    def passed_over(self, site: Site, chosen: Entry | None) -> str:
        if isinstance(site.callee, n.Closure) or not is_hashable(site.callee):
            return ""
        entries = tuple(e for e in self.world.snapshot.entries(site.callee) if chosen is not None or e.layer == "user")
        found = losers(entries, chosen, list(site.kinds[: len(site.args)]))
        return "".join(f"; not that at {_place(e)}: {reason}" for e, reason in found)

    def rule(
        self, site: Site, entry: Entry, resolved: Resolved, line: int, demanded: set[n.Expr]
    ) -> tuple[str, list[tuple[str, str]]]:
        layer = "your rule" if entry.layer == "user" else "rule"
        template = template_of(entry)
        why = f"{layer} at {_place(entry)}, " + ("inlined" if template is not None else "called as it stands")
        why += self.passed_over(site, entry)
        try:
            bound = bind_rule(entry, site, resolved, line)
        except RuleError as error:
            return f"{why}; {error.message}", []
        if bound is None:
            return f"{why}; starred arguments: bound when the code runs", []
        parameters = [p for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
        thunks = []
        for k, p in enumerate(parameters):
            operand = bound[p.name]
            if not any(i for i in walk.names(operand)):
                continue
            wanted = operand in demanded or any(e in demanded for e in getattr(operand, "items", ()))
            flows = template is None or template.results[k] is not None
            what = "dropped" if not wanted or not flows else "inlined" if template is not None else "kept"
            thunks.append((p.name, what))
        return why, thunks


def _lacks_rule(site: Site) -> bool:
    if site.how == "missing":
        return True
    callee = site.callee
    if isinstance(callee, (n.Name, n.Attr, n.Global, n.Ref)) or site.infix or isinstance(callee, type):
        return False
    if is_fold(callee):
        return False  # its terms are found when the code runs
    return isinstance(
        callee, (np.ufunc, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
    )


def _callee(site: Site, s: n.Stmt) -> str:
    value = getattr(s, "value", None)
    if site.infix and type(value) in (n.Binary, n.Inplace, n.Compare, n.Unary):
        return f"{value.op}"  # type: ignore[union-attr]
    if isinstance(site.callee, n.Closure):
        return site.callee.function.name
    if isinstance(site.callee, (n.Name, n.Attr, n.Global, n.Ref)):
        return path_of(site.callee)
    if site.callee is None:
        return f".{value.name}" if type(value) is n.Attr else type(value).__name__
    return name_of(site.callee)


def _place(entry: Entry) -> str:
    place = entry.place
    return f"{os.path.relpath(place.filename) if os.path.exists(place.filename) else place.filename}:{place.line}"


__all__ = ["CallSite", "Looked", "Report", "coverage", "explain"]
