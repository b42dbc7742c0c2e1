"""Stores that run functions of the user's, and calls of unknown callees whose value does not matter."""

from __future__ import annotations

from typing import Any

from thunkad.adjoint.late import dynamic
from thunkad.adjoint.mutation import UpdateStep
from thunkad.adjoint.steps import Block
from thunkad.analysis.activity import is_outside
from thunkad.analysis.aliases import has_memory
from thunkad.analysis.binding import bind_call
from thunkad.analysis.hidden import HINT, hidden_method
from thunkad.analysis.resolution import is_settled
from thunkad.analysis.sites import Site
from thunkad.analysis.special import Access
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN
from thunkad.runtime.attributes import SHARED_HINT


class Accessors:
    """The part of :class:`thunkad.adjoint.mutate.Mutation` that knows properties and special methods."""

    fw: Any
    aliases: Any
    shadowed: Any
    kind: Any
    temporary: Any
    is_shadowed: Any
    operator: Any

    def refuse_dictionary(self, s: n.Assign) -> None:
        """``x.__dict__`` is another name for the attributes of ``x``, which no shadow knows."""
        e = s.value
        if type(e) is n.Attr and e.name == "__dict__" and any(i in self.fw.active for i in (s.target, *walk.names(e))):
            hint = "read and set the attributes by name: x.name, getattr(x, 'name'), setattr(x, 'name', value)"
            raise self.fw.unsupported(s, "the dictionary of the attributes of an object that is differentiated", hint)

    def set_outside(self, s: Any, out: list[n.Stmt]) -> bool:
        """Deal with ``s`` if it sets an attribute of a class, a module or a function."""
        if not is_outside(self.fw.resolved, s):
            return False
        if self.fw.is_active(s.value):
            what = f"setting .{s.target.name} of a class, module or function to a value that is differentiated"
            raise self.fw.unsupported(s, what, SHARED_HINT)
        out.append(self.fw.copy(s))
        return True

    def writes_inside(self, s: n.Assign | n.Effect, target: str | None, site: Site | None, out: list[n.Stmt],
                      steps: Block) -> bool:  # fmt: skip
        """A read or an operator that is a function of the user's and writes into what is shadowed."""
        if type(s.value) is n.Call or site is None or site.how not in ("inside", "lifted"):
            return False
        if not any(x in self.shadowed for x in self.aliases.written_by.get(id(s), ())):
            return False
        target = target or self.fw.names.temporary()
        self.fw.pair(n.Assign(target, s.value, line=s.line), target, site, out, steps)
        return True

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
        if access.read is None or access.write is None or not all(map(is_settled, at)):
            hint = "write x.name = x.name + y, with a property or __getitem__ and __setitem__ in Python"
            raise self.fw.unsupported(s, "an update in place that runs code of a class which is not known", hint)
        old, new, undo, done = (
            self.shared(base),
            self.shared(base),
            self.fw.names.new("undo"),
            self.fw.names.temporary(),
        )
        read: tuple[n.Expr, ...]
        write: tuple[n.Expr, ...]
        if at:
            read, write = (base, *at), (base, *at, n.Name(new))
        else:
            cls = self.kind(base).cls
            read, write = access.read_args(base, cls), access.write_args(base, n.Name(new))
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
        """Refuse a statement for which a method of the user's runs unseen that changes what is differentiated."""
        method = hidden_method(self.fw.resolved, s, lambda a: self.is_shadowed(a) or self.fw.is_active(a))
        if method is not None:
            what = f"{method}, which changes an object that is differentiated, called unseen,"
            raise self.fw.unsupported(s, what, HINT)

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
