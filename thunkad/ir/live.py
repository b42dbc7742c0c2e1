"""Liveness: which locals may still be read after a statement, and at the head of a loop.

The structured IR has gen/kill flow only, so the least fixpoint of a loop is reached by one extra walk of its body: what
the body reads before binding it (``_exposed``, remembered per loop) joined with what is live after the loop.  Every
statement is visited a few times at most, whatever the nesting (but for ``while True`` inside ``while True``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thunkad.ir import nodes as n
from thunkad.ir import walk


@dataclass(slots=True)
class Liveness:
    """Sets are keyed by ``id`` of the statement, so they are valid as long as the function analysed is kept alive."""

    after: dict[int, frozenset[str]] = field(default_factory=dict)
    at_head: dict[int, frozenset[str]] = field(default_factory=dict)
    _exposed: dict[int, frozenset[str]] = field(default_factory=dict)


def liveness(function: n.Function, compound_only: bool = False) -> Liveness:
    """Liveness of ``function``.

    Parameters
    ----------
    function : Function
        With structured exits: no ``Break``, ``Continue`` or inner ``Return``.
    compound_only : bool
        Record ``after`` for statements with nested blocks and ``Delete`` only; much cheaper for long straight lines.

    Returns
    -------
    Liveness
        ``after[id(s)]``: locals live after ``s``; ``at_head[id(loop)]``: locals live whenever the loop is about to
        fetch its next item (``For``) or to evaluate its test (``While``), what is live after a ``For`` included.
    """
    result = Liveness()
    _flow(function.body, set(), result, True, compound_only)
    return result


def live_after(function: n.Function) -> dict[int, frozenset[str]]:
    """The locals live after each statement, by ``id`` of the statement."""
    return liveness(function).after


def live_at_head(function: n.Function) -> dict[int, frozenset[str]]:
    """The locals live at the head of each loop, by ``id`` of the loop."""
    return liveness(function, compound_only=True).at_head


def _flow(block: list[n.Stmt], live: set[str], result: Liveness, record: bool, compound: bool) -> set[str]:
    """What is live before ``block`` when ``live`` is live after it; ``live`` itself may be changed."""
    last: frozenset[str] | None = None
    for s in reversed(block):
        if record and (not compound or type(s) in (n.If, n.For, n.While, n.Delete)):
            # straight lines often leave the set as it was: share one frozenset
            if last is None or len(last) != len(live) or last != live:
                last = frozenset(live)
            result.after[id(s)] = last
        live = _before(s, live, result, record, compound)
    return live


def _before(s: n.Stmt, live: set[str], result: Liveness, record: bool, compound: bool) -> set[str]:
    t = type(s)
    if t is n.If:
        before = _flow(s.body, set(live), result, record, compound) | _flow(s.orelse, live, result, record, compound)
        return before | walk.reads(s)
    if t is n.For:
        head = live | _exposed(s, result)
        if record:
            result.at_head[id(s)] = frozenset(head)
            _flow(s.body, head | _stop(s), result, record, compound)
        return head | walk.reads(s)
    if t is n.While:
        if endless(s):  # left after a body only, so what the body always binds isn't live at the head
            at_exit = _flow(s.body, live | _stop(s), result, False, compound)
        else:
            at_exit = live | walk.reads(s) | _exposed(s, result)
        head = _flow(s.test_body, set(at_exit), result, False, compound)
        if record:
            result.at_head[id(s)] = frozenset(head)
            at_exit |= _flow(s.body, head | live | _stop(s), result, record, compound)
            _flow(s.test_body, at_exit, result, record, compound)
        return head
    if t is n.Assert:
        message = set(walk.names(s.message)) if s.message is not None else set()
        return live | set(walk.names(s.test)) | _flow(s.message_body, message, result, record, compound)
    if t in (n.Raise, n.Return):
        return walk.reads(s)
    if t is n.Delete and type(s.target) is n.Name:
        return live | {s.target.id}  # it must be bound there, so this is a read of what was there before
    live.difference_update(walk.writes(s))
    live |= walk.reads(s)
    if t is n.Update and type(s.target) is n.Name:
        live.add(s.target.id)
    return live


def endless(s: n.While) -> bool:
    """Whether ``s`` is a ``while True`` (left through its ``stop`` only)."""
    return type(s.test) is n.Const and s.test.value is True


def _stop(s: n.For | n.While) -> set[str]:
    return set() if s.stop is None else {s.stop}


def _exposed(s: n.For | n.While, result: Liveness) -> frozenset[str]:
    """What the body of ``s`` reads before it binds it."""
    known = result._exposed.get(id(s))
    if known is None:
        known = frozenset(_flow(s.body, _stop(s), result, False, True).difference(walk.writes(s)))
        result._exposed[id(s)] = known
    return known
