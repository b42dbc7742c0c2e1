"""How functions of one world are handed the variables that they share: as further arguments, after their own."""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.constructors import init_of
from thunkad.analysis.left_behind import noting
from thunkad.analysis.sites import Resolved, Site
from thunkad.compiled.attempts import file_of
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.forms import normal_form
from thunkad.compiled.load import place_of_target
from thunkad.compiled.variables import Shared, shared_names
from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Instance, Kind
from thunkad.kinds.variables import is_shared
from thunkad.normal.guarded import Careful, DrawnInTry, apart_in, drawing_in
from thunkad.normal.shared_names import NOTHING, SharedNames
from thunkad.records import replace
from thunkad.rules.entry import name_of
from thunkad.runtime.using import tangents_of
from thunkad.runtime.variables import begin, settle
from thunkad.tangents import ZERO


def may_be_kept(body: list[n.Stmt], variable: str) -> bool:
    """Whether a function may read what an earlier call has left in a variable, and not assign it."""
    place = n.Attr(n.Name(variable), "value")
    for s in body:
        if type(s) is n.Store and s.target == place:
            return False
        calls = any(type(e) is n.Call for x in walk.statements([s]) for e in walk.expressions(x))
        if calls or walk.blocks(s) or any(variable in walk.names(e) for e in walk.expressions(s)):
            return True
    return False


