"""Whether a function, by its text, changes what it is given or captures."""

from __future__ import annotations

from collections.abc import Iterable

from thunkad.analysis.writing import WRITING_FUNCTIONS
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Lifted, Mapping, Sequence, Tuple
from thunkad.normal.guarded import MUTATING


def writes_given(function: n.Function) -> bool:
    """Whether a function seems to change something that it is given, or a variable that it captures."""
    return _changes_any(function, (*function.captures, *(p.name for p in function.params)))


def changes_captured(function: n.Function) -> bool:
    """Whether it, or a function made inside it, changes what it captures, or assigns a variable that it captures."""
    return _changes_any(function, function.captures) or makes_changing(function)


def makes_changing(function: n.Function) -> bool:
    """Whether a function made inside this one does."""
    inner = (e for s in walk.statements(function.body) for e in walk.expressions(s) if type(e) is n.Closure)
    return any(changes_captured(e.function) for e in inner)


def gives_changing(kind: Kind | None) -> bool:
    """Whether this is the kind of such a function, or of a container with one."""
    if isinstance(kind, Lifted):
        return changes_captured(kind.closure.function)
    if isinstance(kind, Tuple):
        return any(map(gives_changing, kind.items))
    if isinstance(kind, Sequence):
        return gives_changing(kind.item)
    if isinstance(kind, Mapping):
        return gives_changing(kind.value) or any(gives_changing(k) for _, k in kind.entries or ())
    return False


def _changes_any(function: n.Function, names: Iterable[str]) -> bool:
    given = set(names)
    statements = list(walk.statements(function.body))
    while True:
        before = len(given)
        for s in statements:
            if type(s) in (n.Assign, n.Unpack, n.For):
                source = s.iter if type(s) is n.For else s.value  # type: ignore[attr-defined]
                if type(source) in (n.Name, n.Attr, n.Index) and _root(source) in given:
                    given.update(walk.writes(s))
        if len(given) == before:
            break
    return any(_changes(s, given) for s in statements)


def _changes(s: n.Stmt, given: set[str]) -> bool:
    if type(s) is n.Append:
        return s.target in given
    if type(s) in (n.Store, n.Update, n.Delete):
        return type(s.target) is not n.Name and _root(s.target) in given  # type: ignore[attr-defined]
    if type(s) in (n.Assign, n.Effect):
        e = s.value  # type: ignore[attr-defined]
        if type(e) is n.Inplace:
            return _root(e.left) in given
        if type(e) is n.Call and type(e.func) is n.Attr and e.func.name in MUTATING:
            return _root(e.func) in given
        if type(e) is n.Call:
            name = e.func.name if type(e.func) is n.Attr else e.func.id if type(e.func) is n.Global else ""
            written = [v for k, v in e.kwargs if k == "out"]
            written += e.args[:1] if name in WRITING_FUNCTIONS or name == "at" else ()
            return any(i in given for v in written for i in walk.names(v))
    return False


def _root(e: n.Expr) -> str | None:
    while type(e) in (n.Attr, n.Index):
        e = e.value  # type: ignore[union-attr]
    return e.id if type(e) is n.Name else None
