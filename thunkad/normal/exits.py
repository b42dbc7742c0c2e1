"""One exit for every block: ``return`` only as the last statement, loops left only through their ``stop`` name.

::

    for x in xs:                        returned = False
        if x > y:                       for x in xs:  # until stop
            return x                        stop = False
        y = f(y)                            if x > y:
    return y                                    result = x
                                                returned = True
                                                stop = True
                                            else:
                                                y = f(y)
                                        if returned: pass
                                        else:
                                            result = y
                                        return result

What follows a statement that may leave is pushed into the arm that goes on; where both arms may go on, a flag guards
it.  Nothing is ever duplicated.
"""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.records import field, record
from thunkad.runtime.unbound import Unbound

TRUE, FALSE = n.Const(True), n.Const(False)
UNBOUND = n.Ref("Unbound", Unbound)


def single_exit(function: n.Function, names: Names | None = None) -> n.Function:
    """``function`` without ``Break``, ``Continue`` and inner ``Return``; the functions that it makes likewise."""
    names = names or Names(walk.taken_names(function))
    body, result = single_exit_block(function.body, names)
    body = [_nested(s) for s in body]
    line = body[-1].line if body else function.line
    for s in reversed(function.body):
        if type(s) is n.Return:
            line = s.line
            break
    body.append(n.Return(result, line=line))
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


def single_exit_block(block: list[n.Stmt], names: Names) -> tuple[list[n.Stmt], n.Expr]:
    """The statements of a function body without their returns, and the atom that holds the result."""
    if block and type(block[-1]) is n.Return and not any(_leaving(s) for s in block[:-1]):
        exits = _Exits(names, "")
        value = block[-1].value if exits.falls(block[:-1]) else n.Const(None)
        return exits.block(block[:-1], _Place()), value
    exits = _Exits(names, names.new("result"))
    if exits.falls(block):
        block = [*block, n.Return(n.Const(None), line=block[-1].line if block else 0)]
    out = exits.block(block, _Place())
    if not exits.returns:  # every path raises or goes on for ever
        names.taken.discard(exits.result)
        return out, n.Const(None)
    if exits.returned is not None:  # the flag says whether there is a result, so nothing has to test that again
        out.insert(0, n.Assign(exits.result, UNBOUND, line=block[0].line))
    if out and type(out[-1]) is n.Assign and out[-1].target == exits.result and exits.returns == 1:
        value = out.pop().value  # type: ignore[attr-defined]
        names.taken.discard(exits.result)
        return out, value
    return out, n.Name(exits.result)


def left_early(block: list[n.Stmt], names: Names) -> list[n.Stmt]:
    """``block`` without its returns, which only leave it."""
    return _Exits(names, "").block(block, _Place())


def _nested(s: n.Stmt) -> n.Stmt:
    """``s`` with single exits in the functions that it makes."""
    for block in walk.blocks(s):
        block[:] = [_nested(x) for x in block]
    if type(s) is n.Assign and type(s.value) is n.Closure:
        c = s.value
        s.value = n.Closure(single_exit(c.function), c.captures, c.defaults, c.kw_defaults)
    return s


@record(slots=True)
class _Jump(n.Stmt):
    """The function has returned inside the loop just left: leave this block too."""


@record
class _Place:
    """Where a block stands: the ``stop`` name of its loop, and the flags to set by whatever leaves it."""

    stop: str | None = None
    flags: tuple[str, ...] = field(default=())


_LEAVES = (n.Return, n.Break, n.Continue, _Jump)


def _leaving(s: n.Stmt) -> frozenset[type]:
    """The kinds of exits by which ``s`` may be left other than by falling through."""
    if type(s) in _LEAVES:
        return frozenset((type(s),))
    if type(s) is n.If:
        return frozenset(k for b in (s.body, s.orelse) for x in b for k in _leaving(x))
    if type(s) in (n.With, n.Try):
        return frozenset(k for b in walk.blocks(s) for x in b for k in _leaving(x))
    if type(s) in (n.For, n.While):
        inside = frozenset(k for x in s.body for k in _leaving(x))  # type: ignore[attr-defined]
        return inside & {n.Return}
    return frozenset()


