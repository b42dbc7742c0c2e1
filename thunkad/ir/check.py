"""Is it normal form?  The rules of ``docs/internals.md`` as a checker, for tests and for ``THUNKAD_DUMP`` runs.

Without versions: operands are atoms, exits are structured.  With versions also: a name is bound once, but for joins
(once in each arm of an ``If``) and carried names (before a loop, and by the copies at the end of its body); what is
read has been bound before on some path.
"""

from __future__ import annotations

from collections.abc import Iterable

from thunkad.ir import nodes as n
from thunkad.ir import walk


class NotNormalForm(AssertionError):
    """Some pass broke the normal form: a defect of the compiler, not of the user's program."""


def check_normal(function: n.Function, versioned: bool) -> None:
    """Raise :class:`NotNormalForm`, naming the statement, unless ``function`` is in normal form."""
    body = function.body
    if not body or type(body[-1]) is not n.Return:
        raise NotNormalForm(f"{function.name}: the last statement is not a return")
    for s in walk.statements(body):
        if type(s) is n.Return and s is not body[-1]:
            _fail(function, s, "a return that is not the last statement")
        _check_shape(function, s, versioned)
    if versioned:
        _Bindings(function).check()
    for s in walk.statements(body):
        for e in walk.expressions(s):
            if type(e) is n.Closure:
                check_normal(e.function, versioned)


def _fail(function: n.Function, s: n.Stmt, why: str) -> None:
    raise NotNormalForm(f"{function.name}, line {s.line}: {why} in {_shown(s)}")


def _shown(s: n.Stmt) -> str:
    if type(s) in (n.If, n.For, n.While, n.With, n.Try):
        return f"{type(s).__name__} {walk.expressions(s)!r}"
    return repr(s)


# ---------------------------------------------------------------- operands


def _check_shape(function: n.Function, s: n.Stmt, versioned: bool) -> None:
    t = type(s)
    if t in (n.Break, n.Continue, n.Define):
        _fail(function, s, f"{t.__name__} has no place")
    if t in (n.Assign, n.Effect):
        ok = is_value(s.value) and not (type(s.value) is n.Inplace and not versioned)
    elif t is n.Update and type(s.target) is n.Name:
        ok = not versioned and is_atom(s.value)
    elif t in (n.Store, n.Update):
        ok = type(s.target) in (n.Index, n.Attr) and is_value(s.target) and is_atom(s.value)
    elif t is n.Delete:
        ok = not versioned if type(s.target) is n.Name else is_value(s.target)
    elif t is n.For:  # `range(n)` and the like stay visible
        ok = is_atom(s.iter) or (type(s.iter) is n.Call and is_value(s.iter))
    elif t is n.With:
        ok = is_value(s.item)
    elif t is n.Try:
        ok = s.types is None or is_outside(s.types)
    else:
        ok = all(is_atom(e) for e in walk.expressions(s))
    if not ok:
        _fail(function, s, "operands that are not atoms, or an operation that has no place,")


def is_atom(e: n.Expr) -> bool:
    return type(e) in n.ATOMS


def is_value(e: n.Expr) -> bool:
    """Whether ``e`` may stand on the right of an assignment: at most one operation over atoms."""
    t = type(e)
    if t in n.ATOMS:
        return True
    if t is n.Call:
        return _is_callee(e.func) and _all_items(e.args) and all(is_atom(v) for _, v in e.kwargs)
    if t is n.Attr:
        return is_atom(e.value) or _is_global_chain(e.value)
    if t is n.Index:
        return is_atom(e.value) and _is_index(e.index)
    if t in (n.TupleExpr, n.ListExpr, n.SetExpr):
        return _all_items(e.items)
    if t in (n.Unary, n.Binary, n.Inplace, n.Compare, n.DictExpr, n.Closure):
        return all(is_atom(c) for c in walk.children(e))
    return False  # Star, Slice, IfExp, Lambda


def _all_items(items: Iterable[n.Expr]) -> bool:
    return all(is_atom(i.value if type(i) is n.Star else i) for i in items)


def is_outside(e: n.Expr) -> bool:
    """Whether ``e`` is made of names from outside the function only: exceptions to catch."""
    return all(map(is_outside, e.items)) if type(e) is n.TupleExpr else _is_global_chain(e)


def _is_global_chain(e: n.Expr) -> bool:
    while type(e) is n.Attr:
        e = e.value
    return type(e) in (n.Global, n.Ref)


def _is_callee(e: n.Expr) -> bool:
    return is_atom(e) or (type(e) is n.Attr and (is_atom(e.value) or _is_global_chain(e)))


def _is_index(e: n.Expr) -> bool:
    if type(e) is n.TupleExpr:
        return all(is_atom(i.value if type(i) is n.Star else i) or _is_slice(i) for i in e.items)
    return is_atom(e) or _is_slice(e)


def _is_slice(e: n.Expr) -> bool:
    return type(e) is n.Slice and all(is_atom(c) for c in walk.children(e))


# ---------------------------------------------------------------- bindings


