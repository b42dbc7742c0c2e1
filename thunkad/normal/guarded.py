"""What a handler can see of a body that was left half-way: ``try`` blocks cut where that matters.

The adjoint treats the two ways through a ``Try`` like the arms of an ``If``: the body and its ``else`` have run, or the
handler has.  That is right as long as nothing is seen of a body that was left half-way.  Where the handler, or what
follows it, reads a variable that the body binds before something that may raise, or where the body changes an object
before it, the body is cut into pieces of which each is seen whole or not at all::

    try:                                try:
        y = g(x)                            y = g(x)
        z = h(y)                        except E as e:
    except E:                               error = e; failed = True
        z = y                           else:
                                            failed = False
                                        if not failed:
                                            try:
                                                z = h(y)
                                            except E as e: ...
                                        if failed: z = y

Inside loops a piece that fails leaves them through their ``stop`` names, by :mod:`thunkad.normal.exits`.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Literal, Union

import numpy as np

from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.ir.live import Liveness, liveness
from thunkad.normal.drawing import Drawn
from thunkad.normal.exits import left_early
from thunkad.normal.strict import checked_after, is_strict
from thunkad.records import record
from thunkad.runtime.exceptions import enter, leave, matches, shown, traceback_of
from thunkad.runtime.left_behind import NOTES

MUTATING = frozenset(
    "append appendleft extend extendleft insert pop popleft remove rotate sort reverse clear update setdefault popitem "
    "move_to_end fill put itemset resize partition "
    "add discard at copyto place putmask put_along_axis fill_diagonal write writelines send".split()
)
MATCHES, ENTER, LEAVE = n.Ref("matches", matches), n.Ref("enter", enter), n.Ref("leave", leave)
SHOWN, TRACE = n.Ref("shown", shown), n.Ref("traceback_of", traceback_of)
_LIBRARY = (np.ndarray, list, dict, str, tuple, set)  # their methods that are not named above change nothing
#: The site of a loop whose body was cut: what going through its iterable raises would not be caught.
CUT = "cut"
EXITS: Literal["exits"] = "exits"


@record(frozen=True)
class Drawing:
    """With loops over iterators of Python classes in these lines: what drawing an item raises is caught by itself.

    ``apart``: lines in which every step may raise an exception that has to be followed, or may change something.
    """

    careful: Union[bool, Literal["exits"]]
    lines: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()


Careful = Union[bool, Literal["exits"], Drawing]


class DrawnInTry(UnsupportedSyntaxError):
    """A loop over an iterator in a ``try`` that was cut as if going through it raised nothing."""


def drawing_in(line: int, careful: Careful) -> Drawing:
    """``careful``, and the loops in this line too."""
    old = careful if isinstance(careful, Drawing) else Drawing(careful)
    return Drawing(old.careful, old.lines | {line}, old.apart)


def apart_in(lines: frozenset[int], careful: Careful) -> Careful:
    """``careful``, and the steps in these lines one by one."""
    old = careful if isinstance(careful, Drawing) else Drawing(careful)
    return Drawing(old.careful, old.lines, old.apart | lines) if lines else careful


_FRESH = (n.ListExpr, n.DictExpr, n.SetExpr, n.TupleExpr)


def cut_tries(function: n.Function, names: Names, careful: Careful = False) -> n.Function:
    """``function`` (with structured exits) with bodies of ``Try`` that handlers see all of or nothing of.

    ``careful``: any function of the user's may change what it is given, and raise when it has changed some of it;
    EXITS: and the ``__exit__`` of some manager reads the exception that it is told of.
    """
    if not any(type(s) is n.Try for s in walk.statements(function.body)):
        return function
    drawing = careful if isinstance(careful, Drawing) else Drawing(careful)
    careful = drawing.careful
    body = [_told_itself(s) for s in function.body] if careful is EXITS else function.body
    follows = reads_exceptions(body)
    careful = bool(careful) or follows
    while True:
        whole = n.Function(function.name, function.params, body, function.captures, function.line, function.filename)
        cutter = _Cutter(whole, liveness(whole, compound_only=True), names, careful, follows, drawing)
        body = cutter.block(whole.body)
        if not cutter.changed:
            return whole


def _told_itself(s: n.Stmt) -> n.Stmt:
    """``s`` with the exception itself where ``__exit__`` is told of one."""
    s = walk.map_blocks(s, lambda block: [_told_itself(x) for x in block])
    if type(s) is n.Assign and type(s.value) is n.Call and s.value.func == SHOWN:
        return n.Assign(s.target, s.value.args[0], line=s.line, site=s.site)
    return s


class _Cutter:
    """Cuts one ``Try``, an innermost one, in one walk."""

    def __init__(
        self, function: n.Function, live: Liveness, names: Names, careful: bool, follows: bool, drawing: Drawing
    ) -> None:
        self.function, self.live, self.names, self.careful, self.follows = function, live, names, careful, follows
        self.drawing = drawing
        self.changed = False

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            for inner in walk.blocks(s):
                if not self.changed:
                    inner[:] = self.block(inner)
            if type(s) is n.Try and not self.changed and self.has_to_be_cut(s):
                self.changed = True
                if any(type(x) is n.With for x in walk.statements(s.body)):
                    body = [y for x in s.body for y in self.written_out(x)]
                    out.append(n.Try(body, s.handler, s.orelse, s.types, s.error, line=s.line))
                    continue
                out += _Pieces(s, self.hazard(s), self.names, self.drawing.lines).cut()
            else:
                out.append(s)
        return out

    def written_out(self, s: n.Stmt) -> list[n.Stmt]:
        """``s`` with each ``with`` in it as what it does: its manager is entered, and left in a handler or after it."""
        for inner in walk.blocks(s):
            inner[:] = [y for x in inner for y in self.written_out(x)]
        if type(s) is not n.With:
            return [s]
        manager, error = n.Name(self.names.new("manager")), self.names.new("error")
        swallowed = n.Name(self.names.temporary())
        target = s.target or self.names.temporary()
        kind, told, trace = (n.Name(self.names.temporary()) for _ in range(3))
        telling: list[n.Stmt] = [
            n.Assign(told.id, n.Call(SHOWN, (n.Name(error),)), line=s.line),
            n.Assign(kind.id, n.Call(n.Ref("type", type), (told,)), line=s.line),
            n.Assign(trace.id, n.Call(TRACE, (told,)), line=s.line),
        ]
        left = n.Assign(swallowed.id, n.Call(LEAVE, (manager, kind, told, trace)), line=s.line)
        again: list[n.Stmt] = [n.Raise(n.Name(error), None, line=s.line)]
        handler = [*telling, left, n.If(swallowed, [], again, line=s.line)]
        orelse: list[n.Stmt] = [n.Effect(n.Call(LEAVE, (manager, *(n.Const(None),) * 3)), line=s.line)]
        return [
            n.Assign(manager.id, s.item, line=s.line),
            n.Assign(target, n.Call(ENTER, (manager,)), line=s.line),
            n.Try(s.body, handler, orelse, None, error, line=s.line),
        ]

    def seen(self, s: n.Try) -> frozenset[str]:
        """Variables that somebody may read after the body was left half-way."""
        return self.live.at_handler[id(s)]

    def hazard(self, s: n.Try) -> Hazard:
        follows = self.follows and s.error is not None
        return Hazard(self.seen(s), own_objects(s.body), self.careful, follows, self.drawing.apart)

    def has_to_be_cut(self, s: n.Try) -> bool:
        hazard = self.hazard(s)
        if alone(s.body) is None and any(map(hazard.hands_over, parts(s.body))):
            return True
        return hazard.after(s.body, False) is None or (self.careful and hazard.called_late(s.body))


def parts(block: list[n.Stmt]) -> Iterator[n.Stmt]:
    """The statements of a block at any depth, in the order of the text; messages of assertions are no statements."""
    for s in block:
        yield s
        if type(s) is not n.Assert:
            for inner in walk.blocks(s):
                yield from parts(inner)


def alone(body: list[n.Stmt]) -> n.Stmt | None:
    """The only statement of ``body``, if that is a single step."""
    body = [s for s in body if type(s) is not n.Comment]
    return body[0] if len(body) == 1 and (not walk.blocks(body[0]) or type(body[0]) is n.Assert) else None


def reads_exceptions(block: list[n.Stmt], given: str | None = None) -> bool:
    """Whether a handler reads what its exception holds, or hands it to somebody who may.

    ``given``: a parameter, instead of what is caught.
    """
    found = list(walk.statements(block))
    names = {s.error for s in found if type(s) is n.Try and s.error is not None} if given is None else {given}
    while names:
        before = len(names)
        for s in found:
            if type(s) in (n.Try, n.Raise, n.Delete) or names.isdisjoint(walk.reads(s)):
                continue
            e = s.value if type(s) in (n.Assign, n.Effect) else None  # type: ignore[attr-defined]
            if type(s) is n.Assign and type(e) is n.Name:
                names.add(s.target)
            elif type(e) is n.Compare and e.op in ("is", "is not"):
                continue
            elif not (type(e) is n.Call and e.func in _ASKING) and not (type(e) is n.Attr and e.name in _OF_ANY):
                return True
        if len(names) == before:
            return False
    return False


#: What asks of an exception nothing that it holds, or for text.
_ASKING = (MATCHES, SHOWN, TRACE, *map(n.Global, ("str", "repr", "type", "isinstance", "print", "bool", "id", "hash")))
_OF_ANY = ("__class__", "__traceback__", "__doc__")


class Hazard:
    """Whether something may be raised when part of what can be seen has been done."""

    def __init__(
        self, seen: frozenset[str], own: frozenset[str], careful: bool, follows: bool = False,
        apart: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.seen, self.own, self.careful, self.follows, self.apart = seen, own, careful, follows, apart

    def after(self, block: list[n.Stmt], dirty: bool) -> bool | None:
        """Whether something has been done after ``block`` if so (``dirty``) before it; None: it may raise meanwhile."""
        for s in block:
            found = self.statement(s, dirty)
            if found is None:
                return None
            dirty = found
        return dirty

    def statement(self, s: n.Stmt, dirty: bool) -> bool | None:
        t = type(s)
        if t is n.If:
            if dirty and may_raise(s):
                return None
            arms = [self.after(b, dirty) for b in walk.blocks(s)]
            return None if None in arms else any(arms)
        if t in (n.For, n.While, n.Try, n.With, n.Assert):
            for _ in range(2):  # a second iteration begins as the first one has ended
                if dirty and (t is not n.Try):
                    return None
                dirty = dirty or (type(s) is n.For and s.target in self.seen)
                for b in walk.blocks(s):
                    found = self.after(b, dirty)
                    if found is None:
                        return None
                    dirty = dirty or found
                if t not in (n.For, n.While):
                    break
            return dirty or bool(self.seen.intersection(walk.writes(s)))
        if dirty and may_raise(s):
            return None
        return dirty or self.shows(s)

    def shows(self, s: n.Stmt) -> bool:
        """Whether ``s`` does something that can be seen afterwards."""
        if not self.seen.isdisjoint(walk.writes(s)):
            return True
        if type(s) is n.Delete and type(s.target) is n.Name:
            return s.target.id in self.seen
        return changes(s, self.own) or (self.careful and self.calls(s))

    def hands_over(self, s: n.Stmt) -> bool:
        """Whether ``s`` may raise an exception that has to be followed."""
        if not self.follows or alone([s]) is None:
            return False
        call = type(s) in (n.Assign, n.Effect) and type(s.value) is n.Call and self.calls(s)  # type: ignore[attr-defined]
        return type(s) is n.Raise or call or (s.line in self.apart and may_raise(s))

    def calls(self, s: n.Stmt) -> bool:
        """Whether ``s`` calls a function of the user's that may change something: a setter or operator, too."""
        if type(s) in (n.Store, n.Update):
            return type(s.target) is n.Name or _root(s.target) not in self.own  # type: ignore[attr-defined]
        apart = s.line in self.apart and alone([s]) is not None and may_raise(s)
        call = s.value if type(s) in (n.Assign, n.Effect, n.Unpack) else None  # type: ignore[attr-defined]
        return apart or (type(call) is n.Call and may_change(call, self.own))

    def called_late(self, block: list[n.Stmt], begun: bool = False) -> bool:
        """Whether such a function is called when part of the body has been done.

        If it is left half-way, what it was given has been computed.
        """
        for s in block:
            if begun and self.calls(s):
                return True
            if any(self.called_late(b, begun) for b in walk.blocks(s)):
                return True
            begun = begun or not (type(s) is n.Comment or is_note(s))
        return False


