"""What ``functools.cached_property`` gives: computed where it is read, since it is as it was when it was first read.

That is so unless what it was computed from is changed meanwhile, or what it gave.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from typing import Any

from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.guarded import MUTATING

Form = Callable[[Any], n.Function]


def changed_attributes(function: n.Function) -> set[str]:
    """The names of attributes that a function sets or deletes, or whose value it changes in place."""
    changed: set[str] = set()
    held: dict[str, set[str]] = {}  # variables → the attributes whose value, or a part of it, they hold

    def names(e: n.Expr) -> set[str]:
        found: set[str] = set()
        while type(e) in (n.Attr, n.Index):
            found |= {e.name} if type(e) is n.Attr else set()
            e = e.value  # type: ignore[attr-defined]
        return found | held.get(e.id, set()) if type(e) is n.Name else found

    for s in walk.statements(function.body):
        value = getattr(s, "value", None)
        if type(s) is n.Assign and type(value) in (n.Attr, n.Index, n.Name):
            held.setdefault(s.target, set()).update(names(value))
        if type(s) in (n.Store, n.Update, n.Delete):
            changed |= names(s.target)  # type: ignore[attr-defined]
        if type(value) is n.Inplace:
            changed |= names(value.left)
        if type(value) is n.Call and type(value.func) is n.Attr and value.func.name in MUTATING:
            changed |= names(value.func.value)
        for e in walk.parts(*walk.expressions(s)):
            if type(e) is n.Closure:
                changed |= changed_attributes(e.function)
    return changed


def stale(properties: Iterable[tuple[type, str, Any]], changed: set[str], form: Form) -> frozenset[Any]:
    """Those of the functions of such ``properties`` (class, name, function) whose value may have changed."""
    return frozenset(
        fn
        for cls, name, fn in properties
        if name in changed or changed & _read(cls, fn, form, set()) or changed_attributes(form(fn))
    )


def _read(cls: type, fn: Any, form: Form, seen: set[str]) -> set[str]:
    """The names of the attributes that ``fn`` reads, and the methods and properties of ``cls`` that it calls."""
    statements = walk.statements(form(fn).body)
    new = {e.name for s in statements for e in walk.parts(*walk.expressions(s)) if type(e) is n.Attr} - seen
    seen |= new
    for name in new:
        member = getattr(cls, name, None)
        inner = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if hasattr(inner, "__code__"):
            _read(cls, inner, form, seen)
    return seen


def refuse_stale(fn: Any) -> UnsupportedSyntaxError:
    """The error for a property whose value may have changed."""
    file, line = fn.__code__.co_filename, fn.__code__.co_firstlineno
    return UnsupportedSyntaxError(
        f"the cached_property {fn.__qualname__}, which changes something, or of which something is changed that it was "
        "computed from or that it gave,",
        Place(file, line, linecache.getline(file, line)),
        "write a property that keeps its value in an attribute: if self._value is None: self._value = ...",
    )
