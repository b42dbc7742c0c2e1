"""What each statement of the primal means in reverse: one small class per kind of statement.

A step is made while the forward code is built and asked for its reverse code later, when the cotangents that live at
that point are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.adjoint.bars import DENSE, INDEX_ADD, ZERO_REF, Bars, merge_arms
from thunkad.adjoint.inline import demanded, is_fresh, real_part, simplify
from thunkad.adjoint.uniform import reverse_uniform
from thunkad.analysis.sites import Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Num, Sequence, Tuple, has_field
from thunkad.kinds.results import is_basic_index
from thunkad.records import field, record
from thunkad.rules.template import Template
from thunkad.runtime import cotangents
from thunkad.runtime.accumulate import fit
from thunkad.runtime.collect import collect
from thunkad.runtime.key_bars import key_bars, split_named
from thunkad.tangents import unthunk

ENTRY = n.Ref("entry", cotangents.entry)
GATHER = n.Ref("gather", cotangents.gather)
KEY_BARS = n.Ref("key_bars", key_bars)
SPLIT_NAMED = n.Ref("split_named", split_named)
SPLIT = n.Ref("split", cotangents.split)
LIKE = n.Ref("like", cotangents.like)
FIELD_TANGENT = n.Ref("field_tangent", cotangents.field_tangent)
UNTHUNK = n.Ref("unthunk", unthunk)
FIT = n.Ref("fit", fit)
COLLECT = n.Ref("collect", collect)
Found = Callable[[n.Expr, n.Expr], n.Expr]


@record
class Step:
    """Base: ``reads``: active names that may receive a contribution; ``binds``: those whose cotangent is taken."""

    line: int
    then: dict[str, str] = field(default_factory=dict, init=False)  # containers that change later → as they were here

    def reads(self) -> set[str]:
        return set()

    def touches(self) -> set[str]:
        """Names whose cotangent this step itself reads or adds to, nested blocks left out."""
        target = getattr(self, "target", None)
        return self.reads() | ({target} if isinstance(target, str) else set()) | set(getattr(self, "targets", ()))

    def reverse(self, bars: Bars) -> None:
        raise NotImplementedError


def give(bars: Bars, operand: n.Expr, value: n.Expr, owned: bool = False, maybe_zero: bool = False) -> None:
    """Contribute ``value`` to an operand: a name, or a display of operands, with a cotangent of its structure."""
    if type(operand) is n.Name:
        if operand.id in bars.active:
            bars.contribute(operand.id, value, owned, maybe_zero)
        return
    if type(operand) in (n.TupleExpr, n.ListExpr, n.DictExpr):
        give_display(bars, operand, value)


def give_display(bars: Bars, display: n.Expr, value: n.Expr, keys: frozenset[Any] | None = None,
                 found: Found = lambda item, part: part) -> None:  # fmt: skip
    """Take the cotangent of a display apart; ``keys``: those of its entries that have one (None: all).

    ``found(item, part)``: the cotangent of an item of which ``part`` was in that of the display.
    """
    items = display.values if type(display) is n.DictExpr else display.items
    keyed = tuple(k for k in getattr(display, "keys", ()) if type(k) is n.Name and k.id in bars.active)
    if not keyed and not any(i in bars.active for x in items for i in walk.names(x)):
        return
    if type(value) is n.TupleExpr and type(display) is n.TupleExpr and len(value.items) == len(items):
        if not any(type(x) is n.Star for x in items):
            for item, part in zip(items, value.items):
                if part != ZERO_REF:
                    give(bars, item, part)
            return
    if type(value) not in (n.Name, n.Ref):
        name = bars.names.temporary()
        bars.emit(n.Assign(name, value))
        value = n.Name(name)
    if type(display) is n.DictExpr:
        if keyed:
            give_keys(bars, keyed, value)
        give_named(bars, display, value, keys, found)
        return
    if any(type(x) is n.Star for x in display.items):
        give_starred(bars, display, value, found)
        return
    for k, item in enumerate(display.items):
        if (keys is None or k in keys) and any(i in bars.active for i in walk.names(item)):
            give(bars, item, n.Call(ENTRY, (value, n.Const(k))), maybe_zero=True)


def give_keys(bars: Bars, keys: tuple[n.Expr, ...], value: n.Expr) -> None:
    """The keys of a dict display that are differentiated."""
    parts = bars.names.temporary()
    bars.emit(n.Assign(parts, n.Call(KEY_BARS, (value, n.TupleExpr(keys)))))
    for j, key in enumerate(keys):
        give(bars, key, n.Index(n.Name(parts), n.Const(j)), maybe_zero=True)


def give_named(bars: Bars, display: n.DictExpr, value: n.Expr, keys: frozenset[Any] | None, found: Found) -> None:
    """The same for a dict, where a later entry may have replaced an earlier one of the same key."""
    constant = [k.value for k in display.keys if type(k) is n.Const]
    if len(set(constant)) == len(display.keys):
        for key, item in zip(display.keys, display.values):
            if keys is None or key.value in keys:  # type: ignore[union-attr]
                give(bars, item, n.Call(ENTRY, (value, key)), maybe_zero=True)  # type: ignore[arg-type]
        return
    spread = tuple(j for j, key in enumerate(display.keys) if key is None)
    places = tuple(as_it_was(bars, item) if key is None else key for key, item in zip(display.keys, display.values))
    parts = bars.names.temporary()
    bars.emit(n.Assign(parts, n.Call(SPLIT_NAMED, (value, n.Const(spread), n.TupleExpr(places)))))
    for j, item in enumerate(display.values):
        give(bars, item, found(item, n.Index(n.Name(parts), n.Const(j))), maybe_zero=True)


def give_starred(bars: Bars, display: n.Expr, value: n.Expr, found: Found) -> None:
    stars = tuple(k for k, x in enumerate(display.items) if type(x) is n.Star)
    length = n.Ref("len", len)
    lengths = tuple(n.Call(length, (as_it_was(bars, x.value),)) if type(x) is n.Star else n.Const(1)
                    for x in display.items)  # fmt: skip
    parts = bars.names.temporary()
    bars.emit(n.Assign(parts, n.Call(SPLIT, (value, _const_tuple(stars), n.TupleExpr(lengths)))))
    for k, x in enumerate(display.items):
        part = n.Index(n.Name(parts), n.Const(k))
        if type(x) is n.Star and type(x.value) is n.Name:
            give(bars, x.value, found(x.value, n.Call(LIKE, (part, x.value))), maybe_zero=True)
        elif type(x) is not n.Star:
            give(bars, x, found(x, part), maybe_zero=True)


def as_it_was(bars: Bars, e: n.Expr) -> n.Expr:
    """A container as it was where this step's statement ran."""
    return n.Name(bars.then.get(e.id, e.id)) if type(e) is n.Name else e


