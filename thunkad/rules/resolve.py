"""One look-up: a callee and what is known of its arguments → what the compiler does there."""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from thunkad.errors import AmbiguousRuleError
from thunkad.kinds.lattice import Instance, Known, Lifted, Mapping, Method, Num, Opaque, Partial, Sequence, Tuple
from thunkad.records import record
from thunkad.rules.entry import ALTERNATIVE, FRULE, NON_DIFFERENTIABLE, OPT_OUT, RRULE, Entry, name_of
from thunkad.rules.signatures import (
    ArrayOf,
    Signature,
    Type,
    accepts,
    covers,
    named_length,
    narrower,
    show,
    signature_types,
    spread,
)
from thunkad.rules.table import Snapshot


@record(frozen=True)
class Decision:
    """What a look-up found.

    ``how``: 'rule', 'constant' (non-differentiable), 'inside' (opted out), 'alternative', 'missing', or 'undecided'
    (typed rules, but the types are not known at transform time).
    """

    how: str
    entry: Entry | None = None


MISSING, UNDECIDED = Decision("missing"), Decision("undecided")


@record(frozen=True, slots=True)
class Exact:
    """What is known of an argument that exists: its class, and the scalar type of its elements if it is an array."""

    cls: type
    scalar: type | None = None


def exact(value: Any) -> Exact:
    """What rules are chosen by for a value."""
    return Exact(type(value), value.dtype.type if isinstance(value, np.ndarray) else None)


Named = Iterable[tuple[str, Any]]


def lookup(snapshot: Snapshot, fn: Any, kinds: Iterable[Any], mode: str = RRULE, named: Named = ()) -> Decision:
    """What ``snapshot`` says of calling ``fn`` with arguments of these kinds (or :class:`Exact` classes)."""
    entries = snapshot.entries(fn)
    return decide(entries, list(kinds), mode, named) if entries else MISSING


def decide(entries: tuple[Entry, ...], kinds: list[Any], mode: str = RRULE, named: Named = ()) -> Decision:
    """The most specific entry of the topmost layer that applies."""
    other = FRULE if mode == RRULE else RRULE
    inside = None
    for e in entries:
        if e.keywords and e.mode in (None, mode) and e.is_asked_by(len(kinds), names := [name for name, _ in named]):
            if not any(o.layer == "user" and o.kind in (RRULE, FRULE) and o.takes(e.keywords, names) for o in entries):
                return Decision("alternative", e)
    for layer in ("user", "library"):
        candidates = [e for e in entries if e.layer == layer and e.kind not in (other, ALTERNATIVE)]
        found = _chosen(candidates, kinds, named)
        if isinstance(found, Decision):
            return found
        if found is not None:
            if found.kind != OPT_OUT and not declines(found):
                return Decision("constant" if found.kind == NON_DIFFERENTIABLE else "rule", found)
            inside = found
            break
    for layer in ("user", "library"):
        bodies = [e for e in entries if e.layer == layer and e.kind == ALTERNATIVE and not e.keywords]
        body = _chosen(bodies, kinds, named)
        if body is not None:
            return body if isinstance(body, Decision) else Decision("alternative", body)
    return MISSING if inside is None else Decision("inside", inside)


def declines(entry: Entry) -> bool:
    """Whether a rule does nothing but return None: it says "look inside" for its types."""
    code = getattr(entry.function, "__code__", None)
    if code is None or len(code.co_code) > 32 or entry.layer == "library":
        return False
    known, answer = entry.cache.get("declines", (None, False))
    if known is not code or not isinstance(answer, bool):
        steps = [i for i in dis.get_instructions(code) if i.opname not in ("RESUME", "NOP")]
        answer = (
            all(i.opname in ("LOAD_CONST", "RETURN_CONST", "RETURN_VALUE") for i in steps) and steps[0].argval is None
        )
        entry.cache["declines"] = code, answer
    return answer