def own_objects(block: list[n.Stmt]) -> frozenset[str]:
    """Names of containers that ``block`` itself makes, and binds to these names only."""
    made: set[str] = set()
    other: set[str] = set()
    for s in walk.statements(block):
        if type(s) is n.Assign and _is_fresh(s.value):
            made.add(s.target)
        elif type(s) is not n.Update:
            other.update(walk.writes(s))
            if type(s) is n.Assign and type(s.value) is n.Name:
                other.add(s.value.id)  # a second name for it
    return frozenset(made - other)


def _is_fresh(e: n.Expr) -> bool:
    return type(e) in (*_FRESH, n.Const) or (
        type(e) is n.Call and type(e.func) is n.Ref and e.func.value in (set, dict, list)
    )


def changes(s: n.Stmt, own: frozenset[str]) -> bool:
    """Whether ``s`` changes an object, other than one of ``own``."""
    if type(s) is n.Append:
        return s.target not in own
    if type(s) in (n.Store, n.Update):
        return _root(s.target) not in own  # type: ignore[attr-defined]
    if type(s) is n.Delete:
        return type(s.target) is not n.Name and _root(s.target) not in own
    if type(s) is n.Effect and type(s.value) is n.Call:
        call = s.value
        if type(call.func) is n.Attr and call.func.name in MUTATING:
            return _root(call.func) not in own or type(call.func.value) is not n.Name
        return any(type(a) is not n.Const for a in call.args) and call.func != n.Global("print")
    if type(s) in (n.Assign, n.Unpack) and type(s.value) is n.Call:  # type: ignore[attr-defined]
        call = s.value  # type: ignore[attr-defined]
        if type(call.func) is n.Attr and call.func.name in MUTATING:
            return _root(call.func) not in own
        return any(k == "out" for k, _ in call.kwargs)
    return False


