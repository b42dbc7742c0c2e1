"""Forward mode in one world: functions resolved with forward rules, compiled callees, what callees do to memory."""

from __future__ import annotations

import types
from typing import Any

from thunkad.analysis.followed import shows_exceptions
from thunkad.analysis.resolve import resolve
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.sources import OUTSIDE_DATA, hoist
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.late_writes import look_ahead
from thunkad.compiled.linear import LinearCalls, is_dispatch
from thunkad.compiled.load import Slot, name_of_target
from thunkad.compiled.outside import Outside
from thunkad.compiled.pull_again import PullAgain
from thunkad.compiled.push import Push, SharedPush
from thunkad.compiled.push_again import PushAgain
from thunkad.compiled.reach import TooFarError, at_border
from thunkad.compiled.redone import Redone
from thunkad.forward.flatten import flattened
from thunkad.forward.generate import parameters, pushforward
from thunkad.forward.linear import halves
from thunkad.forward.memory import Summary, memory_of, summary_of
from thunkad.ir import nodes as n
from thunkad.kinds import helpers  # noqa: F401  (fills the table of result kinds)
from thunkad.kinds.lattice import UNKNOWN, Kind
from thunkad.normal.guarded import EXITS, Careful
from thunkad.optimise.purity import is_helper
from thunkad.records import replace
from thunkad.rules.entry import FRULE
from thunkad.rules.resolve import Decision


