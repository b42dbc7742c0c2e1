"""Arguments that share memory with each other, or with what is outside, are refused where such memory is changed.

Each argument counts as memory of its own when a derivative begins: what is put into one would be a constant in another.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from thunkad.analysis.activity import varied_names
from thunkad.analysis.aliases import aliases_of, has_memory
from thunkad.analysis.outside import Traffic
from thunkad.analysis.outside_spots import Memory, Spot
from thunkad.analysis.sites import Resolved
from thunkad.compiled.outside import Outside
from thunkad.errors import ArgumentError
from thunkad.ir import nodes as n
from thunkad.records import replace
from thunkad.runtime.watching import refuse_shared, refuse_shared_in

Check = Callable[[tuple[Any, ...]], None]
Met = tuple[int, Spot, Spot, bool]  # an argument, a spot in it and one outside, and whether the argument is read


def sharing_check(resolved: Resolved, wanted: tuple[str, ...], outside: Outside) -> Check | None:
    """What refuses such arguments of ``resolved``, differentiated for ``wanted``; None where there can't be any."""
    pairs = changed_pairs(resolved, wanted)
    several = changed_several(resolved, wanted)
    places = {p.name: k for k, p in enumerate(resolved.function.params)}
    apart = Apart(meetings(outside.of(resolved, frozenset(wanted)), places))
    if not pairs and not several and not apart.met:
        return None

    def check(values: tuple[Any, ...]) -> None:
        for j, k in pairs:
            refuse_shared(values[j], values[k])
        for k in several:
            refuse_shared_in(values[k])
        apart.check(*values)

    return check


class Apart:
    """Arguments that must share no memory with what is outside."""

    def __init__(self, met: list[Met]) -> None:
        self.met = met

    def check(self, *values: Any) -> None:
        """Refuse those that do."""
        for k, own, other, read in self.met:
            given = Memory(replace(own, where="object", held=values[k]), read)
            if given.meets(Memory(other, not read)):
                raise ArgumentError(
                    f"an argument shares memory with {other.label}, which the function uses as well, and it changes "
                    "that memory in place: pass a copy, or differentiate a function that names it as well "
                    "(lambda x: obj.method(x))"
                )


def checking(call: Callable[..., Any], check: Check) -> Callable[..., Any]:
    """``call``, the arguments of which are looked at first."""

    def checked(*values: Any) -> Any:
        check(values)
        return call(*values)

    return checked


def changed_pairs(resolved: Resolved, wanted: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Pairs of parameters, by place, of which differentiated values are put into one, and which count as separate."""
    aliases = aliases_of(resolved)
    if not aliases.mutated:
        return ()
    names = [p.name for p in resolved.function.params]
    places = [k for k, x in enumerate(names) if has_memory(resolved.kind(n.Name(x)))]
    pairs = [(j, k) for j, k in itertools.combinations(places, 2) if aliases.find(names[j]) != aliases.find(names[k])]
    pairs = [pair for pair in pairs if any(aliases.is_mutated(names[k]) for k in pair)]
    varied = varied_names(resolved, wanted) if pairs else frozenset()
    return tuple(pair for pair in pairs if any(names[k] in varied and aliases.is_mutated(names[k]) for k in pair))


def changed_several(resolved: Resolved, wanted: tuple[str, ...]) -> tuple[int, ...]:
    """Parameters, by place, that stand for several arguments into which differentiated values are put."""
    several = [(k, p.name) for k, p in enumerate(resolved.function.params) if p.kind.startswith("var_")]
    if not several:
        return ()
    aliases, varied = aliases_of(resolved), varied_names(resolved, wanted)
    return tuple(k for k, name in several if name in varied and aliases.is_mutated(name))


def meetings(traffic: Traffic, places: dict[str, int]) -> list[Met]:
    """Where what is changed of an argument may be read of something outside, and the other way round."""
    found: list[Met] = []
    for changed, seen in itertools.product(traffic.writes, traffic.reads):
        own, other, read = (changed, seen, False) if changed.where == "parameter" else (seen, changed, True)
        if own.where == "parameter" and other.where == "object" and own.key in places and not other.code:
            found.append((places[own.key], own, other, read))
    return found