def may_change(call: n.Call, own: frozenset[str]) -> bool:
    """Whether a function of the user's may be called here, with something that it can change."""
    given = [a for a in (*call.args, *(v for _, v in call.kwargs)) if not (type(a) is n.Name and a.id in own)]
    func = call.func
    if type(func) is n.Attr:
        owner = _root(func)
        if owner is None:  # a function of a module, or a method of a global object
            return False
        harmless = any(hasattr(cls, func.name) for cls in _LIBRARY) and func.name not in MUTATING
        return owner not in own and not harmless
    if type(func) is n.Global:
        known = getattr(builtins, func.id, next)
        makes = isinstance(known, type) and issubclass(known, BaseException)
        return (known is next or makes) and any(type(a) is not n.Const for a in given)
    return type(func) is n.Name or func in (ENTER, LEAVE)


def _root(e: n.Expr) -> str | None:
    while type(e) in (n.Attr, n.Index):
        e = e.value  # type: ignore[union-attr]
    return e.id if type(e) is n.Name else None


def may_raise(s: n.Stmt) -> bool:
    """Whether evaluating ``s`` itself may raise."""
    if type(s) is n.Assign:
        e = s.value
        if type(e) is n.Compare:
            return e.op not in ("is", "is not")
        return type(e) not in (n.Name, n.Const, n.Ref, n.TupleExpr, n.ListExpr, n.DictExpr, n.Closure) or any(
            type(c) in (n.Global, n.Star) for c in walk.children(e)
        )
    if type(s) is n.If:
        return type(s.test) is not n.Const
    return type(s) is not n.Comment and not is_note(s)


