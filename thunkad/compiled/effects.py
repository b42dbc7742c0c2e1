"""Whether a user's function does anything but compute its result."""

from __future__ import annotations

from typing import Any

from thunkad.compiled.reach import TooFarError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.optimise.purity import is_pure


def has_effects(world: Any, fn: Any, kinds: tuple[Any, ...], seen: set[Any], operators: bool = True) -> bool:
    """Whether calling ``fn`` may print, write, raise by itself or change what it is given; unknown counts as yes.

    ``operators``: those on values of which nothing is known count, too.
    """
    key = (fn, kinds)
    if key in seen:
        return False
    seen.add(key)
    try:
        resolved = world.analysis(fn, kinds)
    except TooFarError:
        raise
    except Exception:
        return True
    body = resolved.function.body
    made = {s.target for s in walk.statements(body) if type(s) is n.Assign and type(s.value) is n.ListExpr}
    for s in walk.statements(body):
        if type(s) in (n.If, n.For, n.Return, n.While):
            continue
        if type(s) is n.Append and s.target in made:
            continue
        if type(s) not in (n.Assign, n.Unpack):
            return True
        site = resolved.sites.get(id(s))
        if not is_pure(s.value, site, lambda inner: not has_effects(world, inner.callee, inner.kinds, seen, operators)):
            harmless = site is None and type(s.value) in (n.Index, n.Attr, n.Global)
            harmless = harmless or (not operators and type(s.value) in (n.Binary, n.Unary))
            if not harmless:
                return True
    return False