def _chosen(candidates: list[Entry], kinds: list[Any], named: Named) -> Entry | Decision | None:
    """The most specific entry that applies, None if none does, UNDECIDED if that depends on what is not known."""
    sure, unsure = [], []
    for e in candidates:
        verdict = applies(signature_types(e), completed(e, kinds, named))
        if verdict is None:
            unsure.append(e)
        elif verdict:
            sure.append(e)
    if not unsure:
        return _most_specific(sure) if sure else None
    best = [e for e in sure if all(e is o or _beats(e, o) for o in (*sure, *unsure))]
    return best[0] if best else UNDECIDED


def _most_specific(entries: list[Entry]) -> Entry:
    best = [e for e in entries if not any(_beats(o, e) for o in entries)]
    if len(best) > 1:
        raise ambiguous(*best[:2])
    return best[0]


def ambiguous(first: Entry, second: Entry) -> AmbiguousRuleError:
    """The error for two registrations of which neither goes before the other."""
    lines = "".join(f"\n  {show(signature_types(e))}: {e.place}" for e in (first, second))
    return AmbiguousRuleError(
        f"two rules for {name_of(first.target)} apply and neither is more specific:{lines}",
        hint="register one for the types that both cover (before the second of them), or narrow one of them",
    )


def _beats(a: Entry, b: Entry) -> bool:
    """Whether ``a`` goes before ``b``: strictly more specific, or an opt-out of the same types."""
    if a is b:
        return False
    s, t = signature_types(a), signature_types(b)
    if s == t:
        return a.kind == OPT_OUT and b.kind != OPT_OUT
    return covers(t, s) and not covers(s, t)


def losers(
    entries: tuple[Entry, ...], chosen: Entry | None, kinds: list[Any], mode: str = RRULE
) -> list[tuple[Entry, str]]:
    """The registrations that were passed over for ``chosen``, each with the reason."""
    other = FRULE if mode == RRULE else RRULE
    out = []
    for e in entries:
        if e is chosen or e.kind == other or e.keywords:
            continue
        if applies(signature_types(e), kinds) is False:
            reason = f"it is for {show(signature_types(e))}"
        elif chosen is None:
            reason = "whether it applies is known only when the code runs"
        elif chosen.layer == "user" and e.layer == "library":
            reason = "what users register goes first"
        elif e.kind == ALTERNATIVE:
            reason = "a rule goes before another body"
        elif signature_types(chosen) == signature_types(e):
            reason = "an opt-out for the same types goes first"
        else:
            reason = f"{show(signature_types(chosen))} is more specific"
        out.append((e, reason))
    return out


# ---------------------------------------------------------------- whether a signature fits what is known


_ABSENT = object()


def completed(entry: Entry, kinds: list[Any], named: Named) -> list[Any]:
    """The kinds of all parameters that a typed signature is about, those passed by keyword or left to a default too."""
    missing = named_length(signature_types(entry)) - len(kinds)
    if missing <= 0:
        return kinds
    given = dict(named)
    rest = parameters_of(entry)[len(kinds) :][:missing]
    return [*kinds, *(given.get(name, _ABSENT if default is _ABSENT else exact(default)) for name, default in rest)]


def parameters_of(entry: Entry) -> tuple[tuple[str, Any], ...]:
    """The positional parameters of a callee with their defaults, as its rule calls them."""
    own = _positional(entry.target)
    if entry.function is None:
        return own
    defaults = [default for _, default in own]
    names = [name for name, _ in _positional(entry.function)]
    return tuple((name, defaults[k] if k < len(defaults) else _ABSENT) for k, name in enumerate(names))


