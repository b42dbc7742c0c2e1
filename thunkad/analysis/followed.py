"""Exceptions that hold values, as the values that they are.

Where a handler reads what an exception holds, and the exception comes from a ``raise`` here or from a function that is
looked into, the two ways on from there are those of an ``If``::

    try:                                    y, error = checked_outcome(x)
        y = checked(x)                      if error is None:
    except TooBig as error:                     z = y
        z = error.value                     else:
    else:                                       if matches(error, TooBig):
        z = y                                       z = error.value
                                                else:
                                                    raise error

:mod:`thunkad.normal.guarded` has cut the bodies so that such a statement stands alone.  What any other statement
raises holds constants.
"""

from __future__ import annotations

import inspect
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from thunkad.analysis.activity import CONSTANT, all_flows
from thunkad.analysis.makers import by_init
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.special import own_method
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Instance, is_hashable, may_have_tangent
from thunkad.normal.guarded import LEAVE, MATCHES, MUTATING, alone, may_raise, reads_exceptions
from thunkad.normal.outcomes import outcome_of
from thunkad.records import replace
from thunkad.runtime.exceptions import are_exceptions, attempt, told
from thunkad.runtime.keyed import KEYED
from thunkad.runtime.suspended import Managed

_SHORT = 4  # statements that a handler may have to be there several times
ATTEMPT, TOLD, EXCEPTIONS = n.Ref("attempt", attempt), n.Ref("told", told), n.Ref("are_exceptions", are_exceptions)


def with_outcomes(
    found: Resolved, raises: Callable[[Site, Any], bool], cut_apart: Callable[[str, int], None]
) -> n.Function:
    """The function of ``found`` with followed exceptions; the same function if there are none.

    ``raises``: whether the function of a site may raise an exception that holds values; ``cut_apart`` is told the file
    and the line of such a step that has to stand alone.
    """
    function = found.function
    errors = {s.error for s in walk.statements(function.body) if type(s) is n.Try and s.error is not None}
    read = read_names(found) & errors if errors else errors
    if not read:
        return function
    writer = _Writer(found, raises, read, cut_apart)
    body = writer.block(function.body)
    return replace(function, body=body) if writer.changed else function


