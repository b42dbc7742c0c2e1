"""A root: one function that derivatives were asked of, its pinned world, and its specializations."""

from __future__ import annotations

import inspect
import threading
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from thunkad import debugging
from thunkad.adjoint.generate import Generator
from thunkad.analysis.aliases import NOTHING_SHARED, Sharing
from thunkad.analysis.sites import Resolved
from thunkad.compiled import policy
from thunkad.compiled.collector import at_rest
from thunkad.compiled.derivations import Derivation
from thunkad.compiled.load import Slot
from thunkad.compiled.nested import derivative_of
from thunkad.compiled.pushing import forward_decision
from thunkad.compiled.target import library_call, own_call
from thunkad.compiled.world import World
from thunkad.errors import StaleRuleError, StaleRuleWarning
from thunkad.forward.generate import pushforward
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import Kind
from thunkad.optimise.release import release
from thunkad.pipeline import reached
from thunkad.rules.entry import name_of
from thunkad.rules.load import load_library
from thunkad.rules.resolve import Decision, lookup
from thunkad.rules.table import TABLE


@dataclass(frozen=True)
class Key:
    """What a specialization is compiled for, besides the function."""

    product: str  # 'grad', 'value_and_grad', 'vjp' or 'jvp'
    wanted: tuple[str, ...]
    single: bool
    has_aux: bool
    kinds: tuple[Kind, ...]
    library: tuple[int, tuple[str, ...]] | None = None
    debug: bool = field(default_factory=lambda: debugging.enabled)


@dataclass
class Specialization:
    """One compiled derivative and the IR that it was printed from."""

    call: Callable[..., Any]
    function: n.Function
    key: Key


