"""Reading and rewriting IR: what a statement reads and writes, substitution of names, traversal."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from operator import is_
from typing import Any

from thunkad.ir import nodes as n
from thunkad.records import replace

_LEAVES = frozenset((n.Name, n.Const, n.Global, n.Ref))
#: Statements with nested blocks.
_COMPOUND = frozenset((n.If, n.For, n.While, n.Assert, n.With, n.Try))


def map_expr(e: n.Expr, f: Callable[[n.Expr], n.Expr]) -> n.Expr:
    """``e`` with ``f`` applied to its direct sub-expressions (the same object where nothing changed)."""
    t = type(e)
    if t in _LEAVES:
        return e
    if t is n.Binary:
        left, right = f(e.left), f(e.right)
        return e if left is e.left and right is e.right else n.Binary(e.op, left, right)
    if t is n.Call:
        func, args = f(e.func), tuple([f(a) for a in e.args])
        kwargs = tuple([(k, f(v)) for k, v in e.kwargs]) if e.kwargs else ()
        if func is e.func and all(map(is_, args, e.args)) and all(a[1] is b[1] for a, b in zip(kwargs, e.kwargs)):
            return e
        return n.Call(func, args, kwargs)
    if t is n.Attr:
        value = f(e.value)
        return e if value is e.value else n.Attr(value, e.name)
    if t is n.Index:
        value, index = f(e.value), f(e.index)
        return e if value is e.value and index is e.index else n.Index(value, index)
    if t is n.Slice:
        return n.Slice(*(None if p is None else f(p) for p in (e.lower, e.upper, e.step)))
    if t is n.Unary:
        return n.Unary(e.op, f(e.operand))
    if t is n.Inplace:
        return n.Inplace(e.op, f(e.left), f(e.right))
    if t is n.Compare:
        return n.Compare(e.op, f(e.left), f(e.right))
    if t is n.Star:
        return n.Star(f(e.value))
    if t in (n.TupleExpr, n.ListExpr, n.SetExpr):
        items = tuple([f(a) for a in e.items])
        return e if all(map(is_, items, e.items)) else t(items)
    if t is n.DictExpr:
        return n.DictExpr(tuple(None if k is None else f(k) for k in e.keys), tuple(f(v) for v in e.values))
    if t is n.IfExp:
        return n.IfExp(f(e.test), f(e.body), f(e.orelse))
    if t is n.Closure:
        captures, defaults = tuple(f(c) for c in e.captures), tuple(f(d) for d in e.defaults)
        return n.Closure(e.function, captures, defaults, tuple((k, f(v)) for k, v in e.kw_defaults))
    if t is n.Lambda:
        return n.Lambda(e.params, f(e.body))
    raise TypeError(f"not an expression: {e!r}")


_CHILDREN: dict[type, Callable[[Any], tuple[n.Expr, ...]]] = {
    **dict.fromkeys((n.Name, n.Const, n.Global, n.Ref), lambda e: ()),
    **dict.fromkeys((n.Binary, n.Compare, n.Inplace), lambda e: (e.left, e.right)),
    n.Call: lambda e: (e.func, *e.args, *(v for _, v in e.kwargs)) if e.kwargs else (e.func, *e.args),
    n.Attr: lambda e: (e.value,),
    n.Star: lambda e: (e.value,),
    n.Index: lambda e: (e.value, e.index),
    n.Slice: lambda e: tuple(p for p in (e.lower, e.upper, e.step) if p is not None),
    n.Unary: lambda e: (e.operand,),
    **dict.fromkeys((n.TupleExpr, n.ListExpr, n.SetExpr), lambda e: e.items),
    n.DictExpr: lambda e: tuple(x for k, v in zip(e.keys, e.values) for x in ((v,) if k is None else (k, v))),
    n.IfExp: lambda e: (e.test, e.body, e.orelse),
    n.Closure: lambda e: (*e.captures, *e.defaults, *(v for _, v in e.kw_defaults)),
    n.Lambda: lambda e: (e.body,),
}


def children(e: n.Expr) -> tuple[n.Expr, ...]:
    """Direct sub-expressions of ``e`` in evaluation order."""
    return _CHILDREN[type(e)](e)


def names(e: Any) -> tuple[str, ...]:
    """Locals that evaluating ``e`` reads (with repeats, in evaluation order)."""
    t = type(e)
    if t is n.Name:
        return (e.id,)
    if t in _LEAVES:
        return ()
    try:
        return e.names  # type: ignore[no-any-return]
    except AttributeError:
        e.names = found = tuple(_names(e))
        return found


def _names(e: Any) -> list[str]:
    t = type(e)
    if t is n.Lambda:
        found = [i for i in names(e.body) if i not in e.params]
    else:
        found = []
        for c in _CHILDREN[t](e):
            t = type(c)
            if t is n.Name:
                found.append(c.id)
            elif t not in _LEAVES:
                found += names(c)
    return found


def parts(*expressions: n.Expr) -> Iterator[n.Expr]:
    """These expressions and everything in them, outer ones first."""
    stack = list(expressions)
    while stack:
        e = stack.pop()
        yield e
        t = type(e)
        if t not in _LEAVES:
            stack.extend(_CHILDREN[t](e))


def substitute(e: n.Expr, mapping: dict[str, n.Expr]) -> n.Expr:
    """``e`` with locals replaced (the same object where it reads none of them)."""
    t = type(e)
    if t is n.Name:
        return mapping.get(e.id, e)
    if t in _LEAVES or mapping.keys().isdisjoint(names(e)):
        return e
    if t is n.Lambda:
        inner = {k: v for k, v in mapping.items() if k not in e.params}
        return n.Lambda(e.params, substitute(e.body, inner))
    return map_expr(e, lambda c: substitute(c, mapping))


def expressions(s: n.Stmt) -> tuple[n.Expr, ...]:
    """The expressions that ``s`` itself evaluates (not those of nested blocks)."""
    t = type(s)
    if t in (n.Assign, n.Unpack, n.Effect, n.Return, n.Append, n.SetGlobal):
        return (s.value,)
    if t is n.Store:
        return (s.value, *children(s.target))
    if t is n.Update:
        return (s.target, s.value)
    if t is n.Delete:
        return children(s.target) if type(s.target) is not n.Name else ()
    if t is n.If:
        return (s.test,)
    if t is n.For:
        return (s.iter,)
    if t is n.While:
        return (s.test,)
    if t is n.With:
        return (s.item,)
    if t is n.Try:
        return () if s.types is None else (s.types,)
    if t is n.Raise:
        return tuple(e for e in (s.exc, s.cause) if e is not None)
    if t is n.Assert:
        return (s.test,) if s.message is None else (s.test, s.message)
    return ()


def blocks(s: n.Stmt) -> tuple[list[n.Stmt], ...]:
    """Nested statement lists of ``s``, in order of execution."""
    t = type(s)
    if t not in _COMPOUND:
        return ()
    if t is n.If:
        return (s.body, s.orelse)
    if t is n.For:
        return (s.body,)
    if t is n.While:
        return (s.test_body, s.body)
    if t is n.Assert:
        return (s.message_body,)
    if t is n.With:
        return (s.body,)
    if t is n.Try:
        return (s.body, s.orelse, s.handler)
    return ()


_BLOCKS = ("test_body", "body", "orelse", "handler", "message_body")


def map_blocks(s: Any, f: Callable[[list[n.Stmt]], list[n.Stmt]]) -> n.Stmt:
    """A copy of ``s`` with ``f`` on its nested blocks; ``s`` itself if it has none."""
    nested = {key: f(block) for key in _BLOCKS if isinstance(block := getattr(s, key, None), list)}
    return replace(s, **nested) if nested else s  # type: ignore[no-any-return]


def without(block: list[n.Stmt], names: Container[str]) -> list[n.Stmt]:
    """``block`` without what binds ``names`` by assignment."""
    kept = (s for s in block if not (type(s) is n.Assign and s.target in names))
    return [map_blocks(s, lambda inner: without(inner, names)) for s in kept]


def reads(s: n.Stmt) -> set[str]:
    """Locals that ``s`` itself reads (not its nested blocks); the list of an ``Append`` counts as read."""
    out: set[str] = set()
    for e in expressions(s):
        out.update(names(e))
    if type(s) is n.Append:
        out.add(s.target)
    return out


def writes(s: n.Stmt) -> tuple[str, ...]:
    """Locals that ``s`` itself binds (not its nested blocks; not memory that it mutates)."""
    t = type(s)
    if t is n.Assign:
        return (s.target,)
    if t is n.Unpack:
        return s.targets
    if t is n.Update and type(s.target) is n.Name:
        return (s.target.id,)
    if t is n.For:
        return (s.target,) if s.count is None else (s.target, s.count)
    if t is n.Define:
        return (s.function.name,)
    if t is n.With:
        return () if s.target is None else (s.target,)
    if t is n.Try:
        return tuple(x for x in (s.error, s.raised) if x is not None)
    return ()


def statements(block: list[n.Stmt]) -> list[n.Stmt]:
    """Every statement of ``block``, nested ones included, in program order."""
    found: list[n.Stmt] = []
    for s in block:
        found.append(s)
        if type(s) in _COMPOUND:
            for b in blocks(s):
                found += statements(b)
    return found


def assigned(block: list[n.Stmt]) -> set[str]:
    """Locals bound anywhere in ``block``."""
    return {w for s in statements(block) for w in writes(s)}


def read_anywhere(block: list[n.Stmt]) -> set[str]:
    """Locals read anywhere in ``block``."""
    out: set[str] = set()
    for s in statements(block):
        out |= reads(s)
        if type(s) in (n.For, n.While) and s.stop is not None:
            out.add(s.stop)
    return out


def taken_names(function: n.Function) -> set[str]:
    """Every name that occurs in ``function``, globals and functions made inside included: new names avoid these."""
    taken = {function.name, *function.captures, *(p.name for p in function.params)}
    for s in statements(function.body):
        taken.update(writes(s))
        if type(s) is n.Delete and type(s.target) is n.Name:
            taken.add(s.target.id)
        if type(s) in (n.For, n.While) and s.stop is not None:
            taken.add(s.stop)
        stack = [*expressions(s)]
        while stack:
            e = stack.pop()
            t = type(e)
            if t is n.Name or t is n.Global:
                taken.add(e.id)
            elif t not in _LEAVES:
                stack += _CHILDREN[t](e)
                if t is n.Closure:
                    taken |= taken_names(e.function)
    return taken


def map_stmt(s: n.Stmt, f: Callable[[n.Expr], n.Expr], bind: Callable[[str], str] = lambda i: i) -> n.Stmt:
    """A copy of ``s`` with ``f`` on its expressions and ``bind`` on the names it binds; nested blocks likewise."""

    def block(b: list[n.Stmt]) -> list[n.Stmt]:
        return [map_stmt(x, f, bind) for x in b]

    t = type(s)
    where = {"line": s.line, "site": s.site}
    if t is n.Assign:
        return n.Assign(bind(s.target), f(s.value), **where)
    if t is n.Unpack:
        return n.Unpack(tuple(map(bind, s.targets)), f(s.value), **where)
    if t is n.Store:
        return n.Store(f(s.target), f(s.value), s.past, **where)
    if t is n.Update:
        target = n.Name(bind(s.target.id)) if type(s.target) is n.Name else f(s.target)
        return n.Update(target, s.op, f(s.value), **where)
    if t is n.Append:
        return n.Append(bind(s.target), f(s.value), **where)
    if t is n.Delete:
        target = n.Name(bind(s.target.id)) if type(s.target) is n.Name else f(s.target)
        return n.Delete(target, **where)
    if t is n.SetGlobal:
        return n.SetGlobal(s.name, f(s.value), **where)
    if t is n.Effect:
        return n.Effect(f(s.value), **where)
    if t is n.Return:
        return n.Return(f(s.value), **where)
    if t is n.If:
        return n.If(f(s.test), block(s.body), block(s.orelse), **where)
    if t is n.For:
        stop = s.stop and bind(s.stop)
        return n.For(bind(s.target), f(s.iter), block(s.body), stop, s.count and bind(s.count), **where)
    if t is n.While:
        return n.While(block(s.test_body), f(s.test), block(s.body), s.stop and bind(s.stop), **where)
    if t is n.With:
        return n.With(f(s.item), s.target and bind(s.target), block(s.body), **where)
    if t is n.Try:
        error, raised = s.error and bind(s.error), s.raised and bind(s.raised)
        blocks = block(s.body), block(s.handler), block(s.orelse)
        return n.Try(*blocks, s.types and f(s.types), error, raised, s.shielded, **where)
    if t is n.Raise:
        return n.Raise(s.exc and f(s.exc), s.cause and f(s.cause), **where)
    if t is n.Assert:
        return n.Assert(f(s.test), block(s.message_body), s.message and f(s.message), **where)
    return s


def has_functions(f: n.Function) -> bool:
    """Whether functions are made inside ``f``."""
    return any(type(e) is n.Closure for s in statements(f.body) for e in parts(*expressions(s)))


def with_own_functions(f: n.Function) -> n.Function:
    """A copy of ``f`` whose inner functions, to any depth, are objects of its own."""

    def own(e: n.Expr) -> n.Expr:
        if type(e) is n.Closure:
            e = n.Closure(with_own_functions(e.function), e.captures, e.defaults, e.kw_defaults)
        return map_expr(e, own)

    return replace(f, body=[map_stmt(s, own) for s in f.body])


def rename(block: list[n.Stmt], mapping: dict[str, str]) -> list[n.Stmt]:
    """A copy of ``block`` with locals renamed, reads and bindings alike."""
    as_expr = {k: n.Name(v) for k, v in mapping.items()}
    return [map_stmt(s, lambda e: substitute(e, as_expr), lambda i: mapping.get(i, i)) for s in block]