class _Bindings:
    """One walk in program order with the names bound so far on some path and the statement that bound each."""

    def __init__(self, function: n.Function) -> None:
        self.function = function
        self.params = {*function.captures, *(p.name for p in function.params)}
        self.seen: dict[str, n.Stmt | None] = dict.fromkeys(self.params)
        self.carried: set[str] = set()

    def check(self) -> None:
        self.block(self.function.body)

    def fail(self, s: n.Stmt, why: str) -> None:
        _fail(self.function, s, why)

    def bind(self, name: str, s: n.Stmt, bound: set[str]) -> None:
        if name in self.seen:
            self.fail(s, f"{name!r} is bound again")
        self.seen[name] = s
        bound.add(name)

    def block(self, block: list[n.Stmt], trailing: int | None = None, outer: frozenset[str] = frozenset()) -> set[str]:
        """Check ``block``; returns the names that it binds.

        From the statement number ``trailing`` on, names of ``outer`` (bound before the loop) may be bound by copies.
        """
        bound: set[str] = set()
        rebound: set[str] = set()
        for k, s in enumerate(block):
            for name in walk.reads(s) if type(s) not in (n.While, n.Assert) else ():
                self.read(name, s)
            if trailing is not None and k >= trailing and type(s) is n.Assign and s.target in outer:
                if s.value.id in rebound:
                    self.fail(s, f"the carried name {s.value.id!r} is read after it was bound for the next iteration")
                self.carry(s)
                rebound.add(s.target)
                continue
            self.statement(s, bound)
        return bound

    def read(self, name: str, s: n.Stmt) -> None:
        if name not in self.seen:
            self.fail(s, f"{name!r} is read but bound on no path before")

    def carry(self, s: n.Assign) -> None:
        first = self.seen[s.target]
        if s.target in self.params or s.target in self.carried:
            self.fail(s, f"{s.target!r} is bound again")
        if first is not None and not (type(first) is n.Assign and is_atom(first.value)):
            self.fail(s, f"the carried name {s.target!r} has an initial value that was computed under this name")
        self.carried.add(s.target)

    def statement(self, s: n.Stmt, bound: set[str]) -> None:
        t = type(s)
        if t is n.If:
            before = dict(self.seen)
            first = self.block(s.body)
            after_first, self.seen = self.seen, before
            second = self.block(s.orelse)
            self.seen = {**after_first, **self.seen}
            for name in first & second:
                self.seen[name] = s
            bound |= first | second
        elif t in (n.For, n.While):
            self.loop(s, bound)
        elif t is n.With:
            for name in walk.writes(s):
                self.bind(name, s, bound)
            bound |= self.block(s.body)
        elif t is n.Try:
            before = dict(self.seen)
            first = self.block(s.body)
            first |= self.block(s.orelse)
            after_first, self.seen = self.seen, before
            second = set()
            for name in walk.writes(s):
                self.bind(name, s, second)
            second |= self.block(s.handler)
            self.seen = {**after_first, **self.seen}
            for name in first & second:
                self.seen[name] = s
            bound |= first | second
        elif t is n.Assert:
            for name in walk.names(s.test):
                self.read(name, s)
            bound |= self.block(s.message_body)
            for name in () if s.message is None else walk.names(s.message):
                self.read(name, s)
        else:
            for name in walk.writes(s):
                self.bind(name, s, bound)

    def loop(self, s: n.For | n.While, bound: set[str]) -> None:
        trailing = len(s.body)
        while trailing and type(s.body[trailing - 1]) is n.Assign and type(s.body[trailing - 1].value) is n.Name:
            trailing -= 1
        outer = {c.target for c in s.body[trailing:] if c.target in self.seen}
        for c in s.body[trailing:]:  # carried names without a value before the loop are readable at its head
            if c.target not in self.seen and self.read_before(c, s):
                self.seen[c.target] = None
                outer.add(c.target)
                bound.add(c.target)
        if type(s) is n.While:
            bound |= self.block(s.test_body)
            for name in walk.names(s.test):
                self.read(name, s)
        for name in walk.writes(s):
            self.bind(name, s, bound)
        bound |= self.block(s.body, trailing, frozenset(outer))
        if s.stop is not None and s.stop not in must_bind(s.body):
            self.fail(s, f"the stop flag {s.stop!r} is not bound on every path of the body")

    @staticmethod
    def read_before(copy: n.Assign, s: n.For | n.While) -> bool:
        """Whether the name that ``copy`` binds at the end of the body is read in the loop before that."""
        tests = s.test_body if type(s) is n.While else []
        for other in s.body:
            if other is copy:
                break
            if copy.target in walk.read_anywhere([other]):
                return True
        return copy.target in walk.read_anywhere(tests) or (type(s) is n.While and copy.target in walk.names(s.test))


def must_bind(block: list[n.Stmt]) -> set[str]:
    """Names that ``block`` binds on every path that reaches its end (all of them if none does)."""
    found = _must_bind(block)
    return walk.assigned(block) if found is None else found


def may_end(block: list[n.Stmt]) -> bool:
    """Whether the end of ``block`` may be reached: not every path raises."""
    return _must_bind(block) is not None


def _must_bind(block: list[n.Stmt]) -> set[str] | None:
    out: set[str] = set()
    for s in block:
        if type(s) is n.Raise:
            return None
        if type(s) is n.If:
            arms = [found for found in map(_must_bind, (s.body, s.orelse)) if found is not None]
            if not arms:
                return None
            out |= set.intersection(*arms)
        elif type(s) is n.While:
            out |= _must_bind(s.test_body) or set()
        elif type(s) is n.With:
            found = _must_bind(s.body)
            if found is None:
                return None
            out |= found | set(walk.writes(s))
        elif type(s) is n.Try:
            parts = _must_bind(s.body), _must_bind(s.orelse)
            arms = [] if None in parts else [set.union(*parts)]  # type: ignore[arg-type]
            caught = _must_bind(s.handler)
            arms += [] if caught is None else [caught]
            if not arms:
                return None
            out |= set.intersection(*arms) | ({s.raised} if s.raised is not None else set())
        elif type(s) is not n.For:
            out.update(walk.writes(s))
    return out
