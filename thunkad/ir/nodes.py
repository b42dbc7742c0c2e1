"""Nodes of the intermediate representation (IR).

Expressions are immutable and hashable; statements are mutable records in plain lists.  An expression may nest;
*normal form* (see :mod:`thunkad.ir.check`) demands that operands are atoms (``Name``, ``Const``, ``Global``, ``Ref``).

Three ways to name a value:

``Name``    a local variable of the function being compiled;
``Global``  a global, builtin or closure variable of the user's function, read live under the user's own spelling;
``Ref``     an object that the compiler itself refers to (a runtime helper, a name of a rule's module, a compiled
            callee).  The emitter chooses how it is spelled, so it can never collide with a name of the user's.
"""

from __future__ import annotations

from typing import Any, Union

from thunkad.records import field, record

# ---------------------------------------------------------------- expressions


@record(frozen=True, slots=True)
class Name:
    """A local variable."""

    id: str


@record(frozen=True, slots=True, eq=False)
class Const:
    """A literal: number, str, bytes, bool, None or Ellipsis.  ``1``, ``1.0`` and ``True`` are different constants."""

    value: Any

    def _key(self) -> tuple[type, str]:
        return type(self.value), repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@record(frozen=True, slots=True)
class Global:
    """A global, builtin or closure variable of the user's."""

    id: str


@record(frozen=True, slots=True, eq=False)
class Ref:
    """A pinned object; ``name`` is the spelling that the emitter tries first."""

    name: str
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Compound:
    """An expression with parts; the names that it reads are remembered here once they were asked for."""

    __slots__ = ("names",)

    names: tuple[str, ...]


@record(frozen=True, slots=True)
class Attr(Compound):
    """``value.name``"""

    value: Expr
    name: str


@record(frozen=True, slots=True)
class Index(Compound):
    """``value[index]``"""

    value: Expr
    index: Expr


@record(frozen=True, slots=True)
class Slice(Compound):
    """``lower:upper:step`` in an index."""

    lower: Expr | None = None
    upper: Expr | None = None
    step: Expr | None = None


@record(frozen=True, slots=True)
class Unary(Compound):
    """``op operand``"""

    op: str  # '-', '+', '~', 'not'
    operand: Expr


@record(frozen=True, slots=True)
class Binary(Compound):
    """``left op right``"""

    op: str  # '+', '-', '*', '/', '//', '%', '**', '@', '<<', '>>', '|', '^', '&'
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class Inplace(Compound):
    """The value of ``left`` after ``left op= right``: the same object, changed, for an array; a new number else."""

    op: str
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class Compare(Compound):
    """``left op right``, a comparison."""

    op: str  # '<', '<=', '==', '!=', '>', '>=', 'is', 'is not', 'in', 'not in'
    left: Expr
    right: Expr


@record(frozen=True, slots=True)
class Star(Compound):
    """``*value`` in a call or in a display."""

    value: Expr


@record(frozen=True, slots=True)
class Call(Compound):
    """``func(*args, **kwargs)``; a keyword of ``None`` is ``**value``."""

    func: Expr
    args: tuple[Expr, ...] = ()
    kwargs: tuple[tuple[str | None, Expr], ...] = ()


@record(frozen=True, slots=True)
class TupleExpr(Compound):
    """``(a, b)``"""

    items: tuple[Expr, ...]


@record(frozen=True, slots=True)
class ListExpr(Compound):
    """``[a, b]``"""

    items: tuple[Expr, ...]


@record(frozen=True, slots=True)
class SetExpr(Compound):
    """``{a, b}``"""

    items: tuple[Expr, ...]


@record(frozen=True, slots=True)
class DictExpr(Compound):
    """A key of ``None`` is ``**value``."""

    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]


@record(frozen=True, slots=True)
class IfExp(Compound):
    """``body if test else orelse``; generated code only, never in normal form."""

    test: Expr
    body: Expr
    orelse: Expr


@record(frozen=True, slots=True)
class Lambda(Compound):
    """A function expression; generated code only (thunks of outlined code), never in normal form."""

    params: tuple[str, ...]
    body: Expr


@record(frozen=True, slots=True, eq=False)
class Closure(Compound):
    """A function made inside the user's function: ``function`` takes the captured values before its own arguments.

    ``defaults`` belong to its last positional parameters, ``kw_defaults`` to keyword-only parameters, by name.
    """

    function: Function
    captures: tuple[Expr, ...]
    defaults: tuple[Expr, ...] = ()
    kw_defaults: tuple[tuple[str, Expr], ...] = ()


Expr = Union[
    Name, Const, Global, Ref, Attr, Index, Slice, Unary, Binary, Inplace, Compare, Star, Call,
    TupleExpr, ListExpr, SetExpr, DictExpr, IfExp, Lambda, Closure,
]  # fmt: skip
ATOMS = (Name, Const, Global, Ref)

# ---------------------------------------------------------------- statements


