"""Objects that are keys of dicts: what goes through the keys finds them again."""

from __future__ import annotations

from thunkad.analysis.sites import Resolved
from thunkad.analysis.special import is_own_class
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Mapping, Tuple


def object_keys(resolved: Resolved, s: n.Stmt) -> list[str]:
    """The names in the key under which ``s`` puts something into a dict, as far as they may be the user's objects."""
    if type(s) not in (n.Store, n.Update) or type(s.target) is not n.Index:  # type: ignore[attr-defined]
        return []
    target = s.target  # type: ignore[attr-defined]
    container = resolved.kind(target.value)
    unknown = isinstance(container, Mapping) and (resolved.members is None or bool(resolved.members))
    if not isinstance(container, Mapping) and container is not UNKNOWN:
        return []
    return [i for i in walk.names(target.index) if _may_be_object(resolved.kind(n.Name(i)), unknown)]


def _may_be_object(kind: Kind, unknown: bool) -> bool:
    if isinstance(kind, Tuple):
        return any(_may_be_object(k, unknown) for k in kind.items)
    return unknown if kind is UNKNOWN else is_own_class(kind)
