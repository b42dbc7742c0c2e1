"""Which calls draw random numbers, and so do something else each time."""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.sites import Resolved, Site, called
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Known, Num, Opaque
from thunkad.source.origin import library_of

#: Of ``numpy.random`` and ``random``, what makes a generator of a seed.
_MAKERS = ("default_rng", "RandomState", "Random", "Generator", "PCG64", "Philox", "MT19937", "SFC64", "SeedSequence")
_GENERATORS = ("Generator", "RandomState", "Random", "SystemRandom")
#: Methods that draw, by names that say so, on objects of which nothing is known.
_DRAWS = frozenset(
    ("random", "normal", "standard_normal", "uniform", "integers", "choice", "permutation", "permuted", "shuffle",
     "rand", "randn", "randint", "random_sample", "gauss")
)  # fmt: skip


def is_random(site: Site, resolved: Resolved) -> bool:
    """Whether a call draws random numbers: its callee does, or what is drawn from is among its operands."""
    fn = called(site, resolved)
    if draws_numbers(fn) or any(isinstance(k, Known) and draws_numbers(k.value) for k in site.kinds):
        return True
    if isinstance(fn, type):
        return False
    cls = next((k.cls for k in site.kinds[:1] if isinstance(k, (Instance, Opaque))), None)
    return cls is not None and cls.__name__ in _GENERATORS


def draws_numbers(fn: Any) -> bool:
    """Whether a function is one of ``numpy.random`` or ``random``, or a method of a generator of these."""
    module = getattr(fn, "__module__", None)
    if isinstance(module, str) and (module.startswith("numpy.random") or module == "random"):
        return callable(fn)
    return not isinstance(fn, types.ModuleType) and type(getattr(fn, "__self__", None)).__name__ in _GENERATORS


def seeded_names(resolved: Resolved, given: frozenset[str]) -> set[str]:
    """Generators that the function makes of a seed, so that they draw the same again; ``given``: such parameters."""
    seeded, others = set(given), {p.name for p in resolved.function.params} - given
    for s in walk.statements(resolved.function.body):
        site = resolved.sites.get(id(s))
        if type(s) is n.Assign and site is not None and _makes_seeded(site, resolved, seeded):
            seeded.add(s.target)
        elif type(s) is n.Assign and type(s.value) is n.Name and s.value.id in seeded:
            seeded.add(s.target)
        else:
            others |= set(walk.writes(s))
    return seeded - others


def _makes_seeded(site: Site, resolved: Resolved, seeded: set[str]) -> bool:
    fn = called(site, resolved)
    if getattr(fn, "__name__", "") not in _MAKERS or not draws_numbers(fn) or len(site.args) != 1 or site.kwargs:
        return False
    (seed,) = site.args
    return is_seeded(seed, seeded) or (isinstance(site.kinds[0], Num) and seed != n.Const(None))


def is_seeded(owner: n.Expr, seeded: set[str]) -> bool:
    return type(owner) is n.Name and owner.id in seeded


def draws_again(site: Site, resolved: Resolved, seeded: set[str]) -> bool:
    """Whether a call that draws would draw the same if all that the function does were done again."""
    fn = called(site, resolved)
    if isinstance(fn, n.Attr):
        return is_seeded(fn.value, seeded)
    return (bool(site.args) and is_seeded(site.args[0], seeded)) or _makes_seeded(site, resolved, seeded)


def may_draw(site: Site, resolved: Resolved) -> bool:
    """Whether nothing is known of the owner of a method that by its name draws random numbers."""
    fn = called(site, resolved)
    return site.how == "dynamic" and type(fn) is n.Attr and fn.name in _DRAWS


def is_unknown(site: Site, resolved: Resolved) -> bool:
    """Whether a call is one of code that is found when it runs."""
    fn = called(site, resolved)
    return site.how == "dynamic" and (isinstance(fn, (n.Name, n.Attr, n.Global)) or not _is_library(fn))


def _is_library(fn: Any) -> bool:
    return library_of(fn) in ("numpy", "scipy", "math", "cmath", "builtins", "operator", "_operator")
