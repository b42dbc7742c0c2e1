"""Checkpointed loops: ``for x in checkpointed(xs)`` as a loop over segments, each one call of a function.

The function keeps nothing for the reverse sweep but its arguments and is run again there, so the states held at a time
are those at the starts of segments and those within one.  What the body reads is handed through the segments like what
it rebinds: then cotangents are summed up in the order in which the plain loop sums them up, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from thunkad.analysis.sites import Context
from thunkad.errors import Place, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.runtime.segments import checkpointed, segments

SEGMENTS = n.Ref("segments", segments)


def with_segments(function: n.Function, owner: Any, context: Context) -> n.Function:
    """``function``, in normal form, with its checkpointed loops taken apart; the same object if it has none."""
    if not any(type(s) is n.For for s in walk.statements(function.body)):
        return function
    run = _Segments(function, owner, context)
    body = run.block(function.body)
    if not run.found:
        return function
    return n.Function(function.name, function.params, body, function.captures, function.line, function.filename)


class _Segments:
    def __init__(self, function: n.Function, owner: Any, context: Context) -> None:
        self.function, self.owner, self.context = function, owner, context
        self.found = False
        self.params = {*function.captures, *(p.name for p in function.params)}
        self.writes = Counter(w for s in walk.statements(function.body) for w in walk.writes(s))
        self.bound = set(self.params)  # in program order, on some path
        self.fixed = {
            s.target
            for s in walk.statements(function.body)
            if type(s) is n.Assign and type(s.value) in (n.Const, n.Ref, n.Global, n.Closure)
        }
        everything = [*walk.statements(function.body)]
        self.names = Names(self.params.union(*(walk.writes(s) for s in everything), *map(walk.reads, everything)))
        for s in everything:
            self.names.reserve(e.id for e in walk.parts(*walk.expressions(s)) if type(e) is n.Global)

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        made: dict[str, n.Expr] = {}
        renamed: dict[str, n.Expr] = {}
        for s in block:
            if renamed:
                s = walk.map_stmt(s, lambda e: walk.substitute(e, renamed))
                for w in walk.assigned([s]):
                    renamed.pop(w, None)
            if type(s) is n.For and type(s.iter) is n.Name and self.is_marked(made.get(s.iter.id)):
                renamed.update(self.loop(s, made[s.iter.id], out))
                self.bound |= walk.assigned([s])
                continue
            if type(s) is n.Assign:
                made[s.target] = s.value
            out.append(self.inside(s))
            self.bound |= walk.assigned([s])
        return out

    def inside(self, s: Any) -> n.Stmt:
        blocks = walk.blocks(s)
        if not any(type(x) is n.For for b in blocks for x in walk.statements(b)) and type(s) is not n.For:
            return s  # type: ignore[no-any-return]
        return walk.map_blocks(s, self.block)

    def is_marked(self, e: n.Expr | None) -> bool:
        return type(e) is n.Call and self.value_of(e.func) is checkpointed

    def value_of(self, e: n.Expr) -> Any:
        """What a dotted path of names from outside stands for, or None."""
        if type(e) is n.Global:
            try:
                return self.context.global_value(self.owner, e.id)
            except KeyError:
                return None
        if type(e) is n.Attr:
            base = self.value_of(e.value)
            return None if base is None else getattr(base, e.name, None)
        return None

    def loop(self, s: n.For, marker: Any, out: list[n.Stmt]) -> dict[str, n.Expr]:
        """Append the loop over segments to ``out``; what later statements read under another name is returned."""
        self.found = True
        new = self.names.new
        bound = {*walk.assigned(s.body), *walk.writes(s)}
        inside = Counter(w for x in walk.statements([s]) for w in walk.writes(x))
        outside = {x for x in bound if x in self.params or self.writes[x] > inside[x]}
        carried = sorted(outside | {x.target for x in s.body if type(x) is n.Assign and x.site == "carried"})
        unset = [h for h in carried if h not in self.bound]  # the first iteration binds them
        for h in unset:
            if h in walk.read_anywhere(s.body):
                raise UnsupportedSyntaxError(
                    f"the variable {h!r} has no value before a checkpointed loop, and its body reads it",
                    Place(self.function.filename, s.line, ""),
                    "bind it before the loop",
                )
        read = sorted(walk.read_anywhere(s.body) - bound)
        fixed = [x for x in read if x in self.fixed]
        through = [x for x in read if x not in self.fixed]

        given = {h: new(f"{h}_start") for h in carried if h not in unset}
        part, result = new("segment_items"), new("segment_result")
        before: list[n.Stmt] = [n.Assign(h, n.Name(given[h]), line=s.line) for h in given]
        body, returned = list(s.body), [*through, *carried]
        stopped = None
        if s.stop is not None:
            stopped = new("stopped")
            before.append(n.Assign(stopped, n.Const(False), line=s.line))
            body.append(n.Assign(stopped, n.Name(s.stop), line=s.line, site="carried"))
            returned.append(stopped)
        start = None
        if s.count is not None:
            start = new("segment_start")
            local = new(s.count)
            body.insert(0, n.Assign(s.count, n.Binary("+", n.Name(start), n.Name(local)), line=s.line))
        whole: list[n.Stmt] = [
            *before,
            n.For(s.target, n.Name(part), body, s.stop, s.count and local, line=s.line),
            n.Assign(result, n.TupleExpr(tuple(map(n.Name, returned))), line=s.line),
            n.Return(n.Name(result), line=s.line),
        ]
        params = [*fixed, *through, *given.values(), part, *([start] if start else [])]
        name = new(f"{self.function.name}_segment")
        where = (), s.line, self.function.filename
        function = n.Function(name, list(map(n.Param, params)), whole, *where, checkpoint=True)

        closure, bounds, pair, low, high = (new(x) for x in ("segment", "bounds", "ends", "low", "high"))
        items, answer = new("segment_items"), new("segment_result")
        at = {x: new(x) for x in through}  # what is handed through, under the name of its latest version
        after = {x: new(x) for x in (*through, *carried)}
        every = (*marker.args[1:], *(v for k, v in marker.kwargs if k == "every"))
        out.append(n.Assign(bounds, n.Call(SEGMENTS, (s.iter, *every)), line=s.line))
        out.append(n.Assign(closure, n.Closure(function, ()), line=s.line))
        out.extend(n.Assign(at[x], n.Name(x), line=s.line) for x in through)
        args = [*fixed, *(at[x] for x in through), *given, items, *([low] if start else [])]
        stop = new("stopped") if stopped else None
        targets = [*(after[x] for x in (*through, *carried)), *([stop] if stop else [])]
        steps: list[n.Stmt] = [
            n.Unpack((low, high), n.Name(pair), line=s.line),
            n.Assign(items, n.Index(s.iter, n.Slice(n.Name(low), n.Name(high), None)), line=s.line),
            n.Assign(answer, n.Call(n.Name(closure), tuple(map(n.Name, args))), line=s.line),
            n.Unpack(tuple(targets), n.Name(answer), line=s.line),
            *(n.Assign(at[x], n.Name(after[x]), line=s.line, site="carried") for x in through),
            *(n.Assign(h, n.Name(after[h]), line=s.line, site="carried") for h in carried),
        ]
        out.append(n.For(pair, n.Name(bounds), steps, stop, line=s.line))
        return {x: n.Name(at[x]) for x in through}
