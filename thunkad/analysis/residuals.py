"""Residuals in generated code: what the forward sweep packs into tuples that the reverse sweep takes apart.

    saved.append((a, b))                …                   for a, b in reversed(saved):

A loop has a list with a record for each iteration, an arm of a branch inside of a loop a tuple of its own, which is a
field of that record.  Where nothing else sees these lists and tuples, each field is followed by itself: what is read
as ``b`` is what was put in as ``b``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from thunkad.analysis.sites import Resolved
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import field, record

#: Names, each with the names that it gets its value from.
Flows = list[tuple[str, tuple[str, ...]]]
#: What tuples of one form belong to: a list, by its name, or an arm, by its mark.
Key = str | n.Handover


@record
class Residuals:
    """``names``: those of the lists and of the tuples of arms, each with that under which it was made.

    ``records``: the tuples of each form; ``packs``: which form the tuple has that a statement makes; ``appends``: those
    that put one into a list, with the list; ``loops``: the list that one goes through; ``readers``: the form of the
    tuple that one takes apart.
    """

    names: dict[str, str] = field(default_factory=dict)
    records: dict[Key, list[tuple[n.Expr, ...]]] = field(default_factory=dict)
    packs: dict[int, Key] = field(default_factory=dict)
    appends: dict[int, tuple[str, tuple[n.Expr, ...]]] = field(default_factory=dict)
    loops: dict[int, str] = field(default_factory=dict)
    readers: dict[int, Key] = field(default_factory=dict)

    def sources(self, key: Key, k: int) -> tuple[str, ...]:
        """The names that field ``k`` of tuples of one form is filled from."""
        items = (items[k] for items in self.records[key])
        return tuple(x.id for x in items if type(x) is n.Name and x.id not in self.names)

    def flows(self, s: n.Stmt) -> Flows | None:
        """What ``s`` hands on if it deals with residuals, else None."""
        key = id(s)
        if key in self.readers:
            assert type(s) is n.Unpack
            return [(x, self.sources(self.readers[key], k)) for k, x in enumerate(s.targets)]
        made = type(s) is n.Assign and s.target in self.names
        return [] if made or key in self.appends or key in self.loops or key in self.packs else None


NOTHING = Residuals()


def residuals_of(resolved: Resolved) -> Residuals:
    """The residuals of generated code, found once; of a function of the user's none."""
    if not resolved.function.generated:
        return NOTHING
    if "residuals" not in resolved.cache:
        resolved.cache["residuals"] = _Search(resolved.function).found()
    return resolved.cache["residuals"]  # type: ignore[no-any-return]


