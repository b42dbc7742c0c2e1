"""Names that carry a tangent: those that depend on a parameter with one, through values or through shared memory."""

from __future__ import annotations

from thunkad.adjoint.guarded import raised_only
from thunkad.analysis.activity import varied_names
from thunkad.analysis.sites import Resolved
from thunkad.forward.memory import Ask, Memory
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Mapping, Sequence, may_have_tangent
from thunkad.runtime.shadows import Shadows


def moving_names(resolved: Resolved, wanted: tuple[str, ...], memory: Memory, ask: Ask) -> frozenset[str]:
    """The closure of ``wanted`` under the statements and under memory that is changed in place."""
    moving = set(wanted)
    names = _all_names(resolved)
    raised = raised_only(resolved)
    while True:
        before = len(moving)
        moving = set(varied_names(resolved, moving)) - raised
        if moving:
            moving |= shadow_names(resolved)
        _through_callees(resolved, moving, ask)
        changed = {memory.find(x) for x in moving if memory.is_mutated(x)}
        if changed:
            for x in names:
                if memory.find(x) in changed and _may_receive(resolved.kinds.get(x, UNKNOWN)):
                    moving.add(x)
        if len(moving) == before:
            return frozenset(moving)


def _through_callees(resolved: Resolved, moving: set[str], ask: Ask) -> None:
    """Arguments that a callee writes other, moving arguments into."""
    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        if site is None:
            continue
        if site.how in ("inside", "lifted"):
            if any(i in moving for _, a in site.bound for i in walk.names(a)):
                mutated = ask(site).mutated
                for p, a in site.bound:
                    if p in mutated and type(a) is n.Name and _may_receive(resolved.kinds.get(a.id, UNKNOWN)):
                        moving.add(a.id)
        elif type(s) is n.Effect and any(i in moving for a in site.args for i in walk.names(a)):
            first = site.args[0] if site.args else None
            if type(first) is n.Name and may_have_tangent(resolved.kinds.get(first.id, UNKNOWN)):
                moving.add(first.id)


def _may_receive(kind: Kind) -> bool:
    """Whether a callee may put a tangent into an argument of this kind; a list or dict may be empty before."""
    return may_have_tangent(kind) or isinstance(kind, (Mapping, Sequence))


def _all_names(resolved: Resolved) -> set[str]:
    function = resolved.function
    return walk.assigned(function.body) | {*function.captures, *(p.name for p in function.params)}


def shadow_names(resolved: Resolved) -> set[str]:
    """Names of the shadows that generated reverse code makes, and of what it takes from them."""
    shadows = {x for x, kind in resolved.kinds.items() if isinstance(kind, Instance) and kind.cls is Shadows}
    found = set(shadows)
    for s in walk.statements(resolved.function.body):
        if type(s) is not n.Assign or type(s.value) is not n.Call:
            continue
        func = s.value.func
        if type(func) is n.Ref and func.value is Shadows:
            found.add(s.target)
            shadows.add(s.target)
        elif type(func) is n.Attr and type(func.value) is n.Name and func.value.id in shadows:
            found.add(s.target)
    return found
