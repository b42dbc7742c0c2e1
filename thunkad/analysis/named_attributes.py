"""Attributes that are read and set by functions, as the plain reads and stores that they stand for.

``getattr(x, "name")``, ``setattr(x, "name", v)``, ``vars(x)["name"]`` and ``x.__dict__["name"]``.  Where the name
is not known here they are calls of ``getattr`` and ``setattr``, which are decided when the code runs.  What uses
``x.__dict__`` as a whole gets a dict made for it (``own_dict``), or sets attributes one by one (``set_all``).
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Mapping
from typing import Any

from thunkad.analysis.sites import Context
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import Instance, Kind, Known
from thunkad.records import replace
from thunkad.runtime.attributes import has_own, own_dict, set_all

_READING = {"items", "values", "keys", "get", "copy"}
_TAKING = (dict, len, list, tuple, sorted, set, print, str, repr)
_NAMED = {"getattr", "setattr", "vars", "__setattr__", "__dict__"}


def with_plain_attributes(
    function: n.Function, owner: Any, context: Context, kinds: Mapping[str, Kind | None]
) -> n.Function:
    """``function``, in normal form, with attributes read and set in the plain way; itself if it has no others.

    ``kinds`` are those of the parameters.
    """
    for e in walk.parts(*(e for s in walk.statements(function.body) for e in walk.expressions(s))):
        if (type(e) is n.Global and e.id in _NAMED) or (type(e) is n.Attr and e.name in _NAMED):
            break
    else:
        return function
    run = _Plain(function, owner, context, kinds)
    body = run.block(function.body)
    unread = set(run.dicts) - walk.read_anywhere(body)
    return replace(function, body=walk.without(body, unread) if unread else body)


class _Plain:
    def __init__(self, function: n.Function, owner: Any, context: Context, kinds: Mapping[str, Kind | None]) -> None:
        self.owner, self.context, self.kinds = owner, context, kinds
        everything = [*walk.statements(function.body)]
        writes = Counter(w for s in everything for w in walk.writes(s))
        writes.update({*function.captures, *(p.name for p in function.params)})
        self.once = {x for x, count in writes.items() if count == 1}
        self.assigned = {s.name for s in everything if type(s) is n.SetGlobal}
        self.names = Names(walk.taken_names(function))
        self.texts: dict[str, str] = {}  # names of texts that are put together
        self.dicts: dict[str, n.Name | n.Global] = {}  # names of the dictionaries of attributes of what is bound once
        self.behind: dict[str, n.Name] = {}  # names of super objects, by which object.__setattr__ is found, of these

    def value_of(self, e: n.Expr) -> Any:
        """What a name from outside, or a constant, stands for; None for what is no such thing."""
        if type(e) is n.Const:
            return e.value
        if type(e) is n.Name and e.id in self.texts:
            return self.texts[e.id]
        if type(e) is n.Name:
            kind = self.kinds.get(e.id) if e.id in self.once else None
            return kind.value if isinstance(kind, Known) else None
        if type(e) is not n.Global:
            return None
        try:
            value = self.context.global_value(self.owner, e.id)
            if type(value) is str:  # which attribute it names is written down
                self.context.pin(self.owner, e.id, value)
            return value
        except KeyError:
            return None

    def block(self, block: list[n.Stmt]) -> list[n.Stmt]:
        return [new for s in block for new in self.statement(s)]

    def statement(self, s: Any) -> list[n.Stmt]:
        if type(s) is n.For:
            *made, s = self.whole(s, "iter")
            return [*made, walk.map_blocks(s, self.block)]
        if walk.blocks(s):
            return [walk.map_blocks(s, self.block)]
        t = type(s)
        if t in (n.Assign, n.Effect) and type(s.value) is n.Call and self.is_dictionary(s.value.func):
            func: Any = s.value.func
            held = n.Assign(self.names.new("attributes"), func.value, line=s.line)
            self.dicts[held.target] = func.value.value
            func = n.Attr(n.Name(held.target), func.name)
            return [held, *self.statement(replace(s, value=replace(s.value, func=func)))]
        if t is n.Assign:
            return self.read(s)
        if t is n.Effect and type(s.value) is n.Call:
            store = self.setting(s.value)
            if store is not None:
                return [n.Store(*store, line=s.line, site=s.site)]
            return self.updated(s, s.value) or self.whole(s)
        if t in (n.Store, n.Update, n.Delete) and type(s.target) is n.Index:
            part = self.entry(s.target)
            if part is not None and t is n.Store:
                return [replace(s, target=part, past=True)]
            if part is None and t is n.Store and (owner := self.owner_of(s.target)) is not None:
                call = n.Call(n.Global("setattr"), (owner, s.target.index, s.value))
                return [n.Effect(call, line=s.line, site=s.site)]
            return [s if part is None else replace(s, target=part)]
        return [s]

    def updated(self, s: n.Effect, e: n.Call) -> list[n.Stmt]:
        """``x.__dict__.update(given, name=value)``, attribute by attribute; nothing if ``e`` is no such call."""
        func: Any = e.func
        if type(func) is not n.Attr or func.name != "update" or type(func.value) is not n.Name or len(e.args) > 1:
            return []
        owner = self.dicts.get(func.value.id)
        if owner is None or any(type(a) is n.Star for a in e.args):
            return []
        out: list[n.Stmt] = []
        given = [*e.args, *(v for k, v in e.kwargs if k is None)]
        for atom in given:
            if type(atom) is n.Name and atom.id in self.dicts:
                made = self.made(atom.id, s.line)
                out.append(made)
                atom = n.Name(made.target)
            out.append(n.Effect(n.Call(n.Ref("set_all", set_all), (owner, atom)), line=s.line))
        out += [n.Store(n.Attr(owner, k), v, True, line=s.line) for k, v in e.kwargs if k is not None]
        return out

    def read(self, s: n.Assign) -> list[n.Stmt]:
        e: Any = s.value
        if type(e) is n.Binary and e.op == "+" and s.target in self.once:
            parts = self.value_of(e.left), self.value_of(e.right)
            if all(isinstance(x, str) for x in parts):
                self.texts[s.target] = "".join(parts)
        if type(e) is n.Compare and e.op in ("in", "not in") and type(e.right) is n.Name and e.right.id in self.dicts:
            return self.has(s, e)
        if type(e) is n.Index:
            part = self.entry(e)
            if part is not None:
                return [replace(s, value=part)]
            owner = self.owner_of(e)
            if owner is not None and type(e.index) in n.ATOMS:
                return [replace(s, value=n.Call(n.Global("getattr"), (owner, e.index)))]
        if type(e) is n.Call and self.is_behind(e):
            self.behind[s.target] = e.args[1]  # type: ignore[assignment]
            return [s]
        called = self.value_of(e.func) if type(e) is n.Call and type(e.func) is n.Global and not e.kwargs else None
        if called is builtins.vars and len(e.args) == 1 and (type(e.args[0]) is n.Name or self.is_object(e.args[0])):
            s = replace(s, value=n.Attr(e.args[0], "__dict__"))
        elif called is builtins.getattr and len(e.args) in (2, 3):
            return self.getting(s, *e.args)
        e = s.value
        if type(e) is n.Attr and e.name == "__dict__":
            if (type(e.value) is n.Name and e.value.id in self.once) or self.is_object(e.value):
                if s.target in self.once:
                    self.dicts[s.target] = e.value  # type: ignore[assignment]
                return [s]
        return self.whole(s)

    def whole(self, s: Any, place: str = "value") -> list[Any]:
        """``s`` with a dict made for it in place of one of attributes, where it does no more than read that."""
        e = getattr(s, place)
        used: list[Any] = [e] if place == "iter" else []
        if type(e) is n.Call:
            if type(e.func) is n.Attr and e.func.name in _READING:
                used.append(e.func.value)
            elif any(self.value_of(e.func) is taker for taker in _TAKING):
                used += e.args
            elif type(e.func) is n.Attr and e.func.name == "update":
                used += e.args
            used += [v for k, v in e.kwargs if k is None]
        elif type(e) is n.DictExpr:
            used += [v for k, v in zip(e.keys, e.values) if k is None]
        names = dict.fromkeys(x.id for x in used if type(x) is n.Name and x.id in self.dicts)
        made = [self.made(name, s.line) for name in names]
        if made:
            e = walk.substitute(e, {name: n.Name(new.target) for name, new in zip(names, made)})
        return [*made, replace(s, **{place: e})]

    def made(self, name: str, line: int) -> n.Assign:
        """A new dict of the attributes that are in the dictionary of this name."""
        call = n.Call(n.Ref("own_dict", own_dict), (self.dicts[name],))
        return n.Assign(self.names.new("attributes"), call, line=line)

    def is_outside(self, e: n.Expr) -> bool:
        """Whether this is something from outside, under a name that ``function`` does not bind."""
        return type(e) is n.Global and e.id not in self.assigned and self.value_of(e) is not None

    def is_dictionary(self, e: n.Expr) -> bool:
        """Whether ``e`` is a method of the dictionary of attributes of an object."""
        chain: Any = e.value if type(e) is n.Attr else None
        if type(chain) is not n.Attr or chain.name != "__dict__":
            return False
        return self.is_object(chain.value) or (type(chain.value) is n.Name and chain.value.id in self.once)

    def is_object(self, e: n.Expr) -> bool:
        """Whether this is an object from outside whose dictionary of attributes is one like any other."""
        return self.is_outside(e) and isinstance(getattr(self.value_of(e), "__dict__", None), dict)

    def has(self, s: n.Assign, e: n.Compare) -> list[n.Stmt]:
        """``name in x.__dict__``"""
        call = n.Call(n.Ref("has_own", has_own), (self.dicts[e.right.id], e.left))  # type: ignore[union-attr]
        if e.op == "in":
            return [replace(s, value=call)]
        there = n.Name(self.names.new("there"))
        return [n.Assign(there.id, call, line=s.line), replace(s, value=n.Unary("not", there))]

    def getting(self, s: n.Assign, x: n.Expr, key: n.Expr, default: n.Expr | None = None) -> list[n.Stmt]:
        name = self.value_of(key)
        if not isinstance(name, str) or not name.isidentifier() or not (type(x) is n.Name or self.is_outside(x)):
            return [s]
        plain = replace(s, value=n.Attr(x, name))
        if default is None:
            return [plain]
        there = self.names.new(f"has_{name}")
        test = n.Call(n.Ref("hasattr", hasattr), (x, n.Const(name)))
        otherwise = replace(s, value=default)
        return [n.Assign(there, test, line=s.line), n.If(n.Name(there), [plain], [otherwise], line=s.line)]

    def setting(self, e: n.Call) -> tuple[n.Attr, n.Expr, bool] | None:
        """The target and the value of a call that sets an attribute, and whether it goes past the class's own way."""
        func: Any = e.func
        if type(func) is n.Attr and func.name == "__setattr__" and type(func.value) is n.Name and len(e.args) == 2:
            if func.value.id in self.behind:
                owner = self.behind[func.value.id]
                e = n.Call(n.Attr(n.Global("object"), "__setattr__"), (owner, *e.args), e.kwargs)
                func = e.func
        by_object = type(func) is n.Attr and func.name == "__setattr__" and self.value_of(func.value) is object
        if not (by_object or self.value_of(func) is setattr) or len(e.args) != 3 or e.kwargs:
            return None
        name = self.value_of(e.args[1])
        if not isinstance(name, str) or not name.isidentifier():
            return None
        if type(e.args[0]) is not n.Name and not self.is_outside(e.args[0]):
            return None
        return n.Attr(e.args[0], name), e.args[2], by_object

    def is_behind(self, e: n.Call) -> bool:
        """Whether ``e`` is ``super()`` of a parameter, behind whose class nothing has a ``__setattr__`` of its own."""
        if len(e.args) != 2 or self.value_of(e.func) is not super or type(e.args[1]) is not n.Name:
            return False
        kind, start = self.kinds.get(e.args[1].id), self.value_of(e.args[0])
        if not isinstance(kind, Instance) or not isinstance(start, type) or start not in kind.cls.__mro__:
            return False
        mro = kind.cls.__mro__
        found = next(cls for cls in mro[mro.index(start) + 1 :] if "__setattr__" in cls.__dict__)
        return found is object and e.args[1].id in self.once

    def owner_of(self, e: n.Index) -> n.Name | n.Global | None:
        """The object in whose dictionary of attributes ``e`` is a place."""
        return self.dicts.get(e.value.id) if type(e.value) is n.Name else None

    def entry(self, e: n.Index) -> n.Attr | None:
        """``d[name]`` as an attribute, where ``d`` is the dictionary of an object's attributes."""
        owner = self.owner_of(e)
        name = self.value_of(e.index) if type(e.index) in n.ATOMS else None
        return n.Attr(owner, name) if owner is not None and isinstance(name, str) and name.isidentifier() else None
