"""A world: one snapshot of the rule table, and everything that was resolved and compiled in it.

Every look-up goes through :meth:`World.lookup` and leaves an edge; every name of the user's that was resolved leaves a
guard.  Compiled callees live here, so functions that were compiled in different snapshots never mix.
"""

from __future__ import annotations

import contextlib
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad import debugging
from thunkad.adjoint.generate import Generator
from thunkad.adjoint.mutation import shadowed_params, written_params
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing, find_aliases, has_memory
from thunkad.analysis.constructors import init_of, is_made_by_init
from thunkad.analysis.followed import shows_exceptions
from thunkad.analysis.half_way import needs_care
from thunkad.analysis.resolve import resolve
from thunkad.analysis.sites import Resolved, Site
from thunkad.analysis.sources import OUTSIDE_DATA, Captured, hoist, sources
from thunkad.compiled.assigned_globals import AssignedGlobals
from thunkad.compiled.attempts import Attempts
from thunkad.compiled.derivation import Derivation
from thunkad.compiled.derivations import Derivations
from thunkad.compiled.forms import normal_form, remember_made
from thunkad.compiled.late_writes import look_ahead
from thunkad.compiled.library_calls import library_site
from thunkad.compiled.load import Slot, load, name_of_target
from thunkad.compiled.lookups import Lookups
from thunkad.compiled.nested import nested_site
from thunkad.compiled.outside import Outside
from thunkad.compiled.pairs import Pair
from thunkad.compiled.passing import Passing
from thunkad.compiled.pull_nested import Nested
from thunkad.compiled.pushing import Forwarding
from thunkad.compiled.reach import Reach, TooFarError, at_border
from thunkad.compiled.target import library_call, own_call
from thunkad.emit.module import emit
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Kind, Num
from thunkad.kinds.operators import FUNCTION_OF_OPERATOR, UFUNC_OF_OPERATOR
from thunkad.kinds.results import binary
from thunkad.normal.guarded import EXITS, Careful, DrawnInTry
from thunkad.pipeline import reached
from thunkad.rules.load import load_library
from thunkad.rules.table import Snapshot
from thunkad.source.names import lookup as lookup_name


