"""Derivatives for captured parameters: compiled as two halves whose reverse one collects cotangents by identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.analysis.sources import Captured
from thunkad.captured import Grads, Params
from thunkad.compiled.build import Key
from thunkad.compiled.entry import Run, open_call
from thunkad.compiled.root import Root
from thunkad.errors import ArgumentError
from thunkad.rules.refused import refuse
from thunkad.runtime.collect import collecting
from thunkad.runtime.cotangents import aux_seed, scalar_seed, seed_of
from thunkad.tangents import NO_TANGENT

_KEPT = 8


def places_of(root: Root, arrays: tuple[Any, ...], volatile: bool) -> Captured:
    """Where these parameters are found: the same object for others that were found in the same places.

    ``volatile``: the caller may write into arguments and parameters before the pullback runs.
    """
    for found in root.places:
        if found.volatile == volatile and found.still_holds(arrays):
            break
    else:
        found = Captured(volatile)
        root.places.append(found)
    found.aim(arrays)
    for old in root.places[:-_KEPT]:
        root.places.remove(old)
        for key in [key for key in root.kept if key.places is old]:
            root.drop(key)
    return found


def run(
    f: Any, captured: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool, volatile: bool
) -> tuple[Any, Callable[[Any], Grads]]:
    """The value of ``f`` and the function from its cotangent to new :class:`Grads`."""
    params = captured if isinstance(captured, Params) else Params(captured)
    call = open_call(f, args, kwargs)
    if call.library is not None:
        raise ArgumentError(f"captured: {call.root.name} is no Python function, so it captures nothing")
    with call.root.lock:
        places = places_of(call.root, params.arrays, volatile)
        wanted = tuple(name for name, v in zip(call.names, call.values) if places.reaches(v))
        key = Key("captured", wanted, False, has_aux, call.kinds(), places=places)
        specialization = call.root.specialization(key)
    running = Run(specialization)
    value, saved = running.first(call.values)
    by_name = dict(zip(call.names, call.values))

    def pullback(value_bar: Any) -> Grads:
        with collecting(params.arrays) as collector:
            parts = running.rest(specialization.linear, saved, value_bar)
            for name, part in zip(wanted, parts if len(wanted) > 1 else (parts,)):
                collector.add(by_name[name], part)
            return Grads(params.arrays, collector.gradients())

    return value, pullback


def vjp(f: Any, captured: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool) -> Any:
    value, back = run(f, captured, args, kwargs, has_aux, True)

    def pullback(value_bar: Any) -> Grads:
        if has_aux:
            return back((seed_of(value_bar, value[0]), NO_TANGENT))
        return back(seed_of(value_bar, value))

    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


def gradient(f: Any, captured: Any, with_value: bool, has_aux: bool) -> Callable[..., Any]:
    """The function from arguments to :class:`Grads` (and the value)."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        value, back = run(f, captured, args, kwargs, has_aux, False)
        gradients = back(aux_seed(value) if has_aux else scalar_seed(value))
        if with_value:
            return value, gradients
        return (gradients, value[1]) if has_aux else gradients

    return derivative


refuse("a derivative for captured parameters has none itself; pass the parameters as arguments", run, vjp)
