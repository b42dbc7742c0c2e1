"""What loops run over; ``enumerate`` and ``zip`` of one another are taken apart, into one loop and counters.

``for i, (a, b) in enumerate(zip(x, y))`` becomes a loop over ``zip(x, y)`` that counts by itself: what is run over can
be seen there, and no iterator is made of another one, whose items would have to be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from thunkad.ir import nodes as n
from thunkad.normal.lower_builder import Builder, Held
from thunkad.normal.lower_expressions import plain_call
from thunkad.normal.lower_targets import bind, simple
from thunkad.records import record
from thunkad.source.names import binding_of

# Iterators over known values, kept where the loop stands so that what it runs over can be seen.
IN_PLACE = ("range", "zip", "enumerate", "reversed")
DICT_VIEWS = ("items", "keys", "values")

#: How an item is put together: the number of a part that is drawn, the name of a counter, or several of these.
Shape = Union[int, str, tuple["Shape", ...]]


@record(frozen=True)
class Run:
    """What a loop runs over: an atom or a call of one of ``IN_PLACE``; and how the items are put together.

    ``drawn``: of how many parts an item of ``over`` is; None if it is taken as it comes.
    """

    over: n.Expr
    shape: Shape = 0
    drawn: int | None = None


def iterable(b: Builder, node: Any) -> Run:
    """What a loop over ``node`` runs over, evaluated here."""
    if not _is_nested(b, node):
        return Run(_flat(b, node))
    leaves: list[Any] = []
    shape = _shape(b, node, leaves)
    if len(leaves) == 1:
        return Run(_counting(b, node, shape, lambda leaf: _flat(b, leaf))[0], shape)
    parts = _counting(b, node, shape, b.atom)
    return Run(n.Call(n.Global("zip"), tuple(parts)), shape, len(parts))


def loop_target(b: Builder, run: Run, target: Any, body: list[n.Stmt]) -> str:
    """The local that a loop binds; other targets are bound from it at the start of ``body``."""
    if run.shape == 0 and type(target).__name__ == "Name" and (name := simple(b, target)) is not None:
        return name
    with b.into(body):
        element, part = items(b, run)
        _bind(b, target, run.shape, part)
    return element


def items(b: Builder, run: Run) -> tuple[str, Callable[[Shape], n.Expr]]:
    """The start of a loop's body: the local that the loop binds, and how what is in its items is had."""
    element = b.temporary()
    counters = {name: b.temp(n.Name(name)) for name in _counters(run.shape)}
    for name in counters:
        b.assign(name, n.Binary("+", n.Name(name), n.Const(1)))

    def part(shape: Shape) -> n.Expr:
        if isinstance(shape, str):
            return counters[shape]
        if isinstance(shape, tuple):
            return n.TupleExpr(tuple(x if isinstance(x := part(s), n.ATOMS) else b.temp(x) for s in shape))
        return n.Name(element) if run.drawn is None else n.Index(n.Name(element), n.Const(shape))

    return element, part


def _bind(b: Builder, target: Any, shape: Shape, part: Callable[[Shape], n.Expr]) -> None:
    """Bind a target; no tuple is made for one that takes it apart."""
    names = target.elts if type(target).__name__ in ("Tuple", "List") else ()
    if isinstance(shape, tuple) and len(names) == len(shape) and all(type(t).__name__ != "Starred" for t in names):
        for t, s in zip(names, shape):
            _bind(b, t, s, part)
    else:
        bind(b, target, part(shape))


# ---------------------------------------------------------------- taking apart


def _called(b: Builder, node: Any) -> str | None:
    """The name of the built-in function that is called, if that is one of ``IN_PLACE``."""
    if type(node).__name__ != "Call" or type(node.func).__name__ != "Name" or node.func.id not in IN_PLACE:
        return None
    return node.func.id if b.env.scope.owner(node.func.id) is None else None  # type: ignore[no-any-return]


def _is_view(node: Any) -> bool:
    """Whether ``node`` may be the items, keys or values of a dict."""
    return (
        type(node).__name__ == "Call"
        and type(node.func).__name__ == "Attribute"
        and node.func.attr in DICT_VIEWS
        and not (node.args or node.keywords)
    )


def _flat(b: Builder, node: Any) -> n.Expr:
    return plain_call(b, node) if _called(b, node) or _is_view(node) else b.atom(node)


def _is_nested(b: Builder, node: Any) -> bool:
    """Whether ``node`` is one of ``enumerate`` and ``zip`` that runs over such an iterator itself."""
    name = _called(b, node)
    if name == "enumerate" and _is_plain(b, node):
        return _called(b, node.args[0]) is not None or _is_view(node.args[0])
    return name == "zip" and _is_plain(b, node) and any(_is_plain(b, a) for a in node.args)


def _is_plain(b: Builder, node: Any) -> bool:
    """Whether ``node`` is a call of one of the two, of the sort that is taken apart."""
    name = _called(b, node)
    if name not in ("enumerate", "zip") or any(type(a).__name__ == "Starred" for a in node.args):
        return False
    if b.source.function is not None and binding_of(b.source.function, name) != "builtin":
        return False
    if name == "zip":
        return bool(node.args) and not node.keywords
    return 1 <= len(node.args) <= 2 and [k.arg for k in node.keywords] in ([], ["start"][: 2 - len(node.args)])


def _shape(b: Builder, node: Any, leaves: list[Any]) -> Shape:
    if not _is_plain(b, node):
        leaves.append(node)
        return len(leaves) - 1
    if _called(b, node) == "zip":
        return tuple(_shape(b, a, leaves) for a in node.args)
    inner = _shape(b, node.args[0], leaves)
    return b.names.new("place"), inner


def _counters(shape: Shape) -> list[str]:
    if isinstance(shape, str):
        return [shape]
    return [name for s in shape for name in _counters(s)] if isinstance(shape, tuple) else []


def _counting(b: Builder, node: Any, shape: Shape, leaf: Callable[[Any], n.Expr]) -> list[n.Expr]:
    """The operands of what is run over, evaluated in Python's order with the starts of the counters, which are set."""
    operands: list[Held] = []
    starts: dict[str, Held] = {}

    def visit(node: Any, shape: Shape) -> None:
        if isinstance(shape, int):
            operands.append(b.hold(leaf(node)))
        elif _called(b, node) == "zip":
            assert isinstance(shape, tuple)
            for a, s in zip(node.args, shape):
                visit(a, s)
        else:
            assert isinstance(shape, tuple) and isinstance(shape[0], str)
            counter = shape[0]
            visit(node.args[0], shape[1])
            start = [*node.args[1:], *(k.value for k in node.keywords)]
            starts[counter] = b.hold(b.atom(start[0]) if start else n.Const(0))

    visit(node, shape)
    order = sorted([*operands, *starts.values()], key=lambda h: h.position)
    found = dict(zip(map(id, order), b.settle(order)))
    for counter, start in starts.items():
        b.assign(counter, found[id(start)])
    return [found[id(h)] for h in operands]
