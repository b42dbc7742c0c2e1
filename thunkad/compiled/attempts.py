"""Callees that hand over what they raise: the part of a world that deals with them."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from thunkad.analysis.aliases import Sharing
from thunkad.analysis.constructors import init_of
from thunkad.analysis.followed import is_of_container, raises_values
from thunkad.analysis.half_way import late_lines, stops_half_way
from thunkad.analysis.sites import Resolved, Site
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.forms import normal_form
from thunkad.compiled.pairs import Pair
from thunkad.compiled.reach import TooFarError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.ir.fresh import Names
from thunkad.kinds.lattice import (
    UNKNOWN,
    Instance,
    Kind,
    Known,
    Lifted,
    Mapping,
    Method,
    Partial,
    Sequence,
    Tuple,
    is_hashable,
    may_have_tangent,
)  # fmt: skip
from thunkad.normal.attempted import attempted
from thunkad.normal.guarded import Careful
from thunkad.normal.versions import version
from thunkad.records import replace
from thunkad.runtime.attributes import check_in_one_step, has_items, has_own, is_iterated
from thunkad.runtime.elements import ordered


def may_be_own(kind: Kind) -> bool:
    """Whether an operand of this kind may be a function of the user's, which what it is given to may call."""
    if isinstance(kind, Known):
        return callable(kind.value) and not isinstance(kind.value, _NOT_OWN)
    return isinstance(kind, (Lifted, Method, Partial))


def may_hold_own(kind: Kind) -> bool:
    """Whether an operand of this kind may be, or hold, an object of a class of the user's."""
    if isinstance(kind, Tuple):
        return any(map(may_hold_own, kind.items))
    if isinstance(kind, Sequence):
        return kind.item is None or may_hold_own(kind.item)
    return kind is UNKNOWN or isinstance(kind, (Instance, Mapping))


def file_of(fn: Any) -> str:
    """The file of a function, or of one made inside of one."""
    return fn.filename if isinstance(fn, n.Function) else fn.__code__.co_filename  # type: ignore[no-any-return]


def lines_of(fn: Any) -> set[int]:
    """The lines of such a function, and of those inside it."""
    if isinstance(fn, n.Function):
        return {s.line for s in walk.statements(fn.body)}
    code = fn if isinstance(fn, types.CodeType) else fn.__code__
    found = {line for _, _, line in code.co_lines() if line is not None}
    return found.union(*(lines_of(c) for c in code.co_consts if isinstance(c, types.CodeType)))


#: Functions that are given functions and call none of them.
CALLS_NOTHING = frozenset((
    functools.partial, isinstance, callable, type, id, functools.wraps, has_items, has_own, is_iterated, ordered, iter,
    check_in_one_step,
))  # fmt: skip
_NOT_OWN = (types.BuiltinFunctionType, np.ufunc, types.ModuleType, type)


class Attempts:
    """See :mod:`thunkad.normal.attempted`."""

    raises_unseen: bool
    pair_for: Any
    analysis_of: Any
    drawing: Any
    _analysed: Any
    members: Any
    late_now: Any
    dispatch: Any
    spelled: Any

    def attempted_pair(self, site: Site, demand: tuple[str, ...], sharing: Sharing, owner: Any) -> tuple[n.Ref, n.Ref]:
        """The halves of a callee that hands over what it raises, see :mod:`thunkad.normal.attempted`."""
        pair = self.attempted_pair_for(site, demand, sharing, owner)
        return n.Ref(pair.forward.__name__, pair.forward), n.Ref(pair.reverse.__name__, pair.reverse)

    def attempted_pair_for(self, site: Site, demand: tuple[str, ...], sharing: Sharing, owner: Any) -> Pair:
        if isinstance(site.callee, n.Closure):
            target: Any = site.callee.function
        else:
            target = owner = init_of(site.callee) if site.how == "construct" else site.callee
        attempted = functools.partial(self._attempted, owner)
        form = self.drawing(attempted, target, site.kinds, True)
        pair: Pair = self.pair_for(form, owner, (UNKNOWN, *site.kinds), demand, None, sharing)
        pair.notes = True
        return pair

    def _attempted(self, owner: Any, target: Any, kinds: tuple[Kind, ...], careful: Careful) -> n.Function:
        """Their form; that of a function made inside ``owner`` is made from its normal form."""
        forms: dict[Any, tuple[Any, n.Function]] = self.__dict__.setdefault("attempted_forms", {})
        key = id(target), careful
        if key not in forms and isinstance(target, n.Function):
            forms[key] = target, version(attempted(target), Names(), careful)
        elif key not in forms:  # functions of one code, as a decorator makes them, are told apart by their forms
            forms[key] = target, replace(normal_form(target, True, careful, self.spelled(target)))
        form = forms[key][1]
        self.cut_late(target, self.analysis_of(form, owner, (UNKNOWN, *kinds)))
        return form

    def updater(self, name: str) -> n.Ref:
        """In-place operators on what is known only at run time: ``update``, ``update_entry``, ``update_attribute``."""
        if self.members != frozenset():
            self.late_now()  # they may be methods, which may raise half-way
        return n.Ref(name, getattr(self.dispatch, name))

    def cut_apart(self, filename: str, line: int) -> None:
        """Note that a step in this line, in a ``try``, raises an exception that has to be followed."""
        self.__dict__.setdefault("apart", {}).setdefault(filename, set()).add(line)

    def cut_late(self, fn: Any, found: Resolved) -> Resolved:
        """Note such lines of ``fn`` that ``found``, its analysis, shows; the analysis."""
        for line in late_lines(found):
            self.cut_apart(file_of(fn), line)
        return found

    def with_care(self, fn: Any, kinds: tuple[Kind, ...], careful: Careful) -> Resolved:
        """``fn`` analysed, and such lines noted."""
        return self.cut_late(fn, self._analysed(fn, kinds, careful))

    def apart_in(self, fn: Any) -> frozenset[int]:
        """Such lines of the function ``fn``."""
        noted = self.__dict__.get("apart", {}).get(file_of(fn))
        return frozenset(noted & lines_of(fn)) if noted else frozenset()

    def raises(self, site: Site, owner: Any, asked: set[Any] | None = None) -> bool:
        """Whether what is called at this site may raise an exception that holds values.

        ``asked``: the callees of which that is being asked already, which add nothing.
        """
        if is_hashable(site.callee) and site.callee in CALLS_NOTHING:
            return False
        if site.how in ("dynamic", "missing"):
            if isinstance(site.callee, types.MethodDescriptorType) and not any(map(may_be_own, site.kinds)):
                return False  # of a list, a dict or the like
            inert = isinstance(site.callee, type) and site.callee.__module__ == "builtins"
            if inert and not any(map(may_have_tangent, site.kinds)):
                return False
            return self.raises_unseen or not (site.infix or is_of_container(site.callee))
        if site.how in ("rule", "constant"):
            own = not site.infix and any(map(may_be_own, site.kinds))
            unseen = self.raises_unseen and any(map(may_hold_own, site.kinds))
            return own or unseen or bool(site.entry is not None and site.entry.wants_ad())
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
