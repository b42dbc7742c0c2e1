"""How rules are written.

Every decorator here takes ``layer``; the public names bind it to ``"user"`` and the library's own modules import them
from :mod:`thunkad.rules.library`, which binds it to ``"library"``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from thunkad.errors import RuleError, RuleWarning
from thunkad.rules.entry import (
    ALTERNATIVE,
    FRULE,
    NON_DIFFERENTIABLE,
    OPT_OUT,
    RRULE,
    Entry,
    name_of,
    place_at,
    place_of_user,
)
from thunkad.rules.resolve import ambiguous
from thunkad.rules.results import described
from thunkad.rules.signatures import as_signature, covers, meet, read_early, signature_types
from thunkad.rules.table import TABLE
from thunkad.runtime.arrays import conjugate, stretch, unbroadcast
from thunkad.source.origin import library_of
from thunkad.source.wrapped import python_function
from thunkad.tangents import ZERO, AbstractZero, thunk

F = TypeVar("F", bound=Callable[..., Any])


def rrule(fn: Any, *, keep_thunks: bool = False, surrogate: bool = False, layer: str = "user") -> Callable[[F], F]:
    """Register the decorated function as the reverse rule of ``fn``.

    The rule takes the arguments of ``fn`` and returns ``(value, pullback)``; ``pullback(value_bar)`` returns one
    cotangent for every positional parameter of the rule (none for keyword-only ones), plain or as a thunk.  A rule that
    returns None says "look inside the function".  Annotations of the parameters are the typed signature.

    Parameters
    ----------
    fn : callable
        The function that the rule is for.
    keep_thunks : bool
        Hand unforced thunks to the pullback, as they are: their values may be complex where the result is real.
    surrogate : bool
        The rule is not the true derivative (straight-through, clipping); second order then takes another path.
    """

    target = target_of_rule(fn)

    def keep(rule: F) -> F:
        _check_parameters(fn, rule)
        register(Entry(RRULE, target, rule, layer, keep_thunks=keep_thunks, surrogate=surrogate))
        return rule

    return keep


def frule(fn: Any, *, layer: str = "user") -> Callable[[F], F]:
    """Register the decorated function as the forward rule of ``fn``.

    The rule takes the arguments of ``fn`` and, for each positional parameter ``a``, a keyword-only ``a_dot``, which is
    a :class:`ZeroTangent` where the argument has no tangent; it returns ``(value, value_dot)``.
    """

    target = target_of_rule(fn)

    def keep(rule: F) -> F:
        register(Entry(FRULE, target, rule, layer))
        return rule

    return keep


def scalar_rule(fn: Any, *partials: Callable[..., Any], layer: str = "user") -> None:
    """Register an elementwise function by its partial derivatives; reverse and forward rule follow.

    Parameters
    ----------
    fn : callable
        An elementwise function of one or more arguments, with NumPy broadcasting.
    *partials : callable
        Either one function ``(result, *args) -> partial`` for each argument, or a single one that returns a tuple of
        all partials.  Complex functions must be holomorphic in their arguments.
    """
    if not partials or not all(callable(p) for p in partials):
        raise RuleError(f"scalar_rule({name_of(fn)}, …) needs the partial derivatives as functions of (result, *args)")
    target_of_rule(fn)
    if layer == "user":
        _check_partials(fn, partials)
    with TABLE.bulk():
        register(Entry(RRULE, fn, _elementwise_rrule(fn, partials), layer, types=(), partials=partials))
        register(Entry(FRULE, fn, _elementwise_frule(fn, partials), layer, types=(), partials=partials))


def non_differentiable(*fns: Any, layer: str = "user") -> None:
    """Declare that no derivative flows through these functions: their results are constants."""
    with TABLE.bulk():
        for fn in fns:
            register(Entry(NON_DIFFERENTIABLE, target_of_rule(fn), None, layer, types=()))


def opt_out(fn: Any, *types_: Any, layer: str = "user") -> None:
    """Say "no rule here: look inside ``fn``" for arguments of these types (for all arguments when none are given)."""
    register(Entry(OPT_OUT, target_of_rule(fn), None, layer, types=as_signature(types_)))


def opt_in(fn: Any, *types_: Any, layer: str = "user") -> None:
    """Undo ``opt_out(fn, *types)``; without types, every opt-out of ``fn``.  Does nothing if there is none."""
    fn = target_of_rule(fn)
    wanted = as_signature(types_)
    with TABLE.lock:
        found = [e for e in TABLE.pending(fn) if e.kind == OPT_OUT and e.layer == layer]
        TABLE.remove(*(e for e in found if not types_ or signature_types(e) == wanted))


def alternative(
    fn: Any,
    *,
    types: tuple[Any, ...] = (),
    keywords: tuple[str, ...] = (),
    mode: str | None = None,
    layer: str = "user",
) -> Callable[[F], F]:
    """Register the decorated Python function as the body to look inside of in place of ``fn``'s own.

    ``types`` are those of the leading arguments for which it holds.  With ``keywords`` it is for calls that give one of
    these parameters, which the rule for ``fn`` does without; with ``mode`` where rules of that kind are looked for.
    """

    def keep(body: F) -> F:
        signature = as_signature(types)
        register(Entry(ALTERNATIVE, target_of_rule(fn), body, layer, types=signature, keywords=keywords, mode=mode))
        return body

    return keep


def target_of_rule(fn: Any) -> Any:
    """What registrations for ``fn`` are kept under: for a property the function that computes it.

    Raises
    ------
    RuleError
        ``fn`` is no function, or a method bound to an object: calls resolve to its function, whatever the object.
    """
    if isinstance(fn, (staticmethod, classmethod)):
        return fn.__func__
    if not callable(fn) and not hasattr(fn, "__get__"):
        raise RuleError(f"rules and declarations are for functions, not for {fn!r}", place_of_user())
    if isinstance(fn, property):
        return fn.fget
    if library_of(type(fn)) == "numba":
        return python_function(fn) or fn
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, types.FunctionType):
        raise RuleError(
            f"{name_of(fn)} is bound to an object, and rules are for functions",
            hint=f"register the rule for {fn.__func__.__qualname__}; its first parameter is the object"
            if not isinstance(fn.__self__, type)
            else f"register the rule for {fn.__qualname__}.__func__; its first parameter is the class",
        )
    return fn


def register(entry: Entry) -> None:
    """Put ``entry`` into the table, unless it would be ambiguous with another one of the user's."""
    if entry.layer == "user":
        _refuse_objects(entry.target)
        entry.target = one_spelling(entry.target)
        if entry.function is None:
            entry.declared = place_of_user()
        read_early(entry, 2)
        with TABLE.lock:
            _check_unambiguous(entry)
            TABLE.add(entry)
        _warn_of_opt_out(entry)
    else:
        TABLE.add(entry)


