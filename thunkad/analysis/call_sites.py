"""What a call stands for: a rule, a function to look into, an object to make, or a decision at run time."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections import OrderedDict
from importlib import import_module
from typing import Any

import numpy as np

from thunkad.analysis.binding import bind_call, bind_lifted
from thunkad.analysis.constructors import init_of, is_generated, is_made_empty
from thunkad.analysis.makers import empty_class, initializer_of, maker_of
from thunkad.analysis.pasted import pasted_kind
from thunkad.analysis.shared_attributes import imported_module, imported_name
from thunkad.analysis.sites import Context, Site, weaken
from thunkad.analysis.special import (
    BY_METHOD,
    FOLDS,
    HARMLESS,
    Super,
    collected_kind,
    has_operators,
    is_by_fields,
    is_own_class,
    made_kind,
    makes_itself,
    own_method,
    special_method,
    super_kind,
)
from thunkad.analysis.stand_ins import made_anew, stands_for
from thunkad.errors import NoRuleError
from thunkad.ir import nodes as n
from thunkad.kinds import results
from thunkad.kinds.lattice import (
    NUMERIC,
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Lifted,
    Method,
    Num,
    Sequence,
    Tuple,
    has_known_keys,
    is_hashable,
    item_of,
    items_around_star,
    join,
    may_have_tangent,
)
from thunkad.kinds.operators import OPERATOR_OF_FUNCTION
from thunkad.normal.lower_statements import IMPORT, IMPORT_RELATIVE
from thunkad.normal.outcomes import origin_of
from thunkad.rules.keywords import renamed
from thunkad.rules.python.operators import numeric_function
from thunkad.rules.refused import reason_for
from thunkad.runtime.chosen import bound_choice
from thunkad.runtime.exceptions import attempt, enter, leave
from thunkad.runtime.iterators import contained, drawn_or, everything
from thunkad.runtime.suspended import Suspended
from thunkad.runtime.unpacking import split_starred
from thunkad.source.origin import library_of

#: Methods of containers that change nothing.
_OF_CONTAINERS = frozenset("values items keys get copy index count".split())
#: What runs a method of the class of its first argument, if that has one.
_BY_CLASS = (enter, leave, iter, next, operator.getitem, operator.setitem, operator.delitem)


class CallSites:
    """The part of the abstract run that deals with calls; what it needs of the rest is declared here."""

    owner: Any
    context: Context
    direct: dict[str, n.Closure]
    handed: dict[n.Handover, Kind | None]
    generators: dict[int, n.Assign]

    def atom(self, e: n.Expr) -> Kind | None:
        raise NotImplementedError

    def known(self, e: n.Expr) -> Kind:
        raise NotImplementedError

    def base(self, e: n.Expr) -> Kind | None:
        raise NotImplementedError

    def site(self, s: n.Stmt, site: Site) -> Kind:
        raise NotImplementedError

    def bind(self, name: str, kind: Kind | None) -> None:
        raise NotImplementedError

    def item(self, kind: Kind) -> Kind | None:
        raise NotImplementedError

    def hand_over(self, s: n.Stmt, kind: Kind | None) -> Kind | None:
        """``kind``, that of what ``s`` binds; noted, if that is what an arm of a forward sweep hands over."""
        if isinstance(s.site, n.Handover):
            self.handed[s.site] = join(self.handed.get(s.site), kind)
        return kind

    def unpack(self, s: n.Unpack, kind: Kind | None) -> None:
        """Bind the targets of ``s`` to the parts of a value of this kind."""
        if isinstance(s.site, n.Handover):
            kind = self.handed.get(s.site, kind)
        for k, name in enumerate(s.targets):
            exact = isinstance(kind, Tuple) and len(kind.items) == len(s.targets)
            self.bind(name, kind.items[k] if exact else None if kind is None else self.item(kind))  # type: ignore[union-attr]

    def is_early(self) -> bool:
        raise NotImplementedError

    def is_empty(self, kind: Kind | None) -> bool:
        raise NotImplementedError

    def call(self, s: n.Stmt, e: n.Call) -> Kind | None:
        values = [self.atom(a) for a in e.args] + [self.atom(v) for _, v in e.kwargs]
        callee = self.base(e.func)
        if callee is None or any(v is None for v in values):
            if self.is_early():
                return None
            callee = UNKNOWN if callee is None else callee
        kinds = tuple(UNKNOWN if v is None else v for v in values)
        return self.apply(s, e, callee, e.args, e.kwargs, kinds)

    def apply(self, s: n.Stmt, e: n.Call, callee: Kind, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
        """What a call of ``callee`` stands for, by what is known of it."""
        found: Kind | None = None
        if isinstance(callee, Method):
            found = self.method_called(s, e, callee, args, kwargs, kinds)
        elif isinstance(callee, Known):
            found = self.known_called(s, e, callee, args, kwargs, kinds)
        if found is not None:
            return found
        method = special_method(callee, "__call__")
        if method is not None and type(e.func) in (n.Name, n.Global, n.Ref):
            return self.looked_up(s, method, (e.func, *args), kwargs, (callee, *kinds), None)
        if isinstance(callee, Lifted) and type(e.func) is n.Name and not any(type(a) is n.Star for a in args):
            return self.lifted(s, e, callee, args, kwargs, kinds)
        members, name = self.context.members, e.func.name if type(e.func) is n.Attr else ""
        reads = name in _OF_CONTAINERS and callee is UNKNOWN and members is not None and name not in members
        return self.dynamic(s, e.func, args, kwargs, kinds, only_reads=reads)

    def method_called(
        self, s: n.Stmt, e: n.Call, callee: Method, args: Any, kwargs: Any, kinds: tuple[Kind, ...]
    ) -> Kind | None:
        """A method is a function whose first argument is its owner; None where the owner is not to be had."""
        owner, function = callee.owner, callee.function
        if isinstance(owner, Known) and is_by_fields(function):
            cls = owner.value  # a named tuple's _make
            return self.dynamic(s, e.func, args, kwargs, kinds, Tuple((UNKNOWN,) * len(cls._fields), cls))
        if isinstance(owner, Super):
            args, kinds = (owner.owner, *args), (owner.instance, *kinds)
            if isinstance(function, types.FunctionType) or initializer_of(function, len(args)) is not None:
                return self.looked_up(s, function, args, kwargs, kinds, None)
            how = "constant" if function in HARMLESS else "missing"
            result = Known(None) if function is object.__init__ else UNKNOWN
            return self.site(s, Site(how, function, args=args, kwargs=kwargs, kinds=kinds, result=result))
        if type(e.func) is n.Global:
            method = self.context.global_value(self.owner, e.func.id)
            if isinstance(method, types.MethodType) and not isinstance(owner, (Num, Known)):
                args, kinds = (n.Ref(f"{e.func.id}_owner", method.__self__), *args), (owner, *kinds)
                return self.looked_up(s, function, args, kwargs, kinds, None)
        if type(e.func) is n.Attr and not isinstance(owner, Known):
            if isinstance(owner, Instance) and type(e.func.value) is n.Attr:
                return self.dynamic(s, e.func, e.args, e.kwargs, kinds)
            if isinstance(owner, Num):
                function = self.context.array_member(e.func.name) or function
            return self.looked_up(s, function, (e.func.value, *args), kwargs, (owner, *kinds), None)
        if is_of_class(callee):
            cls = owner.value  # type: ignore[union-attr]
            return self.looked_up(s, function, (n.Ref(cls.__name__, cls), *args), kwargs, (owner, *kinds), None)
        return None

    def known_called(
        self, s: n.Stmt, e: n.Call, callee: Known, args: Any, kwargs: Any, kinds: tuple[Kind, ...]
    ) -> Kind | None:
        """A function, a class or another object that is known: first what it is to the compiler, then to the rules."""
        fn = callee.value
        if type(e.func) is n.Ref and fn is attempt:
            return self.dynamic(s, e.func, args, kwargs, kinds, Tuple((UNKNOWN, UNKNOWN)))
        if type(e.func) is n.Ref and fn in (getattr, setattr):
            return self.dynamic(s, e.func, args, kwargs, kinds)
        if (proxy := super_kind(fn, args, kinds)) is not None:
            return self.site(s, Site("constant", super, args=tuple(args), kinds=kinds, result=proxy))
        found = self.by_protocol(s, e, fn, args, kwargs, kinds) if kinds and is_hashable(fn) else None
        if found is not None:
            return found
        if e.func in (IMPORT, IMPORT_RELATIVE):
            imported = imported_name(e, self.owner)
            self.context.imports(imported)
            self.context.suspends |= imported == "itertools"
            if self.variables():
                module = imported_module(e, self.owner)
                result = UNKNOWN if module is None else Known(module)
                return self.site(s, Site("constant", import_module, args=args, kinds=kinds, result=result))
        if not kwargs and (cls := empty_class(fn, kinds)) is not None:
            return self.site(s, Site("construct", cls, args=tuple(args), kinds=kinds, result=Instance(cls)))
        meant = self.context.numeric_meaning(fn, kinds)
        if any(type(a) is n.Star for a in args) or any(k is None for k, _ in kwargs):
            self.context.suspends |= inspect.isgeneratorfunction(meant)
            if is_hashable(fn) and fn in OPERATOR_OF_FUNCTION:  # the kinds of its operands decide
                return self.dynamic(s, e.func, args, kwargs, kinds, only_reads=True)
            decision = self.context.lookup(meant, list(kinds[: len(args)]))
            if decision.how != "constant" and not (decision.entry is None and collects(meant, args, kwargs)):
                if decision.entry is None and isinstance(meant, type) and makes_itself(meant):
                    return self.made(s, e.func, meant, args, kwargs, kinds)
                return self.dynamic(s, e.func, args, kwargs, kinds, results.call(meant, [NUMERIC], {}))
        if fn in (dict.keys, OrderedDict.keys) and has_known_keys(kinds):
            return self.site(s, Site("constant", fn, args=tuple(args), kinds=kinds))  # they are constants
        function = numeric_function(meant, kinds)
        if function is None:  # an operator, as a function
            return self.dynamic(s, e.func, args, kwargs, kinds, only_reads=True)
        op = OPERATOR_OF_FUNCTION.get(fn) if fn is not function and len(kinds) == 2 else None
        made = None if op is None else results.binary(op, *kinds)
        return self.looked_up(s, function, args, kwargs, kinds, made)

    def by_protocol(
        self, s: n.Stmt, e: n.Call, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]
    ) -> Kind | None:
        """What runs methods of its arguments; None where it doesn't, or where they are not the user's."""
        first, unseen = kinds[0], self.context.busy.isdisjoint
        late = functools.partial(self.dynamic, s, e.func, args, kwargs, kinds)
        if fn is next and len(args) == 2 and own_method(first, "__next__"):
            return self.looked_up(s, drawn_or, args, kwargs, kinds, None)
        if fn in (everything, contained) and first is UNKNOWN:
            quiet = unseen(("__iter__", "__getitem__", "__contains__"))
            return late(only_reads=quiet and not self.context.suspends)
        if fn in _BY_CLASS and first is UNKNOWN:
            method = {iter: "__iter__", operator.getitem: "__getitem__"}.get(fn)
            return late(only_reads=method is not None and unseen((method,)) and not self.context.suspends)
        if fn in FOLDS and type(e.func) is not n.Ref:
            decision = self.context.lookup(fn, list(kinds[: len(args)]))
            terms = [*map(item_of, kinds[:1]), *kinds[1:]]
            if decision.entry is None or decision.entry.layer != "user":
                starts = [k for (by, _), k in zip(kwargs, kinds[len(args) :]) if by == "start"]
                named = any(not isinstance(k, Num) or not k.is_scalar for k in starts)  # it may be the result
                if named or any(is_own_class(k) and has_operators(k.cls) for k in terms):
                    return self.looked_up(s, FOLDS[fn], args, kwargs, kinds, None)
                if any(k is UNKNOWN for k in terms) and not self.is_empty(first):
                    return self.dynamic(s, fn, args, kwargs, kinds, only_reads=True)
        if fn in BY_METHOD and args:
            name = BY_METHOD[fn]
            if first is UNKNOWN and name in self.context.computed:
                return late(only_reads=unseen((name,)))
            method = own_method(first, name)
            if method is not None and not kwargs and not any(type(a) is n.Star for a in args):
                return self.looked_up(s, method, args, (), kinds, None)
        return None

    def dynamic(
        self,
        s: n.Stmt,
        func: Any,
        args: Any,
        kwargs: Any,
        kinds: tuple[Kind, ...],
        result: Kind = UNKNOWN,
        only_reads: bool = False,
    ) -> Kind:
        args, kwargs = tuple(args), tuple(kwargs)
        site = Site("dynamic", func, args=args, kwargs=kwargs, kinds=kinds, result=result, only_reads=only_reads)
        return self.site(s, site)

    def made(self, s: n.Stmt, func: n.Expr, cls: type, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
        """An object that generated code makes of its fields: the run-time dispatch knows how."""
        return self.dynamic(s, func, args, kwargs, kinds, made_kind(cls, args, kwargs, kinds), only_reads=True)

    def lifted(self, s: n.Stmt, e: n.Call, callee: Lifted, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Kind:
        closure = callee.closure
        bound = bind_lifted(closure, args, kwargs)
        if bound is None or self.direct.get(e.func.id) is not closure:
            return self.dynamic(s, e.func, args, kwargs, kinds)
        kinds = self.context.bounded(closure.function, tuple(self.known(a) for _, a in bound))
        if closure.function.checkpoint:
            if self.variables():
                self.context.refuse_use(closure.function, self.owner, kinds)
            again = self.context.run_again(closure.function, self.owner)
            result = self.context.result_kind(again, kinds)
            return self.site(s, Site("inside", again, args=tuple(args), kinds=kinds, result=result, bound=bound))
        result = self.context.lifted_result_kind(closure, kinds, self.owner)
        site = Site("lifted", closure, args=tuple(args), kwargs=tuple(kwargs), kinds=kinds, result=result, bound=bound)
        return self.site(s, site)

    def looked_up(
        self,
        s: n.Stmt,
        fn: Any,
        args: Any,
        kwargs: Any,
        kinds: tuple[Kind, ...],
        result: Kind | None,
        infix: bool = False,
    ) -> Kind:
        """Ask the table about ``fn``, then look at what it is."""
        args, kwargs = tuple(args), renamed(fn, tuple(kwargs))
        positional = list(kinds[: len(args)])
        named = {k: v for (k, _), v in zip(kwargs, kinds[len(args) :]) if k is not None}
        decision = self.context.lookup(fn, positional, named)
        origin = origin_of(fn)
        if origin is not None:  # with a rule, it would not be followed
            self.context.lookup(getattr(origin, "__wrapped_class__", origin), positional, named)
        if decision.how in ("inside", "missing"):
            instead, classes = stands_for(fn, kinds)
            if instead is not fn:
                self.context.chosen(fn, classes, instead)
                return self.looked_up(s, instead, args, kwargs, kinds, None)
            made = self.maker(fn, args, kwargs, kinds)
            if made is not None:
                return self.looked_up(s, made, args, kwargs, kinds, None)
            if fn is dataclasses.replace and kinds and isinstance(kinds[0], Instance) and len(args) == 1:
                cls, names = kinds[0].cls, tuple(k for k, _ in kwargs if k is not None)
                if dataclasses.is_dataclass(cls) and not makes_itself(cls) and len(names) == len(kwargs):
                    given = (args[0], *(v for _, v in kwargs))
                    return self.looked_up(s, made_anew(cls, names), given, (), kinds, None)
        if fn is split_starred:
            result = items_around_star(positional[0], *(a.value for a in args[1:]))
        elif result is None:
            result = results.call(fn, positional, named)
        if result is UNKNOWN and decision.how == "rule" and decision.entry.layer == "user":  # type: ignore[union-attr]
            result = pasted_kind(decision.entry, positional, named)  # type: ignore[arg-type]
        site = Site(decision.how, fn, decision.entry, args, kwargs, kinds, result, infix)
        if fn is np.sign and decision.how == "rule" and all(isinstance(k, Num) and k.is_real for k in kinds):
            site.how = "constant"  # it has a derivative for complex arguments only
        if decision.how == "undecided" or (decision.how in ("inside", "missing") and bound_choice(fn) is not None):
            site.how = "dynamic"
        elif decision.how == "rule" and not _is_helper(fn) and any(map(_is_suspended, kinds)):
            site.how, site.why = "missing", of_generator(fn)
        elif decision.how in ("inside", "missing", "alternative"):
            body = decision.entry.function if decision.how == "alternative" and decision.entry is not None else fn
            self.look_inside(s, site, body)
        elif infix and any(isinstance(k, Instance) for k in kinds):
            site.how = "dynamic"
        return self.site(s, site)

    def maker(self, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Any:
        """The function that makes an exception of what it is given, or is its ``__init__``; None for anything else."""
        if isinstance(fn, type) and (any(map(may_have_tangent, kinds)) or fn.__module__ != "builtins"):
            self.context.class_member(fn, "__init__")
            return maker_of(fn, len(args), tuple(k for k, _ in kwargs))
        return None if kwargs else initializer_of(fn, len(args))

    def construct(self, site: Site, cls: type) -> bool:
        """An object of a user's class: made empty, then what ``__init__`` does to it."""
        if issubclass(cls, Suspended):
            self.context.suspends = True
            if cls.generator is not None:  # a rule for it changes what is made here
                self.context.lookup(cls.generator, list(site.kinds[: len(site.args)]))
        init = init_of(cls)
        if not is_made_empty(cls) or (dataclasses.is_dataclass(cls) and is_generated(init)):
            return False
        if init is object.__init__:
            site.how, site.result, site.bound = "construct", Instance(cls), ()
            return not site.args and not site.kwargs
        if not isinstance(init, types.FunctionType):
            return False
        bound = bind_call(init, (n.Const(None), *site.args), site.kwargs)
        if bound is None:
            return False
        site.how, site.result, site.bound = "construct", Instance(cls), bound
        site.kinds = (Instance(cls), *(self.known(e) for _, e in bound[1:]))
        self.hand_variables(site, init)
        return True

    def hand_variables(self, site: Site, fn: Any) -> None:
        """Pass the variables that functions share to ``fn``, if they are there."""
        given = self.variables()
        if given:
            site.bound += tuple(zip(self.context.variable_params(fn), given))
            site.kinds += self.context.variable_kinds()

    def variables(self) -> tuple[n.Expr, ...]:
        """The variables that functions share, in order; none where no function has been handed any."""
        raise NotImplementedError

    def look_inside(self, s: n.Stmt, site: Site, body: Any) -> None:
        if reason_for(body) is not None:
            site.how = "missing"
            return
        if isinstance(body, type) and not _is_library(body) and self.construct(site, body):
            return
        if is_by_fields(body) or body is getattr:
            site.how, site.only_reads = "dynamic", is_by_fields(body)
            same = body is dataclasses.replace or getattr(body, "__name__", "") == "_replace"
            site.result = weaken(site.kinds[0]) if same and site.kinds else collected_kind(body)
            if isinstance(site.result, Tuple):
                site.result = Tuple((UNKNOWN,) * len(site.result.items), site.result.cls)
            return
        generated = getattr(body, "function", None)
        if isinstance(generated, n.Function) and not site.kwargs:  # compiled code, when it is differentiated again
            site.how, site.kinds = "lifted", tuple(map(self.known, site.args))
            site.bound = tuple(zip((p.name for p in generated.params), site.args))
            site.result = self.context.compiled_result_kind(body, site.kinds)
            return
        nested = self.context.nested(body, site.args, site.kwargs)
        if nested is not None:  # a derivative inside differentiated code
            site.how = nested.how
            if nested.how == "inside":
                site.callee, site.bound = nested.callee, nested.bound
                site.kinds = tuple(self.known(e) for _, e in nested.bound)
                if self.variables():
                    self.context.refuse_use(nested.callee, self.owner, site.kinds)
                site.result = self.context.result_kind(nested.callee, site.kinds)
            return
        if not isinstance(body, types.FunctionType):
            method = getattr(type(body), "__call__", None)  # noqa: B004 - the method itself is looked at
            if isinstance(method, types.FunctionType) and not isinstance(body, type) and not _is_library(type(body)):
                bound = bind_call(method, (n.Ref(type(body).__name__, body), *site.args), site.kwargs)
                if bound is not None:
                    site.how, site.callee, site.bound = "inside", method, bound
                    site.kinds = (Instance(type(body)), *(self.known(e) for _, e in bound[1:]))
                    self.hand_variables(site, method)
                    site.result = self.context.result_kind(method, site.kinds)
                    return
            python = isinstance(body, type) or isinstance(method, types.FunctionType)
            site.how = "dynamic" if python or not _is_library(body) else "missing"
            if isinstance(body, type):
                site.result = made_kind(body, site.args, site.kwargs, site.kinds)
                site.only_reads = makes_itself(body)
            return
        if body.__code__.co_filename.startswith("<thunkad "):  # made while the code runs, by code of the compiler's
            site.how = "dynamic"
            return
        bound = bind_call(body, site.args, site.kwargs)
        if bound is None or inspect.iscoroutinefunction(body):
            site.how = "dynamic"
            return
        if inspect.isgeneratorfunction(body):
            if type(s) is not n.Assign:
                site.how = "dynamic"
                return
            self.generators[id(s)] = s
        site.how, site.callee, site.bound = "inside", body, bound
        if len(site.args) + len(site.kwargs) < len(bound):
            self.context.left_to_defaults(body)
        site.kinds = self.context.bounded(body, tuple(self.known(e) for _, e in bound))
        self.hand_variables(site, body)
        site.result = self.context.result_kind(body, site.kinds)
        origin = origin_of(body)
        if origin is not None:  # where there is no error, the first is what that function returns
            site.result = Tuple((self.context.result_kind(origin, site.kinds), UNKNOWN))
        site.why = self.context.given_up(body)
        if site.why is not None:
            site.how, site.result = "missing", UNKNOWN
            return
        if inspect.isgeneratorfunction(body) and not isinstance(site.result, Sequence):
            site.result = UNKNOWN  # one that goes on for ever has no end at which it would return its list


