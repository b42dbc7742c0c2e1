"""Tuples that are only taken apart again, copies of temporaries, and temporaries that are only copied.

Lowering evaluates ``a, b = b, a`` as a display and an unpacking, and nested expressions into temporaries.  On versions
this pass, in three steps,

1. replaces what is taken from a known display by the atoms it was made of, and temporaries that are copies by their
   source: one forward walk with the facts that hold at each statement (a binding of a name ends the facts about it,
   entering a loop ends those about all names that the loop binds);
2. lets the variable of the user's have the name: ``t3 = a * b; y = t3`` becomes ``y = a * b`` if nothing else reads
   ``t3``;
3. drops displays and copies that nothing reads, if making them can't have raised.

Copies at the end of a loop body (of carried names) stay what they are.
"""

from __future__ import annotations

import re
from collections import Counter

from thunkad.ir import nodes as n
from thunkad.ir import walk

_TEMPORARY = re.compile(r"t\d+\Z")
_Copied = (n.Name, n.Const, n.Ref)  # a ``Global`` is read live, so its value may differ later


def forward_tuples(function: n.Function) -> n.Function:
    """A copy of ``function`` (normal form with versions) without needless tuples, copies and temporaries."""
    body = _Forward(function).block(function.body, {}, {})
    body = _absorb(body)
    body = _Sweep(function, body).swept()
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


def _is_temporary(name: str) -> bool:
    return _TEMPORARY.match(name) is not None


# ---------------------------------------------------------------- 1. facts


_Tuples = dict[str, tuple[n.Expr, ...]]
_Copies = dict[str, n.Expr]


class _Forward:
    """``tuples``: names that hold a display of these atoms; ``copies``: temporaries that equal another atom."""

    def __init__(self, function: n.Function) -> None:
        self.multiple = {name for name, k in _binding_counts(function.body).items() if k > 1}
        self.carried = carried_names(function.body)
        self.mentions: dict[str, set[str]] = {}  # name -> names that some fact relates to it

    def block(self, block: list[n.Stmt], tuples: _Tuples, copies: _Copies, trailing: int | None = None) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for k, s in enumerate(block):
            if trailing is not None and k >= trailing:
                out.append(walk.map_stmt(s, lambda e: e))
                continue
            for new in self.statement(s, tuples, copies):
                out.append(new)
                self.learn(new, tuples, copies)
        return out

    def learn(self, s: n.Stmt, tuples: _Tuples, copies: _Copies) -> None:
        for name in walk.writes(s) if type(s) not in (n.For, n.While) else ():
            self.forget(name, tuples, copies)
        if type(s) is not n.Assign or s.target in self.multiple:
            return
        if type(s.value) is n.TupleExpr and all(type(i) in _Copied for i in s.value.items):
            tuples[s.target] = s.value.items
            self.relate(s.target, s.value.items)
        elif type(s.value) is n.Name and s.value.id in tuples:
            tuples[s.target] = tuples[s.value.id]
            self.relate(s.target, tuples[s.target])
        if type(s.value) in _Copied and _is_temporary(s.target):
            copies[s.target] = s.value
            self.relate(s.target, (s.value,))

    def relate(self, name: str, atoms: tuple[n.Expr, ...]) -> None:
        for atom in atoms:
            if type(atom) is n.Name:
                self.mentions.setdefault(atom.id, set()).add(name)

    def forget(self, name: str, tuples: _Tuples, copies: _Copies) -> None:
        for other in (name, *self.mentions.get(name, ())):
            tuples.pop(other, None)
            copies.pop(other, None)

    def statement(self, s: n.Stmt, tuples: _Tuples, copies: _Copies) -> list[n.Stmt]:
        t = type(s)
        where = {"line": s.line, "site": s.site}

        def read(e: n.Expr) -> n.Expr:
            return _function_forwarded(walk.substitute(e, copies))

        if t is n.Unpack:
            value = read(s.value)
            items = tuples.get(value.id) if type(value) is n.Name else None
            if items is None or len(items) != len(s.targets) or {n.Name(i) for i in s.targets} & set(items):
                return [n.Unpack(s.targets, value, **where)]
            return [n.Assign(i, item, line=s.line) for i, item in zip(s.targets, items)]
        if t is n.Assign and type(s.value) is n.Index:
            value, index = read(s.value.value), read(s.value.index)
            items = tuples.get(value.id) if type(value) is n.Name else None
            if items is not None and type(index) is n.Const and type(index.value) is int:
                if -len(items) <= index.value < len(items):
                    return [n.Assign(s.target, items[index.value], line=s.line)]
            return [n.Assign(s.target, n.Index(value, index), **where)]
        if t is n.If:
            arms = [self.block(b, dict(tuples), dict(copies)) for b in (s.body, s.orelse)]
            new: n.Stmt = n.If(read(s.test), arms[0], arms[1], **where)
            for name in walk.assigned([s]):
                self.forget(name, tuples, copies)
            return [new]
        if t is n.For:
            iterable = read(s.iter)
            body = self.loop(s, tuples, copies)
            return [n.For(s.target, iterable, body, s.stop, s.count, **where)]
        if t is n.While:
            for name in walk.assigned([s]):
                self.forget(name, tuples, copies)
            inner = dict(tuples), dict(copies)
            test_body = self.block(s.test_body, *inner)
            test = walk.substitute(s.test, inner[1])
            body = self.block(s.body, *inner, trailing_copies(s.body, self.carried))
            return [n.While(test_body, test, body, s.stop, **where)]
        if t is n.With:
            item = read(s.item)
            return [n.With(item, s.target, self.block(s.body, tuples, copies), **where)]
        if t is n.Try:
            facts = dict(tuples), dict(copies)
            blocks = (
                self.block(s.body, *facts),
                self.block(s.handler, dict(tuples), dict(copies)),
                self.block(s.orelse, *facts),
            )
            for name in walk.assigned([s]):
                self.forget(name, tuples, copies)
            return [n.Try(*blocks, s.types, s.error, **where)]
        if t is n.Assert:
            inner = dict(tuples), dict(copies)
            test, body = read(s.test), self.block(s.message_body, *inner)
            return [n.Assert(test, body, s.message and walk.substitute(s.message, inner[1]), **where)]
        if t is n.Append:
            target = copies.get(s.target)
            return [n.Append(target.id if type(target) is n.Name else s.target, read(s.value), **where)]
        return [walk.map_stmt(s, read)]

    def loop(self, s: n.For, tuples: _Tuples, copies: _Copies) -> list[n.Stmt]:
        for name in walk.assigned([s]):
            self.forget(name, tuples, copies)
        return self.block(s.body, dict(tuples), dict(copies), trailing_copies(s.body, self.carried))


