"""Kinds and rules resolved: what every name may hold, and what every operation and call stands for.

One abstract run over normal form, repeated while the kind of a name changes after it was used (at a loop head, mostly).
The result is a table of kinds by name and of :class:`Site` by statement; the function itself is not changed.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from thunkad.analysis.binding import bind_call
from thunkad.analysis.call_sites import CallSites
from thunkad.analysis.hollow import is_hollow, unbound_at_heads
from thunkad.analysis.members import member
from thunkad.analysis.remembered import refuse_stale
from thunkad.analysis.sites import Context, Site, path_of, weaken, weaken_entries
from thunkad.analysis.special import (
    IN_PLACE,
    UNARY,
    Super,
    attribute_access,
    comparison,
    is_class_of,
    is_own_class,
    item_access,
    operator_method,
    runs_code,
    special_method,
)
from thunkad.ir import nodes as n
from thunkad.kinds import operators, results
from thunkad.kinds.lattice import (
    PY_BOOL,
    PY_INT,
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Lifted,
    Mapping,
    Method,
    Num,
    Opaque,
    Sequence,
    Tuple,
    item_of,
    join,
    value_of,
)
from thunkad.kinds.observe import kind_of
from thunkad.kinds.variables import is_shared
from thunkad.rules.refused import reason_for
from thunkad.runtime.unbound import Unbound


class Run(CallSites):
    """One abstract run over a function in normal form; :func:`thunkad.analysis.resolve.resolve` repeats it."""

    def __init__(
        self,
        function: n.Function,
        owner: Any,
        params: dict[str, Kind],
        context: Context,
        unsure: frozenset[str] = frozenset(),  # names whose contents are changed under another name or by a callee
        private: frozenset[str] = frozenset(),  # those of containers of which that holds for the entries alone
    ) -> None:
        self.function, self.owner, self.context = function, owner, context
        self.kinds: dict[str, Kind | None] = dict(params)
        self.sites: dict[int, Site] = {}
        self.result: Kind | None = None
        self.hollow: set[str] = unbound_at_heads(function)
        self.direct: dict[str, n.Closure] = {}
        self.unsure, self.private = unsure, private
        self.classes: set[str] = set()  # names that are bound to the class of something
        self.handed: dict[n.Handover, Kind | None] = {}  # what arms of a forward sweep hand over
        self.generators: dict[int, n.Assign] = {}  # calls of generator functions, by identity
        self.asked: set[str] = set()  # names whose kinds this pass has used
        self.changed = False  # something that this pass has used is not so any more
        self.widen = False
        self.hopeful = True  # that a list that is read, and empty as far as is known, is filled further on
        self.met_empty = False
        self.shared: tuple[n.Name, ...] | None = None  # the variables that functions share, once they are looked for

    def iterated(self, s: n.Stmt, e: n.Expr) -> Kind | None:
        """The kind of an operand, or of what the loop ``s`` runs over."""
        if type(e) is n.Call:
            site = self.sites.get(id(s))
            return None if site is None else site.result
        return self.atom(e)

    # ------------------------------------------------------------ statements

    def bind(self, name: str, kind: Kind | None) -> None:
        if name in self.unsure and kind is not None:
            kind = weaken_entries(kind) if name in self.private else weaken(kind)
        old = self.kinds.get(name)
        new = join(old, kind)
        if new != old:
            self.kinds[name] = UNKNOWN if self.widen and old is not None else new
            self.changed |= name in self.asked

    def block(self, block: list[n.Stmt]) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: n.Stmt) -> None:
        t = type(s)
        if t is n.Assign:
            self.bind(s.target, self.hand_over(s, self.value(s, s.value)))
            if is_class_of(s.value):
                self.classes.add(s.target)
            if type(s.value) is n.Closure:
                self.direct[s.target] = s.value
            elif s.target not in self.hollow and is_hollow(s.value, self.hollow):
                self.hollow.add(s.target)
                self.changed = True
        elif t is n.Unpack:
            self.unpack(s, self.atom(s.value) if not isinstance(s.value, n.Call) else self.value(s, s.value))
        elif t is n.If:
            self.block(s.body)
            self.block(s.orelse)
        elif t is n.For:
            kind = self.value(s, s.iter)
            if kind is not None:
                self.bind(s.target, self.item(kind))
            if s.count is not None:
                self.bind(s.count, PY_INT)
            self.block(s.body)
        elif t is n.While:
            self.block(s.test_body)
            self.block(s.body)
        elif t is n.With:
            self.value(s, s.item)
            if s.target is not None:
                self.bind(s.target, UNKNOWN)
            self.block(s.body)
        elif t is n.Try:
            self.block(s.body)
            self.block(s.orelse)
            if s.error is not None:
                self.bind(s.error, UNKNOWN)
            self.block(s.handler)
        elif t is n.Append:
            self.bind(s.target, Sequence(self.atom(s.value)))
        elif t is n.Effect:
            self.value(s, s.value)
            self.grown(s.value)
        elif t is n.Assert:
            self.block(s.message_body)
        elif t is n.Return:
            self.result = join(self.result, self.atom(s.value))
        elif t in (n.Store, n.Update) and self.is_outside(s.target):
            self.site(s, Site("outside", s.target.value, args=(s.value,)))
        elif t is n.Store and self.accessed(s):
            pass
        elif t is n.Store and type(s.target) is n.Index and type(s.target.value) is n.Name:
            self.stored(s.target.value.id, self.atom(s.value))

    def is_outside(self, target: n.Expr) -> bool:
        """Whether this is an attribute of a class, a module or a function, which everyone shares."""
        if type(target) is not n.Attr:
            return False
        if type(target.value) is n.Name and target.value.id in self.classes:
            return True
        base = self.base(target.value)
        return isinstance(base, Known) and isinstance(base.value, (type, types.ModuleType, types.FunctionType))

    def accessed(self, s: n.Store) -> bool:
        """Whether a store calls a function of the user's: ``__setitem__`` or the setter of a property."""
        base, value, target = self.base(s.target.value), self.atom(s.value), s.target
        access = item_access(base) if type(target) is n.Index else attribute_access(base, target.name, True, s.past)
        if access is None or base is None or value is None or type(target.value) is not n.Name:
            return False
        args: tuple[n.Expr, ...] = access.write_args(target.value, s.value)
        kinds: tuple[Kind, ...] = tuple(map(self.known, args))
        if type(target) is n.Index:
            index = self.atom(target.index)
            if index is None:
                return False
            args, kinds = (target.value, target.index, s.value), (base, index, value)
        if access.write is None or not all(map(is_settled, args)):
            self.site(s, Site("dynamic", n.Const("a setter"), args=args, kinds=kinds))
        else:
            self.looked_up(s, access.write, args, (), kinds, None)
        return True

    def stored(self, name: str, kind: Kind | None) -> None:
        """After ``name[…] = value``: a container's entries may be of the value's kind, too."""
        self.asked.add(name)
        old = self.kinds.get(name)
        if isinstance(old, Mapping):
            self.bind(name, Mapping(None, kind))
        elif isinstance(old, Sequence):
            self.bind(name, Sequence(kind, old.cls))

    def grown(self, e: n.Expr) -> None:
        """After ``name.append(value)`` and the like."""
        if type(e) is not n.Call or type(e.func) is not n.Attr or type(e.func.value) is not n.Name or not e.args:
            return
        if e.func.name in ("append", "insert"):
            self.stored(e.func.value.id, self.atom(e.args[-1]))
        elif e.func.name == "extend":
            kind = self.atom(e.args[0])
            self.stored(e.func.value.id, None if kind is None else item_of(kind))

    # ------------------------------------------------------------ operands

    def item(self, kind: Kind) -> Kind | None:
        return None if self.is_empty(kind) else item_of(kind)

    def is_early(self) -> bool:
        """Whether an operand of which nothing is known may get a kind in a later pass; it is unknown after that."""
        self.met_empty = True
        return self.hopeful

    def is_empty(self, kind: Kind | None) -> bool:
        """Whether ``kind`` is that of a list which may be filled further on."""
        if not (self.hopeful and isinstance(kind, Sequence) and kind.item is None):
            return False
        self.met_empty = True
        return True

    def atom(self, e: n.Expr) -> Kind | None:
        t = type(e)
        if t is n.Name:
            self.asked.add(e.id)
            return self.kinds.get(e.id)
        if t is n.Const:
            return Known(e.value) if isinstance(e.value, (str, type(None), type(Ellipsis))) else kind_of(e.value)
        if t is n.Ref:
            return None if e.value is Unbound else kind_of(e.value)
        if t is n.Global:
            try:
                return kind_of(self.context.global_value(self.owner, e.id))
            except KeyError:
                return UNKNOWN
        if t is n.Star:
            return self.atom(e.value)
        if t is n.Slice:
            return Opaque(slice)
        if t in (n.TupleExpr, n.ListExpr, n.SetExpr, n.DictExpr):
            return self.display(e)
        return UNKNOWN

    def known(self, e: n.Expr) -> Kind:
        found = self.atom(e)
        return UNKNOWN if found is None else found

    def display(self, e: n.Expr) -> Kind | None:
        if type(e) is n.TupleExpr:
            if not any(type(x) is n.Star for x in e.items):
                items = [self.atom(x) for x in e.items]
                return None if any(k is None for k in items) else Tuple(tuple(items))  # type: ignore[arg-type]
            return Sequence(self.joined(e.items), tuple)
        if type(e) is n.ListExpr:
            return Sequence(self.joined(e.items))
        if type(e) is n.DictExpr:
            constant = all(type(k) is n.Const for k in e.keys)
            values = [self.atom(v) for v in e.values]
            if constant and not any(v is None for v in values):
                return Mapping(tuple({k.value: v for k, v in zip(e.keys, values)}.items()))  # type: ignore[union-attr,misc]
            return Mapping(None, self.joined_values(e.keys, values))
        return UNKNOWN

    def joined_values(self, keys: Any, kinds: Any) -> Kind | None:
        """The kind that covers every value of a dict display, those of dicts that are spread in it too."""
        out: Kind | None = None
        for key, kind in zip(keys, kinds):
            spread = key is None and kind is not None
            out = join(out, (value_of(kind) if isinstance(kind, Mapping) else UNKNOWN) if spread else kind)
        return out

    def joined(self, items: Any) -> Kind | None:
        out: Kind | None = None
        for x in items:
            kind = self.atom(x)
            out = join(out, item_of(kind) if type(x) is n.Star and kind is not None else kind)
        return out

    # ------------------------------------------------------------ right-hand sides

    def value(self, s: n.Stmt, e: n.Expr) -> Kind | None:
        """The kind of ``e``, None while an operand is not known to exist; records the site of ``s``."""
        t = type(e)
        if t in (n.Name, n.Const, n.Ref, n.Global, n.TupleExpr, n.ListExpr, n.DictExpr, n.SetExpr, n.Slice):
            return self.atom(e)
        if t is n.Closure:
            return Lifted(e)
        if t in (n.Binary, n.Inplace, n.Compare):
            left, right = self.atom(e.left), self.atom(e.right)
            if left is None or right is None:
                if self.is_early():
                    return None
                left, right = left or UNKNOWN, right or UNKNOWN
            return self.operator(s, e, left, right)
        if t is n.Unary:
            operand = self.atom(e.operand)
            if operand is None and self.is_early():
                return None
            return self.unary(s, e, operand or UNKNOWN)
        if t is n.Index:
            return self.index(s, e)
        if t is n.Attr:
            return self.attribute(s, e)
        if t is n.Call:
            given = (*e.args, *(v for _, v in e.kwargs), *((e.func.value,) if type(e.func) is n.Attr else ()))
            return None if any(self.is_empty(self.atom(x)) for x in given) else self.call(s, e)
        return UNKNOWN

    def site(self, s: n.Stmt, site: Site) -> Kind:
        if site.how == "dynamic" and not site.bound:
            if site.infix and self.context.own_operators and any(k is UNKNOWN or is_own_class(k) for k in site.kinds):
                site.infix = False  # it may be a method of a class, which may use variables that functions share
            if not site.infix:
                site.bound = tuple((e.id, e) for e in self.variables())
        self.sites[id(s)] = site
        return site.result

    def variables(self) -> tuple[n.Name, ...]:
        wanted = self.context.variable_kinds()
        if not wanted:
            return ()
        if self.shared is None:
            holders = {kind: name for name, kind in reversed(self.kinds.items()) if is_shared(kind)}
            names = tuple(holders[k] for k in wanted if is_shared(k) and k in holders)
            self.shared = tuple(map(n.Name, names)) if len(names) == len(wanted) else ()
        return self.shared

    def operator(self, s: n.Stmt, e: Any, left: Kind, right: Kind) -> Kind:
        args, kinds = (e.left, e.right), (left, right)
        if type(e) is n.Compare:
            method = comparison(e.op, left, right)
            if method is not None:
                order = -1 if e.op in ("in", "not in") else 1
                self.looked_up(s, method, args[::order], (), kinds[::order], None)
                return PY_BOOL if order < 0 else self.sites[id(s)].result
            return self.site(
                s, Site("constant", args=args, kinds=kinds, result=results.compare(e.op, left, right), infix=True)
            )
        method = special_method(left, IN_PLACE[e.op]) if type(e) is n.Inplace else None
        if method is not None:
            return self.looked_up(s, method, args, (), kinds, None)
        result = results.binary(e.op, left, right)
        if type(e) is n.Inplace and not (
            (isinstance(left, Num) and left.is_scalar) or isinstance(left, (Tuple, Opaque))
        ):
            return self.site(
                s, Site("inplace", args=args, kinds=kinds, result=left if isinstance(left, Num) else result, infix=True)
            )
        if isinstance(left, Num) and isinstance(right, Num):
            function: Any = operators.UFUNC_OF_OPERATOR[e.op]
        elif left is UNKNOWN or right is UNKNOWN or is_own_class(left) or is_own_class(right):
            function = operators.FUNCTION_OF_OPERATOR[e.op]
            method, operands = operator_method(function, left, right), args
            if method is not None and method is not special_method(left, method.__name__):
                operands, kinds = args[::-1], kinds[::-1]
            if method is not None and self.surely(function, method, kinds):
                return self.looked_up(s, method, operands, (), kinds, None)
            kinds = left, right
            return self.site(s, Site("dynamic", function, args=args, kinds=kinds, result=result, infix=True))
        else:
            function = operators.FUNCTION_OF_OPERATOR[e.op]
        return self.looked_up(s, function, args, (), kinds, result, infix=True)

    def surely(self, operator: Any, method: Any, kinds: tuple[Kind, ...]) -> bool:
        """Whether an operator is this method: no rule of the user's goes before, and it answers for such operands."""
        if bind_call(method, (n.Name("left"), n.Name("right"))[: len(kinds)], ()) is None:
            return False
        for fn in (operator, method):
            if self.context.lookup(fn, list(kinds)).how not in ("missing", "rule" if fn is operator else ""):
                return False
        decision = self.context.lookup(operator, list(kinds))
        if decision.entry is not None and decision.entry.layer == "user":
            return False
        result = self.context.result_kind(method, kinds)
        return result is not UNKNOWN and result != Opaque(type(NotImplemented))

    def unary(self, s: n.Stmt, e: n.Unary, operand: Kind) -> Kind:
        args, kinds, result = (e.operand,), (operand,), results.unary(e.op, operand)
        if e.op == "not":
            return self.site(s, Site("constant", args=args, kinds=kinds, result=result, infix=True))
        if isinstance(operand, Num):
            return self.looked_up(s, operators.UFUNC_OF_UNARY[e.op], args, (), kinds, result, infix=True)
        method = special_method(operand, UNARY[e.op])
        if method is not None and self.surely(operators.FUNCTION_OF_UNARY[e.op], method, kinds):
            return self.looked_up(s, method, args, (), kinds, None)
        return self.site(
            s, Site("dynamic", operators.FUNCTION_OF_UNARY[e.op], args=args, kinds=kinds, result=result, infix=True)
        )

    def index(self, s: n.Stmt, e: n.Index) -> Kind | None:
        container, position = self.atom(e.value), self.atom(e.index)
        if container is None or position is None or (position != Opaque(slice) and self.is_empty(container)):
            return None
        method = special_method(container, "__getitem__")
        if isinstance(container, Instance) or method is not None:
            import operator

            args, kinds = (e.value, e.index), (container, position)
            if method is not None and is_settled(e.index):
                return self.looked_up(s, method, args, (), kinds, None)
            return self.site(s, Site("dynamic", operator.getitem, args=args, kinds=kinds, infix=True))
        constant = (e.index.value,) if type(e.index) is n.Const else None
        if type(e.index) is n.Name and isinstance(position, Known) and isinstance(position.value, str):
            constant = (position.value,)
        return results.element(container, position, constant)

    def attribute(self, s: n.Stmt, e: n.Attr) -> Kind | None:
        base = self.base(e.value)
        if base is None:
            return None
        if isinstance(base, Num):
            found = results.array_attribute(base, e.name)
            function = self.context.array_attribute(e.name)
            if found is not None and function is not None:
                return self.looked_up(s, function, (e.value,), (), (base,), found, infix=True)
            if found is not None:
                return self.site(s, Site("constant", args=(e.value,), kinds=(base,), result=found, infix=True))
            member = getattr(np.ndarray, e.name, None)
            if reason_for(member) is not None:
                return self.site(s, Site("missing", member, args=(e.value,), kinds=(base,), infix=True))
        if isinstance(base, Super) and (getter := base.getter(e.name)) is not None:
            return self.looked_up(s, getter, (base.owner,), (), (base.instance,), None)
        access = attribute_access(base, e.name) if type(e.value) in n.ATOMS else None
        if access is not None and (type(e.value) is n.Name or runs_code(base, access, e.name)):
            if access.read is not None:
                if access.read in self.context.stale:
                    raise refuse_stale(access.read)
                given = access.read_args(e.value, base.cls)  # type: ignore[union-attr]
                return self.looked_up(s, access.read, given, (), tuple(map(self.known, given)), None)
            args, kinds = (e.value, n.Const(e.name)), (base, Known(e.name))
            return self.site(s, Site("dynamic", getattr, args=args, kinds=kinds, infix=True))
        return self.member(base, e)

    def base(self, e: n.Expr) -> Kind | None:
        return self.attribute_path(e) if type(e) is n.Attr else self.atom(e)

    def attribute_path(self, e: n.Attr) -> Kind | None:
        base = self.base(e.value)
        return None if base is None else self.member(base, e)

    def member(self, base: Kind, e: n.Attr) -> Kind:
        """The kind of ``value.name`` where ``value`` is of kind ``base``."""
        if isinstance(base, Known):
            try:
                found = self.context.attribute_value(self.owner, path_of(e), base.value, e.name)
            except AttributeError:
                return UNKNOWN
            if e.name in self.context.set_names and isinstance(base.value, type) and not callable(found):
                return UNKNOWN  # it may be set meanwhile
            return kind_of(found)
        if isinstance(base, Instance):
            own = {**(base.cls.kinds if is_shared(base) else dict(base.fields)), "__class__": Known(base.cls)}
            if e.name in own:
                return own[e.name]
            found = member(base.cls, e.name)
            if isinstance(found, types.FunctionType) or type(found).__name__ == "cython_function_or_method":
                return Method(found, base)
            if isinstance(found, functools.singledispatchmethod):
                return Method(found, base)
            if isinstance(found, classmethod):
                return Method(found.__func__, Known(base.cls))
            if isinstance(found, staticmethod):
                return Known(found.__func__)
            return Known(found) if isinstance(found, (type, types.ModuleType)) else UNKNOWN  # it may have its own
        if isinstance(base, Super):
            return base.member(e.name)
        if isinstance(base, Tuple) and e.name in getattr(base.cls, "_fields", ()):
            return base.items[base.cls._fields.index(e.name)]  # type: ignore[attr-defined]
        from thunkad.rules.resolve import class_of

        cls = class_of(base)
        if cls is None and isinstance(base, Num):
            cls = np.ndarray
        found = getattr(cls, e.name, None) if cls is not None else None
        return Method(found, base) if callable(found) else UNKNOWN


def is_settled(e: n.Expr) -> bool:
    """Whether ``e`` is an atom or a tuple of atoms, as an index may be."""
    return type(e) in n.ATOMS or (type(e) is n.TupleExpr and all(type(part) in n.ATOMS for part in e.items))
