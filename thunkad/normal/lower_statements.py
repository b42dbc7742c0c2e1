"""Statements without loops: assignments, choices, assertions, imports, returns."""

from __future__ import annotations

import importlib
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.normal.lower_builder import Builder, lowers
from thunkad.normal.lower_expressions import truth
from thunkad.normal.lower_functions import bind_function
from thunkad.normal.lower_targets import bind, bind_display, location, names_bound
from thunkad.runtime.imports import import_relative
from thunkad.tree.convert import BINARY

IMPORT = n.Ref("import_module", importlib.import_module)
IMPORT_RELATIVE = n.Ref("import_relative", import_relative)


@lowers("Expr")
def _effect(b: Builder, node: Any) -> None:
    if type(node.value).__name__ == "YieldFrom":
        node.value.unused = True
    if type(node.value).__name__ != "Constant":
        value = b.expression(node.value)
        if type(value) is not n.Const:
            b.emit(n.Effect(value))


@lowers("Pass")
def _pass(b: Builder, node: Any) -> None:
    pass


@lowers("Return")
def _return(b: Builder, node: Any) -> None:
    b.emit(n.Return(n.Const(None) if node.value is None else b.atom(node.value)))


@lowers("Break")
def _break(b: Builder, node: Any) -> None:
    b.emit(n.Break())


@lowers("Continue")
def _continue(b: Builder, node: Any) -> None:
    b.emit(n.Continue())


@lowers("If")
def _if(b: Builder, node: Any) -> None:
    test = truth(b, node.test)
    line = b.line
    body, orelse = b.statements_of(node.body), b.statements_of(node.orelse)
    b.line = line
    b.emit(n.If(test, body, orelse))


@lowers("Assert")
def _assert(b: Builder, node: Any) -> None:
    test = truth(b, node.test)
    message: n.Expr | None = None
    with b.into([]) as message_body:
        if node.msg is not None:
            message = b.atom(node.msg)
    b.emit(n.Assert(test, message_body, message))


@lowers("Raise")
def _raise(b: Builder, node: Any) -> None:
    if node.exc is None and b.handling:
        b.emit(n.Raise(n.Name(b.handling[-1]), None))
        return
    parts = b.operands(*(p for p in (node.exc, node.cause) if p is not None))
    b.emit(n.Raise(parts[0] if parts else None, parts[1] if len(parts) > 1 else None))


# ---------------------------------------------------------------- assignments


@lowers("Assign")
def _assign(b: Builder, node: Any) -> None:
    targets, first = node.targets, node.targets[0]
    if len(targets) == 1 and _same_shape(first, node.value):
        bind_display(b, first.elts, node.value.elts)
        return
    if len(targets) == 1 and type(node.value).__name__ == "Lambda":
        bind_function(b, first, node.value)
        return
    value = b.expression(node.value)
    if len(targets) > 1:
        bound = set().union(*map(names_bound, targets))
        if not isinstance(value, n.ATOMS) or (type(value) is n.Name and value.id in bound):
            value = b.temp(value)
    for target in targets:
        bind(b, target, value)


def _same_shape(target: Any, value: Any) -> bool:
    """Whether both are displays of equally many plain elements."""
    return (
        type(target).__name__ in ("Tuple", "List")
        and type(value).__name__ in ("Tuple", "List")
        and len(target.elts) == len(value.elts)
        and not any(type(e).__name__ == "Starred" for e in (*target.elts, *value.elts))
    )


@lowers("AnnAssign")
def _annotated(b: Builder, node: Any) -> None:
    if node.value is not None:
        bind(b, node.target, b.expression(node.value))


@lowers("AugAssign")
def _augmented(b: Builder, node: Any) -> None:
    op = BINARY[type(node.op)]
    target: n.Name | n.Index | n.Attr
    cell = False
    outside: str | None = None
    if type(node.target).__name__ == "Name":
        slot = b.own(node.target.id, node.target)
        cell, outside = slot.cell, slot.outside
        place = b.read(node.target.id)
        assert isinstance(place, (n.Name, n.Attr))
        target = place
    else:
        target, _ = location(b, node.target)
        cell = not set(b.shared).isdisjoint(walk.names(target))
    start, calls, rebindings = len(b.block), b.calls, b.rebindings
    value = b.atom(node.value)
    if (calls, rebindings) == (b.calls, b.rebindings) or not _disturbed(target, b.block[start:], cell):
        b.emit(n.Update(target, op, value))
        if outside is not None:
            b.emit(n.SetGlobal(outside, target))
        return
    # The right side may change what the left side held before it: read first, as Python does.
    rest = b.block[start:]
    del b.block[start:]
    if type(target) is not n.Name:
        parts = dict.fromkeys(i for i in walk.names(target) if i in walk.assigned(rest))
        copies: dict[str, n.Expr] = {i: b.temp(n.Name(i)) for i in parts}
        settled = walk.substitute(target, copies)
        assert isinstance(settled, (n.Index, n.Attr))
        target = settled
    old = b.temp(target)
    b.block += rest
    b.emit(n.Update(old, op, value))
    if type(target) is n.Name:
        b.assign(target.id, old)
        if outside is not None:
            b.emit(n.SetGlobal(outside, old))
    else:
        b.emit(n.Store(target, old))


