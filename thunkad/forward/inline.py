"""Generated functions pasted into generated functions, and what that leaves cleaned up.

Derivations (see :mod:`thunkad.compiled.derivations`) are put together from calls of generated code.  Pasting the
callees makes one function of it: the tuples that were handed over disappear, constants fold, and what nobody needs is
dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from thunkad.analysis.sites import Site
from thunkad.analysis.writing import first_is_written, out_operands
from thunkad.forward.calls import EFFECT, tidy
from thunkad.forward.flatten import flattened
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Kind
from thunkad.normal.forward_tuples import forward_tuples
from thunkad.optimise.dead import Purity, eliminate
from thunkad.optimise.floats import identities
from thunkad.optimise.purity import CHANGING, CHECKING, is_changing_call, is_pure
from thunkad.records import replace
from thunkad.runtime.arrays import conjugate
from thunkad.runtime.cotangents import dense
from thunkad.tangents import ZERO

#: Gives the function of a pinned callee that is to be pasted, or None.
Choose = Callable[[Any], n.Function | None]


def pasted(function: n.Function, choose: Choose) -> n.Function:
    """``function`` with calls of the chosen callees replaced by their bodies."""
    names = Names(walk.taken_names(function))
    return _apart(_with(function, _Paste(names, choose).block(function.body)))


def _apart(function: n.Function) -> n.Function:
    """``function`` with other names for the variables that are called as globals that pasted code reads."""
    expressions = (e for s in walk.statements(function.body) for e in walk.parts(*walk.expressions(s)))
    outside = {e.id for e in expressions if type(e) is n.Global}
    own = {p.name for p in function.params} | walk.assigned(function.body)
    if own.isdisjoint(outside):
        return function
    names = Names(walk.taken_names(function) | outside)
    renamed = {x: names.new(x) for x in sorted(own & outside)}
    params = [replace(p, name=renamed.get(p.name, p.name)) for p in function.params]
    return replace(function, params=params, body=walk.rename(function.body, renamed))


class _Paste:
    def __init__(self, names: Names, choose: Choose) -> None:
        self.names, self.choose = names, choose
        self.marks: dict[n.Handover, n.Handover] = {}  # what is pasted somewhere else has others

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        for s in block:
            if type(s) is n.If:
                s = n.If(s.test, self.block(s.body), self.block(s.orelse), line=s.line, site=s.site)
            elif type(s) is n.For:
                s = n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, line=s.line, site=s.site)
            elif type(s) is n.While:
                s = n.While(self.block(s.test_body), s.test, self.block(s.body), s.stop, line=s.line, site=s.site)
            elif type(s) is n.With:
                s = n.With(s.item, s.target, self.block(s.body), line=s.line, site=s.site)
            elif type(s) is n.Try:
                blocks = self.block(s.body), self.block(s.handler), self.block(s.orelse)
                s = n.Try(*blocks, s.types, s.error, s.raised, s.shielded, line=s.line, site=s.site)
            callee = self.callee(s)
            if callee is None:
                out.append(s)
            else:
                self.paste(s, callee, out)
        return out

    def callee(self, s: n.Stmt) -> n.Function | None:
        if type(s) not in (n.Assign, n.Unpack) or type(s.value) is not n.Call or type(s.value.func) is not n.Ref:
            return None
        if s.value.kwargs or any(type(a) is n.Star for a in s.value.args):
            return None
        return self.choose(s.value.func.value)

    def paste(self, s: Any, callee: n.Function, out: list[n.Stmt]) -> None:
        params = [p.name for p in callee.params]
        bound = walk.assigned(callee.body)
        mapping: dict[str, n.Expr] = {}
        for p, a in zip(params, s.value.args, strict=True):
            # Constants are put in by what folds them.
            if p not in bound and type(a) in n.ATOMS and type(a) is not n.Const:
                mapping[p] = a
                continue
            name = self.names.new(p)
            out.append(n.Assign(name, a, line=s.line))
            mapping[p] = n.Name(name)
        for local in sorted(bound - set(params)):
            mapping[local] = n.Name(self.names.new(local))
        for x in callee.body:
            if type(x) is n.Return:
                value = walk.substitute(x.value, mapping)
                new = n.Assign(s.target, value) if type(s) is n.Assign else n.Unpack(s.targets, value)
                new.line = s.line
                out.append(new)
            else:
                out.append(rebound(x, mapping, self.marks))


def rebound(s: n.Stmt, mapping: dict[str, n.Expr], marks: dict[n.Handover, n.Handover]) -> n.Stmt:
    """A copy of ``s`` over other names and marks; what its site says of operands by name no longer holds."""
    new = walk.map_stmt(s, lambda e: walk.substitute(e, mapping), lambda i: mapping[i].id if i in mapping else i)  # type: ignore[union-attr]
    for x in walk.statements([new]):
        if isinstance(x.site, n.Handover):
            x.site = marks.setdefault(x.site, n.Handover())
    return new


def polished(function: n.Function, kinds: Mapping[str, Kind] | None = None) -> n.Function:
    """``function`` in normal form, constants and copies folded, without what neither its result nor an effect needs.

    ``kinds``: those of its parameters, where they are known.
    """
    flat = flattened(function)
    body = flat.body
    bound = walk.assigned(body)
    kinds = {x: kind for x, kind in (kinds or {}).items() if x not in bound}
    for _ in range(4):
        before = _size(body)
        body = forward_tuples(_with(flat, _Fold(body, identities(body, kinds)).block(body))).body
        body = eliminate(body, set(), Purity(pure, lambda s: None, lambda s: None))
        if _size(body) == before:
            break
    return _with(flat, body)


def _with(function: n.Function, body: list[n.Stmt]) -> n.Function:
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


def _size(block: list[n.Stmt]) -> int:
    return sum(1 for _ in walk.statements(block))


def pure(s: n.Stmt) -> bool:
    """Whether a statement of generated code may be dropped; shape checks were made when the value was computed."""
    e = s.value  # type: ignore[attr-defined]
    if s.site == EFFECT or type(e) is n.Inplace:
        return False
    if isinstance(s.site, Site):
        return is_pure(e, s.site, lambda site: False)
    if type(e) is n.Call:
        root = e.func
        while type(root) is n.Attr:
            root = root.value
        name = e.func.name if type(e.func) in (n.Ref, n.Attr) else ""
        changes = name in CHANGING or name in CHECKING or name.startswith("push") or _writes(e)
        made_here = type(root) is n.Ref and not hasattr(root.value, "function")
        return made_here and not changes and not getattr(root.value, "__module__", "").startswith("numpy.random")
    return True


def _writes(e: n.Call) -> bool:
    """Whether a call writes into an argument (``out=``, ``np.copyto``)."""
    parts: list[str] = []
    root = e.func
    while type(root) is n.Attr:
        parts.append(root.name)
        root = root.value
    fn = root.value if type(root) is n.Ref else None
    for name in reversed(parts):
        fn = getattr(fn, name, None)
    site = Site("rule", fn, args=e.args, kwargs=e.kwargs)
    return bool(out_operands(site, e)) or first_is_written(site, e) is not None


def _atoms(known: dict[str, n.Expr]) -> dict[str, n.Expr]:
    """What may be moved into a block in which evaluating it may mean something else."""
    return {x: e for x, e in known.items() if type(e) in n.ATOMS}


class _Fold:
    """Copies and constants put where they are read, and what that makes simpler."""

    def __init__(self, body: list[n.Stmt], known: Callable[[n.Expr], n.Expr]) -> None:
        self.known = known
        self.bound = Counter(w for s in walk.statements(body) for w in walk.writes(s))
        self.changes = any(_changes(s) for s in walk.statements(body))
        self.buffers = _buffers(body)

    def block(self, block: list[n.Stmt], known: dict[str, n.Expr] | None = None) -> list[n.Stmt]:
        known = {} if known is None else known
        return [self.statement(s, known) for s in block]

    def statement(self, s: Any, known: dict[str, n.Expr]) -> n.Stmt:
        t = type(s)
        if t is n.If:
            test = walk.substitute(s.test, known)
            return n.If(
                test, self.block(s.body, dict(known)), self.block(s.orelse, dict(known)), line=s.line, site=s.site
            )
        if t is n.For:
            iterable = walk.substitute(s.iter, known)
            return n.For(s.target, iterable, self.block(s.body, dict(known)), s.stop, s.count, line=s.line, site=s.site)
        if t is n.While:
            head = dict(known)
            return n.While(
                self.block(s.test_body, head),
                walk.substitute(s.test, head),
                self.block(s.body, head),
                s.stop,
                line=s.line,
            )
        if t is n.With:
            item = walk.substitute(s.item, known)
            return n.With(item, s.target, self.block(s.body, _atoms(known)), line=s.line, site=s.site)
        if t is n.Try:
            body, handler, orelse = (self.block(b, _atoms(known)) for b in (s.body, s.handler, s.orelse))
            return n.Try(body, handler, orelse, s.types, s.error, s.raised, s.shielded, line=s.line, site=s.site)
        if t is n.Assert:
            return s
        own = self.changes or (t is n.Assign and s.target in self.buffers)
        new: Any = walk.map_stmt(s, lambda e: self.folded(e, known, own))
        if t is n.Assign and self.bound[s.target] == 1 and self.movable(new.value):
            known[s.target] = new.value
        return new

    def folded(self, e: n.Expr, known: dict[str, n.Expr], own: bool) -> n.Expr:
        """``e`` with what is known put in and made simpler.

        A copy that its author wrote (``x * 1.0``) stays one; so does every product of which the memory must be the
        function's ``own``.
        """
        new = walk.substitute(e, known)
        simple = self.known(simpler(new))
        if type(simple) is n.Name and type(e) in (n.Binary, n.Unary) and (own or _has_literal(e)):
            return new
        return simple

    def movable(self, e: n.Expr) -> bool:
        """Whether ``e`` is the same wherever it is read, and reading it there says the same."""
        if type(e) is n.Name:
            return self.bound[e.id] <= 1
        return type(e) is n.Const or (type(e) is n.Ref and e.value is ZERO)


def _changes(s: n.Stmt) -> bool:
    """Whether ``s`` may change an array in place."""
    return type(s) in (n.Store, n.Update, n.Effect) or (type(s) is n.Assign and type(s.value) is n.Inplace)


def _buffers(body: list[n.Stmt]) -> set[str]:
    """Variables whose memory helpers add into, and those that they may be views of."""
    everything = walk.statements(body)
    calls = [s.value for s in everything if type(s) is n.Assign and is_changing_call(s.value)]
    found = {e.id for call in calls for e in call.args[:1] if type(e) is n.Name}  # type: ignore[attr-defined]
    if not found:
        return found
    made = [(w, e) for s in everything for w in walk.writes(s) for e in walk.expressions(s)]
    before = -1
    while before != len(found):
        before = len(found)
        for w, e in made:
            if w in found and type(e) not in (n.Binary, n.Unary, n.Compare):  # those make memory of their own
                found.update(walk.names(e))
    return found


def _has_literal(e: n.Expr) -> bool:
    return any(type(x) is n.Const for x in walk.children(e))


def simpler(e: n.Expr) -> n.Expr:
    e = tidy(e)
    if (
        type(e) is n.Call
        and type(e.func) is n.Ref
        and e.args
        and type(e.args[0]) is n.Const
        and type(e.args[0].value) is float
    ):
        if e.func.value in (dense, conjugate):
            return e.args[0]
    return e
