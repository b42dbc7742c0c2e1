"""``refresh()``: rebuild what changes of the rules made stale, and say what that was."""

from __future__ import annotations

from typing import Any

from thunkad.compiled.edges import Edge
from thunkad.compiled.root import ROOTS, Rebuilt, Root, in_words, root_of
from thunkad.compiled.target import target_of
from thunkad.records import record
from thunkad.rules.load import load_library
from thunkad.rules.registry import Rules
from thunkad.runtime.marks import MARK


@record(frozen=True)
class Refreshed:
    """One function whose derivatives were stale.

    Attributes
    ----------
    name : str
    changes : tuple of str
        What changed, in words.
    rebuilt : tuple of str
        The derivatives that were compiled anew; none if only calls that are decided at run time were concerned.
    failed : tuple of str
        Those that can't be compiled any more, each with its error, which the next call raises.
    """

    name: str
    changes: tuple[str, ...]
    rebuilt: tuple[str, ...]
    failed: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.name}: {', '.join(self.rebuilt) or 'nothing'} rebuilt"]
        lines += [f"  {change}" for change in self.changes]
        lines += [f"  not rebuilt: {failure}" for failure in self.failed]
        return "\n".join(lines)


@record(frozen=True)
class RefreshReport:
    """What :func:`refresh` did: a sequence of :class:`Refreshed`; prints well."""

    functions: tuple[Refreshed, ...]

    def __len__(self) -> int:
        return len(self.functions)

    def __getitem__(self, at: int) -> Refreshed:
        return self.functions[at]

    def __str__(self) -> str:
        return "\n".join(map(str, self.functions)) or "nothing was stale"

    __repr__ = __str__


def refresh(f: Any = None, all: bool = False) -> RefreshReport:
    """Rebuild the derivatives that changes of the rule table made stale.

    Parameters
    ----------
    f : callable, optional
        Only those of this function.
    all : bool
        Rebuild everything that is compiled, stale or not.

    Returns
    -------
    RefreshReport
        What was stale, which change caused it, what was rebuilt.  Pullbacks that are already out finish with the rules
        they began with.
    """
    load_library()
    roots = sorted(ROOTS, key=lambda r: r.name) if f is None else roots_of(f)
    done = (root.refresh(all) for root in roots)
    return RefreshReport(tuple(_shown(found) for found in done if found is not None))


def _shown(found: Rebuilt) -> Refreshed:
    changes = tuple(dict.fromkeys(map(in_words, found.changes)))
    rebuilt = tuple(dict.fromkeys(map(str, found.rebuilt)))
    failed = tuple(f"{key}: {type(error).__name__}: {str(error).splitlines()[0]}" for key, error in found.failed)
    return Refreshed(found.name, changes, rebuilt, failed)


def edges(f: Any) -> list[Edge]:
    """Every look-up of the live derivatives of ``f``."""
    return list(dict.fromkeys(edge for root in roots_of(f) for edge in root.edges()))


def roots_of(f: Any) -> list[Root]:
    """What was compiled for ``f``; for a derivative function also what was compiled for the function itself."""
    roots = [root_of(target_of(f).fn)]
    derivative = getattr(f, MARK, None)
    return roots if derivative is None else [*roots, *roots_of(derivative.f)]


rules = Rules(edges)
