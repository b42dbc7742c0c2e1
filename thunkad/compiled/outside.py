"""Objects and variables that outlive a call: refused where a derivative would have to flow through them."""

from __future__ import annotations

import array
import types
from collections.abc import Callable, Iterable
from typing import Any

from thunkad.analysis.constructors import init_of
from thunkad.analysis.outside import Traffic, traffic
from thunkad.analysis.outside_spots import Memory, Spot
from thunkad.analysis.sites import Resolved, Site
from thunkad.compiled.derivation import Derivation
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.runtime.attributes import SHARED_HINT
from thunkad.runtime.variables import Variable
from thunkad.source.names import lookup

_CODE = (types.FunctionType, types.ModuleType, type)


class OutlivesError(UnsupportedSyntaxError):
    """``objects`` are those that were found out to be written into."""

    objects: tuple[Any, ...] = ()


def objects_at(spots: Iterable[Spot]) -> tuple[Any, ...]:
    """The lists, dicts, arrays and objects where these are, and those that variables hold."""
    found = (s.held.held() if is_variable(s.held) else s.held for s in spots if s.where == "object")
    return tuple(x for x in found if x is not None and not isinstance(x, _CODE))


def in_disguise(objects: tuple[Any, ...]) -> bool:
    """Whether the memory of one of these is that of another one in a form that derivatives don't follow."""
    fields = {id(getattr(x, "__dict__", None)) for x in objects if getattr(x, "__dict__", None) is not x}
    buffers = (memoryview, bytearray, array.array)
    return any(id(x) in fields for x in objects if isinstance(x, dict)) or any(isinstance(x, buffers) for x in objects)


def is_variable(held: Any) -> bool:
    return isinstance(held, type) and issubclass(held, Variable)


class Caution:
    """Objects that are followed because of what may be found when the code runs, see :mod:`thunkad.compiled.following`.

    ``lapsed``: something was found by which they can't be; then what would have been refused without that is.
    """

    def __init__(self) -> None:
        self.lapsed = False
        self.refused: OutlivesError | None = None

    def refuse(self, error: OutlivesError) -> None:
        """Refuse a write and a read of such an object, now or when it can't be followed any more."""
        self.refused = error
        if self.lapsed:
            raise error

    def lapse(self) -> None:
        self.lapsed = True
        if self.refused is not None:
            raise self.refused


class Outside:
    """What the functions of one world leave behind, and read."""

    def __init__(self, analysis: Callable[[Any, Any, Any], Resolved], early: Outside | None = None) -> None:
        self.analysis = analysis  # of a function, by the Python function whose code it belongs to and its kinds
        self.all: Traffic = Traffic() if early is None else early.all
        self.known: dict[Any, Traffic] = {}
        self.follows: bool = early is not None and early.follows  # what functions share leads to what it is about
        self.caution: Caution | None = None if early is None else early.caution
        self.undecided = False  # whether a function of those that are differentiated calls what is found at run time

    def note(self, resolved: Resolved, wanted: tuple[str, ...]) -> None:
        """``resolved`` is differentiated for ``wanted``."""
        found = self.of(resolved, frozenset(wanted))
        self.undecided |= any(site.how == "dynamic" and not site.infix for site in resolved.sites.values())
        for cls in found.variables:
            cls.differentiated = True
        for spot, (_, place) in found.overwrites.items():
            if spot.where == "object":
                raise UnsupportedSyntaxError(
                    f"{spot.label} is, or holds, a captured parameter, and is written in place",
                    place,
                    "make a new array instead, or pass the parameter as an argument",
                )
        self.meet(resolved, found)
        for name, place in found.settings.items():
            what = f"setting .{name} of a class, module or function to a value that is differentiated"
            raise UnsupportedSyntaxError(f"{what} is not supported", place, SHARED_HINT)

    def meet(self, resolved: Resolved, found: Traffic) -> None:
        """Add what ``resolved`` writes and reads, and refuse it if that meets."""
        for spot, there in found.writes.items():
            if spot.where != "parameter":
                self.all.writes.setdefault(spot, there)
        if not self.all.writes:
            for spot, there in found.reads.items():
                self.all.reads.setdefault(spot, there)
            return
        self.all.reads.update(found.reads)
        here = resolved.owner, resolved.place(resolved.function.line)
        self.all.reads.update({spot: found.reads.get(spot, here) for spot in found.returns})
        clash = self.all.clash()
        if clash is not None:
            spot, written, read = clash
            what = f"the global variable {spot.label!r}" if spot.where == "variable" else spot.label
            refused = OutlivesError(
                f"{what} outlives the call: a value that is differentiated is put into it, and "
                f"it is read again (line {read.line}), where it would count as a constant",
                written,
                "keep the value in a local variable, or pass the object as an argument that is differentiated; "
                "for a memo use functools.cache",
            )
            touched = Memory(spot, False)
            met = [s for s in self.all.reads if spot.meets(s) or touched.meets(Memory(s, True))]
            refused.objects = (*self.written(), *objects_at(met))
            if in_disguise(refused.objects):
                refused.objects = ()
                raise refused
            if self.caution is None:
                raise refused
            self.caution.refuse(refused)

    def written(self) -> tuple[Any, ...]:
        """The lists, dicts, arrays and objects that values which are differentiated are put into."""
        return objects_at(self.all.writes)

    def of(self, resolved: Resolved, wanted: frozenset[str]) -> Traffic:
        key = id(resolved), wanted
        if key not in self.known:
            self.known[key] = Traffic()  # a recursive call adds nothing that the function's own statements don't
            owner = resolved.owner

            def value_of(name: str) -> Any:
                return lookup(owner, name)

            def inner(site: Site, demand: frozenset[str]) -> Traffic | None:
                return self.of_callee(site, owner, demand)

            self.known[key] = traffic(resolved, wanted, value_of, inner, self.follows)
        return self.known[key]

    def of_callee(self, site: Site, owner: Any, demand: frozenset[str]) -> Traffic | None:
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if isinstance(target, Derivation):
            return None
        if site.how == "construct":
            target = init_of(target)
        try:
            return self.of(self.analysis(target, owner, site.kinds), demand)
        except Exception:
            return None  # what is wrong with the callee is reported if its derivative is needed
