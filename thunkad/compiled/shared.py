"""Calls whose callee is known only when the code runs, and that may change what they are given.

The cotangents of memory live in the caller's shadows, as they do for a callee that the caller knows; the pullback is
handed those of its run.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from thunkad.analysis.aliases import Sharing
from thunkad.analysis.constructors import init_of, is_generated
from thunkad.analysis.sites import Site, weaken
from thunkad.analysis.special import is_by_fields
from thunkad.analysis.stand_ins import is_made_anew
from thunkad.analysis.views import returns_operand
from thunkad.compiled.dynamic import Back, Cotangents, Pull, Wrt, entering, is_nested
from thunkad.compiled.running import run, running
from thunkad.ir import nodes as n
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import Entry
from thunkad.runtime.attributes import is_code
from thunkad.runtime.containers import SEQUENCES
from thunkad.runtime.cotangents import add, entry
from thunkad.runtime.held_cotangents import of_function
from thunkad.runtime.parts import fields_of
from thunkad.runtime.shadows import FUNCTIONS, VALUES, Shadows, then
from thunkad.runtime.sharing import check_fresh
from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, Tangent, unthunk


class SharedPull(Pull):
    """Run-time dispatch for callers that have foreseen that their callee may write."""

    def __init__(self, world: Any) -> None:
        super().__init__(world, kept=True)
        self.slot = "dispatch_shared"

    def call(  # type: ignore[override]
        self, fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any
    ) -> tuple[Any, Callable[[Any, Any], tuple[Any, ...]]]:
        value, back = self.late(fn, args, kwargs, frozenset(wrt))

        def pullback(value_bar: Any, shadows: Any) -> tuple[Any, ...]:
            of_callee, of_args, of_kwargs = run(shadows, back, value_bar)
            return tuple(
                of_callee if w is None else of_args[w] if isinstance(w, int) else of_kwargs.get(w, ZERO) for w in wrt
            )

        return value, pullback

    def packed(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
        value, back = self.late(fn, tuple(args), dict(kwargs))

        def pullback(value_bar: Any, shadows: Any) -> Any:
            of_callee, of_args, of_kwargs = run(shadows, back, value_bar)
            return of_callee, tuple(of_args), of_kwargs

        return value, pullback

    def taking_note(self, raised: list[Any]) -> NotingPull:
        """The same for one call that may raise once it has changed something, into ``raised``."""
        return NotingPull(self.world, raised)

    def noting(self, raised: list[Any], fn: Any, wrt: tuple[Any, ...], /, *args: Any, **kwargs: Any) -> Any:
        """``call`` inside a ``try``: what a callee raises that has changed something by then is put into ``raised``."""
        return NotingPull(self.world, raised).call(fn, wrt, *args, **kwargs)

    def noting_packed(self, raised: list[Any], fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return NotingPull(self.world, raised).packed(fn, args, kwargs)

    # ------------------------------------------------------------ compiled callees

    def kinds_of(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Their kinds; what is empty may be filled by the callee."""
        return tuple(weaken(kind_of(v)) if isinstance(v, (list, dict)) and not v else kind_of(v) for v in values)

    def sharing(self, names: Any) -> Sharing:
        return Sharing(volatile=tuple(names), shared=tuple(names), result=True, returned=True)

    def is_private(self, pair: Any, fn: Any) -> bool:
        return False

    def cotangents_of(
        self, pair: Any, demand: tuple[str, ...], saved: Any, value_bar: Any, packed: dict[str, Any]
    ) -> dict[str, Any]:
        shadows = running.get()
        parts = pair.reverse.cell.cell_contents(saved, value_bar, shadows)
        named = [p for p in demand if p not in pair.shadowed]
        by_name = dict(zip(named, parts if len(named) != 1 else (parts,)))
        for p, given in packed.items():  # made for this call: the caller has the numbers in them, not their slots
            if p in demand:
                by_name[p] = add(by_name.get(p, ZERO), shadows.numbers(given, ZERO))
        return by_name

    def construct(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        value, back = super().construct(cls, args, kwargs)
        if not is_made_of_fields(value):
            return value, back

        def through(value_bar: Any) -> Cotangents:
            return back(fields_taken(running.get(), value, value_bar))

        return value, through

    def made_by_init(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        value: Any = object.__new__(cls)
        _, back = self.whole(init_of(cls), (value, *args), kwargs)

        def through(value_bar: Any) -> Cotangents:
            if not isinstance(unthunk(value_bar), AbstractZero):
                running.get().add(value, value_bar)
            _, of_args, of_kwargs = back(ZERO)
            return NO_TANGENT, of_args[1:], of_kwargs

        return value, through

    # ------------------------------------------------------------ callees that know nothing of shadows

    def rule(self, rule: Entry, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back] | None:
        found = super().rule(rule, args, kwargs)
        if found is None:
            return None
        views = rule.layer == "library" and returns_operand(rule.target)
        return self.taking(*found, args, kwargs, views)

    def by_kind(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt = None) -> tuple[Any, Back]:
        if (fn is getattr or fn is setattr) and is_plain_attribute(*args[:2], fn is setattr):
            return self.plain_attribute(fn, args)
        found = super().by_kind(fn, args, kwargs, wrt)
        taking = is_nested(fn) or (is_by_fields(fn) and not is_made_anew(fn, args))
        return self.taking(*found, args, kwargs) if taking else found

    def plain_attribute(self, fn: Any, args: tuple[Any, ...]) -> tuple[Any, Back]:
        """An attribute that is no code, read or set: its place is in the shadow of the object."""
        x, name = args[:2]
        value = fn(*args)
        rest = [NO_TANGENT] * (len(args) - 1)

        def back(value_bar: Any) -> Cotangents:
            if fn is getattr:
                running.get().add_entry(x, name, value, value_bar)
                return NO_TANGENT, [ZERO, *rest], {}
            taken = running.get().take_entry(x, name)
            return NO_TANGENT, [ZERO, NO_TANGENT, taken if isinstance(args[2], VALUES) else ZERO], {}

        return value, back

    def taking(
        self, value: Any, back: Back, args: tuple[Any, ...], kwargs: dict[str, Any], views: bool = False
    ) -> tuple[Any, Back]:
        """``back``, given what the shadow of a new value holds.

        ``views``: of a function that makes views; what the shadow of one holds is put back where it was.
        """
        if not views:
            check_fresh(value, *args, *kwargs.values())

        def taken(value_bar: Any) -> Cotangents:
            value_bar = entering(back, running.get().take(value, value_bar))
            if isinstance(value_bar, AbstractZero):
                return NO_TANGENT, [ZERO] * len(args), {}
            return back(value_bar)

        return value, taken

    # ------------------------------------------------------------ shadows of a call's own

    def private(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Back]:
        """A call that changes only what it makes itself, for a caller without shadows."""
        return self.privately(lambda: self.whole(fn, args, kwargs), args, kwargs)

    def privately(
        self, call: Callable[[], tuple[Any, Back]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Back]:
        value, back = call()
        made = then(value)  # the caller may change it

        def through(value_bar: Any) -> Cotangents:
            shadows = Shadows()
            if not isinstance(value, (*VALUES, type(None))):
                shadows.expect(made)
                shadows.add(made, value_bar)
                value_bar = ZERO
            of_callee, of_args, of_kwargs = run(shadows, back, value_bar)
            given = [of_args[k] if k < len(of_args) else ZERO for k in range(len(args))]
            seen: dict[int, Any] = {}
            whole = [collected(shadows, a, given[k], seen) for k, a in enumerate(args)]
            named = {k: collected(shadows, v, of_kwargs.get(k, ZERO), seen) for k, v in kwargs.items()}
            return of_callee, whole, named

        return value, through


class NotingPull(SharedPull):
    """The same for one call in a ``try``, of a callee that may raise once it has changed something.

    What hands on to the callee hands on to this; what runs on its own, or calls several functions, does not.
    """

    def __init__(self, world: Any, raised: list[Any]) -> None:
        super().__init__(world)
        self.raised = raised

    def within(self, world: Any) -> Pull:
        return NotingPull(world, self.raised)

    def pair_for(
        self, target: Any, owner: Any, kinds: tuple[Any, ...], demand: tuple[str, ...], names: Iterable[str]
    ) -> Any:
        lifted = isinstance(target, n.Function)
        site = Site("lifted" if lifted else "inside", n.Closure(target, ()) if lifted else target, kinds=kinds)
        if self.world.stops_half_way(site, owner):
            return self.world.attempted_pair_for(site, demand, self.sharing(names), owner)
        return super().pair_for(target, owner, kinds, demand, names)

    def begin(self, pair: Any, values: tuple[Any, ...]) -> tuple[Any, Any]:
        return super().begin(pair, (self.raised, *values) if pair.notes else values)


def fields_taken(shadows: Any, value: Any, value_bar: Any) -> Any:
    """The cotangent of a new object that is made of its fields: what its slots hold."""
    if not isinstance(unthunk(value_bar), AbstractZero):
        shadows.add(value, value_bar)
    slots = shadows.of(value)
    if isinstance(slots, list):
        taken: Any = tuple(slots)
        slots[:] = [ZERO] * len(slots)
    else:
        taken = Tangent(type(value), dict(slots))
        slots.clear()
    return taken


def is_made_of_fields(x: Any) -> bool:
    """Whether the class of ``x`` makes its objects of values for their fields."""
    cls = type(x)
    if isinstance(x, tuple):
        return hasattr(cls, "_fields")
    return cls is types.SimpleNamespace or (dataclasses.is_dataclass(cls) and is_generated(init_of(cls)))


def is_plain_attribute(x: Any, name: str, written: bool) -> bool:
    """Whether ``x.name`` is, or becomes, a part of an object of a user's class, found by name alone."""
    cls: Any = type(x)
    if isinstance(x, (np.ndarray, np.generic, tuple, type, types.ModuleType, types.FunctionType)):
        return False
    hooks = (cls.__getattribute__ is not object.__getattribute__, cls.__setattr__ is not object.__setattr__)
    return (written or name in fields_of(x)) and not any(hooks) and not is_code(inspect.getattr_static(cls, name, None))


def collected(shadows: Any, x: Any, x_bar: Any, seen: dict[int, Any]) -> Any:
    """The whole cotangent of ``x`` (``x_bar`` of a number); what several arguments share is given to the first."""
    if isinstance(x, np.ndarray):
        shadow = shadows.of(x)
        found, shadow[...] = shadow.copy(), 0
        return found
    if isinstance(x, FUNCTIONS):
        return of_function(shadows, x, x_bar)
    items: Any = dict(enumerate(x)) if isinstance(x, SEQUENCES) else x if isinstance(x, dict) else None
    if items is None:
        items = {} if isinstance(x, (*VALUES, str, bytes, type)) else fields_of(x)
        if not items:
            return x_bar
    if id(x) in seen:
        return ZERO
    seen[id(x)] = x
    slots = shadows.of(x)
    parts = {k: collected(shadows, v, slots[k] if isinstance(slots, list) else entry(slots, k), seen)
             for k, v in items.items()}  # fmt: skip
    if isinstance(x, dict):
        found = shadows.with_keys(x, parts)
        return shadows.with_objects(x, found, lambda key: collected(shadows, key, ZERO, seen))
    return tuple(parts.values()) if isinstance(x, SEQUENCES) else Tangent(type(x), parts)
