"""``refresh()``: rebuild what changes of the rules made stale, and say what that was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thunkad.compiled.root import ROOTS, Root, root_of
from thunkad.compiled.target import target_of
from thunkad.rules.entry import name_of
from thunkad.rules.registry import Rules, describe


@dataclass(frozen=True)
class Rebuilt:
    """One function whose derivatives were rebuilt: how many, and because of which changes (callee, before, now)."""

    name: str
    count: int
    changes: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.count} derivative{'s' * (self.count != 1)} rebuilt"]
        lines += [f"  {callee}: {before} -> {now}" for callee, before, now in self.changes]
        return "\n".join(lines)


@dataclass(frozen=True)
class RefreshReport:
    """What :func:`refresh` did; prints well."""

    rebuilt: tuple[Rebuilt, ...]

    def __len__(self) -> int:
        return len(self.rebuilt)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rebuilt)) or "nothing was stale"

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
        What was stale, which change caused it, what was rebuilt.
    """
    roots: list[Root] = [root_of(target_of(f).fn)] if f is not None else sorted(ROOTS, key=lambda r: r.name)
    rebuilt = []
    for root in roots:
        with root.lock:
            changes = root.changed_edges()
            if root.world is None or not (changes or all):
                continue
            words = tuple(dict.fromkeys((name_of(fn), describe(old), describe(new)) for fn, old, new in changes))
            rebuilt.append(Rebuilt(root.name, root.rebuild(), words))
    return RefreshReport(tuple(rebuilt))


def edges(f: Any) -> Any:
    """Every look-up of the live derivatives of ``f``: (callee, kinds of the arguments, decision)."""
    root = root_of(target_of(f).fn)
    world = root.world
    return [] if world is None else [(fn, kinds, decision) for (fn, kinds), decision in world.edges.items()]


rules = Rules(edges)
