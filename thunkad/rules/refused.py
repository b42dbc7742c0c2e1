"""What is refused: functions for which the library has no derivative on purpose, each with its reason.

A rule of the user's for such a function goes before; a call with nothing differentiated in it runs as it stands.
"""

from __future__ import annotations

from typing import Any

from thunkad.rules.entry import name_of
from thunkad.runtime.exceptions import enter
from thunkad.source.origin import module_of

#: Why a callee is refused, by the callee.
REASONS: dict[Any, str] = {}

#: Why everything that is defined below a module is refused.
MODULES: dict[str, str] = {
    "numpy.ma": "masked arrays hold their mask beside the numbers; use an ordinary array and np.where",
    "numpy.matrixlib": "np.matrix changes what * and ** mean; use an ordinary two-dimensional array and @",
    "numpy._core.records": "record arrays hold fields by name; use one array for each field",
    "numpy.rec": "record arrays hold fields by name; use one array for each field",
    "numba.np.ufunc": "numba compiled it element by element; write the operation on whole arrays, or use numba.njit",
    "pandas": "a table holds data; take an array out of it first, with .to_numpy()",
    "polars": "a table holds data; take an array out of it first, with .to_numpy()",
    "xarray": "it holds data under names; take an array out of it first, with .to_numpy()",
}
_ROOTS = frozenset(prefix.partition(".")[0] for prefix in MODULES)


def refuse(reason: str, *targets: Any) -> None:
    """Say why these callees have no rule."""
    for target in targets:
        REASONS[target] = reason


def reason_for(fn: Any) -> str | None:
    """Why ``fn`` is refused, None if it is not."""
    try:
        found = REASONS.get(fn)
    except TypeError:  # unhashable
        return None
    if found is not None:
        return found
    module = module_of(fn)
    if module.partition(".")[0] not in _ROOTS:
        module = module_of(type(fn))
        if module.partition(".")[0] not in _ROOTS:
            return None
    return next((why for prefix, why in MODULES.items() if module == prefix or module.startswith(prefix + ".")), None)


def no_rule_message(fn: Any) -> tuple[str, str]:
    """The message and the hint of the error for a callee without a rule."""
    if fn is enter:
        return (
            "a context manager made from a value that is differentiated, whose 'as' value is used, is not supported",
            "compute the value outside of the 'with' statement, or write the manager as a class",
        )
    reason = reason_for(fn)
    if reason is not None:
        return (
            f"{name_of(fn)} is not differentiated: {reason}",
            "a rule of yours, registered with thunkad.rrule, is used instead",
        )
    return (
        f"{name_of(fn)} has no rule and no Python source to look into",
        "register one with thunkad.rrule, or declare it constant with thunkad.non_differentiable",
    )
