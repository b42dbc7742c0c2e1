"""In-place writes in reverse.

The primal runs as it was written.  The cotangent of memory that is written lives in *shadows*
(:mod:`thunkad.runtime.shadows`): what a store put there is taken out of the shadow, and its place is set to zero, since
what it overwrote has no influence any more.  Values that the reverse sweep reads and that may be overwritten after they
were saved are copied when they are saved.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.bars import DENSE, INDEX_ADD, ZERO_REF, Bars
from thunkad.adjoint.inline import fitted
from thunkad.adjoint.keys import take_keys
from thunkad.adjoint.steps import ENTRY, Step, as_key, give, give_display
from thunkad.analysis.activity import activity
from thunkad.analysis.aliases import NOTHING_SHARED, Aliases, Sharing, aliases_of, find_aliases, has_memory
from thunkad.analysis.sites import Resolved, Site
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Mapping, Num, Opaque, Sequence, Tuple
from thunkad.records import record
from thunkad.rules.template import UNBROADCAST
from thunkad.runtime import shadows as runtime

KEEP = n.Ref("keep", runtime.keep)
SHARES = n.Ref("shares", runtime.shares)
UNLESS_CUT = n.Ref("unless_cut", runtime.unless_cut)
TAKE_STORED = n.Ref("take_stored", runtime.take_stored)


def shadowed_names(resolved: Resolved, aliases: Aliases, active: frozenset[str]) -> dict[str, str]:
    """Active names whose cotangent follows memory: 'array' (also a number, if it turns out to be one), 'container' or
    'any'."""
    out: dict[str, str] = {}
    in_place = {id(s) for s in walk.statements(resolved.function.body) if type(s) is n.Assign}
    # A callee may write into something that holds the argument, and one that is found when the code runs into nothing.
    own = {
        key: [x for x in names if x not in aliases.perhaps.get(key, ())]
        for key, names in aliases.written_by.items()
        if not _by_callee(resolved.sites.get(key))
    }
    written = {x for key, names in own.items() for x in names if key not in in_place}
    updated = {x for key, names in own.items() for x in names if key in in_place}
    for name in sorted(active):
        kind = resolved.kind(n.Name(name))
        if (
            not aliases.is_mutated(name)
            or name in aliases.functional
            or not has_memory(kind)
            or is_simple_list(resolved, aliases, name)
        ):
            continue
        if isinstance(kind, Num) and (kind.ndim or name in written or (kind.form == "array" and name in updated)):
            out[name] = "array"  # what is written into is no number
        else:
            out[name] = "container" if isinstance(kind, (Sequence, Mapping, Instance)) else "any"
    return out


def _by_callee(site: Site | None) -> bool:
    return site is not None and site.how in ("inside", "lifted", "construct", "dynamic")


def shadowed_params(
    resolved: Resolved, wanted: tuple[str, ...], results: tuple[int, ...] | None, sharing: Sharing = NOTHING_SHARED
) -> frozenset[str]:
    """The parameters of a callee whose cotangents surely follow memory, so that they are not returned."""
    aliases = find_aliases(resolved, sharing) if sharing.shadows else aliases_of(resolved)
    if not aliases.mutated:
        return frozenset()
    active, _ = activity(resolved, wanted, results, written_params(aliases, wanted))
    shadowed = shadowed_names(resolved, aliases, active)
    unsure = {p for p in wanted if getattr(resolved.kind(n.Name(p)), "form", "") == "any"}
    return frozenset(p for p in wanted if shadowed.get(p) in ("array", "container") and p not in unsure)


def written_params(aliases: Aliases, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The parameters of a callee that it writes into, or shares with its caller: what is in them afterwards matters."""
    return tuple(p for p in wanted if aliases.is_mutated(p) and not is_simple_list(aliases.resolved, aliases, p))


def is_simple_list(resolved: Resolved, aliases: Aliases, name: str) -> bool:
    """A list made here that only grows by appending and that no other container or array write touches."""
    members = aliases.cache.get("simple")
    if members is None:
        members = aliases.cache["simple"] = _simple_classes(resolved, aliases)
    return aliases.find(name) in members