def _function_forwarded(e: n.Expr) -> n.Expr:
    return n.Closure(forward_tuples(e.function), e.captures, e.defaults, e.kw_defaults) if type(e) is n.Closure else e


def carried_names(block: list[n.Stmt]) -> set[str]:
    """Names that some loop in ``block`` (all of a function) carries from one iteration to the next or out of it."""
    loops = [s for s in walk.statements(block) if type(s) in (n.For, n.While)]
    carried: set[str] = set()
    if not loops:
        return carried
    bindings, reads = _binding_counts(block), _read_counts(block)
    for s in loops:
        k = len(s.body)
        # a name of the body's own is read after its binding only: by the copies that follow, or as the stop flag
        later: Counter[str | None] = Counter([s.stop])
        while k and type(s.body[k - 1]) is n.Assign and type(s.body[k - 1].value) is n.Name:
            k -= 1
            c = s.body[k]
            if bindings[c.target] > 1 or reads[c.target] > later[c.target]:
                carried.add(c.target)
            later[c.value.id] += 1
    return carried


def trailing_copies(body: list[n.Stmt], carried: set[str]) -> int:
    """Where the copies to carried names at the end of a loop's body begin."""
    k = len(body)
    while k and type(body[k - 1]) is n.Assign and type(body[k - 1].value) is n.Name and body[k - 1].target in carried:
        k -= 1
    return k


def _binding_counts(block: list[n.Stmt]) -> Counter[str]:
    return Counter(w for s in walk.statements(block) for w in walk.writes(s))


def _read_counts(block: list[n.Stmt]) -> Counter[str]:
    read: list[str] = []
    for s in walk.statements(block):
        for e in walk.expressions(s):
            read += walk.names(e)
        if type(s) is n.Append:
            read.append(s.target)
        if type(s) in (n.For, n.While) and s.stop is not None:
            read.append(s.stop)
    return Counter(read)


# ---------------------------------------------------------------- 2. absorption


