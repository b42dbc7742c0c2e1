"""Calls of library functions that write into an array: ``out=``, ``np.add.at``, ``np.put``, ``y.sort()``."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.adjoint.bars import Bars
from thunkad.adjoint.mutation import KEEP, GatherStep, WholeStep
from thunkad.adjoint.steps import LIKE, Block, CopyStep, Step, give
from thunkad.analysis.sites import Site
from thunkad.analysis.writing import LOOKED_AT, MOVERS, STARRED_OUT, is_numpy, out_operands, out_position, outlives
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind, Num
from thunkad.records import record, replace
from thunkad.rules.entry import name_of
from thunkad.rules.template import template_of
from thunkad.rules.updates_at import UPDATED
from thunkad.runtime import moves
from thunkad.runtime.shapes import broadcast, matmul_shape

BROADCAST, MATMUL_SHAPE = n.Ref("broadcast", broadcast), n.Ref("matmul_shape", matmul_shape)
CHOSEN, SCATTERED, SPREAD, THE_ARRAY = (
    n.Ref(f.__name__, f) for f in (moves.chosen, moves.scattered, moves.spread, moves.the_array)
)
MOVES, PUT_MOVES, TAKE_MOVED = (n.Ref(f.__name__, f) for f in (moves.moves, moves.put_moves, moves.take_moved))

_METHODS = {"put": np.put, "sort": np.sort, "partition": np.partition}


@record
class MoveStep(Step):
    """Elements of ``target`` were overwritten by elements of ``value``, as ``move`` says."""

    target: str
    move: str
    value: n.Expr
    value_kind: Kind

    def reads(self) -> set[str]:
        return {self.target, *walk.names(self.value)}

    def reverse(self, bars: Bars) -> None:
        shadow = n.Name(bars.bar_name(self.target))
        if not (type(self.value) is n.Name and self.value.id in bars.active):
            bars.emit(n.Store(n.Index(shadow, n.Index(n.Name(self.move), n.Const(0))), n.Const(0.0)))
            return
        taken = n.Name(bars.names.new("taken_bar"))
        bars.emit(
            n.Assign(
                taken.id,
                n.Call(TAKE_MOVED, (shadow, n.Name(self.target), n.Name(self.move), self.value)),
                site="collects",
            )
        )
        is_number = isinstance(self.value_kind, Num)
        give(bars, self.value, taken if is_number else n.Call(LIKE, (taken, self.value)), maybe_zero=not is_number)


@record
class ChosenStep(Step):
    """``target`` are the elements of ``source`` that ``where`` lets through."""

    target: str
    source: n.Name
    like: n.Expr
    where: n.Expr

    def reads(self) -> set[str]:
        return {self.source.id}

    def reverse(self, bars: Bars) -> None:
        bar = bars.take(self.target)
        if bar is not None:
            give(bars, self.source, n.Call(SCATTERED, (bar, self.source, self.like, self.where)))


class Writers:
    """The part of :class:`thunkad.adjoint.mutate.Mutation` that knows the library."""

    fw: Any
    kind: Any
    kept: Any
    temporary: Any
    is_shadowed: Any
    change: Any
    shadowed: dict[str, str]
    aliases: Any
    write: Any

    def writer(self, s: Any, target: str | None, e: n.Call, site: Site | None, out: list[n.Stmt], steps: Block) -> bool:
        """A call whose ``written`` argument is shadowed."""
        if site is None:
            raise self.refused(s, "a call that writes into an array that is differentiated")
        buffers = out_operands(site, e)
        if buffers:
            return self.out_argument(s, target, e, site, buffers, out, steps)
        callee, args, kwargs = site.callee, site.args, dict(site.kwargs)
        if callee is setattr and type(args[0]) is n.Name and self.is_shadowed(args[0]):
            self.change(s, target, args[0], "__setattr__", args[1:], (), out, steps)
            return True
        name = getattr(callee, "__name__", "a call")
        if getattr(callee, "__objclass__", None) is np.ndarray:
            if name == "fill" and len(args) == 2:
                out.append(self.fw.copy(s))
                self.write(s, n.Index(args[0], n.Const(Ellipsis)), args[1], out, steps)
                return True
            if name in ("sort", "partition"):
                return self.overwrite(s, args[0], _METHODS[name], args[1:], site.kwargs, out, steps)
            callee = _METHODS.get(name, callee)
        ufunc = getattr(callee, "__self__", None)
        if isinstance(ufunc, np.ufunc) and name == "at" and args and type(args[0]) is n.Name:
            return self.at(s, ufunc, (self.the_array(s, args[0], out), *args[1:]), out, steps)
        if callee in MOVERS:
            first = (self.the_array(s, args[0], out), *args[1:]) if args else args
            return self.mover(s, callee, first, kwargs, out, steps)
        if is_numpy(callee):
            raise self.refused(s, f"{name}, which writes into an array that is differentiated,")
        known = name_of(callee) if callable(callee) else "a call"
        hint = "change it by the object's own method or an assignment: xs.append(v), d[k] = v"
        if outlives(site):
            hint = LOOKED_AT
        raise self.refused(s, f"{known}, which may change what it is given, with a value that is differentiated,", hint)

    def refused(
        self, s: Any, what: str, hint: str = "assign the result of a call that makes a new array instead"
    ) -> UnsupportedSyntaxError:
        found: UnsupportedSyntaxError = self.fw.unsupported(s, what, hint)
        return found

    def the_array(self, s: n.Stmt, e: n.Expr, out: list[n.Stmt]) -> n.Expr:
        """The array that is written into, under a name that is known to be one."""
        if type(e) is not n.Name or not self.is_shadowed(e) or isinstance(self.kind(e), Num):
            return e
        name = self.temporary(Num("array", "any"))
        self.shadowed[name] = "array"
        self.aliases.union(e.id, name)
        out.append(n.Assign(name, n.Call(THE_ARRAY, (e,)), line=s.line))
        return n.Name(name)

    # ------------------------------------------------------------ moves

    def mover(self, s: Any, callee: Any, args: tuple[n.Expr, ...], kwargs: dict[Any, n.Expr], out: list[n.Stmt],
              steps: Block) -> bool:  # fmt: skip
        parameters = MOVERS[callee]
        bound = dict(zip((p.lstrip("=") for p in parameters), args)) | kwargs
        target = bound.pop(parameters[0], None)
        values = next((bound.pop(p[1:], None) for p in parameters if p[0] == "="), None)
        if None in bound or type(target) is not n.Name or values is None or not self.is_shadowed(target):
            raise self.refused(s, f"{callee.__name__} with these arguments, of which one is differentiated,")
        if callee is np.copyto:
            bound.pop("casting", None)  # places can always be cast
        if callee is np.copyto and "where" not in bound:
            out.append(self.fw.copy(s))
            self.write(s, n.Index(target, n.Const(Ellipsis)), values, out, steps)
            return True
        before = tuple(bound.pop(p) for p in parameters[1 : [p[0] for p in parameters].index("=")] if p in bound)
        move = self.fw.names.new("move")
        head = (target, values) if callee is np.put else (n.Ref(callee.__name__, callee), target, values)
        call = n.Call(PUT_MOVES if callee is np.put else MOVES, (*head, *before), tuple(bound.items()))
        out.append(n.Assign(move, call, line=s.line))
        out.append(self.fw.copy(s))
        steps.steps.append(MoveStep(s.line, target.id, move, values, self.kind(values)))
        return True

    def at(self, s: Any, ufunc: np.ufunc, args: tuple[n.Expr, ...], out: list[n.Stmt], steps: Block) -> bool:
        if ufunc not in (np.add, np.subtract) or len(args) != 3:
            if ufunc not in UPDATED or len(args) != ufunc.nin + 1:
                raise self.refused(s, f"np.{ufunc.__name__}.at on an array that is differentiated")
            index = self.kept(s, args[1], out)
            return self.overwrite(s, args[0], UPDATED[ufunc], (index, *args[2:]), (), out, steps)
        target, index, value = args
        assert type(target) is n.Name
        index = self.kept(s, index, out)
        out.append(self.fw.copy(s))
        sign = "+" if ufunc is np.add else "-"
        steps.steps.append(GatherStep(s.line, target.id, index, value, self.kind(value), sign))
        return True

    # ------------------------------------------------------------ all of an array

    def overwrite(
        self, s: n.Stmt, owner: Any, fn: Any, more: Any, kwargs: Any, out: list[n.Stmt], steps: Block
    ) -> bool:
        """All of ``owner`` becomes ``fn(owner, …)``."""
        kind = self.kind(owner)
        old, new = self.temporary(kind), self.temporary(kind)
        out.append(n.Assign(old, n.Call(KEEP, (owner,)), line=s.line))
        steps.steps.append(CopyStep(s.line, old, owner.id))
        args = (n.Name(old), *more)
        kinds = (kind, *(self.kind(a) for a in (*more, *(v for _, v in kwargs))))
        site = self.fw.callees.call_site(fn, args, kwargs, kinds)
        func = n.Attr(n.Ref("np", np), fn.__name__) if is_numpy(fn) else n.Ref(fn.__name__, fn)
        call = n.Call(func, args, kwargs)
        self.fw.call(n.Assign(new, call, line=s.line), new, site, out, steps)
        out.append(self.fw.copy(s))
        steps.steps.append(WholeStep(s.line, owner.id, new))
        return True

    def out_argument(self, s: Any, target: str | None, e: n.Call, site: Site, buffers: tuple[n.Expr, ...], out: Any,
                     steps: Block) -> bool:  # fmt: skip
        """``f(…, out=buffer)``: as ``f(…)``, and then all of the buffer is overwritten by the result."""
        buffer = self.buffer_of(s, buffers, out)
        where = dict(site.kwargs).get("where")
        kwargs = tuple((k, v) for k, v in site.kwargs if k not in ("out", "where"))
        place = out_position(site.callee)
        args = (
            site.args
            if any(k == "out" for k, _ in site.kwargs) or place is None
            else site.args[:place] + site.args[place + 1 :]
        )
        if not is_numpy(site.callee) or (where is not None and not isinstance(site.callee, np.ufunc)):
            raise self.refused(s, "out= of this function, together with these arguments and a differentiated array,")
        if where is not None:
            return self.masked(s, target, e, site, buffer, where, args, kwargs, out, steps)
        if site.how == "constant" or not any(self.fw.is_active(a) for a in (*args, *(v for _, v in kwargs))):
            out.append(self.fw.copy(s))
            steps.steps.append(WholeStep(s.line, buffer.id, None))
            return True
        kinds = tuple(self.kind(a) for a in (*args, *(v for _, v in kwargs)))
        inner = self.fw.callees.call_site(site.callee, args, kwargs, kinds)
        inner = replace(inner, result=seeded(inner.result, self.kind(buffer)))
        new = self.temporary(inner.result)
        elementwise = isinstance(site.callee, np.ufunc) and site.callee.signature is None
        like: n.Expr | None = n.Name(new) if elementwise or site.callee is np.matmul else None
        if like is not None and type(e.func) is n.Attr and as_written(inner, kwargs):
            self.fw.call(n.Assign(new, e, line=s.line), new, inner, out, steps)
            for x in out[-3:]:
                if type(x) is n.Assign and x.target == new:
                    x.site = "collects"
            if target is not None:
                out.append(n.Assign(target, n.Name(new), line=s.line))
            operands = tuple(dict.fromkeys(a for a in args if not is_scalar(self.kind(a)))) or args[:1]
            like = operands[0] if len(operands) == 1 else n.Call(BROADCAST, operands)
            like = like if elementwise else n.Call(MATMUL_SHAPE, args)
        else:
            func = n.Ref(site.callee.__name__, site.callee) if is_method(e, site) else e.func
            self.fw.call(n.Assign(new, n.Call(func, args, kwargs), line=s.line), new, inner, out, steps)
            out.append(self.fw.copy(s))
        steps.steps.append(WholeStep(s.line, buffer.id, new, like))
        return True

    def buffer_of(self, s: Any, buffers: tuple[n.Expr, ...], out: list[n.Stmt]) -> n.Name:
        """The one array that is written."""
        found = buffers
        if any(type(x) is n.Star for x in found):
            raise self.refused(s, STARRED_OUT, "name the arguments: np.ceil(x, out=y)")
        if len(found) == 1 and type(found[0]) is n.Name and not isinstance(self.kind(found[0]), Num):
            name = found[0].id
            for x in walk.statements(self.fw.resolved.function.body):
                if type(x) is n.Assign and x.target == name and type(x.value) is n.TupleExpr:
                    found = x.value.items
        array = self.the_array(s, found[0], out) if len(found) == 1 else None
        if type(array) is not n.Name or not self.is_shadowed(array) or not isinstance(self.kind(array), Num):
            raise self.refused(s, "out= with anything but one array", "write out=y instead of out=(y,)")
        return array

    def masked(self, s: Any, target: str | None, e: n.Call, site: Site, buffer: n.Name, where: n.Expr, args: Any,
               kwargs: Any, out: list[n.Stmt], steps: Block) -> bool:  # fmt: skip
        """``ufunc(…, out=buffer, where=mask)``: the ufunc of the chosen elements, stored where they were chosen."""
        if kwargs:
            raise self.refused(s, "where= together with other keywords on an array that is differentiated")
        mask = self.fw.names.new("chosen")
        out.append(n.Assign(mask, n.Call(SPREAD, (where, buffer)), line=s.line))
        chosen: list[n.Expr] = []
        for a in args:
            part = self.fw.names.temporary()
            kind = self.kind(a)
            self.fw.resolved.kinds[part] = Num("array", kind.field if isinstance(kind, Num) else "any", 1)
            out.append(n.Assign(part, n.Call(CHOSEN, (a, buffer, n.Name(mask))), line=s.line))
            if type(a) is n.Name and a.id in self.fw.active:
                self.fw.active = self.fw.active | {part}
                steps.steps.append(ChosenStep(s.line, part, a, buffer, n.Name(mask)))
            chosen.append(n.Name(part))
        kinds = tuple(self.fw.resolved.kinds[c.id] for c in chosen)  # type: ignore[union-attr]
        new = self.temporary(Num("array", "any", 1))
        inner = self.fw.callees.call_site(site.callee, tuple(chosen), (), kinds)
        if inner.how == "constant" or not any(c.id in self.fw.active for c in chosen):  # type: ignore[union-attr]
            value: n.Expr = n.Const(0.0)
        else:
            call = n.Call(n.Ref(site.callee.__name__, site.callee), tuple(chosen))
            self.fw.call(n.Assign(new, call, line=s.line), new, inner, out, steps)
            value = n.Name(new)
        out.append(self.fw.copy(s))
        self.fw.resolved.kinds[mask] = Num("array", "bool")
        self.write(s, n.Index(buffer, n.Name(mask)), value, out, steps)
        return True


def as_written(site: Site, kwargs: Any) -> bool:
    """Whether a ufunc's call may stay as the user wrote it: its rule does not read the result, which the buffer
    replaces."""
    if site.how != "rule" or site.entry is None or site.entry.layer != "library" or kwargs:
        return False
    template = template_of(site.entry)
    if template is None or not template.plain or type(template.value) is not n.Name:
        return False
    read = {i for _, r in zip(site.args, template.results) if r is not None for i in walk.names(r)}
    return template.value.id not in read.union(*(walk.reads(x) for x in template.reverse))


def seeded(result: Kind, buffer: Kind) -> Kind:
    """The kind of a result whose cotangent comes from this buffer, which may be complex where the result is real."""
    if isinstance(result, Num) and isinstance(buffer, Num) and result.field != buffer.field:
        return Num(result.form, "any", result.ndim)
    return result


def is_scalar(kind: Kind) -> bool:
    return isinstance(kind, Num) and kind.is_scalar


def is_method(e: n.Call, site: Site) -> bool:
    """Whether the call is one of a method, so that its owner is the first argument of the site."""
    return len(site.args) > len(e.args)