def _simple_classes(resolved: Resolved, aliases: Aliases) -> set[str]:
    """Classes whose only writes are ``Append`` to lists that go by one name: nothing else in them is ever changed."""
    appended: dict[str, set[str]] = {}
    other: set[str] = set(aliases.shared)
    for s in walk.statements(resolved.function.body):
        for name in aliases.written_by.get(id(s), ()):
            cls = aliases.find(name)
            if type(s) is n.Append:
                appended.setdefault(cls, set()).add(name)
            else:
                other.add(cls)
    return {
        cls for cls, lists in appended.items() if cls not in other and not any(_escapes(resolved, x) for x in lists)
    }


def _escapes(resolved: Resolved, name: str) -> bool:
    """Whether the list ``name`` may be reached in another way: by a second name, out of a container, through a
    callee."""
    for s in walk.statements(resolved.function.body):
        t = type(s)
        if t in (n.Append, n.Store, n.Update) and name in walk.names(s.value):
            return True
        if t not in (n.Assign, n.Unpack, n.Effect) or name not in walk.names(s.value):
            continue
        e, site = s.value, resolved.sites.get(id(s))
        if type(e) in (n.TupleExpr, n.ListExpr) and n.Name(name) not in e.items:
            continue  # starred: what is in it
        if type(e) in (n.Index, n.Compare, n.Unary) or (site is not None and site.how in ("rule", "constant")):
            continue
        return True
    return False


# ---------------------------------------------------------------- steps


@record
class StoreStep(Step):
    """``target[index] = value`` on an array."""

    target: str
    index: n.Expr
    basic: bool
    element: Kind
    value: n.Expr
    value_kind: Kind

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        shadow = n.Index(n.Name(bars.bar_name(self.target)), self.index)
        scalar = isinstance(self.element, Num) and self.element.is_scalar
        wanted = type(self.value) is n.Name and self.value.id in bars.active
        if not wanted:
            bars.emit(n.Store(shadow, n.Const(0.0)))
            return
        taken = bars.names.new("taken_bar")
        if self.basic:
            bars.emit(n.Assign(taken, shadow if scalar else n.Call(n.Attr(shadow, "copy"))))
            bars.emit(n.Store(shadow, n.Const(0.0)))
        else:
            bars.emit(n.Assign(taken, n.Call(TAKE_STORED, (shadow.value, self.index))))
        value = fitted(n.Name(taken), self.value, self.value_kind, self.element)
        if not isinstance(bars.kind(self.target), Num) or bars.kind(self.target).field not in ("real", "complex"):
            value = n.Call(UNLESS_CUT, (value, n.Name(self.target), self.value))
        give(bars, self.value, value)


@record
class AddStep(Step):
    """``target[index] += value`` (or ``-=``) on an array, ``index`` None for all of it: the shadow stays as it is."""

    target: str
    index: n.Expr | None
    basic: bool
    element: Kind
    value: n.Expr
    value_kind: Kind
    sign: str

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        if not (type(self.value) is n.Name and self.value.id in bars.active):
            return
        shadow: n.Expr = n.Name(bars.bar_name(self.target))
        if self.index is not None:
            shadow = n.Index(shadow, self.index)
        scalar = isinstance(self.element, Num) and self.element.is_scalar
        value: n.Expr = shadow
        if not scalar and self.basic:
            value = n.Call(n.Attr(shadow, "copy"))
        taken = bars.names.new("taken_bar")
        bars.emit(n.Assign(taken, value if self.sign == "+" else n.Unary("-", value)))
        give(bars, self.value, fitted(n.Name(taken), self.value, self.value_kind, self.element))


