"""What is said of a callee, found when the code runs, that changes what its caller did not foresee."""

from __future__ import annotations

from typing import Any

from thunkad.errors import UnsupportedSyntaxError
from thunkad.ir import nodes as n
from thunkad.rules.entry import name_of


def writes_in_place(fn: Any, p: str) -> UnsupportedSyntaxError:
    """The error for a callee found at run time that writes into what its caller did not foresee."""
    name = fn.name if isinstance(fn, n.Function) else name_of(fn)
    return UnsupportedSyntaxError(
        f"{name} writes in place into its argument {p!r}, and which function is called here is known only at run time",
        hint="call the function by its name, or return a new value instead of changing an argument",
    )


def changes_argument(fn: Any, p: str) -> UnsupportedSyntaxError:
    """The error for a callee whose change of the argument ``p`` can't be followed in forward mode."""
    return UnsupportedSyntaxError(
        f"{name_of(fn)}, found only when the code runs, changes its argument {p!r} in place",
        hint="call it by its name",
    )
