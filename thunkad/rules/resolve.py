"""One look-up: a callee and what is known of its arguments → what the compiler does there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thunkad.errors import AmbiguousRuleError
from thunkad.kinds.lattice import Instance, Kind, Known, Mapping, Num, Opaque, Sequence, Tuple
from thunkad.rules.entry import ALTERNATIVE, FRULE, NON_DIFFERENTIABLE, OPT_OUT, RRULE, Entry, name_of
from thunkad.rules.signatures import covers, signature_types
from thunkad.rules.table import Snapshot


@dataclass(frozen=True)
class Decision:
    """What a look-up found.

    ``how``: 'rule', 'constant' (non-differentiable), 'inside' (opted out), 'alternative', 'missing', or 'undecided'
    (typed rules, but the types are not known at transform time).
    """

    how: str
    entry: Entry | None = None


MISSING, UNDECIDED = Decision("missing"), Decision("undecided")

_PYTHON_CLASS = {"bool": bool, "int": int, "real": float, "complex": complex}
_SCALAR_CLASS = {"bool": np.bool_, "int": np.int64, "real": np.float64, "complex": np.complex128}


def class_of(kind: Kind) -> type | None:
    """The class of values of this kind, None if it is not known."""
    if isinstance(kind, Num):
        if kind.form == "array":
            return np.ndarray
        if kind.form == "python":
            return _PYTHON_CLASS.get(kind.field)
        return _SCALAR_CLASS.get(kind.field) if kind.form == "scalar" else None
    if isinstance(kind, Known):
        return type(kind.value)
    if isinstance(kind, (Opaque, Instance, Tuple, Sequence)):
        return kind.cls
    return dict if isinstance(kind, Mapping) else None


def lookup(snapshot: Snapshot, fn: Any, kinds: list[Kind], mode: str = RRULE) -> Decision:
    """What ``snapshot`` says of calling ``fn`` with arguments of these kinds."""
    entries = snapshot.entries(fn)
    return decide(entries, [class_of(k) for k in kinds], mode) if entries else MISSING


def lookup_values(snapshot: Snapshot, fn: Any, args: tuple[Any, ...], mode: str = RRULE) -> Decision:
    """The same from the arguments themselves."""
    entries = snapshot.entries(fn)
    return decide(entries, [type(a) for a in args], mode) if entries else MISSING


def decide(entries: tuple[Entry, ...], classes: list[type | None], mode: str) -> Decision:
    """The most specific entry of the topmost layer that applies."""
    other = FRULE if mode == RRULE else RRULE
    for layer in ("user", "library"):
        candidates = [e for e in entries if e.layer == layer and e.kind != other]
        applicable = []
        for e in candidates:
            verdict = applies(signature_types(e), classes)
            if verdict is None:
                return UNDECIDED
            if verdict:
                applicable.append(e)
        if applicable:
            return _as_decision(_most_specific(applicable))
    return MISSING


def applies(signature: tuple[Any, ...], classes: list[type | None]) -> bool | None:
    """Whether a typed signature covers these classes; None if that is not known."""
    unsure = False
    for k, wanted in enumerate(signature):
        if wanted is object or k >= len(classes):
            continue
        cls = classes[k]
        if cls is None:
            unsure = True
        elif not issubclass(cls, wanted):
            return False
    return None if unsure else True


def _most_specific(entries: list[Entry]) -> Entry:
    best = [e for e in entries if not any(_beats(o, e) for o in entries)]
    if len(best) > 1:
        first, second = best[:2]
        raise AmbiguousRuleError(
            f"two rules for {name_of(first.target)} apply and neither is more specific:\n  {first.place}\n  {second.place}",
            hint="add a rule for the types that both cover, or narrow one of them",
        )
    return best[0]


def _beats(a: Entry, b: Entry) -> bool:
    """Whether ``a`` goes before ``b``: strictly more specific, or an opt-out of the same types."""
    if a is b:
        return False
    s, t = signature_types(a), signature_types(b)
    if s == t:
        return a.kind == OPT_OUT and b.kind != OPT_OUT
    return covers(t, s) and not covers(s, t)


def _as_decision(entry: Entry) -> Decision:
    how = {RRULE: "rule", FRULE: "rule", OPT_OUT: "inside", NON_DIFFERENTIABLE: "constant", ALTERNATIVE: "alternative"}
    return Decision(how[entry.kind], entry)
