"""Containers and objects whose contents change in a way that resolution does not see at the place where it happens."""

from __future__ import annotations

from thunkad.analysis.aliases import find_aliases
from thunkad.analysis.sites import Resolved, weaken
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Num


def changed_elsewhere(found: Resolved) -> frozenset[str]:
    """Names of containers and objects whose contents are changed in a way that resolution does not see."""
    kinds = found.kinds
    aliases = find_aliases(found)
    if not aliases.rests_on_callees:  # of callees more may be known later
        found.cache["aliases"] = aliases
    if not aliases.mutated:
        return frozenset()
    contained = [x for x, k in kinds.items() if weaken(k) != k]
    by_class: dict[str, set[str]] = {}
    unsure: set[str] = set()
    statements = list(walk.statements(found.function.body))
    copied = {s.target for s in statements if type(s) is n.Assign and type(s.value) not in (n.ListExpr, n.DictExpr)}
    for s in statements:
        for name in aliases.written_by.get(id(s), ()):
            cls = aliases.find(name)
            by_class.setdefault(cls, set()).add(name)
            if name not in contained and not isinstance(kinds.get(name, UNKNOWN), Num):
                unsure.add(cls)  # a function or an object of which nothing is known, which may hold some
            if not is_seen(s) or name in copied:
                unsure.add(cls)
    unsure |= {cls for cls, names in by_class.items() if len([x for x in names if x in contained]) > 1}
    return frozenset(x for x in contained if aliases.find(x) in unsure)


def is_seen(s: n.Stmt) -> bool:
    """Whether resolution takes note of what this puts into a container that it names."""
    if type(s) in (n.Store, n.Append):
        return type(s.target) is not n.Attr
    e = getattr(s, "value", None)
    return type(e) is n.Call and type(e.func) is n.Attr and type(e.func.value) is n.Name and e.func.name in _SEEN


#: Methods whose additions :meth:`thunkad.analysis.resolution.Run.grown` sees, and those that add nothing.
_SEEN = frozenset(("append", "insert", "extend", "pop", "remove", "reverse", "sort", "clear"))
