"""Callees that hand over what they raise: the part of a world that deals with them."""

from __future__ import annotations

import functools
from typing import Any

from thunkad.analysis.aliases import Sharing
from thunkad.analysis.constructors import init_of
from thunkad.analysis.half_way import stops_half_way
from thunkad.analysis.sites import Site
from thunkad.compiled.derivations import Derivation
from thunkad.compiled.forms import normal_form
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN
from thunkad.normal.attempted import attempted
from thunkad.normal.versions import version


class Attempts:
    """See :mod:`thunkad.normal.attempted`."""

    pair_for: Any
    analysis_of: Any
    spelled: Any

    def attempted_pair(self, site: Site, demand: tuple[str, ...], sharing: Sharing, owner: Any) -> tuple[n.Ref, n.Ref]:
        """The halves of a callee that hands over what it raises, see :mod:`thunkad.normal.attempted`."""
        if isinstance(site.callee, n.Closure):
            form = self.attempted_form(site.callee.function)
        else:
            owner = init_of(site.callee) if site.how == "construct" else site.callee
            form = normal_form(owner, True, True, self.spelled(owner))
        pair = self.pair_for(form, owner, (UNKNOWN, *site.kinds), demand, None, sharing)
        return n.Ref(pair.forward.__name__, pair.forward), n.Ref(pair.reverse.__name__, pair.reverse)

    def attempted_form(self, function: n.Function) -> n.Function:
        """The same of a function made inside another one, which is in normal form."""
        forms: dict[int, tuple[n.Function, n.Function]] = self.__dict__.setdefault("attempted_forms", {})
        if id(function) not in forms:
            forms[id(function)] = function, version(attempted(function), Names(), True)
        return forms[id(function)][1]

    def stops_half_way(self, site: Site, owner: Any) -> bool:
        """Whether the user's function of this site may raise after it has changed what it was given."""
        if site.how not in ("inside", "lifted", "construct"):
            return True
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if isinstance(target, Derivation):
            return False
        if site.how == "construct":
            target = init_of(target)
        key = (id(target), site.kinds)
        known: dict[Any, bool] = self.__dict__.setdefault("half_way", {})
        if key not in known:
            known[key] = True
            resolved = self.analysis_of(target, owner, site.kinds)
            inner = functools.partial(self.stops_half_way, owner=resolved.owner)
            known[key] = stops_half_way(resolved, inner)
        return known[key]
