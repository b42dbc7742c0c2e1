"""Calls whose callee is known only when the code runs.

``pull(f, wrt, *args, **kwargs)`` returns the value of the call and its pullback; ``wrt`` says for which of the callee
(None), positions and keywords cotangents are wanted, and ``pullback(value_bar)`` returns them in that order.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad import debugging
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing
from thunkad.analysis.call_sites import refuse_generators
from thunkad.analysis.constructors import is_made_by_init
from thunkad.analysis.makers import maker_of
from thunkad.analysis.special import fields_of_init, makes_itself
from thunkad.analysis.stand_ins import stands_for
from thunkad.analysis.views import HAND_ON, SELECT_BY_VALUE
from thunkad.compiled import updates
from thunkad.compiled.binding import back_to_call, bound_call, parameters_at, places_given
from thunkad.compiled.load import lifted_of
from thunkad.compiled.operators import as_operands, is_of_python, on_numbers
from thunkad.compiled.outcomes import pull_attempt
from thunkad.compiled.own_classes import (
    construct_partial,
    is_operator_of_own,
    pull_attribute,
    pull_fields,
    pull_operator,
    pull_setting,
    refuse_own_new,
)
from thunkad.compiled.reach import at_border
from thunkad.compiled.refusals import writes_in_place
from thunkad.compiled.ways import way_of
from thunkad.errors import NoRuleError, StaleRuleError, ThunkadError, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import is_hashable, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.normal.suspended_class import class_of
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.keywords import renamed
from thunkad.rules.refused import no_rule_message, reason_for
from thunkad.rules.results import cotangents, of_functions, value_and_pullback
from thunkad.runtime.checked import read_only
from thunkad.runtime.chosen import bound_choice, built_in_owner
from thunkad.runtime.complex import field_of_result, in_field_of, is_real_number, real_part, real_when_read
from thunkad.runtime.containers import shallow
from thunkad.runtime.cotangents import entry
from thunkad.runtime.exceptions import attempt
from thunkad.runtime.held import held
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.runtime.sets import is_of_sets, operand_bars
from thunkad.runtime.shadows import keep, shares
from thunkad.runtime.sharing import originals
from thunkad.runtime.using import Using
from thunkad.runtime.watching import apart, parted, unchanged
from thunkad.source.wrapped import python_function
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent, resolved, unthunk
from thunkad.tree.parse import deep_recursion

#: Cotangents of a whole call: of the callee, of the positional arguments, of the keyword arguments.
Cotangents = tuple[Any, list[Any], dict[str, Any]]
Back = Callable[[Any], Cotangents]
Wrt = frozenset[Any] | None


def entering(back: Back, value_bar: Any) -> Any:
    """A cotangent as it enters a callee: without thunks, inside containers too, unless its rule knows them."""
    if getattr(back, "keeps_thunks", False):
        return value_bar
    return value_bar if type(value_bar) in _PLAIN else resolved(value_bar)


_PLAIN = (np.ndarray, float, np.float64)


class Pull:
    """Run-time dispatch in one world."""

    def __init__(self, world: Any, kept: bool = False) -> None:
        self.world, self.kept, self.slot = world, kept, "dispatch_kept" if kept else "dispatch"

    def call(
        self, fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """The value of ``fn(*args, **kwargs)`` and its pullback for the places in ``wrt``."""
        value, back = self.late(fn, args, kwargs, frozenset(wrt))

        def pullback(value_bar: Any) -> tuple[Any, ...]:
            value_bar = entering(back, value_bar)
            if isinstance(value_bar, AbstractZero):
                return (ZERO,) * len(wrt)
            of_callee, of_args, of_kwargs = back(value_bar)
            return tuple(
                of_callee if w is None else of_args[w] if isinstance(w, int) else of_kwargs.get(w, ZERO) for w in wrt
            )

        return value, pullback

    def packed(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
        """The same for collected arguments: the pullback returns those of the callee, of ``args`` and of ``kwargs``."""
        value, back = self.late(fn, tuple(args), dict(kwargs))

        def pullback(value_bar: Any) -> Any:
            value_bar = entering(back, value_bar)
            if isinstance(value_bar, AbstractZero):
                return ZERO, ZERO, ZERO
            of_callee, of_args, of_kwargs = back(value_bar)
            return of_callee, tuple(of_args), of_kwargs

        return value, pullback

    def update(self, fn: Any, x: Any, v: Any) -> tuple[Any, Any]:
        """``x op= v``, see :mod:`thunkad.compiled.updates`."""
        return updates.update(self, fn, x, v)

    def update_entry(self, fn: Any, x: Any, key: Any, v: Any) -> Any:
        return updates.update_entry(self, fn, x, key, v)

    def update_attribute(self, fn: Any, x: Any, name: str, v: Any) -> Any:
        return updates.update_attribute(self, fn, x, name, v)

    def late(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *wrt: Any) -> tuple[Any, Back]:
        """The call decided in the late world of the running call."""
        world = self.world.late_now()
        fn = fn.callee if isinstance(fn, Using) else fn
        try:
            return self.within(world).whole(fn, args, kwargs, *wrt)
        except StaleRuleError:
            raise
        except ThunkadError:
            world.failed = True
            raise

    def within(self, world: Any) -> Pull:
        """The same in another world."""
        return getattr(world, self.slot)  # type: ignore[no-any-return]

    def change(self, x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        return updates.change(self, x, name, args, kwargs)

    # ------------------------------------------------------------ dispatch on what the callee is

    def sharing(self, names: Iterable[str]) -> Sharing:
        return Sharing(volatile=tuple(names), returned=True) if self.kept else NOTHING_SHARED

    def whole(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt = None) -> tuple[Any, Back]:
        """``wrt``: for which of the callee (None), positions and keywords cotangents are wanted; without it for all."""
        if is_of_python(fn, args):
            return self.on_python_numbers(fn, args)
        fn = on_numbers(fn, args)
        if isinstance(fn, functools.partial):
            return self.partial(fn, args, kwargs)
        if isinstance(fn, types.MethodType):
            return self.method(fn, fn.__func__, fn.__self__, args, kwargs, wrt)
        owner = built_in_owner(fn)
        if owner is not None:
            function = getattr(type(owner), fn.__name__, None)
            if isinstance(owner, np.ndarray):
                function = self.world.array_member(fn.__name__)
            if function is not None:
                return self.method(fn, function, owner, args, kwargs)
        if is_operator_of_own(fn, args):
            if (special := pull_operator(self, fn, args)) is not None:
                return special
        decision = self.world.late_lookup(fn, args, kwargs) if is_hashable(fn) else None
        if decision is not None and decision.how == "rule":
            found = self.rule(decision.entry, args, kwargs)
            if found is not None:
                return found
        if decision is not None and decision.how == "constant":
            return fn(*args, **kwargs), lambda value_bar: _nothing(args)
        if decision is not None and decision.how == "alternative":
            return self.function(decision.entry.function, args, kwargs, places_given(args, kwargs, wrt))
        return self.by_kind(fn, args, kwargs, wrt)

    def on_python_numbers(self, fn: Any, args: tuple[Any, ...]) -> tuple[Any, Back]:
        """An operator on numbers of Python's own: its value, with the pullback of the ufunc of that meaning."""
        value = fn(*args)
        if not any(isinstance(a, (float, complex)) for a in args):
            return value, lambda value_bar: _nothing(args)
        with np.errstate(all="ignore"):
            return value, self.whole(on_numbers(fn, args), as_operands(value, args), {})[1]

    def is_private(self, pair: Any, fn: Any) -> bool:
        """Whether a compiled callee writes, which it may do into what it makes itself: into more is refused."""
        return bool(pair.writes)

    def kinds_of(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(map(kind_of, values))

    def pair_for(
        self, target: Any, owner: Any, kinds: tuple[Any, ...], demand: tuple[str, ...], names: Iterable[str]
    ) -> Any:
        """The halves of a function, or of one that was made inside ``owner``."""
        return self.world.pair_for(target, owner, kinds, demand, None, self.sharing(names))

    def begin(self, pair: Any, values: tuple[Any, ...]) -> tuple[Any, Any]:
        return pair.forward.cell.cell_contents(*values)  # type: ignore[no-any-return]

    def cotangents_of(
        self, pair: Any, demand: tuple[str, ...], saved: Any, value_bar: Any, packed: dict[str, Any]
    ) -> dict[str, Any]:
        """The cotangents of the parameters of a compiled callee; ``packed`` are its ``*args`` and ``**kwargs``."""
        parts = pair.reverse.cell.cell_contents(saved, value_bar)
        return dict(zip(demand, parts if len(demand) > 1 else (parts,)))

    def by_kind(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt = None) -> tuple[Any, Back]:
        if not callable(fn):
            fn(*args, **kwargs)  # raises as it does in the user's function
        bound, (instead, _) = bound_choice(fn), stands_for(fn)
        if bound is not None and args:
            return self.method(fn, bound[0](type(args[0])), bound[1], args, kwargs, wrt)
        if instead is not fn:
            return self.whole(instead, args, kwargs, wrt)
        if fn is attempt:
            return pull_attempt(self, args, kwargs)
        carries = _carries(args) or _carries(tuple(kwargs.values()))
        if fn is getattr:
            return pull_attribute(self, args)
        if fn is setattr:
            return pull_setting(self, args)
        if (by_fields := pull_fields(self, fn, args, kwargs)) is not None:
            return by_fields
        if carries and reason_for(fn) is not None:
            message, hint = no_rule_message(fn)
            raise NoRuleError(message, hint=hint)
        if is_nested(fn):
            if self.kept or self.world.outlives:
                fn, args, kwargs = held((fn, args, kwargs))
            return self.world.derivatives.pull(fn, args, kwargs)
        if hasattr(fn, MAP):
            return self.method(fn, applied, fn, args, kwargs)
        if isinstance(fn, types.FunctionType):
            if lifted_of(fn) in self.world.lifted:
                return self.lifted(fn, args, kwargs)
            return self.function(fn, args, kwargs, wrt)
        wrapped = python_function(fn)
        if wrapped is not None:
            return self.whole(wrapped, args, kwargs)
        if (special := pull_operator(self, fn, args)) is not None:
            return special
        if is_of_sets(fn, args):
            value = fn(*args)
            return value, lambda value_bar: (NO_TANGENT, operand_bars(value_bar, value, args), {})
        if isinstance(fn, type):
            return self.construct(fn, args, kwargs)
        call = getattr(type(fn), "__call__", None)  # noqa: B004 - the method itself is looked at
        if isinstance(call, types.FunctionType):
            return self.method(fn, call, fn, args, kwargs)
        if not carries:
            return fn(*args, **kwargs), lambda value_bar: _nothing(args)
        if getattr(fn, "__module__", None) in ("_operator", "operator"):
            fn(*args, **kwargs)  # an operator that these values do not have raises as it does in the user's function
        message, hint = no_rule_message(fn)
        raise NoRuleError(message, hint=hint)

    # ------------------------------------------------------------ each sort of callee

    def rule(self, rule: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back] | None:
        assert rule.function is not None
        refuse_generators(rule, args)
        spelled = tuple(kwargs)
        if kwargs:
            kwargs = dict(renamed(rule.target, tuple(kwargs.items())))  # type: ignore[arg-type]
        way = way_of(rule, len(args), tuple(kwargs))
        given = args
        if self.kept:
            hold = shallow if getattr(rule.target, "__name__", "") in HAND_ON else keep
            args, kwargs = tuple(map(hold, args)), {k: hold(v) for k, v in kwargs.items()}
        if way.wants_ad:
            found = rule.function(*args, **kwargs, ad=self.world.handle())
        else:
            found = rule.function(*args, **kwargs)
        if found is None:
            return None
        value, pullback = value_and_pullback(rule, found)
        if self.kept and getattr(rule.target, "__name__", "") in SELECT_BY_VALUE:
            value = originals(value, args, given)
        elif self.kept:
            for held, own in zip(args, given):
                if held is not own and shares(value, held):  # the value is what was given, or a view of it
                    value = own if value is held else rule.target(*given, **kwargs)  # type: ignore[operator]
                    break
            else:
                if isinstance(value, np.ndarray) and not shares(value, *given):
                    value = value.copy("K")  # the pullback may hold it, and the caller may write into what it gets
        count, as_given = len(args), dict(zip(kwargs, spelled))
        own_field = field_of_result(value) if rule.layer == "user" else None
        mixed = isinstance(value, (complex, np.ndarray)) and np.iscomplexobj(value)

        def back(value_bar: Any) -> Cotangents:
            if own_field is not None:
                value_bar = in_field_of(value_bar, own_field)
            parts = cotangents(rule, pullback(read_only(value_bar) if debugging.enabled else value_bar), way.count)
            own, named = way.by_call(parts, count)
            named |= way.refused(kwargs) if way.constants else {}
            if mixed:
                own = [real_when_read(bar) if is_real_number(a) else bar for bar, a in zip(own, args)]
            return NO_TANGENT, of_functions(rule, own, args), {as_given[k]: bar for k, bar in named.items()}

        if rule.keep_thunks:
            back.keeps_thunks = True  # type: ignore[attr-defined]
        return value, back

    def function(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt = None) -> tuple[Any, Back]:
        """A Python function: compiled for the kinds of these arguments."""
        if inspect.isgeneratorfunction(fn):
            return self.whole(class_of(fn), args, kwargs)
        if inspect.iscoroutinefunction(fn):
            raise UnsupportedSyntaxError(f"{name_of(fn)} is a coroutine and can't be differentiated")
        signature = inspect.signature(fn, follow_wrapped=False)
        bound = bound_call(signature, fn, args, kwargs)
        values = tuple(bound.arguments.values())
        kinds = self.kinds_of(values)
        shared = self.world.used_variables(fn, kinds, self.slot == "dispatch_shared")
        wanted = None if wrt is None else parameters_at(signature, len(args), kwargs, wrt)
        demand = tuple(
            name
            for name, kind in zip(bound.arguments, kinds)
            if may_have_tangent(kind) and (wanted is None or name in wanted)
        )
        demand, values, kinds = demand + shared, values + self.world.variables(), kinds + self.world.variable_kinds()
        if not demand and not self.world.target_reads_captured(fn, None, kinds):
            return fn(*args, **kwargs), lambda value_bar: _nothing(args)
        with self.world.lock, deep_recursion(), at_border(fn, None):
            pair = self.pair_for(fn, None, kinds, demand, (*bound.arguments, *shared))
        if self.is_private(pair, fn):
            args, kwargs = parted(args, kwargs)
            given = bound_call(signature, fn, args, kwargs).arguments
            private = functools.partial(self.world.dispatch_shared.private, fn, args, kwargs)
            return unchanged(pair.changed, given, private, functools.partial(writes_in_place, fn))
        value, saved = self.begin(pair, values)
        packed = {k: v for k, v in bound.arguments.items() if signature.parameters[k].kind.name.startswith("VAR_")}
        is_real = is_real_number(value)

        def back(value_bar: Any) -> Cotangents:
            value_bar = real_part(value_bar) if is_real else value_bar
            by_name = self.cotangents_of(pair, demand, saved, value_bar, packed)
            return NO_TANGENT, *back_to_call(signature, by_name, args, kwargs)

        return value, back

    def lifted(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        """A function made inside a compiled one: captures come first."""
        function, owner = self.world.lifted[lifted_of(fn)]
        own = [p for p in function.params if p.name not in function.captures]
        names = [*function.captures, *(p.name for p in own)]
        simple = all(p.kind in ("positional", "keyword") for p in own)
        values = dict(zip(names, args))
        values.update(kwargs)
        if not simple or len(args) > len(names) or set(values) != set(names):
            return self.lifted_variadic(fn, function, owner, args, kwargs)
        return self.compiled(function, owner, names, values, args, kwargs)

    def lifted_variadic(
        self, fn: Any, function: n.Function, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Back]:
        signature = inspect.signature(fn)
        bound = signature.bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        names = list(bound.arguments)
        value, back = self.compiled(function, owner, names, dict(bound.arguments), tuple(bound.arguments.values()), {})

        def by_call(value_bar: Any) -> Cotangents:
            _, parts, _ = back(value_bar)
            by_name = dict(zip(names, parts))
            defaults = {k: v for k, v in by_name.items() if k not in given}
            of_callee = Tangent(types.FunctionType, {"defaults": defaults}) if defaults else NO_TANGENT
            return of_callee, *back_to_call(signature, by_name, args, kwargs)

        return value, by_call

    def compiled(self, function: n.Function, owner: Any, names: list[str], values: dict[str, Any],
                 args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:  # fmt: skip
        kinds = self.kinds_of(values[name] for name in names)
        demand = tuple(name for name, kind in zip(names, kinds) if may_have_tangent(kind))
        with self.world.lock, deep_recursion():
            pair = self.pair_for(function, owner, kinds, demand, names)
        if self.is_private(pair, function):
            shared, count = self.world.dispatch_shared, len(args)
            values = dict(zip(values, apart(values.values())))
            args, kwargs = tuple(values[p] for p in names[:count]), {k: values[k] for k in kwargs}
            call = lambda: shared.compiled(function, owner, names, values, args, kwargs)
            private = functools.partial(shared.privately, call, args, kwargs)
            return unchanged(pair.changed, values, private, functools.partial(writes_in_place, function))
        value, saved = self.begin(pair, tuple(values[name] for name in names))
        packed = {p.name: values[p.name] for p in function.params if p.kind.startswith("var_")}
        is_real = is_real_number(value)

        def back(value_bar: Any) -> Cotangents:
            if not demand and self.world.captured is None:
                return _nothing(args)
            value_bar = real_part(value_bar) if is_real else value_bar
            by_name = self.cotangents_of(pair, demand, saved, value_bar, packed)
            positional = [by_name.get(name, NO_TANGENT) for name in names[: len(args)]]
            return NO_TANGENT, positional, {k: by_name.get(k, NO_TANGENT) for k in kwargs}

        return value, back

    def partial(self, fn: functools.partial[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        """A ``functools.partial`` (a closure is one): its cotangent has the fields ``func``, ``args``, ``keywords``."""
        fixed = len(fn.args)
        value, back = self.whole(fn.func, (*fn.args, *args), {**fn.keywords, **kwargs})

        def through(value_bar: Any) -> Cotangents:
            of_callee, of_args, of_kwargs = back(value_bar)
            own = {k: v for k, v in of_kwargs.items() if k in fn.keywords and k not in kwargs}
            fields = {"func": of_callee, "args": tuple(of_args[:fixed]), "keywords": own}
            rest = {k: v for k, v in of_kwargs.items() if k in kwargs}
            return Tangent(functools.partial, fields), of_args[fixed:], rest

        return value, through

    def method(
        self, fn: Any, function: Any, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt = None
    ) -> tuple[Any, Back]:
        if wrt is not None:  # the callee's cotangent is that of the owner, the first argument of the function
            wrt = frozenset(0 if w is None else w + 1 if isinstance(w, int) else w for w in wrt)
        value, back = self.whole(function, (owner, *args), kwargs, wrt)

        def through(value_bar: Any) -> Cotangents:
            _, of_args, of_kwargs = back(value_bar)
            return of_args[0], of_args[1:], of_kwargs

        return value, through

    def construct(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        """A namedtuple or a dataclass without code of its own; others are refused when a derivative enters them."""
        if cls is functools.partial:
            return construct_partial(args, kwargs)
        if cls is super and len(args) == 2:  # its cotangent is that of the object whose methods it finds
            return super(*args), lambda bar: (NO_TANGENT, [NO_TANGENT, bar], {})
        names = getattr(cls, "_fields", None)
        if cls is types.SimpleNamespace and not args:
            return cls(**kwargs), lambda bar: (NO_TANGENT, [], {k: entry(unthunk(bar), k) for k in kwargs})
        if names is None and makes_itself(cls):
            names = fields_of_init(cls)
        if names is None:
            if not _carries(args) and not _carries(tuple(kwargs.values())):
                return cls(*args, **kwargs), lambda value_bar: _nothing(args)
            if is_made_by_init(cls):
                return self.made_by_init(cls, args, kwargs)
            if (maker := maker_of(cls, len(args), tuple(kwargs))) is not None:
                return self.whole(maker, args, kwargs)
            raise UnsupportedSyntaxError(
                f"making an object of the class {name_of(cls)} from values that are differentiated is not supported",
                hint="use a tuple, a namedtuple, a dataclass or a dict, or register a rule for the class",
            )
        refuse_own_new(cls)
        value = cls(*args, **kwargs)
        bound = inspect.signature(cls).bind(*args, **kwargs)
        assert bound is not None

        def back(value_bar: Any) -> Cotangents:
            value_bar = unthunk(value_bar)
            by_name = {
                f: entry(value_bar, k if isinstance(value_bar, (tuple, list)) else f) for k, f in enumerate(names)
            }
            positional = [by_name[f] for f in names[: len(args)]]
            return NO_TANGENT, positional, {k: by_name.get(k, NO_TANGENT) for k in kwargs}

        return value, back

    def made_by_init(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        shared = self.world.dispatch_shared
        return shared.privately(lambda: shared.made_by_init(cls, args, kwargs), args, kwargs)  # type: ignore[no-any-return]


def is_nested(fn: Any) -> bool:
    """Whether calling ``fn`` takes a derivative."""
    return any(hasattr(fn, mark) for mark in ("__thunkad_derivative__", "__thunkad_nested__", "__thunkad_pullback__"))


def _nothing(args: tuple[Any, ...]) -> Cotangents:
    return NO_TANGENT, [NO_TANGENT] * len(args), {}


def _carries(values: tuple[Any, ...]) -> bool:
    return any(may_have_tangent(kind_of(v)) for v in values)