def _refuse_objects(fn: Any) -> None:
    """Objects that are called by way of their class: which one it is is seldom known when a derivative is compiled."""
    if isinstance(fn, functools.partial):
        raise RuleError(
            f"{name_of(fn)} is a partial, and rules are for functions",
            hint=f"register the rule for {name_of(fn.func)}, with all its parameters",
        )
    cls = type(fn)
    compiled = library_of(cls) in ("numpy", "numba")
    if isinstance(getattr(cls, "__call__", None), types.FunctionType) and not compiled:  # noqa: B004
        raise RuleError(
            f"{fn!r} is an object that is called, and rules are for functions",
            hint=f"register the rule for {cls.__qualname__}.__call__; its first parameter is the object",
        )


def _warn_of_opt_out(entry: Entry) -> None:
    """Say so if the registration has no effect, since an opt-out for the same types goes before it."""
    if entry.kind not in (RRULE, FRULE, NON_DIFFERENTIABLE):
        return
    for other in TABLE.pending(entry.target):
        if other.kind == OPT_OUT and other.layer == "user" and signature_types(other) == signature_types(entry):
            name = name_of(entry.target)
            warnings.warn(
                f"this registration for {name} has no effect: an opt-out (thunkad.opt_out) for the same types is there "
                f"already and goes before it; thunkad.opt_in takes the opt-out back",
                RuleWarning,
                stacklevel=4,
            )


def one_spelling(fn: Any) -> Any:
    """The function that calls of a method or attribute of arrays resolve to: ``np.sum`` for ``np.ndarray.sum``."""
    if getattr(fn, "__objclass__", None) is not np.ndarray:
        return fn
    # by name: the library is written with this module, and is read in when it is first needed
    methods = importlib.import_module("thunkad.rules.numpy.methods")
    return methods.METHODS.get(fn.__name__) or methods.ATTRIBUTES.get(fn.__name__) or fn


def _check_unambiguous(entry: Entry) -> None:
    """Refuse two typed rules that overlap where neither is more specific, if the table can already tell."""
    mine = signature_types(entry)
    others = [e for e in TABLE.pending(entry.target) if e.layer == entry.layer and competes(e, entry)]
    for other in others:
        theirs = signature_types(other)
        if covers(mine, theirs) or covers(theirs, mine):
            continue
        both = meet(mine, theirs)
        if both is not None and not any(
            covers(s, both) and covers(mine, s) and covers(theirs, s) for s in map(signature_types, others)
        ):
            raise ambiguous(other, entry)


def competes(a: Entry, b: Entry) -> bool:
    """Whether the two registrations may both be meant by one look-up."""
    if ALTERNATIVE in (a.kind, b.kind):
        return a.kind == b.kind
    return {a.kind, b.kind} != {RRULE, FRULE}


