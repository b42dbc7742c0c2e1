"""Derivatives for captured parameters: compiled as two halves whose reverse one collects cotangents by identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.adjoint.generate import Generator
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing
from thunkad.analysis.sources import Captured
from thunkad.captured import Grads, Params
from thunkad.compiled.build import names_outside
from thunkad.compiled.entry import open_call
from thunkad.compiled.load import Slot
from thunkad.compiled.root import Root
from thunkad.compiled.where import annotate
from thunkad.compiled.world import World
from thunkad.errors import ArgumentError, UnsupportedSyntaxError
from thunkad.kinds.lattice import Kind
from thunkad.rules.load import load_library
from thunkad.rules.table import TABLE
from thunkad.runtime.collect import collecting
from thunkad.runtime.cotangents import aux_seed, scalar_seed, seed_of
from thunkad.tangents import NO_TANGENT

Halves = tuple[Callable[..., Any], Callable[..., Any]]


class Capture:
    """What was compiled of one function for parameters that are found in certain places."""

    def __init__(self, root: Root, arrays: tuple[Any, ...], volatile: bool) -> None:
        self.root, self.volatile = root, volatile
        self.places = Captured(volatile)
        self.places.aim(arrays)
        self.world = World(TABLE.snapshot, root.name)
        self.world.captured = self.places
        self.halves: dict[Any, Halves] = {}

    def serves(self, arrays: tuple[Any, ...]) -> bool:
        return self.world.snapshot is TABLE.snapshot and self.world.guards.hold() and self.places.still_holds(arrays)

    def compiled(self, kinds: tuple[Kind, ...], wanted: tuple[str, ...], has_aux: bool) -> Halves:
        key = (kinds, wanted, has_aux)
        if key not in self.halves:
            resolved = self.world.analysis(self.root.fn, kinds)
            sharing = Sharing(volatile=names_outside(resolved)) if self.volatile else NOTHING_SHARED
            generator = Generator(resolved, self.world, self.world.is_pure, sharing=sharing)
            base = resolved.function.name
            names = f"{base}_forward", f"{base}_reverse"
            functions = list(generator.pair(*names, wanted, (0,) if has_aux else None))[:2]
            if len(functions[1].params) > 2:
                raise UnsupportedSyntaxError(
                    f"{base} writes in place into an object that holds a captured parameter",
                    resolved.place(resolved.function.line),
                    "make a new object or array instead",
                )
            slots = [Slot(name, f) for name, f in zip(names, functions)]
            forward, reverse = self.world.load(functions, slots, self.root.fn)
            self.halves[key] = forward, reverse
        return self.halves[key]


def capture_of(root: Root, arrays: tuple[Any, ...], volatile: bool) -> Capture:
    """What is compiled for these parameters, or for others that are found in the same places.

    ``volatile``: the caller may write into arguments and parameters before the pullback runs.
    """
    kept: list[Capture] = root.__dict__.setdefault("captures", [])
    for found in kept:
        if found.volatile == volatile and found.serves(arrays):
            found.places.aim(arrays)
            return found
    kept[:] = [c for c in kept if c.world.snapshot is TABLE.snapshot][-7:]
    kept.append(Capture(root, arrays, volatile))
    return kept[-1]


def run(
    f: Any, captured: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool, volatile: bool
) -> tuple[Any, Callable[[Any], Grads]]:
    """The value of ``f`` and the function from its cotangent to new :class:`Grads`."""
    params = captured if isinstance(captured, Params) else Params(captured)
    call = open_call(f, args, kwargs)
    if call.library is not None:
        raise ArgumentError(f"captured: {call.root.name} is no Python function, so it captures nothing")
    load_library()
    with call.root.lock:
        capture = capture_of(call.root, params.arrays, volatile)
        wanted = tuple(name for name, v in zip(call.names, call.values) if capture.places.reaches(v))
        with capture.world.lock:
            forward, reverse = capture.compiled(call.kinds(), wanted, has_aux)
    try:
        value, saved = forward(*call.values)
    except Exception as error:
        annotate(error)
        raise
    by_name = dict(zip(call.names, call.values))

    def pullback(value_bar: Any) -> Grads:
        with collecting(params.arrays) as collector:
            try:
                parts = reverse(saved, value_bar)
            except Exception as error:
                annotate(error)
                raise
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
