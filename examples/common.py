"""Data and checks that the examples share."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes, load_digits

Array = np.ndarray[Any, Any]


class Split(NamedTuple):
    """Inputs and targets, for training and held out."""

    x: Array
    y: Array
    x_held_out: Array
    y_held_out: Array


def digits() -> Split:
    """1797 images of 8 × 8 pixels scaled to [0, 1], and the digit that each one shows."""
    data = load_digits()
    return _split(data.data / 16.0, data.target)


def diabetes() -> Split:
    """442 patients: ten standardized measurements, and the progression of the disease after a year."""
    data = load_diabetes()
    x = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return _split(x, data.target.astype(float))


def _split(x: Array, y: Array, held_out: float = 0.25) -> Split:
    order = np.random.default_rng(0).permutation(len(y))
    count = int(len(y) * held_out)
    test, train = order[:count], order[count:]
    return Split(x[train], y[train], x[test], y[test])


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def check_against_differences(f: Callable[[Array], Any], gradient: Array, at: Array, directions: int = 3) -> None:
    """Compare ``gradient`` with central differences of ``f`` along random directions; exit if they differ."""
    rng = np.random.default_rng(1)
    for _ in range(directions):
        direction = rng.standard_normal(at.shape)
        direction /= np.linalg.norm(direction)
        step = 1e-5
        numeric = float(f(at + step * direction) - f(at - step * direction)) / (2 * step)
        exact = float(np.sum(gradient * direction))
        error = abs(exact - numeric) / max(1.0, abs(numeric))
        print(f"  along a random direction: gradient {exact: .10f}, differences {numeric: .10f}, error {error:.1e}")
        if error > 1e-6:
            sys.exit("the gradient does not agree with finite differences")


def require(reached: float, wanted: float, what: str) -> None:
    """Leave the program with an error if ``reached`` falls short of ``wanted``."""
    if not reached >= wanted:
        sys.exit(f"{what} is {reached:.3f}, it should be at least {wanted}")
