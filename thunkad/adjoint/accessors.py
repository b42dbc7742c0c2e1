"""Stores that run functions of the user's, and calls of unknown callees whose value does not matter."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.late import dynamic
from thunkad.adjoint.mutation import UpdateStep
from thunkad.adjoint.steps import Block
from thunkad.analysis.aliases import has_memory
from thunkad.analysis.binding import bind_call
from thunkad.analysis.sites import Site
from thunkad.analysis.special import Access, own_method
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN


class Accessors:
    """The part of :class:`thunkad.adjoint.mutate.Mutation` that knows properties and special methods."""

    fw: Any
    aliases: Any
    shadowed: Any
    kind: Any
    temporary: Any
    is_shadowed: Any
    operator: Any

    def store_access(self, s: n.Store, out: list[n.Stmt], steps: Block) -> bool:
        """A store that calls ``__setitem__`` or the setter of a property."""
        site = self.fw.resolved.sites.get(id(s))
        if site is None or not (self.is_shadowed(s.target.value) or self.fw.is_active(s.value)):
            return False
        if site.how not in ("inside", "lifted"):
            hint = "write the property or __setitem__ in Python, with an index that is a number or a name"
            raise self.fw.unsupported(s, "a store that runs code of a class which is not known", hint)
        done = self.fw.names.temporary()
        self.fw.pair(n.Assign(done, n.Const(None), line=s.line), done, site, out, steps)
        return True

    def update_access(self, s: n.Update, base: n.Name, target: n.Index | n.Attr, access: Access, out: list[n.Stmt],
                      steps: Block) -> bool:  # fmt: skip
        """``x.name op= v`` or ``x[k] op= v`` where functions of the user's read and write it."""
        at = (target.index,) if type(target) is n.Index else ()
        if access.read is None or access.write is None or any(type(a) not in n.ATOMS for a in at):
            hint = "write x.name = x.name + y, with a property or __getitem__ and __setitem__ in Python"
            raise self.fw.unsupported(s, "an update in place that runs code of a class which is not known", hint)
        old, new, undo, done = (
            self.shared(base),
            self.shared(base),
            self.fw.names.new("undo"),
            self.fw.names.temporary(),
        )
        read, write = (base, *at), (base, *at, n.Name(new))
        self.fw.pair(n.Assign(old, n.Const(None), line=s.line), old, self.inside(access.read, read), out, steps)
        call = n.Call(self.fw.callees.updater("update"), (self.operator(s, s.op), n.Name(old), s.value))
        out.append(n.Unpack((new, undo), call, line=s.line))
        steps.steps.append(UpdateStep(s.line, new, n.Name(old), s.value, undo))
        self.fw.pair(n.Assign(done, n.Const(None), line=s.line), done, self.inside(access.write, write), out, steps)
        return True

    def shared(self, base: n.Name) -> str:
        """A new name of which nothing is known, for a value that may be part of ``base``."""
        name = self.temporary(UNKNOWN)
        self.shadowed[name] = "any"
        self.aliases.union(base.id, name)
        return name

    def inside(self, function: Any, args: tuple[n.Expr, ...]) -> Site:
        bound = bind_call(function, args, ())
        assert bound is not None
        return Site("inside", function, args=args, kinds=tuple(self.kind(e) for _, e in bound), bound=bound)

    def refuse_hidden(self, s: Any) -> None:
        """Refuse a test or a text for which a method of the user's runs that changes what is differentiated."""
        atoms: tuple[n.Expr, ...] = ()
        methods: tuple[str, ...] = ("__bool__", "__len__")
        if type(s) is n.If or type(s) is n.Assert:
            atoms = (s.test,)
        elif type(s) in (n.Assign, n.Effect) and type(s.value) is n.Unary and s.value.op == "not":
            atoms = (s.value.operand,)
        elif type(s) in (n.Assign, n.Effect) and type(s.value) is n.Call:
            func = s.value.func
            if func == n.Global("print") or (type(func) is n.Attr and type(func.value) is n.Const):
                atoms, methods = s.value.args, ("__format__", "__str__", "__repr__")
        for a in atoms:
            kind = self.kind(a)
            method = next((f for f in (own_method(kind, m) for m in methods) if f is not None), None)
            if method is not None and self.is_shadowed(a):
                kinds = (kind, *(UNKNOWN,) * (method.__code__.co_argcount - 1))
                if self.fw.resolved.mutated_params(Site("inside", method, kinds=kinds)):
                    what = f"{method.__qualname__}, which changes an object that is differentiated, called unseen,"
                    raise self.fw.unsupported(s, what, "call it by its name, before this statement")

    def unseen(self, s: Any, out: list[n.Stmt], steps: Block) -> bool:
        """A call of a callee known only at run time, of which only a write could matter: it is run so that a write is
        refused."""
        site = self.fw.resolved.sites.get(id(s))
        if site is None or site.how != "dynamic" or type(s.value) is not n.Call or self.aliases.written_by.get(id(s)):
            return False
        if type(s) is n.Assign and s.target in self.fw.active:
            return False
        parts = (
            *site.args,
            *(v for _, v in site.kwargs),
            *((site.callee,) if isinstance(site.callee, (n.Name, n.Attr)) else ()),
        )
        if not any(i in self.fw.active and has_memory(self.kind(n.Name(i))) for a in parts for i in walk.names(a)):
            return False
        target = s.target if type(s) is n.Assign else self.fw.names.temporary()
        dynamic(self.fw, n.Assign(target, s.value, line=s.line), target, site, out, steps)
        return True