@record
class WholeStep(Step):
    """All of ``target`` is overwritten by the value of ``source`` (None: by something that has no cotangent)."""

    target: str
    source: str | None
    like: n.Expr | None = None  # what has the shape of the value, if it may have been broadcast into the target

    def reads(self) -> set[str]:
        return {self.target} if self.source is None else {self.target, self.source}

    def reverse(self, bars: Bars) -> None:
        shadow = n.Name(bars.bar_name(self.target))
        if self.source is not None and self.source in bars.active:
            taken = bars.names.new("taken_bar")
            bars.emit(n.Assign(taken, n.Call(n.Attr(shadow, "copy"))))
            part: n.Expr = n.Name(taken) if self.like is None else n.Call(UNBROADCAST, (n.Name(taken), self.like))
            bars.contribute(self.source, part, owned=True)
        bars.emit(n.Store(n.Index(shadow, n.Const(Ellipsis)), n.Const(0.0)))


@record
class GatherStep(Step):
    """``np.add.at(target, index, value)``: every occurrence of an index counts."""

    target: str
    index: n.Expr
    value: n.Expr
    value_kind: Kind
    sign: str

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        if type(self.value) is n.Name and self.value.id in bars.active:
            taken = bars.names.new("taken_bar")
            part: n.Expr = n.Index(n.Name(bars.bar_name(self.target)), self.index)
            bars.emit(n.Assign(taken, part if self.sign == "+" else n.Unary("-", part)))
            give(bars, self.value, fitted(n.Name(taken), self.value, self.value_kind, bars.kind(self.target)))


@record
class ReadStep(Step):
    """``target = source[index]`` where memory is shadowed: a view needs nothing, a number goes into its place."""

    target: str
    source: str
    index: n.Expr
    basic: bool
    target_kind: Kind
    view: str | None  # a name that says whether the target shares memory, where that is not known
    field: bool = False  # it is an attribute
    item: bool = False  # a loop binds it: of a dict it is a key

    def reads(self) -> set[str]:
        return {self.source}

    def reverse(self, bars: Bars) -> None:
        mode = bars.shadowed[self.source]
        scalar = isinstance(self.target_kind, Num) and self.target_kind.is_scalar
        operands: tuple[n.Expr, ...]
        at = bars.kind(self.index.id) if type(self.index) is n.Name else None
        if (type(self.index) is n.Slice or at == Opaque(slice)) and mode != "array" and self.target in bars.shadowed:
            operands = (n.Name(self.source), as_key(self.index), n.Name(self.target))
            bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), "add_slice"), operands)))
            return
        kind = bars.kind(self.source)
        if not self.basic and (kind is UNKNOWN or (at is UNKNOWN and isinstance(kind, (Sequence, Tuple)))):
            part = bars.entry_of(self.target)
            item_bar = ZERO_REF if part is None else part.expr
            operands = (n.Name(self.source), as_key(self.index), n.Name(self.target), item_bar)
            how = "add_field" if self.field else "add_read"
            bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), how), operands)))
            return
        if bars.only_memory(self.target) and self.view is None:
            return
        if self.view is not None:
            self.unless_view(bars)
            return
        bar = bars.entry_of(self.target)
        if bar is None:
            return
        if mode == "array" and self.basic and (scalar or self.target not in bars.shadowed):
            value = n.Call(DENSE, (bar.expr, n.Name(self.target))) if bar.maybe_zero else bar.expr
            bars.emit(n.Update(n.Index(n.Name(bars.bar_name(self.source)), self.index), "+", value))
            return
        if mode == "array" and not self.basic:
            shadow = n.Name(bars.bar_name(self.source))
            bars.emit(n.Assign(shadow.id, n.Call(INDEX_ADD, (shadow, self.index, bar.expr))))
            return
        operands = (n.Name(self.source), as_key(self.index), n.Name(self.target), bar.expr)
        how = "add_item" if self.item else "add_entry"
        bars.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), how), operands)))

    def unless_view(self, bars: Bars) -> None:
        """Where the index may gather: what was gathered is taken out of its own memory, and only then."""
        assert self.view is not None
        state = bars.branch()
        bar = state.taken(self.target)
        bars.live.pop(self.target, None)
        if bar is None:
            return
        if bars.shadowed[self.source] == "array":
            shadow = n.Name(bars.bar_name(self.source))
            state.emit(n.Assign(shadow.id, n.Call(INDEX_ADD, (shadow, self.index, bar.expr))))
        else:
            operands = n.Name(self.source), as_key(self.index), n.Name(self.target), bar.expr
            state.emit(n.Effect(n.Call(n.Attr(n.Name(bars.shadows), "add_entry"), operands)))
        bars.out.append(n.If(n.Name(self.view), [], state.out, line=self.line))


