"""The rule table as users see it: ``thunkad.rules``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from thunkad.errors import RuleError
from thunkad.records import record
from thunkad.rules.define import one_spelling, opt_out, rrule, target_of_rule
from thunkad.rules.entry import ALTERNATIVE, NON_DIFFERENTIABLE, OPT_OUT, Entry, name_of
from thunkad.rules.load import load_library
from thunkad.rules.resolve import Decision, Exact, decide, losers
from thunkad.rules.signatures import ArrayOf, as_signature, as_type, show, signature_types
from thunkad.rules.table import TABLE


@record(frozen=True)
class Found:
    """What the table says of one call.

    Attributes
    ----------
    how : {'rule', 'constant', 'inside', 'alternative', 'missing', 'undecided'}
    entry : Entry or None
        The registration that decided.
    passed_over : tuple of (Entry, str)
        The other registrations for the function, each with the reason why it was not chosen.
    """

    callee: Any
    how: str
    entry: Entry | None
    passed_over: tuple[tuple[Entry, str], ...]

    def __str__(self) -> str:
        lines = [f"{name_of(self.callee)}: {describe(Decision(self.how, self.entry))}"]
        lines += [f"  not {describe(as_decision(entry))}: {reason}" for entry, reason in self.passed_over]
        return "\n".join(lines)

    __repr__ = __str__


def _short(filename: str) -> str:
    try:
        relative = os.path.relpath(filename)
    except ValueError:  # another drive
        return filename
    return filename if relative.startswith("..") or filename.startswith("<") else relative


def describe(decision: Decision) -> str:
    """A decision in words, with the place of the registration."""
    place = None if decision.entry is None else decision.entry.place
    where = f" at {_short(place.filename)}:{place.line}" if place is not None and place.line else ""
    if decision.how == "inside" and where:
        return f"opted out{where}, looked inside"
    words = {
        "rule": "a rule",
        "constant": "declared non-differentiable",
        "inside": "opted out: looked inside",
        "alternative": "another body to look inside",
        "missing": "no rule",
        "undecided": "decided when it runs",
        "ambiguous": "two rules of which neither is more specific",
    }
    return words[decision.how] + where


def _as_kind(wanted: Any) -> Any:
    if isinstance(wanted, ArrayOf):
        return Exact(np.ndarray, wanted.scalar)
    if isinstance(wanted, tuple):
        raise RuleError("rules.lookup takes one class for each argument, no unions")
    return Exact(wanted)


def as_decision(entry: Entry) -> Decision:
    """What a registration would decide."""
    how = {NON_DIFFERENTIABLE: "constant", OPT_OUT: "inside", ALTERNATIVE: "alternative"}
    return Decision(how.get(entry.kind, "rule"), entry)


class Rules:
    """The rule table: look up, remove, replace for a while.

    Parameters
    ----------
    edges : callable
        ``edges(f)`` of the compiled derivatives, which this part of the library knows nothing of.
    """

    def __init__(self, edges: Callable[[Any], Any]) -> None:
        self._edges = edges

    @property
    def version(self) -> int:
        """Grows with every change of the table."""
        return TABLE.snapshot.version

    def lookup(self, fn: Any, *types: Any) -> Found:
        """What a call of ``fn`` with arguments of these types resolves to now."""
        load_library()
        fn = one_spelling(target_of_rule(fn))
        entries = TABLE.snapshot.entries(fn)
        kinds = [_as_kind(as_type(t)) for t in types]
        decision = decide(entries, kinds) if entries else Decision("missing")
        return Found(fn, decision.how, decision.entry, tuple(losers(entries, decision.entry, kinds)))

    def edges(self, f: Any) -> Any:
        """Every look-up that the compiled derivatives of ``f`` rest on."""
        return self._edges(f)

    def remove(self, fn: Any, *types: Any) -> None:
        """Remove what users registered for ``fn`` with these types; without types, everything.

        Raises
        ------
        RuleError
            There is no such registration.
        """
        fn = one_spelling(target_of_rule(fn))
        wanted = as_signature(types)
        with TABLE.lock:
            found = [e for e in TABLE.pending(fn) if e.layer == "user" and (not types or signature_types(e) == wanted)]
            TABLE.remove(*found)
        if not found:
            raise RuleError(
                f"no rule was registered for {name_of(fn)}" + (f" with the types {show(wanted)}" if types else "")
            )

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """The changes made within the ``with`` block are one: no derivative is compiled with some of them only.

        Other threads wait with changes of their own until the block ends.
        """
        with TABLE.bulk():
            yield

    @contextlib.contextmanager
    def override(self, fn: Any, rule: Callable[..., Any] | None) -> Iterator[None]:
        """Within the ``with`` block ``rule`` is the rule of ``fn`` (None: it has none and is looked inside).

        A change of the table like any other: what is pinned stays so under the policy 'manual'.
        """
        fn = one_spelling(target_of_rule(fn))
        with TABLE.lock:
            before = TABLE.pending(fn)
            if rule is None:
                opt_out(fn)
            else:
                rrule(fn)(rule)
            after = TABLE.pending(fn)
        ours = tuple(e for e in after if e not in before)
        theirs = tuple(e for e in before if e not in after)
        try:
            yield
        finally:
            TABLE.put_back(fn, ours, theirs)

    def __getattr__(self, name: str) -> Any:
        # the package of the same name stays reachable: ``thunkad.rules.numpy``
        try:
            return sys.modules[f"thunkad.rules.{name}"]
        except KeyError:
            raise AttributeError(f"thunkad.rules has no {name!r}") from None
