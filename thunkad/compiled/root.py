"""A root: one function that derivatives were asked of, the rules that it is pinned to, and its specializations."""

from __future__ import annotations

import abc
import functools
import threading
import types
import warnings
import weakref
from typing import Any

from thunkad.analysis.sources import Captured
from thunkad.compiled import policy
from thunkad.compiled.build import Key, Specialization, build
from thunkad.compiled.collector import at_rest
from thunkad.compiled.edges import Answers, Change, Edge, as_edge, ask_again, changes
from thunkad.compiled.following import built
from thunkad.compiled.world import World
from thunkad.errors import StaleRuleError, StaleRuleWarning, ThunkadError
from thunkad.lifetimes import carries, carry, own_attribute
from thunkad.records import record
from thunkad.rules.entry import name_of
from thunkad.rules.load import load_library
from thunkad.rules.registry import describe
from thunkad.rules.signatures import is_virtual, signature_types
from thunkad.rules.table import TABLE, Snapshot, is_own
from thunkad.runtime.marks import derivative_of
from thunkad.tree.parse import deep_recursion

abstract_token = abc.get_cache_token


class Kept:
    """A specialization and what is known of its being up to date.

    ``seen`` is the table with which its look-ups were last compared, ``token`` that of abstract classes at that moment;
    ``stale`` is what would come out differently, though it is pinned.
    """

    def __init__(self, specialization: Specialization, seen: Snapshot, token: object) -> None:
        self.specialization = specialization
        self.cell = types.CellType(seen)  # the tests in front of the compiled code read it
        self.token = token
        self.stale: tuple[Change, ...] = ()

    @property
    def seen(self) -> Snapshot:
        return self.cell.cell_contents

    def retire(self) -> None:
        """Something else takes its place: its tests never pass again."""
        self.cell.cell_contents = None

    def compared(self, seen: Snapshot, token: object, stale: tuple[Change, ...]) -> None:
        """Note the outcome of a comparison."""
        self.token, self.stale = token, stale
        self.cell.cell_contents = seen

    def is_virtual(self) -> bool:
        """Whether abstract classes had a say."""
        world = self.specialization.world
        questions = [*world.answers(), *(world.late.answers() if world.is_dynamic else ())]
        return any(is_virtual(signature_types(e)) for q in questions for e in world.snapshot.entries(q.fn))

    @property
    def lags(self) -> bool:
        """Whether the policy has a say at the next call, even if nothing changes until then."""
        world = self.specialization.world
        return bool(self.stale) or (world.is_dynamic and world.snapshot is not self.seen)


@record(frozen=True)
class Rebuilt:
    """What :meth:`Root.refresh` did for one function."""

    name: str
    changes: tuple[Change, ...]
    rebuilt: tuple[Key, ...]
    failed: tuple[tuple[Key, Exception], ...]


