"""Steps of one line put together: ``t1 = x @ w; t2 = t1 + b; p = np.tanh(t2)`` becomes ``p = np.tanh(x @ w + b)``.

Only temporaries of the compiler's that are read once, by the very next statement of the same line, before that has
done anything else: the order of evaluation stays what it was.  What is not named is freed as soon as it was used, and
NumPy computes into the memory of a large array that nothing else holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from thunkad.errors import Place
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.optimise.carried import simple_loops
from thunkad.records import replace

Fold = Callable[[n.Expr], n.Expr]
TEMPORARY = re.compile(r"t\d+(_\d+)*(_(bar|dot)(_\d+)*)*$")
_STEPS = (n.Binary, n.Unary, n.Call, n.Index, n.Attr, n.Compare)
#: Longer lines than this are not put together.
WIDEST = 80


def nested(function: n.Function, fold: Fold = lambda e: e) -> n.Function:
    """``function`` with its steps put together, ``fold`` applied to what that makes of the adjoint's expressions."""
    read, written = counts(function.body)
    body = simple_loops(_Nest(read, written, fold).block(function.body), read, written)
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


class _Nest:
    def __init__(self, read: Counter[str], written: Counter[str], fold: Fold) -> None:
        self.reads, self.writes, self.fold = read, written, fold

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []  # last statement first
        for s in reversed(block):
            if not (out and self.put_into(s, out)):
                out.append(self.inside(s))
        return out[::-1]

    def put_into(self, s: Any, out: list[n.Stmt]) -> bool:
        """Whether the step ``s`` was written into the statement that follows it."""
        if type(s) is not n.Assign or type(s.value) not in _STEPS or not self.is_temporary(s.target):
            return False
        following: Any = out[-1]
        if s.line and following.line and s.line != following.line:
            return False
        field = _entered(following, s.value)
        e = getattr(following, field) if field else None
        if e is None or _rule(s) != _rule(following) or reaches(e, s.target) is not True:
            return False
        new = walk.substitute(e, {s.target: s.value})
        if not hasattr(s.site, "how") and not hasattr(following.site, "how"):
            new = self.fold(new)
        target = getattr(following, "target", "")
        if width(new) + width(n.Name(target) if isinstance(target, str) else target) > WIDEST:
            return False
        out[-1] = replace(following, **{field: new, "line": s.line or following.line})
        return True

    def inside(self, s: Any) -> n.Stmt:
        t = type(s)
        if t is n.If:
            return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
        if t in (n.For, n.With):
            return replace(s, body=self.block(s.body))  # type: ignore[no-any-return]
        if t is n.While:
            return replace(s, test_body=self.block(s.test_body), body=self.block(s.body))
        if t is n.Try:
            return replace(s, body=self.block(s.body), handler=self.block(s.handler), orelse=self.block(s.orelse))
        if t is n.Define:
            f = s.function
            inner = n.Function(f.name, f.params, self.block(f.body), f.captures, f.line, f.filename)
            return replace(s, function=inner)
        return s  # type: ignore[no-any-return]

    def is_temporary(self, name: str) -> bool:
        return self.reads[name] == 1 and self.writes[name] == 1 and bool(TEMPORARY.match(name))


def counts(block: list[n.Stmt]) -> tuple[Counter[str], Counter[str]]:
    """How often each name is read in ``block``, and in how many places it is bound."""
    everything = list(all_statements(block))
    return Counter(i for s in everything for i in reads(s)), Counter(w for s in everything for w in walk.writes(s))


def all_statements(block: list[n.Stmt]) -> Iterator[n.Stmt]:
    """Every statement of ``block``, those of functions defined in it included."""
    for s in walk.statements(block):
        yield s
        if type(s) is n.Define:
            yield from all_statements(s.function.body)


def reads(s: n.Stmt) -> Iterator[str]:
    """Locals that ``s`` itself reads, with repeats."""
    for e in walk.expressions(s):
        yield from walk.names(e)
    if type(s) is n.Delete and type(s.target) is n.Name:
        yield s.target.id
    if type(s) is n.Append:
        yield s.target
    if type(s) in (n.For, n.While) and s.stop is not None:  # type: ignore[attr-defined]
        yield s.stop  # type: ignore[attr-defined]


def _entered(s: n.Stmt, step: n.Expr) -> str | None:
    """The field with the expression that ``s`` evaluates before it does anything else."""
    t = type(s)
    if t in (n.Assign, n.Unpack, n.Effect, n.Return, n.Append, n.Store):
        return None if type(s.value) is n.Inplace else "value"  # type: ignore[attr-defined]
    if t is n.Update:  # what is updated is looked up first, so that must be the same after the step
        return "value" if _is_arithmetic(step) else None
    return "test" if t is n.If else "iter" if t is n.For else None


def _is_arithmetic(e: n.Expr) -> bool:
    return all(
        type(x) in (n.Binary, n.Unary, n.Index, n.Slice, n.TupleExpr, *n.ATOMS)
        or (type(x) is n.Attr and _is_module(x))
        or _calls_module(x)
        for x in walk.parts(e)
    )


def _calls_module(e: n.Expr) -> bool:
    return type(e) is n.Call and type(e.func) is n.Attr and _is_module(e.func)


def _is_module(e: n.Expr) -> bool:
    """Whether ``e`` is a dotted name of outside the function: ``np.linalg.norm``."""
    return type(e) in (n.Global, n.Ref) or (type(e) is n.Attr and _is_module(e.value))


def _rule(s: n.Stmt) -> Place | None:
    return s.site if isinstance(s.site, Place) else None


def reaches(e: n.Expr, name: str) -> bool | None:
    """Whether evaluating ``e`` reads ``name`` (once) before anything is computed; None: nothing is, nor is it read."""
    t = type(e)
    if t is n.Name:
        return True if e.id == name else None
    if t in (n.Const, n.Global, n.Ref) or (t is n.Attr and _is_module(e)):
        return None
    if t in (n.Lambda, n.Closure):
        return False
    first = (e.test,) if t is n.IfExp else walk.children(e)
    for part in first:
        found = reaches(part, name)
        if found is not None:
            return found
    return None if t in (n.TupleExpr, n.ListExpr, n.Slice) else False


def width(e: n.Expr) -> int:
    """About how many columns ``e`` takes."""
    t = type(e)
    if t in (n.Name, n.Global):
        return len(e.id)
    if t is n.Ref:
        return len(e.name)
    if t is n.Const:
        return len(repr(e.value))
    inner = sum(map(width, walk.children(e)))
    if t is n.Attr:
        return inner + len(e.name) + 1
    return inner + (3 if t is n.Binary else 2) * max(1, len(walk.children(e)) - 1)
