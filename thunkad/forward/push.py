"""Normal form → forward-mode code: beside each statement the statement that it means for tangents.

``x_dot`` is the tangent of ``x``.  The tangent statement goes after a functional statement, whose result it may read,
and before one that changes memory in place, whose operands it must read as they were.  A name that moves (see
:mod:`thunkad.forward.varied`) has its tangent bound wherever it is bound itself, so branches and loops need nothing.

The tangent of a number or an array is one, never a structural zero; entries of containers and fields of objects may be.
"""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.guarded import HARMLESS, UNSWALLOWING, names_of_unread
from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Resolved, Site
from thunkad.errors import UnsupportedSyntaxError
from thunkad.forward.calls import SPREAD, Calls, Pushed
from thunkad.forward.loops import as_value, refuse_changes
from thunkad.forward.memory import MUTATING, Memory
from thunkad.forward.template import ZERO_REF
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Mapping, Num, Sequence, Tuple
from thunkad.runtime import arrays, dots
from thunkad.runtime.shadows import Shadows, unless_cut

ZEROS = n.Ref("zeros", arrays.zeros)
ENTRY_DOT = n.Ref("entry_dot", dots.entry_dot)
FIELD_DOT = n.Ref("field_dot", dots.field_dot)
SET_ENTRY = n.Ref("set_entry", dots.set_entry)
SET_FIELD = n.Ref("set_field", dots.set_field)
UPDATE_ENTRY = n.Ref("update_entry", dots.update_entry)
UPDATE_FIELD = n.Ref("update_field", dots.update_field)
UPDATE_ARRAY = n.Ref("update_array", dots.update_array)
LIST_OF_DOTS = n.Ref("list_of_dots", dots.list_of_dots)
UNLESS_CUT = n.Ref("unless_cut", unless_cut)
BUFFER = n.Ref("tangent_buffer", dots.tangent_buffer)

#: The methods of shadows, each with the places of its arguments that are cotangents.
SHADOW_METHODS: dict[str, tuple[int, ...]] = {
    "of": (), "add": (1,), "add_entry": (3,), "accumulate": (1, 2), "take": (1,), "number_part": (1,), "take_entry": (),
    "collect": (), "whole": (1,), "add_slice": (),
}  # fmt: skip
#: Marks statements that only compute tangents: without an effect, so that they may be dropped.
TANGENT = "tangent"
DISPLAYS = (n.TupleExpr, n.ListExpr, n.DictExpr)


