"""Which calls draw random numbers, and so do something else each time."""

from __future__ import annotations

from thunkad.analysis.sites import Site
from thunkad.kinds.lattice import Instance, Opaque

_GENERATORS = ("Generator", "RandomState", "Random", "SystemRandom")


def is_random(site: Site) -> bool:
    fn = site.callee
    module = getattr(fn, "__module__", None) or ""
    owner = getattr(fn, "__self__", None)
    if module.startswith("numpy.random") or module == "random" or type(owner).__name__ in _GENERATORS:
        return True
    if isinstance(site.callee, type):
        return False
    cls = next((k.cls for k in site.kinds[:1] if isinstance(k, (Instance, Opaque))), None)
    return cls is not None and cls.__name__ in _GENERATORS
