"""What was asked of the rule table while something was compiled, or while it ran, and what the answers were."""

from __future__ import annotations

from typing import Any

import numpy as np

from thunkad.errors import RuleError
from thunkad.kinds.describe import describe as describe_kind
from thunkad.records import field, record
from thunkad.rules.entry import FRULE, RRULE, Entry, name_of
from thunkad.rules.resolve import MISSING, Decision, Exact, lookup, losers
from thunkad.rules.signatures import is_virtual, signature_types
from thunkad.rules.table import Snapshot


@record(frozen=True)
class Question:
    """One look-up: the callee, what is known of its arguments, and which sort of rule is wanted."""

    fn: Any
    kinds: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...] = ()
    mode: str = RRULE

    def ask(self, snapshot: Snapshot) -> Decision:
        """The answer of one snapshot."""
        if self.mode == FRULE:
            return forward_decision(snapshot, self.fn, self.kinds, self.named)
        return lookup(snapshot, self.fn, self.kinds, RRULE, self.named)


def forward_decision(snapshot: Any, fn: Any, kinds: Any, named: Any = ()) -> Decision:
    """What ``snapshot`` says of ``fn`` in forward mode.

    A user's reverse rule goes before a forward rule of the library: the two may not be derivatives of one function.
    """
    forward, reverse = lookup(snapshot, fn, kinds, FRULE, named), lookup(snapshot, fn, kinds, RRULE, named)
    if forward.how == "missing":
        return reverse if reverse.how != "missing" else MISSING
    if _is_users(reverse) and not _is_users(forward):
        return reverse
    return forward


def _is_users(decision: Decision) -> bool:
    return decision.entry is not None and decision.entry.layer == "user"


@record(frozen=True)
class Change:
    """A look-up whose answer has changed."""

    question: Question
    before: Decision
    now: Decision

    @property
    def mark(self) -> Any:
        """What makes it another change than one that was told of before, however the callee was asked for."""
        return self.question.fn, self.question.mode, effect(self.before), effect(self.now)

    @property
    def callee(self) -> str:
        """The callee's name."""
        return name_of(self.question.fn)


Answers = dict[Question, Decision]


def effect(decision: Decision) -> Any:
    """What compiled code depends on: without a rule the function is looked into, whether somebody opted out or not."""
    return "inside" if decision.how in ("inside", "missing") else decision


def changes(answers: Answers, old: Snapshot, new: Snapshot) -> list[Change]:
    """The look-ups that come out differently in ``new``; for equal entries only if abstract classes are involved."""
    out = []
    for question, before in answers.items():
        entries = new.entries(question.fn)
        if entries is old.entries(question.fn) and not any(is_virtual(signature_types(e)) for e in entries):
            continue
        now = ask_again(question, new)
        if effect(now) != effect(before):
            out.append(Change(question, before, now))
    return out


AMBIGUOUS = Decision("ambiguous")


def ask_again(question: Question, snapshot: Snapshot) -> Decision:
    """The answer now; an ambiguity is an answer, too: rebuilding reports it."""
    try:
        return question.ask(snapshot)
    except RuleError:
        return AMBIGUOUS


# ---------------------------------------------------------------- as users see them


@record(frozen=True)
class Edge:
    """One look-up that compiled derivatives of a function rest on.

    Attributes
    ----------
    callee : object
        The function that was looked up.
    types : tuple of str
        What was known of its arguments.
    how : {'rule', 'constant', 'inside', 'alternative', 'missing', 'undecided'}
        What the table answered.
    entry : Entry or None
        The registration that decided.
    mode : {'rrule', 'frule'}
    late : bool
        Asked while the derivative ran, not while it was compiled.
    failed : bool
        Asked by an attempt to compile that failed.
    passed_over : tuple of (Entry, str)
        The other registrations for the callee, each with the reason why it was not chosen.
    """

    callee: Any
    types: tuple[str, ...]
    how: str
    entry: Entry | None = field(default=None, repr=False)
    mode: str = RRULE
    late: bool = False
    failed: bool = False
    passed_over: tuple[tuple[Entry, str], ...] = field(default=(), repr=False)

    @property
    def decision(self) -> Decision:
        """The answer as the rule table gives it."""
        return Decision(self.how, self.entry)

    @property
    def is_of_library(self) -> bool:
        """Whether neither the callee nor what decided is the user's."""
        module = getattr(self.callee, "__module__", None) or "builtins"
        users = self.entry is not None and self.entry.layer == "user"
        return not users and (isinstance(self.callee, np.ufunc) or module.split(".")[0] in _LIBRARY)

    def __str__(self) -> str:
        marks = [
            m
            for m, is_set in (("forward", self.mode == FRULE), ("at run time", self.late), ("failed", self.failed))
            if is_set
        ]
        place = self.entry.place if self.entry is not None else None
        where = f" ({place.filename}:{place.line})" if place is not None and place.line else ""
        return f"{name_of(self.callee)}({', '.join(self.types)}): {self.how}{where}" + (
            f" [{', '.join(marks)}]" if marks else ""
        )


_LIBRARY = ("numpy", "scipy", "math", "cmath", "builtins", "operator", "_operator", "thunkad")


def as_edge(
    question: Question, decision: Decision, snapshot: Snapshot, late: bool = False, failed: bool = False
) -> Edge:
    """A look-up as it is shown."""
    lost = losers(snapshot.entries(question.fn), decision.entry, list(question.kinds), question.mode)
    shown = (*map(show_kind, question.kinds), *(f"{k}={show_kind(v)}" for k, v in question.named))
    return Edge(question.fn, shown, decision.how, decision.entry, question.mode, late, failed, tuple(lost))


def show_kind(kind: Any) -> str:
    """A kind, or the class of a value, in words."""
    if isinstance(kind, Exact):
        return f"{kind.cls.__name__}[{kind.scalar.__name__}]" if kind.scalar is not None else kind.cls.__name__
    return describe_kind(kind)
