"""Tangents of numbers, and of tuples of them, that are keys of a dict."""

from __future__ import annotations

from typing import Any

from thunkad.analysis.keys import may_be_number, read_key
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN, Mapping, Sequence, Tuple
from thunkad.runtime.key_dots import add_default_key, add_key

ADD_KEY, ADD_DEFAULT_KEY = n.Ref("add_key", add_key), n.Ref("add_default_key", add_default_key)


def put_key(push: Any, target: Any) -> None:
    """Something is about to be put into a dict by a key."""
    key, root = getattr(target, "index", None), target.value
    kind = push.resolved.kind(root)
    if type(root) is n.Name and _moves(push, key) and (isinstance(kind, Mapping) or kind is UNKNOWN):
        push.emit(n.Effect(n.Call(ADD_KEY, (push.dot(root), key, push.dot(key)))))


def put_keys(push: Any, target: str, display: n.Expr) -> None:
    """The same for a dict that was made by a display."""
    for key in getattr(display, "keys", ()):
        if _moves(push, key):
            push.emit(n.Effect(n.Call(ADD_KEY, (n.Name(push.dot_name(target)), key, push.dot(key)))))


def key_of_read(push: Any, s: n.Stmt) -> None:
    """An entry was read by a number, from what may be a ``defaultdict``, which then has a new key."""
    read = read_key(push.resolved, s)
    if read is not None and push.moves(n.Name(read[0])) and push.moves(n.Name(read[1])):
        root, key = map(n.Name, read)
        push.emit(n.Effect(n.Call(ADD_DEFAULT_KEY, (push.dot(root), key, push.dot(key)))))


def _moves(push: Any, key: Any) -> bool:
    if type(key) is n.TupleExpr:
        return any(_moves(push, k) for k in key.items if push.resolved.kind(k) is not UNKNOWN)
    if type(key) is not n.Name or not push.moves(key):
        return False
    kind = push.resolved.kind(key)
    return may_be_number(kind) or isinstance(kind, Tuple) or (isinstance(kind, Sequence) and kind.cls is tuple)
