"""``items.append(x)`` on a list that is filled before it is read, as the ``Append`` that comprehensions are made of.

The last pass over normal form.  A list that a display makes here is a plain list, whatever the kinds of its entries
turn out to be; if nothing reads it before it is complete, its cotangent has one entry for each that was appended, and
the reverse of an append takes the last.
"""

from __future__ import annotations

from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk


def plain_appends(function: n.Function) -> n.Function:
    """``function``, in normal form, with such calls replaced; the same object if it has none."""
    found = _Lists()
    found.block(function.body, ())
    lists = found.filled_first()
    if not lists:
        return function
    body = _replaced(function.body, lists)
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


def _appended(s: n.Stmt) -> str | None:
    """The name of the list if ``s`` is ``name.append(atom)``."""
    if type(s) is not n.Effect or type(s.value) is not n.Call:
        return None
    e = s.value
    if type(e.func) is not n.Attr or e.func.name != "append" or type(e.func.value) is not n.Name:
        return None
    plain = len(e.args) == 1 and not e.kwargs and type(e.args[0]) is not n.Star
    return e.func.value.id if plain and e.func.value.id not in walk.names(e.args[0]) else None


class _Lists:
    """Where each list is made, filled and read: places in program order, and the loops around them."""

    def __init__(self) -> None:
        self.place = 0
        self.binders: Counter[str] = Counter()
        self.made: dict[str, tuple[int, ...]] = {}  # name → loops around the display
        self.filled: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
        self.read: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
        self.guarded: set[str] = set()  # filled where an exception may stop it halfway

    def block(self, block: list[n.Stmt], loops: tuple[int, ...], guarded: bool = False) -> None:
        for s in block:
            self.place += 1
            self.binders.update(walk.writes(s))
            if type(s) is n.Assign and type(s.value) is n.ListExpr:
                self.made[s.target] = loops
            name = _appended(s)
            for x in walk.reads(s):
                if x != name:
                    self.read.setdefault(x, []).append((self.place, loops))
            if name is not None:
                self.filled.setdefault(name, []).append((self.place, loops))
                if guarded:
                    self.guarded.add(name)
            inside = (*loops, self.place) if type(s) in (n.For, n.While) else loops
            for inner in walk.blocks(s):
                self.block(inner, inside, guarded or type(s) is n.Try)

    def filled_first(self) -> set[str]:
        """The lists that are complete before anything reads them."""
        out: set[str] = set()
        for name, appends in self.filled.items():
            if self.binders[name] != 1 or name not in self.made or name in self.guarded:
                continue
            reads, around = self.read.get(name, []), self.made[name]
            last = max(place for place, _ in appends)
            if all(place > last and not _share_loop(loops, appends, around) for place, loops in reads):
                out.add(name)
        return out


def _share_loop(loops: tuple[int, ...], appends: list[tuple[int, tuple[int, ...]]], around: tuple[int, ...]) -> bool:
    """Whether a loop within which the list lives on from one iteration to the next holds a read and an append."""
    own = set(loops) - set(around)
    return any(own & set(others) for _, others in appends)


def _replaced(block: list[n.Stmt], lists: set[str]) -> list[n.Stmt]:
    out: list[n.Stmt] = []
    for s in block:
        name = _appended(s)
        if name in lists:
            assert name is not None and type(s) is n.Effect and type(s.value) is n.Call
            out.append(n.Append(name, s.value.args[0], line=s.line))
        else:
            out.append(walk.map_blocks(s, lambda b: _replaced(b, lists)))
    return out
