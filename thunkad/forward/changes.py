"""Memory that is changed in place: stores, updates, methods and library functions, followed on tangents.

A change is made to the tangent first, whose operands must be read as they were, and then to the primal.  What is known
only when the code runs is changed together with its tangent (:mod:`thunkad.compiled.push_updates`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.analysis.activity import is_outside
from thunkad.analysis.aliases import aliases_of
from thunkad.analysis.sites import Site
from thunkad.analysis.special import is_own_class
from thunkad.analysis.writing import LOOKED_AT, MOVERS, STARRED_OUT, is_numpy, out_operands, out_position, outlives
from thunkad.forward.calls import EFFECT, SPREAD
from thunkad.forward.keys import put_key
from thunkad.forward.loops import as_value
from thunkad.forward.memory import MUTATING
from thunkad.forward.template import ZERO_REF
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Mapping, Num, Sequence, Tuple
from thunkad.kinds.operators import INPLACE_FUNCTION
from thunkad.kinds.results import binary, element
from thunkad.rules.entry import name_of
from thunkad.rules.updates_at import UPDATED
from thunkad.runtime import dot_changes, moves
from thunkad.runtime.attributes import SHARED_HINT
from thunkad.runtime.elements import place_of, sorted_order

SET_ENTRY, SET_FIELD, ARRAY_DOT, CHANGE_DOT, HELD = (
    n.Ref(f.__name__, f)
    for f in (
        dot_changes.set_entry, dot_changes.set_field, dot_changes.array_dot, dot_changes.change_dot, dot_changes.held
    )
)  # fmt: skip
PLACE_OF, SORTED_ORDER = n.Ref("place_of", place_of), n.Ref("sorted_order", sorted_order)
DEL_FIELD = n.Ref("del_field", dot_changes.del_field)
CHOSEN, SPREAD_MASK = n.Ref("chosen", moves.chosen), n.Ref("spread", moves.spread)
THE_ARRAY = n.Ref("the_array", moves.the_array)
NOTHING = n.Const(0.0)

#: Methods of arrays that overwrite all of it, as functions that make a new array.
_WHOLE = {"sort": np.sort, "partition": np.partition}
#: Methods of lists that do the same on a list of tangents.
_SAME = ("pop", "reverse", "clear")


class Changes:
    """The part of :class:`thunkad.forward.push.Push` that deals with them."""

    def __init__(self, push: Any) -> None:
        self.push = push

    def array_dot(self, value: n.Expr) -> n.Expr:
        """The tangent of what is written into an array."""
        if not self.push.moves(value):
            return NOTHING
        dot = self.push.dot(value)
        return dot if isinstance(self.push.resolved.kind(value), Num) else n.Call(ARRAY_DOT, (dot, value))

    def both(self, name: str, *args: n.Expr) -> n.Call:
        """A call of the dispatcher that changes a value and its tangent."""
        return n.Call(self.push.calls.callees.updater_of_dots(name), args)

    # ------------------------------------------------------------ stores and updates

    def store(self, s: n.Store) -> None:
        push, target, root = self.push, s.target, s.target.value
        site = push.resolved.sites.get(id(s))
        if site is not None and site.how == "outside":
            self.set_outside(s)
            return
        if site is not None and (push.moves(root) or push.moves(s.value)):  # a setter or __setitem__ of the user's
            if site.how not in ("inside", "lifted"):
                hint = "write the property or __setitem__ in Python, with an index that is a number or a name"
                raise push.unsupported("a store that runs code of a class which is not known", hint)
            done = push.names.temporary()
            push.calls.call(n.Assign(done, n.Const(None), line=s.line), done, site)
            return
        if type(root) is n.Name and root.id in push.moving:
            place = n.Index(push.dot(root), target.index) if type(target) is n.Index else None
            plain = push.is_number(root.id) and push.kind(root.id).field in ("real", "complex")
            if plain or (place is None and push.is_number(root.id)):
                value = self.array_dot(s.value)
                push.emit(n.Store(n.Attr(push.dot(root), target.name) if place is None else place, value))
            elif type(target) is n.Index:
                at = as_value(target.index)
                put_key(push, target)
                push.emit(n.Effect(n.Call(SET_ENTRY, (push.dot(root), at, push.dot(s.value), root, s.value))))
            else:
                at = n.Const(target.name)
                past = (n.Const(True),) if s.past else ()
                push.emit(n.Effect(n.Call(SET_FIELD, (push.dot(root), at, push.dot(s.value), root, s.value, *past))))
        elif push.moves(target) or push.moves(s.value):
            raise push.unsupported("an assignment into an attribute of an attribute", "name the inner one first")
        push.keep(s)

    def field_of_tangent(self, s: n.Stmt, e: n.Call) -> bool:
        """A field of a tangent is set, in forward-mode code: the same is done to the tangent of the tangent."""
        if type(e.func) is not n.Ref or not e.args or not self.push.moves(e.args[0]):
            return False
        if e.func.value is dot_changes.del_field:
            self.push.keep(s)
            self.push.emit(n.Effect(n.Call(DEL_FIELD, (self.push.dot(e.args[0]), *e.args[1:]))))
            return True
        if e.func.value is not dot_changes.set_field:
            return False
        own, name, value, x, y = e.args
        self.push.keep(s)
        self.push.emit(n.Effect(n.Call(SET_FIELD, (self.push.dot(own), name, self.push.dot(value), x, y))))
        return True

    def set_outside(self, s: n.Store | n.Update) -> None:
        """An attribute of a class, a module or a function is set."""
        if self.push.moves(s.value):
            what = f"setting .{s.target.name} of a class, module or function to a value that is differentiated"
            raise self.push.unsupported(what, SHARED_HINT)
        self.push.keep(s)

    def update(self, s: n.Update) -> None:
        push, target = self.push, s.target
        if is_outside(push.resolved, s):
            self.set_outside(s)
            return
        root = getattr(target, "value", None)
        if not (type(root) is n.Name and root.id in push.moving):
            if push.moves(s.value) or (target is not None and push.moves(target)):
                raise push.unsupported("an update of an attribute of an attribute", "name the inner one first")
            push.keep(s)
            return
        moves = push.moves(s.value)
        value_is_number = isinstance(push.resolved.kind(s.value), Num)
        array = type(target) is n.Index and push.is_number(root.id) and value_is_number
        if array and s.op in ("+", "-"):
            if moves:
                push.emit(n.Update(n.Index(push.dot(root), target.index), s.op, push.dot(s.value)))
        elif array and s.op in ("*", "/") and not moves:
            push.emit(n.Update(n.Index(push.dot(root), target.index), s.op, s.value))
        elif array and s.op == "*":
            there = n.Index(push.dot(root), target.index)  # stored whole: the operands may overlap
            old = n.Binary("*", there, s.value)
            push.emit(n.Store(there, n.Binary("+", old, n.Binary("*", target, push.dot(s.value)))))
        elif type(target) is n.Index and value_is_number and self.is_numeric_part(root, target.index):
            put_key(push, target)
            self.replace(s, n.Index(root, target.index), s.op, s.value)
        else:
            self.update_unknown(s, root, target)
            return
        push.keep(s)

    def is_numeric_part(self, root: n.Name, index: n.Expr) -> bool:
        """Whether ``root[index]`` is a part of an array, or a number in a list or a dict."""
        kind = self.push.kind(root.id)
        part = self.part_kind(root, index)
        return isinstance(kind, Num) or (
            isinstance(kind, (Sequence, Mapping)) and isinstance(part, Num) and part.is_scalar
        )

    def part_kind(self, root: n.Name, index: n.Expr) -> Kind:
        constant = (index.value,) if type(index) is n.Const else None
        at = UNKNOWN if type(index) in (n.Slice, n.TupleExpr) else self.push.resolved.kind(index)
        found = element(self.push.kind(root.id), at, constant)
        return UNKNOWN if found is None else found

    def replace(self, s: n.Stmt, part: n.Index, op: str, value: n.Expr) -> None:
        """The tangent of ``part`` becomes that of ``part op value``."""
        push = self.push
        assert type(part.value) is n.Name
        old = push.temporary(self.part_kind(part.value, part.index))
        push.assign(n.Assign(old, part, line=s.line))
        new = self.operate(s, op, n.Name(old), value)
        push.emit(n.Store(n.Index(push.dot(part.value), part.index), new))

    def operate(self, s: n.Stmt, op: str, left: n.Expr, right: n.Expr) -> n.Expr:
        """The tangent of ``left op right``."""
        push = self.push
        kinds = push.resolved.kind(left), push.resolved.kind(right)
        new = push.temporary(binary(op, *kinds))
        site = push.calls.callees.operator_site(op, (left, right), kinds)
        if site.how == "constant":
            return NOTHING
        push.calls.call(n.Assign(new, n.Binary(op, left, right), line=s.line), new, site)
        return push.dot(n.Name(new))

    def update_unknown(self, s: n.Update, root: n.Name, target: Any) -> None:
        index = type(target) is n.Index
        if index:
            put_key(self.push, target)
        place = as_value(target.index) if index else n.Const(target.name)
        args = self.operator(s.op), root, self.push.dot(root), place, s.value, self.push.dot(s.value)
        self.push.emit(n.Effect(self.both("update_entry" if index else "update_attribute", *args), site=EFFECT))

    def operator(self, op: str) -> n.Ref:
        if op not in INPLACE_FUNCTION:
            raise self.push.unsupported(f"the update {op}= of a value with a tangent")
        return n.Ref(INPLACE_FUNCTION[op].__name__, INPLACE_FUNCTION[op])

    def inplace(self, s: n.Assign, e: n.Inplace, target: str) -> None:
        """``target = left; target op= right``, where ``left`` may be an array that is changed."""
        push = self.push
        name, left, right = push.dot_name(target), push.dot(e.left), push.dot(e.right)
        kind, other = push.resolved.kind(e.left), push.resolved.kind(e.right)
        if isinstance(kind, (Sequence, Tuple)) and e.op == "+" and not is_own_class(kind):
            push.emit(n.Assign(name, n.Inplace("+", left, n.Call(SPREAD, (right, e.right)))))
        elif not isinstance(kind, Num) or not isinstance(other, Num):
            call = self.both("update", self.operator(e.op), e.left, left, e.right, right)
            push.emit(n.Unpack((target, name), call, line=s.line, site=EFFECT))
            push.densely(target)
            return
        elif e.op in ("+", "-"):
            push.emit(n.Assign(name, left if right == ZERO_REF else n.Inplace(e.op, left, right)))
        elif e.op == "*" or (e.op == "/" and right == ZERO_REF):
            more = push.names.new(name)
            if right != ZERO_REF:  # before the tangent changes, of which ``right`` may be a view
                push.emit(n.Assign(more, n.Binary("*", e.left, right), site="tangent"))
            push.emit(n.Assign(name, n.Inplace(e.op, left, e.right)))
            if right != ZERO_REF:
                push.emit(n.Assign(name, n.Inplace("+", n.Name(name), n.Name(more))))
        else:
            new = self.operate(s, e.op, e.left, e.right)
            push.emit(n.Store(n.Index(left, n.Const(Ellipsis)), new))
            push.emit(n.Assign(name, left))
        push.keep(s)

    def delete(self, s: n.Delete) -> None:
        push, target = self.push, s.target
        root = getattr(target, "value", None)
        if type(target) is n.Attr and type(root) is n.Name and root.id in push.moving:
            given = (push.dot(root), n.Const(target.name), root)
            push.emit(n.Effect(n.Call(DEL_FIELD, given), site=EFFECT, line=s.line))
        elif type(root) is n.Name and root.id in push.moving:
            if type(target) is not n.Index:
                raise push.unsupported("del of a part of a value with a tangent")
            if isinstance(push.kind(root.id), (Sequence, Mapping)):
                args = (as_value(target.index),)
                self.changed(None, root, "__delitem__", args, (), isinstance(push.kind(root.id), Sequence))
            else:
                call = self.of_unknown(root, "__delitem__", (as_value(target.index),), ())
                push.emit(n.Effect(call, site=EFFECT, line=s.line))
                return
        push.keep(s)

    # ------------------------------------------------------------ methods

    def method(self, s: n.Stmt, e: n.Call, target: str | None) -> bool:
        """A method that changes a list, a dict or an array that has a tangent."""
        push = self.push
        if type(e.func) is not n.Attr or type(e.func.value) is not n.Name or e.func.name not in MUTATING:
            return False
        root, name = e.func.value, e.func.name
        kind, site = push.kind(root.id), push.resolved.sites.get(id(s))
        if root.id not in push.moving or (site is not None and site.how in ("inside", "lifted")):
            return False
        if isinstance(kind, Num):
            followed = self.array_method(s, root, name, e)
            if followed and target in push.moving:
                push.tangent(target, ZERO_REF)
            return followed
        if isinstance(kind, (Sequence, Mapping)) and self.is_plain(e):
            taken = target if target in push.moving else None
            self.changed(taken, root, name, e.args, e.kwargs, isinstance(kind, Sequence))
            push.keep(s)
            if taken is not None:
                push.densely(taken)
            return True
        container = isinstance(kind, Instance) and issubclass(kind.cls, (set, list, dict))
        if isinstance(kind, Instance) and not name.startswith("__") and not container:
            return False
        call = self.of_unknown(root, name, e.args, e.kwargs)
        result = target or push.names.new("_")
        dot = push.dot_name(target) if target in push.moving else push.names.new("_")
        push.emit(n.Unpack((result, dot), call, line=s.line, site=EFFECT))
        return True

    def set_by_name(self, s: n.Stmt, site: Site) -> bool:
        """``setattr(x, name, v)`` for a ``name`` that is known only when the code runs."""
        root, *args = site.args
        if len(args) != 2 or type(root) is not n.Name or root.id not in self.push.moving:
            return False
        call = self.of_unknown(root, "__setattr__", tuple(args), ())
        self.push.emit(n.Effect(call, site=EFFECT, line=s.line))
        return True

    def is_plain(self, e: n.Call) -> bool:
        return all(k is not None for k, _ in e.kwargs) and not any(type(a) is n.Star for a in e.args)

    def changed(
        self, target: str | None, root: n.Name, name: str, args: tuple[n.Expr, ...], kwargs: Any, is_list: bool
    ) -> None:
        """The same method on the container of tangents."""
        push = self.push
        dots = push.dot(root)
        if is_list and name in _SAME and not kwargs:
            call = n.Call(n.Attr(dots, name), args)
        elif is_list and name == "append" and len(args) == 1 and self.is_settled(args[0]):
            call = n.Call(n.Attr(dots, "append"), (push.dot(args[0]),))
        elif is_list and name == "remove" and len(args) == 1:
            place = n.Name(push.names.new("place"))  # what is equal to it may be another one later
            push.emit(n.Assign(place.id, n.Call(PLACE_OF, (root, args[0]))))
            call = n.Call(n.Attr(dots, "pop"), (place,))
        else:
            if is_list and name == "sort" and kwargs:
                args, kwargs = (self.order(root, dict(kwargs)),), ()
            call = n.Call(CHANGE_DOT, (dots, root, n.Const(name), *self.arguments(args, kwargs)))
        push.emit(n.Effect(call, site=EFFECT) if target is None else n.Assign(push.dot_name(target), call, site=EFFECT))

    def order(self, root: n.Name, kwargs: dict[str | None, n.Expr]) -> n.Expr:
        """The order in which a list is sorted by a key, which may read what changes later."""
        order = self.push.names.new("order")
        given = root, kwargs.get("key", n.Const(None)), kwargs.get("reverse", n.Const(False))
        self.push.emit(n.Assign(order, n.Call(SORTED_ORDER, given)))
        return n.Name(order)

    def is_settled(self, value: n.Expr) -> bool:
        """Whether the tangent of a value can be put into a container as it is."""
        return self.push.moves(value) or isinstance(self.push.resolved.kind(value), Num)

    def of_unknown(self, root: n.Name, name: str, args: tuple[n.Expr, ...], kwargs: Any) -> n.Call:
        return self.both("change", root, self.push.dot(root), n.Const(name), *self.arguments(args, kwargs))

    def arguments(self, args: tuple[n.Expr, ...], kwargs: Any) -> tuple[n.Expr, ...]:
        """The arguments of a method, their tangents, its keywords, their tangents."""
        calls = self.push.calls
        keys = tuple(None if k is None else n.Const(k) for k, _ in kwargs)
        dots = n.TupleExpr(tuple(map(calls.starred, args)))
        named = n.DictExpr(keys, tuple(v for _, v in kwargs))
        return n.TupleExpr(args), dots, named, n.DictExpr(keys, tuple(calls.double_starred(k, v) for k, v in kwargs))

    def array_method(self, s: n.Stmt, root: n.Name, name: str, e: n.Call) -> bool:
        push = self.push
        whole = n.Index(push.dot(root), n.Const(Ellipsis))
        if name == "fill" and len(e.args) == 1:
            push.emit(n.Effect(n.Call(n.Attr(push.dot(root), "fill"), (self.array_dot(e.args[0]),))))
        elif name == "put" and len(e.args) > 1:
            self.move(np.put, (root, *e.args), dict(e.kwargs))
        elif name in _WHOLE:
            args, kwargs = (root, *e.args), e.kwargs
            kinds = tuple(push.resolved.kind(a) for a in (*args, *(v for _, v in kwargs)))
            push.emit(n.Store(whole, self.functional(s, _WHOLE[name], args, kwargs, kinds)))
        else:
            raise push.unsupported(f"the method .{name}() on a value with a tangent")
        push.keep(s)
        return True

    # ------------------------------------------------------------ library functions that write into an argument

    def library(self, s: Any, target: str | None, e: n.Expr, site: Site | None) -> bool:
        """``np.add.at(x, i, v)``, ``np.copyto(x, v)``, ``out=``: True if the statement is one and was dealt with."""
        push = self.push
        if site is None or type(e) is not n.Call or site.how in ("inside", "lifted"):
            return False
        buffers = tuple(b for b in out_operands(site, e) if b != n.Const(None))
        if buffers and is_numpy(site.callee):
            return self.out(s, target, site, self.buffer_of(buffers))
        first = site.args[0] if site.args else None
        if type(first) is not n.Name or first.id not in push.moving:
            return False
        owner = getattr(site.callee, "__self__", None)
        if isinstance(owner, np.ufunc) and getattr(site.callee, "__name__", "") == "at":
            if owner not in (np.add, np.subtract) or len(site.args) != 3:
                return self.updated(s, owner, site)
            if push.moves(site.args[2]):
                push.emit(n.Effect(n.Call(e.func, (push.dot(first), site.args[1], push.dot(site.args[2])))))
        elif site.callee in MOVERS:
            self.move(site.callee, site.args, dict(site.kwargs))
        else:
            return False
        push.keep(s)
        return True

    def updated(self, s: n.Stmt, ufunc: np.ufunc, site: Site) -> bool:
        """``ufunc.at(x, indices, b)`` for one that is not linear: the array has the tangent of what it becomes."""
        push = self.push
        if ufunc not in UPDATED or len(site.args) != ufunc.nin + 1:
            raise push.unsupported(f"np.{ufunc.__name__}.at on a value with a tangent")
        kinds = tuple(map(push.resolved.kind, site.args))
        dot = self.functional(s, UPDATED[ufunc], site.args, (), kinds)
        push.emit(n.Store(n.Index(push.dot(site.args[0]), n.Const(Ellipsis)), dot))
        push.keep(s)
        return True

    def move(self, fn: Any, args: tuple[n.Expr, ...], kwargs: dict[Any, n.Expr]) -> None:
        """The same on the tangents of the array and of the values."""
        push, parameters = self.push, MOVERS[fn]
        bound = dict(zip((p.lstrip("=") for p in parameters), args)) | kwargs
        if None in bound or parameters[0] not in bound:
            raise push.unsupported(f"{name_of(fn)} with these arguments on a value with a tangent")
        passed: list[tuple[str | None, n.Expr]] = []
        for k, p in enumerate(parameters):
            if p.lstrip("=") in bound and p != "casting":
                value = bound[p.lstrip("=")]
                dot = push.dot(value) if not k else self.array_dot(value) if p[0] == "=" else value
                passed.append((p.lstrip("="), dot))
        place = len(passed) if len(passed) < len(parameters) and fn is np.copyto else len(args)
        head = tuple(v for _, v in passed[: min(place, 2)])
        push.emit(n.Effect(n.Call(n.Attr(n.Ref("np", np), fn.__name__), head, tuple(passed[len(head) :]))))

    def buffer_of(self, buffers: tuple[n.Expr, ...]) -> n.Name:
        """The one array that ``out`` names."""
        found = buffers
        if any(type(x) is n.Star for x in found):
            raise self.push.unsupported(STARRED_OUT, "name the arguments: np.ceil(x, out=y)")
        if len(found) == 1 and type(found[0]) is n.Name and not self.push.is_number(found[0].id):
            for x in walk.statements(self.push.resolved.function.body):
                if type(x) is n.Assign and x.target == found[0].id and type(x.value) is n.TupleExpr:
                    found = x.value.items
                    break
        if len(found) != 1 or type(found[0]) is not n.Name:
            raise self.push.unsupported("out= with anything but one array", "write out=y instead of out=(y,)")
        return found[0] if self.push.is_number(found[0].id) else self.the_array(found[0])

    def the_array(self, e: n.Name) -> n.Name:
        """The array that is written into, under a name that is known to be one, and its tangent."""
        push = self.push
        if e.id not in push.moving:
            return e
        name = push.temporary(Num("array", "any"))
        push.emit(n.Assign(name, n.Call(THE_ARRAY, (e,))))
        push.tangent(name, n.Call(THE_ARRAY, (push.dot(e),)), fresh=True)
        return n.Name(name)

    def out(self, s: Any, target: str | None, site: Site, buffer: n.Name) -> bool:
        """``f(…, out=buffer)``: the buffer has the tangent of ``f(…)`` after it."""
        push = self.push
        where = dict(site.kwargs).get("where")
        kwargs = tuple((k, v) for k, v in site.kwargs if k not in ("out", "where"))
        place = out_position(site.callee)
        args = site.args
        if not any(k == "out" for k, _ in site.kwargs) and place is not None:
            args = args[:place] + args[place + 1 :]
        own = push.copy(s)
        own.site = EFFECT
        if buffer.id not in push.moving:
            push.out.append(own)
            return True
        dot = push.dot(buffer)
        if where is not None and not isinstance(site.callee, np.ufunc):
            raise push.unsupported("where= together with out= in this call")
        part: n.Expr = n.Const(Ellipsis)
        if where is not None:
            part = n.Name(push.names.new("chosen"))
            push.resolved.kinds[part.id] = Num("array", "bool")
            push.emit(n.Assign(part.id, n.Call(SPREAD_MASK, (where, buffer)), line=s.line))
            args = tuple(self.chosen(s, a, buffer, part) for a in args)
        kinds = tuple(push.resolved.kind(a) for a in (*args, *(v for _, v in kwargs)))
        push.emit(n.Store(n.Index(dot, part), self.functional(s, site.callee, args, kwargs, kinds)))
        push.out.append(own)
        if target is not None and target in push.moving:
            push.tangent(target, dot, fresh=True)
        return True

    def chosen(self, s: n.Stmt, a: n.Expr, buffer: n.Name, mask: n.Name) -> n.Expr:
        """The elements of an operand that ``where=`` lets through."""
        push, kind = self.push, self.push.resolved.kind(a)
        found = Num("array", kind.field if isinstance(kind, Num) else "any", 1)
        name = push.temporary(found) if push.moves(a) else push.names.temporary()
        push.resolved.kinds[name] = found
        push.emit(n.Assign(name, n.Call(CHOSEN, (a, buffer, mask)), line=s.line))
        if push.moves(a):
            push.tangent(name, n.Call(CHOSEN, (push.dot(a), buffer, mask)), fresh=True)
        return n.Name(name)

    def functional(self, s: n.Stmt, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> n.Expr:
        """The tangent of ``fn(*args, **kwargs)``, which makes a new array."""
        push = self.push
        if not any(map(push.moves, (*args, *(v for _, v in kwargs)))):
            return NOTHING
        site = push.calls.callees.call_site(fn, args, kwargs, kinds)
        if site.how == "constant":
            return NOTHING
        new = push.temporary(site.result)
        push.calls.call(n.Assign(new, n.Call(n.Ref(fn.__name__, fn), args, kwargs), line=s.line), new, site)
        return push.dot(n.Name(new))

    def refuse_unfollowed(self, s: n.Stmt) -> None:
        if aliases_of(self.push.resolved).written_by.get(id(s)):
            site = self.push.resolved.sites.get(id(s))
            hint = LOOKED_AT if site and outlives(site) else "assign the result of one that makes a new value"
            raise self.push.unsupported("a call that writes into a value with a tangent", hint)