def _const_tuple(values: tuple[int, ...]) -> n.TupleExpr:
    return n.TupleExpr(tuple(n.Const(v) for v in values))


@record
class CopyStep(Step):
    """``target = source``"""

    target: str
    source: str

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        if self.target in bars.shadowed and self.source in bars.shadowed:
            part = bars.number_part(self.target, self.source)  # one object under two names has one shadow
            if part != ZERO_REF and (bars.shadowed[self.source] == "any" or bars.may_be_number(self.source)):
                bars.contribute(self.source, part, maybe_zero=True)
            return
        bar = bars.taken(self.target, self.source)
        if bar is not None:
            bars.contribute(self.source, bar.expr, bar.owned, bar.maybe_zero)


@record
class InlineStep(Step):
    """A call or operator whose rule is pasted."""

    target: str
    template: Template
    names: dict[str, n.Expr]  # what the rule's parameters and forward locals stand for here
    operands: list[tuple[n.Expr, n.Expr]]  # (operand, result expression of the template)
    site: Site
    kinds: dict[n.Expr, Kind]

    def reads(self) -> set[str]:
        return {i for operand, _ in self.operands for i in walk.names(operand)}

    def kind(self, bars: Bars, operand: n.Expr) -> Kind:
        """The kind of an operand, also where the reverse sweep reads a copy of it."""
        return self.kinds[operand] if operand in self.kinds else bars.resolved.kind(operand)

    def reverse(self, bars: Bars) -> None:
        if reverse_uniform(self, bars):
            return
        bar = bars.taken(self.target)
        if bar is None:
            return
        if bar.maybe_zero and self.template.entry.layer == "user":
            self.guarded(bars, bar.expr)
        else:
            self.paste(bars, bars.as_dense(self.target, bar))

    def guarded(self, bars: Bars, seed: n.Expr) -> None:
        """A user's rule is left out where the cotangent turns out to be a structural zero."""
        name = bars.names.new(bars.bar_name(self.target))
        bars.emit(n.Assign(name, n.Call(UNTHUNK, (seed,))))
        bars.expand_all()
        arms = bars.branch(), bars.branch()
        self.paste(arms[0], n.Name(name))
        merge_arms(bars, *arms, set())
        if arms[0].out or arms[1].out:
            twin = n.If(n.Compare("is not", n.Name(name), ZERO_REF), arms[0].out, arms[1].out, line=self.line)
            for w in walk.assigned([twin]):
                bars.free(w)
            bars.out.append(twin)

    def paste(self, bars: Bars, seed: n.Expr) -> None:
        """The rule's own lines, and what they give to each operand."""
        if self.template.entry.layer != "user":
            self.lines(bars, seed, foreign=False)
            return
        outer, bars.rule = bars.rule, self.template.entry.place
        self.lines(bars, seed, foreign=True)
        bars.rule = outer

    def lines(self, bars: Bars, seed: n.Expr, foreign: bool) -> None:
        wanted = [(o, r) for o, r in self.operands if any(i in bars.active for i in walk.names(o))]
        if foreign and wanted and not has_field(self.site.result):
            seed = bars.in_field(seed, self.target)
        wanted.sort(key=lambda pair: type(pair[0]) is n.Name and n.Name(bars.bar_name(pair[0].id)) == seed)
        clashes = [o for o, _ in wanted if type(o) is n.Name and n.Name(bars.bar_name(o.id)) == seed]
        if len(clashes) > 1 or any(type(o) is not n.Name for o, _ in wanted):
            seed = bars.stable(seed, [o for o, _ in wanted])
        names = {**self.names, self.template.seed: seed}
        whole = None if foreign else bars.shapes.get(self.target)
        full = frozenset(o for o, _ in wanted if type(o) is n.Name and whole and bars.shapes.get(o.id) == whole)
        needed = {i for _, r in wanted for i in walk.names(r)}
        for s in demanded(self.template.reverse, needed):
            for w in walk.writes(s):
                names[w] = n.Name(bars.names.new(w))
            new = walk.map_stmt(
                s,
                lambda e: simplify(walk.substitute(e, names), self.kinds, self.site.result, full),
                lambda i: names[i].id,
            )
            bars.emit(new)
        for operand, result in wanted:
            value = simplify(walk.substitute(result, names), self.kinds, self.site.result, full)
            if foreign and type(operand) is n.Name:
                give(bars, operand, real_part(n.Call(FIT, (value, operand)), self.kind(bars, operand), self.site))
                continue
            vanishing = self.template.may_vanish(result)
            value = real_part(value, self.kind(bars, operand), self.site)
            give(bars, operand, value, is_fresh(value) and not vanishing, vanishing)