class _Writer:
    def __init__(
        self, found: Resolved, raises: Callable[[Site, Any], bool], read: set[str],
        cut_apart: Callable[[str, int], None],
    ) -> None:  # fmt: skip
        self.found, self.raises, self.read, self.cut_apart = found, raises, read, cut_apart
        self.names = Names(walk.taken_names(found.function))
        self.changed = False

    def may_raise_values(self, body: list[n.Stmt]) -> bool:
        if self.found.function.generated:
            return False  # what holds values is no exception there any more
        for s in walk.statements(body):
            if type(s) is n.Raise and type(s.exc) is n.Name and may_have_tangent(self.found.kind(s.exc)):
                return True
            if self.raises_by(s):
                return True
            truth = truth_of(self.found, s)
            if truth is not None and self.raises(truth, self.found.owner):
                raise UnsupportedSyntaxError(
                    f"using what an exception holds that {truth.callee.__qualname__} has raised, called unseen, is "
                    "not supported",
                    self.found.place(s.line),
                    "call it by its name, before this statement",
                )
        return False

    def raises_by(self, s: n.Stmt) -> bool:
        """Whether what ``s`` itself calls may raise an exception that holds values."""
        site = self.found.sites.get(id(s))
        return isinstance(site, Site) and not _is_identity(s) and self.raises(site, self.found.owner)

    def split(self, s: n.Try) -> list[n.Stmt] | None:
        """``s`` with each step that raises such an exception by itself: nobody sees half of its body.

        Where its handler is too long to be there several times, the function has to be cut anew; None then.
        """
        if self.found.function.generated:
            return None
        inside = list(walk.statements(s.body))
        loops = any(walk.blocks(x) and type(x) not in (n.If, n.Assert) for x in inside)
        if not loops and len(s.handler) <= _SHORT and not any(map(walk.blocks, s.handler)):
            return self.steps(s, [x for x in s.body if type(x) is not n.Comment], s.orelse)
        for x in inside:
            if not walk.blocks(x) and self.raises_by(x):
                self.cut_apart(self.found.function.filename, x.line)
        return None

    def steps(self, s: n.Try, body: list[n.Stmt], orelse: list[n.Stmt]) -> list[n.Stmt]:
        raising = [self.may_raise_values([x]) for x in body]
        if True not in raising:
            return self.piece(s, body, orelse)
        k = raising.index(True)
        one, tail = body[k], self.steps(s, body[k + 1 :], orelse)
        if type(one) is n.If:
            arms = self.steps(s, one.body, tail), self.steps(s, one.orelse, walk.rename(tail, {}))
            tail = [n.If(one.test, *arms, line=one.line)]
        else:
            tail = self.piece(s, [one], tail)
        return self.piece(s, body[:k], tail)

    def piece(self, s: n.Try, body: list[n.Stmt], orelse: list[n.Stmt]) -> list[n.Stmt]:
        """Part of the body of ``s``, with what follows if it raises nothing."""
        if not any(map(may_raise, walk.statements(body))):
            return [*body, *orelse]
        assert s.error is not None
        error = self.names.new(s.error)
        self.read.add(error)
        handler = walk.rename(s.handler, {s.error: error})
        new = n.Try(body, handler, orelse, s.types, error, line=body[0].line)
        return self.followed(new, body) or [new]

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            out += self.statement(s)
        return out

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        new = s if type(s) is n.Assert else walk.map_blocks(s, self.block)
        if type(new) is not n.Try or new.error is None or new.site is CONSTANT or new.error not in self.read:
            return [new]
        instead = self.followed(new, s.body)  # type: ignore[attr-defined]
        if instead is None and alone(s.body) is None:  # type: ignore[attr-defined]
            instead = self.split(s)  # type: ignore[arg-type]
        self.changed = self.changed or instead is not None
        return [new] if instead is None else instead

    def followed(self, s: n.Try, body: list[n.Stmt]) -> list[n.Stmt] | None:
        """What ``s`` becomes, if its ``body``, as it was resolved, is one step, or raises nothing that holds values."""
        one, instead = alone(body), None
        if one is not None and not self.found.function.generated:
            instead = self.raised(s, one) if type(one) is n.Raise else self.called(s, one)
        if instead is None and not self.may_raise_values(body):
            s.site, instead = CONSTANT, [s]
        return instead

    # ------------------------------------------------------------ raise

    def raised(self, s: n.Try, one: n.Raise) -> list[n.Stmt] | None:
        exc, error, line = one.exc, s.error, one.line
        if type(exc) is not n.Name or error is None:
            return None
        kind = self.found.kind(exc)
        if not may_have_tangent(kind):
            return None
        before: list[n.Stmt] = []
        if type(one.cause) is n.Name and may_have_tangent(self.found.kind(one.cause)):  # which a handler may read
            raises, kept = n.Name(self.names.temporary()), n.Attr(exc, "__cause__")
            before = [
                n.Assign(raises.id, n.Call(EXCEPTIONS, (exc, one.cause)), line=line),
                n.If(raises, [n.Store(kept, one.cause, line=line)], [], line=line),
            ]
        raising = n.Call(TOLD, (exc,) if one.cause is None else (exc, one.cause))
        if isinstance(kind, Instance) and issubclass(kind.cls, BaseException):
            first: list[n.Stmt] = [n.Effect(raising, line=line), n.Assign(error, exc, line=line)]
        else:
            made, own = n.Name(self.names.temporary()), n.Name(self.names.temporary())
            arms: tuple[list[n.Stmt], list[n.Stmt]] = (
                [n.Assign(error, exc, line=line)],
                [n.Assign(error, made, line=line)],
            )
            test = n.Compare("is", made, exc)
            first = [
                n.Assign(made.id, raising, line=line),
                n.Assign(own.id, test, line=line),
                n.If(own, *arms, line=line),
            ]
        return [*before, *first, *self.caught(s, error, line)]

    def caught(self, s: n.Try, error: str, line: int) -> list[n.Stmt]:
        """What becomes of an exception that ``s`` deals with if it is meant."""
        if s.types is None:
            return s.handler
        out: list[n.Stmt] = []
        meant = n.Name(self.names.temporary())
        types_ = self.operand(s.types, out, line)
        out.append(n.Assign(meant.id, n.Call(MATCHES, (n.Name(error), types_)), line=line))
        again: list[n.Stmt] = [n.Raise(n.Name(error), None, line=line)]
        return [*out, n.If(meant, s.handler, again, line=line)]

    def operand(self, e: n.Expr, out: list[n.Stmt], line: int) -> n.Expr:
        if type(e) in n.ATOMS:
            return e
        value = n.TupleExpr(tuple(self.operand(x, out, line) for x in e.items)) if type(e) is n.TupleExpr else e
        out.append(n.Assign(self.names.temporary(), value, line=line))
        return n.Name(out[-1].target)  # type: ignore[attr-defined]

    # ------------------------------------------------------------ calls

    def called(self, s: n.Try, one: n.Stmt) -> list[n.Stmt] | None:
        site, error, line = self.found.sites.get(id(one)), s.error, one.line
        if site is None or error is None or not self.raises_by(one):
            return None
        out: list[n.Stmt] = []
        call = self.outcome(getattr(one, "value", None), site, out, line)
        if call is None:
            return None
        pair, fine = n.Name(self.names.new("outcome")), n.Name(self.names.temporary())
        target, orelse = one.target if type(one) is n.Assign else self.names.temporary(), s.orelse
        if target in walk.assigned(s.handler):
            result = self.names.new(target)
            target, orelse = result, [n.Assign(target, n.Name(result), line=line), *orelse]
        if type(one) is n.Effect and type(one.value.func) is n.Attr and site.callee is list.sort:  # type: ignore[union-attr]
            place = n.Index(one.value.func.value, n.Slice(None, None, None))  # type: ignore[union-attr]
            orelse = [n.Store(place, n.Name(target), line=line), *orelse]
        if type(one) is n.Unpack:
            orelse = [replace(one, value=n.Name(target)), *orelse]
        out.append(n.Assign(pair.id, call, line=line))
        out.append(n.Unpack((target, error), pair, line=line))
        out.append(n.Assign(fine.id, n.Compare("is", n.Name(error), n.Const(None)), line=line))
        return [*out, n.If(fine, orelse, self.caught(s, error, line), line=line)]

    def outcome(self, e: n.Expr | None, site: Site, out: list[n.Stmt], line: int) -> n.Expr | None:
        """The call that hands over what ``e``, or a statement without a value that is one, raises."""
        fn: Any = site.callee
        if type(e) is not n.Call:
            asked = fn is None and type(e) in (n.Compare, n.Unary)
            return self.outcome_of_operator(_OPERATORS.get(e.op) if asked else fn, site)  # type: ignore[union-attr]
        if is_hashable(fn) and fn in KEYED and "key" in dict(e.kwargs):
            made = outcome_of(KEYED[fn])
            owner = (e.func.value,) if fn is list.sort and type(e.func) is n.Attr else ()
            return n.Call(n.Ref(made.__name__, made), (*owner, *e.args), e.kwargs)
        if site.how == "inside" and isinstance(fn, types.FunctionType) and not inspect.isgeneratorfunction(fn):
            made = outcome_of(fn)
            args = site.args
            if len(args) + len(site.kwargs) < len(site.bound) and type(e.func) is not n.Attr and is_object(site):
                args = (site.bound[0][1], *args)
            return n.Call(n.Ref(made.__name__, made), args, site.kwargs)
        if site.how == "construct" and site.bound:
            keys = tuple(k for k, _ in site.kwargs if k is not None)
            if len(keys) < len(site.kwargs) or any(type(a) is n.Star for a in site.args):
                return None
            made = outcome_of(by_init(fn, len(site.args), keys))
            return n.Call(n.Ref(made.__name__, made), site.args, site.kwargs)
        if site.how in ("rule", "constant"):  # what it calls unseen may raise; whether it does is seen when it runs
            return n.Call(ATTEMPT, (self.operand(e.func, out, line), *e.args), e.kwargs)
        if site.how == "dynamic" and not is_of_container(fn):
            called = fn if isinstance(fn, (n.Name, n.Attr, n.Global, n.Ref)) else e.func
            return n.Call(ATTEMPT, (self.operand(called, out, line), *site.args), site.kwargs)
        return None

    def outcome_of_operator(self, fn: Any, site: Site) -> n.Expr | None:
        """The same for an operator, a property or an item: the method that it is, or what it is found to be."""
        if site.how == "inside" and isinstance(fn, types.FunctionType) and not inspect.isgeneratorfunction(fn):
            made = outcome_of(fn)
            return n.Call(n.Ref(made.__name__, made), tuple(e for _, e in site.bound))
        return n.Call(ATTEMPT, (n.Ref(fn.__name__, fn), *site.args)) if callable(fn) else None