def _absorb(body: list[n.Stmt]) -> list[n.Stmt]:
    """``t3 = e; y = t3`` → ``y = e`` where that is all that ``t3`` is for."""
    reads = _read_counts(body)
    carried = carried_names(body)
    mapping: dict[str, str] = {}

    def scan(block: list[n.Stmt]) -> None:
        bound: set[str] = set()  # by statements of this very block, arms of its branches included
        for s in block:
            if type(s) is n.Assign and type(s.value) is n.Name:
                t = s.value.id
                wanted = t in bound and _is_temporary(t) and not _is_temporary(s.target)
                if wanted and reads[t] == 1 and s.target not in carried and t not in carried:
                    mapping[t] = s.target
            bound.update(_bound_here(s))
            for b in walk.blocks(s):
                scan(b)

    scan(body)
    if not mapping:
        return body
    return _without_self_copies(walk.rename(body, mapping))


def _bound_here(s: n.Stmt) -> tuple[str, ...]:
    """Names that ``s`` binds on every path (a branch: in both arms), loops left out."""
    if type(s) is n.If:
        arms = [{w for x in arm for w in _bound_here(x)} for arm in (s.body, s.orelse)]
        return tuple(arms[0] & arms[1])
    if type(s) is n.Try:
        arms = [{w for x in arm for w in _bound_here(x)} for arm in ([*s.body, *s.orelse], s.handler)]
        return tuple(arms[0] & arms[1])
    if type(s) is n.With:
        return (*walk.writes(s), *(w for x in s.body for w in _bound_here(x)))
    return () if type(s) in (n.For, n.While) else walk.writes(s)


def _without_self_copies(block: list[n.Stmt]) -> list[n.Stmt]:
    for s in block:
        for b in walk.blocks(s):
            b[:] = _without_self_copies(b)
    return [s for s in block if not (type(s) is n.Assign and s.value == n.Name(s.target))]


# ---------------------------------------------------------------- 3. what is left over


class _Sweep:
    """Drops unread displays and copies whose operands are certainly bound."""

    def __init__(self, function: n.Function, body: list[n.Stmt]) -> None:
        self.body = body
        self.reads = _read_counts(body)
        self.multiple = {name for name, k in _binding_counts(body).items() if k > 1}
        self.safe: set[int] = set()
        self.find_safe(body, {*function.captures, *(p.name for p in function.params)})

    def find_safe(self, block: list[n.Stmt], sure: set[str]) -> list[str]:
        """Note assignments that can't raise; names that ``block`` certainly binds join ``sure`` and are returned."""
        added: list[str] = []
        for s in block:
            if type(s) is n.Assign and self.droppable(s):
                if all(i in sure for i in walk.names(s.value)):
                    self.safe.add(id(s))
            if type(s) is n.If:
                first = self.find_safe(s.body, sure)
                sure.difference_update(first)
                second = self.find_safe(s.orelse, sure)
                sure.difference_update(second)
                new = [i for i in first if i in set(second)]
            elif type(s) is n.Try:
                first = self.find_safe(s.body, sure)
                first += self.find_safe(s.orelse, sure)
                sure.difference_update(first)
                error = [i for i in walk.writes(s) if i not in sure]
                sure.update(error)
                second = self.find_safe(s.handler, sure)
                sure.difference_update(second, error)
                new = [i for i in first if i in set(second)]
            elif type(s) is n.With:
                own = [i for i in walk.writes(s) if i not in sure]
                sure.update(own)
                new = [*own, *self.find_safe(s.body, sure)]
            elif type(s) in (n.For, n.While):
                new = [] if type(s) is n.For else self.find_safe(s.test_body, sure)
                own = [i for i in walk.writes(s) if i not in sure]
                sure.update(own)
                sure.difference_update(self.find_safe(s.body, sure), own)
            elif type(s) is n.Assert:
                sure.difference_update(self.find_safe(s.message_body, sure))
                new = []
            else:
                new = [i for i in walk.writes(s) if i not in sure]
            sure.update(new)
            added.extend(new)
        return added

    def droppable(self, s: n.Assign) -> bool:
        if s.target in self.multiple:
            return False
        if type(s.value) is n.TupleExpr:
            return all(type(i) in _Copied for i in s.value.items)
        return type(s.value) in _Copied and _is_temporary(s.target)

    def swept(self) -> list[n.Stmt]:
        while True:
            before = len(self.safe)
            body = self.block(self.body)
            if len(self.safe) == before:
                return body
            self.body = body

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in reversed(block):
            if id(s) in self.safe and not self.reads[s.target]:
                self.safe.discard(id(s))
                self.reads.subtract(walk.names(s.value))
                continue
            for b in reversed(walk.blocks(s)):
                b[:] = self.block(b)
            out.append(s)
        out.reverse()
        return out