class Root:
    """All derivatives of one function.

    ``snapshot`` is the table that new specializations resolve in: that of the first one, until it is refreshed.
    """

    #: What is kept of a function that is called with ever new functions as arguments, or meets them when it runs.
    LIMIT = 256

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.name = _name(fn)
        self.lock = threading.RLock()
        self.snapshot: Snapshot | None = None
        self.kept: dict[Key, Kept] = {}
        self.failed: dict[Key, Answers] = {}
        self.last: Key | None = None
        self.warned: set[Any] = set()
        self.rebuilds = 0
        self.reason = ""  # of the last rebuild, in words
        self.places: list[Captured] = []  # where captured parameters that were asked for are found
        self.entries: dict[Any, Any] = {}  # what users call, by what they asked for; each checks that it is up to date
        ROOTS.add(self)

    def __reduce__(self) -> Any:
        return _nothing, ()  # a copy in another process compiles for itself

    @property
    def specializations(self) -> dict[Key, Specialization]:
        """The compiled derivatives, the oldest first."""
        return {key: kept.specialization for key, kept in list(self.kept.items())}

    # ------------------------------------------------------------ use

    def specialization(self, key: Key) -> Specialization:
        """The derivative for ``key``, compiled if need be, and as up to date as the policy wants it."""
        return self.ready(key).specialization

    def ready(self, key: Key) -> Kept:
        load_library()
        with self.lock:
            kept = self.kept.get(key)
            if kept is None:
                kept = self.first(key)
            kept = self.settle(kept)
            if key.places is None:
                self.last = key
            return kept

    def first(self, key: Key) -> Kept:
        """Compile what was not there; with the rules of now if those that this root is pinned to don't do."""
        now = TABLE.snapshot
        pinned = now if self.snapshot is None or policy.current() == "auto" else self.snapshot
        try:
            kept = self.compile(key, pinned)
        except ThunkadError:
            if not changes(self.failed[key], pinned, now):
                raise
            return self.compile(key, now)
        self.snapshot = pinned
        return kept

    def compile(self, key: Key, snapshot: Snapshot) -> Kept:
        self.drop(key)
        worlds: list[World] = []

        def world_of() -> World:
            worlds.append(World(snapshot, self.name))
            return worlds[-1]

        try:
            with at_rest(), deep_recursion():  # a chain of callees is compiled from within
                made = built(self.fn, key, world_of)
        except BaseException:
            self.failed[key] = worlds[-1].answers()  # shown, but not kept: the next call tries again
            raise
        world = made.world
        self.failed.pop(key, None)
        while len(self.kept) >= self.LIMIT:
            self.drop(next(iter(self.kept)))
        kept = self.kept[key] = Kept(made, snapshot, abstract_token())
        world.met = functools.partial(self.met, kept)
        return kept

    def drop(self, key: Key) -> None:
        """Keep what is there for ``key`` no longer."""
        kept = self.kept.pop(key, None)
        if kept is not None:
            kept.retire()

    def rebuild(self, kept: Kept, snapshot: Snapshot, reason: str) -> Kept:
        self.rebuilds += 1
        self.reason = reason
        return self.compile(kept.specialization.key, snapshot)

    # ------------------------------------------------------------ being up to date

    def settle(self, kept: Kept) -> Kept:
        """``kept``, or what takes its place: rebinding is followed, and changed rules as the policy says."""
        world = kept.specialization.world
        broken = None if world.holds() else world.guards.broken()
        if broken is not None:
            snapshot = TABLE.snapshot if policy.current() == "auto" else world.snapshot
            kept = self.rebuild(kept, snapshot, f"{broken} was bound to something else")
            world = kept.specialization.world
        elif world.is_dynamic and (not world.late.holds() or world.late.is_large):
            world.renew_late(world.snapshot)
        now, token = TABLE.snapshot, abstract_token()
        unseen = world.is_dynamic and world.late.unseen
        if kept.seen is now and kept.token == token and not kept.lags and not unseen:
            return kept
        with world.lock:
            early, late = self.compare(world, now)
            chosen = policy.current()
            if not (early or late):
                if chosen == "auto":
                    world.advance(now)
            elif chosen == "auto" or (late and world.late_failed):
                if not early:
                    world.renew_late(now)
                else:
                    self.snapshot = now
                    return self.rebuild(kept, now, because((*early, *late)))
                late = []
            elif chosen == "error":
                raise StaleRuleError(self.message((*early, *late)))
            kept.compared(now, token, (*early, *late))
        if kept.stale:
            self.warn(kept.stale)
        return kept

    def met(self, kept: Kept, late: World, answers: Answers) -> None:
        """A call met callees for the first time, and resolved them in the table that it is pinned to.

        What was registered while it ran is the business of the next one.
        """
        seen = kept.seen
        if seen is None or seen is late.snapshot:
            return
        stale = tuple(changes(answers, late.snapshot, seen))
        if stale and policy.current() == "error":
            raise StaleRuleError(self.message(stale))
        if stale and policy.current() == "manual":
            self.warn(stale)

    def compare(self, world: World, now: Snapshot) -> tuple[list[Change], list[Change]]:
        """Look-ups that come out differently: those of compiling, and those of running."""
        early = changes(world.answers(), world.snapshot, now)
        late = changes(world.late.answers(), world.late.snapshot, now) if world.is_dynamic else []
        return early, late

    def warn(self, stale: tuple[Change, ...]) -> None:
        new = [change for change in stale if change.mark not in self.warned]
        if new:
            self.warned.update(change.mark for change in new)
            warnings.warn(self.message(tuple(new)), StaleRuleWarning, stacklevel=_level_of_user())

    def message(self, stale: tuple[Change, ...]) -> str:
        lines = "".join(f"\n  {line}" for line in dict.fromkeys(map(in_words, stale)))
        return (
            f"the derivative of {self.name} was compiled with rules that have changed:{lines}\n"
            "  thunkad.refresh() rebuilds it; thunkad.set_refresh_policy('auto') makes every call do so"
        )

    def refresh(self, everything: bool = False) -> Rebuilt | None:
        """Rebuild what is stale, or everything, with the rules of now; None if there was nothing to do."""
        with self.lock:
            now = TABLE.snapshot
            found: dict[Change, None] = {}
            rebuilt, failed = [], []
            for key, kept in list(self.kept.items()):
                world = kept.specialization.world
                with world.lock:
                    early, late = self.compare(world, now)
                    found.update(dict.fromkeys((*early, *late)))
                    if not (early or everything):
                        world.renew_late(now) if late else world.advance(now)
                        kept.compared(now, abstract_token(), ())
                        continue
                try:
                    self.rebuild(kept, now, because((*early, *late)) or "refresh(all=True)")
                    rebuilt.append(key)
                except Exception as error:
                    failed.append((key, error))  # the next call of that derivative reports it
            if self.snapshot is not None:
                self.snapshot = now
            self.warned.clear()
            if not (found or rebuilt or failed):
                return None
            return Rebuilt(self.name, tuple(found), tuple(rebuilt), tuple(failed))

    # ------------------------------------------------------------ inspection

    def edges(self) -> list[Edge]:
        """Every look-up of the live specializations, and of attempts that failed."""
        found: dict[Edge, None] = {}
        with self.lock:
            for kept in self.kept.values():
                world = kept.specialization.world
                now = world.snapshot  # it may have moved on to one with other answers to the same effect
                found.update({as_edge(q, ask_again(q, now), now): None for q in world.answers()})
                if world.is_dynamic:
                    found.update({as_edge(q, ask_again(q, now), now, late=True): None for q in world.late.answers()})
            for answers in self.failed.values():
                found.update({as_edge(q, d, TABLE.snapshot, failed=True): None for q, d in answers.items()})
        return list(found)


