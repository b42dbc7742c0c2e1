"""Liveness: which locals may still be read after a statement, and at the head of a loop.

The structured IR has gen/kill flow only, so the least fixpoint of a loop is reached by one extra walk of its body: what
the body reads before binding it (``_exposed``, remembered per loop) joined with what is live after the loop.  Every
statement is visited a few times at most, whatever the nesting (but for ``while True`` inside ``while True``).
"""

from __future__ import annotations

from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.records import field, record


@record(slots=True)
class Liveness:
    """Sets are keyed by ``id`` of the statement, so they are valid as long as the function analysed is kept alive."""

    after: dict[int, frozenset[str]] = field(default_factory=dict)
    at_head: dict[int, frozenset[str]] = field(default_factory=dict)
    at_handler: dict[int, frozenset[str]] = field(default_factory=dict)
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
        ``at_handler[id(s)]``: locals live when a ``Try`` has caught something, or something passes it that an outer one
        catches.
    """
    result = Liveness()
    _flow(function.body, set(), result, True, compound_only, frozenset())
    return result


def live_after(function: n.Function) -> dict[int, frozenset[str]]:
    """The locals live after each statement, by ``id`` of the statement."""
    return liveness(function).after


def live_at_head(function: n.Function) -> dict[int, frozenset[str]]:
    """The locals live at the head of each loop, by ``id`` of the loop."""
    return liveness(function, compound_only=True).at_head


def _flow(
    block: list[n.Stmt], live: set[str], result: Liveness, record: bool, compound: bool, caught: frozenset[str]
) -> set[str]:
    """What is live before ``block`` when ``live`` is live after it; ``live`` itself may be changed.

    ``caught`` is what is live in the handlers around: what is raised in ``block`` gets there.
    """
    last: frozenset[str] | None = None
    for s in reversed(block):
        if record and (not compound or type(s) in _RECORDED):
            # straight lines often leave the set as it was: share one frozenset
            if last is None or len(last) != len(live) or last != live:
                last = frozenset(live)
            result.after[id(s)] = last
        live = _before(s, live, result, record, compound, caught)
    return live


_RECORDED = (n.If, n.For, n.While, n.Delete, n.With, n.Try)


def _before(
    s: n.Stmt, live: set[str], result: Liveness, record: bool, compound: bool, caught: frozenset[str]
) -> set[str]:
    def flow(block: list[n.Stmt], live: set[str], record: bool = record) -> set[str]:
        return _flow(block, live, result, record, compound, caught)

    t = type(s)
    if t is n.If:
        before = flow(s.body, set(live)) | flow(s.orelse, live)
        return before | walk.reads(s)
    if t is n.For:
        head = live | _exposed(s, result, caught)
        if record:
            result.at_head[id(s)] = frozenset(head)
            flow(s.body, head | _stop(s))
        return head | walk.reads(s)
    if t is n.While:
        if endless(s):  # left after a body only, so what the body always binds isn't live at the head
            at_exit = flow(s.body, live | _stop(s), False)
        else:
            at_exit = live | walk.reads(s) | _exposed(s, result, caught)
        head = flow(s.test_body, set(at_exit), False)
        if record:
            result.at_head[id(s)] = frozenset(head)
            at_exit |= flow(s.body, head | live | _stop(s))
            flow(s.test_body, at_exit)
        return head
    if t is n.Assert:
        message = set(walk.names(s.message)) if s.message is not None else set()
        return live | set(walk.names(s.test)) | flow(s.message_body, message) | caught
    if t is n.Try:
        handler = flow(s.handler, set(live)).difference(walk.writes(s)) | caught
        if record:
            result.at_handler[id(s)] = frozenset(handler)
        orelse = flow(s.orelse, live)
        return _flow(s.body, orelse, result, record, compound, frozenset(handler)) | handler
    if t is n.With:
        return flow(s.body, live).difference(walk.writes(s)) | walk.reads(s)
    if t is n.Raise:
        return walk.reads(s) | caught
    if t is n.Return:
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


def _exposed(s: n.For | n.While, result: Liveness, caught: frozenset[str]) -> frozenset[str]:
    """What the body of ``s`` reads before it binds it, or leaves to a handler around."""
    known = None if caught else result._exposed.get(id(s))
    if known is None:
        known = frozenset(_flow(s.body, _stop(s), result, False, True, caught).difference(walk.writes(s)))
        if not caught:
            result._exposed[id(s)] = known
    return known
