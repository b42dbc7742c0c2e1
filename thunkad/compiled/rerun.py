"""Looks at what surrounds a function that is run again in the reverse sweep: it must be what it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from thunkad.analysis.aliases import has_memory
from thunkad.analysis.constructors import init_of
from thunkad.analysis.outside_changes import OutsideChanges, handed_on
from thunkad.analysis.readings import readings
from thunkad.analysis.sites import Resolved, Site
from thunkad.compiled.replay import where
from thunkad.compiled.surroundings import Surroundings, free_value, holds_data, is_library, read_by
from thunkad.forward.calls import EFFECT
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Kind

SURROUNDINGS = n.Ref("Surroundings", Surroundings)


class Look:
    """Statements for what is run again: ``first`` after the first run, ``again`` before and after the second one.

    A run may set what it reads (a global variable, say) as long as the next one finds and leaves the same.
    ``names`` are those that hand what was found from the one to the other, ``owner`` is the function in whose globals
    they run; nothing of all that if nothing can have changed meanwhile.
    """

    def __init__(self, world: Any, d: Any, kinds: tuple[Kind, ...], volatile: tuple[str, ...], names: Names) -> None:
        target, owner = innermost(d)
        given = found_around(d, target, owner, kinds, volatile) if changes_outside(world) else {}
        self.names: tuple[str, ...] = ()
        self.owner: Any = None
        self.first: list[n.Stmt] = []
        self.again: list[n.Stmt] = []
        if given:
            found, display = names.new("surroundings"), n.DictExpr(tuple(map(n.Const, given)), tuple(given.values()))
            check = n.Call(n.Attr(n.Name(found), "check"), (display, n.Const(where(d))))
            self.names, self.owner = (found,), owner
            self.first = [n.Assign(found, n.Call(SURROUNDINGS, (display,)), site=EFFECT)]
            self.again = [n.Effect(check, site=EFFECT)]


def innermost(d: Any) -> tuple[Any, Any]:
    """The function with code that a derivation runs, and the Python function in whose globals it does."""
    while hasattr(d.target, "picks"):
        d = d.target
    return d.target, d.owner if isinstance(d.target, n.Function) else d.target


class Around:
    """What the function of a derivation reads from outside, to be compared whenever it is run again from now on."""

    def __init__(self, d: Any) -> None:
        self.d = d
        self.before = Surroundings(self.now())

    def now(self) -> dict[str, Any]:
        target, owner = innermost(self.d)
        return {name: free_value(owner, name) for name in free_data(target, owner)}

    def check(self) -> None:
        """Refuse to run it if something has changed."""
        self.before.check(self.now(), where(self.d))


def found_around(
    d: Any, target: Any, owner: Any, kinds: tuple[Kind, ...], volatile: tuple[str, ...]
) -> dict[str, n.Expr]:
    """What a function finds that others may change: free names, and arguments of which no copy is kept."""
    roots = ((name, name.removesuffix("()").partition(".")[0]) for name in free_data(target, owner))
    found: dict[str, n.Expr] = {name: n.Global(root) for name, root in roots if root not in d.parameters}
    found.update({p: n.Name(p) for p, kind in zip(d.params, kinds) if has_memory(kind) and p not in volatile})
    return found


def free_data(target: Any, owner: Any) -> list[str]:
    """The free names of a function, with attributes, that lead to data."""
    found = []
    for name in _free_names(target, owner):
        with contextlib.suppress(KeyError):
            if holds_data(name, free_value(owner, name)):
                found.append(name)
    return found


def _free_names(target: Any, owner: Any) -> tuple[str, ...]:
    if isinstance(target, n.Function):
        return () if owner is None else readings(target)
    return read_by(target) if isinstance(target, FunctionType) else ()


def changes_outside(world: Any) -> bool:
    """Whether something may change what is outside of the functions of a world before the reverse sweep comes to it."""
    if world.early is not None:
        with world.early.lock:
            return world.outlives or changes_outside(world.early)
    if world.changes is None:
        world.changes = True  # of code that is reached while this is being found out
        if world.began_with is not None and not world.outlives:
            resolved = world.analysis(*world.began_with)
            world.changes = OutsideChanges(lambda site, of: _callees(world, site, of)).made_by(resolved)
    return world.changes  # type: ignore[no-any-return]


def _callees(world: Any, site: Site, resolved: Resolved) -> Iterator[Resolved | None]:
    target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
    owner, kinds = resolved.owner, site.kinds
    if site.how == "construct":
        target = init_of(target)
    while hasattr(target, "picks"):
        kinds, owner, target = kinds[: len(target.params)], target.owner, target.target
    if site.how in ("inside", "lifted", "construct", "constant"):
        yield from _resolved(world, target, owner, kinds)
    for fn in handed_on(site):
        yield from _resolved(world, fn, owner, (UNKNOWN,) * fn.__code__.co_argcount)


def _resolved(world: Any, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> Iterator[Resolved | None]:
    if isinstance(target, n.Function) or (isinstance(target, FunctionType) and not is_library(target)):
        try:
            yield world.analysis_of(target, owner, kinds)
        except Exception:
            yield None  # what is wrong with it is said where it is looked into
