"""How far the compiler looks into code that isn't the user's: the standard library and installed packages.

What a user's function calls there is looked into like anything else, since an installed package of NumPy functions is
differentiated as well as the user's own.  But behind one call may lie a whole library: checks of arguments, warnings,
regular expressions, decorators, logging.  So each function by which the user's code enters such code has a budget of
statements, those of everything that is reached from it without leaving foreign code; a function that needs more counts
as one without a rule.  That is a property of the function and of the kinds of its arguments, decided before anything
runs.  The user's own code has no budget.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from thunkad.errors import NoRuleError, SourceUnavailableError, UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.ir import walk
from thunkad.kinds.lattice import UNKNOWN, Instance, Kind, Known, Num, Opaque
from thunkad.rules.entry import name_of

#: Statements in normal form, of all functions together that are reached from one function of foreign code.
BUDGET = 2000
#: How often a function may be looked into from within itself, each time for other kinds of arguments.
NESTED = 8

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STDLIB = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))


class TooFarError(Exception):
    """The budget is spent; passes everything up to where foreign code was entered."""


def is_foreign(fn: Any) -> bool:
    """Whether a Python function belongs to the standard library or to an installed package."""
    code = getattr(fn, "__code__", None)
    return code is not None and is_foreign_file(code.co_filename)


@functools.cache
def is_foreign_file(filename: str) -> bool:
    if filename.startswith(_OWN):
        return False
    if filename.startswith(("<frozen", *_STDLIB)):
        return True
    parts = filename.split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts


class Reach:
    """What one world has spent, and which functions it has given up."""

    def __init__(self) -> None:
        self.given_up: dict[Any, tuple[str, str]] = {}  # the function → message and hint
        self._entry: Any = None
        self._spent = 0
        self._functions: dict[Any, None] = {}
        self._running: list[tuple[Any, int]] = []  # functions that are being resolved, with the size of their kinds

    @contextmanager
    def into(self, fn: Any, kinds: tuple[Kind, ...]) -> Iterator[None]:
        """While ``fn`` is resolved.

        Raises
        ------
        NoRuleError
            ``fn`` reaches further than the budget allows, and was entered from the user's code.
        TooFarError
            The same further inside.
        """
        enters = self._entry is None and is_foreign(fn)
        if enters:
            self._refuse_given_up(fn)
            self._entry, self._spent = fn, 0
            self._functions.clear()
        self._running.append((fn, sum(map(size, kinds))))
        try:
            yield
        except TooFarError:
            if not enters:
                raise
            self.given_up[fn] = self._why(fn)
            self._refuse_given_up(fn)
        finally:
            self._running.pop()
            if enters:
                self._entry = None

    def spend(self, fn: Any, function: n.Function | None) -> None:
        """Count the statements of ``function``, the normal form of ``fn``; None: before it is made."""
        if self._entry is None or not is_foreign(fn):
            return
        self._functions[name_of(fn)] = None
        if function is not None:
            self._spent += sum(1 for _ in walk.statements(function.body))
        if self._spent > BUDGET:
            raise TooFarError

    def bounded(self, fn: Any, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        """``kinds`` as ``fn`` is looked into for: less is known of them where a recursion would go on for ever."""
        inside = [s for f, s in self._running if f is fn]
        if len(inside) >= NESTED or (len(inside) > 1 and sum(map(size, kinds)) > inside[-1]):
            return tuple(map(widened, kinds))
        return kinds

    def _refuse_given_up(self, fn: Any) -> None:
        why = self.given_up.get(fn)
        if why is not None:
            raise NoRuleError(why[0], hint=why[1]) from None

    def _why(self, fn: Any) -> tuple[str, str]:
        found = [name for name in self._functions if name != name_of(fn)]
        such = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        return (
            f"{public_name(fn)} is library code without a rule, and looking inside was given up after {self._spent} "
            f"statements of {len(found) + 1} functions" + (f" ({such})" if found else ""),
            remedies(fn),
        )


def public_name(fn: Any) -> str:
    """``scipy.integrate.quad`` for ``scipy.integrate._quadpack_py.quad``: the shortest way to it that is there."""
    module, name = getattr(fn, "__module__", None) or "", getattr(fn, "__qualname__", "")
    parts = module.split(".")
    for k in range(1, len(parts)):
        found = sys.modules.get(".".join(parts[:k]))
        if getattr(found, "__dict__", {}).get(name) is fn:
            return f"{'.'.join(parts[:k])}.{name}"
    return name_of(fn)


def remedies(fn: Any) -> str:
    """What to do about a function of a library."""
    name = public_name(fn)
    return f"write a rule with thunkad.rrule({name}), or, if its result is constant, thunkad.non_differentiable({name})"


@contextmanager
def at_border(fn: Any, owner: Any) -> Iterator[None]:
    """What is wrong inside of library code is reported as the lack of a rule for what the user's code calls."""
    if not is_foreign(fn) or is_foreign(owner):
        yield
        return
    try:
        yield
    except (NoRuleError, UnsupportedSyntaxError, SourceUnavailableError) as error:
        if error.place is None and error.hint == remedies(fn):
            raise
        where = "" if error.place is None else f"\n  in {error.place}"
        message = f"{public_name(fn)} is library code without a rule, and can't be looked into: {error.message}{where}"
        raise NoRuleError(message, None, remedies(fn)) from None


def size(kind: Kind | None) -> int:
    """How much is known of a value: what grows without end in a recursion that builds something up."""
    if isinstance(kind, Num):
        return 1 + (kind.ndim or 0)
    return 1 + sum(map(size, _inside(kind)))


def _inside(kind: Any) -> tuple[Any, ...]:
    if isinstance(kind, Instance):
        return tuple(k for _, k in kind.fields)
    parts = [getattr(kind, name, None) for name in ("items", "item", "value", "owner", "function", "args")]
    found = [p for part in parts for p in (part if isinstance(part, tuple) else (part,))]
    found += [k for name in ("entries", "kwargs") for _, k in getattr(kind, name, None) or ()]
    return () if isinstance(kind, (Known, Opaque)) else tuple(p for p in found if hasattr(type(p), "__record__"))


def widened(kind: Kind) -> Kind:
    """One of finitely many kinds that covers ``kind``."""
    if isinstance(kind, Num):
        return Num(kind.form, kind.field)
    if isinstance(kind, Instance):
        return Instance(kind.cls)
    return kind if isinstance(kind, (Known, Opaque)) else UNKNOWN
