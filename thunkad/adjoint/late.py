"""Calls whose callee is known only when the code runs: they go through run-time dispatch, which gives the pullback."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.guarded import noting, reverse_if_reached
from thunkad.adjoint.steps import Block, DisplayStep, FieldStep, OutlinedStep
from thunkad.analysis.late_calls import foreseen, may_be_method, variables_of
from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN
from thunkad.records import replace
from thunkad.runtime.using import using

USING = n.Ref("using", using)


def dynamic(fw: Any, s: n.Assign, target: str, site: Site, out: list[n.Stmt], steps: Block) -> None:
    """``target = callee(…)`` in the forward code of ``fw``, and the step that reverses it.

    Where the callee may write into memory that is shadowed here, the pullback takes our shadows.
    """
    shared = writes_shadowed(fw, site)
    if shared and fw.tries:
        made, inner = len(out), Block()
        pullback = _dynamic(fw, s, target, site, shared, out, inner)
        steps.steps += inner.steps
        reverse_if_reached(fw, s, pullback, out[made:], inner.steps)
    else:
        _dynamic(fw, s, target, site, shared, out, steps)


def _dynamic(fw: Any, s: n.Assign, target: str, site: Site, shared: bool, out: list[n.Stmt], steps: Block) -> str:
    """The same; the name of the pullback."""
    callee: n.Expr = site.callee if isinstance(site.callee, (n.Name, n.Attr, n.Global, n.Ref)) else _ref(site.callee)
    if type(callee) is n.Attr and fw.is_active(callee):
        callee = _held(fw, s, callee, out, steps)
    pullback = fw.names.new(f"{target}_pullback")
    kinds = dict(zip((*site.args, *(v for _, v in site.kwargs)), site.kinds))
    if any(type(a) is n.Star for a in site.args) or any(k is None for k, _ in site.kwargs):
        _packed(fw, s, target, site, callee, pullback, shared, out, steps)
        return pullback
    originals = site.args
    plain = site.infix and not may_be_method(fw.resolved, site)
    if plain and not _in_place(site):
        site = replace(site, args=tuple(fw.mutation.kept(fw.current, a, out) for a in site.args))
    operands = (*site.args, *(v for _, v in site.kwargs))
    parts = (*operands, callee) if isinstance(callee, (n.Name, n.Attr)) else operands
    kept = not plain and any(fw.mutation.may_change(fw.current, a) for a in (*parts, n.Name(target)))
    wanted: list[tuple[n.Expr, n.Const]] = []
    root = callee
    while type(root) is n.Attr:
        root = root.value
    if type(root) is n.Name and root.id in fw.active:
        wanted.append((root, n.Const(None)))
    wanted += [(a, n.Const(k)) for k, a in enumerate(originals) if fw.is_active(a)]
    wanted += [(a, n.Const(k)) for k, a in site.kwargs if fw.is_active(a)]
    if not plain and not shared:
        fresh = fw.mutation.check_fresh(target, site)
    else:
        fresh = None
    which = n.TupleExpr(tuple(w for _, w in wanted))
    callee = _using(fw, site, callee, shared)
    out += _called(fw, s, (target, pullback), fw.callees.pull, kept, shared, (callee, which, *site.args), site.kwargs)
    if fresh is not None:
        out.append(n.Effect(fresh, line=s.line))
    places: list[tuple[n.Expr, n.Expr | None]] = [(e, n.Const(k)) for k, (e, _) in enumerate(wanted)]
    steps.steps.append(
        OutlinedStep(
            s.line,
            target,
            (n.Name(pullback), ()),
            places,
            kinds,
            site,
            lazy=True,
            seed_may_be_zero=True,
            writes=shared,
            collects=fw.resolved.captured is not None,
        )
    )
    return pullback


def _called(fw: Any, s: n.Stmt, targets: tuple[str, str], pull: Any, kept: bool, shared: bool,
            args: tuple[n.Expr, ...], kwargs: tuple[tuple[str | None, n.Expr], ...] = ()) -> list[n.Stmt]:  # fmt: skip
    """``targets = pull(…)``; in a ``try``, one that hands over what a callee raises that has changed something."""
    function = pull(kept, shared, bool(fw.tries))
    if shared and fw.tries:
        return noting(fw, s, targets, function, args, kwargs)
    return [n.Unpack(targets, n.Call(function, args, kwargs), line=s.line)]


def writes_shadowed(fw: Any, site: Site) -> bool:
    """Whether a callee found at run time may write into memory that is shadowed."""
    callee = (site.callee,) if isinstance(site.callee, (n.Name, n.Attr)) else ()
    operands = (*callee, *site.args, *(v for _, v in site.kwargs), *(e for _, e in site.bound))
    return foreseen(fw.resolved, site) and any(i in fw.mutation.shadowed for a in operands for i in walk.names(a))


def _using(fw: Any, site: Site, callee: n.Expr, shared: bool) -> n.Expr:
    """``callee``, with the variables that functions share."""
    given = tuple(map(n.Name, variables_of(fw.resolved, site))) if shared else ()
    return n.Call(USING, (callee, *given)) if given else callee


def _held(fw: Any, s: n.Assign, callee: n.Attr, out: list[n.Stmt], steps: Block) -> n.Name:
    """What is called through an attribute, under a name of its own: its cotangent is that of the attribute."""
    value = callee.value if type(callee.value) is not n.Attr else _held(fw, s, callee.value, out, steps)
    name = fw.names.temporary()
    fw.resolved.kinds[name] = UNKNOWN
    fw.active = fw.active | {name}
    read = n.Assign(name, n.Attr(value, callee.name), line=s.line)
    if type(value) is n.Name and value.id in fw.mutation.shadowed:
        fw.mutation.shadowed[name] = "any"
        fw.mutation.aliases.union(value.id, name)
    if not fw.mutation.handles(read, out, steps):
        out.append(read)
        steps.steps.append(FieldStep(s.line, name, value.id, callee.name))
    return n.Name(name)


def _packed(fw: Any, s: n.Assign, target: str, site: Site, callee: n.Expr, pullback: str, shared: bool,
            out: list[n.Stmt], steps: Block) -> None:  # fmt: skip
    """A call with starred arguments: they are collected first, and receive cotangents as a tuple and a dict."""
    args, kwargs = fw.names.temporary(), fw.names.temporary()
    args_display = n.TupleExpr(site.args)
    kwargs_display = n.DictExpr(
        tuple(None if k is None else n.Const(k) for k, _ in site.kwargs), tuple(v for _, v in site.kwargs)
    )
    for name, display in ((args, args_display), (kwargs, kwargs_display)):
        if shared and fw.is_active(display):
            packed = fw.mutation.packed(s, display, out, steps).id
            args, kwargs = (packed, kwargs) if display is args_display else (args, packed)
            continue
        out.append(n.Assign(name, display, line=s.line))
        if fw.is_active(display):
            fw.active = fw.active | {name}
            steps.steps.append(DisplayStep(s.line, name, display))
    given = (args_display, kwargs_display, n.Name(target), *((callee,) if isinstance(callee, (n.Name, n.Attr)) else ()))
    kept = any(fw.mutation.may_change(fw.current, e) for e in given)
    called = _using(fw, site, callee, shared)
    collected = (called, n.Name(args), n.Name(kwargs))
    out += _called(fw, s, (target, pullback), fw.callees.pull_packed, kept, shared, collected)
    operands: list[tuple[n.Expr, n.Expr | None]] = [(n.Name(args), n.Const(1)), (n.Name(kwargs), n.Const(2))]
    if type(callee) is n.Name:
        operands.append((callee, n.Const(0)))
    steps.steps.append(
        OutlinedStep(
            s.line,
            target,
            (n.Name(pullback), ()),
            operands,
            {},
            site,
            lazy=True,
            seed_may_be_zero=True,
            writes=shared,
            collects=fw.resolved.captured is not None,
        )
    )


def replace_callee(s: n.Assign, site: Site) -> Site:
    """A site with a known callee as one that is decided at run time."""
    if type(s.value) is n.Call and len(site.args) == len(s.value.args):  # else the owner of a method was put in front
        return replace(site, callee=s.value.func)
    return replace(site, callee=site.callee)


def _in_place(site: Site) -> bool:
    """Whether a dynamic operator is one of the in-place ones."""
    return (
        getattr(site.callee, "__name__", "").startswith("i") and getattr(site.callee, "__module__", "") == "_operator"
    )


def _ref(value: Any) -> n.Ref:
    return n.Ref(getattr(value, "__name__", "callee"), value)
