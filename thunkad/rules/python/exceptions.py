"""What lowering makes of ``try`` and ``with`` has no derivative of its own."""

from thunkad.rules.library import non_differentiable
from thunkad.runtime.exceptions import entered, leave, matches, note, raise_noted, shown, traceback_of

non_differentiable(entered, leave, matches, note, raise_noted, shown, traceback_of)
