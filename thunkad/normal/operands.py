"""What an expression of a generator evaluates before a ``yield`` in it, in statements of its own.

::

    y = f(a) * (yield b)            t1 = f(a)
                                    t2 = yield b
                                    y = t1 * t2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from thunkad.normal.code_text import CodeText
from thunkad.normal.scope import COMPREHENSIONS, FUNCTIONS, Scope
from thunkad.normal.scope_walk import fields
from thunkad.normal.yields import YIELDS
from thunkad.tree.parse import gast

#: Parts of an expression that are no values themselves.
_PARTS = ("Slice", "keyword", "FormattedValue", "JoinedStr", "comprehension")


def moves(e: Any) -> bool:
    """Whether there is something in an expression that has to become a statement: a ``yield``, or ``:=``."""
    kind = type(e).__name__
    if kind in FUNCTIONS:
        return False
    if kind in COMPREHENSIONS:
        return moves(e.generators[0].iter)
    return kind in YIELDS or kind == "NamedExpr" or any(map(moves, fields(e)))


class Operands:
    """Takes expressions apart; the names that it makes are variables of ``scope``."""

    def __init__(self, scope: Scope, written: CodeText, variable: Callable[[str], str]) -> None:
        self.scope, self.written, self.variable = scope, written, variable

    def settled(self, e: Any, out: list[Any]) -> Any:
        """``e`` as an expression without a ``yield``, to be evaluated behind the statements that ``out`` is given."""
        kind = type(e).__name__
        if not moves(e):
            return e
        if kind in YIELDS:
            e.value = e.value if e.value is None else self.settled(e.value, out)
            return self.named(e, out)
        if kind == "NamedExpr":
            value = self.named(self.settled(e.value, out), out)
            out += self.written.code(f"{e.target.id} = _value", _value=value)
            return value
        if kind == "BoolOp":
            return self.in_turn(e.values, type(e.op).__name__ == "And", out)
        if kind == "IfExp":
            return self.chosen(e, out)
        if kind == "Compare" and len(e.ops) > 1:
            return self.chain(e, out)
        slots = list(_slots(e))
        last = max(k for k, slot in enumerate(slots) if moves(slot.value))
        for k, slot in enumerate(slots[: last + 1]):
            slot.value = self.settled(slot.value, out)
            if k < last:
                slot.value = self.fixed(slot.value, out)
        return e

    def named(self, e: Any, out: list[Any]) -> Any:
        """The value of ``e`` under a name of its own."""
        name = self.variable("operand")
        out += self.written.code(f"{name} = _value", _value=e)
        return self.written.expr(name)

    def fixed(self, e: Any, out: list[Any]) -> Any:
        """The value that ``e`` has now; a method stays one of its owner."""
        kind = type(e).__name__
        if kind == "Constant" or (kind == "Name" and self.scope.owner(e.id) is None):
            return e
        if kind == "Starred":
            e.value = self.named(self.written.expr("(*_items,)", _items=e.value), out)
            return e
        if kind == "Attribute":
            e.value = self.fixed(e.value, out)
            return e if getattr(e, "is_called", False) else self.named(e, out)
        return self.named(e, out)

    def in_turn(self, values: list[Any], while_true: bool, out: list[Any]) -> Any:
        """``a and b``, or ``a or b``"""
        first, *rest = values
        found = self.named(self.settled(first, out), out)
        if rest:
            inner: list[Any] = []
            value = self.in_turn(rest, while_true, inner)
            inner += self.written.code(f"{found.id} = _value", _value=value)
            out.append(self.choice(self.written.expr(found.id if while_true else f"not {found.id}"), inner, []))
        return found

    def chosen(self, e: Any, out: list[Any]) -> Any:
        """``a if test else b``"""
        name, arms = self.variable("operand"), []
        test = self.settled(e.test, out)
        for value in (e.body, e.orelse):
            arm: list[Any] = []
            value = self.settled(value, arm)
            arms.append(arm + self.written.code(f"{name} = _value", _value=value))
        out.append(self.choice(test, *arms))
        return self.written.expr(name)

    def chain(self, e: Any, out: list[Any]) -> Any:
        """``a < b < c``"""
        left = self.fixed(self.settled(e.left, out), out)
        found, block = self.variable("operand"), out
        for k, (op, right) in enumerate(zip(e.ops, e.comparators)):
            if k:
                inner: list[Any] = []
                block.append(self.choice(self.written.expr(found), inner, []))
                block = inner
            right = self.fixed(self.settled(right, block), block)
            test = self.written.expr("_left == _right", _left=left, _right=right)
            test.ops = [op]
            block += self.written.code(f"{found} = _test", _test=test)
            left = right
        return self.written.expr(found)

    def choice(self, test: Any, body: list[Any], orelse: list[Any]) -> Any:
        s = self.written.code("if _test:\n pass", _test=test)[0]
        s.body, s.orelse = body, orelse
        return s


class _Slot:
    """The place of an operand in an expression."""

    def __init__(self, owner: Any, name: str, index: int | None) -> None:
        self.owner, self.name, self.index = owner, name, index

    @property
    def value(self) -> Any:
        found = getattr(self.owner, self.name)
        return found if self.index is None else found[self.index]

    @value.setter
    def value(self, new: Any) -> None:
        if self.index is None:
            setattr(self.owner, self.name, new)
        else:
            getattr(self.owner, self.name)[self.index] = new


def _slots(e: Any) -> Iterator[_Slot]:
    """The operands of an expression in the order in which they are evaluated."""
    kind = type(e).__name__
    if kind in COMPREHENSIONS:
        yield _Slot(e.generators[0], "iter", None)
        return
    places: list[tuple[str, int | None]] = []
    for name in e._fields:
        value = getattr(e, name, None)
        if isinstance(value, list):
            places += [(name, k) for k in range(len(value))]
        elif hasattr(value, "_fields"):
            places.append((name, None))
    if kind == "Dict":
        places = [(name, k) for k in range(len(e.keys)) for name in ("keys", "values")]
    for name, index in places:
        slot = _Slot(e, name, index)
        part = slot.value
        sliced = kind == "Subscript" and type(part).__name__ == "Tuple" and name == "slice"
        if type(part).__name__ in _PARTS or sliced:
            yield from _slots(part)
        elif hasattr(part, "_fields") and isinstance(part, gast.expr):
            if kind == "Call" and name == "func":
                part.is_called = True
            yield slot
