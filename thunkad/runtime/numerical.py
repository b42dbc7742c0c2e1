"""Derivatives of a function that can only be called: by differences, or by a step into the complex plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thunkad.tangents import NO_TANGENT, ZERO, AbstractZero, NotImplementedTangent

#: ``(f, step) -> df/dt`` at ``t = 0`` for a function of one real number.
Slope = Callable[[Callable[[Any], Any], float], Any]

COMPLEX_STEP = 1e-30
DIFFERENCE_STEP = 1e-3


def by_differences(along: Callable[[Any], Any], step: float) -> Any:
    """Central differences, extrapolated once: the error is of fourth order in the step."""
    coarse = combined(lambda a, b: (a - b) / (2 * step), along(step), along(-step))
    fine = combined(lambda a, b: (a - b) / step, along(step / 2), along(-step / 2))
    return combined(lambda a, b: (4 * a - b) / 3, fine, coarse)


def by_complex_step(along: Callable[[Any], Any], step: float) -> Any:
    """The imaginary part after a tiny imaginary step: exact to rounding for functions that take complex numbers."""
    return combined(lambda a, _: np.imag(a) / COMPLEX_STEP, along(1j * COMPLEX_STEP), None)


def combined(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """``function(a, b)`` for every number or array of a result."""
    if isinstance(a, (tuple, list)):
        return [combined(function, x, None if b is None else b[k]) for k, x in enumerate(a)]
    if isinstance(a, (float, int, complex, np.ndarray, np.generic)) and not isinstance(a, (bool, np.bool_)):
        return function(a, b)
    return ZERO


def pairing(y_bar: Any, dy: Any) -> float:
    """``Re Σ conj(y_bar) · dy``."""
    if isinstance(y_bar, AbstractZero) or isinstance(dy, AbstractZero):
        return 0.0
    if isinstance(dy, list):
        return sum(pairing(b, d) for b, d in zip(y_bar, dy))
    return float(np.real(np.sum(np.conjugate(y_bar) * dy)))


def numerical_bar(slope: Slope, f: Callable[[Any], Any], x: Any, y_bar: Any, step: float) -> Any:
    """The cotangent of one argument, from ``f`` as a function of it alone: one slope for each of its real numbers."""
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)) or np.asarray(x).dtype.kind not in "fciu":
        return _no_derivative(x)
    wide = np.asarray(x, np.result_type(np.asarray(x).dtype, np.float64))
    is_complex = wide.dtype.kind == "c"
    x_bar = np.zeros(wide.shape, wide.dtype)
    for at in np.ndindex(*wide.shape):
        for unit in (1.0, 1j) if is_complex else (1.0,):

            def along(t: Any, at: Any = at, unit: Any = unit) -> Any:
                moved = wide.astype(np.result_type(wide.dtype, type(t)))
                moved[at] += t * unit
                return f(moved if isinstance(x, np.ndarray) else moved[()])

            x_bar[at] += unit * pairing(y_bar, slope(along, step * max(1.0, float(np.abs(wide[at])))))
    return x_bar[()]


def numerical_dot(
    slope: Slope, f: Callable[[list[Any]], Any], values: list[Any], dots: list[Any], y: Any, step: float
) -> Any:
    """The tangent of ``y = f(values)``: one slope, in the direction of all tangents together."""
    if all(isinstance(d, AbstractZero) for d in dots):
        return ZERO

    def along(t: Any) -> Any:
        return f([v if isinstance(d, AbstractZero) else v + t * np.asarray(d)[()] for v, d in zip(values, dots)])

    found = slope(along, step)
    return tuple(found) if isinstance(y, tuple) else found


def _no_derivative(x: Any) -> Any:
    if isinstance(x, (list, tuple, dict)):
        return NotImplementedTangent(
            "a numerical rule differentiates by numbers and arrays, not by those in containers"
        )
    return NO_TANGENT