@record
class OutlinedStep(Step):
    """A call of a rule as it stands, of a callee decided at run time, or of a compiled callee.

    ``call`` makes the cotangents from the seed; ``operands`` says which entry of the result (None: all of it) goes
    where.
    """

    target: str
    call: tuple[n.Expr, tuple[n.Expr, ...]]  # the function and the arguments before the seed
    operands: list[tuple[n.Expr, n.Expr | None]]
    kinds: dict[n.Expr, Kind]
    site: Site
    lazy: bool  # entries may be thunks or structural zeros
    seed_may_be_zero: bool = False
    writes: bool = False  # the callee writes memory of ours: it runs in reverse whether or not its value matters
    collects: bool = False  # the callee may read captured parameters: it runs in reverse for them alone, too

    def reads(self) -> set[str]:
        return {i for operand, _ in self.operands for i in walk.names(operand)}

    def reverse(self, bars: Bars) -> None:
        if self.writes and self.target in bars.shadowed:
            seed: n.Expr | None = bars.number_part(self.target)
        elif self.seed_may_be_zero:
            bar = bars.taken(self.target) if self.site.infix else bars.moved(self.target)
            seed = None if bar is None else bar.expr
        else:
            seed = bars.take(self.target)
        wanted = [(o, k) for o, k in self.operands if any(i in bars.active for i in walk.names(o))]
        if (seed is None or not wanted) and not self.writes and not (self.collects and seed is not None):
            return
        function, before = self.call
        seed = ZERO_REF if seed is None else seed
        if self.site.entry is not None and self.site.entry.layer == "user" and not has_field(self.site.result):
            seed = bars.in_field(seed, self.target)
        result: n.Expr = n.Call(function, (*before, seed, *((n.Name(bars.shadows),) if self.writes else ())))
        if not wanted:
            bars.emit(n.Effect(result))
            return
        if len(wanted) > 1 or wanted[0][1] is not None or self.collects:
            name = bars.names.new(f"{self.target}_bars")
            bars.emit(n.Assign(name, result, site="collects" if self.collects else None))
            result = n.Name(name)
        for operand, k in wanted:
            value = result if k is None else n.Index(result, k)
            if self.lazy and type(operand) is not n.Name:
                value = n.Call(UNTHUNK, (value,))
            give(bars, operand, real_part(value, self.kinds.get(operand), self.site), maybe_zero=self.lazy)