def _check_parameters(fn: Any, rule: Callable[..., Any]) -> None:
    code = getattr(rule, "__code__", None)
    if code is not None and code.co_flags & inspect.CO_VARKEYWORDS:
        raise RuleError(f"the rule for {name_of(fn)} takes **keywords; name the keywords that it supports")


def _check_partials(fn: Any, partials: tuple[Callable[..., Any], ...]) -> None:
    """Each partial derivative takes the result and every argument, and there are as many of them as arguments."""
    try:
        count = len(_elementwise_signature(partials).parameters)
    except (TypeError, ValueError):
        return
    code = getattr(partials[0], "__code__", None)
    place = place_at(code.co_filename, code.co_firstlineno) if code is not None else place_of_user()
    if len(partials) not in (1, count):
        raise RuleError(
            f"scalar_rule({name_of(fn)}, …) has {len(partials)} partial derivatives, and they take {count} arguments "
            "besides the result",
            place,
            "give one function (result, *args) for each argument, or a single one that returns a tuple of all",
        )
    taken = fn.nin if isinstance(fn, np.ufunc) else _positional(fn)
    if taken is not None and taken != count:
        raise RuleError(
            f"scalar_rule({name_of(fn)}, …): the function takes {taken} arguments, and its partial derivatives {count} "
            "besides the result",
            place,
            "partial derivatives are functions of the result and all arguments: (result, *args)",
        )


def _positional(fn: Any) -> int | None:
    """How many arguments a Python function takes, if it is always as many."""
    code = fn.__code__ if type(fn) is types.FunctionType else None
    if code is None or code.co_flags & inspect.CO_VARARGS or fn.__defaults__:
        return None
    return int(code.co_argcount)


def partials_at(
    partials: tuple[Callable[..., Any], ...], count: int, k: int, result: Any, args: tuple[Any, ...]
) -> Any:
    """Partial number ``k`` of ``count``, from either way of giving them."""
    if len(partials) == 1 and count > 1:
        found = partials[0](result, *args)
        if type(found) not in (tuple, list) or len(found) != count:
            raise wrong_partials(partials[0], count, found)
        return found[k]
    return partials[k](result, *args)


def wrong_partials(partial: Callable[..., Any], count: int, found: Any) -> RuleError:
    """The error for a single function that doesn't return all partial derivatives."""
    code = getattr(partial, "__code__", None)
    return RuleError(
        f"the partial derivatives of a scalar_rule for {count} arguments are {described(found)}",
        None if code is None else place_at(code.co_filename, code.co_firstlineno),
        f"give scalar_rule {count} functions, or one that returns a tuple of {count} partial derivatives",
    )


def _elementwise_rrule(fn: Any, partials: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def rule(*args: Any) -> Any:
        result = fn(*args)

        def pullback(result_bar: Any) -> tuple[Any, ...]:
            def entry(k: int) -> Any:
                partial = partials_at(partials, len(args), k, result, args)
                return (
                    partial
                    if isinstance(partial, AbstractZero)
                    else unbroadcast(result_bar * conjugate(partial), args[k])
                )

            return tuple(thunk(lambda k=k: entry(k)) for k in range(len(args)))  # type: ignore[misc]  # default of a lambda

        return result, pullback

    rule.__name__ = getattr(fn, "__name__", "rule")
    rule.__signature__ = _elementwise_signature(partials)  # type: ignore[attr-defined]
    return rule


def _elementwise_frule(fn: Any, partials: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def rule(*args: Any, **dots: Any) -> Any:
        result = fn(*args)
        total: Any = None
        for k, dot in enumerate(dots.values()):
            if not isinstance(dot, AbstractZero):
                term = partials_at(partials, len(args), k, result, args) * dot
                total = term if total is None else total + term
        return result, ZERO if total is None or isinstance(total, AbstractZero) else stretch(total, result)

    rule.__name__ = getattr(fn, "__name__", "rule")
    rule.__signature__ = _signature(tuple(_elementwise_signature(partials).parameters), dots=True)  # type: ignore[attr-defined]
    return rule


def _elementwise_signature(partials: tuple[Callable[..., Any], ...]) -> inspect.Signature:
    first = partials[0]
    if (
        isinstance(first, types.FunctionType)
        and not first.__dict__
        and not first.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    ):  # in a tenth of the time
        names: Any = first.__code__.co_varnames[1 : first.__code__.co_argcount + first.__code__.co_kwonlyargcount]
    else:
        names = [*inspect.signature(first).parameters][1:]
    return _signature(tuple(names))


@functools.cache
def _signature(names: tuple[str, ...], dots: bool = False) -> inspect.Signature:
    """Of positional parameters, with or without a keyword-only tangent for each."""
    parameters = [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in names]
    if dots:
        parameters += [inspect.Parameter(f"{p}_dot", inspect.Parameter.KEYWORD_ONLY) for p in names]
    return inspect.Signature(parameters)