def leaving(block: list[n.Stmt]) -> frozenset[type]:
    """The kinds of exits by which ``block`` may be left other than by falling through."""
    return frozenset(k for s in block for k in _leaving(s))


class _Exits:
    def __init__(self, names: Names, result: str) -> None:
        self.names = names
        self.result = result
        self.returns = 0
        self.returned: str | None = None
        self._in_loop = 0
        self._kinds: dict[int, tuple[n.Stmt, frozenset[type]]] = {}
        self._falls: dict[int, tuple[n.Stmt, bool]] = {}

    # ------------------------------------------------------------ facts

    def leaving(self, s: n.Stmt) -> frozenset[type]:
        """:func:`_leaving`, remembered."""
        known = self._kinds.get(id(s))
        if known is None:
            kinds: frozenset[type]
            if type(s) in (n.If, n.With, n.Try):
                kinds = frozenset(k for b in walk.blocks(s) for x in b for k in self.leaving(x))
            elif type(s) in (n.For, n.While):
                body = s.body  # type: ignore[attr-defined]
                kinds = frozenset(k for x in body for k in self.leaving(x)) & {n.Return, _Jump}
            else:
                kinds = _leaving(s)
            known = self._kinds[id(s)] = (s, kinds)
        return known[1]

    def falls(self, block: list[n.Stmt]) -> bool:
        """Whether control may reach the end of ``block``."""
        return all(self.goes_on(s) for s in block)

    def goes_on(self, s: n.Stmt) -> bool:
        known = self._falls.get(id(s))
        if known is None:
            t = type(s)
            if t in _LEAVES or t is n.Raise:
                result = False
            elif t is n.If:
                result = self.falls(s.body) or self.falls(s.orelse)  # type: ignore[attr-defined]
            elif t is n.With:
                result = self.falls(s.body)  # type: ignore[attr-defined]
            elif t is n.Try:
                result = self.falls(s.handler) or self.completes(s)  # type: ignore[attr-defined,arg-type]
            elif t is n.While and _always(s.test) and s.stop is None:  # type: ignore[attr-defined]
                kinds = {k for x in s.body for k in self.leaving(x)}  # type: ignore[attr-defined]
                result = n.Break in kinds
            else:
                result = True
            known = self._falls[id(s)] = (s, result)
        return known[1]

    def completes(self, s: n.Try) -> bool:
        """Whether control may reach the end of ``s`` without an exception."""
        return self.falls(s.body) and self.falls(s.orelse)

    # ------------------------------------------------------------ rewriting

    def block(self, block: list[n.Stmt], place: _Place) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for k, s in enumerate(block):
            rest = block[k + 1 :]
            if type(s) in _LEAVES:
                out += self._leave(s, place)
                return out
            if type(s) in (n.For, n.While):
                returns = bool(self.leaving(s))
                goes_on = self.goes_on(s)
                out += self._loop(s)
                if returns:
                    jump = _Jump(line=s.line)
                    guard = n.If(n.Name(self._returned()), [jump], [], line=s.line) if goes_on else jump
                    out += self.block([guard, *rest], place)
                    return out
            elif type(s) is n.If:
                if self.leaving(s):
                    out += self._choice(s, rest, place)
                    return out
                goes_on = self.goes_on(s)
                out.append(
                    n.If(s.test, self.block(s.body, place), self.block(s.orelse, place), line=s.line, site=s.site)
                )
            elif type(s) in (n.With, n.Try):
                if self.leaving(s):
                    out += self._guarded(s, rest, place)
                    return out
                goes_on = self.goes_on(s)
                out.append(self._inside(s, place))
            else:
                goes_on = self.goes_on(s)
                out.append(s)
            if not goes_on:
                return out
        return out

    def _choice(self, s: n.If, rest: list[n.Stmt], place: _Place) -> list[n.Stmt]:
        body, orelse = s.body, s.orelse
        body_falls, orelse_falls = self.falls(body), self.falls(orelse)
        before: list[n.Stmt] = []
        after: list[n.Stmt] = []
        inner = place
        if rest and body_falls and orelse_falls:
            flag = self.names.new("leave")
            before = [n.Assign(flag, FALSE, line=s.line)]
            inner = _Place(place.stop, (*place.flags, flag))
            after = [n.If(n.Name(flag), [], self.block(rest, place), line=s.line)]
        elif body_falls:
            body = [*body, *rest]
        elif orelse_falls:
            orelse = [*orelse, *rest]
        choice = n.If(s.test, self.block(body, inner), self.block(orelse, inner), line=s.line, site=s.site)
        return [*before, choice, *after]

    def _guarded(self, s: n.Stmt, rest: list[n.Stmt], place: _Place) -> list[n.Stmt]:
        """A ``with`` or ``try`` that may be left: what follows it must not come under its protection."""
        before: list[n.Stmt] = []
        skips: tuple[str, ...] = ()  # a flag that keeps the ``else`` from running
        if type(s) is n.Try:
            if s.body and type(s.body[-1]) in _LEAVES:  # leaving raises nothing, so it may be done in the ``else``
                s = n.Try(s.body[:-1], s.handler, [s.body[-1]], s.types, s.error, line=s.line)
            if any(self.leaving(x) for x in s.body):
                if s.orelse:
                    skips = (self.names.new("leave"),)
                    before.append(n.Assign(skips[0], FALSE, line=s.line))
                    orelse: list[n.Stmt] = [n.If(n.Name(skips[0]), [], s.orelse, line=s.line)]
                    s = n.Try(s.body, s.handler, orelse, s.types, s.error, line=s.line)
            elif not self.falls(s.handler) and self.falls(s.orelse):
                s = n.Try(s.body, s.handler, [*s.orelse, *rest], s.types, s.error, line=s.line)
                rest = []
        after: list[n.Stmt] = []
        inner = place
        if rest and self.goes_on(s):
            flag = self.names.new("leave")
            before.append(n.Assign(flag, FALSE, line=s.line))
            inner = _Place(place.stop, (*place.flags, flag))
            after = [n.If(n.Name(flag), [], self.block(rest, place), line=s.line)]
        return [*before, self._inside(s, inner, skips), *after]

    def _inside(self, s: n.Stmt, place: _Place, skips: tuple[str, ...] = ()) -> n.Stmt:
        """``s`` with its blocks rewritten."""
        if type(s) is n.With:
            return n.With(s.item, s.target, self.block(s.body, place), line=s.line)
        assert type(s) is n.Try
        body = self.block(s.body, _Place(place.stop, (*place.flags, *skips)))
        return n.Try(body, self.block(s.handler, place), self.block(s.orelse, place), s.types, s.error, line=s.line)

    def _leave(self, s: n.Stmt, place: _Place) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        if type(s) is n.Return:
            self.returns += 1
            if self.result:
                out.append(n.Assign(self.result, s.value, line=s.line))
            if self._in_loop:
                out.append(n.Assign(self._returned(), TRUE, line=s.line))
        if place.stop is not None and type(s) is not n.Continue:
            out.append(n.Assign(place.stop, TRUE, line=s.line))
        out += [n.Assign(flag, TRUE, line=s.line) for flag in place.flags]
        return out

    def _loop(self, s: n.Stmt) -> list[n.Stmt]:
        assert isinstance(s, (n.For, n.While))
        kinds = {k for x in s.body for k in self.leaving(x)}
        before: list[n.Stmt] = []
        stop = s.stop
        read_after = stop is not None
        if kinds & {n.Break, n.Return, _Jump}:
            stop = stop or self.names.new("stop")
        if n.Return in kinds and not self._in_loop:
            before.append(n.Assign(self._returned(), FALSE, line=s.line))
        self._in_loop += 1
        if stop is None or not kinds:
            body = self.block(s.body, _Place())
        else:
            body = [n.Assign(stop, FALSE, line=s.line), *self.block(s.body, _Place(stop))]
            if read_after:
                before.append(n.Assign(stop, FALSE, line=s.line))
        self._in_loop -= 1
        if type(s) is n.For:
            return [*before, n.For(s.target, s.iter, body, stop, s.count, line=s.line, site=s.site)]
        assert isinstance(s, n.While)
        return [*before, n.While(s.test_body, s.test, body, stop, line=s.line, site=s.site)]

    def _returned(self) -> str:
        if self.returned is None:
            self.returned = self.names.new("returned")
        return self.returned


def _always(test: n.Expr) -> bool:
    return type(test) is n.Const and bool(test.value)
