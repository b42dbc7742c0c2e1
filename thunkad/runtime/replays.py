"""A look at the generators that NumPy and Python share, around code that is run a second time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from thunkad.errors import UnsupportedSyntaxError


def random_states() -> tuple[Any, Any]:
    """Where the generators behind ``np.random.rand`` and ``random.random`` are."""
    kind, key, *rest = np.random.get_state()  # noqa: NPY002  (this is the one that is looked at)
    return (kind, key.tobytes(), *rest), random.getstate()


def refuse_draws(before: tuple[Any, Any], where: str) -> None:
    """Raise if the code that ``where`` names, which was run again since ``before``, has drawn random numbers."""
    if random_states() != before:
        raise UnsupportedSyntaxError(
            f"{where} draws random numbers and was run again for its derivative, which drew others: it is in a "
            "checkpoint, or a derivative of it is differentiated",
            hint="draw the numbers outside and pass them in",
        )


def handed_over(kept: Any) -> None:
    """A mark at what the reverse half of a function reads."""
