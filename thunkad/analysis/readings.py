"""What a function reads from outside: the free names in its normal form, with the attributes that follow them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from thunkad.ir import nodes as n
from thunkad.ir import walk

#: Methods that put something into a list, set or dict; a function that does no more with one does not read it.
_PUTS = frozenset(("append", "extend", "appendleft", "add", "update"))


def readings(function: n.Function, given: tuple[str, ...] = ()) -> tuple[str, ...]:
    """``"name"`` or ``"name.attribute.…"`` for all that ``function``, and functions made in it, read from outside.

    What is only put something into (a log), or counted up, is left out.  What is called for nothing but its effect
    has ``()`` after its name.  So are parameters that are ``given``.
    """
    statements = walk.statements(function.body)
    written = Counter(t for s in statements for t in walk.writes(s))
    counters = _counters(statements)
    scan = _Scan()
    scan.bound.update((name, name) for name in given)
    for s in statements:
        path = scan.path(s.value) if type(s) is n.Assign else None
        if path is not None and written[s.target] == 1:  # type: ignore[attr-defined]
            scan.bound[s.target] = path  # type: ignore[attr-defined]
    return tuple(dict.fromkeys(x for s in statements if id(s) not in counters for x in scan.statement(s)))


class _Scan:
    def __init__(self) -> None:
        self.bound: dict[str, str] = {}  # variables that hold what is found under a path

    def path(self, e: n.Expr) -> str | None:
        if type(e) is n.Global:
            return e.id
        if type(e) is n.Name:
            return self.bound.get(e.id)
        if type(e) is n.Attr:
            owner = self.path(e.value)
            return None if owner is None else f"{owner}.{e.name}"
        return None

    def statement(self, s: n.Stmt) -> Iterator[str]:
        t = type(s)
        parts: list[n.Expr] = list(walk.expressions(s))
        if t is n.Assign and s.target in self.bound:  # type: ignore[attr-defined]
            return
        if t in (n.Store, n.Update, n.Delete) and type(s.target) is not n.Name:  # type: ignore[attr-defined]
            target = s.target  # type: ignore[attr-defined]
            if self.path(target.value) is not None:
                parts = [] if t is n.Delete else [s.value]  # type: ignore[attr-defined]
                parts += [target.index] if type(target) is n.Index else []
        elif t is n.Effect and type(s.value) is n.Call and self.puts(s.value.func):  # type: ignore[attr-defined]
            parts = [*s.value.args, *(v for _, v in s.value.kwargs)]  # type: ignore[attr-defined]
        elif t is n.Effect and type(s.value) is n.Call and (path := self.path(s.value.func)):  # type: ignore[attr-defined]
            yield f"{path}()"
            parts = [*s.value.args, *(v for _, v in s.value.kwargs)]  # type: ignore[attr-defined]
        for e in parts:
            yield from self.expression(e)

    def expression(self, e: n.Expr) -> Iterator[str]:
        path = self.path(e)
        if path is not None:
            yield path
            return
        called = self.path(e.func) if type(e) is n.Call else None
        if called is not None:
            yield f"{called}.__call__"
            for part in walk.children(e)[1:]:
                yield from self.expression(part)
            return
        if type(e) is n.Closure:
            yield from readings(e.function)
        for part in walk.children(e):
            yield from self.expression(part)

    def puts(self, func: n.Expr) -> bool:
        return type(func) is n.Attr and func.name in _PUTS and self.path(func.value) is not None


def _counters(statements: list[n.Stmt]) -> set[int]:
    """The statements that read a variable only to assign it anew, a constant more or less."""
    uses: dict[str, int] = {}
    made: dict[str, n.Assign] = {}
    for s in statements:
        if type(s) is n.Assign:
            made[s.target] = s
        for e in walk.expressions(s):
            for name in walk.names(e):
                uses[name] = uses.get(name, 0) + 1
    found: set[int] = set()
    for s in statements:
        value: n.Expr | None = s.value if type(s) is n.SetGlobal else None
        chain: list[n.Stmt] = []
        while type(value) is n.Name and uses[value.id] == 1 and value.id in made:
            chain.append(made[value.id])
            value = made[value.id].value
            if type(value) in (n.Binary, n.Inplace) and type(value.right) is n.Const:  # type: ignore[union-attr]
                value = value.left  # type: ignore[union-attr]
            if value == n.Global(s.name):  # type: ignore[attr-defined]
                found.update(map(id, chain))
    return found
