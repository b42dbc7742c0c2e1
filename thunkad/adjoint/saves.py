"""Residuals: what the reverse of a loop body or arm reads of the primal is kept by the forward code and handed over.

    for i in range(n):                  saved = []
        t1 = h * x                      for i in range(n):
        h_1 = np.tanh(t1)                   t1 = h * x
        h = h_1                             h_1 = np.tanh(t1)
                                            saved.append((h, h_1))
                                            h = h_1
                                        …
                                        for h, h_1 in reversed(saved):

One tuple per iteration holds exactly what the reverse body reads; an arm of a branch inside a loop (or inside a
compiled callee) packs what only it binds into a tuple of its own.  Outside loops residuals are plain locals.
"""

from __future__ import annotations

from thunkad.adjoint.control import Link, trailing_copies
from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.check import must_bind
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Num
from thunkad.optimise.dead import free_reads

#: The names of the lists that loops append to, each with the names that are None before the loop.
Lists = dict[str, list[str]]


def insert_saves(
    links: list[Link],
    reverse: list[n.Stmt],
    names: Names,
    packed: bool,
    maybe_unbound: set[str] | frozenset[str] = frozenset(),
) -> Lists:
    """Fill in the hand-over of residuals for every branch and loop of one block.

    ``packed``: locals of the forward block do not reach the reverse by themselves.
    """
    twins = {s.site: s for s in walk.statements(reverse) if type(s) in (n.If, n.For) and s.site is not None}
    lists: Lists = {}
    _Saves(twins, names, lists, maybe_unbound).links(links, packed)
    return lists


class _Saves:
    def __init__(
        self, twins: dict[object, n.Stmt], names: Names, lists: Lists, maybe_unbound: set[str] | frozenset[str]
    ) -> None:
        self.twins, self.names, self.lists, self.maybe_unbound = twins, names, lists, maybe_unbound

    def links(self, links: list[Link], packed: bool) -> None:
        for link in links:
            twin = self.twins.get(link.key)
            if type(twin) is n.If:
                self.arms(link, twin, packed)
            elif type(twin) is n.For:
                self.loop(link, twin)

    def arms(self, link: Link, reverse: n.If, packed: bool) -> None:
        forward = link.forward
        assert isinstance(forward, (n.If, n.Try))
        for inner in link.inner:
            self.links(inner, packed)
        if not packed:
            return
        nothing: list[n.Stmt] = []
        first, before = (forward.handler, forward.body) if type(forward) is n.Try else (forward.body, nothing)
        arms = ((first, nothing, reverse.body), (forward.orelse, before, reverse.orelse))
        fields = [_ordered([*b, *f], free_reads(r), self.lists) for f, b, r in arms]
        if not any(fields):
            return
        kept = self.names.new("kept")
        for (f, b, r), wanted in zip(arms, fields):
            mark = n.Handover()
            f.append(n.Assign(kept, definite([b, f] if b else [f], wanted, self.names), site=mark))
            if wanted:
                r.insert(0, n.Unpack(wanted, n.Name(kept), site=mark))

    def loop(self, link: Link, reverse: n.For) -> None:
        forward = link.forward
        assert isinstance(forward, (n.For, n.While))
        self.links(link.inner[0], packed=True)
        bound = [forward.target] if type(forward) is n.For else []
        if type(forward) is n.For and forward.count is not None:
            bound.append(forward.count)
        if type(forward) is n.While:
            bound += [w for s in walk.statements(forward.test_body) for w in walk.writes(s)]
        wanted = free_reads(reverse.body)
        fields = tuple(b for b in bound if b in wanted) + tuple(
            x for x in _ordered(forward.body, wanted, self.lists) if x not in bound
        )
        call = reverse.iter
        assert type(call) is n.Call
        again = _made_again(forward, set(fields) - set(bound[:1])) if _is_plain_range(forward) else None
        if again is not None:
            reverse.iter = n.Call(call.func, (forward.iter,))  # type: ignore[union-attr]
            reverse.body[:0] = again
            needed = bound[0] in free_reads(reverse.body)
            reverse.target = bound[0] if needed else self.names.new("_")
            return
        (saved,) = call.args
        assert type(saved) is n.Name
        carried: list[n.Stmt] = list(trailing_copies(forward.body))
        own = forward.body[: len(forward.body) - len(carried)]
        forward.body[:] = own
        targets = {w for c in carried for w in walk.writes(c)}
        twins = {x: self.names.new(f"{x}_kept") for x in fields if x in targets & self.maybe_unbound}
        _note(carried, twins)
        self.lists[saved.id] = list(twins.values())
        record = definite([forward.body], fields, self.names, {*bound, *targets})
        record = n.TupleExpr(tuple(walk.substitute(e, {x: n.Name(y) for x, y in twins.items()}) for e in record.items))
        forward.body += [n.Append(saved.id, record), *carried]
        if fields:
            reverse.body.insert(0, n.Unpack(fields, n.Name(reverse.target)))