def is_object(site: Site) -> bool:
    """Whether what is called is an object, whose method the callee is."""
    first = site.bound[0][1]
    return type(first) is n.Ref and getattr(type(first.value), "__call__", None) is site.callee  # noqa: B004


def read_names(found: Resolved) -> set[str]:
    """Names of which somebody reads what they hold: not only raises it again, or asks for its class or its text."""
    read: set[str] = set()
    copies: dict[str, list[str]] = {}
    for s, flowing in all_flows(found):
        if type(s) is n.Return:
            read.update(walk.names(s.value))
        elif type(s) is n.Assign and type(s.value) is n.Name:
            copies.setdefault(s.target, []).append(s.value.id)
        elif type(s) is not n.Try:
            for target, operands in flowing:
                if may_have_tangent(found.kinds.get(target, UNKNOWN)):
                    read.update(x for x in operands if x != target)
    left = list(read)
    while left:
        new = [x for x in copies.get(left.pop(), ()) if x not in read]
        read.update(new)
        left += new
    return read


def raises_values(found: Resolved, inner: Callable[[Site], bool]) -> bool:
    """Whether a function may raise an exception that holds values; ``inner`` says so of its callees."""
    statements = list(walk.statements(found.function.body))
    made = {s.target: found.sites.get(id(s)) for s in statements if type(s) is n.Assign and type(s.value) is n.Call}
    raised = [s for s in statements if type(s) is n.Raise and type(s.exc) is n.Name]
    reads = [i for s in statements for i in walk.reads(s)]
    for s in raised:
        exc = s.exc.id  # type: ignore[union-attr]
        site = made.get(exc)
        constant = site is not None and not any(map(may_have_tangent, site.kinds)) and reads.count(exc) == 1
        if not constant and may_have_tangent(found.kind(n.Name(exc))):
            return True
    sites = [found.sites.get(id(s)) for s in statements if not _is_identity(s)]
    return any(isinstance(site, Site) and inner(site) for site in [*sites, *(truth_of(found, s) for s in statements)])


