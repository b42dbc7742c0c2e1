"""What loops run over; ``enumerate``, ``zip``, ``map`` and ``filter`` are taken apart, into one loop that does it all.

``for i, (a, b) in enumerate(zip(x, y))`` becomes a loop over ``zip(x, y)`` that counts itself, ``for y in map(f, x)``
one over ``x`` that calls ``f``: what is run over can be seen there, and each call is made when its item is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, Held
from thunkad.normal.lower_expressions import callee, plain_call
from thunkad.normal.lower_targets import bind, simple
from thunkad.records import record
from thunkad.source.names import binding_of

# Iterators over known values, kept where the loop stands so that what it runs over can be seen.
IN_PLACE = ("range", "zip", "enumerate", "reversed")
DICT_VIEWS = ("items", "keys", "values")


@record(frozen=True)
class Counted:
    """An item with its number, which is in the local ``counter``."""

    counter: str
    item: Shape


@record(frozen=True)
class Applied:
    """What a function makes of items."""

    function: n.Expr
    items: tuple[Shape, ...]


@record(frozen=True)
class Kept:
    """An item, if the function (None: the item itself) is true of it."""

    function: n.Expr | None
    item: Shape


#: How an item is put together: the number of a part that is drawn, or of several shapes.
Shape = Union[int, Counted, Applied, Kept, tuple["Shape", ...]]
#: An item, or the parts of a tuple that need not be made.
Value = Union[n.Expr, tuple["Value", ...]]


@record(frozen=True)
class Run:
    """What a loop runs over: an atom or a call of one of ``IN_PLACE``; and how the items are put together.

    ``drawn``: of how many parts an item of ``over`` is; None if it is taken as it comes.
    """

    over: n.Expr
    shape: Shape = 0
    drawn: int | None = None


def iterable(b: Builder, node: Any) -> Run:
    """What a loop over ``node`` runs over, evaluated here, in Python's order."""
    if not _is_nested(b, node):
        return Run(_flat(b, node))
    leaves: list[Any] = []
    _leaves(b, node, leaves)
    operands: list[Held] = []
    make = _visit(b, node, operands, _flat if len(leaves) == 1 else lambda b, leaf: b.atom(leaf), [])
    found = b.settle(operands)
    overs: list[n.Expr] = []
    shape = make(found, overs)
    return Run(overs[0], shape) if len(overs) == 1 else Run(n.Call(n.Global("zip"), tuple(overs)), shape, len(overs))


def loop_target(b: Builder, run: Run, target: Any) -> str:
    """The local that a loop binds; other targets are bound from it at the start of its body, which is being filled."""
    if run.shape == 0 and type(target).__name__ == "Name" and (name := simple(b, target)) is not None:
        return name
    element, value = item(b, run)
    _bind(b, target, value)
    return element


def item(b: Builder, run: Run) -> tuple[str, Value]:
    """The start of a loop's body: the local that the loop binds, and the item."""
    element = b.temporary()

    def draw(shape: Shape) -> Value:
        if isinstance(shape, tuple):
            return tuple(map(draw, shape))
        if isinstance(shape, Counted):
            found = draw(shape.item)
            place = b.temp(n.Name(shape.counter))
            b.assign(shape.counter, n.Binary("+", n.Name(shape.counter), n.Const(1)))
            return place, found
        if isinstance(shape, Applied):
            args = tuple(as_atom(b, draw(s)) for s in shape.items)
            b.calls += 1
            return b.temp(n.Call(shape.function, args))
        if isinstance(shape, Kept):
            found = test = as_atom(b, draw(shape.item))
            if shape.function is not None:
                b.calls += 1
                test = b.temp(n.Call(shape.function, (found,)))
            kept: list[n.Stmt] = []
            b.emit(n.If(test, kept, []))
            b.block = kept
            return found
        return n.Name(element) if run.drawn is None else n.Index(n.Name(element), n.Const(shape))

    return element, draw(run.shape)


def as_atom(b: Builder, value: Value) -> n.Expr:
    """The item under a name, the tuple made if it is one."""
    if isinstance(value, tuple):
        return b.temp(n.TupleExpr(tuple(as_atom(b, v) for v in value)))
    return value if isinstance(value, n.ATOMS) else b.temp(value)


def _bind(b: Builder, target: Any, value: Value) -> None:
    """Bind a target; no tuple is made for one that takes it apart."""
    if not isinstance(value, tuple):
        bind(b, target, value)
        return
    names = target.elts if type(target).__name__ in ("Tuple", "List") else ()
    if len(names) == len(value) and all(type(t).__name__ != "Starred" for t in names):
        for t, v in zip(names, value):
            _bind(b, t, v)
    else:
        bind(b, target, as_atom(b, value))


