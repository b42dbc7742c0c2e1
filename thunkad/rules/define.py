"""How rules are written.

Every decorator here takes ``layer``; the public names bind it to ``"user"`` and the library's own modules import them
from :mod:`thunkad.rules.library`, which binds it to ``"library"``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from thunkad.errors import RuleError
from thunkad.rules.entry import ALTERNATIVE, FRULE, NON_DIFFERENTIABLE, OPT_OUT, RRULE, Entry, name_of
from thunkad.rules.table import TABLE
from thunkad.runtime.arrays import conjugate, stretch, unbroadcast
from thunkad.tangents import ZERO, AbstractZero, thunk

F = TypeVar("F", bound=Callable[..., Any])


def rrule(fn: Any, *, keep_thunks: bool = False, surrogate: bool = False, layer: str = "user") -> Callable[[F], F]:
    """Register the decorated function as the reverse rule of ``fn``.

    The rule takes the arguments of ``fn`` and returns ``(value, pullback)``; ``pullback(value_bar)`` returns one cotangent
    for every positional parameter of the rule (none for keyword-only ones), plain or as a thunk.  A rule that returns None
    says "look inside the function".  Annotations of the parameters are the typed signature.

    Parameters
    ----------
    fn : callable
        The function that the rule is for.
    keep_thunks : bool
        Hand unforced thunks to the pullback.
    surrogate : bool
        The rule is not the true derivative (straight-through, clipping); second order then takes another path.
    """

    def register(rule: F) -> F:
        _check_parameters(fn, rule)
        TABLE.add(Entry(RRULE, fn, rule, layer, keep_thunks=keep_thunks, surrogate=surrogate))
        return rule

    return register


def frule(fn: Any, *, layer: str = "user") -> Callable[[F], F]:
    """Register the decorated function as the forward rule of ``fn``.

    The rule takes the arguments of ``fn`` and, for each positional parameter ``a``, a keyword-only ``a_dot``, which is a
    :class:`ZeroTangent` where the argument has no tangent; it returns ``(value, value_dot)``.
    """

    def register(rule: F) -> F:
        TABLE.add(Entry(FRULE, fn, rule, layer))
        return rule

    return register


def scalar_rule(fn: Any, *partials: Callable[..., Any], layer: str = "user") -> None:
    """Register an elementwise function by its partial derivatives; reverse and forward rule follow.

    Parameters
    ----------
    fn : callable
        An elementwise function of one or more arguments, with NumPy broadcasting.
    *partials : callable
        Either one function ``(result, *args) -> partial`` for each argument, or a single one that returns a tuple of all
        partials.  Complex functions must be holomorphic in their arguments.
    """
    if not partials or not all(callable(p) for p in partials):
        raise RuleError(f"scalar_rule({name_of(fn)}, …) needs the partial derivatives as functions of (result, *args)")
    TABLE.add(Entry(RRULE, fn, _elementwise_rrule(fn, partials), layer, types=(), partials=partials))
    TABLE.add(Entry(FRULE, fn, _elementwise_frule(fn, partials), layer, types=(), partials=partials))


def non_differentiable(*fns: Any, layer: str = "user") -> None:
    """Declare that no derivative flows through these functions: their results are constants."""
    for fn in fns:
        TABLE.add(Entry(NON_DIFFERENTIABLE, fn, None, layer, types=()))


def opt_out(fn: Any, *types: Any, layer: str = "user") -> None:
    """Say "no rule here: look inside ``fn``" for arguments of these types (for all arguments when none are given)."""
    TABLE.add(Entry(OPT_OUT, fn, None, layer, types=types))


def opt_in(fn: Any, *types: Any, layer: str = "user") -> None:
    """Undo ``opt_out(fn, *types)``; without types, every opt-out of ``fn``.  Does nothing if there is none."""
    for entry in TABLE.snapshot.entries(fn):
        if entry.kind == OPT_OUT and entry.layer == layer and (not types or entry.types == types):
            TABLE.remove(entry)


def alternative(fn: Any, *, types: tuple[Any, ...] = (), layer: str = "user") -> Callable[[F], F]:
    """Register the decorated Python function as the body to look inside of in place of ``fn``'s own.

    ``types`` are those of the leading arguments for which it holds.
    """

    def register(body: F) -> F:
        TABLE.add(Entry(ALTERNATIVE, fn, body, layer, types=types))
        return body

    return register


def _check_parameters(fn: Any, rule: Callable[..., Any]) -> None:
    if not callable(fn) and not hasattr(fn, "__get__"):
        raise RuleError(f"rrule needs the function that the rule is for, not {fn!r}")
    code = getattr(rule, "__code__", None)
    if code is not None and code.co_flags & inspect.CO_VARKEYWORDS:
        raise RuleError(f"the rule for {name_of(fn)} takes **keywords; name the keywords that it supports")


def partials_at(
    partials: tuple[Callable[..., Any], ...], count: int, k: int, result: Any, args: tuple[Any, ...]
) -> Any:
    """Partial number ``k`` of ``count``, from either way of giving them."""
    if len(partials) == 1 and count > 1:
        return partials[0](result, *args)[k]
    return partials[k](result, *args)


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

            return tuple(thunk(lambda k=k: entry(k)) for k in range(len(args)))

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
    names = [p.name for p in _elementwise_signature(partials).parameters.values()]
    rule.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in names]
        + [inspect.Parameter(f"{p}_dot", inspect.Parameter.KEYWORD_ONLY) for p in names]
    )
    return rule


def _elementwise_signature(partials: tuple[Callable[..., Any], ...]) -> inspect.Signature:
    parameters = list(inspect.signature(partials[0]).parameters.values())[1:]
    return inspect.Signature([inspect.Parameter(p.name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in parameters])
