"""Calls whose callee is known only when the code runs: what they may change and are handed."""

from __future__ import annotations

import types

from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.special import is_own_class
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import UNKNOWN
from thunkad.kinds.variables import is_shared

_BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def variables_of(resolved: Resolved, site: Site | None) -> list[str]:
    """The variables that functions share, as far as they are handed to what is called."""
    if site is None or not site.bound:
        return []
    return [e.id for _, e in site.bound if type(e) is n.Name and is_shared(resolved.kind(e))]


def is_opaque(site: Site) -> bool:
    """Whether the callee is known and has neither a rule nor Python source."""
    return site.how == "missing" or (site.how == "dynamic" and isinstance(site.callee, _BUILT_IN))


def foreseen(resolved: Resolved, site: Site | None) -> bool:
    """Whether a call decided at run time is taken to change what it is given."""
    if site is None or site.how != "dynamic" or not resolved.writes_late or site.only_reads:
        return False
    return not site.infix or may_be_method(resolved, site)


def may_be_method(resolved: Resolved, site: Site) -> bool:
    """Whether an operator may be a method of a class, which keeps what it likes of its operands."""
    members, name = resolved.members, getattr(site.callee, "__name__", "").strip("_")
    if members is not None and members.isdisjoint((f"__{name}__", f"__r{name}__")):
        return False
    return any(k is UNKNOWN or is_own_class(k) for k in site.kinds)
