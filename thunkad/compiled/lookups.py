"""Look-ups of one world: in which snapshot, what they left behind, and when a later snapshot will do.

A world has a *late* world, in which calls are decided, and their callees compiled, that are met only when its code
runs.  A call runs with one late world from start to end, whatever happens to the table meanwhile; a late world is its
own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thunkad.analysis.stand_ins import generic
from thunkad.compiled.conditions import checker
from thunkad.compiled.edges import AMBIGUOUS, Answers, Question, changes
from thunkad.compiled.guards import Guards
from thunkad.rules.entry import RRULE, Entry
from thunkad.rules.load import load_library
from thunkad.rules.resolve import MISSING, Decision, exact
from thunkad.rules.table import Snapshot
from thunkad.rules.template import reads_of, template_of
from thunkad.runtime.half_done import whole


def _mark(value: Any) -> Any:
    """As much as :func:`exact` tells of a value, and more."""
    cls = type(value)
    return cls if cls is not np.ndarray and not issubclass(cls, np.ndarray) else (cls, value.dtype)


class Lookups:
    """What a world asks of the rule table."""

    LIMIT = 256

    def __init__(self, snapshot: Snapshot, label: str, early: Any = None) -> None:
        self.snapshot, self.label = snapshot, label
        self.lock = threading.RLock()
        self.records: list[Answers] = [{}]
        self._noting = self.records[0]
        self.late: Any = self if early is not None else None
        self.unseen = True  # something was looked up since the answers were last compared with the table
        self.failed = False  # a late callee could not be compiled
        self.met: Callable[[Any, Answers], None] | None = None  # told what a call that ran was the first to look up
        self.fresh: Answers = {}  # which is this
        self.known: dict[Any, Decision] = {}  # answers to late look-ups, by what is quickly told of their arguments
        self._running = threading.local()
        self.guards = Guards()
        self._check: tuple[int, Any] = (-1, None)

    def class_member(self, cls: type, name: str, after: type | None = None) -> None:
        """It was asked what ``cls`` has under a name; see :func:`thunkad.analysis.members.member`."""
        self.guards.member(cls, name, after)

    def pin(self, fn: Any, name: str, value: Any) -> None:
        """The value of a free name of ``fn`` is written down in the code."""
        self.guards.pinned(fn, name, value)

    def imports(self, name: str | None) -> None:
        """A function imports this module, which may be there already."""
        if name is not None:
            self.guards.imported(name)

    def left_to_defaults(self, fn: Any) -> None:
        """A call left parameters of ``fn`` to their defaults."""
        self.guards.defaults(fn)

    def chosen(self, fn: Any, classes: tuple[type, ...], found: Any) -> None:
        """A generic function was resolved for arguments of these classes."""
        self.guards.choice(generic(fn), classes, found)

    def lookup(self, fn: Any, kinds: list[Any], named: dict[str, Any] | None = None, mode: str = RRULE) -> Decision:
        """The one way to the rule table; records what was asked and answered."""
        question = Question(fn, tuple(kinds), tuple(named.items()) if named else (), mode)
        with self.lock:
            decision = self.ask(question, self._noting)
            if decision.how == "rule":
                self.guard_rule(decision.entry)
        return decision

    def late_lookup(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: str = RRULE) -> Decision:
        """The same while code runs, from the arguments themselves; remembered."""
        if getattr(type(fn), "passes", False):
            return MISSING
        quick = None if kwargs else (fn, mode, *map(_mark, args))
        found = self.known.get(quick)
        if found is not None:
            return found
        named = tuple((k, exact(v)) for k, v in kwargs.items()) if kwargs else ()
        question = Question(fn, tuple(map(exact, args)), named, mode)
        found = self.records[0].get(question)
        if found is None:
            load_library()  # the running code may have imported a module that there are rules for
            with self.lock:
                found = self.ask(question, self.records[0])
        if found is AMBIGUOUS:  # or another thread is about to note the answer
            found = question.ask(self.snapshot)
        if quick is not None:
            self.known[quick] = found
        return found

    def ask(self, question: Question, record: Answers) -> Decision:
        """The answer of this world's snapshot, noted even if it is that two rules are equally good."""
        self.unseen = True
        record[question] = AMBIGUOUS
        found = record[question] = question.ask(self.snapshot)
        if self.late is self:
            self.fresh[question] = found
        return found

    def guard_rule(self, entry: Entry) -> None:
        """A rule that is pasted is pasted as it is written, and with what its names mean, now."""
        if entry.layer == "user" and entry.function is not None:
            if entry.kind == RRULE:
                template_of(entry)
            for (function, name), value in reads_of(entry).items():
                self.guards.pinned(function, name, value)
            self.guards.code(entry.function)

    @property
    def is_large(self) -> bool:
        """Whether more was looked up while code ran than is worth keeping: ever new callees."""
        return len(self.records) > self.LIMIT or len(self.records[0]) > 4 * self.LIMIT

    def holds(self) -> bool:
        """Whether everything that the code rests on is as it was."""
        count, check = self._check
        if count != len(self.guards):
            guards = list(self.guards)
            check = checker(guards)
            self._check = len(guards), check
        return check()

    def answers(self) -> Answers:
        """Every look-up that the code of this world rests on."""
        with self.lock:
            self.unseen = False
            return {question: decision for record in self.records for question, decision in record.items()}

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """What is noted within belongs to one piece of work, which :meth:`begin_pass` may start anew."""
        outer, self._noting = self._noting, {}
        self.records.append(self._noting)
        try:
            yield
        finally:
            self._noting = outer

    def begin_pass(self) -> None:
        """Resolution starts over with better kinds: what the last pass asked doesn't count."""
        if self._noting is not self.records[0]:
            self._noting.clear()

    # ------------------------------------------------------------ what runs

    def late_now(self) -> Any:
        """The late world of the call that is running in this thread."""
        running = getattr(self._running, "late", None)
        return self.late_of_calls() if running is None else running

    def late_of_calls(self) -> Any:
        """The late world of a call that begins now."""
        late = self.late
        if late is None:
            with self.lock:
                late = self.late = self.late or type(self)(self.snapshot, self.label, self)
        return late

    def run(self, call: Callable[..., Any], values: tuple[Any, ...], late: Any = None) -> Any:
        """Call code of this world; what it decides while it runs, it decides in one late world."""
        late = late or self.late_of_calls()
        found = self.run_in(late, call, values)
        if late.fresh and self.met is not None:
            with late.lock:
                fresh, late.fresh = late.fresh, {}
            self.met(late, fresh)
        return found

    def run_in(self, late: Any, call: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """The rest of a call that began in this late world: it finishes with the rules that it began with."""
        running = self._running
        before = getattr(running, "late", None)
        running.late = late
        try:
            return whole(call, values)
        finally:
            running.late = before

    def renew_late(self, snapshot: Snapshot) -> None:
        """Calls from now on decide in ``snapshot``, and compile anew what they need; running ones go on as before."""
        with self.lock:
            self.snapshot = snapshot
            self.late = type(self)(snapshot, self.label, self)

    def advance(self, snapshot: Snapshot) -> None:
        """Move on to a later snapshot in which every look-up so far has the same answer."""
        late = self.late
        if late is None:
            self.snapshot = snapshot
            return
        with late.lock:  # nothing new is looked up meanwhile
            if changes(late.answers(), late.snapshot, snapshot):
                self.renew_late(snapshot)
            else:
                self.snapshot = late.snapshot = snapshot

    @property
    def late_failed(self) -> bool:
        """Whether a call that was decided while running failed for want of a rule."""
        return self.late is not None and self.late.failed

    def handle(self) -> Any:
        """What rules are handed that differentiate a function argument."""
        from thunkad.compiled.handle import Handle

        return Handle(self)

    @property
    def is_dynamic(self) -> bool:
        """Whether some calls are decided only when the code runs."""
        return self.late is not None and self.late is not self