class Root:
    """All derivatives of one function in one snapshot of the rule table."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.name = name_of(fn)
        self.lock = threading.RLock()
        self.world: World | None = None
        self.specializations: dict[Key, Specialization] = {}
        self.last: Key | None = None
        self.version = -1  # of the table when the edges were last compared
        self.warned: set[Any] = set()
        self.rebuilds = 0
        ROOTS.add(self)

    # ------------------------------------------------------------ use

    def specialization(self, key: Key) -> Specialization:
        """The derivative for ``key``, compiled if need be, in the world that the policy says."""
        load_library()
        with self.lock:
            self.check_rules()
            if self.world is not None and not self.world.guards.hold():
                self.restart(self.world.snapshot)
            found = self.specializations.get(key)
            if found is None:
                found = self.compile(key)
            self.last = key
            return found

    def compile(self, key: Key) -> Specialization:
        fresh = self.world is None
        world = self.world or World(TABLE.snapshot, self.name)
        try:
            with world.lock, at_rest():
                made = build(self.fn, world, key)
        except BaseException:
            if fresh:
                self.world = None  # a failure pins nothing
            raise
        if fresh:
            self.world, self.version = world, world.snapshot.version
        self.specializations[key] = made
        return made

    def restart(self, snapshot: Any) -> None:
        """Forget what was compiled; what is compiled from now on resolves in ``snapshot``."""
        self.world = World(snapshot, self.name)
        self.specializations = {}
        self.rebuilds += 1

    # ------------------------------------------------------------ rules that changed

    def changed_edges(self) -> list[tuple[Any, Decision, Decision]]:
        """Look-ups that would now come out differently: (callee, pinned decision, decision now)."""
        world = self.world
        if world is None or world.snapshot is TABLE.snapshot:
            return []
        now = TABLE.snapshot
        out = []
        for edges, look in ((world.edges, lookup), (world.forward_edges, forward_decision)):
            for (fn, kinds), old in list(edges.items()):
                if now.entries(fn) is world.snapshot.entries(fn):
                    continue
                new = look(now, fn, list(kinds))
                if (new.how, new.entry) != (old.how, old.entry):
                    out.append((fn, old, new))
        return out

    def check_rules(self) -> None:
        """Compare with the table if it was edited, and do what the policy says about what is stale."""
        if self.world is None or self.version == TABLE.snapshot.version:
            return
        version = TABLE.snapshot.version
        changed = self.changed_edges()
        if not changed:
            self.version = version
            return
        chosen = policy.current()
        if chosen == "auto":
            self.restart(TABLE.snapshot)
            self.version = version
            return
        names = ", ".join(dict.fromkeys(name_of(fn) for fn, _, _ in changed))
        message = (
            f"the rules for {names} have changed since the derivative of {self.name} was compiled; "
            "it still uses the old ones: call thunkad.refresh() to rebuild it"
        )
        if chosen == "error":
            raise StaleRuleError(message)
        mark = tuple((id(fn), id(new.entry), new.how) for fn, _, new in changed)
        if mark not in self.warned:
            self.warned.add(mark)
            warnings.warn(message, StaleRuleWarning, stacklevel=5)
        self.version = version

    def rebuild(self) -> int:
        """Compile everything anew with the rules of now; returns how many derivatives that were."""
        with self.lock:
            keys = list(self.specializations)
            self.restart(TABLE.snapshot)
            self.version = TABLE.snapshot.version
            self.warned.clear()
            for key in keys:
                try:
                    self.compile(key)
                except Exception:
                    continue  # reported when that derivative is next asked for
            return len(keys)


ROOTS: weakref.WeakSet[Root] = weakref.WeakSet()
_library_roots: dict[int, Root] = {}
_attribute = "__thunkad_root__"
_lock = threading.Lock()


def root_of(fn: Any) -> Root:
    """The root of ``fn``, kept on the function itself so that it lives as long as the function."""
    found = getattr(fn, "__dict__", {}).get(_attribute)
    if found is not None and found.fn is fn:
        return found
    with _lock:
        if hasattr(fn, "__dict__") and not isinstance(fn, type):
            found = fn.__dict__.get(_attribute)
            if found is None or found.fn is not fn:
                found = Root(fn)
                try:
                    fn.__dict__[_attribute] = found
                    return found
                except TypeError:
                    pass
        kept = _library_roots.get(id(fn))
        if kept is None or kept.fn is not fn:
            kept = _library_roots[id(fn)] = Root(fn)
        return kept


def has_own_rule(fn: Any, world: World, kinds: tuple[Kind, ...]) -> bool:
    """Whether the table says something of the function itself, so that it is not looked into."""
    parameters = inspect.signature(fn, follow_wrapped=False).parameters.values()
    plain = [p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters]
    decision = world.lookup(fn, [k for k, positional in zip(kinds, plain) if positional])
    return decision.how in ("rule", "constant", "alternative")


def resolved_for(fn: Any, world: World, key: Key) -> Resolved:
    """The function that is differentiated: ``fn`` itself, or the plain call of it where only a rule counts."""
    if key.library is not None:
        return world.analysis_of_ir(library_call(fn, *key.library), None, key.kinds)
    if has_own_rule(fn, world, key.kinds):
        return world.analysis_of_ir(own_call(fn), fn, key.kinds)
    return world.analysis(fn, key.kinds)


def build(fn: Any, world: World, key: Key) -> Specialization:
    """Compile one derivative."""
    if key.product == "jvp":
        return build_jvp(fn, world, key)
    resolved = resolved_for(fn, world, key)
    owner = resolved.owner
    # what vjp keeps for its pullback must survive that the caller changes the arguments or the value meanwhile
    sharing = Sharing(volatile=names_outside(resolved)) if key.product == "vjp" else NOTHING_SHARED
    generator = Generator(resolved, world, world.is_pure, reached, sharing)
    base = resolved.function.name
    if key.product == "vjp":
        function = generator.vjp(f"{base}_vjp", key.wanted, key.has_aux)
    else:
        with_value = key.product == "value_and_grad"
        name = f"{base}_value_and_grad" if with_value else f"{base}_grad"
        function = generator.gradient(name, key.wanted, key.single, with_value, key.has_aux)
        if derivative_of(fn) is None:
            function.body = release(function.body, generator.holds_array)
    if derivative_of(fn) is not None and key.product != "vjp":
        function, owner = whole(function, world)
    slot = Slot(function.name, function)
    (call,) = world.load([function], [slot], owner)
    return Specialization(call, function, key)


def whole(function: n.Function, world: World) -> tuple[n.Function, Any]:
    """A derivative of a derivative with all that it calls pasted, and in whose globals it runs."""
    halves = [s for key, p in world.pairs.items() if isinstance(key[0], Derivation) for s in (p.forward, p.reverse)]
    made = world.derivations.whole(function, *halves)
    return made.function, made.owner


def names_outside(resolved: Resolved) -> tuple[str, ...]:
    """The parameters and what is returned: values that the caller has hold of, too."""
    function = resolved.function
    return (*function.captures, *(p.name for p in function.params), *walk.names(function.body[-1].value))  # type: ignore[attr-defined]


def build_jvp(fn: Any, world: World, key: Key) -> Specialization:
    """Compile a function of values and tangents."""
    forwarding = world.forwarding
    target, owner = fn, fn
    if key.library is not None:
        target, owner = library_call(fn, *key.library), None
    elif forwarding.lookup(fn, list(key.kinds)).how in ("rule", "constant"):
        target = own_call(fn)
    resolved = forwarding.analysis(target, owner, key.kinds)
    name = f"{resolved.function.name}_jvp"
    function = pushforward(name, resolved, key.wanted, forwarding, world.is_pure, public=True)
    if derivative_of(fn) is not None:
        inner = [slot for (target, *_), slot in forwarding.slots.items() if isinstance(target, Derivation)]
        made = world.derivations.whole(function, *inner)
        function, owner = made.function, made.owner
    (call,) = world.load([function], [Slot(name, function)], owner)
    return Specialization(call, function, key)
