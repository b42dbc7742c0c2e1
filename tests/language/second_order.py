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
        "`vjp` of a function that changes its arguments, inside differentiated code",
        ("containers-argument_returned_list", "arrays-arg_returned", "loops-FOR-appended_and_stacked"),
        "changes its argument",
        "The pullback would have to run the function again, on arguments that are not what they were; `grad` and "
        "`value_and_grad` run it once and may be differentiated in forward mode.",
    ),
    SecondOrderLimit(
        "Derivatives around derivatives of `super().method(…)`",
        ("calls-inheritance",),
        "class super",
        "What `super()` stands for is decided when the code runs; call the method by the name of its class.",
    ),
    SecondOrderLimit(
        "Changes of a dict that a function found at run time returned",
        ("containers-defaultdict",),
        "can't be followed",
        "Where it was made nothing said that it would be changed; make it with `{}`.",
    ),
    SecondOrderLimit(
        "Rules whose helper writes into an array that it is given",
        ("vanishing-TABLE-gradient_of_samples",),
        "changes its argument 'y_bar' in place",
        "`np.gradient` with spacings that are differentiated is one; write the differences out.",
    ),
    SecondOrderLimit(
        "The 'as' value of a manager that is not known to the compiler",
        ("guarded-with_exits-0",),
        "whose 'as' value is used",
        "Give the value a name outside of the `with` statement.",
    ),
)
