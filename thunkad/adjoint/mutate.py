"""Forward code and steps for statements that write in place, and for what shares memory that is written.

Sits beside :class:`thunkad.adjoint.forward.Forward` and takes the statements that concern shadowed names.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.accessors import Accessors
from thunkad.adjoint.calls import Calls
from thunkad.adjoint.containers import ChangeStep, Containers
from thunkad.adjoint.iteration import item_step
from thunkad.adjoint.keys import key_of_read, named_tuple, put_key
from thunkad.adjoint.mutation import (
    KEEP,
    SHARES,
    AddStep,
    ListStep,
    ReadStep,
    ShadowDisplayStep,
    SlotStep,
    StoreStep,
    UnlessView,
    UpdateStep,
    WholeStep,
    is_simple_list,
)
from thunkad.adjoint.steps import Block, CopyStep, DisplayStep, InlineStep, OutlinedStep, UnpackStep
from thunkad.adjoint.writers import Writers
from thunkad.analysis.aliases import Aliases, basic, has_memory, is_product, makes_view
from thunkad.analysis.sites import Site
from thunkad.analysis.special import update_access
from thunkad.analysis.views import HAND_ON
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import PY_BOOL, UNKNOWN, Kind, Mapping, Num, Opaque, Sequence
from thunkad.kinds.operators import INPLACE_FUNCTION
from thunkad.kinds.results import binary, element
from thunkad.kinds.variables import is_variable
from thunkad.runtime.attributes import check_delete
from thunkad.runtime.containers import shallow
from thunkad.runtime.shadows import then
from thunkad.runtime.sharing import must_be_array

THEN = n.Ref("then", then)
CHECK_DELETE = n.Ref("check_delete", check_delete)
MUST_BE_ARRAY = n.Ref("must_be_array", must_be_array)


#: Steps that may take a container's cotangent as a whole.
READS_WHOLE = (InlineStep, OutlinedStep, DisplayStep, UnpackStep, UnlessView, ChangeStep, UpdateStep)


class Mutation(Writers, Containers, Accessors, Calls):
    """The part of the forward pass that knows memory."""

    def __init__(self, forward: Any, aliases: Aliases, shadowed: dict[str, str]) -> None:
        self.fw, self.aliases, self.shadowed = forward, aliases, shadowed
        self.lazy = False  # the reverse code is made of groups that run when their entry is read

    # ------------------------------------------------------------ helpers

    def kind(self, e: n.Expr) -> Kind:
        return self.fw.resolved.kind(e)

    def temporary(self, kind: Kind) -> str:
        """A new name that carries a cotangent."""
        name = self.fw.names.temporary()
        self.fw.resolved.kinds[name] = kind
        self.fw.active = self.fw.active | {name}
        return name

    def kept(self, s: n.Stmt, e: n.Expr, out: list[n.Stmt]) -> n.Expr:
        """``e`` itself, or a copy made here if its memory may be written before the reverse sweep reads it."""
        if type(e) is n.Name and self.written_after(s, e.id):
            name = self.fw.names.new(f"{e.id}_kept")
            # The length of a list may change, so the list won't do where only the shape of the copy is read.
            site = None if isinstance(self.kind(e), Num) else "kept list"
            out.append(n.Assign(name, n.Call(KEEP, (e,)), line=s.line, site=site))
            self.fw.resolved.kinds[name] = self.kind(e)
            return n.Name(name)
        if type(e) in (n.TupleExpr, n.ListExpr):
            display: Any = type(e)
            return display(tuple(self.kept(s, x, out) for x in e.items))
        return e

    def truth(self, s: n.If, out: list[n.Stmt]) -> n.Expr:
        """The test of a branch, taken for what it is now: a list may be empty when the reverse sweep comes to it."""
        if type(s.test) is not n.Name:
            return s.test
        name, kind = s.test.id, self.kind(s.test)
        written = self.aliases.is_mutated(name) or self.aliases.written_after(s, name)
        if not (written and has_memory(kind)) and kind != Opaque(set):
            return s.test
        found = self.fw.names.temporary()
        self.fw.resolved.kinds[found] = PY_BOOL
        out.append(n.Assign(found, n.Call(n.Ref("bool", bool), (s.test,)), line=s.line))
        return n.Name(found)

    def may_change(self, s: n.Stmt, e: n.Expr) -> bool:
        """Whether memory that ``e`` reaches may be written after ``s``."""
        return any(self.written_after(s, i) for i in walk.names(e))

    def written_after(self, s: n.Stmt, name: str) -> bool:
        """Whether the memory of ``name`` may be written after ``s``; a list that only grows leaves what is in it
        alone."""
        kind = self.kind(n.Name(name))
        if not self.aliases.written_after(s, name) or not has_memory(kind):
            return False
        return not (
            isinstance(kind, Num) and self.is_simple(name) and self.aliases.find(name) not in self.aliases.outside
        )

    def is_simple(self, name: str) -> bool:
        return is_simple_list(self.fw.resolved, self.aliases, name)

    def is_reference(self, site: Site) -> bool:
        """Whether a callee hands on what it is given, so that it can't be called with copies."""
        return (
            getattr(site.callee, "__name__", "") in HAND_ON and site.entry is not None and site.entry.layer == "library"
        )

    def is_fresh(self, target: str, site: Site) -> bool:
        """Whether the result of a callee surely is an array in memory of its own."""
        name = getattr(site.callee, "__name__", "")
        new = not makes_view(site) or (name == "einsum" and is_product(site))
        library = site.entry is not None and site.entry.layer == "library"
        return new and library and isinstance(self.kind(n.Name(target)), Num)

    def by_reference(self, site: Site, out: list[n.Stmt]) -> tuple[tuple[n.Expr, ...], Any]:
        """The arguments of such a callee: containers that may change as they are now, arrays themselves."""

        def held(e: n.Expr) -> n.Expr:
            if type(e) is not n.Name or isinstance(self.kind(e), Num) or self.kept(self.fw.current, e, []) == e:
                return e
            name = self.fw.names.new(f"{e.id}_kept")
            out.append(n.Assign(name, n.Call(n.Ref("shallow", shallow), (e,)), line=self.fw.current.line))
            return n.Name(name)

        return tuple(map(held, site.args)), tuple((k, held(v)) for k, v in site.kwargs)

    def remember(self, s: n.Stmt, out: list[n.Stmt], place: int, steps: list[Any]) -> None:
        """Where a container is read as a whole and changed later: how it was, since that is what its cotangent fits."""
        for step in steps:
            if not isinstance(step, READS_WHOLE) and not (isinstance(step, ShadowDisplayStep) and step.spreads):
                continue
            inner = step.inner if isinstance(step, UnlessView) else step
            target = getattr(inner, "target", "")
            if s.site == "carried":
                self.remember_carried(s, out, step)
                continue
            if self.shadowed.get(target, "array") != "array" and self.may_change(s, n.Name(target)):
                then = self.fw.names.new(f"{target}_then")
                out.append(n.Assign(then, n.Call(THEN, (n.Name(target),)), line=s.line))
                step.then = {**step.then, target: then}
            for name in sorted(inner.reads() & self.shadowed.keys()):
                if self.shadowed[name] == "array" or not self.may_change(s, n.Name(name)):
                    continue
                then = self.fw.names.new(f"{name}_then")
                # By this very statement.
                made = [k for k, x in enumerate(out[place:], place + 1) if name in walk.writes(x)]
                out.insert(made[-1] if made else place, n.Assign(then, n.Call(THEN, (n.Name(name),)), line=s.line))
                step.then = {**step.then, name: then}

    def remember_carried(self, s: n.Stmt, out: list[n.Stmt], step: Any) -> None:
        """The same for a copy at the end of a loop's body, where nothing may come between the copies."""
        source, target = step.source, step.target
        if not any(
            x in self.shadowed and self.shadowed[x] != "array" and self.may_change(s, n.Name(x))
            for x in (source, target)
        ):
            return
        then = self.fw.names.new(f"{source}_then")
        place = len(out)
        while place and type(out[place - 1]) is n.Assign and out[place - 1].site == "carried":
            place -= 1
        out.insert(place, n.Assign(then, n.Call(THEN, (n.Name(source),)), line=s.line))
        step.then = {**step.then, source: then, target: then}

    def item_step(self, s: n.For, source: str, count: str) -> Any:
        """The step of what an iteration over ``source`` binds."""
        if source in self.shadowed:
            item = isinstance(self.kind(n.Name(source)), Mapping) or self.kind(n.Name(source)) is UNKNOWN
            kind = self.kind(n.Name(s.target))
            return ReadStep(s.line, s.target, source, n.Name(count), True, kind, None, item=item)
        return item_step(self.fw.resolved, s, source, count)

    def is_shadowed(self, e: n.Expr) -> bool:
        return type(e) is n.Name and e.id in self.shadowed

    # ------------------------------------------------------------ dispatch

    def handles(self, s: n.Stmt, out: list[n.Stmt], steps: Block) -> bool:
        """Deal with ``s`` if memory is concerned; False if it is an ordinary statement."""
        t = type(s)
        if self.set_outside(s, out):
            return True
        if t is n.Store:
            return self.store(s, out, steps)
        if t is n.Update:
            return self.update(s, out, steps)
        if t is n.Append and s.target in self.shadowed:
            out.append(self.fw.copy(s))
            steps.steps.append(ListStep(s.line, s.target, ("pop", ()), s.value))
            return True
        if t is n.Delete and type(s.target) is n.Index and self.is_shadowed(s.target.value):
            self.change(s, None, s.target.value, "__delitem__", (s.target.index,), (), out, steps)
            return True
        if t is n.Delete and type(s.target) is n.Attr and self.is_shadowed(s.target.value):
            if not is_variable(self.kind(s.target.value)):
                out.append(n.Effect(n.Call(CHECK_DELETE, (s.target.value, n.Const(s.target.name))), line=s.line))
            out.append(self.fw.copy(s))  # it is read again only once it was set again: there is nothing to reverse
            return True
        if t in (n.Effect, n.Assign) and self.unseen(s, out, steps):
            return True
        if t is n.Effect and type(s.value) is n.Call:
            return self.call(s, None, s.value, out, steps)
        if t is n.Effect and self.writes_inside(s, None, self.fw.resolved.sites.get(id(s)), out, steps):
            return True
        if t is n.Assign:
            return self.assign(s, out, steps)
        if t is n.Unpack:
            return self.unpack(s, out, steps)
        return False

    # ------------------------------------------------------------ stores

    def element_kind(self, target: n.Index | n.Attr) -> Kind:
        if type(target) is n.Attr:
            return UNKNOWN
        constant = (target.index.value,) if type(target.index) is n.Const else None
        return element(self.kind(target.value), self.fw.index_kind(target.index), constant)

    def store(self, s: n.Store, out: list[n.Stmt], steps: Block) -> bool:
        base = s.target.value
        if self.store_access(s, out, steps):
            return True
        if not self.is_shadowed(base):
            out.append(self.fw.copy(s))
            return True
        s = named_tuple(self, s, out, steps)
        if type(s.target) is n.Attr and isinstance(self.kind(base), Num):
            target = n.Index(self.part(s, base, s.target.name, out, steps), n.Const(Ellipsis))
            self.write(s, target, s.value, out, steps)
        elif type(s.target) is n.Index and self.may_be_slice(base, s.target.index):
            self.change(s, None, base, "__setitem__", (s.target.index, s.value), (), out, steps)
            return True
        else:
            self.write(s, s.target, s.value, out, steps)
        out.append(self.fw.copy(s))
        return True

    def may_be_slice(self, base: n.Name, index: n.Expr) -> bool:
        """Whether this may store into a slice of a list, which can change its length."""
        kind, at = self.kind(base), self.kind(index) if type(index) is n.Name else None
        if isinstance(kind, (Num, Mapping)):
            return False
        return type(index) is n.Slice or at is UNKNOWN or (isinstance(at, Opaque) and at.cls is slice)

    def part(self, s: n.Stmt, base: n.Name, name: str, out: list[n.Stmt], steps: Block) -> n.Name:
        """The real or imaginary part of an array, which is a view that may be written."""
        if name not in ("real", "imag"):
            raise self.fw.unsupported(
                s, f"setting the attribute {name} of an array that is differentiated", "use np.reshape and the like"
            )
        kind = self.kind(base)
        view = self.temporary(Num("array", "real", kind.ndim if isinstance(kind, Num) else None))
        self.shadowed[view] = "array"
        self.aliases.union(base.id, view)
        out.append(n.Assign(view, n.Attr(base, name), line=s.line))
        return n.Name(view)

    def write(self, s: n.Stmt, target: n.Index | n.Attr, value: n.Expr, out: list[n.Stmt], steps: Block) -> None:
        """The step for ``target = value``."""
        base = target.value
        kind = self.kind(base)
        if type(target) is n.Attr:
            past = type(s) is n.Store and s.past
            steps.steps.append(SlotStep(s.line, base.id, n.Const(target.name), value, past))
            return
        index = self.kept(s, target.index, out)
        if isinstance(kind, Num):
            is_basic = basic(self.fw.resolved, target.index)
            step = StoreStep(s.line, base.id, index, is_basic, self.element_kind(target), value, self.kind(value))
            steps.steps.append(step)
            return
        put_key(self.fw, s, target, steps)
        steps.steps.append(SlotStep(s.line, base.id, index, value, field=False))

    def update(self, s: n.Update, out: list[n.Stmt], steps: Block) -> bool:
        target = s.target
        assert type(target) is not n.Name
        base = target.value
        if not self.is_shadowed(base):
            out.append(self.fw.copy(s))
            return True
        s = named_tuple(self, s, out, steps)
        target = s.target
        if type(target) is n.Attr and isinstance(self.kind(base), Num):
            target = n.Index(self.part(s, base, target.name, out, steps), n.Const(Ellipsis))
            return self.update(n.Update(target, s.op, s.value, line=s.line), out, steps)
        kind, elem, value = self.kind(base), self.element_kind(target), s.value
        access = update_access(kind, target)
        if access is not None:
            return self.update_access(s, base, target, access, out, steps)
        is_array = isinstance(kind, Num)
        if is_array and s.op in ("+", "-") and basic(self.fw.resolved, target.index):
            index = self.kept(s, target.index, out)
            out.append(self.fw.copy(s))
            steps.steps.append(AddStep(s.line, base.id, index, True, elem, value, self.kind(value), s.op))
            return True
        if not is_array and not (isinstance(elem, Num) and elem.is_scalar and self.plain_slot(base, target)):
            return self.update_part(s, base, target, value, out, steps)
        old = self.temporary(elem)
        scalar = isinstance(elem, Num) and elem.is_scalar
        read = n.Call(KEEP, (target,)) if is_array and not scalar else target
        out.append(n.Assign(old, read, line=s.line))
        if type(target) is n.Attr:
            step: Any = ReadStep(s.line, old, base.id, n.Const(target.name), False, elem, None, True)
        else:
            index = self.kept(s, target.index, out)
            step = ReadStep(s.line, old, base.id, index, basic(self.fw.resolved, target.index), elem, None)
        steps.steps.append(step)
        new = self.operate(s, s.op, old, value, elem, out, steps)
        self.write(s, target, n.Name(new), out, steps)
        out.append(self.fw.copy(s) if is_array else n.Store(target, n.Name(new), line=s.line))
        return True

    def plain_slot(self, base: n.Expr, target: n.Index | n.Attr) -> bool:
        """Whether the entry is one of a list or dict, so that reading and writing it runs no code of the user's."""
        return isinstance(self.kind(base), (Sequence, Mapping)) and type(target) is n.Index

    def operator(self, s: n.Stmt, op: str) -> n.Ref:
        if op not in INPLACE_FUNCTION:
            raise self.fw.unsupported(s, f"the operator {op}= on a value that is differentiated")
        return n.Ref(INPLACE_FUNCTION[op].__name__, INPLACE_FUNCTION[op])

    def operate(self, s: n.Stmt, op: str, old: str, value: n.Expr, kind: Kind, out: list[n.Stmt], steps: Block) -> str:
        """``old op value`` as an operation of its own."""
        kinds = (kind, self.kind(value))
        new = self.temporary(binary(op, *kinds))
        site = self.fw.callees.operator_site(op, (n.Name(old), value), kinds)
        statement = n.Assign(new, n.Binary(op, n.Name(old), value), line=s.line)
        if site.how == "constant":
            out.append(statement)
        else:
            self.fw.call(statement, new, site, out, steps)
        return new

    # ------------------------------------------------------------ assignments

    def assign(self, s: n.Assign, out: list[n.Stmt], steps: Block) -> bool:
        e = s.value
        t = type(e)
        self.refuse_dictionary(s)
        site = self.fw.resolved.sites.get(id(s))
        if t is n.Inplace and site is not None and site.how == "inplace":
            return self.inplace(s, e, site, out, steps)
        if t is not n.Call and site is not None and site.how in ("inside", "lifted"):  # an operator of the user's
            if any(x in self.shadowed for x in self.aliases.written_by.get(id(s), ())):
                self.fw.pair(s, s.target, site, out, steps)
                return True
        if t is n.Call and self.call(s, s.target, e, out, steps):
            return True
        if self.writes_inside(s, s.target, site, out, steps):
            return True
        if s.target not in self.fw.active:
            return False
        if id(s) in self.aliases.disturbed:
            hint = "iterate over a list(…) of it, or by index"
            raise self.fw.unsupported(
                s, "an iterator over a value that is changed before the iterator is used up", hint
            )
        if t is n.Index and site is None and self.is_shadowed(e.value):
            key_of_read(self.fw, s, steps)
            self.read(s, s.target, e.value.id, e.index, out, steps)
            return True
        if t is n.Attr and site is None and self.is_shadowed(e.value):
            out.append(self.fw.copy(s))
            elem = self.kind(n.Name(s.target))
            step = ReadStep(s.line, s.target, e.value.id, n.Const(e.name), False, elem, None, True)
            steps.steps.append(step)
            return True
        if s.target not in self.shadowed:
            return False
        if t in (n.ListExpr, n.DictExpr) and self.shadowed[s.target] == "container":
            out.append(self.fw.copy(s))
            steps.steps.append(ShadowDisplayStep(s.line, s.target, e))
            return True
        if site is not None and site.how == "rule" and makes_view(site) and site.args:
            return self.view(s, site, out, steps)
        return False

    def packed(self, s: n.Stmt, display: n.Expr, out: list[n.Stmt], steps: Block) -> n.Name:
        """What ``*args`` or ``**kwargs`` of a callee collects, under a name: the numbers in it have slots."""
        name = self.temporary(self.kind(display))
        self.shadowed[name] = "container"
        out.append(n.Assign(name, display, line=s.line))
        steps.steps.append(ShadowDisplayStep(s.line, name, display))
        return n.Name(name)

    def read(self, s: n.Stmt, target: str, source: str, index: n.Expr, out: list[n.Stmt], steps: Block) -> None:
        """``target = source[index]``"""
        out.append(n.Assign(target, n.Index(n.Name(source), index), line=s.line))
        kind = self.kind(n.Name(target))
        is_basic = basic(self.fw.resolved, index)
        kept = self.kept(s, index, out)
        view = None
        if target in self.shadowed and not is_basic and isinstance(self.kind(n.Name(source)), Num):
            view = self.fw.names.new(f"{target}_is_view")
            out.append(n.Assign(view, n.Call(SHARES, (n.Name(target), n.Name(source))), line=s.line))
        steps.steps.append(ReadStep(s.line, target, source, kept, is_basic, kind, view))

    def unpack(self, s: n.Unpack, out: list[n.Stmt], steps: Block) -> bool:
        """``a, b = x``: read one by one after the unpacking has checked the length."""
        if not self.is_shadowed(s.value) or not any(t in self.fw.active for t in s.targets):
            return False
        assert type(s.value) is n.Name
        out.append(self.fw.copy(s))
        for k, target in enumerate(s.targets):
            if target in self.fw.active:
                kind = self.kind(n.Name(target))
                steps.steps.append(ReadStep(s.line, target, s.value.id, n.Const(k), True, kind, None))
        return True

    def view(self, s: n.Assign, site: Site, out: list[n.Stmt], steps: Block) -> bool:
        """An operation that may make a view of an operand that is shadowed."""
        operands = [a for a in site.args if self.is_shadowed(a)]
        if not operands:
            return False
        inner = Block()
        self.fw.call(s, s.target, site, out, inner)
        view = self.fw.names.new(f"{s.target}_is_view")
        out.append(n.Assign(view, n.Call(SHARES, (n.Name(s.target), *dict.fromkeys(operands))), line=s.line))
        found = not all(isinstance(self.kind(a), Num) for a in operands)
        steps.steps.extend(UnlessView(s.line, view, step, found) for step in inner.steps)
        return True

    def handed_on(self, s: n.Assign, site: Site, out: list[n.Stmt], steps: Block) -> bool:
        """What a loop runs over, if that holds what a shadowed operand holds: the new name is shadowed then, too."""
        operands = [i for a in site.args for i in walk.names(a) if i in self.shadowed]
        if not operands or site.how != "rule" or not makes_view(site):
            return False
        self.aliases.union(operands[0], s.target)
        self.shadowed[s.target] = "any"
        return self.view(s, site, out, steps)

    def inplace(self, s: n.Assign, e: n.Inplace, site: Site, out: list[n.Stmt], steps: Block) -> bool:
        """``x op= v`` on what may be an array or a list."""
        active = s.target in self.fw.active
        left = site.kinds[0]
        sure = isinstance(left, Num) and left.form == "array"
        if not sure and active:
            undo = self.fw.names.new("undo")
            call = n.Call(self.fw.callees.updater("update"), (self.operator(s, e.op), e.left, e.right))
            out.append(n.Unpack((s.target, undo), call, line=s.line))
            steps.steps.append(UpdateStep(s.line, s.target, e.left, e.right, undo))
            return True
        if not active:
            out.append(self.fw.copy(s))
            return True
        assert type(e.left) is n.Name
        if not left.ndim:
            out.append(n.Effect(n.Call(MUST_BE_ARRAY, (e.left,)), line=s.line))
        if not self.is_shadowed(e.left) or self.shadowed.get(s.target) != "array":
            raise self.fw.unsupported(
                s, "an in-place update of a value that is differentiated", "write x = x + y instead of x += y"
            )
        steps.steps.append(CopyStep(s.line, s.target, e.left.id))
        if e.op in ("+", "-"):
            out.append(self.fw.copy(s))
            kind = self.kind(n.Name(s.target))
            steps.steps.append(AddStep(s.line, s.target, None, True, kind, e.right, self.kind(e.right), e.op))
            return True
        old = self.temporary(left)
        out.append(n.Assign(old, n.Call(KEEP, (e.left,)), line=s.line))
        steps.steps.append(CopyStep(s.line, old, e.left.id))
        right = e.right
        if right == e.left:
            right = n.Name(old)
        elif type(right) is n.Name and self.aliases.find(right.id) == self.aliases.find(s.target):
            copied = self.temporary(self.kind(right))
            out.append(n.Assign(copied, n.Call(KEEP, (right,)), line=s.line))
            steps.steps.append(CopyStep(s.line, copied, right.id))
            right = n.Name(copied)
        new = self.operate(s, e.op, old, right, left, out, steps)
        out.append(self.fw.copy(s))
        steps.steps.append(WholeStep(s.line, s.target, new))
        return True