@record
class SlotStep(Step):
    """``target[key] = value`` or ``target.key = value`` on a list, dict or object."""

    target: str
    key: n.Expr
    value: n.Expr
    past: bool = False  # by ``object.__setattr__``
    field: bool = True  # it is an attribute

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        taken = bars.names.new("taken_bar")
        # An array takes a copy; all else holds the value, with its own shadow.
        unsure = bars.kind(self.target) is UNKNOWN
        operands: tuple[n.Expr, ...] = (n.Name(self.target), as_key(self.key))
        operands += (self.value,) if unsure else (n.Const(None),) if self.past else ()
        operands += (n.Const(True),) if self.past else ()
        how = "take_entry" if not unsure else "take_field" if self.field else "take_item"
        bars.emit(n.Assign(taken, n.Call(n.Attr(n.Name(bars.shadows), how), operands)))
        if (
            type(self.value) is n.Name
            and self.value.id in bars.active
            and (unsure or not bars.only_memory(self.value.id))
        ):
            give(bars, self.value, n.Name(taken), maybe_zero=True)


@record
class ListStep(Step):
    """A method that changes a list: ``undo`` is the call that does the reverse on the list of slots."""

    target: str
    undo: tuple[str, tuple[n.Expr, ...]]
    value: n.Expr | None  # receives the entry that the undoing call returns
    result: str | None = None  # the name that got the entry that was removed; its cotangent is put back

    def reads(self) -> set[str]:
        return {self.target, *(walk.names(self.value) if self.value is not None else ())}

    def reverse(self, bars: Bars) -> None:
        slots = n.Call(n.Attr(n.Name(bars.shadows), "of"), (n.Name(self.target),))
        name, args = self.undo
        if name in ("insert", "append"):
            bar = None if self.result is None else bars.entry_of(self.result)
            bars.emit(n.Effect(n.Call(n.Attr(slots, name), (*args, ZERO_REF if bar is None else bar.expr))))
            return
        call = n.Call(n.Attr(slots, name), args)
        if self.value is None or type(self.value) is not n.Name or self.value.id not in bars.active:
            bars.emit(n.Effect(call))
            return
        taken = bars.names.new("taken_bar")
        bars.emit(n.Assign(taken, call))
        if not bars.only_memory(self.value.id):
            give(bars, self.value, n.Name(taken), maybe_zero=True)


@record
class ShadowDisplayStep(Step):
    """A display whose container is shadowed: numbers in it take their cotangent from its slots."""

    target: str
    display: n.Expr

    def reads(self) -> set[str]:
        return set(walk.names(self.display))

    @property
    def values(self) -> tuple[n.Expr, ...]:
        return self.display.values if type(self.display) is n.DictExpr else self.display.items

    @property
    def spreads(self) -> bool:
        """Whether entries of other containers are among its own, or one of its keys may occur twice."""
        named = type(self.display) is n.DictExpr and len(set(self.display.keys) - {None}) < len(self.values)
        return named or any(type(v) is n.Star for v in self.values)

    def reverse(self, bars: Bars) -> None:
        values = self.values
        wanted = [v for v in values if type(v) is n.Name and v.id in bars.active and not bars.only_memory(v.id)]
        all_slots = n.Call(n.Attr(n.Name(bars.shadows), "of"), (n.Name(self.target),))
        take_keys(bars, self.target, self.display)
        if self.spreads:
            give_display(bars, self.display, all_slots, found=lambda item, slot: received(bars, item, slot))
            return
        if not wanted:
            return
        slots = bars.names.new(f"{self.target}_bar")
        bars.emit(n.Assign(slots, all_slots))
        keys: Any = self.display.keys if type(self.display) is n.DictExpr else map(n.Const, range(len(values)))
        for key, v in zip(keys, values):
            if v in wanted and bars.shadowed.get(v.id) != "container":
                give(bars, v, received(bars, v, n.Call(ENTRY, (n.Name(slots), key))), maybe_zero=True)