def is_note(s: n.Stmt) -> bool:
    """Whether ``s`` only notes what is put somewhere, or looks at what was: it does not count as something done."""
    call = s.value if type(s) is n.Effect else None
    return type(call) is n.Call and type(call.func) is n.Ref and any(call.func.value is fn for fn in NOTES)


class _Pieces:
    """The pieces of one ``Try``; a piece that fails leaves the block that they make together."""

    def __init__(self, s: n.Try, hazard: Hazard, names: Names, lines: frozenset[int]) -> None:
        self.whole, self.hazard, self.names, self.lines = s, hazard, names, lines
        self.failed = names.new("failed")
        self.error = names.new("error") if s.error is not None else None

    def cut(self) -> list[n.Stmt]:
        s = self.whole
        out = [n.Assign(self.failed, n.Const(False), line=s.line), *left_early(self.block(s.body), self.names)]
        handler = list(s.handler)
        if s.error is not None and self.error is not None:
            handler.insert(0, n.Assign(s.error, n.Name(self.error), line=s.line))
            out.insert(0, n.Assign(self.error, n.Const(None), line=s.line))
        return [*out, n.If(n.Name(self.failed), handler, s.orelse, line=s.line)]

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        piece: list[n.Stmt] = []
        for s in block:
            if walk.blocks(s) and type(s) is not n.Assert and self.shows_inside(s):
                out += self.protected(piece)
                piece = []
                out += self.descend(s)
                continue
            if self.hazard.hands_over(s) or (self.hazard.careful and self.hazard.calls(s)):
                out += self.protected(piece)
                piece = []
            piece.append(s)
            if self.hazard.shows(s) or self.hazard.hands_over(s):
                out += self.protected(piece)
                piece = []
        return out + self.protected(piece)

    def shows_inside(self, s: n.Stmt) -> bool:
        return any(self.hazard.shows(x) or self.hazard.hands_over(x) for x in parts([s]))

    def protected(self, piece: list[n.Stmt]) -> list[n.Stmt]:
        if not any(may_raise(s) for s in walk.statements(piece)):
            return piece
        line = piece[0].line
        note = n.Assign(self.failed, n.Const(True), line=line)
        handler: list[n.Stmt] = [note, n.Return(n.Const(None), line=line)]
        error = None
        if self.error is not None:
            error = self.names.new(self.error)
            handler.insert(0, n.Assign(self.error, n.Name(error), line=line))
        return [n.Try(piece, handler, [], self.whole.types, error, line=line)]

    def catching_all(self, s: n.Try) -> n.Try:
        """``s`` raising again what it doesn't catch, so that it can be caught in its handler."""
        if s.types is None:
            return s
        error = s.error or self.names.new("error")
        test = n.Name(self.names.temporary())
        made: list[n.Stmt] = []

        def operand(e: n.Expr) -> n.Expr:
            if type(e) in n.ATOMS:
                return e
            value = n.TupleExpr(tuple(map(operand, e.items))) if type(e) is n.TupleExpr else e
            made.append(n.Assign(self.names.temporary(), value, line=s.line))
            return n.Name(made[-1].target)  # type: ignore[attr-defined]

        caught = n.Assign(test.id, n.Call(MATCHES, (n.Name(error), operand(s.types))), line=s.line)
        again: list[n.Stmt] = [n.Raise(n.Name(error), None, line=s.line)]
        handler = [*made, caught, n.If(test, s.handler, again, line=s.line)]
        return n.Try(s.body, handler, s.orelse, None, error, line=s.line)

    def descend(self, s: n.Stmt) -> list[n.Stmt]:
        if type(s) is n.If:
            test = n.Name(self.names.temporary())
            tested = n.Assign(test.id, n.Unary("not", s.test), line=s.line)
            return [*self.protected([tested]), n.If(test, self.block(s.orelse), self.block(s.body), line=s.line)]
        if type(s) is n.For and s.line in self.lines and s.site != CUT:  # what was cut before is out of reach
            return Drawn(s, self.names, self.block, self.protected).loop()
        if type(s) is n.For and is_strict(s):
            return checked_after(s, self.names, self.descend, self.protected)
        if type(s) is n.For:
            before: list[n.Stmt] = []
            if type(s.iter) is n.Call and s.iter.func != n.Global("range"):
                before = self.protected([n.Assign(self.names.temporary(), s.iter, line=s.line)])
            return [*before, n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, line=s.line, site=CUT)]
        if type(s) is n.While:
            test = n.Name(self.names.temporary())
            tested = n.Assign(test.id, n.Unary("not", s.test), line=s.line)
            leave = n.If(test, [n.Break(line=s.line)], self.block(s.body), line=s.line)
            return [n.While([], n.Const(True), [*self.block([*s.test_body, tested]), leave], s.stop, line=s.line)]
        if type(s) is n.Try:
            s = self.catching_all(s)
            return [n.Try(s.body, self.block(s.handler), self.block(s.orelse), None, s.error, line=s.line)]
        raise AssertionError(f"{type(s).__name__} inside a body that is cut")
