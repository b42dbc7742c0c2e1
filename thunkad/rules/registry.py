"""The rule table as users see it: ``thunkad.rules``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from thunkad.errors import RuleError
from thunkad.rules.define import opt_out, rrule
from thunkad.rules.entry import RRULE, Entry, name_of
from thunkad.rules.load import load_library
from thunkad.rules.resolve import Decision, decide
from thunkad.rules.signatures import signature_types
from thunkad.rules.table import TABLE


@dataclass(frozen=True)
class Found:
    """What the table says of one call.

    Attributes
    ----------
    how : {'rule', 'constant', 'inside', 'alternative', 'missing', 'undecided'}
    entry : Entry or None
        The registration that decided.
    candidates : tuple of Entry
        Every registration for the function.
    """

    callee: Any
    how: str
    entry: Entry | None
    candidates: tuple[Entry, ...]

    def __str__(self) -> str:
        return f"{name_of(self.callee)}: {describe(Decision(self.how, self.entry))}"

    __repr__ = __str__


def describe(decision: Decision) -> str:
    """A decision in words, with the place of the registration."""
    entry = decision.entry
    where = "" if entry is None or entry.place.line == 0 else f' ("{entry.place.filename}", line {entry.place.line})'
    words = {
        "rule": "a rule",
        "constant": "declared non-differentiable",
        "inside": "opted out: looked inside",
        "alternative": "another body to look inside",
        "missing": "no rule",
        "undecided": "decided when it runs",
    }
    return words[decision.how] + where


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
        entries = TABLE.snapshot.entries(fn)
        decision = decide(entries, list(types), RRULE) if entries else Decision("missing")
        return Found(fn, decision.how, decision.entry, entries)

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
        found = [e for e in TABLE.snapshot.entries(fn) if e.layer == "user" and (not types or signature_types(e) == types)]
        if not found:
            raise RuleError(f"no rule was registered for {name_of(fn)}" + (f" with the types {types}" if types else ""))
        with TABLE.bulk():
            for entry in found:
                TABLE.remove(entry)

    @contextlib.contextmanager
    def override(self, fn: Any, rule: Callable[..., Any] | None) -> Iterator[None]:
        """Within the ``with`` block ``rule`` is the rule of ``fn`` (None: it has none and is looked inside)."""
        before = TABLE.snapshot.entries(fn)
        if rule is None:
            opt_out(fn)
        else:
            rrule(fn)(rule)
        made = [e for e in TABLE.snapshot.entries(fn) if e not in before]
        replaced = [e for e in before if e not in TABLE.snapshot.entries(fn)]
        try:
            yield
        finally:
            with TABLE.bulk():
                for entry in made:
                    if entry in TABLE.snapshot.entries(fn):
                        TABLE.remove(entry)
                        for old in replaced:
                            TABLE.add(old)

    def __getattr__(self, name: str) -> Any:
        # the package of the same name stays reachable: ``thunkad.rules.numpy``
        try:
            return sys.modules[f"thunkad.rules.{name}"]
        except KeyError:
            raise AttributeError(f"thunkad.rules has no {name!r}") from None