def in_words(change: Change) -> str:
    """A change in a line."""
    return f"{change.callee}: {describe(change.before)} -> {describe(change.now)}"


def because(found: tuple[Change, ...]) -> str:
    """Changes as the reason of a rebuild."""
    return "; ".join(dict.fromkeys(map(in_words, found)))


def _level_of_user() -> int:
    """The stack level of the first caller outside this package, for warnings."""
    import sys

    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(frame: types.FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name.split(".")[0] == "thunkad" or frame.f_code.co_filename.startswith("<thunkad ")


def _name(fn: Any) -> str:
    """How messages call a function, derivatives by what they are of."""
    derivative = derivative_of(fn)
    return name_of(fn) if derivative is None else f"{derivative.product}({_name(derivative.f)})"


def _nothing() -> None:
    """What a root is unpickled as."""


ROOTS: weakref.WeakSet[Root] = weakref.WeakSet()
ATTRIBUTE = "__thunkad_root__"
_library_roots: dict[int, Root] = {}
_lock = threading.Lock()


def root_of(fn: Any) -> Root:
    """The root of ``fn``, kept on the function or class itself so that it lives as long."""
    if not carries(fn):
        return _library_root(fn)
    found = own_attribute(fn, ATTRIBUTE)
    if found is None or not is_own(found.fn, fn):
        with _lock:
            found = own_attribute(fn, ATTRIBUTE)
            if found is None or not is_own(found.fn, fn):
                found = Root(fn)
                carry(fn, ATTRIBUTE, found)
    return found  # type: ignore[no-any-return]


def _library_root(fn: Any) -> Root:
    found = _library_roots.get(id(fn))
    if found is not None and found.fn is fn:
        return found
    root = Root(fn)
    owner = getattr(fn, "__self__", None)
    if owner is None or isinstance(owner, (types.ModuleType, type)):
        with _lock:
            return _library_roots.setdefault(id(fn), root)
    return root  # a method of an object that may be large


__all__ = ["ROOTS", "Kept", "Key", "Rebuilt", "Root", "Specialization", "build", "root_of"]