def truth_of(found: Resolved, s: n.Stmt) -> Site | None:
    """The call of the user's method that says whether the object which ``s`` tests is true."""
    test = getattr(s, "test", None)
    kind = found.kind(test) if type(test) is n.Name else UNKNOWN
    if not isinstance(kind, Instance):
        return None
    method = own_method(kind, "__bool__") or own_method(kind, "__len__")
    return None if method is None else Site("inside", method, args=(test,), kinds=(kind,))


def is_of_container(fn: Any) -> bool:
    """Whether what is called is, by its name, a method by which a list or the like is changed."""
    return type(fn) is n.Attr and fn.name in MUTATING and type(fn.value) is not n.Global


def _is_identity(s: n.Stmt) -> bool:
    """Whether ``s`` asks whether two objects are the same, which runs no code."""
    return type(s) is n.Assign and type(s.value) is n.Compare and s.value.op in ("is", "is not")


#: The functions of operators that have no derivative.
_OPERATORS: dict[str, Any] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "not": operator.not_,
}  # fmt: skip


def is_of_library(fn: Any) -> bool:
    """Whether the managers that ``fn`` makes are Python's own; what they do with an exception is not followed."""
    return isinstance(fn, type) and fn.__module__.split(".")[0] in sys.stdlib_module_names


def shows_exceptions(found: Resolved, form_of: Callable[[Any], n.Function]) -> bool:
    """Whether the ``__exit__`` of some manager reads what is raised in its block."""
    statements = list(walk.statements(found.function.body))
    for s in statements:
        e = s.value if type(s) in (n.Assign, n.Effect) else None  # type: ignore[attr-defined]
        if type(e) is not n.Call or e.func != LEAVE or type(e.args[2]) is n.Const:
            continue
        site = found.sites.get(id(s))
        if site is not None and site.how == "dynamic":
            makers = [
                found.sites.get(id(x)) for x in statements if type(x) is n.Assign and n.Name(x.target) == e.args[0]
            ]
            if not any(x is not None and is_of_library(x.callee) for x in makers):
                return True
            continue
        if site is None or site.how != "inside" or site.callee.__module__ in sys.stdlib_module_names:
            continue
        kind = found.kind(e.args[0])
        if isinstance(kind, Instance) and issubclass(kind.cls, Managed):
            if kind.cls.catches and reads_exceptions(form_of(kind.cls.resumed).body):
                return True
        elif len(site.bound) > 2 and reads_exceptions(form_of(site.callee).body, site.bound[2][0]):
            return True
    return False
