"""Residuals of generated code in forward mode: a tuple of them takes the tangents of what moves in it.

    saved.append((a, b))                saved.append((a, b, b_dot))
    …                                   …
    for a, b in reversed(saved):        for a, b, b_dot in reversed(saved):

Where values and tangents are to be told apart, the tangents have lists and tuples of their own beside those of the
values.
"""

from __future__ import annotations

from typing import Any

from thunkad.analysis.residuals import Key, residuals_of
from thunkad.forward.calls import TANGENT
from thunkad.forward.template import ZERO_REF
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Num

BACKWARDS = n.Slice(None, None, n.Const(-1))


class Residuals:
    """The part of :class:`thunkad.forward.push.Push` that deals with residuals.

    ``apart``: tangents have lists and tuples of their own.
    """

    def __init__(self, push: Any, apart: bool = False) -> None:
        self.push, self.apart, self.found = push, apart, residuals_of(push.resolved)
        self.moving = {key: self.moving_fields(key) for key in self.found.records}
        self.names: dict[str, str] = {}  # a list or tuple, by any of its names → that of its tangents

    def moving_fields(self, key: Key) -> tuple[int, ...]:
        """The fields that move in some tuple of one form."""
        return tuple(k for k in self.fields(key) if any(map(self.push.moves, (r[k] for r in self.found.records[key]))))

    def inner(self, key: Key) -> tuple[int, ...]:
        """The fields that are lists or tuples of residuals."""
        first = self.found.records[key][:1]
        return tuple(
            k for k in self.fields(key) for e in (first[0][k],) if type(e) is n.Name and e.id in self.found.names
        )

    def fields(self, key: Key) -> range:
        records = self.found.records[key]
        return range(len(records[0]) if records else 0)

    def dots(self, name: str) -> str:
        """The list or tuple of tangents beside that of a name."""
        if name not in self.names:
            self.names[name] = self.push.names.new(f"{name}_dot")
            self.push.spelled[name] = self.names[name]
        return self.names[name]

    def statement(self, s: Any) -> bool:
        """Emit what ``s`` means for values and tangents, if it deals with residuals."""
        push, key = self.push, id(s)
        if type(s) is n.Assign and type(s.value) is n.ListExpr and s.target in self.found.names:
            push.keep(s)
            if self.apart:
                push.emit(n.Assign(self.dots(s.target), n.ListExpr(()), site=TANGENT))
        elif key in self.found.packs and isinstance(self.found.packs[key], n.Handover):
            self.pack(s, self.found.packs[key])
        elif key in self.found.appends:
            self.append(s, *self.found.appends[key])
        elif key in self.found.loops:
            self.loop(s, self.found.loops[key])
        elif key in self.found.readers:
            self.take(s, self.found.readers[key])
        else:
            return False
        return True

    # ------------------------------------------------------------ packing

    def pack(self, s: n.Assign, key: Key) -> None:
        """What an arm hands over."""
        items = s.value.items  # type: ignore[union-attr]
        if self.apart:
            self.push.keep(s)
            self.push.emit(n.Assign(self.dots(s.target), n.TupleExpr(self.dots_of(key, items)), site=TANGENT))
        else:
            self.push.emit(n.Assign(s.target, n.TupleExpr((*items, *self.dots_of(key, items))), site=s.site))

    def append(self, s: n.Append, name: str, items: tuple[n.Expr, ...]) -> None:
        if self.apart:
            self.push.emit(n.Append(self.dots(name), n.TupleExpr(self.dots_of(name, items))))
            self.push.keep(s)
        else:
            self.push.emit(n.Append(s.target, n.TupleExpr((*items, *self.dots_of(name, items)))))

    def dots_of(self, key: Key, items: tuple[n.Expr, ...]) -> tuple[n.Expr, ...]:
        """The tangents of a tuple's fields; where they are apart, of lists and tuples in it too."""
        found = tuple(self.dot_of(items[k]) for k in self.moving[key])
        if self.apart:
            found += tuple(n.Name(self.dots(items[k].id)) for k in self.inner(key))  # type: ignore[union-attr]
        return found

    def dot_of(self, e: n.Expr) -> n.Expr:
        if self.push.moves(e):
            return self.push.dot(e)  # type: ignore[no-any-return]
        if type(e) is n.Name:
            return self.push.zero_of(e.id)  # type: ignore[no-any-return]
        return n.Const(0.0) if isinstance(self.push.resolved.kind(e), Num) else ZERO_REF

    # ------------------------------------------------------------ taking apart

    def loop(self, s: n.For, name: str) -> None:
        push = self.push
        first = s.body[0] if s.body and id(s.body[0]) in self.found.readers else None
        if not (self.apart and first is not None and self.has_dots(name)):
            push.out.append(n.For(s.target, s.iter, push.block(s.body), s.stop, s.count, line=s.line))
            return
        assert type(first) is n.Unpack
        backwards, count = push.names.new("steps"), s.count or push.names.new("k")
        push.spelled[backwards] = backwards
        of = n.Name(self.dots(s.iter.args[0].id))  # type: ignore[union-attr]
        push.emit(n.Assign(backwards, n.Index(of, BACKWARDS), site=TANGENT))
        step = n.Index(n.Name(backwards), n.Name(count))
        taken = n.Unpack(self.dots_read(name, first), step, site=TANGENT, line=first.line)
        body = [push.copy(first), taken, *push.block(s.body[1:])]
        push.out.append(n.For(s.target, s.iter, body, s.stop, count, line=s.line))

    def take(self, s: n.Unpack, key: Key) -> None:
        """Take a tuple apart."""
        read = self.dots_read(key, s)
        if not self.apart:
            self.push.out.append(n.Unpack((*s.targets, *read), s.value, line=s.line, site=s.site))
            return
        self.push.keep(s)
        if isinstance(key, n.Handover) and self.has_dots(key):
            of = n.Name(self.dots(s.value.id))  # type: ignore[union-attr]
            self.push.emit(n.Unpack(read, of, site=TANGENT, line=s.line))

    def has_dots(self, key: Key) -> bool:
        return bool(self.moving[key] or self.inner(key))

    def dots_read(self, key: Key, s: n.Unpack) -> tuple[str, ...]:
        """The names that take the tangents of what ``s`` takes apart."""
        push = self.push
        read = tuple(
            push.dot_name(x) if (x := s.targets[k]) in push.moving else push.names.new("_") for k in self.moving[key]
        )
        return (*read, *(self.dots(s.targets[k]) for k in self.inner(key))) if self.apart else read