class Forwarding:
    """What resolution and the generation of forward-mode code ask, answered in ``world``.

    It is to forward rules what the world itself is to reverse rules; everything else is the world's own answer.
    """

    def __init__(self, world: Any) -> None:
        self.world = world
        self.slots: dict[Any, Slot] = {}
        self._analyses: dict[Any, Resolved] = {}
        self._summaries: dict[Any, Summary] = {}
        self.dispatch = self.pusher = Push(self)
        self.dispatch_shared = SharedPush(self)
        self.linear_dispatch = LinearCalls(self)
        self.halves: dict[Any, tuple[Slot, Slot]] = {}
        self.redone, self.pulled_again, self.pushed_again = Redone(world), PullAgain(world), PushAgain(world)
        self.pushed_again_shared = PushAgain(world, shared=True)
        self.outside = Outside(self.analysis, world.outside)
        self.made: set[int] = set()  # functions that the compiler generated, by identity
        self._flat: dict[int, n.Function] = {}
        self._results: dict[Any, Kind] = {}
        self.outlined: dict[Any, Kind] = {}  # kinds of results of generated code, without a look inside of helpers

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    # ------------------------------------------------------------ rules

    def lookup(self, fn: Any, kinds: list[Kind], named: dict[str, Any] | None = None) -> Decision:
        """The forward rule of ``fn``; the decision that there is only a reverse rule, which forbids to look inside."""
        return self.world.lookup(fn, kinds, named, FRULE)

    # ------------------------------------------------------------ analyses

    def analysis(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> Resolved:
        """A Python function, or an IR function whose code runs where ``owner``'s does, resolved for forward mode."""
        is_ir = isinstance(target, n.Function)
        key = (id(target) if is_ir else target, kinds)
        found = self._analyses.get(key)
        if found is None:
            self.world.guards.code(target)
            if isinstance(target, Derivation) and target.product == "checkpoint":
                return self.analysis(target.target, target.owner, kinds)
            if isinstance(target, Derivation):
                slot = self.world.derivations.value(target, kinds)
                self.made.add(id(slot.function))
                return self.analysis(slot.function, slot.owner, kinds)
            if isinstance(target, types.FunctionType):
                look_ahead(self.world, target, kinds)
            if is_ir:
                found = self._resolved(self.normal(target, kinds), owner, kinds, key)
            else:
                found = self.world.drawing(self._analysed, target, kinds, False)
                if shows_exceptions(found, self.form_of):
                    found = self.world.drawing(self._analysed, target, kinds, EXITS)
            if isinstance(target, types.FunctionType):
                self.world.check_beginning(target, kinds, found)
        return found

    def _analysed(self, fn: Any, kinds: tuple[Kind, ...], careful: Careful) -> Resolved:
        return self._resolved(self.world.form(fn, kinds, careful), fn, kinds, (fn, kinds))

    def _resolved(self, function: n.Function, owner: Any, kinds: tuple[Kind, ...], key: Any) -> Resolved:
        if self.world.outlives and isinstance(key[0], types.FunctionType):
            function = hoist(function, key[0], OUTSIDE_DATA)
        names = [p.name for p in parameters(function)]
        with self.world.recording():
            found = self._analyses[key] = resolve(function, owner, dict(zip(names, kinds)), self)
        found.cache["outlives"] = self.world.outlives
        self.world.keep(function)
        return found

    def outline(self, function: n.Function, owner: Any, kinds: dict[str, Kind]) -> Resolved:
        """Generated code resolved without a look inside of the compiler's own helpers; for what only tidies it up."""
        with self.world.recording():
            return resolve(self.normal(function), owner, kinds, _Outline(self))

    def normal(self, target: Any, kinds: tuple[Kind, ...] = ()) -> n.Function:
        """The function in normal form; what was generated here is flattened first."""
        if not isinstance(target, n.Function):
            return self.world.form(target, kinds)  # type: ignore[no-any-return]
        if id(target) not in self.made:
            return target
        found = self._flat.get(id(target))
        if found is None:
            found = self._flat[id(target)] = flattened(target)
        return found

    def compiled_result_kind(self, compiled: Slot, kinds: tuple[Kind, ...]) -> Kind:
        """The kind of the result of compiled code."""
        key = (id(compiled), kinds)
        if key not in self._results:
            self._results[key] = UNKNOWN
            self.made.add(id(compiled.function))
            self._results[key] = self.analysis(compiled.function, compiled.owner, kinds).result
        return self._results[key]

    def summary(self, site: Site) -> Summary:
        target, owner = self.target(site, None)
        return self.summary_for(target, owner, site.kinds)

    def summary_for(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> Summary:
        """What a callee does to its parameters; for recursive functions from below, by two rounds."""
        key = (id(target) if isinstance(target, n.Function) else target, kinds)
        if key not in self._summaries:
            self._summaries[key] = Summary()
            for _ in range(2):
                try:
                    resolved = self.analysis(target, owner, kinds)
                except TooFarError:
                    del self._summaries[key]
                    raise
                except Exception:
                    break  # what is wrong with the callee is reported if its derivative is needed
                self._summaries[key] = summary_of(resolved, memory_of(resolved, self.summary), self.summary)
        return self._summaries[key]

    # ------------------------------------------------------------ compiled callees

    def target(self, site: Site, owner: Any) -> tuple[Any, Any]:
        """The function of a site and whose globals it runs in."""
        callee = site.callee
        if isinstance(callee, n.Closure):
            return callee.function, owner
        if isinstance(callee, Slot):
            self.made.add(id(callee.function))
            return callee.function, callee.owner
        return callee, callee

    def pushed(self, site: Site, demand: tuple[str, ...], owner: Any, own_result: bool) -> n.Ref:
        caller = owner
        target, owner = self.target(site, owner)
        with at_border(target, caller):
            slot = self.slot_for(target, owner, site.kinds, demand, own_result)
        return n.Ref(slot.__name__, slot)

    def differentiated(self, resolved: Resolved, wanted: tuple[str, ...]) -> None:
        """Note that the user's function ``resolved`` is differentiated for ``wanted``."""
        self.outside.note(resolved, wanted)

    def slot_for(
        self, target: Any, owner: Any, kinds: tuple[Kind, ...], demand: tuple[str, ...], own_result: bool = False
    ) -> Slot:
        """``target`` compiled for tangents of the parameters in ``demand``."""
        is_ir = isinstance(target, n.Function)
        key = (id(target) if is_ir else target, kinds, demand, own_result)
        slot = self.slots.get(key)
        if slot is not None:
            return slot
        slot = Slot(self.world.unique("_".join((name_of_target(target), "jvp", *demand))))
        self.slots[key] = slot
        try:
            resolved = self.analysis(target, owner, kinds)
            if isinstance(target, types.FunctionType):
                self.differentiated(resolved, demand)
            resolved = self.world.noted(resolved, demand)
            slot.function = pushforward(
                slot.__name__, resolved, demand, self, self.world.is_pure, own_result=own_result
            )
            slot.owner = resolved.owner
            self.world.load([slot.function], [slot], slot.owner)
        except BaseException:
            del self.slots[key]
            raise
        return slot

    def push(self, shared: bool = False) -> n.Ref:
        """The run-time dispatch; ``shared``: for callees that may change what they are given, with its tangents."""
        self.world.late_now()
        return n.Ref("push_shared", self.dispatch_shared.call) if shared else n.Ref("push", self.dispatch.call)

    def updater_of_dots(self, name: str) -> n.Ref:
        """In-place operators and methods on what is known only at run time, for a value and its tangent."""
        self.world.late_now()
        return n.Ref(f"push_{name}", getattr(self.dispatch, name))

    def operator_site(self, op: str, args: tuple[n.Expr, ...], kinds: tuple[Kind, ...]) -> Site:
        return self.world.operator_site(op, args, kinds, self)  # type: ignore[no-any-return]

    def call_site(self, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...]) -> Site:
        return self.world.call_site(fn, args, kwargs, kinds, self)  # type: ignore[no-any-return]

    # ------------------------------------------------------------ callees in two halves

    def linearized(
        self, site: Site, demand: tuple[str, ...], owner: Any, own_result: bool, volatile: tuple[str, ...]
    ) -> tuple[n.Ref, n.Ref]:
        caller = owner
        target, owner = self.target(site, owner)
        with at_border(target, caller):
            primal, linear = self.halves_for(target, owner, site.kinds, demand, own_result, volatile)
        return n.Ref(primal.__name__, primal), n.Ref(linear.__name__, linear)

    def halves_for(
        self, target: Any, owner: Any, kinds: tuple[Kind, ...], demand: tuple[str, ...], own_result: bool = False,
        volatile: tuple[str, ...] = (),
    ) -> tuple[Slot, Slot]:  # fmt: skip
        """``target`` in two halves, for tangents of the parameters in ``demand``."""
        is_ir = isinstance(target, n.Function)
        key = (id(target) if is_ir else target, kinds, demand, own_result, volatile)
        found = self.halves.get(key)
        if found is not None:
            return found
        label = self.world.unique("_".join((name_of_target(target), "primal", *demand)))
        found = self.halves[key] = Slot(label), Slot(label.replace("_primal", "_linear"))
        try:
            resolved = self.analysis(target, owner, kinds)
            if isinstance(target, types.FunctionType):
                self.differentiated(resolved, demand)
            primal, linear = (slot.__name__ for slot in found)
            resolved, pure = self.world.noted(resolved, demand), self.world.is_pure
            made = halves(primal, linear, resolved, demand, self, pure, own_result=own_result, volatile=volatile)
            for slot, function in zip(found, made):
                slot.function, slot.owner = function, resolved.owner
            self.world.load(list(made), list(found), resolved.owner)
        except BaseException:
            del self.halves[key]
            raise
        return found

    def linear_call(self) -> n.Ref:
        self.world.late_now()
        return n.Ref("linear_call", self.linear_dispatch.call)

    def separable(self, callee: n.Expr) -> bool:
        """Whether what is called, if that is known already, isn't the run-time dispatch of derivatives."""
        return not (type(callee) is n.Ref and is_dispatch(callee.value))


class _Outline:
    """What resolution asks, answered by ``forwarding``, but for what helpers return and which of them write."""

    def __init__(self, forwarding: Forwarding) -> None:
        self.forwarding = forwarding

    def __getattr__(self, name: str) -> Any:
        return getattr(self.forwarding, name)

    def result_kind(self, fn: Any, kinds: tuple[Kind, ...]) -> Kind:
        return UNKNOWN if is_helper(fn) else self.forwarding.result_kind(fn, kinds)  # type: ignore[no-any-return]

    def compiled_result_kind(self, compiled: Slot, kinds: tuple[Kind, ...]) -> Kind:
        known, function = self.forwarding.outlined, compiled.function
        key = (id(compiled), kinds)
        if key not in known:
            known[key] = UNKNOWN
            self.forwarding.made.add(id(function))
            by_name = dict(zip((p.name for p in parameters(function)), kinds))
            known[key] = self.forwarding.outline(function, compiled.owner, by_name).result
        return known[key]

    def site_mutates(self, owner: Any) -> Any:
        of_others = self.forwarding.site_mutates(owner)

        def mutated(site: Site, changed: bool = False) -> frozenset[str]:
            fn = site.callee
            if not is_helper(fn):
                return of_others(site, changed=changed)  # type: ignore[no-any-return]
            if (fn, changed) not in _WRITTEN:
                _WRITTEN[fn, changed] = of_others(replace(site, kinds=(UNKNOWN,) * len(site.kinds)), changed=changed)
            return _WRITTEN[fn, changed]

        return mutated


#: The parameters that helpers write into, whatever they are: the same in every world.
_WRITTEN: dict[tuple[Any, bool], frozenset[str]] = {}
