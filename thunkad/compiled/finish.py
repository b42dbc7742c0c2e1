"""Code of derivatives of derivatives put into the words that one would have chosen, once nothing more is made of it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.common import computed_once
from thunkad.analysis.shapes import shape_classes
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Num
from thunkad.optimise.comments import is_bar
from thunkad.optimise.copies import propagate
from thunkad.optimise.dead import Purity, eliminate
from thunkad.optimise.delay import delayed
from thunkad.optimise.floats import identities
from thunkad.optimise.fold import folder
from thunkad.optimise.nest import nested
from thunkad.optimise.product_shapes import let_go
from thunkad.optimise.purity import CHANGING, CHECKING, make_purity
from thunkad.optimise.release import release
from thunkad.optimise.tidy import tidy
from thunkad.optimise.unread import without_unread

#: From this many arrays on they are let go of early: values and tangents are there together.
FEWEST = 6


def finished(world: Any, function: n.Function, owner: Any, kinds: dict[str, Kind]) -> n.Function:
    """``function``, generated for parameters of these kinds, folded, without what is not needed, and put together."""
    forwarding = world.forwarding
    forwarding.made.add(id(function))
    world.keep(function)
    resolved = forwarding.outline(function, owner, {p.name: kinds.get(p.name, UNKNOWN) for p in function.params})
    if not aliases_of(resolved).mutated:
        resolved, _ = computed_once(resolved)
    purity, shapes = purity_of(make_purity(world.is_pure)), shape_classes(resolved)
    fold = folder(resolved.kinds, shapes)
    body = eliminate(propagate(with_sites(resolved, resolved.function.body), fold), set(), purity)
    body = eliminate(without_unread(body), set(), purity)
    known = identities(body, resolved.kinds)
    body = let_go(body, {p.name for p in function.params})
    body = eliminate(propagate(body, lambda e: fold(known(e))), set(), purity)
    out = _with(function, tidy(body))
    is_array = lambda name: isinstance(k := resolved.kinds.get(name), Num) and not k.is_scalar
    out = nested(_with(out, without_sites(delayed(out, is_array, ()))), fold)
    return _with(out, release(out.body, is_array, FEWEST))


def without_sites(block: list[n.Stmt]) -> list[n.Stmt]:
    """A copy of ``block`` whose expressions may be changed like any of the adjoint's."""
    return _copied(block, lambda s: None if isinstance(s.site, Site) else s.site)


def purity_of(known: Purity) -> Purity:
    """The judgement over generated code: what it calls itself has no effect, its own sums are of one shape."""

    def pure(s: n.Stmt) -> bool:
        site = s.site
        if isinstance(site, Site) and (getattr(site.callee, "__module__", None) or "").startswith("thunkad.runtime."):
            if not isinstance(site.callee, types.FunctionType) or "." in site.callee.__qualname__:
                return False  # a method may change its object
            return site.callee.__name__ not in CHANGING | CHECKING
        return known.pure(s)

    def check(s: n.Stmt) -> n.Expr | None:
        made = type(s) is n.Assign and (is_bar(s.target) or is_dot(s.target))
        return None if made else known.check(s)

    return Purity(pure, check, known.stand_in)


def is_dot(name: str) -> bool:
    """Whether a name is that of a tangent."""
    return name.endswith("_dot") or "_dot_" in name


def with_sites(resolved: Resolved, block: list[n.Stmt]) -> list[n.Stmt]:
    """A copy of ``block`` whose statements carry their sites."""
    return _copied(block, lambda s: resolved.sites.get(id(s), s.site))


def _copied(block: list[n.Stmt], site_of: Callable[[n.Stmt], Any]) -> list[n.Stmt]:
    """A copy of ``block`` in which each simple statement has this site."""
    out = []
    for s in block:
        new = walk.map_blocks(s, lambda b: _copied(b, site_of))
        if new is s:
            new = walk.map_stmt(s, lambda e: e)
            new.site = site_of(s)
        out.append(new)
    return out


def _with(function: n.Function, body: list[n.Stmt]) -> n.Function:
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)
