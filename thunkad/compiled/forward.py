"""From a user's call of ``jvp`` to the compiled function and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.compiled import entry
from thunkad.compiled.before import Before
from thunkad.compiled.replay import FirstRun
from thunkad.errors import ArgumentError, NonDifferentiableArgumentError, NoRuleError, UnsupportedSyntaxError
from thunkad.forward.linear import NotSeparable
from thunkad.kinds.lattice import Kind, Known, Opaque, may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.records import replace
from thunkad.runtime.cotangents import check_result, dense, project
from thunkad.runtime.cotangents import entry as entry_of
from thunkad.runtime.dots import check_directions, outward, tangent_buffer, tangent_for
from thunkad.runtime.lanes import NotStackable, Stack
from thunkad.runtime.residuals import snapshot
from thunkad.runtime.stacked import Lanes
from thunkad.tangents import ZERO, AbstractZero, unthunk


def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """See :func:`thunkad.jvp`."""
    check_directions(primals, tangents, "jvp", "tangents")
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
        check_moving(primal, kind_of(primal), f"argument {k}")
        if inside is None:
            dots[name] = dot
        else:
            parts = dots.setdefault(name, [ZERO] * len(by_name[name]))
            parts[inside] = dot
    return dots


def check_moving(primal: Any, kind: Kind, what: str) -> None:
    """Refuse a tangent for what has none."""
    if not may_have_tangent(kind) or isinstance(kind, (Known, Opaque)):
        raise NonDifferentiableArgumentError(f"{what} can't have a tangent: it is of type {type(primal).__name__}")


def is_empty(dot: Any) -> bool:
    """Whether a tangent is a container in which nothing is."""
    if isinstance(dot, dict):
        dot = tuple(dot.values())
    return isinstance(dot, (list, tuple)) and all(map(is_empty, dot))


def linearize(
    f: Callable[..., Any], primals: tuple[Any, ...], numbers: tuple[int, ...] | None = None
) -> tuple[Any, Callable[..., Any]]:
    """See :func:`thunkad.linearize`; ``numbers`` are the arguments that may be given tangents (None: all)."""
    found = once(f, primals, numbers, True)
    assert found is not None
    return found


def once(
    f: Callable[..., Any], primals: tuple[Any, ...], numbers: tuple[int, ...] | None, otherwise: bool = False
) -> tuple[Any, Callable[..., Any]] | None:
    """The same for code of which a map can be made that does not run it again; else None, with everything as it was.

    ``otherwise``: else a map that runs the function each time.
    """
    given, primals = primals, snapshot(primals)  # the map stays at the point that it was made at
    call = entry.open_call(f, primals, {})
    own = {id(x) for x in primals}
    call = replace(call, values=tuple(v if id(v) in own else snapshot(v) for v in call.values))
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
    except NotSeparable:
        return again(call, primals, wanted, given) if otherwise else None
    check_given(specialization, call, primals, given)
    run = entry.Run(specialization)
    try:
        value, saved = attempt(run, call, snapshot(call.values))  # which it may change
    except NotSeparable:
        return again(call, primals, wanted, given) if otherwise else None
    check_result(value, "linearize")
    return value, linear_map(call, run, primals, wanted, value, saved)


def both(f: Callable[..., Any], primals: tuple[Any, ...], numbers: tuple[int, ...]) -> Any:
    """The value of ``f``, its pullback and its linear map for these arguments, real arrays or numbers, by one run.

    None if that can't be.
    """
    given, primals = primals, snapshot(primals)
    begun = begin(f, "both", primals, numbers, given)
    if begun is None:
        return None
    call, wanted, run = begun
    value, saved, kept = attempt(run, call, snapshot(call.values))
    check_result(value, "jacobian")
    return value, pullback_of(run, kept, primals, numbers), linear_map(call, run, primals, wanted, value, saved)


def attempt(run: entry.Run, call: entry.Call, values: tuple[Any, ...]) -> Any:
    """The first run; where it turns out that there is no such code, what it has changed around it is put back."""
    world = run.specialization.world
    before = Before(call.root.fn, *call.values) if world.keeps or world.shared else None
    try:
        return run.first(values)
    except (NotSeparable, UnsupportedSyntaxError, NoRuleError):
        if before is not None:
            before.restore()
        raise


def rows(f: Callable[..., Any], primals: tuple[Any, ...], numbers: tuple[int, ...]) -> Any:
    """The value of ``f`` and its pullback for these arguments, which has ``.rows(seeds)`` for a stack of cotangents.

    None if that can't be.
    """
    begun = begin(f, "rows", primals, numbers, primals)
    if begun is None:
        return None
    call, _, run = begun
    value, kept = attempt(run, call, call.values)
    check_result(value, "jacobian")
    pullback = pullback_of(run, kept, primals, numbers)

    def many(seeds: np.ndarray) -> Any:
        found = run.rest(run.specialization.in_lanes(), Lanes(len(seeds)), kept, Stack(seeds))
        parts = zip(numbers, found if len(numbers) > 1 else (found,))
        return {k: rows_of(unthunk(part), primals[k], len(seeds)) for k, part in parts}

    pullback.rows = many  # type: ignore[attr-defined]
    return value, pullback


def begin(
    f: Callable[..., Any], product: str, primals: tuple[Any, ...], numbers: tuple[int, ...], given: tuple[Any, ...]
) -> tuple[entry.Call, tuple[str, ...], entry.Run] | None:
    """A call of ``f`` for a Jacobian by these arguments, copies of those ``given``; None if there is no such code."""
    call = entry.open_call(f, primals, {})
    wanted = tuple(call.positional[k][0] for k in numbers)
    if len(set(wanted)) < len(numbers) or any(call.positional[k][1] is not None for k in numbers):
        return None
    try:
        places: list[tuple[str, Any]] = [(name, None) for name in wanted]
        specialization, _ = entry.specialize(call, product, places, False, False, call.kinds())
    except (NotSeparable, UnsupportedSyntaxError, NoRuleError):
        return None
    check_given(specialization, call, primals, given)
    return call, wanted, entry.Run(specialization)


def check_given(specialization: Any, call: entry.Call, copies: tuple[Any, ...], given: tuple[Any, ...]) -> None:
    """Refuse arguments that share memory which is changed: of the copies it can't be seen."""
    if specialization.check is not None:
        originals = {id(copy): x for copy, x in zip(copies, given)}
        specialization.check(tuple(originals.get(id(v), v) for v in call.values))


