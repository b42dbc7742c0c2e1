"""A rule for a function that can only be called: no source, no derivative known."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from thunkad.errors import RuleError
from thunkad.rules.define import register, target_of_rule
from thunkad.rules.entry import FRULE, RRULE, Entry
from thunkad.runtime.arrays import is_zero
from thunkad.runtime.cotangents import entry
from thunkad.runtime.numerical import (
    DIFFERENCE_STEP,
    Slope,
    by_complex_step,
    by_differences,
    numerical_bar,
    numerical_dot,
)
from thunkad.tangents import ZERO, thunk

SLOPES: dict[str, Slope] = {"differences": by_differences, "complex step": by_complex_step}


def numerical_rule(fn: Any, *, method: str = "differences", step: float = DIFFERENCE_STEP) -> None:
    """Differentiate ``fn`` numerically: for a function without source and rule, when nothing better is at hand.

    Parameters
    ----------
    fn : callable
        A smooth function of numbers and arrays, whose result is a number, an array, or a tuple or list of these.
    method : {'differences', 'complex step'}
        Central differences, extrapolated once: the relative error is about ``step**4`` (1e-10 for a function that
        varies on a scale of one); four calls of ``fn`` for each number in a wanted argument, and four for a tangent.
        Or a step into the complex plane: exact to rounding, one call for each number, for functions of real arguments
        that are analytic and take complex numbers.
    step : float
        The step of the differences, relative to an argument beyond one.

    Notes
    -----
    Arguments that are not demanded cost nothing.  Second derivatives are not supported.
    """
    if method not in SLOPES:
        raise RuleError(f"method is 'differences' or 'complex step', not {method!r}")
    slope, target = SLOPES[method], target_of_rule(fn)
    signature = _positional(fn)

    def rule(*args: Any, **kwargs: Any) -> Any:
        value = fn(*args, **kwargs)

        def bar(place: Any, y_bar: Any) -> Any:
            x = args[place] if isinstance(place, int) else kwargs[place]

            def moved(x: Any) -> Any:
                if isinstance(place, int):
                    return fn(*args[:place], x, *args[place + 1 :], **kwargs)
                return fn(*args, **{**kwargs, place: x})

            return numerical_bar(slope, moved, x, y_bar, step)

        def pullback(y_bar: Any) -> tuple[Any, ...]:
            def lazy(place: Any) -> Any:
                return thunk(lambda: bar(place, y_bar))

            return _by_parameter(signature, args, kwargs, lazy)

        return value, pullback

    rule.first_order_only = True  # type: ignore[attr-defined]

    def forward(*args: Any, **both: Any) -> Any:
        dots = {p: both.pop(f"{p}_dot", ZERO) for p in _names(signature)}
        value = fn(*args, **both)
        flat = _by_parameter(signature, args, both, lambda place: place)
        places, moving = [], []
        for p, found in zip(_names(signature), flat):
            several = isinstance(found, tuple)
            for k, place in enumerate(found if several else (found,)):
                if not is_zero(place):
                    places.append(place)
                    moving.append(entry(dots[p], k) if several else dots[p])

        def f(values: list[Any]) -> Any:
            given = dict(zip(places, values))
            return fn(
                *(given.get(k, a) for k, a in enumerate(args)),
                **{name: given.get(name, a) for name, a in both.items()},
            )

        values = [args[place] if isinstance(place, int) else both[place] for place in places]
        return value, numerical_dot(slope, f, values, moving, value, step)

    for made, kind in ((rule, RRULE), (forward, FRULE)):
        made.__name__ = getattr(fn, "__name__", "rule")
        made.__signature__ = signature if kind == RRULE else _with_dots(signature)  # type: ignore[attr-defined]
        register(Entry(kind, target, made, "user", types=()))


def _positional(fn: Any) -> inspect.Signature:
    """The parameters of ``fn`` as a rule may have them; ``*args`` if they can't be found out."""
    try:
        found = inspect.signature(fn)
    except (TypeError, ValueError):
        return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    kept = [
        p.replace(annotation=p.empty, kind=p.POSITIONAL_OR_KEYWORD if p.kind is p.POSITIONAL_ONLY else p.kind)
        for p in found.parameters.values()
        if p.kind is not p.VAR_KEYWORD
    ]
    return inspect.Signature(kept)


def _names(signature: inspect.Signature) -> list[str]:
    return [p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]


def _with_dots(signature: inspect.Signature) -> inspect.Signature:
    dots = [inspect.Parameter(f"{p}_dot", inspect.Parameter.KEYWORD_ONLY) for p in _names(signature)]
    return signature.replace(parameters=[*signature.parameters.values(), *dots])


def _by_parameter(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], of_place: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """One entry for each positional parameter of the rule, made of the place that the call gave it in."""
    out: list[Any] = []
    for k, p in enumerate(q for q in signature.parameters.values() if q.kind is not q.KEYWORD_ONLY):
        if p.kind is p.VAR_POSITIONAL:
            out.append(tuple(of_place(j) for j in range(k, len(args))))
        else:
            out.append(of_place(k) if k < len(args) else of_place(p.name) if p.name in kwargs else ZERO)
    return tuple(out)