def _positional(fn: Any) -> tuple[tuple[str, Any], ...]:
    try:
        parameters = inspect.signature(fn, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(
        (p.name, _ABSENT if p.default is p.empty else p.default)
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    )


def applies(signature: Signature, kinds: list[Any]) -> bool | None:
    """Whether a typed signature covers arguments of these kinds; None if that is not known."""
    unsure = False
    for wanted, kind in zip(spread(signature, len(kinds)), kinds):
        verdict = fits(kind, wanted)
        if verdict is False:
            return False
        unsure = unsure or verdict is None
    return None if unsure else True


def fits(kind: Any, wanted: Type) -> bool | None:
    """Whether values of ``kind`` are of the type ``wanted``: always (True), never (False), or it depends (None)."""
    if wanted is object or kind is _ABSENT:
        return True
    possible = classes_of(kind)
    if possible is None:
        return None
    verdicts = {_class_fits(p, wanted) for p in possible}
    return verdicts.pop() if len(verdicts) == 1 else None


_PYTHON: dict[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "real": (float,), "complex": (complex,)}
_SCALAR: dict[str, tuple[type, ...]] = {
    "bool": (np.bool_,),
    "int": tuple(dict.fromkeys(np.dtype(c).type for c in "bhilqBHILQ")),
    "real": (np.float16, np.float32, np.float64, np.longdouble),
    "complex": (np.complex64, np.complex128, np.clongdouble),
}
_PYTHON["any"] = tuple(c for group in _PYTHON.values() for c in group)
_SCALAR["any"] = tuple(c for group in _SCALAR.values() for c in group)


@record(frozen=True)
class _AnyArray:
    """An array whose class may be any subclass of ndarray, with elements of one scalar type."""

    scalar: type


def classes_of(kind: Any) -> tuple[Any, ...] | None:
    """The classes that a value of this kind may be of; None if nothing is known."""
    if isinstance(kind, Num):
        return _classes_of_number(kind.form, kind.field, kind.ndim)
    if isinstance(kind, Exact):
        return (kind,)
    if isinstance(kind, Known):
        return (Exact(type(kind.value)),)
    if isinstance(kind, (Opaque, Instance, Tuple, Sequence)):
        return (Exact(kind.cls),)
    if isinstance(kind, Mapping):
        return (dict,)
    if isinstance(kind, Method):
        return (Exact(types.MethodType), Exact(types.BuiltinMethodType))
    if isinstance(kind, Partial):
        return (Exact(functools.partial),)
    if isinstance(kind, Lifted):
        return (Exact(types.FunctionType), Exact(functools.partial))
    return None


def class_of(kind: Any) -> type | None:
    """The class whose members values of this kind have, None if it is not known."""
    found = classes_of(kind)
    if not found:
        return None
    first = found[-1]
    return np.ndarray if isinstance(first, _AnyArray) else first.cls if isinstance(first, Exact) else first


@functools.cache
def _classes_of_number(form: str, field: str, ndim: int | None) -> tuple[Any, ...]:
    out: list[Any] = []
    if form in ("python", "number", "any"):
        out += map(Exact, _PYTHON[field])
    if form in ("scalar", "number", "any") or (form == "array" and ndim is None):
        out += map(Exact, _SCALAR[field])
    if form in ("array", "any"):
        out += map(_AnyArray, _SCALAR[field])
    return tuple(out)


def _class_fits(possible: Any, wanted: Type) -> bool | None:
    if isinstance(wanted, tuple):
        verdicts = [_class_fits(possible, w) for w in wanted]
        return True if True in verdicts else None if None in verdicts else False
    if isinstance(possible, Exact):
        if isinstance(wanted, ArrayOf):
            if not issubclass(possible.cls, np.ndarray):
                return False
            return None if possible.scalar is None else issubclass(possible.scalar, wanted.scalar)
        return accepts(wanted, possible.cls)
    if isinstance(possible, _AnyArray):
        if isinstance(wanted, ArrayOf):
            return issubclass(possible.scalar, wanted.scalar)
        return _subclass_fits(np.ndarray, wanted)
    return _subclass_fits(possible, wanted)


def _subclass_fits(base: type, wanted: Any) -> bool | None:
    """The same for a value whose class is ``base`` or derived from it."""
    if not narrower(base, wanted):
        return None if any(narrower(c, wanted) for c in _derived(base)) else False
    return True


def _derived(base: type) -> list[type]:
    out: list[type] = []
    direct: list[type] = type.__subclasses__(base)
    for c in direct:
        out += [c, *_derived(c)]
    return out
