"""What lowering makes of ``try`` and ``with`` has no derivative of its own."""

from thunkad.rules.library import non_differentiable
from thunkad.runtime.exceptions import (
    are_exceptions,
    entered,
    leave,
    matches,
    note,
    raise_noted,
    shown,
    told,
    traceback_of,
)

non_differentiable(are_exceptions, entered, leave, matches, note, raise_noted, shown, told, traceback_of)
