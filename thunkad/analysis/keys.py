"""Objects and numbers that are keys of dicts: what goes through the keys finds them again."""

from __future__ import annotations

from thunkad.analysis.sites import Resolved
from thunkad.analysis.special import is_own_class
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Mapping, Num, Sequence, Tuple


def object_keys(resolved: Resolved, s: n.Stmt) -> list[str]:
    """The names in the key under which ``s`` puts something into a dict, as far as they may have memory.

    They have if they may be the user's objects, or tuples of numbers.
    """
    container = _dict_of(resolved, s)
    unknown = isinstance(container, Mapping) and (resolved.members is None or bool(resolved.members))
    return [i for i in _names(s) if _may_be_object(resolved.kind(n.Name(i)), unknown)] if container else []


def active_keys(resolved: Resolved, s: n.Stmt) -> list[str]:
    """The same as far as they may be differentiated."""
    container = _dict_of(resolved, s)
    if container is None:
        return []
    return list(dict.fromkeys([*object_keys(resolved, s), *(i for i in _names(s) if _is_number(resolved, i))]))


def read_key(resolved: Resolved, s: n.Stmt) -> tuple[str, str] | None:
    """What ``s`` reads an entry of by a number, and that, if it may be a ``defaultdict``, which then gets a key."""
    e = s.value if type(s) is n.Assign else None
    if type(e) is not n.Index or type(e.value) is not n.Name or type(e.index) is not n.Name:
        return None
    kind = resolved.kind(e.index)
    by_number = isinstance(kind, Num) and may_be_number(kind) and resolved.kind(e.value) is UNKNOWN
    return (e.value.id, e.index.id) if by_number else None


def may_be_number(kind: Kind) -> bool:
    """Whether a value of this kind may be a number, whole ones aside."""
    if isinstance(kind, Num):
        return kind.form != "array" and kind.field not in ("int", "bool")
    return kind is UNKNOWN


def _is_number(resolved: Resolved, name: str) -> bool:
    return may_be_number(resolved.kind(n.Name(name)))


def _names(s: n.Stmt) -> list[str]:
    return list(walk.names(s.target.index))  # type: ignore[attr-defined]


def _dict_of(resolved: Resolved, s: n.Stmt) -> Kind | None:
    """The kind of what ``s`` stores into by a key, if it may be a dict."""
    if type(s) not in (n.Store, n.Update) or type(s.target) is not n.Index:  # type: ignore[attr-defined]
        return None
    container = resolved.kind(s.target.value)  # type: ignore[attr-defined]
    return container if isinstance(container, Mapping) or container is UNKNOWN else None


def _may_be_object(kind: Kind, unknown: bool) -> bool:
    if isinstance(kind, Tuple):
        return any(_may_move(k, unknown) for k in kind.items)
    if isinstance(kind, Sequence):
        return kind.cls is tuple and kind.item is not None and _may_move(kind.item, unknown)
    return unknown if kind is UNKNOWN else is_own_class(kind)


def _may_move(item: Kind, unknown: bool) -> bool:
    """The same of an item of a tuple, which may be a number, too."""
    return may_be_number(item) if isinstance(item, Num) else _may_be_object(item, unknown)
