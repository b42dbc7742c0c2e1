"""Bodies of generator functions in which each ``yield`` stands where the generator can go on: source in, source out.

A ``yield`` inside of an expression gets a statement of its own (:mod:`thunkad.normal.operands`), ``with`` becomes the
``try`` that it stands for, and a clause of ``try`` that yields follows the statement::

    try:                            caught = 0
        x = f()                     try:
    except KeyError as e:               x = f()
        yield e                     except KeyError as error:
                                        raised = error
                                        caught = 1
                                    if caught == 1:
                                        e = raised
                                        yield e
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir.fresh import Names
from thunkad.normal.code_text import CodeText
from thunkad.normal.operands import Operands, moves
from thunkad.normal.plain_managers import swallows_nothing
from thunkad.normal.scope import FUNCTIONS, Scope
from thunkad.normal.scope_walk import fields
from thunkad.normal.yields import YIELDS, has_yield

_WITH_VALUE = ("Expr", "Assign", "AnnAssign", "AugAssign", "Return")
_HEADERS = {"If": "test", "For": "iter", "Match": "subject", "Raise": "exc"}


class Resumable:
    """Writes one body; the variables that it makes are variables of ``scope``.

    Parameters
    ----------
    helpers : dict of str to str
        How ``enter``, ``leave``, ``shown`` and ``traceback_of`` are spelled.
    """

    def __init__(
        self, scope: Scope, written: CodeText, fresh: Names, helpers: dict[str, str], refuse: Callable[..., Any]
    ) -> None:
        self.scope, self.written, self.fresh, self.helpers, self.refuse = scope, written, fresh, helpers, refuse
        self.settled = Operands(scope, written, self.variable).settled

    def variable(self, wish: str) -> str:
        name = self.fresh.new(wish)
        self.scope.bound.add(name)
        return name

    def code(self, text: str, **parts: Any) -> list[Any]:
        """Statements; a name that is one of ``parts`` stands for that node, or for these statements."""
        blocks = {name: part for name, part in parts.items() if isinstance(part, list)}
        nodes = {name: part for name, part in parts.items() if name not in blocks}
        return _with_blocks(self.written.code(text, **nodes), blocks)

    def block(self, body: list[Any]) -> list[Any]:
        return [x for s in body for x in self.statement(s)]

    def statement(self, s: Any) -> list[Any]:
        kind = type(s).__name__
        if kind in FUNCTIONS or kind == "ClassDef":
            return [s]
        self.written.line = s
        out: list[Any] = []
        if kind == "Assert" and moves(s.test):
            message = (
                self.written.expr("AssertionError()")
                if s.msg is None
                else self.written.expr("AssertionError(_m)", _m=s.msg)
            )
            (s,) = self.code("if not _test:\n raise _error", _test=s.test, _error=message)
            kind = "If"
        if kind == "While" and moves(s.test):
            (s,) = self.code(
                "while True:\n if not _test:\n  _else\n  break\n _body", _test=s.test, _else=s.orelse, _body=s.body
            )
        elif kind == "With" and len(s.items) > 1 and has_yield(s):
            s.items, rest = s.items[:1], s.items[1:]
            (inner,) = self.written.code("with _m:\n pass")
            inner.items, inner.body, s.body = rest, s.body, [inner]
        if kind == "AugAssign" and type(s.target).__name__ != "Name" and moves(s.value) and not _is_cut(s.target):
            after = self.update(s, out)
            return [*out, *after]
        self.header(s, kind, out)
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, name, None), list):
                setattr(s, name, self.block(getattr(s, name)))
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = self.block(part.body)
        self.written.line = s
        if kind == "With" and has_yield(*s.body):
            return [*out, *self.with_(s)]
        if kind == "Try" and has_yield(*s.finalbody, *s.handlers):
            return [*out, *self.try_(s)]
        return [*out, s]

    def header(self, s: Any, kind: str, out: list[Any]) -> None:
        """Move what has to be a statement out of the expressions that ``s`` begins with."""
        value = getattr(s, "value", None)
        if kind in _WITH_VALUE and type(value).__name__ in YIELDS:
            value.value = value.value and self.settled(value.value, out)  # type: ignore[union-attr]
        elif kind in _WITH_VALUE:
            s.value = value and self.settled(value, out)
        elif kind == "With":
            s.items[0].context_expr = self.settled(s.items[0].context_expr, out)
        elif kind in _HEADERS and getattr(s, _HEADERS[kind]) is not None:
            setattr(s, _HEADERS[kind], self.settled(getattr(s, _HEADERS[kind]), out))

    def update(self, s: Any, out: list[Any]) -> list[Any]:
        """``x[k] += f((yield y))``: the item is read before, and put after."""
        owner, old = self.variable("owner"), self.variable("old")
        out += self.code(f"{owner} = _value", _value=s.target.value)
        item = (
            f"{owner}.{s.target.attr}" if type(s.target).__name__ == "Attribute" else f"{owner}[{self.variable('key')}]"
        )
        if type(s.target).__name__ == "Subscript":
            out += self.code(f"{item[len(owner) + 1 : -1]} = _key", _key=s.target.slice)
        out += self.code(f"{old} = {item}")
        s.target, s.value = self.code(f"{old} = 0")[0].targets[0], self.settled(s.value, out)
        return [s, *self.code(f"{item} = {old}")]

    # ------------------------------------------------------------ with and try

    def with_(self, s: Any) -> list[Any]:
        (item,) = s.items
        manager, entered, error = (self.variable(x) for x in ("manager", "entered", "error"))
        ended = f"{self.helpers['leave']}({manager}, None, None, None)"
        told = f"{self.helpers['shown']}({error})"
        what = f"type({told}), {told}, {self.helpers['traceback_of']}({told})"
        failed = f"if not {self.helpers['leave']}({manager}, {what}):\n   raise"
        body = s.body
        if item.optional_vars is not None:
            (bound,) = self.code(f"_target = {entered}")
            bound.targets = [item.optional_vars]
            body = [bound, *body]
        if swallows_nothing(item.context_expr):
            text = f"try:\n _body\nfinally:\n {ended}"
        elif not any(map(leaves, body)):
            text = f"try:\n _body\nexcept BaseException as {error}:\n  {failed}\nelse:\n {ended}"
        else:
            left = self.variable("left")
            text = (
                f"{left} = False\ntry:\n try:\n  _body\n except BaseException as {error}:\n"
                f"  {left} = True\n  {failed}\nfinally:\n if not {left}:\n  {ended}"
            )
        begun = f"{manager} = _manager\n{entered} = {self.helpers['enter']}({manager})\n"
        return self.code(begun + text, _manager=item.context_expr, _body=body)

    def try_(self, s: Any) -> list[Any]:
        if not has_yield(*s.finalbody):
            return self.clauses(s)
        protected = s.body
        if s.handlers:
            final, s.finalbody = s.finalbody, []
            protected = self.clauses(s) if has_yield(*s.handlers) else [s]
            (s,) = self.written.code("try:\n pass\nfinally:\n pass")
            s.finalbody = final
        if any(leaves(x) for x in protected):
            self.refuse(
                s.finalbody[0],
                "a 'yield' in a 'finally' clause can't be differentiated where 'return', 'break' or 'continue' leaves "
                "the 'try' and the generator is kept",
                "Note in a variable what has happened, and leave after the 'try' statement.",
            )
        raised, error = self.variable("raised"), self.variable("error")
        return self.code(
            f"{raised} = None\ntry:\n _body\nexcept BaseException as {error}:\n {raised} = {error}\n_final\n"
            f"if {raised} is not None:\n raise {raised}",
            _body=protected, _final=s.finalbody,
        )  # fmt: skip

    def clauses(self, s: Any) -> list[Any]:
        """``try`` with the bodies of its handlers behind it."""
        caught, raised = self.variable("caught"), self.variable("raised")
        after: list[Any] = []
        for k, handler in reversed(list(enumerate(s.handlers, 1))):
            self.written.line = handler
            name = self.variable("error")
            body = _raising(handler.body, self.written, raised)
            if handler.name is not None:
                body = [*self.code(f"{handler.name.id} = {raised}"), *body]
            after = self.code(
                f"if {caught} == {k}:\n _body\nelse:\n _rest", _body=body, _rest=after or self.code("pass")
            )
            (other,) = self.code(f"try:\n pass\nexcept _type as {name}:\n {raised} = {name}\n {caught} = {k}")
            handler.name, handler.body = other.handlers[0].name, other.handlers[0].body
        self.written.line = s
        final, s.finalbody = s.finalbody, []
        out = [*self.code(f"{caught} = 0"), s, *after]
        return self.code("try:\n _body\nfinally:\n _final", _body=out, _final=final) if final else out


def _with_blocks(body: list[Any], blocks: dict[str, list[Any]]) -> list[Any]:
    """``body`` with blocks in place of the statements that are their names."""
    out: list[Any] = []
    for s in body:
        name = getattr(getattr(s, "value", None), "id", None) if type(s).__name__ == "Expr" else None
        if name in blocks:
            out += blocks[name]
            continue
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list):
                setattr(s, field, _with_blocks(getattr(s, field), blocks))
        out.append(s)
    return out


def leaves(s: Any, in_loop: bool = False) -> bool:
    """Whether a statement holds one that leaves what it stands in without raising."""
    kind = type(s).__name__
    if kind in FUNCTIONS or kind == "ClassDef":
        return False
    if kind in ("Return", "Break", "Continue"):
        return kind == "Return" or not in_loop
    return any(leaves(x, in_loop or kind in ("For", "While")) for x in fields(s))


def _is_cut(target: Any) -> bool:
    """Whether a target of an assignment is a slice."""
    return any(type(x).__name__ == "Slice" for x in fields(target)) or any(
        type(x).__name__ == "Slice" for part in fields(target) for x in fields(part)
    )


def _raising(body: list[Any], written: CodeText, raised: str) -> list[Any]:
    """The body of a handler, raising again by name what was caught."""
    for s in body:
        kind = type(s).__name__
        if kind == "Raise" and s.exc is None:
            s.exc = written.expr(raised)
        elif kind not in FUNCTIONS:
            for name in ("body", "orelse", "finalbody"):
                if isinstance(getattr(s, name, None), list):
                    _raising(getattr(s, name), written, raised)
            for case in getattr(s, "cases", ()):
                _raising(case.body, written, raised)
    return body
