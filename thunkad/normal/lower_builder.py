"""What lowering works with: the block being filled, the variables in view, operands held in the order of evaluation.

Each kind of gast node has one function that lowers it, registered under the name of its class with :func:`lowers`; the
other modules ``lower_*`` hold these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol, TypeVar

from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.normal.scope import Scope
from thunkad.normal.scopes import Scopes
from thunkad.normal.shared_names import spelling
from thunkad.records import field, record
from thunkad.runtime.cells import Cell

CELL = n.Ref("Cell", Cell)


class SourceLike(Protocol):
    """What lowering asks of :class:`thunkad.source.functions.Source`."""

    @property
    def node(self) -> Any: ...
    @property
    def filename(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def function(self) -> Any: ...
    def place(self, lineno: int) -> Place: ...


@record
class Slot:
    """Where a variable lives: in a local, in the cell that a local holds, or nowhere (its value is an atom)."""

    atom: n.Expr
    cell: bool = False
    outside: str | None = None  # the global variable whose values it mirrors
    attribute: str = "value"  # under which a cell has it


@record(eq=False)
class Env:
    """The variables of one execution of a scope; an inlined function has one for each call site."""

    scope: Scope
    parent: Env | None
    slots: dict[str, Slot] = field(default_factory=dict)
    defaults: dict[str, dict[str, n.Expr]] = field(default_factory=dict)  # of inlined functions made here
    params: dict[str, n.Expr] = field(default_factory=dict)  # of the call that this is

    def of(self, scope: Scope) -> Env:
        env: Env | None = self
        while env is not None and env.scope is not scope:
            env = env.parent
        assert env is not None
        return env


@record
class Held:
    """An operand that has been evaluated, while later operands still are."""

    value: n.Expr
    block: list[n.Stmt]
    position: int
    rebindings: int
    calls: int
    callee: bool
    mapping: bool


Lowering = Callable[["Builder", Any], Any]
_F = TypeVar("_F", bound=Lowering)
_lowerings: dict[str, Lowering] = {}


def lowers(*kinds: str) -> Callable[[_F], _F]:
    """Register the function that lowers nodes of the named classes: expressions to ``Expr``, statements to None."""

    def register(function: _F) -> _F:
        _lowerings.update(dict.fromkeys(kinds, function))
        return function

    return register


class Builder:
    """Fills the body of one function.

    Attributes
    ----------
    rebindings, calls : int
        Count what may change the value of an operand that has been evaluated already.
    stable : set of str
        Locals that are never rebound while their value is in use.
    """

    def __init__(self, source: SourceLike, scopes: Scopes, names: Names, env: Env) -> None:
        self.source, self.scopes, self.names, self.env = source, scopes, names, env
        self.block: list[n.Stmt] = []
        self.line = 0
        self.rebindings = 0
        self.calls = 0
        self.stable: set[str] = set()
        self.yielding: list[Callable[[n.Expr], None]] = []  # what becomes of values of the generators being inlined
        self.handling: list[str] = []  # the exceptions that the handlers around have caught
        self.shared: tuple[str, ...] = ()  # the locals that hold the variables which functions share

    # ------------------------------------------------------------ emitting

    def emit(self, statement: n.Stmt) -> None:
        statement.line = self.line
        self.block.append(statement)

    def assign(self, name: str, value: n.Expr) -> None:
        self.emit(n.Assign(name, value))

    @contextmanager
    def into(self, block: list[n.Stmt]) -> Iterator[list[n.Stmt]]:
        outer, self.block = self.block, block
        yield block
        self.block = outer

    @contextmanager
    def within(self, env: Env) -> Iterator[Env]:
        outer, self.env = self.env, env
        yield env
        self.env = outer

    def temporary(self) -> str:
        name = self.names.temporary()
        self.stable.add(name)
        return name

    def temp(self, value: n.Expr) -> n.Name:
        """``value`` in a new temporary."""
        name = self.temporary()
        self.assign(name, value)
        return n.Name(name)

    # ------------------------------------------------------------ nodes

    def expression(self, node: Any) -> n.Expr:
        """One operation over atoms with the value of ``node``; it has to be emitted before anything else is."""
        return self._lowering(node)(self, node)

    def atom(self, node: Any) -> n.Expr:
        value = self.expression(node)
        return value if isinstance(value, n.ATOMS) else self.temp(value)

    def statements(self, nodes: list[Any]) -> None:
        for node in nodes:
            self.line = node.lineno
            self._lowering(node)(self, node)

    def statements_of(self, nodes: list[Any]) -> list[n.Stmt]:
        with self.into([]) as block:
            self.statements(nodes)
        return block

    def _lowering(self, node: Any) -> Lowering:
        kind = type(node).__name__
        function = _lowerings.get(kind)
        if function is None:
            self.unsupported(node, f"'{kind}' can't be differentiated", "Rewrite it with simpler statements.")
        return function

    def unsupported(self, node: Any, message: str, hint: str) -> NoReturn:
        line = getattr(node, "lineno", None) or self.line
        raise UnsupportedSyntaxError(f"{message}.", self.source.place(line), hint)

    # ------------------------------------------------------------ operands

    def hold(self, value: n.Expr, *, callee: bool = False, mapping: bool = False) -> Held:
        """Note an operand whose value is that of now, whatever the operands after it do.

        ``callee``: it is what is called; ``mapping``: it stands behind ``**``.
        """
        return Held(value, self.block, len(self.block), self.rebindings, self.calls, callee, mapping)

    def settle(self, held: list[Held]) -> list[n.Expr]:
        """The operands, with copies of those that later ones may have changed, made where they were evaluated."""
        return [self._settled(h) for h in reversed(held)][::-1]

    def _settled(self, h: Held) -> n.Expr:
        rebound: set[str] = set()
        if self.rebindings != h.rebindings:
            rebound = walk.assigned(h.block[h.position :]) - self.stable
        called = self.calls != h.calls and not h.callee
        if not rebound and not called:
            return h.value

        def copied(e: n.Expr) -> n.Name:
            copy = self.temporary()
            h.block.insert(h.position, n.Assign(copy, e, line=self.line))
            return n.Name(copy)

        def now(e: n.Expr) -> n.Expr:
            if (type(e) is n.Name and e.id in rebound) or (type(e) is n.Global and called):
                return copied(e)
            if type(e) is n.Star and called:  # iterated over before what comes after it
                return n.Star(copied(n.TupleExpr((e,))))
            return walk.map_expr(e, now)

        if type(h.value) is n.Call:  # what a loop runs over: whether it is that of `zip` is to be seen
            e = h.value
            return n.Call(e.func, tuple(map(now, e.args)), tuple((k, now(v)) for k, v in e.kwargs))
        return copied(n.DictExpr((None,), (h.value,))) if h.mapping and called else now(h.value)

    def operands(self, *nodes: Any) -> list[n.Expr]:
        """Atoms for expressions evaluated one after the other."""
        return self.settle([self.hold(self.atom(node)) for node in nodes])

    # ------------------------------------------------------------ variables

    def slot(self, name: str) -> Slot | None:
        """Where the variable that ``name`` means lives; None for a name from outside the function."""
        owner = self.env.scope.owner(name)
        return None if owner is None else self.env.of(owner).slots[name]

    def read(self, name: str) -> n.Expr:
        slot = self.slot(name)
        if slot is None:
            return n.Global(name)
        return n.Attr(slot.atom, slot.attribute) if slot.cell else slot.atom

    def own(self, name: str, node: Any = None) -> Slot:
        """Where a variable that is about to be bound lives; those of outside the function are refused."""
        slot = self.slot(name)
        if slot is None:
            self.unsupported(
                node,
                f"the function assigns '{name}', a variable from outside of it",
                "Return the new value instead, or keep it in an attribute of an object.",
            )
        return slot

    def local(self, name: str, node: Any = None) -> str | None:
        """The local that ``name`` is bound in directly; None if it lives in a cell or in the module."""
        slot = self.own(name, node)
        if slot.cell or slot.outside is not None:
            return None
        assert type(slot.atom) is n.Name
        return slot.atom.id

    def write(self, name: str, value: n.Expr, node: Any = None) -> None:
        """Bind ``name`` to ``value``, any single operation."""
        local = self.local(name, node)
        if local is not None:
            self.assign(local, value)
            return
        slot = self.own(name)
        if slot.outside is not None:
            assert type(slot.atom) is n.Name
            self.assign(slot.atom.id, value)
            self.emit(n.SetGlobal(slot.outside, slot.atom))
            return
        atom = value if isinstance(value, n.ATOMS) else self.temp(value)
        self.emit(n.Store(n.Attr(self.own(name).atom, "value"), atom))

    def enter_outside(self, env: Env) -> None:
        """Give the global variables that the function assigns their places, with their values where they are read."""
        self.enter_shared(env)
        for name in sorted(env.scope.bound - env.slots.keys()):
            local = self.names.new(name)
            env.slots[name] = Slot(n.Name(local), outside=name)
            if self.scopes.read_first(name):
                self.assign(local, n.Global(name))

    def enter_shared(self, env: Env) -> None:
        """Give the variables that functions share their places, in the objects for them."""
        self.stable.update(self.shared)
        for spelled, place, attribute in self.scopes.shared.own:
            env.slots[spelled] = Slot(n.Name(self.shared[place]), cell=True, attribute=attribute)

    def shared_attribute(self, node: Any) -> n.Attr | None:
        """The place of ``module.name``, if that is a variable which functions share."""
        spelled = spelling(node) if self.shared else None
        place = None if spelled is None else self.scopes.shared.place(spelled)
        if spelled is None or place is None or self.env.scope.owner(spelled.partition(".")[0]) is not None:
            return None
        return n.Attr(n.Name(self.shared[place[0]]), place[1])

    def enter(self, env: Env, params: dict[str, n.Expr]) -> None:
        """Give the variables of ``env`` their places; ``params`` are values that are there already."""
        scope = env.scope
        for name in [*scope.params, *sorted(scope.bound - set(scope.params))]:
            if name in env.slots or name in scope.functions:
                continue
            if name in scope.cells:
                cell = self.names.new(f"{name}_cell")
                self.stable.add(cell)
                self.assign(cell, n.Call(CELL, (params[name],) if name in params else ()))
                env.slots[name] = Slot(n.Name(cell), cell=True)
            elif name in params:
                env.slots[name] = Slot(params[name])
            else:
                env.slots[name] = Slot(n.Name(self.names.new(name)))
