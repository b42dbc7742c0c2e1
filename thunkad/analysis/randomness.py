"""Which calls draw random numbers, and so do something else each time."""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.sites import Resolved, Site, called
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Instance, Known, Opaque
from thunkad.source.origin import library_of

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