def received(bars: Bars, item: n.Expr, slot: n.Expr) -> n.Expr:
    """The cotangent of an item of a display that a callee sees shadowed, ``slot`` being that of a number."""
    if type(item) is not n.Name or item.id in bars.shadowed or not has_memory(bars.kind(item.id)):
        return slot
    return n.Call(n.Attr(n.Name(bars.shadows), "received"), (item, slot))


@record
class UnlessView(Step):
    """A step for an operation that may have made a view: nothing is to be done then.

    ``found``: it may also have found its result in a container.  The cotangent of that memory is handed back to where
    it was found, so it is taken out of the shadow first.
    """

    view: str
    inner: Step
    found: bool = False

    def reads(self) -> set[str]:
        return self.inner.reads()

    def touches(self) -> set[str]:
        return self.inner.touches()

    def reverse(self, bars: Bars) -> None:
        target = getattr(self.inner, "target", "")
        if not self.found or bars.shadowed.get(target) != "array":
            self.unless_view(bars, [])
            return
        shadow, key = bars.bar_name(target), bars.plain.get(target, target)
        taken, move = bars.moving(target)
        bars.spelled[key] = taken
        self.unless_view(bars, move)
        bars.spelled[key] = shadow

    def unless_view(self, bars: Bars, first: list[n.Stmt]) -> None:
        state = bars.branch()
        self.inner.reverse(state)
        if not state.out:
            return
        stray = {x for x in state.live if state.live[x] != bars.live.get(x)}
        if stray:
            for x in sorted(stray):
                if x not in bars.live:
                    bars.assign(x, *bars.zero_of(x))
                else:
                    bars.settle_spelling(x)
            state = bars.branch()
            self.inner.reverse(state)
            for x in sorted(stray):
                if state.live.get(x) is not None and state.live[x].expr != n.Name(state.bar_name(x)):
                    state.assign(x, state.live[x].expr, state.live[x].owned, state.live[x].maybe_zero)
                bars.live[x] = state.live[x]
        bars.out.append(n.If(n.Name(self.view), [], [*first, *state.out], line=self.line))


@record
class UpdateStep(Step):
    """``target = left op= value`` on what is known only at run time; ``undo`` is what the forward code kept of it."""

    target: str
    left: n.Expr
    value: n.Expr
    undo: str

    def reads(self) -> set[str]:
        return {*walk.names(self.left), *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        if self.target in bars.shadowed:
            seed = bars.number_part(self.target)
        else:
            bar = bars.taken(self.target)
            seed = ZERO_REF if bar is None else bar.expr
        old, other = bars.names.new(f"{self.target}_bar"), bars.names.new("taken_bar")
        bars.emit(n.Unpack((old, other), n.Call(n.Name(self.undo), (n.Name(bars.shadows), seed))))
        give(bars, self.left, n.Name(old), maybe_zero=True)
        give(bars, self.value, n.Name(other), maybe_zero=True)


@record
class UpdatePartStep(Step):
    """``target[key] op= value`` or ``target.name op= value`` on what is known only at run time."""

    target: str
    value: n.Expr
    undo: str

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        taken = bars.names.new("taken_bar")
        bars.emit(n.Assign(taken, n.Call(n.Name(self.undo), (n.Name(bars.shadows),))))
        give(bars, self.value, n.Name(taken), maybe_zero=True)
