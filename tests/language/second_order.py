"""What is differentiated once and not twice: programs of the tables, with what the error says and why it is so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SecondOrderLimit:
    """``programs`` are names of ``tests/programs/every_program.py``."""

    title: str
    programs: tuple[str, ...]
    error: str
    reason: str


SECOND_ORDER_LIMITS = (
    SecondOrderLimit(
        "`vjp` of a function that changes an array that it is given, inside differentiated code",
        ("arrays-arg_returned",),
        "changes its argument",
        "The function is found when the code runs, and forward mode does not follow what it does to an array that it is "
        "given; `grad` and `value_and_grad` may be differentiated.",
    ),
    SecondOrderLimit(
        "Changes of a dict that a function found at run time returned",
        ("containers-defaultdict",),
        "can't be followed",
        "Where it was made nothing said that it would be changed; make it with `{}`.",
    ),
)

#: What is differentiated in reverse mode only.
FORWARD_LIMITS = (
    SecondOrderLimit(
        "Functions found only when the code runs that change what they are given",
        ("calls-partial_mutating", "calls-unknown_function", "calls-map_mutating"),
        "found only when the code runs, changes its argument",
        "Call the function by its name.",
    ),
)
