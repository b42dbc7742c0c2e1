"""From a user's call of ``jvp`` to the compiled function and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.compiled import entry
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError
from thunkad.forward.linear import NotSeparable
from thunkad.kinds.lattice import Known, Opaque, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.runtime.cotangents import check_result, dense
from thunkad.runtime.dots import outward, tangent_buffer, tangent_for
from thunkad.runtime.residuals import snapshot
from thunkad.tangents import ZERO, AbstractZero


def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """See :func:`thunkad.jvp`."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentError("jvp(f, primals, tangents): primals and tangents are tuples, one entry for each argument")
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp: {len(primals)} primals and {len(tangents)} tangents")
    call = entry.open_call(f, tuple(primals), {})
    dots = dots_of(call, primals, tangents)
    wanted = tuple(name for name in call.names if name in dots)
    specialization, _ = entry.specialize(call, "jvp", [(name, None) for name in wanted], False, False, call.kinds())
    by_name = dict(zip(call.names, call.values))
    passed = (tuple(dots[name]) if isinstance(by_name[name], tuple) else dots[name] for name in wanted)
    value, value_dot = entry.Run(specialization).first((*call.values, *passed))
    check_result(value, "jvp")
    return value, outward(value_dot, value)


def dots_of(call: entry.Call, primals: Any, tangents: Any) -> dict[str, Any]:
    """The tangents that a user passed, checked, by the parameters that they belong to."""
    by_name = dict(zip(call.names, call.values))
    dots: dict[str, Any] = {}
    for k, ((name, inside), primal, tangent) in enumerate(zip(call.positional, primals, tangents)):
        dot = tangent_for(tangent, primal, f"argument {k}")
        if isinstance(dot, AbstractZero) or is_empty(dot):
            continue
        kind = kind_of(primal)
        if not may_have_tangent(kind) or isinstance(kind, (Known, Opaque)):
            raise NonDifferentiableArgumentError(
                f"argument {k} can't have a tangent: it is of type {type(primal).__name__}"
            )
        if inside is None:
            dots[name] = dot
        else:
            parts = dots.setdefault(name, [ZERO] * len(by_name[name]))
            parts[inside] = dot
    return dots


def is_empty(dot: Any) -> bool:
    """Whether a tangent is a container in which nothing is."""
    if isinstance(dot, dict):
        dot = tuple(dot.values())
    return isinstance(dot, (list, tuple)) and all(map(is_empty, dot))


def linearize(
    f: Callable[..., Any], primals: tuple[Any, ...], numbers: tuple[int, ...] | None = None
) -> tuple[Any, Callable[..., Any]]:
    """See :func:`thunkad.linearize`; ``numbers`` are the arguments that may be given tangents (None: all)."""
    primals = tuple(map(snapshot, primals))  # the map stays at the point that it was made at
    call = entry.open_call(f, primals, {})
    kinds = call.kinds()
    by_name = dict(zip(call.names, kinds))
    moving = [
        (name, inside)
        for k, (name, inside) in enumerate(call.positional)
        if (numbers is None or k in numbers) and may_have_tangent(by_name[name])
        if not isinstance(by_name[name], (Known, Opaque))
    ]
    wanted = tuple(dict.fromkeys(name for name, _ in moving))
    try:
        specialization, _ = entry.specialize(call, "linearize", [(name, None) for name in wanted], False, False, kinds)
        run = entry.Run(specialization)
        value, saved = run.first(call.values)
    except NotSeparable:
        return again(call, primals, wanted)
    check_result(value, "linearize")
    values = dict(zip(call.names, call.values))
    shape = snapshot(value)  # which the user may change

    def pushforward(*tangents: Any) -> Any:
        check_count(primals, tangents)
        dots = dots_of(call, primals, tangents)
        given = (given_dot(dots.get(name, ZERO), values[name]) for name in wanted)
        assert specialization.linear is not None
        return outward(run.rest(specialization.linear, saved, *given), shape)

    return value, pushforward


def check_count(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
    """A linear map takes one tangent for each argument."""
    if len(tangents) != len(primals):
        raise ArgumentError(f"the linear map takes {len(primals)} tangents, one for each argument, not {len(tangents)}")


def again(call: entry.Call, primals: tuple[Any, ...], wanted: tuple[str, ...]) -> tuple[Any, Callable[..., Any]]:
    """A linear map that runs the function each time, of which no other can be made; always with the same rules."""
    places: list[tuple[str, Any]] = [(name, None) for name in wanted]
    specialization, _ = entry.specialize(call, "jvp", places, False, False, call.kinds())
    run = entry.Run(specialization)
    values = dict(zip(call.names, call.values))

    def everything(dots: dict[str, Any]) -> tuple[Any, ...]:
        given = (given_dot(dots.get(name, ZERO), values[name]) for name in wanted)
        return (*map(snapshot, call.values), *given)

    def pushforward(*tangents: Any) -> Any:
        check_count(primals, tangents)
        value, value_dot = run.rest(specialization.call, *everything(dots_of(call, primals, tangents)))
        return outward(value_dot, value)

    return run.first(everything({}))[0], pushforward


def given_dot(dot: Any, value: Any) -> Any:
    """A tangent of ``value`` in the form that compiled code takes where ``value`` moves."""
    if isinstance(value, (float, int, complex, np.ndarray, np.generic)):
        return dense(dot, value)
    if isinstance(dot, AbstractZero):
        return tangent_buffer(dot, value)
    return tuple(dot) if isinstance(value, tuple) else dot
