"""Names in a function that may lead to one object, which is followed from outside and found in other ways, too."""

from __future__ import annotations

from thunkad.analysis.sites import Resolved
from thunkad.kinds.lattice import UNKNOWN, Instance, Known, Num, Opaque
from thunkad.kinds.variables import is_outside, is_shared


def one_object(resolved: Resolved) -> list[tuple[str, str]]:
    """Pairs of such names: that of what is followed, with arguments and with variables that functions share."""
    holder = next((x for x, kind in resolved.kinds.items() if is_outside(kind)), None)
    if holder is None:
        return []
    found = [x for x, kind in resolved.kinds.items() if is_shared(kind)]
    own = all(p.name != holder for p in resolved.function.params)  # a derivative begins here
    for p in (*resolved.function.captures, *(p.name for p in resolved.function.params)):
        kind = resolved.kinds.get(p, UNKNOWN)
        if isinstance(kind, Instance) or not (own or isinstance(kind, (Num, Opaque, Known))):
            found.append(p)
    return [(holder, x) for x in dict.fromkeys(found) if x != holder]


def begins_with_several(resolved: Resolved) -> bool:
    """Whether a derivative begins with this function, which has such names."""
    pairs = one_object(resolved)
    return bool(pairs) and all(p.name != pairs[0][0] for p in resolved.function.params)
