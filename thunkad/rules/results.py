"""What a rule gave back, checked: the pair of value and pullback, the cotangents for its positional parameters."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from thunkad.errors import RuleError
from thunkad.rules.entry import Entry, name_of
from thunkad.tangents import NO_TANGENT, Thunk


def value_and_pullback(entry: Entry, found: Any) -> tuple[Any, Any]:
    """The two halves of what a reverse rule returned (which is not None)."""
    if type(found) is not tuple or len(found) != 2 or not callable(found[1]):
        raise RuleError(
            f"the rule for {name_of(entry.target)} returned {described(found)}",
            entry.place,
            'a rule returns (value, pullback), or None for "no rule here: look inside"',
        )
    return found


def cotangents(entry: Entry, parts: Any, count: int | None = None) -> tuple[Any, ...]:
    """What a rule's pullback returned, one entry for each positional parameter; a single one need not be in a tuple."""
    if count is None:
        count = positional_count(entry)
    if not isinstance(parts, tuple) and count == 1:
        parts = (parts,)
    if isinstance(parts, (tuple, list)) and len(parts) == count:
        return tuple(none_for(entry, k) if part is None else part for k, part in enumerate(parts))
    raise RuleError(
        f"the pullback of the rule for {name_of(entry.target)} returned {described(parts)}",
        entry.place,
        f"it returns a tuple of {count} cotangents, one for each positional parameter of the rule",
    )


def none_for(entry: Entry, k: int) -> Thunk:
    """What stands for a cotangent that is None: an error for whoever needs it (nobody does that of a function)."""

    def demanded() -> Any:
        names = [p.name for p in entry.signature().parameters.values() if p.kind is not p.KEYWORD_ONLY]
        raise RuleError(
            f"the pullback of the rule for {name_of(entry.target)} returned None for the cotangent of {names[k]!r}",
            entry.place,
            "ZeroTangent() stands for a cotangent that is zero, NoTangent() for an argument that has none",
        )

    return Thunk(demanded)


def no_cotangent_for_function(entry: Entry) -> tuple[str, str]:
    """What is wrong where a function that closes over differentiated values goes into a rule that is silent of it."""
    return (
        f"a function that closes over differentiated values, given to {name_of(entry.target)}, whose rule has no "
        "cotangent for it,",
        "pass those values as arguments, or opt out of the rule so that the call is looked into",
    )


def of_functions(entry: Entry, parts: list[Any], args: tuple[Any, ...]) -> list[Any]:
    """The same cotangents; ``NoTangent`` for a closure, which is a partial here, is an error for whoever needs it."""
    if not any(type(a) is functools.partial for a in args):
        return parts

    def demanded() -> Any:
        what, hint = no_cotangent_for_function(entry)
        raise RuleError(f"{what} is not supported", entry.place, hint)

    silent = (type(a) is functools.partial and part is NO_TANGENT for a, part in zip(args, parts))
    return [Thunk(demanded) if s else part for s, part in zip(silent, parts)]


def positional_count(entry: Entry) -> int:
    """How many cotangents the pullback of a rule returns."""
    return sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in entry.signature().parameters.values())


def described(value: Any) -> str:
    """What was returned, in words."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"
