"""How a rule that is called as it stands is called: what holds for every call with arguments in the same places."""

from __future__ import annotations

import inspect
from typing import Any

from thunkad.errors import RuleError
from thunkad.kinds.lattice import may_have_tangent
from thunkad.kinds.observe import kind_of
from thunkad.rules.entry import Entry, name_of
from thunkad.rules.keywords import constants_of, no_derivative_by
from thunkad.tangents import NO_TANGENT, AbstractZero, NotImplementedTangent, unthunk


class Way:
    """How the cotangents of a rule's positional parameters go back to the arguments of a call of this form."""

    def __init__(self, rule: Entry, count: int, keywords: tuple[str, ...]) -> None:
        signature = rule.signature()
        try:
            signature.bind(*range(count), **dict.fromkeys(keywords))
        except TypeError as error:
            if not _takes(rule.target, count, keywords):
                raise  # as the function would
            raise RuleError(
                f"the rule for {name_of(rule.target)} does not take this call's arguments ({error})",
                rule.place,
                f"it takes {signature}; a rule has the parameters of its function, those with defaults included",
            ) from None
        positional = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        self.count, self.wants_ad = len(positional), rule.wants_ad()
        self.places = [
            ("rest" if p.kind is p.VAR_POSITIONAL else p.name if p.name in keywords else None) for p in positional
        ]
        self.is_direct = not any(self.places)
        constants = constants_of(rule)
        self.constants = {k: no_derivative_by(k, rule) for k in keywords if k in constants}
        self.place = rule.place

    def by_call(self, parts: tuple[Any, ...], count: int) -> tuple[list[Any], dict[str, Any]]:
        """Cotangents of the ``count`` positional arguments, and of those passed by name."""
        if self.is_direct and len(parts) == count:
            return list(parts), {}
        flat: list[Any] = []
        named: dict[str, Any] = {}
        for place, part in zip(self.places, parts):
            if place is None:
                flat.append(part)
            elif place == "rest":
                rest = unthunk(part)
                flat.extend([rest] * (count - len(flat)) if isinstance(rest, AbstractZero) else rest)
            else:
                named[place] = part
        flat += [NO_TANGENT] * (count - len(flat))
        return flat[:count], named

    def refused(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """For arguments that the rule takes for constants, though they may be differentiated: errors, if asked for."""
        given = ((k, what) for k, what in self.constants.items() if may_have_tangent(kind_of(kwargs[k])))
        return {k: NotImplementedTangent(f"{what} is not supported", self.place) for k, what in given}


def _takes(fn: Any, count: int, keywords: tuple[str, ...]) -> bool:
    """Whether a call of this form is one that ``fn`` itself takes."""
    try:
        inspect.signature(fn).bind(*range(count), **dict.fromkeys(keywords))
    except (TypeError, ValueError):
        return False
    return True


def way_of(rule: Entry, count: int, keywords: tuple[str, ...]) -> Way:
    """The :class:`Way` of a rule, remembered for as long as its code is the same."""
    code = getattr(rule.function, "__code__", None)
    of_code, ways = rule.cache.get("ways", (None, {}))
    if of_code is not code:
        ways = {}
        rule.cache["ways"] = code, ways
    found: Way | None = ways.get((count, keywords))
    if found is None:
        found = ways[count, keywords] = Way(rule, count, keywords)
    return found