def collects(fn: Any, args: Any, kwargs: Any) -> bool:
    """Whether ``fn`` collects all that stars spread in a call, as ``*args``."""
    if isinstance(fn, type):
        made = is_made_empty(fn) and not issubclass(fn, Suspended)
        fn, args = init_of(fn) if made else None, (n.Const(None), *args)
    elif is_hashable(fn) and stands_for(fn)[0] is not fn:
        return False  # what stands for it asks for the first argument
    return isinstance(fn, types.FunctionType) and bind_call(fn, args, kwargs) is not None


def is_of_class(method: Method) -> bool:
    """Whether this is a class method, found in a class that is known or in an object of it."""
    owner = method.owner
    return isinstance(owner, Known) and isinstance(owner.value, type) and type(method.function) is types.FunctionType


def of_generator(fn: Any) -> tuple[str, str]:
    """Why a function with a rule is not applied to a generator that is kept, and what to do."""
    name = getattr(fn, "__name__", "a function")
    return f"{name} of a generator that is kept is not differentiated", "make a list of it first: list(...)"


def refuse_generators(rule: Any, args: Any) -> None:
    """A rule does not use up a generator, which is an object to the compiler."""
    if any(isinstance(a, Suspended) for a in args):
        message, hint = of_generator(rule.target)
        raise NoRuleError(message, hint=hint)


def _is_suspended(kind: Kind) -> bool:
    return isinstance(kind, Instance) and issubclass(kind.cls, Suspended)


def _is_helper(fn: Any) -> bool:
    """Whether ``fn`` is what generated code calls, in such code that is differentiated again."""
    return (getattr(fn, "__module__", None) or "").startswith("thunkad.runtime.")


def _is_library(fn: Any) -> bool:
    return library_of(fn) in ("numpy", "scipy", "builtins", "math", "cmath", "itertools")
