"""A function in normal form → what it resolves to: the abstract run, repeated until nothing changes any more.

Between the runs loops over the user's iterators are written out, calls of generator functions become objects where a
list won't do, and kinds that are no facts are weakened.
"""

from __future__ import annotations

from typing import Any

from thunkad.analysis.changed import changed_elsewhere
from thunkad.analysis.checkpoints import with_segments
from thunkad.analysis.dropped import with_drops
from thunkad.analysis.filled import with_filled
from thunkad.analysis.followed import with_outcomes
from thunkad.analysis.generators import kept_generators, with_objects
from thunkad.analysis.kept_iterators import kept_iterators
from thunkad.analysis.members import noted_by
from thunkad.analysis.named_attributes import with_plain_attributes
from thunkad.analysis.private import private_containers
from thunkad.analysis.protocols import by_protocol
from thunkad.analysis.resolution import Run
from thunkad.analysis.sequences import with_arrays
from thunkad.analysis.shared_attributes import with_shared_attributes
from thunkad.analysis.sites import Context, Resolved, weaken
from thunkad.ir import nodes as n
from thunkad.kinds.lattice import Kind, Known
from thunkad.records import replace


def resolve(function: n.Function, owner: Any, params: dict[str, Kind], context: Context) -> Resolved:
    """Run the abstract interpretation of ``function`` for parameters of these kinds."""
    with noted_by(context.class_member):
        return _resolve(function, owner, params, context)


def _resolve(function: n.Function, owner: Any, params: dict[str, Kind], context: Context) -> Resolved:
    function = with_segments(with_plain_attributes(function, owner, context, params), owner, context)
    kept: dict[int, tuple[n.Assign, n.Call]] = {}
    while True:
        suspends = context.suspends
        own = replace(function, body=with_objects(function.body, kept)) if kept else function
        found, made = _resolved(own, owner, params, context)
        more = kept_generators(found, made, function, context) if made else {}
        more |= kept_iterators(found, function, context)
        if more or (context.suspends and not suspends):
            kept |= more
            continue
        followed = with_outcomes(found, context.raises, context.cut_apart)
        followed = with_drops(found) if followed is found.function and context.suspends else followed
        if followed is found.function:
            return found
        function, kept = followed, {}


def _resolved(
    function: n.Function, owner: Any, params: dict[str, Kind], context: Context
) -> tuple[Resolved, dict[int, n.Assign]]:
    """``function`` resolved, and the calls of generator functions in it that give lists."""
    unsure = private = frozenset[str]()
    while True:
        weakened = {p: weaken(k) if p in unsure else k for p, k in params.items()}
        written, run = _in_protocols(Run(function, owner, weakened, context, unsure, private))
        known = {k: v for k, v in run.kinds.items() if v is not None}
        found = Resolved(written, owner, known, run.sites, run.result or Known(None), run.hollow)
        found.mutated_params, found.writes_late = context.site_mutates(owner), context.writes_late
        found.members = context.members
        if unsure and written is function:
            return found, run.generators
        more = changed_elsewhere(found)
        if more <= unsure:
            return found, run.generators
        function, unsure, private = written, unsure | more, private_containers(found)


def _in_protocols(run: Run) -> tuple[n.Function, Run]:
    """The function of ``run`` with the protocols of its objects written out, as far as their kinds are known."""
    context, params = run.context, dict(run.kinds)
    function, run = run.function, _settled(run)
    for _ in range(3):  # a loop inside of one may only be known to be one then
        suspends = context.suspends and not function.generated  # in generated code all of it is written out
        written = by_protocol(function, run.iterated, run.sites, suspends, context)
        written = with_shared_attributes(with_arrays(with_filled(written, run.iterated), run.sites), run)
        if written is function:
            break
        function = written
        run = _settled(Run(function, run.owner, params, context, run.unsure, run.private))  # type: ignore[arg-type]
    return function, run


def _settled(run: Run) -> Run:
    for attempt in range(12):
        run.changed = run.met_empty = False
        run.asked.clear()
        run.context.begin_pass()
        run.block(run.function.body)
        if not run.changed:
            if not (run.met_empty and run.hopeful):
                break
            run.hopeful = False
        run.widen = attempt >= 8
    return run
