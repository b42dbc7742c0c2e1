"""Global variables that differentiated functions assign.

Generated code keeps such a variable in a local, through which derivatives flow, and writes every value back.  Another
function that uses the same variable meanwhile would see a value without a derivative, or change it behind the local's
back: both are refused.
"""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.activity import varied_names
from thunkad.analysis.sites import Resolved
from thunkad.compiled.forms import normal_form
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk

HINT = "pass the value as an argument and return the new one"


class AssignedGlobals:
    """Which functions of one world assign which variables a value that is differentiated."""

    def __init__(self) -> None:
        self.active: dict[tuple[int, str], tuple[Any, Place]] = {}
        self.readers: dict[tuple[int, str], dict[Any, None]] = {}

    def copy(self) -> AssignedGlobals:
        """The same facts for a world that adds its own."""
        made = AssignedGlobals()
        made.active = self.active
        made.readers = {key: dict(readers) for key, readers in self.readers.items()}
        return made

    def note(self, world: Any, resolved: Resolved, name: str, value: n.Expr, line: int) -> None:
        """``resolved`` assigns ``value`` to ``name``."""
        owner, place = resolved.owner, resolved.place(line)
        for callee in _callees(world, resolved):
            if callee.__globals__ is owner.__globals__ and name in _used(callee):
                raise UnsupportedSyntaxError(
                    f"{owner.__name__} assigns the global variable {name!r} and calls {callee.__name__}, "
                    "which uses it too",
                    place,
                    HINT,
                )
        function = resolved.function
        varied = varied_names(resolved, {*function.captures, *(p.name for p in function.params)})
        if varied.isdisjoint(walk.names(value)):
            return
        self.active[id(owner.__globals__), name] = owner, place
        for other in self.readers.get((id(owner.__globals__), name), ()):
            self.check(other, name)

    def reads(self, reader: Any, name: str) -> None:
        """``reader`` reads ``name`` as a constant."""
        if isinstance(reader, types.FunctionType):
            self.readers.setdefault((id(reader.__globals__), name), {})[reader] = None
            self.check(reader, name)

    def check(self, reader: Any, name: str) -> None:
        """Nothing that is differentiated must be in ``name``, which ``reader`` reads."""
        owner, place = self.active.get((id(reader.__globals__), name), (reader, None))
        if owner.__code__ is not reader.__code__:
            raise UnsupportedSyntaxError(
                f"{reader.__name__} reads the global variable {name!r}, "
                f"to which {owner.__name__} assigns a value that is differentiated",
                place,
                HINT,
            )


def _callees(world: Any, resolved: Resolved) -> list[Any]:
    """The Python functions that generated code of ``resolved`` looks into, to any depth."""
    found: dict[int, Any] = {}
    left = [resolved]
    while left:
        for site in left.pop().sites.values():
            callee = site.callee
            if site.how == "inside" and isinstance(callee, types.FunctionType) and id(callee) not in found:
                found[id(callee)] = callee
                left.append(world.analysis(callee, site.kinds))
    return list(found.values())


def _used(fn: Any) -> set[str]:
    """Global variables that ``fn`` reads or assigns."""
    out: set[str] = set()
    for s in walk.statements(normal_form(fn).body):
        if type(s) is n.SetGlobal:
            out.add(s.name)
        out.update(e.id for e in walk.parts(*walk.expressions(s)) if type(e) is n.Global)
    return out
