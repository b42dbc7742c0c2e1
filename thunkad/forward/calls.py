"""Calls and operators in forward mode: forward rules pasted or called, compiled callees, calls decided at run time."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from thunkad.adjoint.calls import empty
from thunkad.adjoint.forward import watch
from thunkad.adjoint.inline import bind_rule, fold, in_known_order
from thunkad.analysis.changing import gives_changing
from thunkad.analysis.constructors import init_of
from thunkad.analysis.late_calls import foreseen, variables_of
from thunkad.analysis.sites import Resolved, Site, called
from thunkad.errors import NoRuleError
from thunkad.forward.array_likes import ARRAY_DOT, with_arrays
from thunkad.forward.memory import Summary, hands_on, makes_fresh
from thunkad.forward.template import (
    STRETCH,
    ZERO_REF,
    ForwardTemplate,
    dots_of,
    drop_zeros,
    forward_template,
    is_zero,
    without_dots,
)
from thunkad.forward.without_rule import without_rule
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Num
from thunkad.records import replace
from thunkad.rules.entry import FRULE, Entry, name_of
from thunkad.rules.keywords import constants_of, no_derivative_by
from thunkad.runtime import arrays, cotangents
from thunkad.runtime.dots import (
    apart_from,
    changeable,
    closure_dot,
    field_dot,
    item_dots,
    spread,
    spread_named,
    tangent_buffer,
    view_like,
)
from thunkad.runtime.shadows import shared_with
from thunkad.runtime.using import using, using_dot
from thunkad.tangents import Tangent

SPREAD, ITEM_DOTS = n.Ref("spread", spread), n.Ref("item_dots", item_dots)
SPREAD_NAMED = n.Ref("spread_named", spread_named)
CHANGEABLE = n.Ref("changeable", changeable)
SHARED_WITH, APART_FROM = n.Ref("shared_with", shared_with), n.Ref("apart_from", apart_from)
CLOSURE_DOT = n.Ref("closure_dot", closure_dot)
FIELD_DOT = n.Ref("field_dot", field_dot)
BUFFER = n.Ref("tangent_buffer", tangent_buffer)
USING, USING_DOT = n.Ref("using", using), n.Ref("using_dot", using_dot)
VIEW_LIKE = n.Ref("view_like", view_like)

#: Operands whose tangents a callee may change in place: displays hold those of what they hold.
BY_REFERENCE = (n.Name, n.TupleExpr, n.ListExpr, n.DictExpr)
#: Marks calls of generated code and of callees that are known at run time: they may have effects.
EFFECT = "effect"
#: Marks statements that only compute tangents: without an effect, so that they may be dropped.
TANGENT = "tangent"

TANGENT_OF, LIST = n.Ref("Tangent", Tangent), n.Ref("list", list)
_ITERATORS = (zip, enumerate, reversed, map, filter)


def is_iterator(fn: Any) -> bool:
    """Whether ``fn`` is a builtin whose results are used up by going through them."""
    return any(fn is known for known in _ITERATORS)


class Pushed(Protocol):
    """What forward mode asks of the world: compiled callees, run-time dispatch, what callees do to memory."""

    def pushed(self, site: Site, demand: tuple[str, ...], owner: Any, own_result: bool) -> n.Ref: ...
    def push(self, shared: bool = False) -> n.Ref: ...
    def assigned_global(self, resolved: Resolved, name: str, value: n.Expr, line: int) -> None: ...
    def summary(self, site: Site) -> Summary: ...
    def updater_of_dots(self, name: str) -> n.Ref: ...
    def operator_site(self, op: str, args: tuple[n.Expr, ...], kinds: tuple[Kind, ...]) -> Site: ...
    def call_site(self, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Site: ...


class Calls:
    """The part of :class:`thunkad.forward.push.Push` that deals with calls."""

    DENSE = n.Ref("dense", cotangents.dense)

    def __init__(self, push: Any, callees: Pushed) -> None:
        self.push, self.callees = push, callees

    def operands(self, site: Site) -> list[n.Expr]:
        out = [*site.args, *(v for _, v in site.kwargs)]
        out += [a for _, a in site.bound]
        return [*out, site.callee] if isinstance(site.callee, (n.Name, n.Attr)) else out

    def has_effect_on_tangents(self, site: Site) -> bool:
        """Whether a call whose result does not move may move what it is given."""
        if foreseen(self.push.resolved, site):
            return True
        if site.how not in ("inside", "lifted"):
            return False
        summary = self.callees.summary(site)
        changed = summary.mutated | summary.late
        return any(p in changed and self.push.moves(a) for p, a in site.bound)

    def call(self, s: n.Assign, target: str, site: Site) -> None:
        if not any(self.push.moves(a) for a in self.operands(site)) and not self.keeps_variables(target, site):
            self.still(s, target, site)
        elif site.how == "rule":
            self.rule(s, target, site)
        elif site.how in ("inside", "lifted"):
            self.compiled(s, target, site)
        elif site.how == "dynamic":
            self.dynamic(s, target, site, callee_of(site))
        elif site.how == "construct":
            self.construct(s, target, site)
        else:
            self.push.emit(without_rule(self.push, s, site, self.operands(site)))
            self.still(s, target, site)

    def owns_result(self, target: str, site: Site) -> bool:
        """Whether the tangent of a call's result must share memory just with what the result itself shares it with."""
        memory = self.push.memory
        if target not in self.push.moving or self.push.is_scalar(target):
            return self.keeps_variables(target, site)
        moving = (x for _, a in site.bound if self.push.moves(a) for x in walk.names(a))
        return any(map(memory.is_mutated, (target, *moving))) or self.keeps_variables(target, site)

    def keeps_variables(self, target: str, site: Site) -> bool:
        """Whether a call gives a function that changes what it captures there, which may move once it is called."""
        if site.how not in ("inside", "lifted") or target not in self.push.moving:
            return False
        kind = self.push.kind(target)
        return gives_changing(kind) or (not isinstance(kind, Num) and self.callees.summary(site).makes_changing)

    def still(self, s: n.Assign, target: str, site: Site) -> None:
        """A call whose result has no tangent; its variable may have one."""
        new = self.with_site(s, site)
        if target in self.push.moving and type(new) is n.Assign and is_iterator(called(site, self.push.resolved)):
            new = n.Assign(target, n.Call(LIST, (new.value,)), line=s.line)  # its tangents go through it too
        self.push.out.append(new)
        if target in self.push.moving:
            self.push.tangent(target, ZERO_REF)

    def with_site(self, s: n.Stmt, site: Site) -> n.Stmt:
        new = walk.map_stmt(s, lambda e: e)
        new.site = site
        if site.why is not None:
            watch(new)
        return new

    # ------------------------------------------------------------ rules

    def rule(self, s: n.Assign, target: str, site: Site) -> None:
        entry = site.entry
        assert entry is not None
        if site.callee is dict and not site.args and all(k for k, _ in site.kwargs):
            keys, values = tuple(n.Const(k) for k, _ in site.kwargs), tuple(v for _, v in site.kwargs)
            self.push.assign(n.Assign(target, n.DictExpr(keys, values), line=s.line))
            return
        if entry.kind != FRULE:
            raise no_frule(site.callee, self.push.resolved.place(s.line))
        s, site = with_arrays(self.push, s, site)
        bound = bind_rule(without_dots(entry), site, self.push.resolved, s.line)
        template = None if bound is None else forward_template(entry)
        if bound is None or entry.wants_ad() or self.moves_constants(site, entry, bound):
            self.dynamic(s, target, site, callee_of(site))
        elif not self.takes_tangents(entry, template, bound):
            self.still(s, target, site)
        elif template is None or (template.linear and not self.has_tangents(site, bound, template)):
            self.outlined(s, target, site, entry)
        else:
            self.inlined(s, target, site, template, bound)

    def takes_tangents(self, entry: Entry, template: ForwardTemplate | None, bound: dict[str, n.Expr]) -> bool:
        """Whether something moves that the rule takes the tangent of, not only a shape or an axis."""
        params = dots_of(entry) if template is None else template.dots
        return any(p not in bound or self.push.moves(bound[p]) for p in params)

    def moves_constants(self, site: Site, entry: Entry, bound: dict[str, n.Expr]) -> bool:
        """Whether what the rule takes for a constant may have a tangent, which is seen when the code runs."""
        moving = [p for p in sorted(constants_of(entry, dots_of(entry))) if p in bound and self.push.moves(bound[p])]
        numbers = {v: kind for v, kind in zip(arguments_of(site), site.kinds) if isinstance(kind, Num)}
        for p in moving:
            if bound[p] in numbers:
                raise self.push.unsupported(no_derivative_by(p, entry))
        return bool(moving)

    def sure_dots(self, site: Site, bound: dict[str, n.Expr], template: ForwardTemplate) -> set[n.Expr]:
        """The tangents of the call that are no structural zeros when it runs: only numbers are sure of that."""
        kinds: dict[n.Expr, Kind] = dict(zip(arguments_of(site), site.kinds))
        moving = (bound[p] for p in template.dots if self.push.moves(bound[p]))
        return {self.push.dot(e) for e in moving if isinstance(kinds.get(e), Num)}

    def has_tangents(self, site: Site, bound: dict[str, n.Expr], template: ForwardTemplate) -> bool:
        moving = {self.push.dot(bound[p]) for p in template.dots if self.push.moves(bound[p])}
        return moving <= self.sure_dots(site, bound, template)

    def inlined(
        self, s: n.Assign, target: str, site: Site, template: ForwardTemplate, bound: dict[str, n.Expr]
    ) -> None:
        push = self.push
        moving = {p for p in template.dots if push.moves(bound[p])}
        zero = {d for p, d in template.dots.items() if p not in moving}
        dots = set(template.dots.values())
        names: dict[str, n.Expr] = {p: v for p, v in bound.items() if p not in dots}
        names.update({d: push.dot(bound[p]) if p in moving else ZERO_REF for p, d in template.dots.items()})
        if isinstance(site.callee, np.ufunc):
            kinds: dict[n.Expr, Kind] = dict(zip(arguments_of(site), site.kinds))
            for p in moving:  # the tangent of a list is a list, for which the rule's operators mean other things
                if kinds.get(bound[p]) is UNKNOWN:
                    names[template.dots[p]] = n.Call(ARRAY_DOT, (names[template.dots[p]], bound[p]))
        value = template.value
        for local in sorted(template.locals):
            names[local] = n.Name(push.names.new(local if local not in push.names.taken else f"{target}_{local}"))
        named = type(value) is n.Name and value.id in template.locals
        if named:
            names[value.id] = n.Name(target)  # type: ignore[union-attr]
        keep = template.plain or site.infix
        linear = set(dots)
        sure = self.sure_dots(site, bound, template)
        for x in template.forward:
            reads = walk.reads(x)
            if keep and type(x) is n.Assign and named and x.target == value.id:  # type: ignore[union-attr]
                push.out.append(self.with_site(s, site))
                continue
            if type(x) is n.Assign and reads & linear:
                linear.add(x.target)
                if reads & linear <= zero:
                    zero.add(x.target)
                    names[x.target] = ZERO_REF
                    continue
            new = walk.map_stmt(x, lambda e: substituted(e, names, sure), lambda i: names[i].id)  # type: ignore[union-attr]
            push.emit(new)
        if not named:
            push.out.append(
                self.with_site(s, site) if keep else n.Assign(target, walk.substitute(value, names), line=s.line)
            )
        if target not in push.moving:
            return
        tangent = drop_zeros(template.tangent, zero, linear)
        if template.elementwise and not is_zero(tangent):
            tangent = self.stretched(tangent, template, bound, target, site)
        names |= {"result": n.Name(target)} if template.elementwise else {}
        tangent = tidy(substituted(tangent, names, sure))
        viewed = self.viewed(target, site)
        if viewed is not None:
            given = ZERO_REF if is_zero(tangent) else tangent
            call = n.Call(VIEW_LIKE, (given, n.Name(target), viewed, push.dot(viewed)))
            push.tangent(target, call, fresh=True)
            return
        fresh = type(tangent) in (n.Binary, n.Unary) and not is_alias_of_dot(tangent)
        if is_alias_of_dot(tangent) and makes_fresh(site) and self.changes_later(tangent, site):
            tangent, fresh = n.Call(BUFFER, (tangent, n.Name(target))), True
        push.tangent(target, tangent, fresh=fresh or not self.may_view(site))

    def changes_later(self, tangent: n.Expr, site: Site) -> bool:
        """Whether a tangent that is that of an operand is changed in place somewhere."""
        names = [a.id for a in site.args if type(a) is n.Name and self.push.moves(a)]
        return any(self.push.memory.is_mutated(x) and n.Name(self.push.dot_name(x)) == tangent for x in names)

    def viewed(self, target: str, site: Site) -> n.Name | None:
        """The operand with a tangent that a result in changed memory may be a view of."""
        push = self.push
        if not push.memory.is_mutated(target) or push.is_scalar(target) or not hands_on(site):
            return None
        moving = (a for a in site.args if type(a) is n.Name and push.moves(a))
        return next((a for a in moving if push.memory.share(a.id, target)), None)

    def may_view(self, site: Site) -> bool:
        """Whether the tangent of a result needs memory of its own if it is mutated later (that of a view doesn't)."""
        return makes_fresh(site)

    def stretched(
        self, tangent: n.Expr, template: ForwardTemplate, bound: dict[str, n.Expr], target: str, site: Site
    ) -> n.Expr:
        """The tangent of an elementwise operation broadcast to the shape of the result, where that may be needed."""
        result = site.result
        if isinstance(result, Num) and result.is_scalar:
            return tangent
        kinds: dict[n.Expr, Kind] = dict(zip(arguments_of(site), site.kinds))
        needed = {p for p, e in bound.items() if p in template.dots and not _is_scalar(kinds.get(e))}
        full = covered(tangent)
        if "result" in full or all(p in full or template.dots[p] in full for p in needed):
            return tangent
        return n.Call(STRETCH, (tangent, n.Name(target)))

    def outlined(self, s: n.Assign, target: str, site: Site, entry: Entry) -> None:
        """A rule that can't be pasted is called as it stands, with a tangent for each parameter that takes one."""
        dots = dots_of(entry)
        own = entry.signature()  # of the rule itself: for a linear helper it names the parameters otherwise
        signature = own.replace(parameters=[p for p in own.parameters.values() if p.name not in dots.values()])
        given = signature.bind_partial(*site.args, **dict(site.kwargs))  # type: ignore[arg-type]
        kwargs: list[tuple[str | None, n.Expr]] = list(site.kwargs)
        for p, d in dots.items():
            value = given.arguments.get(p)
            if value is None:
                kwargs.append((d, ZERO_REF))
            elif isinstance(value, tuple):
                kwargs.append(
                    (d, self.push.dot(n.TupleExpr(value)) if self.push.moves(n.TupleExpr(value)) else ZERO_REF)
                )
            else:
                kwargs.append((d, self.push.dot(value)))
        rule = n.Ref(f"{getattr(entry.target, '__name__', 'function')}_frule", entry.function)
        self.both(s, target, site, n.Call(rule, site.args, tuple(kwargs)))

    # ------------------------------------------------------------ callees

    def compiled(self, s: n.Assign, target: str, site: Site) -> None:
        push = self.push
        mutated = self.callees.summary(site).mutated
        demand = tuple(p for p, a in site.bound if push.moves(a))
        try:
            function = self.callees.pushed(site, demand, push.resolved.owner, self.owns_result(target, site))
        except NoRuleError as error:
            raise error.at(push.resolved.place(s.line)) from None
        dots = [push.dot(a) for p, a in site.bound if p in demand]
        for p, a in site.bound:
            if p in mutated and p in demand and type(a) not in BY_REFERENCE:
                raise push.unsupported("an argument that is changed by the function that it is passed to")
        call = n.Call(function, (*(a for _, a in site.bound), *dots))
        name = push.dot_name(target) if target in push.moving else push.names.new("_")
        push.emit(n.Unpack((target, name), call, line=s.line, site=EFFECT))

    def construct(self, s: n.Assign, target: str, site: Site) -> None:
        """An object of a user's class: made empty, then its ``__init__`` is run on it and on its tangent."""
        push = self.push
        cls = n.Ref(site.callee.__name__, site.callee)
        push.emit(n.Assign(target, empty(site.callee), line=s.line, site=EFFECT))
        push.emit(n.Assign(push.dot_name(target), n.Call(TANGENT_OF, (cls,))))
        if not site.bound:
            return
        (own, _), *rest = site.bound
        bound = ((own, n.Name(target)), *rest)
        args = (n.Name(target), *site.args)
        init = replace(site, how="inside", callee=init_of(site.callee), bound=bound, args=args)
        self.compiled(n.Assign(push.names.new("_"), s.value, line=s.line), push.names.new("_"), init)

    def dynamic(self, s: n.Assign, target: str, site: Site, callee: n.Expr) -> None:
        """A callee that is known only when the code runs."""
        arg_dots = n.TupleExpr(tuple(self.starred(a) for a in site.args))
        keys = tuple(None if k is None else n.Const(k) for k, _ in site.kwargs)
        kwarg_dots = n.DictExpr(keys, tuple(self.double_starred(k, v) for k, v in site.kwargs))
        callee, callee_dot = self.looked_up(callee, s.line)
        shared = tuple(map(n.Name, variables_of(self.push.resolved, site)))
        if any(map(self.push.moves, shared)):
            callee = n.Call(USING, (callee, *shared))
            callee_dot = n.Call(USING_DOT, (callee_dot, n.TupleExpr(tuple(map(self.push.dot, shared)))))
        changes = foreseen(self.push.resolved, site) and not self.push.resolved.function.generated
        call = n.Call(self.callees.push(changes), (callee, callee_dot, arg_dots, kwarg_dots, *site.args), site.kwargs)
        self.both(s, target, site, call)

    def looked_up(self, callee: n.Expr, line: int) -> tuple[n.Expr, n.Expr]:
        """A callee and its tangent: of a function that an object holds its own, of a method that of the object."""
        push = self.push
        if type(callee) is not n.Attr or not push.moves(callee):
            return callee, push.dot(callee)
        owner, owner_dot = self.looked_up(callee.value, line)
        found = n.Name(push.names.temporary())
        push.emit(n.Assign(found.id, n.Attr(owner, callee.name), line=line))
        return found, n.Call(FIELD_DOT, (owner_dot, n.Const(callee.name), owner, found))

    def closure(self, e: n.Closure) -> n.Expr:
        """The tangent of a function that is made here."""
        positional = [p.name for p in e.function.params if p.kind == "positional" and p.name not in e.function.captures]
        defaults = {**dict(zip(positional[len(positional) - len(e.defaults) :], e.defaults)), **dict(e.kw_defaults)}
        moving = {p: self.push.dot(v) for p, v in defaults.items() if self.push.moves(v)}
        kwargs: tuple[tuple[str | None, n.Expr], ...] = ()
        if moving:
            kwargs = (("defaults", n.DictExpr(tuple(map(n.Const, moving)), tuple(moving.values()))),)
        return n.Call(CLOSURE_DOT, tuple(map(self.push.dot, e.captures)), kwargs)

    def starred(self, a: n.Expr) -> n.Expr:
        if type(a) is n.Star and not self.push.moves(a):
            return n.Star(n.Call(SPREAD, (ZERO_REF, a.value)))
        return self.push.dot(a)

    def double_starred(self, key: Any, value: n.Expr) -> n.Expr:
        """The tangent of an entry of a dict; without a key the tangents of those of another dict."""
        found = self.push.dot(value)
        return n.Call(SPREAD_NAMED, (found, value)) if key is None else found

    def changeable(self, target: str, dot: str, site: Site) -> n.Expr:
        """The tangent of what a call gives, in memory that can be changed: apart from those of its operands."""
        push = self.push
        given = [a for a in site.args if type(a) is n.Name and a.id in push.moving and not push.is_scalar(a.id)]
        if not given:
            return n.Call(CHANGEABLE, (n.Name(dot), n.Name(target)))
        shared = n.Name(push.names.new(f"{target}_shared"))
        push.emit(n.Assign(shared.id, n.Call(SHARED_WITH, (n.Name(target), *given))))
        apart = n.Call(APART_FROM, (n.Name(dot), shared, *map(push.dot, given)))
        return n.Call(CHANGEABLE, (apart, n.Name(target)))

    def both(self, s: n.Assign, target: str, site: Site, call: n.Expr) -> None:
        """``target, target_dot = call``, where the tangent may be a structural zero."""
        push = self.push
        if target not in push.moving:
            push.emit(n.Unpack((target, push.names.new("_")), call, line=s.line, site=EFFECT))
            return
        push.emit(n.Unpack((target, push.dot_name(target)), call, line=s.line, site=EFFECT))
        push.densely(target)
        if site.how == "dynamic" and push.memory.is_mutated(target) and not push.is_number(target):
            push.tangent(target, self.changeable(target, push.dot_name(target), site), fresh=True)
        viewed = self.viewed(target, site)
        if viewed is not None:
            call = n.Call(VIEW_LIKE, (n.Name(push.dot_name(target)), n.Name(target), viewed, push.dot(viewed)))
            push.tangent(target, call, fresh=True)
        if push.memory.is_mutated(target) and not push.is_scalar(target) and self.may_view(site):
            push.tangent(target, n.Name(push.dot_name(target)))


