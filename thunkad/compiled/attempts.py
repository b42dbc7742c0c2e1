"""Callees that hand over what they raise: the part of a world that deals with them."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from thunkad.analysis.aliases import Sharing
from thunkad.analysis.constructors import init_of
from thunkad.analysis.followed import raises_values
from thunkad.analysis.half_way import stops_half_way
from thunkad.analysis.sites import Site
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.forms import normal_form
from thunkad.compiled.reach import TooFarError
from thunkad.ir import nodes as n
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import UNKNOWN, Kind, Known, Lifted, Method, Partial, may_have_tangent
from thunkad.normal.attempted import attempted
from thunkad.normal.guarded import MUTATING
from thunkad.normal.versions import version


def may_be_own(kind: Kind) -> bool:
    """Whether an operand of this kind may be a function of the user's, which what it is given to may call."""
    if isinstance(kind, Known):
        return callable(kind.value) and not isinstance(kind.value, _NOT_OWN)
    return isinstance(kind, (Lifted, Method, Partial))


_NOT_OWN = (types.BuiltinFunctionType, np.ufunc, types.ModuleType, type)


class Attempts:
    """See :mod:`thunkad.normal.attempted`."""

    raises_unseen: bool
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

    def raises(self, site: Site, owner: Any, asked: set[Any] | None = None) -> bool:
        """Whether what is called at this site may raise an exception that holds values.

        ``asked``: the callees of which that is being asked already, which add nothing.
        """
        if site.how in ("dynamic", "missing"):
            inert = isinstance(site.callee, type) and site.callee.__module__ == "builtins"
            inert = inert and not any(map(may_have_tangent, site.kinds))
            as_list = type(site.callee) is n.Attr and site.callee.name in MUTATING
            return self.raises_unseen or not (site.infix or inert or as_list)
        if site.how in ("rule", "constant"):
            return any(map(may_be_own, site.kinds)) or bool(site.entry is not None and site.entry.wants_ad())
        if site.how not in ("inside", "lifted", "construct") or (site.how == "construct" and not site.bound):
            return False
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if isinstance(target, Derivation):
            return False
        if site.how == "construct":
            target = init_of(target)
        key = (id(target), site.kinds)
        known: dict[Any, bool] = self.__dict__.setdefault("raising", {})
        if key in known or (asked is not None and key in asked):
            return known.get(key, False)
        inside = {key} if asked is None else asked | {key}
        try:
            resolved = self.analysis_of(target, owner, site.kinds)
        except TooFarError:
            raise
        except Exception:
            return True  # what is wrong with the callee is reported if its derivative is needed
        found = raises_values(resolved, lambda inner: self.raises(inner, resolved.owner, inside))
        if found or asked is None:
            known[key] = found
        return found

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
