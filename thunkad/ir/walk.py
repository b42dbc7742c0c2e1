"""Reading and rewriting IR: what a statement reads and writes, substitution of names, traversal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from thunkad.ir import nodes as n


def map_expr(e: n.Expr, f: Callable[[n.Expr], n.Expr]) -> n.Expr:
    """``e`` with ``f`` applied to its direct sub-expressions (the same object where nothing changed)."""
    t = type(e)
    if t in (n.Name, n.Const, n.Global, n.Ref):
        return e
    if t is n.Binary:
        left, right = f(e.left), f(e.right)
        return e if left is e.left and right is e.right else n.Binary(e.op, left, right)
    if t is n.Call:
        return n.Call(f(e.func), tuple(f(a) for a in e.args), tuple((k, f(v)) for k, v in e.kwargs))
    if t is n.Attr:
        value = f(e.value)
        return e if value is e.value else n.Attr(value, e.name)
    if t is n.Index:
        return n.Index(f(e.value), f(e.index))
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
        return t(tuple(f(a) for a in e.items))
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


def children(e: n.Expr) -> tuple[n.Expr, ...]:
    """Direct sub-expressions of ``e`` in evaluation order."""
    t = type(e)
    if t in (n.Name, n.Const, n.Global, n.Ref):
        return ()
    if t in (n.Binary, n.Compare, n.Inplace):
        return (e.left, e.right)
    if t is n.Call:
        return (e.func, *e.args, *(v for _, v in e.kwargs))
    if t in (n.Attr, n.Star):
        return (e.value,)
    if t is n.Index:
        return (e.value, e.index)
    if t is n.Slice:
        return tuple(p for p in (e.lower, e.upper, e.step) if p is not None)
    if t is n.Unary:
        return (e.operand,)
    if t in (n.TupleExpr, n.ListExpr, n.SetExpr):
        return e.items
    if t is n.DictExpr:
        return tuple(x for k, v in zip(e.keys, e.values) for x in ((v,) if k is None else (k, v)))
    if t is n.IfExp:
        return (e.test, e.body, e.orelse)
    if t is n.Closure:
        return (*e.captures, *e.defaults, *(v for _, v in e.kw_defaults))
    if t is n.Lambda:
        return (e.body,)
    raise TypeError(f"not an expression: {e!r}")


def names(e: n.Expr) -> Iterator[str]:
    """Locals that evaluating ``e`` reads (with repeats, in evaluation order)."""
    stack = [e]
    while stack:
        e = stack.pop()
        if type(e) is n.Name:
            yield e.id
        elif type(e) is n.Lambda:
            yield from (i for i in names(e.body) if i not in e.params)
        else:
            stack.extend(reversed(children(e)))


def parts(*expressions: n.Expr) -> Iterator[n.Expr]:
    """These expressions and everything in them, outer ones first."""
    stack = list(expressions)
    while stack:
        e = stack.pop()
        yield e
        stack.extend(children(e))


def substitute(e: n.Expr, mapping: dict[str, n.Expr]) -> n.Expr:
    """``e`` with locals replaced."""
    if type(e) is n.Name:
        return mapping.get(e.id, e)
    if type(e) is n.Lambda:
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


def reads(s: n.Stmt) -> set[str]:
    """Locals that ``s`` itself reads (not its nested blocks); the list of an ``Append`` counts as read."""
    out = {i for e in expressions(s) for i in names(e)}
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


def statements(block: list[n.Stmt]) -> Iterator[n.Stmt]:
    """Every statement of ``block``, nested ones included, in program order."""
    for s in block:
        yield s
        for b in blocks(s):
            yield from statements(b)


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
        for e in parts(*expressions(s)):
            if type(e) in (n.Name, n.Global):
                taken.add(e.id)
            elif type(e) is n.Closure:
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
        return n.Store(f(s.target), f(s.value), **where)
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


def rename(block: list[n.Stmt], mapping: dict[str, str]) -> list[n.Stmt]:
    """A copy of ``block`` with locals renamed, reads and bindings alike."""
    as_expr = {k: n.Name(v) for k, v in mapping.items()}
    return [map_stmt(s, lambda e: substitute(e, as_expr), lambda i: mapping.get(i, i)) for s in block]