def arguments_of(site: Site) -> tuple[n.Expr, ...]:
    """All arguments of a call, in the order of their kinds."""
    return (*site.args, *(v for _, v in site.kwargs))


def no_frule(fn: Any, place: Any) -> NoRuleError:
    name = name_of(fn)
    return NoRuleError(
        f"{name} has a reverse rule but no forward rule (frule), which forward mode and second derivatives need",
        place,
        f"register one with thunkad.frule({name.split('.')[-1]})",
    )


def callee_of(site: Site) -> n.Expr:
    if isinstance(site.callee, (n.Name, n.Attr, n.Global, n.Ref)):
        return site.callee
    return n.Ref(getattr(site.callee, "__name__", "callee"), site.callee)


def covered(e: n.Expr) -> set[str]:
    """Names whose full broadcast shape ``e`` certainly has: operands of its operators, not arguments of its calls."""
    if type(e) is n.Name:
        return {e.id}
    if type(e) is n.Binary:
        return covered(e.left) | covered(e.right)
    if type(e) is n.Unary:
        return covered(e.operand)
    if type(e) is n.Call and type(e.func) is n.Attr and len(e.args) == 1 and not e.kwargs:
        value = getattr(getattr(e.func.value, "value", None), e.func.name, None)
        return covered(e.args[0]) if isinstance(value, np.ufunc) else set()
    return set()