@record(slots=True)
class Stmt:
    """``line``: where in the user's file the statement came from (0: nowhere); ``site`` is filled by resolution."""

    line: int = field(default=0, kw_only=True)
    site: Any = field(default=None, kw_only=True, repr=False, compare=False)


@record(slots=True)
class Assign(Stmt):
    """``target = value``"""

    target: str
    value: Expr


@record(slots=True)
class Unpack(Stmt):
    """``a, b = value``: exactly as many elements as targets."""

    targets: tuple[str, ...]
    value: Expr


@record(slots=True)
class Store(Stmt):
    """``x[i] = value`` or ``x.a = value``; ``past``: by ``object.__setattr__``, past what the class does."""

    target: Index | Attr
    value: Expr
    past: bool = False


@record(slots=True)
class Update(Stmt):
    """``x[i] op= value`` or ``x.a op= value``, kept whole: its meaning depends on the kind of the target.

    A ``Name`` as target stands only between lowering and ``versions``, which makes ``x_1 = Inplace(op, x, value)`` of
    it.
    """

    target: Name | Index | Attr
    op: str
    value: Expr


@record(slots=True)
class Append(Stmt):
    """``target.append(value)`` on a list made in this function."""

    target: str
    value: Expr


@record(slots=True)
class Delete(Stmt):
    """``del target``"""

    target: Name | Index | Attr


@record(slots=True)
class Effect(Stmt):
    """An expression evaluated for its effect."""

    value: Expr


@record(slots=True)
class If(Stmt):
    """``if test: body else: orelse``"""

    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@record(slots=True)
class For(Stmt):
    """``for target in iter: body``.

    ``stop``: a name that the body assigns; the loop is left after an iteration in which it is true (the only ``break``
    there is).  ``count``: a name that holds the number of the iteration (0, 1, …), or None.
    """

    target: str
    iter: Expr
    body: list[Stmt]
    stop: str | None = None
    count: str | None = None


@record(slots=True)
class While(Stmt):
    """``while True: test_body; if not test: break; body; if stop: break``."""

    test_body: list[Stmt]
    test: Expr
    body: list[Stmt]
    stop: str | None = None


@record(slots=True)
class With(Stmt):
    """``with item as target: body``; nothing that the body raises is swallowed by the manager."""

    item: Expr
    target: str | None
    body: list[Stmt]


@record(slots=True)
class Try(Stmt):
    """``try: body``, ``except types as error: handler``, ``else: orelse``.

    ``types``: an expression over names of outside the function, evaluated when something was raised; None: whatever was
    raised, and ``handler`` raises it again if it is not meant.  Once :mod:`thunkad.normal.guarded` is done, what the
    body binds is read in ``orelse`` and after it only, so the two ways through a ``Try`` are like the arms of an
    ``If``.  ``raised``: a name that tells which way was gone; generated code only.  ``shielded``: errors of this
    library pass.
    """

    body: list[Stmt]
    handler: list[Stmt]
    orelse: list[Stmt]
    types: Expr | None = None
    error: str | None = None
    raised: str | None = None
    shielded: bool = False


@record(slots=True)
class SetGlobal(Stmt):
    """``global name; name = value``: the function itself keeps the variable in a local, and writes every value back."""

    name: str
    value: Expr


@record(slots=True)
class Raise(Stmt):
    """``raise exc from cause``"""

    exc: Expr | None
    cause: Expr | None


@record(slots=True)
class Assert(Stmt):
    """``assert test, message``; ``message_body`` computes the message."""

    test: Expr
    message_body: list[Stmt]
    message: Expr | None


@record(slots=True)
class Return(Stmt):
    """``return value``"""

    value: Expr


@record(slots=True)
class Break(Stmt):
    """Only between lowering and :mod:`thunkad.normal.exits`."""


@record(slots=True)
class Continue(Stmt):
    """Only between lowering and :mod:`thunkad.normal.exits`."""


@record(slots=True)
class Comment(Stmt):
    """A comment line of generated code."""

    text: str


@record(slots=True)
class Define(Stmt):
    """A nested function of generated code (the groups of a lazy pullback)."""

    function: Function


class Handover:
    """Marks, as their site, the statement that packs what an arm of the forward sweep hands over, and the one that
    takes it apart in the same arm of the reverse sweep."""


# ---------------------------------------------------------------- functions


@record(slots=True)
class Param:
    """``kind``: 'positional', 'var_positional', 'keyword', 'var_keyword'.  Defaults live on the user's function."""

    name: str
    kind: str = "positional"
    has_default: bool = False


@record(slots=True)
class Function:
    """One function.  ``captures`` are the names of closure variables that come as leading parameters.

    ``checkpoint``: it keeps nothing for the reverse sweep but its arguments, and is run again there.  ``generated``: it
    is code of the compiler's that is differentiated again.
    """

    name: str
    params: list[Param]
    body: list[Stmt]
    captures: tuple[str, ...] = ()
    line: int = 0
    filename: str = ""
    checkpoint: bool = False
    generated: bool = False
