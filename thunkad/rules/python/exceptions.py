"""What lowering makes of ``try`` and ``with`` has no derivative of its own."""

from thunkad.rules.library import non_differentiable
from thunkad.runtime.exceptions import leave, matches

non_differentiable(matches, leave)
