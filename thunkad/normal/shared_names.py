"""Variables that functions share, see :mod:`thunkad.runtime.variables`: what a function calls those that it uses.

Every function of a program with such variables takes the objects that stand for them, all of them, after its own
parameters; a function made inside captures them.
"""

from __future__ import annotations

from typing import Any

from thunkad.records import record


@record(frozen=True)
class SharedNames:
    """``labels``: what the variables are called, in order; ``own``: how the function spells those that it uses, as a
    name or as an attribute of a module (``config.SCALE``), and which they are."""

    labels: tuple[str, ...] = ()
    own: tuple[tuple[str, int], ...] = ()

    def names(self) -> set[str]:
        """Those that it uses by a plain name."""
        return {spelled for spelled, _ in self.own if "." not in spelled}

    def place(self, spelled: str) -> int | None:
        """Which variable is spelled so."""
        return dict(self.own).get(spelled)


NOTHING = SharedNames()


def spelling(node: Any) -> str | None:
    """``a.b.c`` as text; None for any other expression."""
    parts: list[str] = []
    while type(node).__name__ == "Attribute":
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if type(node).__name__ == "Name" else None