def is_alias_of_dot(e: n.Expr) -> bool:
    return type(e) is n.Name


def substituted(e: n.Expr, names: dict[str, n.Expr], sure: set[n.Expr]) -> n.Expr:
    """An expression of a rule over other names, with what it asks of tangents decided where that is known.

    ``sure``: tangents that are no structural zeros.
    """
    if type(e) is n.IfExp:
        test = walk.substitute(e.test, names)
        if type(test) is n.Call and type(test.func) is n.Ref and test.func.value is arrays.is_zero:
            known = True if is_zero(test.args[0]) else False if test.args[0] in sure else None
            if known is not None:
                return substituted(e.body if known else e.orelse, names, sure)
        return n.IfExp(test, substituted(e.body, names, sure), substituted(e.orelse, names, sure))
    new = walk.substitute(e, names)
    adds = type(new) is n.Call and type(new.func) is n.Ref and new.func.value is cotangents.add
    return n.Binary("+", *new.args) if adds and sure.issuperset(new.args) else new


def tidy(e: n.Expr) -> n.Expr:
    """Products with one and constants folded."""
    if type(e) in (n.Name, n.Const, n.Ref, n.Global):
        return e
    e = walk.map_expr(e, tidy)
    if type(e) is n.Call and type(e.func) is n.Ref:
        return in_known_order(e)
    if type(e) is n.Binary:
        return fold(e)
    if type(e) is n.Unary and e.op == "-" and type(e.operand) is n.Unary and e.operand.op == "-":
        return e.operand.operand
    if type(e) is n.Unary and e.op == "-" and type(e.operand) is n.Const and type(e.operand.value) in (int, float):
        return n.Const(-e.operand.value)
    return e


def _is_scalar(kind: Kind | None) -> bool:
    return isinstance(kind, Num) and kind.is_scalar