class Push:
    """Builds forward-mode code block by block."""

    def __init__(
        self, resolved: Resolved, moving: frozenset[str], memory: Memory, names: Names, callees: Pushed
    ) -> None:
        self.resolved, self.moving, self.memory, self.names = resolved, moving, memory, names
        self.calls = Calls(self, callees)
        self.spelled: dict[str, str] = {}
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
        new = walk.map_stmt(s, lambda e: e)
        if site is not None:
            new.site = site
        return new

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
            self.store(s)
        elif t is n.Update:
            self.update(s)
        elif t is n.Delete:
            self.delete(s)
        elif t is n.Effect:
            self.effect(s)
        elif t is not n.Return:
            self.keep(s)

    def assign(self, s: n.Assign) -> None:
        e, target = s.value, s.target
        site = self.resolved.sites.get(id(s))
        if target in self.moving and id(s) in aliases_of(self.resolved).disturbed:
            raise self.unsupported("an iterator over a value that is changed before it is used up", "iterate by index")
        if type(e) is n.Call and self.shadow(s, e, target):
            return
        if type(e) is n.Call and self.method(s, e, target):
            return
        if site is not None and site.how != "constant":
            if target in self.moving or self.calls.has_effect_on_tangents(site):
                self.operation(s, e, target, site)
            else:
                self.keep(s)
            return
        self.keep(s)
        if target not in self.moving:
            return
        t = type(e)
        if t in (n.ListExpr, n.DictExpr) and not (e.items if t is n.ListExpr else e.keys):
            self.tangent(target, e, fresh=True)
        elif t in DISPLAYS:
            self.tangent(target, self.dot(e), fresh=self.moves(e))
        elif t is n.Index:
            self.tangent(target, self.index(target, e), fresh=True)
        elif t is n.Attr:
            self.field(target, e)
        elif t is n.Closure:
            self.tangent(target, self.calls.closure(e), fresh=True)
        elif t is n.SetExpr and self.moves(e):
            raise self.unsupported("a set of values with tangents")
        else:
            self.tangent(target, self.dot(e) if t in (n.Name, n.Star) else ZERO_REF, fresh=t is n.Name)

    def operation(self, s: n.Assign, e: n.Expr, target: str, site: Site) -> None:
        if type(e) is n.Inplace and site.how == "inplace":
            self.inplace(s, e, target)
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
        self.emit(n.Unpack(targets, n.Call(SPREAD, (self.dot(source), source)), site=TANGENT))

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
        idle = names_of_unread(self.resolved, s.error, self.moving) if s.error in self.moving else frozenset()
        if idle is None:
            raise self.unsupported("using what an exception holds, where a value that is differentiated may be in it,")
        self.moving -= idle
        blocks = self.block(s.body), self.block(s.handler), self.block(s.orelse)
        self.out.append(n.Try(*blocks, s.types, s.error, None, shielded=True, line=s.line))

    def temporary(self, kind: Kind) -> str:
        """A new name that moves."""
        name = self.names.temporary()
        self.resolved.kinds[name] = kind
        self.moving = self.moving | {name}
        return name

    def loop(self, s: n.For) -> None:
        if s.target not in self.moving:
            self.out.append(n.For(s.target, s.iter, self.block(s.body), s.stop, s.count, line=s.line))
            return
        source = s.iter
        site = self.resolved.sites.get(id(s))
        operands = self.calls.operands(site) if site is not None and type(s.iter) is not n.Name else [s.iter]
        if any(map(self.moves, operands)):
            refuse_changes(self, s, operands)
        if site is not None and site.how != "constant":
            name = self.temporary(site.result)
            self.calls.call(n.Assign(name, s.iter, line=s.line), name, site)
            source = n.Name(name)
        if not self.moves(source):
            body = [
                n.Assign(self.dot_name(s.target), self.zero_of(s.target), site=TANGENT, line=s.line),
                *self.block(s.body),
            ]
            self.out.append(n.For(s.target, source, body, s.stop, s.count, line=s.line))
            return
        parts, count = self.names.new(f"{s.target}_dots"), s.count or self.names.new("k")
        self.emit(n.Assign(parts, n.Call(SPREAD, (self.dot(source), source)), site=TANGENT))
        first = n.Assign(self.dot_name(s.target), n.Index(n.Name(parts), n.Name(count)), site=TANGENT, line=s.line)
        self.out.append(n.For(s.target, source, [first, *self.block(s.body)], s.stop, count, line=s.line))

    # ------------------------------------------------------------ memory that is changed in place

    def store(self, s: n.Store) -> None:
        target, root = s.target, s.target.value
        site = self.resolved.sites.get(id(s))
        if site is not None and (self.moves(root) or self.moves(s.value)):  # a setter or __setitem__ of the user's
            if site.how not in ("inside", "lifted"):
                raise self.unsupported("a store that runs code of a class which is not known")
            done = self.names.temporary()
            self.calls.call(n.Assign(done, n.Const(None), line=s.line), done, site)
            return
        if type(root) is n.Name and root.id in self.moving:
            value = self.dot(s.value)
            if type(target) is n.Index and self.is_number(root.id):
                value = n.Const(0.0) if value == ZERO_REF else value
                if self.kind(root.id).field not in ("real", "complex") and type(value) is not n.Const:
                    value = n.Call(UNLESS_CUT, (value, root, s.value))
                self.emit(n.Store(n.Index(self.dot(root), target.index), value))
            elif type(target) is n.Index:
                self.emit(n.Effect(n.Call(SET_ENTRY, (self.dot(root), as_value(target.index), value))))
            else:
                self.emit(n.Effect(n.Call(SET_FIELD, (self.dot(root), n.Const(target.name), value))))
        elif self.moves(target) or self.moves(s.value):
            raise self.unsupported("an assignment into an attribute of an attribute", "name the inner one first")
        self.keep(s)

    def update(self, s: n.Update) -> None:
        target = s.target
        root = getattr(target, "value", None)
        if not (type(root) is n.Name and root.id in self.moving):
            if self.moves(s.value) or (target is not None and self.moves(target)):
                raise self.unsupported("an update of an attribute of an attribute", "name the inner one first")
            self.keep(s)
            return
        moves = self.moves(s.value)
        array = type(target) is n.Index and self.is_number(root.id)
        if array and s.op in ("+", "-"):
            if moves:
                self.emit(n.Update(n.Index(self.dot(root), target.index), s.op, self.dot(s.value)))
        elif array and s.op in ("*", "/") and not moves:
            self.emit(n.Update(n.Index(self.dot(root), target.index), s.op, s.value))
        elif array and s.op == "*":
            there = n.Index(self.dot(root), target.index)  # stored whole: the operands may overlap
            old = n.Binary("*", there, s.value)
            self.emit(n.Store(there, n.Binary("+", old, n.Binary("*", target, self.dot(s.value)))))
        elif type(target) is n.Index:
            args = (self.dot(root), as_value(target.index), n.Const(s.op), root, s.value, self.dot(s.value))
            self.emit(n.Effect(n.Call(UPDATE_ENTRY, args)))
        else:
            args = (self.dot(root), n.Const(target.name), n.Const(s.op), root, s.value, self.dot(s.value))
            self.emit(n.Effect(n.Call(UPDATE_FIELD, args)))
        self.keep(s)

    def inplace(self, s: n.Assign, e: n.Inplace, target: str) -> None:
        """``target = left; target op= right``, where ``left`` may be an array that is changed."""
        name, left, right = self.dot_name(target), self.dot(e.left), self.dot(e.right)
        kind = self.resolved.kind(e.left)
        if isinstance(kind, (Sequence, Tuple, Mapping)):
            if e.op != "+" or isinstance(kind, Mapping):
                raise self.unsupported(f"the update {e.op}= of a container with tangents")
            self.emit(n.Assign(name, n.Inplace("+", left, n.Call(SPREAD, (right, e.right)))))
        elif not isinstance(kind, Num):
            raise self.unsupported(f"the update {e.op}= of a value of unknown type with a tangent", "write x = x + y")
        elif e.op in ("+", "-"):
            self.emit(n.Assign(name, left if right == ZERO_REF else n.Inplace(e.op, left, right)))
        elif e.op == "*" or (e.op == "/" and right == ZERO_REF):
            more = self.names.new(name)
            if right != ZERO_REF:  # before the tangent changes, of which ``right`` may be a view
                self.emit(n.Assign(more, n.Binary("*", e.left, right), site=TANGENT))
            self.emit(n.Assign(name, n.Inplace(e.op, left, e.right)))
            if right != ZERO_REF:
                self.emit(n.Assign(name, n.Inplace("+", n.Name(name), n.Name(more))))
        else:
            call = n.Call(UPDATE_ARRAY, (left, n.Const(e.op), e.left, e.right, right))
            self.emit(n.Assign(name, call))
        self.keep(s)

    def delete(self, s: n.Delete) -> None:
        target = s.target
        root = getattr(target, "value", None)
        if type(root) is n.Name and root.id in self.moving:
            if type(target) is not n.Index or not isinstance(self.kind(root.id), (Sequence, Mapping)):
                raise self.unsupported("del of a part of a value with a tangent")
            if isinstance(self.kind(root.id), Mapping):
                self.emit(n.Effect(n.Call(n.Attr(self.dot(root), "pop"), (as_value(target.index), ZERO_REF))))
            else:
                self.emit(n.Delete(n.Index(self.dot(root), target.index)))
        self.keep(s)

    def effect(self, s: n.Effect) -> None:
        site = self.resolved.sites.get(id(s))
        e = s.value
        if type(e) is n.Call and (self.shadow(s, e, None) or self.method(s, e, None)):
            return
        if site is None or site.how == "constant" or not any(self.moves(a) for a in self.calls.operands(site)):
            if (
                site is not None
                and site.how == "constant"
                and type(e) is n.Call
                and self.calls.changes_in_place(s, site)
            ):
                return
            self.keep(s)
            return
        if self.calls.changes_in_place(s, site):
            return
        if site.how in ("inside", "lifted", "dynamic"):
            name = self.temporary(UNKNOWN)
            self.calls.call(n.Assign(name, e, line=s.line), name, site)
            return
        if aliases_of(self.resolved).written_by.get(id(s)):
            raise self.unsupported("a call that writes into an array (out=) with tangents", "assign the result instead")
        self.keep(s)

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

    def method(self, s: n.Stmt, e: n.Call, target: str | None) -> bool:
        """A method that changes a list or dict that has tangents: the same method on the container of tangents."""
        if type(e.func) is not n.Attr or type(e.func.value) is not n.Name or e.func.name not in MUTATING:
            return False
        root = e.func.value
        kind = self.kind(root.id)
        container = self.dot(root)
        if kind == UNKNOWN and e.func.name in ("append", "insert", "pop", "extend"):
            kind, container = Sequence(UNKNOWN), n.Call(LIST_OF_DOTS, (container,))
        if root.id not in self.moving or not isinstance(kind, (Sequence, Mapping, Num)):
            return False
        name = e.func.name
        args: tuple[n.Expr, ...]
        if isinstance(kind, Sequence) and name in ("append", "insert"):
            args = (*e.args[:-1], self.dot(e.args[-1]))
        elif isinstance(kind, Sequence) and name == "extend" and type(e.args[0]) in (n.Name, n.TupleExpr, n.ListExpr):
            args = (n.Call(SPREAD, (self.dot(e.args[0]), e.args[0])),)
        elif isinstance(kind, Sequence) and name in ("pop", "reverse", "clear"):
            args = e.args
        elif isinstance(kind, Mapping) and name == "pop" and not any(map(self.moves, e.args[1:])):
            args = (e.args[0], ZERO_REF)
        elif isinstance(kind, Mapping) and name == "clear":
            args = ()
        elif isinstance(kind, Mapping) and name == "update" and len(e.args) == 1 and not e.kwargs:
            args = (self.dot(e.args[0]),) if self.moves(e.args[0]) else (n.DictExpr((), ()),)
            if not self.moves(e.args[0]) or not isinstance(self.resolved.kind(e.args[0]), Mapping):
                raise self.unsupported("dict.update of a dict with tangents by one without")
        elif isinstance(kind, Num) and name == "fill":
            args = (n.Const(0.0) if not self.moves(e.args[0]) else self.dot(e.args[0]),)
        else:
            raise self.unsupported(f"the method .{name}() on a value with a tangent")
        call = n.Call(n.Attr(container, name), args)
        taken = target is not None and target in self.moving
        self.emit(n.Assign(self.dot_name(target), call) if taken else n.Effect(call))
        self.keep(s)
        if taken:
            self.densely(target)
        return True
