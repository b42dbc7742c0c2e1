"""Containers that nobody but the function has: no callee, closure, object or other container got hold of them.

What such a list or dict holds is seen wherever it is put there, so the classes of its entries stay known even where the
entries themselves, as objects, are changed by callees.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk

#: Built-in functions that read a container and neither change nor keep it but to go through it.
_READERS = tuple(
    getattr(builtins, name)
    for name in "all any bool enumerate isinstance len list max min print reversed sorted sum tuple zip".split()
)
#: Methods that only read, and methods of lists that :meth:`thunkad.analysis.resolution.Run.grown` follows.
_FOLLOWED = frozenset("count get index items keys values append insert pop remove reverse sort clear".split())


def private_containers(resolved: Resolved) -> frozenset[str]:
    """Names of containers, made by displays, that nothing leads to but such names.

    A name that such a container is copied to may be read only: what is put there would not be seen under the others.
    """
    function = resolved.function
    other = {*function.captures, *(p.name for p in function.params)}
    made: set[str] = set()
    copies: list[tuple[str, str]] = []
    statements = list(walk.statements(function.body))
    for s in statements:
        if type(s) is n.Assign and type(s.value) in (n.ListExpr, n.DictExpr, n.Name):
            made.add(s.target)
            if type(s.value) is n.Name:
                copies.append((s.target, s.value.id))
                continue
        else:
            other.update(walk.writes(s))
        for e in walk.expressions(s):
            other.update(_handed_on(s, e, resolved))
    changed = {name for s in statements for name in _changed(s)}
    other |= changed.intersection(target for target, _ in copies)
    while True:
        more = {x for copy in copies if not other.isdisjoint(copy) for x in copy} - other
        if not more:
            return frozenset(made - other)
        other |= more


def _changed(s: Any) -> Iterator[str]:
    """The container that ``s`` puts something into."""
    if type(s) is n.Append:
        yield s.target
    elif type(s) in (n.Store, n.Delete) and type(s.target) is n.Index:
        yield from walk.names(s.target.value)
    elif type(s) in (n.Assign, n.Effect) and type(s.value) is n.Call and type(s.value.func) is n.Attr:
        yield from walk.names(s.value.func.value)


def _handed_on(s: n.Stmt, e: n.Expr, resolved: Resolved) -> Iterator[str]:
    """The names in ``e``, which ``s`` evaluates, that lead elsewhere afterwards."""
    t = type(e)
    if t is n.Name:
        if not (type(s) is n.For and e is s.iter) and not _is_container(s, e):
            yield e.id  # type: ignore[union-attr]
        return
    kept: tuple[Any, ...] = ()
    if t is n.Index and not (type(s) is n.Update and e is s.target):
        kept = (e.value,)  # type: ignore[union-attr]
    elif t is n.Compare and e.op in ("in", "not in", "is", "is not"):  # type: ignore[union-attr]
        kept = (e.left, e.right)  # type: ignore[union-attr]
    elif t is n.Call and type(e.func) is n.Attr and e.func.name in _FOLLOWED:  # type: ignore[union-attr]
        kept = (e.func,) if type(e.func.value) is n.Name else ()  # type: ignore[union-attr]
    elif t is n.Call and any(getattr(resolved.sites.get(id(s)), "callee", None) is fn for fn in _READERS):
        kept = e.args  # type: ignore[union-attr]
    for part in walk.children(e):
        if not any(part is k for k in kept):
            yield from walk.names(part)


def _is_container(s: Any, e: n.Expr) -> bool:
    """Whether ``e`` is what ``s`` stores into or deletes from."""
    return type(s) in (n.Store, n.Delete) and type(s.target) is n.Index and e is s.target.value
