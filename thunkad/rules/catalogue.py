"""What NumPy has, and what the rule table says of each: for the coverage page and the test that nothing is left out."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from thunkad.rules.entry import ALTERNATIVE, FRULE, NON_DIFFERENTIABLE, RRULE
from thunkad.rules.keywords import ALIASES
from thunkad.rules.load import load_library
from thunkad.rules.refused import reason_for
from thunkad.rules.table import TABLE
from thunkad.rules.updates_at import is_followed

#: The modules whose public names are gone through.
MODULES: dict[str, types.ModuleType] = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.random": np.random,
    "np.emath": np.emath,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.polynomial": np.polynomial,
    "np.polynomial.polynomial": np.polynomial.polynomial,
    "np.polynomial.chebyshev": np.polynomial.chebyshev,
    "np.polynomial.legendre": np.polynomial.legendre,
    "np.polynomial.hermite": np.polynomial.hermite,
    "np.polynomial.hermite_e": np.polynomial.hermite_e,
    "np.polynomial.laguerre": np.polynomial.laguerre,
}
#: The classes whose methods and attributes are gone through.
CLASSES: dict[str, type] = {
    "ndarray": np.ndarray,
    "Generator": np.random.Generator,
    "RandomState": np.random.RandomState,
}
UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")

#: Special methods and attributes through which Python and NumPy handle any object; no computation with its numbers.
PROTOCOL = frozenset(
    """__array_finalize__ __array_function__ __array_namespace__ __array_priority__ __array_ufunc__ __array_wrap__
    __class__ __class_getitem__ __delattr__ __dir__ __dlpack_device__ __doc__ __format__ __getattribute__ __getstate__
    __hash__ __init__ __init_subclass__ __module__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __setstate__
    __sizeof__ __str__ __subclasshook__""".split()
)


def public_names(module: Any) -> Iterator[str]:
    """The callables of a module that are not private."""
    for name in sorted(dir(module)):
        if not name.startswith("_") and callable(getattr(module, name)):
            yield name


def numpy_names() -> Iterator[tuple[str, Any]]:
    """Every public function, ufunc, its methods, class, method and attribute of NumPy, as (name, object)."""
    from thunkad.rules.numpy.methods import ATTRIBUTES, METHODS

    load_library()
    for prefix, module in MODULES.items():
        for name in public_names(module):
            found = getattr(module, name)
            yield f"{prefix}.{name}", found
            if (
                prefix == "np"
                and isinstance(found, np.ufunc)
                and found.nin == 2
                and found.nout == 1
                and not found.signature
            ):
                for method in UFUNC_METHODS:
                    yield f"{prefix}.{name}.{method}", getattr(found, method)
    for prefix, cls in CLASSES.items():
        for name in sorted(dir(cls)):
            of_array = cls is np.ndarray
            if name not in PROTOCOL and (of_array or not name.startswith("_")):
                meaning = (METHODS.get(name) or ATTRIBUTES.get(name)) if of_array else None
                yield f"{prefix}.{name}", getattr(cls, name) if meaning is None else meaning


def kinds_of(target: Any) -> set[str]:
    """The kinds of entries that the table has for ``target``."""
    load_library()
    return {e.kind for e in TABLE.snapshot.entries(target) if not e.keywords}


def states(name: str, target: Any) -> list[str]:
    """What is known of a NumPy object; the test wants exactly one.

    'rule' (reverse and forward), 'reverse only', 'forward only', 'composed' (looked inside, or written out), 'constant'
    (no derivative flows), 'in place' (followed where it is seen), 'refused'.
    """
    from thunkad.rules.numpy.methods import NON_DIFFERENTIABLE_ATTRIBUTES

    if isinstance(target, types.MethodType):
        target = target.__func__  # a function of np.random is a method of a hidden RandomState
    kinds = kinds_of(target)
    found = []
    if kinds & {RRULE, FRULE}:
        found.append("rule" if kinds >= {RRULE, FRULE} else "reverse only" if RRULE in kinds else "forward only")
    if ALTERNATIVE in kinds:
        found.append("composed")
    if NON_DIFFERENTIABLE in kinds or (name.startswith("ndarray.") and name[8:] in NON_DIFFERENTIABLE_ATTRIBUTES):
        found.append("constant")
    if reason_for(target) is not None:
        found.append("in place" if is_followed(target) else "refused")
    if not found and inspect.isfunction(target):
        found.append("composed")
    return found


def counts() -> dict[str, dict[str, int]]:
    """For each module of NumPy how many of its functions are in each state; aliases of one function count once."""
    out: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, int]] = set()
    for name, target in numpy_names():
        prefix = name.rpartition(".")[0]
        if (prefix, id(target)) in seen and prefix in MODULES:
            continue
        seen.add((prefix, id(target)))
        group = out.setdefault("ufunc methods" if prefix not in MODULES and prefix not in CLASSES else prefix, {})
        for state in states(name, target) or ["nothing"]:
            group[state] = group.get(state, 0) + 1
    return out


def unsupported_keywords(target: Any) -> list[str]:
    """The keyword arguments of a NumPy function that its rule does not take; a call with one is refused by name."""
    entries = [e for e in TABLE.snapshot.entries(target) if e.kind in (RRULE, ALTERNATIVE)]
    entries.sort(key=lambda e: len(e.keywords))
    if not entries or isinstance(target, np.ufunc):
        return []
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    have = {*entries[0].signature().parameters, *ALIASES.get(target, ()), *(k for e in entries for k in e.keywords)}
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [name for name in named if name not in have and name not in ("out", "like", "start_or_stop")]


def page() -> str:
    """The coverage page of the documentation."""
    lines = [
        "# Coverage",
        "",
        f"Every public name of NumPy {np.__version__}, written by `python benchmarks/count_rules.py --page`.",
        "",
        "*rule*: a reverse and a forward rule.  *composed*: looked inside, or written out in functions that have",
        "rules.  *constant*: no derivative flows.  *in place*: it writes into an array, which is followed where that",
        "is seen in the text.  *refused*: an error that says why, if a derivative is asked for.  `out=` is followed",
        "like any write; keywords in brackets are refused by name, as are `signature=` of a universal function, its",
        "`where=` without `out=`, and `like=`.",
        "",
        "| where | rule | composed | constant | in place | refused |",
        "|---|---|---|---|---|---|",
    ]
    for where, found in counts().items():
        lines.append(f"| {where} | " + " | ".join(str(found.get(s, 0)) for s in STATES) + " |")
    grouped: dict[str, dict[str, list[str]]] = {}
    reasons: dict[str, list[str]] = {}
    for name, target in numpy_names():
        state = states(name, target)[0]
        prefix, _, own = name.rpartition(".")
        if state == "refused":
            reasons.setdefault(str(reason_for(getattr(target, "__func__", target))), []).append(name)
            continue
        lacking = unsupported_keywords(target) if state in ("rule", "composed") else []
        shown = own + (f" ({', '.join(k + '=' for k in lacking)})" if lacking else "")
        where = prefix if prefix in MODULES or prefix in CLASSES else "ufunc methods"
        if where == "ufunc methods":
            shown = f"{prefix.removeprefix('np.')}.{own}"
        grouped.setdefault(where, {}).setdefault(state, []).append(shown)
    for where, by_state in grouped.items():
        lines += ["", f"## {where}", ""]
        lines += [f"- **{state}**: {', '.join(by_state[state])}" for state in STATES if state in by_state]
    lines += ["", "## Refused, and why", ""]
    lines += [f"- {reason}: {', '.join(names)}" for reason, names in reasons.items()]
    lines += ["", *EDGES]
    return "\n".join(lines) + "\n"


EDGES = (
    "## Where a slope is infinite",
    "",
    "A zero cotangent times an infinite slope is NaN, as in the chain of slopes: `np.where(x < 1, 2 * x, np.sqrt(x))`",
    "at 0, or `1 / (1 + np.exp(-x))` where the exponential overflows.  Guard the argument (`np.where(x > 0, x, 1.0)`",
    "inside the root), or use the function that is made for it (`scipy.special.expit`).  Inside one rule (norms,",
    "powers, standard deviations) it is guarded.",
)

#: The states of the coverage page, in its order.
STATES = ("rule", "composed", "constant", "in place", "refused")