def pullback_of(run: entry.Run, kept: Any, primals: tuple[Any, ...], numbers: tuple[int, ...]) -> Callable[..., Any]:
    """The reverse half of compiled code: cotangents of the arguments by their numbers."""

    def pullback(value_bar: Any) -> Any:
        assert run.specialization.reverse is not None
        found = run.rest(run.specialization.reverse, kept, value_bar)
        parts = dict(zip(numbers, found if len(numbers) > 1 else (found,)))
        return {k: project(dense(part, primals[k]), primals[k]) for k, part in parts.items()}

    return pullback


def rows_of(found: Any, x: Any, count: int) -> np.ndarray:
    """The cotangents of the real ``x`` in every lane."""
    data = found.data if isinstance(found, Stack) else np.asarray(dense(found, x))
    data = np.broadcast_to(data, (count, *np.shape(x)))
    return np.asarray(data.real if np.iscomplexobj(data) else data, dtype=np.asarray(x).dtype)


def linear_map(
    call: entry.Call, run: entry.Run, primals: tuple[Any, ...], wanted: tuple[str, ...], value: Any, saved: Any
) -> Callable[..., Any]:
    """The map that the linear half of compiled code is, of what its primal half has ``saved``."""
    specialization = run.specialization
    values = dict(zip(call.names, call.values))
    shape = snapshot(value)  # which the user may change

    def pushforward(*tangents: Any) -> Any:
        check_count(primals, tangents)
        dots = dots_of(call, primals, tangents)
        given = (given_dot(dots.get(name, ZERO), values[name]) for name in wanted)
        assert specialization.linear is not None
        return outward(run.rest(specialization.linear, saved, *given), shape)

    def columns(number: int, basis: np.ndarray) -> Any:
        """The tangents of the value for many tangents of one argument, stacked along their last axis."""
        name, inside = call.positional[number]
        if inside is not None:
            raise NotStackable("one of any number of arguments")
        dots = {name: Stack(basis)}
        given = (dots[name] if name in dots else given_dot(ZERO, values[name]) for name in wanted)
        found = run.rest(specialization.in_lanes(), Lanes(len(basis)), saved, *given)
        return side_by_side(found, shape, len(basis))

    pushforward.columns = columns  # type: ignore[attr-defined]
    return pushforward


def side_by_side(found: Any, value: Any, count: int) -> Any:
    """The tangents of ``value`` in every lane as arrays whose last axis is that of the lanes."""
    found = unthunk(found)
    if isinstance(value, (list, tuple)):
        parts = [side_by_side(entry_of(found, k), v, count) for k, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if type(value) is dict:
        return {k: side_by_side(entry_of(found, k), v, count) for k, v in value.items()}
    if not isinstance(value, (np.ndarray, np.generic, float, int, complex)) or isinstance(value, bool):
        raise NotStackable("a result that is no array")
    if isinstance(found, Stack):
        whole = np.broadcast_to(found.data, (count, *np.shape(value)))
    else:
        whole = np.broadcast_to(outward(found, value), (count, *np.shape(value)))
    return np.moveaxis(whole, 0, -1)


def check_count(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
    """A linear map takes one tangent for each argument."""
    if len(tangents) != len(primals):
        raise ArgumentError(f"the linear map takes {len(primals)} tangents, one for each argument, not {len(tangents)}")


def again(
    call: entry.Call, primals: tuple[Any, ...], wanted: tuple[str, ...], given: tuple[Any, ...]
) -> tuple[Any, Callable[..., Any]]:
    """A linear map that runs the function each time, of which no other can be made; always with the same rules.

    What the function reads besides its arguments must be what it was.
    """
    places: list[tuple[str, Any]] = [(name, None) for name in wanted]
    specialization, _ = entry.specialize(call, "jvp", places, False, False, call.kinds())
    check_given(specialization, call, primals, given)
    run = entry.Run(specialization)
    values = dict(zip(call.names, call.values))
    first = FirstRun(call.root.fn, call.values)

    def everything(dots: dict[str, Any]) -> tuple[Any, ...]:
        given = (given_dot(dots.get(name, ZERO), values[name]) for name in wanted)
        return (*snapshot(call.values), *given)

    def pushforward(*tangents: Any) -> Any:
        check_count(primals, tangents)
        first.begin_again()
        found, value_dot = run.rest(specialization.call, *everything(dots_of(call, primals, tangents)))
        first.check_value(found)
        return outward(value_dot, found)

    value = run.first(everything({}))[0]
    first.gave(value)
    return value, pushforward


def given_dot(dot: Any, value: Any) -> Any:
    """A tangent of ``value`` in the form that compiled code takes where ``value`` moves."""
    if isinstance(value, (float, int, complex, np.ndarray, np.generic)):
        return dense(dot, value)
    if isinstance(dot, AbstractZero):
        return tangent_buffer(dot, value)
    return tuple(dot) if isinstance(value, tuple) else dot