def definite(
    blocks: list[list[n.Stmt]], wanted: tuple[str, ...], names: Names, sure: set[str] | None = None
) -> n.TupleExpr:
    """The record of ``wanted`` at the end of ``blocks``, which run one after the other.

    A name that is not bound on every path gets a twin that is None where it isn't: its reverse then doesn't read it,
    and the name itself must stay unbound for the primal's sake.
    """
    sure = (sure or set()).union(*map(must_bind, blocks))
    bound = {w for b in blocks for w in walk.assigned(b)}
    twins = {x: names.new(f"{x}_kept") for x in wanted if x in bound and x not in sure}
    for block in blocks if twins else ():
        _note(block, twins)
    blocks[0][:0] = [n.Assign(twin, n.Const(None)) for twin in twins.values()]
    return n.TupleExpr(tuple(n.Name(twins.get(x, x)) for x in wanted))


def _note(block: list[n.Stmt], twins: dict[str, str]) -> None:
    """Copy names to their twins wherever ``block`` binds them."""
    out: list[n.Stmt] = []
    for s in block:
        copies: list[n.Stmt] = [n.Assign(twins[w], n.Name(w), line=s.line) for w in walk.writes(s) if w in twins]
        nested = walk.blocks(s)
        for inner in nested:
            _note(inner, twins)
        out.append(s)
        if not nested:
            out += copies
        elif copies:
            place = s.handler if type(s) is n.Try else s.body  # type: ignore[attr-defined]
            place[:0] = copies
    block[:] = out


def _is_plain_range(loop: n.For | n.While) -> bool:
    """Whether the loop runs over all of a range whose arguments are still what they were."""
    if type(loop) is not n.For or loop.stop is not None or type(loop.iter) is not n.Call:
        return False
    return (
        loop.iter.func == n.Global("range")
        and loop.count is None
        and not any(type(a) is n.Star for a in loop.iter.args)
    )


def _made_again(loop: n.For, wanted: set[str]) -> list[n.Stmt] | None:
    """The statements that compute ``wanted`` from the loop's target, such as ``t = i - 1``; None if that needs more."""
    rebound = walk.assigned(loop.body)
    sure = {loop.target}
    makers: dict[str, n.Assign] = {}
    for s in loop.body:
        if type(s) is n.Assign and type(s.value) in (n.Binary, n.Unary) and isinstance(s.site, Site):
            whole = all(isinstance(k, Num) and k.is_scalar and k.field == "int" for k in s.site.kinds)
            if whole and all(i in sure or i not in rebound for i in walk.names(s.value)):
                makers[s.target] = s
                sure.add(s.target)
    needed: set[str] = set()
    queue = [x for x in wanted if x != loop.target]
    while queue:
        x = queue.pop()
        if x not in makers:
            return None
        if x not in needed:
            needed.add(x)
            queue += [i for i in walk.names(makers[x].value) if i in rebound and i != loop.target]
    return [n.Assign(x, s.value, line=s.line, site=s.site) for x, s in makers.items() if x in needed]


def _ordered(block: list[n.Stmt], wanted: set[str], lists: Lists) -> tuple[str, ...]:
    """Names of ``wanted`` that ``block`` binds, the lists of residuals (``lists``) of its loops included, in order."""
    seen: dict[str, None] = {}
    for s in walk.statements(block):
        for w in walk.writes(s):
            if w in wanted:
                seen.setdefault(w)
        if type(s) is n.Append and s.target in lists and s.target in wanted:
            seen.setdefault(s.target)
    return tuple(seen)


def open_lists(block: list[n.Stmt], lists: Lists) -> list[n.Stmt]:
    """``block`` with ``saved = []`` before each loop that appends to it, and what has no value before the loop as
    None."""
    out: list[n.Stmt] = []
    for s in block:
        if type(s) in (n.For, n.While):
            own = {x.target for x in s.body if type(x) is n.Append and x.target in lists}
            for name in sorted(own):
                out.append(n.Assign(name, n.ListExpr(()), line=s.line))
                out += [n.Assign(twin, n.Const(None), line=s.line) for twin in lists[name]]
            s.body = open_lists(s.body, lists)
        elif type(s) is n.If:
            s.body, s.orelse = open_lists(s.body, lists), open_lists(s.orelse, lists)
        elif type(s) is n.With:
            s.body = open_lists(s.body, lists)
        elif type(s) is n.Try:
            s.body, s.handler, s.orelse = (open_lists(b, lists) for b in (s.body, s.handler, s.orelse))
        out.append(s)
    return out
