"""Forward mode for calls whose callee is known only when the code runs.

``push(f, f_dot, arg_dots, kwarg_dots, *args, **kwargs)`` returns the value of the call and its tangent.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

from thunkad.analysis.call_sites import refuse_generators
from thunkad.analysis.constructors import init_of, is_made_by_init
from thunkad.analysis.makers import maker_of
from thunkad.analysis.sites import weaken
from thunkad.analysis.special import fields_of_init, makes_itself
from thunkad.analysis.stand_ins import MANAGING, stands_for
from thunkad.compiled import push_updates
from thunkad.compiled.binding import bound_call
from thunkad.compiled.bundles import has_parts
from thunkad.compiled.dynamic import is_nested
from thunkad.compiled.load import slot_of
from thunkad.compiled.operators import as_operands, is_of_python, on_numbers
from thunkad.compiled.outcomes import push_attempt
from thunkad.compiled.own_classes import (
    is_operator_of_own,
    operator_methods,
    push_attribute,
    push_fields,
    push_setting,
    refuse_own_new,
)
from thunkad.compiled.refusals import changes_argument
from thunkad.errors import NoRuleError, UnsupportedSyntaxError
from thunkad.forward.array_likes import with_arrays_given
from thunkad.forward.calls import no_frule
from thunkad.forward.template import dots_of
from thunkad.kinds.lattice import is_hashable, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.normal.suspended_class import class_of
from thunkad.rules.entry import FRULE, Entry, name_of
from thunkad.rules.keywords import constants_of, no_derivative_by, renamed
from thunkad.runtime.chosen import bound_choice, built_in_owner
from thunkad.runtime.containers import LISTS
from thunkad.runtime.cotangents import entry
from thunkad.runtime.dot_changes import held
from thunkad.runtime.dots import defaults_dot, tangent_buffer, unshared
from thunkad.runtime.exceptions import attempt
from thunkad.runtime.maps import applied
from thunkad.runtime.marks import MAP
from thunkad.runtime.parts import fields_of
from thunkad.runtime.sets import is_of_sets, merged_dots
from thunkad.runtime.using import finds_some, handed
from thunkad.runtime.watching import unchanged
from thunkad.source.origin import library_of
from thunkad.source.wrapped import python_function
from thunkad.tangents import ZERO, AbstractZero, NotImplementedTangent, Tangent, unthunk
from thunkad.tree.parse import deep_recursion

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Both = tuple[Any, Any]
_LIBRARIES = ("numpy", "scipy", "builtins", "thunkad")


class Push:
    """Run-time dispatch of forward mode in one world."""

    foresees = False  # whether tangents of arrays are memory of their own, which the callee may change

    def __init__(self, forwarding: Any) -> None:
        self.forwarding = forwarding

    def call(self, fn: Any, fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs, /, *args: Any, **kwargs: Any) -> Both:
        """The value of ``fn(*args, **kwargs)`` and its tangent."""
        args, arg_dots = tuple(map(unthunk, args)), tuple(map(unthunk, arg_dots))
        if not self.forwarding.shared:
            return self.late().whole(fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)
        with handed((fn, fn_dot)) as (fn, fn_dot):
            return self.late().whole(fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)

    def late(self) -> Push:
        """The dispatch in the late world of the running call."""
        return self.forwarding.world.late_now().forwarding.dispatch  # type: ignore[no-any-return]

    def update(self, fn: Any, x: Any, x_dot: Any, v: Any, v_dot: Any) -> Both:
        """``x op= v``, see :mod:`thunkad.compiled.push_updates`."""
        found = push_updates.update(self.again(), fn, (x, unthunk(x_dot)), (v, unthunk(v_dot)))
        return found[0], found[1]

    def update_entry(self, fn: Any, x: Any, x_dot: Any, key: Any, v: Any, v_dot: Any) -> None:
        push_updates.update_entry(self.again(), fn, (x, unthunk(x_dot)), key, (v, unthunk(v_dot)))

    def update_attribute(self, fn: Any, x: Any, x_dot: Any, name: str, v: Any, v_dot: Any) -> None:
        push_updates.update_attribute(self.again(), fn, (x, unthunk(x_dot)), name, (v, unthunk(v_dot)))

    def change(
        self, x: Any, x_dot: Any, name: str, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs
    ) -> Both:
        named = {k: (v, kwarg_dots.get(k, ZERO)) for k, v in kwargs.items()}
        found = push_updates.change(self.again(), (x, unthunk(x_dot)), name, tuple(zip(args, arg_dots)), named)
        return found[0], found[1]

    def again(self) -> Any:
        """The same dispatch on bundles, in the late world."""
        return self.late().forwarding.pushed_again

    def whole(self, fn: Any, fn_dot: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> Both:
        if is_of_python(fn, args):
            value = fn(*args)
            if not any(isinstance(a, (float, complex)) for a in args):
                return value, ZERO
            with np.errstate(all="ignore"):
                given = as_operands(value, args)
                return value, self.whole(on_numbers(fn, args), ZERO, given, arg_dots, kwargs, kwarg_dots)[1]
        fn = on_numbers(fn, args)
        if isinstance(fn, functools.partial):
            fixed = tuple(entry(entry(fn_dot, "args"), k) for k in range(len(fn.args)))
            own = {k: entry(entry(fn_dot, "keywords"), k) for k in fn.keywords}
            inner = entry(fn_dot, "func")
            return self.whole(
                fn.func, inner, (*fn.args, *args), (*fixed, *arg_dots), {**fn.keywords, **kwargs}, {**own, **kwarg_dots}
            )
        if self.forwarding.redone.knows(fn):
            return self.forwarding.redone.push(fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)
        if isinstance(fn, types.MethodType):
            return self.whole(fn.__func__, ZERO, (fn.__self__, *args), (fn_dot, *arg_dots), kwargs, kwarg_dots)
        fn = stands_for(fn)[0] if getattr(fn, "__code__", None) is MANAGING else fn
        owner = built_in_owner(fn)
        if owner is not None:
            found = getattr(type(owner), fn.__name__, None)
            if isinstance(owner, np.ndarray):
                found = self.forwarding.array_member(fn.__name__)
            elif isinstance(owner, np.generic) and fn.__name__ == "copy":
                return fn(*args, **kwargs), fn_dot  # of a number, which is its own copy
            if found is not None:
                return self.whole(found, ZERO, (owner, *args), (fn_dot, *arg_dots), kwargs, kwarg_dots)
        still = self.are_still((fn_dot, *arg_dots, *kwarg_dots.values()))
        if still and not is_nested(fn) and not self.finds_variables(fn):
            return fn(*args, **kwargs), ZERO
        if is_operator_of_own(fn, args):
            special = self.operator(fn, args, arg_dots)
            if special is not None:
                return special
        decision = self.forwarding.world.late_lookup(fn, args, kwargs, FRULE) if is_hashable(fn) else None
        if decision is not None and decision.how == "rule":
            if decision.entry.kind != FRULE:
                raise no_frule(fn, None)
            return self.rule(decision.entry, args, arg_dots, kwargs, kwarg_dots)
        if decision is not None and decision.how == "constant":
            return fn(*args, **kwargs), ZERO
        if decision is not None and decision.how == "alternative":
            return self.function(decision.entry.function, args, arg_dots, kwargs, kwarg_dots)
        return self.by_kind(fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)

    def are_still(self, dots: Any) -> bool:
        """Whether nothing moves in what a callee is given."""
        return _still(dots)

    def finds_variables(self, fn: Any) -> bool:
        """Whether what is called may use variables that have tangents."""
        if not finds_some():
            return False
        code = fn if isinstance(fn, (types.FunctionType, type)) else getattr(type(fn), "__call__", None)  # noqa: B004
        return isinstance(code, (types.FunctionType, type)) and library_of(code) not in _LIBRARIES

    def by_kind(self, fn: Any, fn_dot: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> Both:
        bound = bound_choice(fn)
        if bound is not None and args:
            choose, owner = bound
            return self.whole(choose(type(args[0])), ZERO, (owner, *args), (fn_dot, *arg_dots), kwargs, kwarg_dots)
        instead, _ = stands_for(fn)
        if instead is not fn:
            return self.whole(instead, fn_dot, args, arg_dots, kwargs, kwarg_dots)
        if hasattr(fn, MAP):
            return self.whole(applied, ZERO, (fn, *args), (ZERO, *arg_dots), kwargs, kwarg_dots)
        if fn is super and len(args) == 2:  # its tangent is that of the object whose methods it finds
            return super(*args), arg_dots[1]
        if fn is attempt:
            return push_attempt(self, args, arg_dots, kwargs, kwarg_dots)
        if fn is getattr:
            return push_attribute(self, args, arg_dots)
        if fn is setattr:
            return push_setting(self, args, arg_dots)
        by_fields = push_fields(self, fn, args, arg_dots, kwargs, kwarg_dots)
        if by_fields is not None:
            return by_fields
        if is_nested(fn):
            return self.forwarding.derivatives.push(self, fn, fn_dot, args, arg_dots, kwargs, kwarg_dots)
        if isinstance(fn, types.FunctionType):
            return self.function(fn, args, arg_dots, kwargs, kwarg_dots, fn_dot)
        wrapped = python_function(fn)
        if wrapped is not None:
            return self.whole(wrapped, ZERO, args, arg_dots, kwargs, kwarg_dots)
        special = self.operator(fn, args, arg_dots)
        if special is not None:
            return special
        if is_of_sets(fn, args):
            value = fn(*args)
            return value, merged_dots(value, *zip(args, arg_dots))
        if isinstance(fn, type):
            return self.construct(fn, args, arg_dots, kwargs, kwarg_dots)
        call = getattr(type(fn), "__call__", None)  # noqa: B004  (the method itself is wanted)
        if isinstance(call, types.FunctionType):
            return self.whole(call, ZERO, (fn, *args), (fn_dot, *arg_dots), kwargs, kwarg_dots)
        if not callable(fn) or getattr(fn, "__module__", None) in ("_operator", "operator"):
            fn(*args, **kwargs)  # raises as it does in the user's function
        raise NoRuleError(
            f"{name_of(fn)} has no rule and no Python source to look into",
            hint="register one with thunkad.frule, or declare it constant with thunkad.non_differentiable",
        )

    def operator(self, fn: Any, args: Args, arg_dots: Args) -> Both | None:
        """An operator on objects of a user's class: its special method."""
        if args and isinstance(args[0], (str, bytes)) and getattr(fn, "__module__", None) in ("_operator", "operator"):
            return fn(*args), ZERO
        direct, reflected = operator_methods(fn, args)
        if direct is not None:
            found = self.whole(direct, ZERO, args, arg_dots, {}, {})
            if found[0] is not NotImplemented:
                return found
        if reflected is not None:
            return self.whole(reflected, ZERO, args[::-1], arg_dots[::-1], {}, {})
        return None

    # ------------------------------------------------------------ each sort of callee

    def rule(self, rule: Entry, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> Both:
        assert rule.function is not None
        refuse_generators(rule, args)
        dots = dots_of(rule)
        if kwargs:
            kwargs = dict(renamed(rule.target, tuple(kwargs.items())))  # type: ignore[arg-type]
            kwarg_dots = dict(renamed(rule.target, tuple(kwarg_dots.items())))  # type: ignore[arg-type]
        bound = rule.signature().bind_partial(*args, **kwargs)
        tangents = rule.signature().bind_partial(*arg_dots, **{k: kwarg_dots.get(k, ZERO) for k in kwargs}).arguments
        passed: dict[str, Any] = {}
        for p, d in dots.items():
            found = tangents.get(p, ZERO) if p in bound.arguments else ZERO
            still = isinstance(found, (tuple, list)) and _still(found)  # the items of a list, or what ``*xs`` collects
            passed[d] = ZERO if still else found
        for p in constants_of(rule, (*dots, *dots.values())):
            if not _still((tangents.get(p, ZERO),)):
                raise UnsupportedSyntaxError(f"{no_derivative_by(p, rule)} is not supported in forward mode")
        passed = with_arrays_given(rule, bound, passed)
        if rule.wants_ad():
            passed["ad"] = self.forwarding.world.handle()
        found = rule.function(*bound.args, **bound.kwargs, **passed)
        if not isinstance(found, tuple) or len(found) != 2:
            raise no_frule(rule.target, None)
        return found[0], unshared(found[1], found[0], args, arg_dots)

    def function(
        self, fn: Any, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs, fn_dot: Any = ZERO
    ) -> Both:
        """A Python function: compiled for the kinds of these arguments and for the tangents that there are."""
        if inspect.isgeneratorfunction(fn):
            return self.construct(class_of(fn), args, arg_dots, kwargs, kwarg_dots)
        if inspect.iscoroutinefunction(fn):
            raise UnsupportedSyntaxError(f"{name_of(fn)} is a coroutine and can't be differentiated")
        lifted = self.forwarding.lifted.get(getattr(fn, "lifted", fn))
        slot = slot_of(fn) if lifted is None else None
        if slot is not None:  # of generated code that is handed on
            given = ((x, dot) for x, dot in zip(args, arg_dots))
            return self.forwarding.pulled_again.bundles.run_call(slot, tuple(given))  # type: ignore[no-any-return]
        signature = inspect.signature(fn, follow_wrapped=False)
        bound = bound_call(signature, fn, args, kwargs)
        tangents = signature.bind_partial(*arg_dots, **{k: kwarg_dots.get(k, ZERO) for k in kwargs}).arguments
        tangents = {**defaults_dot(fn_dot), **tangents}
        names = tuple(bound.arguments)
        values = tuple(bound.arguments.values())
        kinds = tuple(weaken(kind_of(v)) if isinstance(v, (*LISTS, dict)) and not v else kind_of(v) for v in values)
        filled = {p for p in names if isinstance(tangents.get(p), (list, dict))}  # or to be filled
        may = {p for p, k in zip(names, kinds) if may_have_tangent(k)} | filled
        demand = tuple(p for p in names if p in may and not self.are_still((tangents.get(p, ZERO),)))
        if lifted is None:
            shared = self.forwarding.variable_bundles(fn, kinds, 2)
            tangents |= {p: dot for p, (_, dot) in shared.items()}
            names, values = (*names, *shared), (*values, *(v for v, _ in shared.values()))
            kinds += self.forwarding.variable_kinds()
            demand += tuple(p for p in shared if not _still((tangents[p],)))
        if not demand and not filled:
            return fn(*args, **kwargs), ZERO
        target, owner = (fn, fn) if lifted is None else lifted
        forwarding = self.forwarding
        with forwarding.world.lock, deep_recursion():
            summary = forwarding.summary_for(target, owner, kinds)
            demand = tuple(p for p in names if p in demand or (p in filled and p in summary.mutated))
            if not demand:
                return fn(*args, **kwargs), ZERO
            # a container that has no tangent can't receive one here: whoever holds it would not know
            blind = [p for p, v in zip(names, values) if p in summary.mutated and p not in demand and has_parts(v)]
            arrays = {p: v for p, v in zip(names, values) if isinstance(v, np.ndarray) and p in summary.overwritten}
            if self.foresees:
                arrays = {p: v for p, v in arrays.items() if not isinstance(tangents.get(p), np.ndarray)}
            demand = tuple(p for p in names if p in demand or (p in arrays and p in may))
            slot = forwarding.slot_for(target, owner, kinds, demand)
        dots = {p: tangents.get(p, ZERO) for p in demand}
        dots |= {p: tangent_buffer(dots[p], v) for p, v in arrays.items() if p in dots}
        # an array's tangent is not that of whoever else holds it
        both = {p: (v, dots.get(p)) for p, v in zip(names, values)}
        call = functools.partial(slot.cell.cell_contents, *values, *dots.values())
        return unchanged([*blind, *arrays], both, call, functools.partial(changes_argument, fn))  # type: ignore[no-any-return]

    def construct(self, cls: type, args: Args, arg_dots: Args, kwargs: Kwargs, kwarg_dots: Kwargs) -> Both:
        """A partial, a namedtuple or a dataclass without code of its own."""
        if cls is functools.partial:
            fn, *rest = args
            return functools.partial(fn, *rest, **kwargs), partial_dot(fn, arg_dots[0], arg_dots[1:], kwarg_dots)
        if issubclass(cls, BaseException):
            return cls(*args, **kwargs), NotImplementedTangent("what an exception holds is not followed")
        names = getattr(cls, "_fields", None)
        if names is None and makes_itself(cls):
            names = fields_of_init(cls)
        if names is None and is_made_by_init(cls):
            made: Any = object.__new__(cls)
            made_dot = Tangent(cls)
            self.function(init_of(cls), (made, *args), (made_dot, *arg_dots), kwargs, kwarg_dots)
            return made, made_dot
        if cls is types.SimpleNamespace and not args:
            return cls(**kwargs), Tangent(cls, {k: held(v, kwargs[k]) for k, v in kwarg_dots.items()})
        maker = maker_of(cls, len(args), tuple(kwargs)) if names is None else None
        if maker is not None:
            return self.whole(maker, ZERO, args, arg_dots, kwargs, kwarg_dots)
        if names is None:
            raise UnsupportedSyntaxError(
                f"making an object of the class {name_of(cls)} from values that are differentiated is not supported",
                hint="use a tuple, a namedtuple, a dataclass or a dict, or register a rule for the class",
            )
        refuse_own_new(cls)
        fields = {**dict(zip(names, arg_dots)), **kwarg_dots}
        if hasattr(cls, "_fields"):
            return cls(*args, **kwargs), tuple(fields.get(f, ZERO) for f in names)
        made = cls(*args, **kwargs)
        both = {k: held(fields.get(k, ZERO), v) for k, v in fields_of(made).items()}
        return made, Tangent(cls, {k: v for k, v in both.items() if not isinstance(v, AbstractZero)})


class SharedPush(Push):
    """The same for callers that have foreseen that a callee may change arrays, and gave their tangents memory."""

    foresees = True

    def call(self, fn: Any, fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs, /, *args: Any, **kwargs: Any) -> Both:
        return super().call(fn, fn_dot, arg_dots, kwarg_dots, *args, **kwargs)

    def are_still(self, dots: Any) -> bool:
        return _still(dots, filled_later=True)

    def late(self) -> Push:
        return self.forwarding.world.late_now().forwarding.dispatch_shared  # type: ignore[no-any-return]


def partial_dot(fn: Any, fn_dot: Any, arg_dots: Args, kwarg_dots: Kwargs) -> Tangent:
    """The tangent of a ``functools.partial``; one of another one holds what that one held."""
    if isinstance(fn, functools.partial):
        held_dots = entry(fn_dot, "args")
        arg_dots = (*(entry(held_dots, k) for k in range(len(fn.args))), *arg_dots)
        kwarg_dots = {**{k: entry(entry(fn_dot, "keywords"), k) for k in fn.keywords}, **kwarg_dots}
        fn_dot = entry(fn_dot, "func")
    return Tangent(functools.partial, {"func": fn_dot, "args": arg_dots, "keywords": kwarg_dots})


def _still(dots: Any, filled_later: bool = False) -> bool:
    """Whether nothing moves; ``filled_later``: a list in which nothing moves may be kept, and filled, by the callee."""
    containers = tuple if filled_later else (tuple, list)
    return all(isinstance(d, AbstractZero) or (isinstance(d, containers) and _still(d, filled_later)) for d in dots)