class Passing:
    """The part of a world that knows shared variables."""

    analysis_of: Any
    outside: Any
    apart_in: Any
    suspends: bool

    def __init__(self, early: Passing | None) -> None:
        self.shared: tuple[Shared, ...] = () if early is None else early.shared
        self.own_operators: bool = early is not None and early.own_operators
        # Lists, dicts and objects from outside that are written into and read, see thunkad.compiled.following.
        self.followed: tuple[Any, ...] | None = None if early is None else early.followed
        self.is_late, self.early = early is not None, early
        self.began_with: Any = None  # the function that is differentiated, with the kinds of its arguments
        self.changes: bool | None = None  # see thunkad.compiled.rerun.changes_outside
        self.set_names: frozenset[str] = frozenset() if early is None else early.set_names
        # The functions of properties that remember what may have changed, see thunkad.analysis.remembered.
        self.stale: frozenset[Any] = frozenset() if early is None else early.stale
        # Whether values may be left in objects that outlive a call: nothing is put into any, or none is known of.
        self.stores: bool = early is not None and early.stores
        self.keeps: bool = early is not None and early.keeps
        self.keeping: Any = None if early is None else early.keeping  # that, in detail
        self._touching: dict[Any, bool] = {}
        self._spelled: dict[Any, SharedNames] = {}

    def noted(self, resolved: Resolved, wanted: tuple[str, ...]) -> Resolved:
        """``resolved``, with what tells of values that an earlier call has left behind."""
        written = resolved.function.generated  # the derivative of what has them already
        if not self.keeps or written:
            return resolved
        return noting(resolved, wanted, set() if self.keeping is None else self.keeping.into)

    # ------------------------------------------------------------ functions in normal form

    def spelled(self, fn: Any) -> SharedNames:
        """What a function calls the shared variables."""
        if not self.shared:
            return NOTHING
        if fn not in self._spelled:
            self._spelled[fn] = shared_names(fn, self.shared)
        return self._spelled[fn]

    def form(self, fn: Any, kinds: tuple[Kind, ...], careful: Careful = False) -> n.Function:
        """``fn`` in normal form, for arguments of these kinds.

        Where none are those of shared variables, the function is where a derivative begins: it has them itself.
        """
        function = normal_form(fn, careful=careful, shared=self.spelled(fn))
        count = len(self.shared)
        if not count or any(map(is_shared, kinds)):
            return function
        own, given = function.params[:-count], function.params[-count:]
        bound: list[n.Stmt] = [
            n.Assign(p.name, n.Ref(f"{v.name}_variable", v.variable), line=function.line)
            for p, v in zip(given, self.shared)
        ]
        places = zip(bound, self.shared)
        watched = tuple(e.value for e, v in places if not v.parts and may_be_kept(function.body, e.target))  # type: ignore[attr-defined]
        if not watched:
            return replace(function, params=own, body=[*bound, *function.body])
        *body, last = function.body
        first: n.Stmt = n.Effect(n.Call(n.Ref("begin", begin), watched), line=function.line)
        check = n.Effect(n.Call(n.Ref("settle", settle), watched), line=last.line)
        return replace(function, params=own, body=[*bound, first, *body, check, last])

    def drawing(self, analysed: Any, fn: Any, kinds: tuple[Kind, ...], careful: Careful) -> Any:
        """``analysed(fn, kinds, careful)``, ``fn`` being cut anew where iterators in a ``try`` turn up.

        So it is where a step in a ``try`` turns out to raise an exception that holds values.
        """
        cut: set[int] = set()
        apart = self.apart_in(fn)
        while True:
            try:
                found = analysed(fn, kinds, apart_in(apart, careful))
                if self.apart_in(fn) <= apart:
                    return found
                apart = self.apart_in(fn)
            except DrawnInTry as error:
                place = error.place
                if place is None or place.filename != file_of(fn) or place.line in cut:
                    raise
                cut.add(place.line)
                self.suspends = True  # nothing is drawn ahead of its turn then
                careful = drawing_in(place.line, careful)

    def variable_kinds(self) -> tuple[Kind, ...]:
        """The kinds of the arguments that are shared variables."""
        return tuple(Instance(type(v.variable)) for v in self.shared)

    def variable_place(self, module: types.ModuleType, name: str) -> tuple[int, str] | None:
        """Which of the shared variables an attribute of a module is, and under which attribute."""
        found = ((k, part.attribute) for k, v in enumerate(self.shared) for part in v.all if part.is_in(module, name))
        return next(found, None)

    def variables(self) -> tuple[Any, ...]:
        return tuple(v.variable for v in self.shared)

    def variable_params(self, fn: Any) -> tuple[str, ...]:
        """What the parameters of ``fn`` for them are called."""
        count = len(self.shared)
        return tuple(p.name for p in normal_form(fn, shared=self.spelled(fn)).params[-count:]) if count else ()

    # ------------------------------------------------------------ who uses them

    def touches(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> bool:
        """Whether a function may use a shared variable, itself or through what it calls."""
        if not self.shared or isinstance(target, Derivation):
            return False
        key = (id(target) if isinstance(target, n.Function) else target, kinds)
        if key not in self._touching:
            self._touching[key] = False  # a recursive call adds nothing
            try:
                resolved = self.analysis_of(target, owner, kinds)
            except Exception:
                self._touching[key] = True  # what is wrong with it is said if its derivative is needed
            else:
                self._touching[key] = self._uses(resolved)
        return self._touching[key]

    def used_variables(self, fn: Any, kinds: tuple[Kind, ...], foreseen: bool) -> tuple[str, ...]:
        """The parameters through which derivatives flow between shared variables and a callee found at run time.

        ``foreseen``: its caller knows that it may use some.
        """
        if not self.shared or not self.touches(fn, None, (*kinds, *self.variable_kinds())):
            return ()
        if not foreseen and self.outside.caution is not None:
            self.outside.caution.lapse()
            return ()
        if not foreseen:
            names = ", ".join(v.name for v in self.shared)
            raise UnsupportedSyntaxError(
                f"{name_of(fn)} uses a variable that functions share ({names}), and is called by an operator, an "
                "attribute or a library function",
                place_of_target(fn),
                "call it by its name, or give it the value as an argument",
            )
        return self.variable_params(fn)

    def variable_bundles(self, fn: Any, kinds: tuple[Kind, ...], order: int) -> dict[str, tuple[Any, ...]]:
        """The arguments for shared variables of a callee found at run time, with their tangents, by parameter."""
        if not self.shared:
            return {}
        given = [(v, tangents_of(v, order - 1)) for v in self.variables()]
        foreseen = all(dots is not None for _, dots in given)
        self.used_variables(fn, kinds, foreseen)
        still = (ZERO,) * (order - 1)
        return {p: (v, *(dots or still)) for p, (v, dots) in zip(self.variable_params(fn), given)}

    def refuse_use(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> None:
        """Refuse a function that uses shared variables where it is run by itself: by a derivative or a checkpoint."""
        while isinstance(target, Derivation):
            kinds, owner, target = kinds[: len(target.params)], target.owner, target.target
        if isinstance(target, n.Function) or self.touches(target, owner, (*kinds, *self.variable_kinds())):
            self.refuse(target)

    def check_beginning(self, fn: Any, kinds: tuple[Kind, ...], found: Resolved) -> None:
        """Refuse a function that a derivative begins with while another one is running."""
        if self.shared and self.is_late and not any(map(is_shared, kinds)) and self._uses(found):
            self.refuse(fn)

    def refuse(self, target: Any) -> None:
        name = target.name if isinstance(target, n.Function) else name_of(target)
        raise UnsupportedSyntaxError(
            f"a derivative, or a checkpoint, of {name} inside of code that is differentiated, where functions share "
            f"variables ({', '.join(v.name for v in self.shared)})",
            place_of_target(target),
            "give it the values as arguments",
        )

    def _uses(self, resolved: Resolved) -> bool:
        function = resolved.function
        names = {x for x, kind in resolved.kinds.items() if is_shared(kind)}
        for s in walk.statements(function.body):
            site = resolved.sites.get(id(s))
            if type(s) is n.Assign and type(s.value) is n.Ref and s.target in names:
                continue
            if not names.isdisjoint(walk.reads(s)) or (site is not None and self.site_touches(site, resolved.owner)):
                return True
        return False

    def site_touches(self, site: Site, owner: Any) -> bool:
        """The same for what is called."""
        if site.how == "dynamic":
            return not site.infix
        if site.how not in ("inside", "lifted", "construct"):
            return False
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        return self.touches(init_of(target) if site.how == "construct" else target, owner, site.kinds)
