"""How a failed check is told."""

from __future__ import annotations

from typing import Any

import numpy as np


class CheckError(AssertionError):
    """A rule or a derivative failed a check; the message says which check, which argument, and what was found."""


def fail(subject: str, what: str, got: Any = None, want: Any = None) -> None:
    """Raise a :class:`CheckError`."""
    lines = [f"{subject}: {what}"]
    if got is not None or want is not None:
        lines += [f"    got  {_shown(got)}", f"    want {_shown(want)}"]
    raise CheckError("\n".join(lines))


def expect_close(subject: str, what: str, got: Any, want: Any, rtol: float, atol: float) -> None:
    """Fail unless two numbers or arrays have one shape and agree (NaN equals NaN)."""
    if np.shape(got) != np.shape(want):
        fail(subject, f"{what} has the wrong shape {np.shape(got)}, not {np.shape(want)}", got, want)
    with np.errstate(all="ignore"):
        near = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if not np.all(near):
        fail(
            subject,
            f"{what} is wrong in {np.size(near) - np.count_nonzero(near)} of {np.size(near)} elements",
            got,
            want,
        )


def _shown(x: Any) -> str:
    text = repr(x).replace("\n", "\n         ")
    return text if len(text) < 2000 else text[:2000] + " …"