class World(Attempts, Passing, Lookups):
    """See the module's docstring.  Not thread-safe by itself: whoever compiles holds ``lock``."""

    def __init__(self, snapshot: Snapshot, label: str, early: World | None = None) -> None:
        Lookups.__init__(self, snapshot, label, early)
        Passing.__init__(self, early)
        self.assigned: AssignedGlobals = AssignedGlobals() if early is None else early.assigned.copy()
        self.outside: Outside = Outside(self.analysis_of, None if early is None else early.outside)
        self.differentiated = self.outside.note  # what is told of every function that is differentiated
        self.begun = early is not None  # whether it is known what the differentiated function can reach
        self.writes_late: bool = early is not None and early.writes_late
        self.suspends: bool = early is not None and early.suspends
        self.raises_unseen: bool = early is not None and early.raises_unseen
        self.computed: frozenset[str] = early.computed if early is not None else frozenset()
        self.busy: frozenset[str] = early.busy if early is not None else frozenset()
        self.members: frozenset[str] | None = early.members if early is not None else None
        self.pairs: dict[Any, Pair] = {}
        self.names: dict[str, int] = {}
        self._analyses: dict[Any, Resolved | None] = {}
        self._result_kinds: dict[Any, Kind | None] = {}
        self._mutated: dict[Any, frozenset[str]] = {}
        self.captured: Captured | None = None if early is None else early.captured
        self.outlives: bool = early is not None and early.outlives  # reverse code runs when the call is long over
        self._reads_captured: dict[Any, bool] = {}
        self.reach = Reach()
        self.lifted: weakref.WeakKeyDictionary[Any, tuple[n.Function, Any]]
        self.lifted = weakref.WeakKeyDictionary() if early is None else early.lifted
        from thunkad.compiled.dynamic import Pull
        from thunkad.compiled.shared import SharedPull

        self.dispatch, self.dispatch_kept, self.dispatch_shared = Pull(self), Pull(self, kept=True), SharedPull(self)
        self._keep: list[Any] = []
        self._library: dict[Any, n.Function] = {}

    # ------------------------------------------------------------ what resolution asks

    def keep(self, function: n.Function) -> None:
        """Functions that are told apart by their identity stay alive as long as the world."""
        self._keep.append(function)

    @functools.cached_property
    def derivations(self) -> Derivations:
        """Derivatives of functions that take derivatives."""
        return Derivations(self)

    @functools.cached_property
    def derivatives(self) -> Nested:
        """The same for calls that are decided when the code runs."""
        return Nested(self)

    @property
    def puller(self) -> Any:
        return self.dispatch

    def nested(self, fn: Any, args: Any, kwargs: Any) -> Site | None:
        """What a call of a derivative function stands for; None for any other function."""
        return nested_site(self, fn, args, kwargs)

    def run_again(self, function: n.Function, owner: Any) -> Derivation:
        """A function made inside ``owner`` of which only the arguments are kept for the reverse sweep."""
        return Derivation(function, owner, tuple(p.name for p in function.params), "checkpoint", (), False)

    def library_function(self, fn: Any, count: int, keywords: tuple[str, ...]) -> n.Function:
        """A function that only calls ``fn``, always the same one."""
        key = (id(fn), count, keywords)
        if key not in self._library:
            self._library[key] = library_call(fn, count, keywords)
            self._keep.append(fn)
        return self._library[key]

    def own_function(self, fn: Any) -> n.Function:
        """The same for a function that has a rule itself, with its own parameters."""
        key = (id(fn), None, ())
        if key not in self._library:
            self._library[key] = own_call(fn)
            self._keep.append(fn)
        return self._library[key]

    def callee_kind(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> Kind:
        """The kind of the result of a Python function, an IR function or a derivation."""
        if isinstance(target, n.Function):
            return self.lifted_result_kind(n.Closure(target, ()), kinds, owner)
        return self.result_kind(target, kinds)

    @functools.cached_property
    def forwarding(self) -> Forwarding:
        """Forward mode in this world."""
        return Forwarding(self)

    def assigned_global(self, resolved: Resolved, name: str, value: n.Expr, line: int) -> None:
        """Note that generated code of ``resolved`` assigns a global variable of the user's."""
        self.assigned.note(self, resolved, name, value, line)

    def global_value(self, owner: Any, name: str) -> Any:
        self.assigned.reads(owner, name)
        value = lookup_name(owner, name) if owner is not None else getattr(__builtins__, name, None)
        self.guards.name(owner, name, value)
        return value

    def attribute_value(self, owner: Any, path: str, base: Any, name: str) -> Any:
        value = getattr(base, name)
        if isinstance(value, types.ModuleType):
            load_library()  # reading it may have imported it
        self.guards.attribute(base, name, value)
        return value

    def array_member(self, name: str) -> Any:
        from thunkad.rules.numpy.methods import ATTRIBUTES, METHODS

        return METHODS.get(name) or ATTRIBUTES.get(name) or getattr(np.ndarray, name, None)

    def array_attribute(self, name: str) -> Any:
        from thunkad.rules.numpy.methods import ATTRIBUTES

        return ATTRIBUTES.get(name)

    def numeric_meaning(self, fn: Any, kinds: tuple[Kind, ...]) -> Any:
        """``fn``, or the NumPy function that it is on numbers and arrays (``operator.add``, ``abs``)."""
        from thunkad.rules.python.operators import OPERATORS

        try:
            found = OPERATORS.get(fn)
        except TypeError:
            return fn
        return found if found is not None and all(isinstance(k, Num) for k in kinds) else fn

    def bounded(self, fn: Any, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """The kinds that ``fn`` is looked into for where it is called with ``kinds``."""
        return self.reach.bounded(fn, kinds)

    def given_up(self, fn: Any) -> tuple[str, str] | None:
        """Why ``fn`` isn't looked into, in a message and a hint."""
        return self.reach.given_up.get(fn)

    def result_kind(self, fn: Any, kinds: tuple[Kind, ...]) -> Kind:
        if isinstance(fn, Derivation):
            return self.derivations.result_kind(fn, kinds)
        return self._result_kind((fn, kinds), lambda: self.analysis(fn, kinds))

    def lifted_result_kind(self, closure: n.Closure, kinds: tuple[Kind, ...], owner: Any) -> Kind:
        return self._result_kind((closure.function.name, id(closure.function), kinds),
                                 lambda: self.analysis_of_ir(closure.function, owner, kinds))  # fmt: skip

    def _result_kind(self, key: Any, analyse: Callable[[], Resolved]) -> Kind:
        if key in self._result_kinds:
            found = self._result_kinds[key]
            return UNKNOWN if found is None else found  # None: a recursive call, not known yet
        self._result_kinds[key] = None
        try:
            kind = analyse().result
        except (TooFarError, DrawnInTry):
            del self._result_kinds[key]
            raise
        except Exception:
            kind = UNKNOWN  # what is wrong with the callee is reported if its derivative is needed
        self._result_kinds[key] = kind
        return kind

    # ------------------------------------------------------------ analyses

    def analysis(self, fn: Any, kinds: tuple[Kind, ...]) -> Resolved:
        """``fn`` in normal form, resolved for arguments of these kinds."""
        found = self._analyses.get((fn, kinds))
        if found is None:
            first = look_ahead(self, fn, kinds)
            found = self._analysis(fn, kinds)
            if first and self.suspends and not self.writes_late:  # generators change wherever they are used
                self.writes_late = True
                self._analyses, self._result_kinds, self._mutated = {}, {}, {}
                found = self._analysis(fn, kinds)
        return found

    def _analysis(self, fn: Any, kinds: tuple[Kind, ...]) -> Resolved:
        self.guards.code(fn)
        with self.reach.into(fn, kinds), self.recording():
            found = self._analyses[fn, kinds] = self.drawing(self._analysed, fn, kinds, False)
            careful: Careful = EXITS if shows_exceptions(found, self.form_of) else needs_care(found)
            if careful:
                found = self._analyses[fn, kinds] = self.drawing(self.with_care, fn, kinds, careful)
            self.check_beginning(fn, kinds, found)
        return found

    def _analysed(self, fn: Any, kinds: tuple[Kind, ...], careful: Careful) -> Resolved:
        self.reach.spend(fn, None)
        function = self.form(fn, kinds, careful)
        self.reach.spend(fn, function)
        if self.captured is not None:
            function = hoist(function, fn, self.captured)
        elif self.outlives:
            function = hoist(function, fn, OUTSIDE_DATA)
        found = resolve(function, fn, dict(zip([p.name for p in function.params], kinds)), self)
        self._complete(found, fn)
        return found

    def analysis_of(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> Resolved:
        """The analysis of a Python function, or of an IR function made inside ``owner``."""
        is_ir = isinstance(target, n.Function)
        return self.analysis_of_ir(target, owner, kinds) if is_ir else self.analysis(target, kinds)

    def analysis_of_ir(self, function: n.Function, owner: Any, kinds: tuple[Kind, ...]) -> Resolved:
        key = (id(function), kinds)
        found = self._analyses.get(key)
        if found is None:
            self._keep.append(function)
            names = [
                *(c for c in function.captures if c not in {p.name for p in function.params}),
                *(p.name for p in function.params),
            ]
            with self.reach.into(function, kinds), self.recording():
                found = self._analyses[key] = resolve(function, owner, dict(zip(names, kinds)), self)
            self._complete(found, owner)
        return found

    def _complete(self, found: Resolved, owner: Any) -> None:
        """Tell an analysis what the later passes ask it about callees and captured parameters."""
        found.mutated_params = functools.partial(self.mutated_params, owner=owner)
        found.captured, found.reads_captured = self.captured, functools.partial(self.reads_captured, owner=owner)
        found.cache["outlives"] = self.outlives
        reached("resolved", found)

    def site_mutates(self, owner: Any) -> Any:
        """What says of a site in ``owner``'s code which parameters its callee writes into."""
        return functools.partial(self.mutated_params, owner=owner)

    def mutated_params(self, site: Site, owner: Any, changed: bool = False) -> frozenset[str]:
        """The parameters that the user's function of this site writes into, or that what it writes into may hold.

        ``changed``: only those that it changes.
        """
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if site.how == "construct":
            target = init_of(target)
        key = (id(target), site.kinds, changed)
        if isinstance(target, Derivation):
            return frozenset()  # those of functions that write into their arguments are refused
        if key in self._mutated:
            return self._mutated[key]
        self._mutated[key] = frozenset()  # a recursive call adds nothing that the function's own statements don't
        try:
            resolved = self.analysis_of(target, owner, site.kinds)
        except TooFarError:
            del self._mutated[key]
            raise
        except Exception:
            self._mutated[key] = frozenset(p for (p, _), k in zip(site.bound, site.kinds) if has_memory(k))
            return self._mutated[key]
        aliases = find_aliases(resolved)
        names = [*resolved.function.captures, *(p.name for p in resolved.function.params)]
        written = aliases.changed.intersection(names) if changed else written_params(aliases, tuple(names))
        found = frozenset(p for p in written if has_memory(resolved.kind(n.Name(p))))
        self._mutated[key] = found
        return found

    def reads_captured(self, site: Site, owner: Any) -> bool:
        """Whether the user's function of this site reads a captured parameter, itself or through what it calls."""
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if self.captured is not None and any(
            type(e) is n.Ref and self.captured.reaches(e.value) for _, e in site.bound
        ):
            return True  # a default value
        if site.how == "construct":
            if not is_made_by_init(target):
                return False
            target = init_of(target)
        return self.target_reads_captured(target, owner, site.kinds)

    def target_reads_captured(self, target: Any, owner: Any, kinds: tuple[Kind, ...]) -> bool:
        if self.captured is None:
            return False
        key = (id(target), kinds)
        if key not in self._reads_captured:
            self._reads_captured[key] = False  # a recursive call reads nothing that the function's own statements don't
            resolved = self.analysis_of(target, owner, kinds)
            self._reads_captured[key] = any(sources(resolved, s) for s in walk.statements(resolved.function.body))
        return self._reads_captured[key]

    def form_of(self, fn: Any) -> n.Function:
        """A Python function in normal form."""
        return normal_form(fn)

    def is_pure(self, site: Site, operators: bool = True) -> bool:
        """Whether calling the user's function of this site has no effect."""
        from thunkad.compiled.effects import has_effects

        return not has_effects(self, site.callee, site.kinds, set(), operators)

    def only_yields(self, site: Site) -> bool:
        return self.is_pure(site, False)  # operators are taken to be those of numbers

    # ------------------------------------------------------------ compiled callees

    def pair(
        self,
        site: Site,
        kinds: tuple[Kind, ...],
        demand: tuple[str, ...],
        owner: Any,
        results: tuple[int, ...] | None = None,
        sharing: Sharing = NOTHING_SHARED,
    ) -> tuple[n.Ref, n.Ref, frozenset[str], bool]:
        target: Any = site.callee.function if isinstance(site.callee, n.Closure) else site.callee
        if site.how == "construct":
            target = init_of(target)
        with at_border(target, owner):
            pair = self.pair_for(target, owner, kinds, demand, results, sharing)
        return (
            n.Ref(pair.forward.__name__, pair.forward),
            n.Ref(pair.reverse.__name__, pair.reverse),
            pair.shadowed,
            pair.writes,
        )

    def pair_for(
        self,
        target: Any,
        owner: Any,
        kinds: tuple[Kind, ...],
        demand: tuple[str, ...],
        results: tuple[int, ...] | None = None,
        sharing: Sharing = NOTHING_SHARED,
    ) -> Pair:
        """The two halves of ``target`` (a Python function, or an IR function made inside ``owner``) for one demand.

        ``results``: the entries of the value that have a cotangent (None: all of it).
        """
        is_ir = isinstance(target, n.Function)
        key = (id(target) if is_ir else target, kinds, demand, results, sharing, debugging.enabled)
        pair = self.pairs.get(key)
        if pair is not None:
            return pair
        suffix = "_".join(demand)
        label = self.unique(f"{name_of_target(target)}_forward_{suffix}")
        pair = Pair(Slot(label), Slot(label.replace("_forward_", "_reverse_")), owner if is_ir else target)
        self.pairs[key] = pair
        try:
            if isinstance(target, Derivation):
                names = (pair.forward.__name__, pair.reverse.__name__)
                halves = self.derivations.halves(target, kinds, demand, *names, sharing.volatile)
                for slot, made in zip((pair.forward, pair.reverse), halves):
                    slot.function, slot.owner = made.function, made.owner
                    self.load([made.function], [slot], made.owner)
                return pair
            resolved = self.noted(self.analysis_of(target, owner, kinds), demand)
            pair.shadowed = shadowed_params(resolved, demand, results, sharing)
            aliases = find_aliases(resolved, sharing)
            pair.written = written_params(aliases, demand)
            pair.changed = tuple(p for p in pair.written if p in aliases.changed)
            generator = Generator(resolved, self, self.is_pure, reached, sharing)
            forward, reverse = generator.pair(pair.forward.__name__, pair.reverse.__name__, demand, results)
            pair.forward.function, pair.reverse.function = forward, reverse
            pair.forward.owner = pair.reverse.owner = pair.owner
            self.load([forward, reverse], [pair.forward, pair.reverse], pair.owner)
        except BaseException:
            del self.pairs[key]
            raise
        return pair

    def operator_site(self, op: str, args: tuple[n.Expr, ...], kinds: tuple[Kind, ...], asked: Any = None) -> Site:
        """What an operator on operands of these kinds stands for, where the compiler itself writes one.

        ``asked`` looks the rule up, if it is not this world's reverse mode that does.
        """
        numbers = all(isinstance(k, Num) for k in kinds)
        fn: Any = (UFUNC_OF_OPERATOR if numbers else FUNCTION_OF_OPERATOR)[op]
        result = binary(op, *kinds)
        if not numbers:
            return Site("dynamic", fn, args=args, kinds=kinds, result=result, infix=True)
        decision = (asked or self).lookup(fn, list(kinds))
        return Site(decision.how, fn, decision.entry, args, (), kinds, result, infix=True)

    def call_site(self, fn: Any, args: Any, kwargs: Any, kinds: tuple[Kind, ...], asked: Any = None) -> Site:
        """The same for a call of a library function."""
        return library_site(asked or self, fn, tuple(args), tuple(kwargs), kinds)

    def unique(self, wish: str) -> str:
        count = self.names.get(wish, 0)
        self.names[wish] = count + 1
        return wish if not count else f"{wish}_{count}"

    def pull(self, kept: bool = False, shared: bool = False, in_try: bool = False) -> n.Ref:
        """Run-time dispatch; ``kept``: what is passed may be written later; ``shared``: by the callee."""
        self.late_now()
        if shared:
            dispatch = self.dispatch_shared
            return n.Ref("pull_noting", dispatch.noting) if in_try else n.Ref("pull_shared", dispatch.call)
        return n.Ref("pull_kept", self.dispatch_kept.call) if kept else n.Ref("pull", self.dispatch.call)

    def pull_packed(self, kept: bool = False, shared: bool = False, in_try: bool = False) -> n.Ref:
        self.late_now()
        if shared:
            packed = n.Ref("pull_shared_packed", self.dispatch_shared.packed)
            return n.Ref("pull_noting_packed", self.dispatch_shared.noting_packed) if in_try else packed
        chosen = self.dispatch_kept if kept else self.dispatch
        return n.Ref("pull_kept_packed" if kept else "pull_packed", chosen.packed)

    def load(
        self, functions: list[n.Function], slots: list[Slot], owner: Any, nest: bool = True
    ) -> list[Callable[..., Any]]:
        """Print, compile and load generated functions where ``owner``'s code runs (``nest``: as for :func:`emit`)."""
        emitted = emit(functions, namespace_of(owner), nest)
        names = [f.name for f in functions]
        lifted = lifted_functions(functions)
        loaded = load(emitted, names, owner, f"{functions[0].name} for {self.label}")
        for slot, name in zip(slots, names):
            slot.fill(loaded[name])
        for f in lifted:
            made = loaded[emitted.printed[id(f)]]
            self.lifted[made] = (f, owner)
            remember_made(made, f)
        return [loaded[name] for name in names]


def lifted_functions(functions: list[n.Function]) -> list[n.Function]:
    """The functions made inside these, to any depth."""
    out: dict[int, n.Function] = {}

    def scan(block: list[n.Stmt]) -> None:
        for s in walk.statements(block):
            if type(s) is n.Define:
                scan(s.function.body)
            for e in walk.parts(*walk.expressions(s)):
                if type(e) is n.Closure and id(e.function) not in out:
                    out[id(e.function)] = e.function
                    scan(e.function.body)

    for f in functions:
        scan(f.body)
    return list(out.values())


def namespace_of(owner: Any) -> dict[str, Any] | None:
    """What the free names of ``owner``'s code are bound to, builtins aside."""
    if owner is None:
        return None
    cells = {}
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__ or ()):
        with contextlib.suppress(ValueError):
            cells[name] = cell.cell_contents
    return {**owner.__globals__, **cells}