class _Search:
    """``lists`` and ``arms``: names that are bound to an empty list, or to tuples of arms only."""

    def __init__(self, function: n.Function) -> None:
        self.statements = list(walk.statements(function.body))
        self.bound = Counter(p.name for p in function.params) + Counter(function.captures)
        self.bound.update(x for s in self.statements for x in walk.writes(s))
        self.reads = Counter(x for s in self.statements for e in walk.expressions(s) for x in walk.names(e))
        self.lists: set[str] = set()
        self.displays: dict[str, n.Assign] = {}  # of records
        self.packs: dict[Key, list[n.Assign]] = {}
        self.appends: list[tuple[n.Append, n.Assign]] = []
        self.loops: list[tuple[n.For, str]] = []
        self.readers: list[tuple[n.Unpack, str, n.Handover | None]] = []  # with what they take apart, or its list
        self.arms: Counter[str] = Counter()
        self.look()

    def look(self) -> None:
        for s in self.statements:
            if type(s) is n.Assign and isinstance(s.site, n.Handover) and type(s.value) is n.TupleExpr:
                self.packs.setdefault(s.site, []).append(s)
                self.arms[s.target] += 1
            elif type(s) is n.Assign and self.bound[s.target] == 1:
                if type(s.value) is n.ListExpr and not s.value.items:
                    self.lists.add(s.target)
                elif type(s.value) is n.TupleExpr and self.reads[s.target] == 1:
                    self.displays[s.target] = s
        for s in self.statements:
            if type(s) is n.Append and type(s.value) is n.Name and s.value.id in self.displays:
                self.appends.append((s, self.displays[s.value.id]))
                self.packs.setdefault(s.target, []).append(self.displays[s.value.id])
            elif type(s) is n.For:
                self.look_at_loop(s)
            elif type(s) is n.Unpack and s.site in self.packs and type(s.value) is n.Name:
                self.readers.append((s, s.value.id, s.site))  # type: ignore[arg-type]

    def look_at_loop(self, s: n.For) -> None:
        e = s.iter
        if type(e) is not n.Call or e.func != n.Ref("reversed", reversed) or type(e.args[0]) is not n.Name:
            return
        first = s.body[0] if s.body else None
        if self.bound[s.target] == 1 and self.reads[s.target] == 0:
            self.loops.append((s, e.args[0].id))
        elif self.bound[s.target] == 1 and self.reads[s.target] == 1:
            if type(first) is n.Unpack and first.value == n.Name(s.target):
                self.loops.append((s, e.args[0].id))
                self.readers.append((first, e.args[0].id, None))

    # ------------------------------------------------------------ what is used in no other way

    def found(self) -> Residuals:
        good = self.lists | {x for x, count in self.arms.items() if self.bound[x] == count}
        while good:
            names = self.known_as(good)
            still = good - self.doubtful(good, names)
            if still == good:
                return self.described(names)
            good = still
        return NOTHING

    def known_as(self, good: set[str]) -> dict[str, str]:
        """The names of ``good``, with those under which the reverse sweep finds them in other tuples."""
        names = {x: x for x in good}
        while True:
            before = len(names)
            for reader, key in self.read(names):
                for k, x in enumerate(reader.targets):
                    inner = {names.get(i.id) if type(i) is n.Name else None for i in self.items(key, k)}
                    if len(inner) == 1 and None not in inner and self.bound[x] == 1:
                        names[x] = inner.pop()  # type: ignore[assignment]
            if len(names) == before:
                return names

    def read(self, names: dict[str, str]) -> Iterator[tuple[n.Unpack, Key]]:
        """The statements that take tuples of these names apart."""
        for reader, x, mark in self.readers:
            if x in names:
                yield reader, mark or names[x]

    def items(self, key: Key, k: int) -> list[n.Expr | None]:
        """What is put into field ``k`` of tuples of one form."""
        every = (s.value.items for s in self.packs.get(key, ()))  # type: ignore[union-attr]
        return [items[k] if k < len(items) else None for items in every]

    def doubtful(self, good: set[str], names: dict[str, str]) -> set[str]:
        """Those of ``good`` that are used in another way, under any name, or whose tuples are not all of one length."""
        used = Counter[str]()  # in ways that are known
        lengths: dict[Key, set[int]] = {}
        packs = {mark: made for mark, made in self.packs.items() if isinstance(mark, n.Handover) or mark in good}
        for key, made in packs.items():
            for s in made:
                if s.target in good or key in good:
                    items = s.value.items  # type: ignore[union-attr]
                    lengths.setdefault(key, set()).add(len(items))
                    used.update(i.id for i in items if type(i) is n.Name)
        used.update(read for _, read in self.loops)
        used.update(x for _, x, mark in self.readers if mark is not None)
        appended = Counter(s.target for s in self.statements if type(s) is n.Append)
        known = Counter(s.target for s, _ in self.appends)
        bad = {name for x, name in names.items() if used[x] != self.reads[x] or appended[x] != known[x]}
        for reader, key in self.read(names):
            lengths.setdefault(key, set()).add(len(reader.targets))
            for k, x in enumerate(reader.targets):  # what a list is put into must be read as that list
                inner = {names[i.id] for i in self.items(key, k) if type(i) is n.Name and i.id in names}
                if any(names.get(x) != i for i in inner):
                    bad |= inner
        unlike = {key for key, found in lengths.items() if len(found) > 1}
        bad |= {key for key in unlike if isinstance(key, str)}
        return bad | {s.target for key in unlike if key in self.packs for s in self.packs[key] if s.target in good}

    def described(self, names: dict[str, str]) -> Residuals:
        out = Residuals(names)
        for key, made in self.packs.items():
            for s in made:
                if s.target in names or key in names:
                    out.records.setdefault(key, []).append(s.value.items)  # type: ignore[union-attr]
                    out.packs[id(s)] = key
        for append, display in self.appends:
            if append.target in names:
                out.appends[id(append)] = append.target, display.value.items  # type: ignore[union-attr]
        for loop, x in self.loops:
            if x in names:
                out.loops[id(loop)] = names[x]
                out.records.setdefault(names[x], [])
        out.readers = {id(reader): key for reader, key in self.read(names)}
        return out