# ---------------------------------------------------------------- taking apart


def _called(b: Builder, node: Any) -> str | None:
    """The name of the built-in function that is called, if that is one of those that are known here."""
    if type(node).__name__ != "Call" or type(node.func).__name__ != "Name":
        return None
    name = node.func.id
    return name if name in (*IN_PLACE, "map", "filter") and b.env.scope.owner(name) is None else None


def _is_view(node: Any) -> bool:
    """Whether ``node`` may be the items, keys or values of a dict."""
    return (
        type(node).__name__ == "Call"
        and type(node.func).__name__ == "Attribute"
        and node.func.attr in DICT_VIEWS
        and not (node.args or node.keywords)
    )


def _flat(b: Builder, node: Any) -> n.Expr:
    return plain_call(b, node) if _called(b, node) in IN_PLACE or _is_view(node) else b.atom(node)


def _is_nested(b: Builder, node: Any) -> bool:
    """Whether ``node`` is such a call that runs over such an iterator itself, or calls a function."""
    name = _called(b, node)
    if not _is_plain(b, node):
        return False
    if name == "enumerate":
        return _called(b, node.args[0]) is not None or _is_view(node.args[0])
    return name in ("map", "filter") or any(
        _is_plain(b, a) and _called(b, a) in ("enumerate", "zip") for a in node.args
    )


def _is_plain(b: Builder, node: Any) -> bool:
    """Whether ``node`` is a call of one of the four, of the sort that is taken apart."""
    name = _called(b, node)
    if name not in ("enumerate", "zip", "map", "filter") or any(type(a).__name__ == "Starred" for a in node.args):
        return False
    if b.source.function is not None and binding_of(b.source.function, name) != "builtin":
        return False
    if name == "enumerate":
        return 1 <= len(node.args) <= 2 and [k.arg for k in node.keywords] in ([], ["start"][: 2 - len(node.args)])
    return not node.keywords and len(node.args) >= {"zip": 1, "map": 2, "filter": 2}[name]


def _parts(b: Builder, node: Any, beside: bool) -> list[Any] | None:
    """What such a call runs over; None for a leaf: ``beside`` others a function is called before they are drawn."""
    name = _called(b, node)
    if not _is_plain(b, node) or (beside and name in ("map", "filter")):
        return None
    return list(node.args[:1] if name == "enumerate" else node.args if name == "zip" else node.args[1:])


def _leaves(b: Builder, node: Any, leaves: list[Any], beside: bool = False) -> None:
    parts = _parts(b, node, beside)
    if parts is None:
        leaves.append(node)
    for part in parts or ():
        _leaves(b, part, leaves, beside or len(parts or ()) > 1)


Make = Callable[[list[n.Expr], list[n.Expr]], Shape]


def _visit(
    b: Builder, node: Any, operands: list[Held], leaf: Callable[[Builder, Any], n.Expr], path: list[bool]
) -> Make:
    """Evaluate the operands of ``node`` in order; what makes its shape of them once they are settled."""
    beside = bool(path)
    parts = _parts(b, node, beside)
    if parts is None:
        k = _hold(operands, b.hold(leaf(b, node)))

        def drawn(found: list[n.Expr], overs: list[n.Expr]) -> Shape:
            overs.append(found[k])
            return len(overs) - 1

        return drawn
    name, inner = _called(b, node), [True] if beside or len(parts) > 1 else []
    function = None
    if name in ("map", "filter"):
        first = node.args[0]
        nothing = type(first).__name__ == "Constant" and first.value is None
        function = None if nothing and name == "filter" else _hold(operands, callee(b, first))
    makes = [_visit(b, part, operands, leaf, inner) for part in parts]
    if name == "enumerate":
        start = [*node.args[1:], *(k.value for k in node.keywords)]
        first_number = _hold(operands, b.hold(b.atom(start[0]) if start else n.Const(0)))
        counter = b.names.new("place")

        def counted(found: list[n.Expr], overs: list[n.Expr]) -> Shape:
            b.assign(counter, found[first_number])
            return Counted(counter, makes[0](found, overs))

        return counted

    def made(found: list[n.Expr], overs: list[n.Expr]) -> Shape:
        shapes = tuple(make(found, overs) for make in makes)
        if name == "zip":
            return shapes
        called = None if function is None else found[function]
        return Applied(called, shapes) if name == "map" and called is not None else Kept(called, shapes[0])

    return made


def _hold(operands: list[Held], held: Held) -> int:
    operands.append(held)
    return len(operands) - 1
