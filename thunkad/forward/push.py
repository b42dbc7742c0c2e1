"""Normal form → forward-mode code: beside each statement the statement that it means for tangents.

``x_dot`` is the tangent of ``x``.  The tangent statement goes after a functional statement, whose result it may read,
and before one that changes memory in place, whose operands it must read as they were.  A name that moves (see
:mod:`thunkad.forward.varied`) has its tangent bound wherever it is bound itself, so branches and loops need nothing.

The tangent of a number or an array is one, never a structural zero; entries of containers and fields of objects may be.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.forward import CHECKED
from thunkad.adjoint.guarded import HARMLESS, UNSWALLOWING, names_of_unread
from thunkad.analysis.activity import CONSTANT, written
from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.hidden import HINT, hidden_method
from thunkad.analysis.same_objects import begins_with_several
from thunkad.analysis.sites import Resolved, Site
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.calls import ITEM_DOTS, SPREAD, TANGENT, TANGENT_OF, Calls, Pushed
from thunkad.forward.changes import Changes
from thunkad.forward.keys import key_of_read, put_keys
from thunkad.forward.loops import as_value, changes_what_it_runs_over, live_call, parts_by_number
from thunkad.forward.memory import Memory
from thunkad.forward.residuals import Residuals
from thunkad.forward.template import ZERO_REF
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import PY_INT, UNKNOWN, Instance, Kind, Num, is_iterable
from thunkad.kinds.variables import is_outside, is_shared
from thunkad.runtime import arrays, dot_changes, dots
from thunkad.runtime.sets import check_elements, set_dots
from thunkad.runtime.shadows import Shadows
from thunkad.tangents import Tangent

ZEROS = n.Ref("zeros", arrays.zeros)
ENTRY_DOT = n.Ref("entry_dot", dots.entry_dot)
FIELD_DOT = n.Ref("field_dot", dots.field_dot)
LIVE_DOTS = n.Ref("live_dots", dot_changes.live_dots)
NEXT_DOT = n.Ref("next_dot", dot_changes.next_dot)
BUFFER = n.Ref("tangent_buffer", dots.tangent_buffer)

#: The methods of shadows, each with the places of its arguments that are cotangents.
SHADOW_METHODS: dict[str, tuple[int, ...]] = {
    "of": (), "add": (1,), "add_entry": (3,), "add_item": (3,), "accumulate": (1, 2), "take": (1,), "number_part": (1,),
    "take_entry": (), "take_key": (), "take_default_key": (),
    "collect": (), "whole": (1,), "add_slice": (), "numbers": (1,), "add_read": (3,), "expect": (), "received": (1,),
    "add_field": (3,), "take_item": (), "take_field": (),
}  # fmt: skip
#: Iterators whose items' tangents can be found one by one.
LIVE_LOOPS = (enumerate, zip, reversed, dict.items, dict.values)
DISPLAYS = (n.TupleExpr, n.ListExpr, n.DictExpr)


class Push:
    """Builds forward-mode code block by block."""

    def __init__(
        self, resolved: Resolved, moving: frozenset[str], memory: Memory, names: Names, callees: Pushed
    ) -> None:
        self.resolved, self.moving, self.memory, self.names = resolved, moving, memory, names
        self.calls = Calls(self, callees)
        self.changes = Changes(self)
        self.spelled: dict[str, str] = {}
        self.taken_apart: dict[str, dict[Any, n.Index]] = {}  # items of loops, see `parts_by_number`
        self.residuals = Residuals(self)
        # The name of a dict of tangents, where arguments and what is followed from outside may be one object.
        self.together = self.names.new("together") if begins_with_several(resolved) else None
        self.out: list[n.Stmt] = []
        self.line = 0

    # ------------------------------------------------------------ tangents of operands

    def dot_name(self, x: str) -> str:
        if x not in self.spelled:
            self.spelled[x] = self.names.new(f"{x}_dot")
        return self.spelled[x]

    def moves(self, e: n.Expr) -> bool:
        return any(i in self.moving for i in walk.names(e))

    def dot(self, e: n.Expr) -> n.Expr:
        """The tangent of an operand: a name, a display, or a structural zero."""
        t = type(e)
        if not self.moves(e):
            return ZERO_REF
        if t is n.Name:
            return n.Name(self.dot_name(e.id))
        if t is n.Star:
            return n.Star(n.Call(SPREAD, (self.dot(e.value), e.value)))
        if t in (n.TupleExpr, n.ListExpr):
            items = (
                n.Star(n.Call(SPREAD, (ZERO_REF, x.value))) if type(x) is n.Star and not self.moves(x) else self.dot(x)
                for x in e.items
            )
            return t(tuple(items))
        if t is n.DictExpr:
            return n.DictExpr(e.keys, tuple(map(self.calls.double_starred, e.keys, e.values)))
        if t is n.Attr:
            return self.dot(e.value)
        raise self.unsupported(f"{t.__name__} of a value with a tangent")

    def kind(self, x: str) -> Kind:
        return self.resolved.kinds.get(x, UNKNOWN)

    def is_number(self, x: str) -> bool:
        return isinstance(self.kind(x), Num)

    def zero_of(self, x: str) -> n.Expr:
        """A zero tangent for ``x``."""
        kind = self.kind(x)
        if x in self.resolved.hollow and not self.memory.is_mutated(x):
            return ZERO_REF
        if isinstance(kind, Num) and kind.is_scalar:
            return n.Const(0.0)
        if isinstance(kind, Num) or self.memory.is_mutated(x):
            return n.Call(
                ZEROS if isinstance(kind, Num) else BUFFER,
                (n.Name(x),) if isinstance(kind, Num) else (ZERO_REF, n.Name(x)),
            )
        return ZERO_REF

    # ------------------------------------------------------------ emission

    def emit(self, s: n.Stmt) -> None:
        s.line = s.line or self.line
        self.out.append(s)

    def tangent(self, x: str, value: n.Expr, fresh: bool = False) -> None:
        """Bind the tangent of ``x``; in mutated memory it gets a buffer of its own unless ``fresh`` or aliasing one."""
        if value is ZERO_REF or (type(value) is n.Ref and value == ZERO_REF):
            value, fresh = self.zero_of(x), True
        if not fresh and self.memory.is_mutated(x) and not self.is_scalar(x):
            value = n.Call(BUFFER, (value, n.Name(x)))
        self.emit(n.Assign(self.dot_name(x), value, site=TANGENT))

    def buffer(self, value: n.Expr, x: str) -> n.Expr:
        """A tangent in memory of its own, at the beginning of the function."""
        return n.Call(BUFFER, (value, n.Name(x), *(() if self.together is None else (n.Name(self.together),))))

    def is_scalar(self, x: str) -> bool:
        kind = self.kind(x)
        return isinstance(kind, Num) and kind.is_scalar

    def densely(self, x: str) -> None:
        """Make the tangent of a number or an array that may be a structural zero an explicit one."""
        if self.is_number(x):
            name = self.dot_name(x)
            self.emit(n.Assign(name, n.Call(self.calls.DENSE, (n.Name(name), n.Name(x))), site=TANGENT))

    def copy(self, s: n.Stmt) -> n.Stmt:
        """The statement itself, carrying its site for the clean-up passes."""
        site = self.resolved.sites.get(id(s))
        return walk.map_stmt(s, lambda e: e) if site is None else self.calls.with_site(s, site)

    def keep(self, s: n.Stmt) -> None:
        self.out.append(self.copy(s))

    def unsupported(self, what: str, hint: str = "") -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(f"{what} is not supported in forward mode", self.resolved.place(self.line), hint)

    # ------------------------------------------------------------ statements

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        outer, self.out = self.out, []
        for s in block:
            line, self.line = self.line, s.line or self.line
            self.statement(s)
            self.line = line
        found, self.out = self.out, outer
        return found

    def statement(self, s: Any) -> None:
        t = type(s)
        if self.residuals.statement(s):
            return
        self.refuse_hidden(s)
        if t is n.Assign:
            self.assign(s)
        elif t is n.If:
            self.out.append(n.If(s.test, self.block(s.body), self.block(s.orelse), line=s.line))
        elif t is n.For:
            self.loop(s)
        elif t is n.While:
            self.out.append(n.While(self.block(s.test_body), s.test, self.block(s.body), s.stop, line=s.line))
        elif t is n.SetGlobal:
            self.calls.callees.assigned_global(self.resolved, s.name, s.value, s.line)
            self.keep(s)
        elif t is n.With:
            self.with_(s)
        elif t is n.Try:
            self.try_(s)
        elif t is n.Unpack:
            self.unpack(s)
        elif t is n.Append:
            if s.target in self.moving:
                self.emit(n.Append(self.dot_name(s.target), self.dot(s.value)))
            self.keep(s)
        elif t is n.Store:
            self.changes.store(s)
        elif t is n.Update:
            self.changes.update(s)
        elif t is n.Delete:
            self.changes.delete(s)
        elif t is n.Effect:
            self.effect(s)
        elif t is not n.Return:
            self.keep(s)

    def refuse_hidden(self, s: n.Stmt) -> None:
        """Refuse a statement for which a method of the user's runs unseen that changes what has a tangent."""
        method = None if self.resolved.function.generated else hidden_method(self.resolved, s, self.moves)
        if method is not None:
            raise self.unsupported(f"{method}, which changes an object with a tangent, called unseen,", HINT)

    def assign(self, s: n.Assign) -> None:
        e, target = s.value, s.target
        site = self.resolved.sites.get(id(s))
        if target in self.moving and id(s) in aliases_of(self.resolved).disturbed:
            raise self.unsupported("an iterator over a value that is changed before it is used up", "iterate by index")
        if type(e) is n.Call and (self.shadow(s, e, target) or self.empty_tangent(s, e, target)):
            return
        if type(e) is n.Call and self.changes.method(s, e, target):
            return
        if (target in self.moving or self.writes(s)) and self.changes.library(s, target, e, site):
            return
        if site is not None and site.how != "constant":
            if target in self.moving or self.calls.has_effect_on_tangents(site):
                self.operation(s, e, target, site)
            else:
                self.keep(s)
            return
        self.keep(s)
        key_of_read(self, s)
        if target not in self.moving:
            return
        t = type(e)
        if t is n.Index and type(e.value) is n.Name and e.value.id in self.taken_apart:
            self.part(target, e.value.id, e.index.value)
            return
        if t in (n.ListExpr, n.DictExpr) and not (e.items if t is n.ListExpr else e.keys):
            self.tangent(target, e, fresh=True)
        elif t in DISPLAYS:
            self.tangent(target, self.dot(e), fresh=self.moves(e))
            put_keys(self, target, e)
        elif t is n.Index:
            self.tangent(target, self.index(target, e), fresh=True)
        elif t is n.Attr:
            self.field(target, e)
        elif t is n.Closure:
            self.tangent(target, self.calls.closure(e), fresh=True)
        elif t is n.Ref and is_shared(self.kind(target)) and target in self.moving:
            cls = type(e.value)  # of the variable itself, at the beginning
            empty = n.Call(TANGENT_OF, (n.Ref(cls.__name__, cls),))
            whole = self.together is not None or is_outside(self.kind(target))
            self.tangent(target, self.buffer(ZERO_REF, target) if whole else empty, fresh=True)
        elif t is n.SetExpr and self.moves(e):
            self.emit(n.Effect(n.Call(n.Ref("check_elements", check_elements), (n.Name(target),))))
            dots = n.Call(n.Ref("set_dots", set_dots), (n.TupleExpr(e.items), self.dot(n.TupleExpr(e.items))))
            self.tangent(target, dots, fresh=True)
        elif t is n.Call and site is not None and site.callee is arrays.zeros:  # made once more, with what is in it
            self.tangent(target, e, fresh=True)
        else:
            self.tangent(target, self.dot(e) if t in (n.Name, n.Star) else ZERO_REF, fresh=t is n.Name)

    def empty_tangent(self, s: n.Stmt, e: n.Call, target: str) -> bool:
        """The tangent of an object that forward-mode code has just made: its own tangent is made in the same way."""
        if not (type(e.func) is n.Ref and e.func.value is Tangent and target in self.moving):
            return False
        self.keep(s)
        self.tangent(target, e, fresh=True)
        return True

    def operation(self, s: n.Assign, e: n.Expr, target: str, site: Site) -> None:
        if type(e) is n.Inplace and site.how == "inplace":
            self.changes.inplace(s, e, target)
        else:
            self.calls.call(s, target, site)

    def index(self, target: str, e: n.Index) -> n.Expr:
        if not self.moves(e.value):
            return ZERO_REF
        source = self.dot(e.value)
        if type(e.value) is n.Name and self.is_number(e.value.id):
            return n.Index(source, e.index)
        return n.Call(ENTRY_DOT, (source, as_value(e.index), n.Name(target)))

    def field(self, target: str, e: n.Attr) -> None:
        root = e.value
        if not self.moves(root):
            self.tangent(target, ZERO_REF)
        elif type(root) is n.Name:
            call = n.Call(FIELD_DOT, (self.dot(root), n.Const(e.name), root, n.Name(target)))
            self.tangent(target, call, fresh=True)
        else:
            raise self.unsupported("an attribute of an attribute of a value with a tangent", "name the inner one first")

    def unpack(self, s: n.Unpack) -> None:
        if not any(t in self.moving for t in s.targets):
            self.keep(s)
            return
        if type(s.value) is n.Name and s.value.id in self.taken_apart:
            self.keep(s)
            for k, t in enumerate(s.targets):
                self.part(t, s.value.id, k)
            return
        site = self.resolved.sites.get(id(s))
        source = s.value
        if site is not None and site.how != "constant":
            name = self.temporary(site.result)
            self.calls.call(n.Assign(name, s.value, line=s.line), name, site)
            source = n.Name(name)
        elif type(source) is not n.Name:
            name = self.names.temporary()
            self.emit(n.Assign(name, source, line=s.line))
            source = n.Name(name)
        self.out.append(n.Unpack(s.targets, source, line=s.line))
        targets = tuple(self.dot_name(t) if t in self.moving else self.names.new("_") for t in s.targets)
        dot = self.dot(source)
        still = site is not None and not any(map(self.moves, self.calls.operands(site)))
        if still and any(self.memory.is_mutated(t) and not self.is_number(t) for t in s.targets):
            dot = n.Call(BUFFER, (ZERO_REF, source))  # of what a callee has made, and others change
        self.emit(n.Unpack(targets, n.Call(SPREAD, (dot, source)), site=TANGENT))
        for t in s.targets if site is not None and site.how == "dynamic" and not still else ():
            if t in self.moving and self.memory.is_mutated(t) and not self.is_number(t):
                self.tangent(t, self.calls.changeable(t, self.dot_name(t), site), fresh=True)

    def with_(self, s: n.With) -> None:
        if s.target in self.moving:
            raise self.unsupported(
                "a context manager made from a value that is differentiated, whose 'as' value is used,"
            )
        site = self.resolved.sites.get(id(s))
        item = s.item
        if type(item) is n.Call and item.func == UNSWALLOWING:
            pass  # generated code that is differentiated again
        elif site is None or not any(site.callee is known for known in HARMLESS):
            manager = n.Name(self.names.new("manager"))
            self.out.append(n.Assign(manager.id, item, line=s.line, site=site))
            item = n.Call(UNSWALLOWING, (manager,))
        self.out.append(n.With(item, s.target, self.block(s.body), line=s.line))

    def try_(self, s: n.Try) -> None:
        still: list[n.Stmt] = []
        if s.site is CONSTANT and s.error in self.moving:  # it has a name in common with one that moves
            still.append(n.Assign(self.dot_name(s.error), ZERO_REF, line=s.line))
        elif s.error in self.moving:
            idle = names_of_unread(self.resolved, s.error, self.moving)
            if idle is None:
                what = "using what an exception holds, where a value that is differentiated may be in it,"
                raise self.unsupported(what)
            self.moving -= idle
        blocks = self.block(s.body), [*still, *self.block(s.handler)], self.block(s.orelse)
        self.out.append(n.Try(*blocks, s.types, s.error, None, shielded=True, line=s.line))

    def temporary(self, kind: Kind) -> str:
        """A new name that moves."""
        name = self.names.temporary()
        self.resolved.kinds[name] = kind
        self.moving = self.moving | {name}
        return name

    def loop(self, s: n.For) -> None:
        if s.target not in self.moving:
            self.out.append(
                n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, line=s.line, site=self.checked(s))
            )
            return
        source = s.iter
        site = self.resolved.sites.get(id(s))
        operands = self.calls.operands(site) if site is not None and type(s.iter) is not n.Name else [s.iter]
        if any(map(self.moves, operands)) and changes_what_it_runs_over(self, s, operands):
            self.live_loop(s, site, operands)
            return
        count = s.count or self.names.new("k")
        parts = parts_by_number(self, s, site, count)
        if parts is not None:
            self.by_number(s, count, parts)
            return
        if site is not None and site.how != "constant":
            name = self.temporary(site.result)
            self.calls.call(n.Assign(name, s.iter, line=s.line), name, site)
            source = n.Name(name)
        if not self.moves(source) or (site is not None and site.how == "constant"):
            body = [
                n.Assign(self.dot_name(s.target), self.zero_of(s.target), site=TANGENT, line=s.line),
                *self.block(s.body),
            ]
            self.out.append(n.For(s.target, source, body, s.stop, s.count, line=s.line, site=self.checked(s)))
            return
        dots = self.names.new(f"{s.target}_dots")
        self.emit(n.Assign(dots, n.Call(ITEM_DOTS, (self.dot(source), source)), site=TANGENT))
        first = n.Assign(self.dot_name(s.target), n.Index(n.Name(dots), n.Name(count)), site=TANGENT, line=s.line)
        self.out.append(
            n.For(s.target, source, [first, *self.block(s.body)], s.stop, count, line=s.line, site=self.checked(s))
        )

    def by_number(self, s: n.For, count: str, parts: dict[Any, n.Index]) -> None:
        """A loop over several sequences side by side, whose items have no tangents: what is taken out of them does."""
        self.resolved.kinds[count] = PY_INT
        before, self.out = self.out, []
        if None in parts:
            self.tangent(s.target, self.index(s.target, parts[None]), fresh=True)
        else:
            self.taken_apart[s.target] = parts
        first, self.out = self.out, before
        body = [*first, *self.block(s.body)]
        self.out.append(n.For(s.target, s.iter, body, s.stop, count, line=s.line, site=self.checked(s)))

    def part(self, target: str, item: str, place: Any) -> None:
        """The tangent of what is taken out of an item."""
        found = self.taken_apart[item].get(place)
        if target in self.moving:
            self.tangent(target, ZERO_REF if found is None else self.index(target, found), fresh=True)

    def checked(self, s: n.For) -> str | None:
        """The mark of a loop that raises if what it runs over can't be, even if its body has nothing to do."""
        return CHECKED if type(s.iter) is n.Name and not is_iterable(self.resolved.kind(s.iter)) else None

    def live_loop(self, s: n.For, site: Site | None, operands: list[n.Expr]) -> None:
        """A loop over what it changes: the tangent of each item is found when its iteration begins."""
        how: n.Expr = n.Const(None)
        if type(s.iter) is not n.Name and site is not None:
            fn, operands = live_call(s.iter, site, self.resolved)
            if fn not in LIVE_LOOPS or (site.kwargs and fn is not enumerate):
                raise self.unsupported("iterating in this way over a value that the loop changes", "iterate by index")
            how = n.Ref(fn.__name__, fn)
        parts = self.names.new(f"{s.target}_dots")
        given = n.TupleExpr(tuple(map(self.calls.starred, operands)))
        self.emit(n.Assign(parts, n.Call(LIVE_DOTS, (given, how, n.TupleExpr(tuple(operands)))), site=TANGENT))
        following = n.Call(NEXT_DOT, (n.Name(parts), n.Name(s.target)))
        first = n.Assign(self.dot_name(s.target), following, site=TANGENT, line=s.line)
        self.out.append(
            n.For(s.target, s.iter, [first, *self.block(s.body)], s.stop, s.count, line=s.line, site=self.checked(s))
        )

    def effect(self, s: n.Effect) -> None:
        site = self.resolved.sites.get(id(s))
        e = s.value
        if site is not None and site.callee is setattr and self.changes.set_by_name(s, site):
            return
        if type(e) is n.Call and type(e.func) is n.Global and any(i in self.moving for i in written(e)):
            raise self.unsupported(f"{e.func.id}() of a value with a tangent", "set the attribute by its name")
        if type(e) is n.Call and (self.shadow(s, e, None) or self.changes.method(s, e, None)):
            return
        if type(e) is n.Call and self.changes.field_of_tangent(s, e):
            return
        if site is None or not any(self.moves(a) for a in self.calls.operands(site)):
            self.keep(s)
        elif self.changes.library(s, None, e, site):
            return
        elif site.how in ("inside", "lifted", "dynamic", "construct"):
            name = self.temporary(UNKNOWN)
            self.calls.call(n.Assign(name, e, line=s.line), name, site)
        else:
            self.changes.refuse_unfollowed(s)
            self.keep(s)

    def writes(self, s: n.Stmt) -> bool:
        """Whether a statement writes into memory that has a tangent."""
        return any(x in self.moving for x in aliases_of(self.resolved).written_by.get(id(s), ()))

    def shadow(self, s: n.Stmt, e: n.Call, target: str | None) -> bool:
        """Shadows of reverse code: their tangents are shadows of the same memory, and every method is linear."""
        func = e.func
        if type(func) is n.Ref and func.value is Shadows and target is not None:
            self.keep(s)
            self.emit(n.Assign(self.dot_name(target), e))
            return True
        if type(func) is not n.Attr or type(func.value) is not n.Name:
            return False
        kind = self.kind(func.value.id)
        if not (isinstance(kind, Instance) and kind.cls is Shadows) or func.value.id not in self.moving:
            return False
        if func.name not in SHADOW_METHODS:
            raise self.unsupported(f"a second derivative of memory that is changed in place through .{func.name}()")
        self.keep(s)
        bars = SHADOW_METHODS[func.name]
        args = tuple(self.dot(a) if k in bars else a for k, a in enumerate(e.args))
        call = n.Call(n.Attr(self.dot(func.value), func.name), args)
        self.emit(n.Effect(call) if target is None else n.Assign(self.dot_name(target), call))
        return True
