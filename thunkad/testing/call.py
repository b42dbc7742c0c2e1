"""One call of a function and of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.rules.entry import FRULE, Entry, name_of
from thunkad.rules.load import load_library
from thunkad.rules.resolve import applies, exact
from thunkad.rules.signatures import covers, signature_types
from thunkad.rules.table import TABLE
from thunkad.testing.leaves import copied, leaves, same
from thunkad.testing.report import fail

Rule = Callable[..., Any]


class Call:
    """One call of a function and of its rule, with the arguments also by the names of the rule's parameters."""

    def __init__(self, fn: Any, entry: Entry, args: tuple[Any, ...], kwargs: dict[str, Any], subject: str) -> None:
        self.fn, self.entry, self.args, self.kwargs, self.subject = fn, entry, args, kwargs, subject
        parameters = entry.signature().parameters.values()
        self.dots: set[str] = set()
        if entry.kind == FRULE:
            self.dots = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name.endswith("_dot")}
        self.positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        self.operands: dict[str, Any] = {}
        for k, p in enumerate(self.positional):
            if p.kind is p.VAR_POSITIONAL:
                self.operands[p.name] = tuple(args[k:])
            elif k < len(args):
                self.operands[p.name] = args[k]
            elif p.name in kwargs:
                self.operands[p.name] = kwargs[p.name]
            elif p.default is p.empty:
                fail(subject, f"the rule needs an argument {p.name!r}")
        known = {p.name for p in parameters}
        for name in kwargs:
            if name not in known:
                fail(subject, f"the rule has no parameter {name!r}")
        if len(args) > len(self.positional) and not any(p.kind is p.VAR_POSITIONAL for p in self.positional):
            fail(subject, f"the rule takes {len(self.positional)} positional arguments, not {len(args)}")
        self.before = copied((args, kwargs))

    def of_operands(self, operands: dict[str, Any]) -> Any:
        """The function, called as the user did but with these operands."""
        args = list(self.args)
        kwargs = dict(self.kwargs)
        for k, p in enumerate(self.positional):
            if p.kind is p.VAR_POSITIONAL:
                args[k:] = operands[p.name]
            elif k < len(self.args):
                args[k] = operands[p.name]
            elif p.name in kwargs:
                kwargs[p.name] = operands[p.name]
        return self.fn(*args, **kwargs)

    def expect_inputs_unchanged(self, by: str) -> None:
        if not same((self.args, self.kwargs), self.before):
            fail(self.subject, f"an argument was modified {by}", (self.args, self.kwargs), self.before)


def find_entry(fn: Any, kind: str, rule: Rule | None, args: tuple[Any, ...], subject: str) -> Entry:
    if rule is not None:
        return Entry(kind, fn, rule, "user", types=())
    found = candidates(fn, kind, args)
    if not found:
        fail(subject, f"the rule table has no {kind} for {name_of(fn)} that takes these arguments")
    return found[0]


def candidates(fn: Any, kind: str, args: tuple[Any, ...]) -> list[Entry]:
    """The rules that take these arguments, the winner first: user before library, specific before general."""
    load_library()
    found = [e for e in TABLE.snapshot.entries(fn) if e.kind == kind]
    fitting = [e for e in found if applies(signature_types(e), [exact(a) for a in args])]

    def wider(e: Entry) -> int:
        return sum(covers(signature_types(e), signature_types(o)) for o in fitting)

    return sorted(fitting, key=lambda e: (e.layer != "user", wider(e)))


def tolerances(call: Call, rtol: float | None, atol: float | None) -> tuple[float, float]:
    dtypes = [v.dtype for _, v in leaves((call.args, call.kwargs)) if isinstance(v, (np.ndarray, np.generic))]
    eps = max((float(np.finfo(d).eps) for d in dtypes if d.kind in "fc"), default=2.3e-16)
    loose = 1e-6 if eps < 1e-12 else 300 * eps
    return loose if rtol is None else rtol, loose / 10 if atol is None else atol
