"""Objects of classes derived from ``dict`` and ``list`` that are made of what they hold: made empty, then filled.

::

    p = Params(w=x)                     p = Params()
                                        p.update(w=x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Known
from thunkad.records import replace

_FILLING = {dict: "update", list: "extend"}


def with_filled(function: n.Function, kind: Callable[[Any, n.Expr], Kind | None]) -> n.Function:
    """``function`` in normal form with such calls written out; itself if there are none."""
    found = [s for s in walk.statements(function.body) if _filling(s, kind) is not None]
    if not found:
        return function
    wanted = {id(s) for s in found}

    def block(statements: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in statements:
            if id(s) not in wanted:
                out.append(walk.map_blocks(s, block))
                continue
            assert type(s) is n.Assign and type(s.value) is n.Call
            fill = n.Call(n.Attr(n.Name(s.target), _filling(s, kind) or ""), s.value.args, s.value.kwargs)
            out += [replace(s, value=n.Call(s.value.func, ())), n.Effect(fill, line=s.line)]
        return out

    return replace(function, body=block(function.body))


def _filling(s: n.Stmt, kind: Callable[[Any, n.Expr], Kind | None]) -> str | None:
    """The method that fills what ``s`` makes; None for any other statement."""
    if type(s) is not n.Assign or type(s.value) is not n.Call or not (s.value.args or s.value.kwargs):
        return None
    if type(s.value.func) not in n.ATOMS:
        return None
    found = kind(s, s.value.func)
    return filled_by(found.value) if isinstance(found, Known) and isinstance(found.value, type) else None


def filled_by(cls: type) -> str | None:
    """The method that does to an empty object of a class what making one of arguments does; None if there is none."""
    for base, method in _FILLING.items():
        if issubclass(cls, base) and cls is not base and type(cls) is type:
            own = cls.__mro__[: cls.__mro__.index(base)]
            library = any(c.__module__.partition(".")[0] in ("collections", "builtins", "enum", "typing") for c in own)
            if not library and not any(name in vars(c) for c in own for name in ("__init__", "__new__", method)):
                return method
    return None
