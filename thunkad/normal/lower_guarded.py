"""``try`` and ``with``.

``finally`` is written out for the two ways of leaving its block, as Python's own compiler does: after an exception,
which goes on then, and otherwise, whatever leaves the block then::

    try:                        leave = 0; value = Unbound
        if x > 0:               try:
            return f(x)             if x > 0: value = f(x); leave = 1
        y = g(x)                    else: y = g(x)
    finally:                    except BaseException as error:
        close()                     close()
                                    raise error
                                else:
                                    close()
                                    if leave == 1: return value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.ir import nodes as n
from thunkad.ir.check import is_outside
from thunkad.normal.exits import leaving, left_early
from thunkad.normal.lower_builder import Builder, lowers
from thunkad.normal.lower_expressions import callee
from thunkad.normal.lower_targets import bind
from thunkad.normal.plain_managers import swallows_nothing
from thunkad.runtime import exceptions
from thunkad.runtime.unbound import Unbound

MATCHES = n.Ref("matches", exceptions.matches)
ENTER = n.Ref("enter", exceptions.enter)
LEAVE = n.Ref("leave", exceptions.leave)
SHOWN, TRACE = n.Ref("shown", exceptions.shown), n.Ref("traceback_of", exceptions.traceback_of)
NO_ERROR = (n.Const(None), n.Const(None), n.Const(None))
UNBOUND = n.Ref("Unbound", Unbound)


@lowers("Try")
def _try(b: Builder, node: Any) -> None:
    line = b.line
    if not node.finalbody:
        _except(b, node)
        return
    if node.handlers:
        with b.into([]) as protected:
            _except(b, node)
    else:
        protected = b.statements_of(node.body)
    b.line = line
    _finally(b, protected, lambda: b.statements(node.finalbody))


# ---------------------------------------------------------------- except


def _except(b: Builder, node: Any) -> None:
    line = b.line
    body = b.statements_of(node.body)
    b.line = line
    error = b.names.new("error")
    b.stable.add(error)
    types = _simple_types(b, node.handlers)
    b.handling.append(error)
    with b.into([]) as handler:
        if types is not None or node.handlers[0].type is None:
            _handler(b, node.handlers[0], error)
        else:
            _dispatch(b, node.handlers, error)
    b.handling.pop()
    b.line = line
    orelse = b.statements_of(node.orelse)
    b.line = line
    b.emit(n.Try(body, handler, orelse, types, error))


def _simple_types(b: Builder, handlers: list[Any]) -> n.Expr | None:
    """What the only handler catches, if that is spelled by names from outside of the function."""
    if len(handlers) != 1 or handlers[0].type is None:
        return None
    node = handlers[0].type
    parts = node.elts if type(node).__name__ == "Tuple" else [node]
    if any(_root(p) is None or b.slot(_root(p) or "") is not None for p in parts):
        return None
    found = [callee(b, p).value for p in parts]
    types = n.TupleExpr(tuple(found)) if type(node).__name__ == "Tuple" else found[0]
    return types if is_outside(types) else None


def _root(node: Any) -> str | None:
    while type(node).__name__ == "Attribute":
        node = node.value
    return node.id if type(node).__name__ == "Name" else None


def _dispatch(b: Builder, handlers: list[Any], error: str) -> None:
    if not handlers:
        b.emit(n.Raise(n.Name(error), None))
        return
    first, *rest = handlers
    b.line = first.lineno
    if first.type is None:
        _handler(b, first, error)
        return
    test = b.temp(n.Call(MATCHES, (n.Name(error), b.atom(first.type))))
    with b.into([]) as caught:
        _handler(b, first, error)
    b.line = first.lineno
    with b.into([]) as orelse:
        _dispatch(b, rest, error)
    b.line = first.lineno
    b.emit(n.If(test, caught, orelse))


def _handler(b: Builder, node: Any, error: str) -> None:
    name = None if node.name is None else node.name.id
    if name is not None:
        b.write(name, n.Name(error), node.name)
    b.statements(node.body)
    if name is not None and not b.scopes.is_captured(b.env.scope, name):
        local = b.local(name, node.name)
        if local is not None and all(not leaving([s]) for s in b.block[-1:]):
            b.emit(n.Delete(n.Name(local)))  # Python unbinds it


# ---------------------------------------------------------------- finally


def _finally(b: Builder, protected: list[n.Stmt], final: Callable[[], None]) -> None:
    def after_error(error: str) -> None:
        final()
        b.emit(n.Raise(n.Name(error), None))

    _protect(b, protected, after_error, final)


def _protect(b: Builder, protected: list[n.Stmt], after_error: Callable[[str], Any], after: Callable[[], None]) -> None:
    """``protected``, and what is to be done after it; what leaves it (``return``, ``break``) does so after that."""
    line = b.line
    kinds = [k for k in (n.Return, n.Break, n.Continue) if k in leaving(protected)]
    code, value = "", ""
    if kinds:
        code = b.names.new("leave")
        b.assign(code, n.Const(0))
        if n.Return in kinds:
            value = b.names.new("value")
            b.stable.add(value)
            b.assign(value, UNBOUND)
        numbers = {kind: k + 1 for k, kind in enumerate(kinds)}
        protected = left_early([x for s in protected for x in coded(s, numbers, code, value, False)], b.names)
    error = b.names.new("error")
    b.stable.add(error)
    with b.into([]) as handler:
        after_error(error)
    b.line = line
    with b.into([]) as orelse:
        after()
        b.line = line
        for k, kind in enumerate(kinds):
            test = b.temp(n.Compare("==", n.Name(code), n.Const(k + 1)))
            exit = n.Return(n.Name(value), line=line) if kind is n.Return else kind(line=line)
            b.emit(n.If(test, [exit], []))
    b.line = line
    b.emit(n.Try(protected, handler, orelse, None, error))


def coded(s: n.Stmt, numbers: dict[Any, int], code: str, value: str, in_loop: bool) -> list[n.Stmt]:
    """``s`` with the exits in it replaced: they note in ``code`` what they are (number 0 doesn't), and return."""
    if type(s) in numbers and (type(s) is n.Return or not in_loop):
        out: list[n.Stmt] = []
        if numbers[type(s)]:
            out.append(n.Assign(code, n.Const(numbers[type(s)]), line=s.line))
        if type(s) is n.Return:
            out.append(n.Assign(value, s.value, line=s.line))
        return [*out, n.Return(n.Const(None), line=s.line)]
    in_loop = in_loop or type(s) in (n.For, n.While)
    for name in ("body", "orelse", "handler"):
        block = getattr(s, name, None)
        if isinstance(block, list):
            setattr(s, name, [x for inner in block for x in coded(inner, numbers, code, value, in_loop)])
    return [s]


# ---------------------------------------------------------------- with


@lowers("With")
def _with(b: Builder, node: Any) -> None:
    _item(b, list(node.items), node.body)


def _item(b: Builder, items: list[Any], body: list[Any]) -> None:
    if not items:
        b.statements(body)
        return
    item, *rest = items
    line = b.line
    target = item.optional_vars
    if not swallows_nothing(item.context_expr):
        manager = b.atom(item.context_expr)
        manager = b.temp(manager) if type(manager) is not n.Name or manager.id not in b.stable else manager
        entered = b.temp(n.Call(ENTER, (manager,)))
        b.calls += 1
        with b.into([]) as protected:
            if target is not None:
                bind(b, target, entered)
            _item(b, rest, body)
        b.line = line

        def after_error(error: str) -> None:
            swallowed = b.temp(n.Call(LEAVE, (manager, *after_exception(b, error))))
            b.emit(n.If(swallowed, [], [n.Raise(n.Name(error), None, line=line)]))

        _protect(b, protected, after_error, lambda: b.emit(n.Effect(n.Call(LEAVE, (manager, *NO_ERROR)))))
        return
    manager = b.expression(item.context_expr)
    b.calls += 1
    local = b.local(target.id, target) if type(target).__name__ == "Name" else None
    name = local if local is not None else None if target is None else b.temporary()
    with b.into([]) as block:
        if target is not None and local is None and name is not None:
            bind(b, target, n.Name(name))
        _item(b, rest, body)
    b.line = line
    b.emit(n.With(manager, name, block))


def after_exception(b: Any, error: str) -> tuple[n.Expr, ...]:
    """What ``__exit__`` is told of an exception."""
    shown = b.temp(n.Call(SHOWN, (n.Name(error),)))
    kind = b.temp(n.Call(n.Ref("type", type), (shown,)))
    return kind, shown, b.temp(n.Call(TRACE, (shown,)))