@record
class SourceStep(Step):
    """``target`` is a captured parameter, or holds some: its cotangent is collected."""

    target: str

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is not None:
            bars.emit(n.Effect(n.Call(COLLECT, (n.Name(self.target), bar.expr))))


@record
class DisplayStep(Step):
    """``target = (a, b)`` and the other displays."""

    target: str
    display: n.Expr
    keys: frozenset[Any] | None = None  # the entries that have a cotangent, if it is known that not all have

    def reads(self) -> set[str]:
        return set(walk.names(self.display))

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is not None:
            give_display(bars, self.display, bars.stable(bar.expr, [self.display, self.display]), self.keys)


@record
class UnpackStep(Step):
    """``a, b = source``"""

    targets: tuple[str, ...]
    source: str

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        found = [bars.taken(t) for t in self.targets]
        if all(b is None for b in found):
            return
        parts = n.TupleExpr(tuple(ZERO_REF if b is None else b.expr for b in found))
        kind = bars.kind(self.source)
        if isinstance(kind, Tuple):
            bars.contribute(self.source, parts)
        elif isinstance(kind, Sequence) and kind.cls is list:
            bars.contribute(self.source, n.ListExpr(parts.items))
        else:
            bars.contribute(self.source, n.Call(GATHER, (parts, n.Name(self.source))), maybe_zero=True)


def as_key(index: n.Expr) -> n.Expr:
    """An index as a value: slices are objects outside of brackets."""
    if type(index) is n.Slice:
        parts = (index.lower, index.upper, index.step)
        return n.Call(n.Ref("slice", slice), tuple(n.Const(None) if p is None else p for p in parts))
    if type(index) is n.TupleExpr:
        return n.TupleExpr(tuple(map(as_key, index.items)))
    return index