def _disturbed(target: n.Name | n.Index | n.Attr, between: list[n.Stmt], cell: bool) -> bool:
    """Whether the statements that compute the right side may change the target before it is read.

    A call may do so to a variable in a cell, to an attribute of an object that the call mentions, and to an element
    of a container that it mentions, or whose owner or callee is a variable and may hold it.  That a function of the
    module finds the container under another name is not assumed.
    """
    names = set(walk.names(target))
    if names & walk.assigned(between):
        return True
    for s in walk.statements(between):
        if type(s) in (n.Store, n.Update) and names & set(walk.names(s.target)):  # type: ignore[attr-defined]
            return True
        calls = [e for e in walk.expressions(s) if type(e) is n.Call]
        if any(cell or _reaches(e, target) for e in calls):
            return True
    return False


def _reaches(call: n.Call, target: n.Name | n.Index | n.Attr) -> bool:
    """Whether a call may come by the object of which ``target`` is a part."""
    if type(target) is n.Name:
        return False
    mentioned = not set(walk.names(target.value)).isdisjoint(walk.names(call))
    if type(target) is n.Attr:
        return mentioned
    owner = call.func
    if _is_view(target.index) or (type(owner) is n.Attr and owner.name in _OF_ARRAYS):
        return False
    while type(owner) is n.Attr:
        owner = owner.value
    if type(owner) is n.Global and owner.id in _LIBRARIES and not call.kwargs:
        return False
    return mentioned or type(owner) is n.Name


def _is_view(index: n.Expr) -> bool:
    """Whether the part of an array at ``index`` is a view, so that it is all the same when it is taken."""
    parts = index.items if type(index) is n.TupleExpr else (index,)
    return any(type(p) is n.Slice or p == n.Const(Ellipsis) for p in parts) and all(
        type(p) is n.Slice or (type(p) is n.Const and type(p.value) is not str) for p in parts
    )


#: Modules whose functions change nothing unless told so by a keyword, and methods of arrays that don't, by their names.
_LIBRARIES = frozenset(("np", "numpy", "math", "cmath", "scipy"))
_OF_ARRAYS = frozenset("sum mean dot max min prod std var copy trace ravel reshape transpose astype conj item".split())


@lowers("Delete")
def _delete(b: Builder, node: Any) -> None:
    for target in node.targets:
        _delete_one(b, target)


def _delete_one(b: Builder, target: Any) -> None:
    if type(target).__name__ in ("Tuple", "List"):
        for part in target.elts:
            _delete_one(b, part)
        return
    if type(target).__name__ != "Name":
        place, _ = location(b, target)
        b.emit(n.Delete(place))
        return
    slot = b.own(target.id, target)
    if slot.cell:
        b.emit(n.Delete(n.Attr(slot.atom, "value")))
        return
    if slot.outside is not None:
        b.unsupported(target, f"'del {target.id}' of a global variable can't be differentiated", "Leave it out.")
    local = b.local(target.id, target)
    if b.scopes.is_captured(b.env.scope, target.id):
        b.unsupported(
            target,
            f"'del {target.id}' of a variable that a nested function uses can't be differentiated",
            "Leave the statement out, or pass the value to the nested function as an argument.",
        )
    assert local is not None
    b.emit(n.Delete(n.Name(local)))


# ---------------------------------------------------------------- imports and declarations


@lowers("Import")
def _import(b: Builder, node: Any) -> None:
    for alias in node.names:
        top = alias.name.partition(".")[0]
        if alias.asname is None and top != alias.name:
            b.emit(n.Effect(n.Call(IMPORT, (n.Const(alias.name),))))
        module = alias.name if alias.asname is not None else top
        b.write(alias.asname or top, n.Call(IMPORT, (n.Const(module),)))


@lowers("ImportFrom")
def _import_from(b: Builder, node: Any) -> None:
    if node.level:
        names = tuple(n.Const(alias.name) for alias in node.names)
        where = n.Global("__package__"), n.Const(node.level), n.Const(node.module), *names
        module = b.temp(n.Call(IMPORT_RELATIVE, where))
    else:
        module = b.temp(n.Call(IMPORT, (n.Const(node.module),)))
    for alias in node.names:
        b.write(alias.asname or alias.name, n.Attr(module, alias.name))


@lowers("Global", "Nonlocal")
def _declaration(b: Builder, node: Any) -> None:
    """What they mean is in the scopes; assigning to a variable of an enclosing function is refused where it stands."""
