"""Variables that functions share, see :mod:`thunkad.runtime.variables`: what a function calls those that it uses.

Every function of a program with such variables takes the objects that stand for them, all of them, after its own
parameters; a function made inside captures them.
"""

from __future__ import annotations

from typing import Any

from thunkad.records import record


@record(frozen=True)
class SharedNames:
    """``labels``: what the objects for them are called, in order; ``own``: how the function spells what it uses, as a
    name or as an attribute of a module (``config.SCALE``), which of the objects has it, and under which attribute."""

    labels: tuple[str, ...] = ()
    own: tuple[tuple[str, int, str], ...] = ()

    def names(self) -> set[str]:
        """Those that it uses by a plain name."""
        return {spelled for spelled, *_ in self.own if "." not in spelled}

    def place(self, spelled: str) -> tuple[int, str] | None:
        """Which object has what is spelled so, and under which attribute."""
        return next(((place, attribute) for s, place, attribute in self.own if s == spelled), None)


NOTHING = SharedNames()


def spelling(node: Any) -> str | None:
    """``a.b.c`` as text; None for any other expression."""
    parts: list[str] = []
    while type(node).__name__ == "Attribute":
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if type(node).__name__ == "Name" else None
