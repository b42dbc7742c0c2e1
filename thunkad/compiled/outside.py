"""Objects and variables that outlive a call: refused where a derivative would have to flow through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thunkad.analysis.constructors import init_of
from thunkad.analysis.outside import Traffic, traffic
from thunkad.analysis.sites import Resolved, Site
from thunkad.compiled.derivation import Derivation
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.source.names import lookup


class Outside:
    """What the functions of one world leave behind, and read."""

    def __init__(self, analysis: Callable[[Any, Any, Any], Resolved], early: Outside | None = None) -> None:
        self.analysis = analysis  # of a function, by the Python function whose code it belongs to and its kinds
        self.all: Traffic = Traffic() if early is None else early.all
        self.known: dict[Any, Traffic] = {}

    def note(self, resolved: Resolved, wanted: tuple[str, ...]) -> None:
        """``resolved`` is differentiated for ``wanted``."""
        found = self.of(resolved, frozenset(wanted))
        for cls in found.variables:
            cls.differentiated = True
        for spot, (_, place) in found.overwrites.items():
            if spot.where == "object":
                raise UnsupportedSyntaxError(
                    f"{spot.label} is, or holds, a captured parameter, and is written in place",
                    place,
                    "make a new array instead, or pass the parameter as an argument",
                )
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
            raise UnsupportedSyntaxError(
                f"{what} outlives the call: a value that is differentiated is put into it, and "
                f"it is read again (line {read.line}), where it would count as a constant",
                written,
                "keep the value in a local variable, or pass the object as an argument that is differentiated; "
                "for a memo use functools.cache",
            )

    def of(self, resolved: Resolved, wanted: frozenset[str]) -> Traffic:
        key = id(resolved), wanted
        if key not in self.known:
            self.known[key] = Traffic()  # a recursive call adds nothing that the function's own statements don't
            owner = resolved.owner

            def value_of(name: str) -> Any:
                return lookup(owner, name)

            def inner(site: Site, demand: frozenset[str]) -> Traffic | None:
                return self.of_callee(site, owner, demand)

            self.known[key] = traffic(resolved, wanted, value_of, inner)
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