@record
class IndexStep(Step):
    """``target = source[index]``, and the item that an iteration binds."""

    target: str
    source: str
    index: n.Expr
    index_kind: Kind

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is None:
            return
        kind = bars.kind(self.source)
        in_place = (
            isinstance(kind, Num)
            and kind.form == "array"
            and kind.field != "any"  # a real buffer takes the real part only
            and is_basic_index(self.index_kind)
            and not bar.maybe_zero
        )
        value = bars.stable(bar.expr, [n.Name(self.source)] * 2)
        buffer = bars.buffer(self.source)
        if in_place:
            bars.emit(n.Update(n.Index(buffer, self.index), "+", value))
        else:
            bars.emit(n.Assign(buffer.id, n.Call(INDEX_ADD, (buffer, self.index, value))))
            bars.live[self.source] = type(bar)(buffer, not isinstance(kind, Tuple), bars.live[self.source].maybe_zero)


@record
class FieldStep(Step):
    """``target = source.name`` on an object."""

    target: str
    source: str
    name: str

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is not None:
            value = n.Call(FIELD_TANGENT, (n.Name(self.source), n.Const(self.name), bar.expr))
            bars.contribute(self.source, value, maybe_zero=True)


@record
class ClosureStep(Step):
    """``target = closure``: its cotangent is that of what it captured, by position, and of its defaults, by name."""

    target: str
    closure: n.Closure

    def parts(self) -> list[tuple[n.Expr, tuple[str, ...], Any]]:
        """What the closure holds, with the way to it in the closure's cotangent."""
        e = self.closure
        own = [p.name for p in e.function.params if p.kind == "positional" and p.name not in e.function.captures]
        out: list[tuple[n.Expr, tuple[str, ...], Any]] = [(c, ("args",), k) for k, c in enumerate(e.captures)]
        way = ("func", "defaults") if e.captures else ("defaults",)
        out += [(d, way, p) for p, d in zip(own[len(own) - len(e.defaults) :], e.defaults)]
        return out + [(d, way, p) for p, d in e.kw_defaults]

    def reads(self) -> set[str]:
        return {i for part, _, _ in self.parts() for i in walk.names(part)}

    def reverse(self, bars: Bars) -> None:
        bar = bars.taken(self.target)
        if bar is None:
            return
        parts = self.parts()
        seed = bars.stable(bar.expr, [part for part, _, _ in parts] * 2)
        for part, way, key in parts:
            if type(part) is n.Name and part.id in bars.active:
                value: n.Expr = seed
                for step in (*way, key):
                    value = n.Call(ENTRY, (value, n.Const(step)))
                give(bars, part, value, maybe_zero=True)


@record
class AppendStep(Step):
    """``target.append(value)``: in reverse the last entry is popped off the list's cotangent."""

    target: str
    value: str

    def reads(self) -> set[str]:
        return {self.target, self.value}

    def reverse(self, bars: Bars) -> None:
        if bars.live.get(self.target) is None and self.target not in bars.shadowed:
            return
        if self.target in bars.shadowed:
            buffer = n.Name(bars.names.new(f"{self.target}_bar"))
            bars.emit(n.Assign(buffer.id, n.Call(n.Attr(n.Name(bars.shadows), "of"), (n.Name(self.target),))))
        else:
            buffer = bars.buffer(self.target)
        popped = n.Call(n.Attr(buffer, "pop"))
        in_shadow = bars.only_memory(self.value) or bars.shadowed.get(self.value) == "container"
        if self.value not in bars.active or in_shadow:
            bars.emit(n.Effect(popped))
            return
        if bars.live.get(self.value) is None and type(bars.kind(self.value)) is Num:
            bars.assign(self.value, n.Call(DENSE, (popped, n.Name(self.value))), False)
        else:
            bars.contribute(self.value, popped, maybe_zero=True)


@record
class Block:
    """The steps of a block, in program order."""

    steps: list[Step] = field(default_factory=list)

    def reads(self) -> set[str]:
        return set().union(*(s.reads() for s in self.steps)) if self.steps else set()

    def reverse(self, bars: Bars) -> None:
        bars.fetch(x for step in self.steps for x in step.touches())
        for step in reversed(self.steps):
            outer, bars.line = bars.line, step.line
            before, bars.then = bars.then, step.then
            step.reverse(bars)
            bars.line, bars.then = outer, before
